/* Compares the superstep with tests/data/superstep.csv (tools/oracle/superstep.py) and with values
 * computed by hand. */
#include "testing.h"

#include "layer_time.h"
#include "model.h"

static struct hm_model *make(const struct hm_job *job, const struct hm_variant *variant)
{
    struct hm_variant same = HM_VARIANT_INIT;
    struct hm_model *model = NULL;
    struct hm_err err = {0};

    same.weak = job->scaling == HM_SCALING_WEAK;
    if (hm__model_new(job, job->has_cluster ? &job->cluster : NULL, variant ? variant : &same,
                      &model, &err))
        fail_msg("%s: %s", err.field, err.message);
    return model;
}

static struct hm_point at(const struct hm_model *model, double n)
{
    struct hm_point p = {.n = n};
    struct hm_err err = {0};

    if (hm__model_eval(model, &p, 1, &err))
        fail_msg("%s: %s", err.field, err.message);
    return p;
}

static struct hm_job *example(const char *wanted)
{
    const char *name, *text;
    size_t length;

    for (size_t i = 0; hm_example(i, &name, &text, &length); i++) {
        struct hm_job *job;
        if (strcmp(name, wanted) == 0 && hm_job_parse(text, length, name, NULL, 0, &job, NULL) == 0)
            return job;
    }
    fail_msg("no example %s", wanted);
    return NULL;
}

static void the_literature_is_reproduced(void **state)
{
    static const char *const cases[][2] = {{"fig1", "fig1.yaml"},
                                           {"generic-linear", "generic-linear.yaml"},
                                           {"fig2", "fig2-spark-ann.yaml"},
                                           {"fig3", "fig3-inception.yaml"},
                                           {"ctr", "logistic-ctr.yaml"},
                                           {"speech", "speech.yaml"},
                                           {"alexnet", "alexnet-as-stated.yaml"}};
    int rows = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_job *job = example(cases[i][1]);
        struct hm_model *model = make(job, NULL);
        bool weak = job->scaling == HM_SCALING_WEAK;
        struct hm_point reference = at(model, job->reference);
        FILE *file = open_source("tests/data/superstep.csv");
        char line[200];
        next_line(file, line, sizeof(line));
        while (next_line(file, line, sizeof(line))) {
            char *rest = line, *name = strsep(&rest, ",");
            if (strcmp(name, cases[i][0]) != 0)
                continue;
            double n = atof(strsep(&rest, ",")), time = atof(strsep(&rest, ","));
            struct hm_point p = at(model, n);
            double speedup = reference.time_s / p.time_s * (weak ? n / job->reference : 1);
            hm_assert_near(p.time_s, time, 1e-13, cases[i][0], (int)n);
            hm_assert_near(speedup, atof(rest), 1e-13, cases[i][0], (int)n);
            rows++;
        }
        fclose(file);
        hm__model_free(model);
        hm_job_free(job);
    }
    assert_true(rows >= 380);
}

static const char small[] = "batch: 64\nprecision: 32\n"
                            "network: {input: 100, layers: [dense: {units: 50, bias: false}, relu, "
                            "dense: {units: 10, bias: "
                            "false}]}\n"
                            "communicate: [{what: gradients, scheme: ring}]\n";

/* The computing time is that of three products: the forward pass, the gradient of the input and the
 * gradient of the weights. */
static void compute_is_three_passes(void **state)
{
    char text[600];
    double flop = 64 * 3 * 2 * (100 * 50 + 50 * 10);

    (void)state;
    snprintf(text, sizeof(text),
             "%scluster: {flops: 1 Gflop/s, efficiency: 0.5, fabric: {bandwidth: "
             "1 GB/s, latency: 1 ms}}\n",
             small);
    struct hm_job *job = parse_job(text);
    struct hm_model *model = make(job, NULL);
    for (double n = 1; n <= 64; n *= 4) {
        struct hm_point p = at(model, n);
        assert_near(p.compute_s, flop / 0.5e9 / n, 1e-14);
        assert_near(p.latency_s, 2 * (n - 1) * 1e-3, 1e-14);
        assert_near(p.bandwidth_s, 2 * (n - 1) / n * 5500 * 4 / 1e9, 1e-14);
        assert_near(p.time_s, p.compute_s + p.latency_s + p.bandwidth_s, 1e-14);
        assert_near(p.memory_bytes, 4 * (2 * 5500 + 64 / n * (50 + 50 + 10)), 1e-14);
    }
    hm__model_free(model);
    hm_job_free(job);
}

/*
 * Each pass of each layer takes the longer of compute and memory time, plus the start of a kernel.
 */
