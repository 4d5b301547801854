/*
 * Tests the recommendation: the fewest workers within the slack of the best are compared with a
 * brute-force search; also tests the examples of docs/reference/plan.md, and the alternatives,
 * intervals and memory of a point.
 */
#include "request_testing.h"

#include "need.h"
#include "testing.h"

/*
 * ResNet-50 on one A100 per node with 10 Gbit/s; communication leaves almost no speedup. Both
 * networks give flop/s, so that the time of a step comes from the roofline and not from single
 * operations.
 */
static const char resnet[] =
    "network: resnet-50\nbatch: 64\niterations: 100000\nprecision: 32\n"
    "cluster: {machine: A100, flops: 19.5 Tflop/s, fabric: 10gbe, price: $2/h}\n";
static const char serial[] = "compute: 100/n + 10\ncommunicate: none\n";
static const char vgg[] =
    "network: vgg-16\nbatch: 512\nprecision: 16\noverlap: layers\n"
    "iterations: 100000\n"
    "cluster: {machine: A100, flops: 312 Tflop/s, fabric: 100gbe, price: $2/h, max_nodes: 256}\n";

/* Returns the first point that fits and whose time is at most 1 + slack times the least time. */
static size_t by_brute_force(const struct hm_answer *a, double slack)
{
    double least = INFINITY;
    size_t i = 0;

    for (size_t k = 0; k < a->point_count; k++)
        if (a->points[k].fits)
            least = fmin(least, a->points[k].total_s);
    while (!a->points[i].fits || a->points[i].total_s > (1 + slack) * least)
        i++;
    return i;
}

static void the_fewest_workers_within_the_slack(void **state)
{
    static const char *const texts[] = {resnet, serial, vgg};
    static const double slacks[] = {0, 0.05, 0.3};

    (void)state;
    for (size_t k = 0; k < 9; k++) {
        struct hm_job *job = parse_job(texts[k / 3]);
        struct hm_question q = HM_QUESTION_INIT;
        q.slack = slacks[k % 3] == 0.05 ? NAN : slacks[k % 3];
        struct hm_answer *a = ask(job, &q);
        assert_int_equal(a->recommended, by_brute_force(a, slacks[k % 3]));
        assert_near(a->slack, slacks[k % 3], 0);
        assert_true(a->recommended <= a->best);
        const struct hm_point *p = &a->points[a->recommended], *knee = &a->points[a->knee];
        assert_near(a->knee_hours, p->nodes * p->total_s / (knee->nodes * knee->total_s), 1e-12);
        hm_answer_free(a);
        hm_job_free(job);
    }
}

