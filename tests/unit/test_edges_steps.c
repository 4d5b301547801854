/*
 * Tests boundaries of steps: forward passes that are repeated for one update, and notes about
 * frameworks and measured machines. Expected values are computed from one pass, or written out from
 * the constants.
 */
#include "testing.h"

#include "framework.h"
#include "model.h"
#include "need.h"

/* Returns the point of a job on n workers. */
static struct hm_point point_of(const char *text, double n)
{
    struct hm_job *job = parse_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_point p = {.n = n};
    struct hm_model *model;
    struct hm_err err = {0};

    if (hm__model_new(job, &job->cluster, &variant, &model, &err) ||
        hm__model_eval(model, &p, 1, &err))
        fail_msg("%s", err.message);
    hm__model_free(model);
    hm_job_free(job);
    return p;
}

static bool model_notes(const char *text, const char *says)
{
    struct hm_job *job = parse_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model;
    bool found = false;

    assert_int_equal(hm__model_new(job, &job->cluster, &variant, &model, NULL), 0);
    for (size_t i = 0; hm__model_note(model, i); i++)
        found = found || strcmp(hm__model_note(model, i), says) == 0;
    hm__model_free(model);
    hm_job_free(job);
    return found;
}

/* Only the last of k passes overlaps with the messages, so k passes take longer than one pass by
 * the computing time of k - 1 passes. */
static void passes_before_the_last_only_compute(void **state)
{
    static const char *const overlaps[] = {"layers", "none"};
    static const char *const slow[] = {"", "stragglers: {chance: 50%, factor: 3}, "};

    (void)state;
    for (int o = 0; o < 2; o++)
        for (int s = 0; s < 2; s++)
            for (int n = 1; n <= 4; n *= 2) {
                struct hm_point p[5];
                for (int k = 1; k <= 4; k++) {
                    char text[500];
                    snprintf(text, sizeof(text),
                             "network: 784-300-100-10\nbatch: %d\nmicro_batch: 16\noverlap: %s\n"
                             "cluster: {max_nodes: 4, flops: 1 Gflop/s, memory: 1 GB, roofline: "
                             "false, %sfabric: {bandwidth: 10 MB/s, latency: 1 ms}}\n",
                             16 * k * n, overlaps[o], slow[s]);
                    p[k] = point_of(text, n);
                    assert_near(p[k].micro_batch, 16, 0);
                    double once = p[1].compute_s - p[1].wait_s;
                    assert_near(p[k].compute_s - p[k].wait_s, k * once, 1e-9);
                    assert_near(p[k].time_s - p[k].wait_s,
                                p[1].time_s - p[1].wait_s + (k - 1) * once, 1e-9);
                    assert_near(p[k].communicate_s, p[1].communicate_s, 1e-9);
                }
                if (n > 1 && s == 0) /* Overlap hides some of the messages. */
                    assert_int_equal(p[1].time_s < p[1].compute_s + p[1].communicate_s - 1e-6,
                                     o == 0);
            }
}

/* Each cost of a framework must be in its note, in milliseconds. */
static void frameworks_are_noted(void **state)
{
    (void)state;
    for (int f = 1; f < HM_FRAMEWORK_COUNT; f++) {
        const struct hm_framework_costs *c = &hm__framework_costs[f];
        const char *name = hm_framework_name((enum hm_framework)f);
        char job[300], parts[4][80] = {"", "", "", ""}, note[400];
        snprintf(job, sizeof(job),
                 "network: 784-10\nbatch: 100\nframework: %s\ncluster: {max_nodes: 4, flops: 100 "
                 "Gflop/s, cores: 4, memory_bandwidth: 10 GB/s, fabric: 1gbe}\n",
                 name);
        if (c->stage > 0)
            snprintf(parts[0], 80, " %.3g ms for a stage, %.3g ms for a task,", c->stage / 1000,
                     c->task / 1000);
        if (c->step > 0)
            snprintf(parts[1], 80, " %.3g ms for a step,", c->step / 1000);
        if (c->request > 0)
            snprintf(parts[2], 80, " %.3g ms of a server for a message,", c->request / 1000);
        snprintf(parts[3], 80, " linear algebra at %.3g of a tuned BLAS", c->algebra);
        snprintf(note, sizeof(note), "costs of %s are assumed:%s%s%s%s", name, parts[0], parts[1],
                 parts[2], parts[3]);
        if (!model_notes(job, note))
            fail_msg("no note: %s", note);
    }
}