static void the_roofline_by_hand(void **state)
{
    char text[700];
    const double flops = 1e9, moved = 1e9, start = 1e-5, b = 64;
    const double layers[3][4] = {/* The columns are multiply-adds, values, weights and passes. */
                                 {5000, 150, 5000, 3},
                                 {0, 100, 0, 2},
                                 {500, 60, 500, 3}};
    double wanted = 0;

    (void)state;
    snprintf(text, sizeof(text),
             "%scluster: {flops: 1 Gflop/s, memory_bandwidth: 1 GB/s, kernel_overhead: 10 us, "
             "fabric: {bandwidth: 1 GB/s}}\n",
             small);
    for (int i = 0; i < 3; i++) {
        double products = 2 * layers[i][0] * b / flops;
        double traffic = 4 * (layers[i][1] * b + layers[i][2]) / moved;
        wanted += layers[i][3] * (fmax(products, traffic) + start);
    }
    struct hm_job *job = parse_job(text);
    struct hm_model *model = make(job, NULL);
    assert_near(at(model, 1).compute_s, wanted, 1e-14);
    job->cluster.roofline = false;
    struct hm_model *flat = make(job, NULL);
    assert_near(at(flat, 1).compute_s, 3 * 2 * 5500 * b / flops, 1e-14);
    hm__model_free(flat);
    hm__model_free(model);
    hm_job_free(job);
}

/* The start of a kernel counts even if the memory bandwidth is unknown. */
static void kernels_start_without_a_roofline(void **state)
{
    char text[700];

    (void)state;
    snprintf(text, sizeof(text),
             "%scluster: {flops: 1 Gflop/s, kernel_overhead: 1 ms, fabric: {bandwidth: 1 GB/s}}\n",
             small);
    struct hm_job *job = parse_job(text);
    struct hm_model *model = make(job, NULL);
    assert_near(at(model, 1).compute_s, 3 * 2 * 5500 * 64 / 1e9 + (3 + 2 + 3) * 1e-3, 1e-13);
    hm__model_free(model);
    hm_job_free(job);
}

static void overlap_by_norm(void **state)
{
    char text[300];
    static const double ps[] = {1, 2, 3.5, 1000};

    (void)state;
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof(text), "compute: 6/n\ncommunicate: 0.5*n\noverlap: {norm: %g}\n",
                 ps[i]);
        struct hm_job *job = parse_job(text);
        struct hm_model *model = make(job, NULL);
        struct hm_point p = at(model, 3);
        double wanted = i == 3 ? 2 : pow(pow(2, ps[i]) + pow(1.5, ps[i]), 1 / ps[i]);
        assert_near(p.time_s, wanted, 1e-12);
        hm__model_free(model);
        hm_job_free(job);
    }
}

/* Simulates a step layer by layer with explicit events: the backward pass starts at the last layer,
 * and the one link sends gradients in the order in which they become ready. */
static double simulate(const double *backward, const double *send, int count)
{
    double clock = 0, link_free = 0;

    for (int i = count - 1; i >= 0; i--) {
        clock += backward[i];
        double start = fmax(clock, link_free);
        link_free = start + send[i];
    }
    return fmax(clock, link_free);
}

static void overlap_by_layers(void **state)
{
    (void)state;
    for (double bandwidth = 1e5; bandwidth < 1e9; bandwidth *= 7) {
        char text[700];
        snprintf(text, sizeof(text),
                 "batch: 64\noverlap: layers\nnetwork: 100-50-200-10\n"
                 "communicate: [{what: gradients, scheme: ring}]\n"
                 "cluster: {flops: 1 Gflop/s, fabric: {bandwidth: %.0f B/s, latency: 10 us}}\n",
                 bandwidth);
        struct hm_job *job = parse_job(text);
        struct hm_model *model = make(job, NULL);
        const double in[3] = {100, 50, 200}, out[3] = {50, 200, 10}, n = 4, b = 64 / n;
        double backward[3], send[3], forward = 0;
        for (int i = 0; i < 3; i++) {
            forward += 2 * in[i] * out[i] * b / 1e9;
            backward[i] = 2 * (2 * in[i] * out[i] * b / 1e9);
            double bytes = 4 * (in[i] * out[i] + out[i]);
            send[i] = 2 * (n - 1) * 10e-6 + 2 * (n - 1) / n * bytes / bandwidth;
        }
        struct hm_point p = at(model, n);
        assert_near(p.time_s, forward + simulate(backward, send, 3), 1e-12);
        assert_near(p.communicate_s, send[0] + send[1] + send[2], 1e-12);
        hm__model_free(model);
        hm_job_free(job);
    }
}