/* Returns the text of a plan; the caller frees it with hm_text_free. */
static char *text_of(const char *job_text, double slack)
{
    struct hm_job *job = parse_job(job_text);
    struct hm_question q = HM_QUESTION_INIT;
    const struct hm_style style = {.width = 1000};
    char *text = NULL;

    q.slack = slack;
    struct hm_answer *a = ask(job, &q);
    assert_int_equal(hm_answer_render(a, HM_FORMAT_TEXT, &style, &text, NULL), 0);
    hm_answer_free(a);
    hm_job_free(job);
    return text;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/*
 * If a part of the computing does not shrink, it is the limit, and it must be named with its time.
 */
static void the_part_that_does_not_shrink(void **state)
{
    struct hm_job *job = parse_job(serial);
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = ask(job, &q);

    (void)state;
    /* 100/n + 10 <= 1.05 * (100/1024 + 10): n >= 166. */
    assert_near(a->points[a->recommended].n, 166, 0);
    assert_near(a->points[a->best].n, 1024, 0);
    assert_near(a->points[a->knee].n, 10, 0);
    assert_int_equal(a->limit, HM_LIMIT_SERIAL);
    assert_near(a->limit_share, 10 / (100.0 / 166 + 10), 1e-9);
    hm_answer_free(a);
    hm_job_free(job);
    char *text = text_of(serial, NAN);
    assert_says(text, "Use 166 workers: 10.6 s an iteration");
    assert_says(text, "that is 8.80x the machine-hours of 10 workers, which take 20.0 s.");
    assert_says(text, "serial (94 % of the step): a part of the computing takes 10 s");
    hm_text_free(text);
}

/* The first line must have the number of machines, the time and the cost of the job, and the
 * warning. */
static void the_first_line(void **state)
{
    (void)state;
    char *text = text_of(resnet, NAN);
    char first[400];
    snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, "\n"), text);
    /* 64 workers need 4.62 h and $590. */
    assert_string_equal(first, "Use 2 x A100: 4.84 h, $19.34.");
    assert_says(text, "optimum      64 workers take 4.58 % less time, for 30.5x the machine-hours");
    assert_says(text, "cheapest     1 x A100: 5.07 h, $10.14");
    assert_says(text, "node-hours for $");
    assert_says(text, "cheapest ");
    assert_says(text, "balanced ");
    assert_says(text, "fastest ");
    hm_text_free(text);
    text = text_of(
        "network: gpt-2\nbatch: 512\nprecision: 16\noptimizer: adam\noverlap: layers\n"
        "iterations: 600000\ncluster: {machine: p4d.24xlarge, flops: 312 Tflop/s, max_nodes: 16}\n",
        NAN);
    assert_says(text, "Use 8 x p4d.24xlarge (64 GPUs): ");
    assert_says(text, " GiB of 40.0 GiB a worker");
    hm_text_free(text);
    text = text_of("network: {parameters: 25e6, forward: 4 Gflop}\nbatch: 32\nscaling: weak\n"
                   "cluster: {flops: 1 Tflop/s, fabric: 10gbe, max_nodes: 16}\n",
                   0);
    assert_says(text, "Use 16 workers: 959 samples/s.");
    assert_says(text, "x the throughput of one");
    hm_text_free(text);
}

/* The cheapest, the balanced and the fastest alternative must meet the limits, and each must be the
 * best of its kind. */
static void three_alternatives(void **state)
{
    struct hm_job *job = parse_job(vgg);
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    struct hm_answer *a = ask(job, &q);
    double time_s = INFINITY, cost = INFINITY;
    for (size_t i = 0; i < a->point_count; i++) {
        time_s = fmin(time_s, a->points[i].fits ? a->points[i].total_s : INFINITY);
        cost = fmin(cost, a->points[i].fits ? a->points[i].cost : INFINITY);
    }
    assert_near(a->alternatives[HM_ALTERNATIVE_CHEAPEST].point.cost, cost, 0);
    assert_near(a->alternatives[HM_ALTERNATIVE_FASTEST].point.n, a->points[a->recommended].n, 0);
    const struct hm_point *b = &a->alternatives[HM_ALTERNATIVE_BALANCED].point;
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].fits)
            assert_true(a->points[i].total_s / time_s + a->points[i].cost / cost >=
                        (b->total_s / time_s + b->cost / cost) * (1 - 1e-12));
    /* The recommendation needs only a fraction of the machine-hours of the optimum. */
    const struct hm_point *p = &a->points[a->recommended], *best = &a->points[a->best];
    assert_true(p->n < best->n && p->cost < best->cost && p->total_s <= 1.05 * best->total_s);
    hm_answer_free(a);
    hm_job_free(job);
    job = parse_job(serial);
    a = ask(job, &q);
    assert_null(a->alternatives);
    hm_answer_free(a);
    hm_job_free(job);
}