/* A transposed convolution with a kernel of k and the stride s makes (l - 1) s + k - b positions of
 * l: 3 * 2 + 3 - 2 = 7 rows and 4 * 2 + 3 - 2 = 9 columns. It has one weight for each position of
 * the kernel, input channel and output channel. */
static void transposed_convolutions_grow(void **state)
{
    struct hm_job *job = parse_job(
        "network: {input: [4, 5, 3], layers: [{conv: {filters: 7, kernel: 3, stride: 2, padding: "
        "1, "
        "transposed: true}}, {conv: {filters: 2, kernel: 2, stride: 3, transposed: true}}]}\n"
        "batch: 1\n");
    struct hm_counts *counts;
    struct hm_err err = {0};

    (void)state;
    if (hm_counts_new(job->network, "test", &counts, &err))
        fail_msg("%s", err.message);
    const struct hm_count *l = counts->layers;
    assert_true(l[0].out.height == 7 && l[0].out.width == 9 && l[0].out.channels == 7);
    assert_true(l[0].parameters == 3 * 3 * 3 * 7 + 7);
    /* Every input value is multiplied by the whole kernel. */
    assert_true(l[0].multiply_adds == 4 * 5 * 3 * 9 * 7);
    assert_true(l[1].out.height == 20 && l[1].out.width == 26 && l[1].out.channels == 2);
    assert_true(l[1].parameters == 2 * 2 * 7 * 2 + 2);
    hm_counts_free(counts);
    hm_job_free(job);
    job =
        parse_job("network: {input: [1, 1, 3], layers: [{conv: {filters: 7, kernel: 2, padding: 1, "
                  "transposed: true}}]}\nbatch: 1\n");
    assert_true(hm_counts_new(job->network, "test", &counts, &err) < 0);
    assert_non_null(strstr(err.message, "the border is larger than the output"));
    hm_job_free(job);
}

/* The samples of a worker are divided into passes. A pass has at most as many samples as requested,
 * or as fit into the memory that is left; passes are as equal as possible. */
static void samples_are_divided_into_passes(void **state)
{
    static const struct {
        double local, asked, fixed, sample, have, passes, micro;
    } rows[] = {
        {64, 0, 0, 0, 0, 1, 64},      {64, 1, 0, 0, 0, 64, 1},      {64, 16, 0, 0, 0, 4, 16},
        {64, 30, 0, 0, 0, 3, 30},     {64, 100, 0, 0, 0, 1, 64},    {64, 0, 100, 10, 740, 1, 64},
        {64, 0, 100, 10, 739, 2, 32}, {64, 0, 100, 10, 320, 3, 22}, {64, 0, 100, 10, 105, 64, 1},
        {0.5, 0, 0, 0, 0, 1, 0.5},    {64, 0, 100, 0, 105, 1, 64},  {63.2, 0, 0, 0, 0, 1, 64}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double micro = 0, passes = hm__need_passes(rows[i].local, rows[i].asked, rows[i].fixed,
                                                   rows[i].sample, rows[i].have, &micro);
        if (passes != rows[i].passes || micro != rows[i].micro)
            fail_msg("row %zu: %g passes of %g", i, passes, micro);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_before_the_last_only_compute),
        cmocka_unit_test(frameworks_are_noted),
        cmocka_unit_test(samples_are_divided_into_passes),
        cmocka_unit_test(transposed_convolutions_grow),
    };
    return cmocka_run_group_tests_name("edges_steps", tests, NULL, NULL);
}