static void weak_scaling_keeps_the_local_batch(void **state)
{
    char text[600];
    struct hm_variant weak = HM_VARIANT_INIT;

    (void)state;
    snprintf(text, sizeof(text), "%scluster: {flops: 1 Gflop/s, fabric: {bandwidth: 1 GB/s}}\n",
             small);
    struct hm_job *job = parse_job(text);
    weak.weak = true;
    struct hm_model *model = make(job, &weak);
    assert_near(at(model, 1).compute_s, at(model, 100).compute_s, 0);
    /* With weak scaling, n may exceed the batch, because each worker has its own batch. */
    assert_true(at(model, 100).fits);
    hm__model_free(model);
    model = make(job, NULL);
    assert_false(at(model, 65).fits);
    hm__model_free(model);
    hm_job_free(job);
}

static void variants_scale_what_they_say(void **state)
{
    char text[600];
    struct hm_variant v = HM_VARIANT_INIT;

    (void)state;
    snprintf(text, sizeof(text),
             "%scluster: {flops: 1 Gflop/s, fabric: {bandwidth: 1 GB/s, "
             "latency: 1 ms}}\n",
             small);
    struct hm_job *job = parse_job(text);
    struct hm_model *model = make(job, NULL);
    struct hm_point base = at(model, 8);
    hm__model_free(model);
    v.bandwidth = 2;
    v.latency = 0.5;
    v.flops = 4;
    v.work = 3;
    model = make(job, &v);
    struct hm_point p = at(model, 8);
    assert_near(p.bandwidth_s, base.bandwidth_s / 2, 1e-14);
    assert_near(p.latency_s, base.latency_s / 2, 1e-14);
    assert_near(p.compute_s, base.compute_s * 3 / 4, 1e-14);
    hm__model_free(model);
    hm_job_free(job);
}

static void elasticity_is_the_relative_slope(void **state)
{
    struct hm_job *job =
        parse_job("where: {W: 12, B: 4}\ncompute: 100/n\ncommunicate: W/B*log2(n)\n");
    struct hm_model *model = make(job, NULL);
    double e;

    (void)state;
    double share = 3 * log2(5) / (20 + 3 * log2(5));
    assert_int_equal(hm__model_elasticity(model, 5, "W", &e, NULL), 0);
    assert_near(e, share, 1e-13);
    assert_int_equal(hm__model_elasticity(model, 5, "B", &e, NULL), 0);
    assert_near(e, -share, 1e-13);
    hm__model_free(model);
    hm_job_free(job);
}

/* Keys that are not used are not required: one node needs no network.
 * A formula may use the rate of the machine. */
static void unused_keys_are_not_required(void **state)
{
    struct hm_job *job = parse_job("batch: 64\nnetwork: 100-10\n"
                                   "cluster: {flops: 1 Gflop/s, accelerators: 4, max_nodes: 1,\n"
                                   "  link: {bandwidth: 1 GB/s}}\n");
    struct hm_model *model = make(job, NULL);

    (void)state;
    for (double n = 1; n <= 4; n++)
        assert_true(isfinite(at(model, n).time_s));
    hm__model_free(model);
    hm_job_free(job);
    job = parse_job("compute: 1/n\ncommunicate: 5 Gflop/flops\ncluster: {flops: 2 Gflop/s}\n");
    model = make(job, NULL);
    assert_near(at(model, 3).communicate_s, 2.5, 1e-14);
    hm__model_free(model);
    hm_job_free(job);
}

static void formulas_use_the_jobs_quantities(void **state)
{
    struct hm_job *job =
        parse_job("batch: 10\nprecision: 64\nnetwork: 5-3\ncompute: training*batch/flops/n\n"
                  "communicate: parameters*weight/bandwidth + latency*n\n"
                  "cluster: {flops: 2 Gflop/s, efficiency: 0.5, fabric: {bandwidth: 1 MB/s, "
                  "latency: 1 ms}}\n");
    struct hm_model *model = make(job, NULL);
    struct hm_point p = at(model, 2);

    (void)state;
    assert_near(p.compute_s, 3 * 2 * 15 * 10 / 1e9 / 2, 1e-14);
    assert_near(p.communicate_s, 18 * 8 / 1e6 + 2e-3, 1e-14);
    /* If a formula gives the communication, its latency and bandwidth are not known separately. */
    assert_true(isnan(p.latency_s));
    hm__model_free(model);
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_literature_is_reproduced),
        cmocka_unit_test(compute_is_three_passes),
        cmocka_unit_test(the_roofline_by_hand),
        cmocka_unit_test(kernels_start_without_a_roofline),
        cmocka_unit_test(overlap_by_norm),
        cmocka_unit_test(overlap_by_layers),
        cmocka_unit_test(weak_scaling_keeps_the_local_batch),
        cmocka_unit_test(variants_scale_what_they_say),
        cmocka_unit_test(elasticity_is_the_relative_slope),
        cmocka_unit_test(unused_keys_are_not_required),
        cmocka_unit_test(formulas_use_the_jobs_quantities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