static void only_the_listed_numbers(void **state)
{
    static const double n[] = {8, 16, 300}, downwards[] = {16, 8}, half[] = {1.5};
    struct hm_job *job = parse_job(vgg);
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    q.n = n;
    q.n_count = 3;
    struct hm_answer *a = ask(job, &q); /* The cluster has 256 workers. */
    assert_int_equal(a->point_count, 2);
    assert_near(a->points[0].n, 8, 0);
    assert_near(a->points[1].n, 16, 0);
    hm_answer_free(a);
    a = NULL;
    q.n = n + 2;
    q.n_count = 1;
    struct hm_err err = {0};
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err), HM_E_RANGE);
    assert_string_equal(err.field, "n");
    q.n = downwards;
    q.n_count = 2;
    assert_int_equal(hm_question_check(&q, NULL), HM_E_RANGE);
    q.n = half;
    q.n_count = 1;
    assert_int_equal(hm_question_check(&q, NULL), HM_E_RANGE);
    q = (struct hm_question)HM_QUESTION_INIT;
    q.slack = -0.1;
    assert_int_equal(hm_question_check(&q, NULL), HM_E_RANGE);
    hm_job_free(job);
}

/* Workers have whole samples: 512 sequences on 80 workers are 7 for the slowest, as many as on 74
 * workers. */
static void samples_are_whole(void **state)
{
    struct hm_job *job = parse_job("network: gpt-2\nbatch: 512\ncommunicate: none\n"
                                   "cluster: {flops: 100 Tflop/s, max_nodes: 100}\n");
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_near(a->points[79].compute_s, a->points[73].compute_s, 1e-12);
    assert_near(a->points[79].compute_s / a->points[63].compute_s, 7.0 / 8, 1e-9);
    assert_near(a->points[79].micro_batch, 7, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

/* A speedup of 3.9995 counts as four times the work. */
static void nearly_is_enough(void **state)
{
    struct hm_job *job = parse_job("compute: 1/n\ncommunicate: \"n > 1 ? 3.125e-5 : 0\"\n");
    struct hm_question q = HM_QUESTION_INIT;

    (void)state;
    q.faster = q.work = 4;
    struct hm_answer *a = ask(job, &q);
    assert_near(a->points[3].speedup, 3.9995, 1e-7);
    assert_near(a->points[a->faster].n, 4, 0);
    assert_near(a->work_points[a->work].n, 4, 0);
    hm_answer_free(a);
    hm_job_free(job);
}

/* Without runs every point must have an interval, and runs that would narrow it must be advised. */
static void plans_without_runs_have_intervals(void **state)
{
    struct hm_job *job = parse_job("compute: 10/n\ncommunicate: 0.5*log2(n)\n");
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = ask(job, &q);

    (void)state;
    assert_near(a->level, 0.9, 0);
    assert_non_null(a->sheet_kind);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        assert_true(p->low_s > 0 && p->low_s < p->time_s && p->time_s < p->high_s);
        assert_near(p->high_s / p->low_s, a->points[0].high_s / a->points[0].low_s, 1e-12);
    }
    const struct hm_point *p = &a->points[a->recommended];
    assert_true(a->advised_count > 0 && a->advised_count <= 3);
    assert_true(a->advised_within > 0 &&
                a->advised_within < (p->high_s - p->low_s) / 2 / p->time_s);
    assert_true(a->advised_run_s >= 120);
    for (size_t i = 0; i < a->advised_count; i++)
        assert_true(a->advised_n[i] <= p->n && (i == 0 || a->advised_n[i] > a->advised_n[i - 1]));
    hm_answer_free(a);
    hm_job_free(job);
}

/*
 * Mixed precision needs 16 bytes per parameter with Adam; 124M parameters fit with micro-batches.
 */
static void memory_of_mixed_precision(void **state)
{
    double micro;

    (void)state;
    assert_near(hm__need_parameter_bytes(HM_OPTIMIZER_ADAM, 16), 16, 0);
    assert_near(hm__need_parameter_bytes(HM_OPTIMIZER_MOMENTUM, 16), 12, 0);
    assert_near(hm__need_parameter_bytes(HM_OPTIMIZER_SGD, 16), 8, 0);
    assert_near(hm__need_parameter_bytes(HM_OPTIMIZER_ADAM, 32), 16, 0);
    assert_near(hm__need_parameter_bytes(HM_OPTIMIZER_SGD, 64), 16, 0);
    assert_near(hm__need_passes(64, 0, 100, 10, 500, &micro), 2, 0); /* 40 samples fit. */
    assert_near(micro, 32, 0);
    assert_near(hm__need_passes(6.4, NAN, 100, 10, NAN, &micro), 1, 0);
    assert_near(micro, 7, 0);
    assert_near(hm__need_passes(6.4, 4, 100, 10, 50, &micro), 2, 0);
    assert_near(micro, 4, 0);
    /* Not even one sample fits in memory. */
    assert_near(hm__need_passes(5, 0, 100, 10, 50, &micro), 5, 0);
    assert_near(micro, 1, 0);
    struct hm_job *job = parse_job("network: gpt-2\nbatch: 512\nprecision: 16\noptimizer: adam\n"
                                   "software: compiled\n"
                                   "cluster: {machine: p4d.24xlarge, max_nodes: 1}\n");
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = ask(job, &q);
    const struct hm_point *p = &a->points[7];
    assert_true(p->fits && p->memory_bytes <= a->memory_bytes);
    assert_true(p->micro_batch >= 8 && p->micro_batch < 64);
    /* The authors report about four days for 600,000 iterations of the compiled network; the model
     * is within a factor of two. */
    double days = 600000 * p->time_s / 86400;
    assert_true(days > 2 && days < 8);
    hm_answer_free(a);
    hm_job_free(job);
}

/* If one worker is best, the limit is that of two workers, and the text must say so. */
static void the_limit_names_its_workers(void **state)
{
    static const char text[] = "network: resnet-50\nbatch: 64\n"
                               "cluster: {machine: a100-40gb-sxm, fabric: 10gbe, max_nodes: 64}\n";
    struct hm_request *r = with_document("plan", "job", text);

    (void)state;
    gives(r, NULL, {"recommended.n", 1, NULL}, {"limit.n", 2, NULL});
    r = with_document("plan", "job", "compute: 100 s/n\ncommunicate: 1 s\n");
    gives(r, NULL, {"limit.kind", .text = "communication"});
}

/* For a machine in the field `on`, keys of the job must be used if the machine does not give them
 * itself. */
static void other_machines_keep_keys(void **state)
{
    static const char text[] = "compute: 10/n\ncommunicate: 0.1*n\n"
                               "cluster: {flops: 1 Tflop/s, max_nodes: 7, price: $3600/h}\n";
    struct hm_request *r = with_document("plan", "job", text);

    (void)state;
    assert_int_equal(hm_request_set(r, "on", "xeon-e3-1240", NULL), 0);
    gives(r, NULL, {"curve.6.n", 7, NULL}, {"curve.0.cost", 10.1, NULL},
          {"notes.0", .text = "kept from the job: max_nodes and price"});
    r = with_document("plan", "job", text);
    assert_int_equal(hm_request_set(r, "on", "p4d.24xlarge", NULL), 0);
    gives(
        r, NULL, {"curve.0.cost", 10.1 * 21.957642 / 3600, NULL},
        {"notes.0", .text = "kept from the job: max_nodes; replaced by the machine's own: price"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fewest_workers_within_the_slack),
        cmocka_unit_test(the_part_that_does_not_shrink),
        cmocka_unit_test(the_first_line),
        cmocka_unit_test(three_alternatives),
        cmocka_unit_test(only_the_listed_numbers),
        cmocka_unit_test(samples_are_whole),
        cmocka_unit_test(nearly_is_enough),
        cmocka_unit_test(plans_without_runs_have_intervals),
        cmocka_unit_test(memory_of_mixed_precision),
        cmocka_unit_test(the_limit_names_its_workers),
        cmocka_unit_test(other_machines_keep_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
