/*
 * Tests training steps that are composed of operations: the table over batches, buckets and their
 * overlap, and the tables of measurements and their errors.
 */
#include "testing.h"

#include "layer_ops.h"
#include "order.h"
#include "predict.h"
#include "read_measured.h"

static struct hm_job *make_job(const char *text)
{
    struct hm_job *job;
    struct hm_err err = {0};

    if (hm_job_parse(text, strlen(text), "test", NULL, 0, &job, &err))
        fail_msg("%s", err.message);
    return job;
}

static struct hm_point predict(const char *text, double n)
{
    struct hm_job *job = make_job(text);
    struct hm_point p;
    struct hm_err err = {0};

    if (hm__predict_step(job, NULL, n, NULL, &p, &err))
        fail_msg("%s", err.message);
    hm_job_free(job);
    return p;
}

#define JOB(network, batch, precision, rest)                                                       \
    "network: " network "\nbatch: " batch "\nscaling: weak\nprecision: " precision                 \
    "\ncluster: dgx-a100\n" rest

static void a_step_grows_with_its_batch(void **state)
{
    double before = 0;

    (void)state;
    for (int batch = 1; batch <= 512; batch += batch < 8 ? 1 : batch / 5) {
        char text[200];
        snprintf(text, sizeof(text),
                 "network: resnet-50\nbatch: %d\nscaling: weak\nprecision: bf16\ncluster: h200\n",
                 batch);
        struct hm_point p = predict(text, 1);
        assert_true(p.time_s >= before * 0.999);
        before = p.time_s;
    }
}

static void small_batches_take_the_time_of_the_host(void **state)
{
    double one = predict(JOB("resnet-50", "1", "bf16", ""), 1).time_s;
    double eight = predict(JOB("resnet-50", "8", "bf16", ""), 1).time_s;
    double tuned = predict(JOB("resnet-50", "1", "bf16", "software: tuned\n"), 1).time_s;

    (void)state;
    assert_near(eight / one, 1, 0.01);
    assert_true(tuned < one / 3);
}

static void software_and_precision_matter(void **state)
{
    double eager = predict(JOB("resnet-50", "256", "bf16", ""), 1).time_s;
    double compiled = predict(JOB("resnet-50", "256", "bf16", "software: compiled\n"), 1).time_s;
    double tuned = predict(JOB("resnet-50", "256", "bf16", "software: tuned\n"), 1).time_s;
    double strict = predict(JOB("bert-large-512", "16", "fp32-ieee", ""), 1).time_s;
    double tf32 = predict(JOB("bert-large-512", "16", "fp32", ""), 1).time_s;
    double bf16 = predict(JOB("bert-large-512", "16", "bf16", ""), 1).time_s;

    (void)state;
    assert_true(tuned <= compiled && compiled < eager);
    assert_true(bf16 < tf32 && tf32 < strict / 2);
}

/* Momentum keeps one number of 32 bits for each of the 25,557,032 weights of ResNet-50, Adam two.
 */
static void optimizers_keep_their_states(void **state)
{
    double sgd = predict(JOB("resnet-50", "64", "bf16", "optimizer: sgd\n"), 1).memory_bytes;
    double momentum =
        predict(JOB("resnet-50", "64", "bf16", "optimizer: momentum\n"), 1).memory_bytes;
    double adam = predict(JOB("resnet-50", "64", "bf16", "optimizer: adam\n"), 1).memory_bytes;

    (void)state;
    assert_near(momentum - sgd, 4 * 25557032.0, 1e-9);
    assert_near(adam - sgd, 8 * 25557032.0, 1e-9);
}

static void buckets_overlap_with_the_backward_pass(void **state)
{
    struct hm_point with = predict(JOB("resnet-50", "128", "bf16", ""), 64);
    struct hm_point without = predict(JOB("resnet-50", "128", "bf16", "overlap: none\n"), 64);
    struct hm_point alone = predict(JOB("resnet-50", "128", "bf16", ""), 1);
    struct hm_point small = predict(JOB("resnet-50", "128", "bf16", "bucket: 100 kB\n"), 64);

    (void)state;
    assert_true(with.time_s > alone.time_s);
    assert_true(with.time_s < without.time_s);
    assert_near(without.time_s, without.compute_s + without.communicate_s, 1e-9);
    /* With more messages, the latency is paid more often. */
    assert_true(small.latency_s > 3 * with.latency_s);
    assert_near(small.bandwidth_s, with.bandwidth_s, 1e-9);
    /* In MLPerf, ResNet-50 on 1,024 A100 with tuned software takes 16 ms per step, with 35 images
     * per GPU. */
    struct hm_point many = predict(JOB("resnet-50", "35", "fp16", "software: tuned\n"), 1024);
    assert_true(many.time_s > 0.011 && many.time_s < 0.021);
}

static void the_first_layer_has_no_gradient_of_its_input(void **state)
{
    struct hm_job *job = make_job("network: 4096-1024\nbatch: 8192\nprecision: bf16\n"
                                  "cluster: h200\n");
    const struct hm_layer_place first = {.first = true}, later = {.first = false};
    struct hm_counts *counts;
    struct hm_device d;

    (void)state;
    assert_int_equal(hm_counts_new(job->network, NULL, &counts, NULL), 0);
    assert_true(hm__device_init(&d, &job->cluster.node, HM_MATH_BF16, 32, HM_SOFTWARE_EAGER, NULL));
    struct hm_layer_step a = hm__layer_ops(&d, &counts->layers[0], &first, 8192);
    struct hm_layer_step b = hm__layer_ops(&d, &counts->layers[0], &later, 8192);
    assert_near(b.backward_s - a.backward_s, hm__device_gemm(&d, 8192, 4096, 1024, 1), 1e-12);
    assert_near(b.forward_s, a.forward_s, 0);
    hm_counts_free(counts);
    hm_job_free(job);
}

static void explicit_rates_keep_their_meaning(void **state)
{
    const char *job = "network: 784-2500-10\nbatch: 1000\nprecision: 32\nscaling: weak\n"
                      "cluster: {machine: h200, flops: 1 Tflop/s, efficiency: 0.5, "
                      "roofline: false, fabric: 10gbe}\n";

    (void)state;
    /* A step takes 3 passes of 2 * (784 * 2500 + 2500 * 10) flop for 1000 samples at half a
     * Tflop/s. */
    assert_near(predict(job, 1).compute_s, 3 * 2 * (784.0 * 2500 + 25000) * 1000 / 0.5e12, 1e-9);
}

/* Returns whether the model of a job has a note that contains the text. */
static bool model_notes(const char *text, const char *says)
{
    struct hm_job *job = make_job(text);
    struct hm_variant variant = HM_VARIANT_INIT;
    struct hm_model *model;
    bool found = false;

    assert_int_equal(hm__model_new(job, &job->cluster, &variant, &model, NULL), 0);
    for (size_t i = 0; hm__model_note(model, i); i++)
        found = found || strstr(hm__model_note(model, i), says);
    hm__model_free(model);
    hm_job_free(job);
    return found;
}

/* A job without a precision must take as long as one with the precision of the table. */
static void networks_train_in_mixed_precision_where_machines_have_it(void **state)
{
    static const struct {
        const char *job, *precision;
        bool noted;
    } jobs[] = {
        {"network: resnet-50\nbatch: 64\ncluster: a100-40gb-sxm\n", "bf16", true},
        {"network: resnet-50\nbatch: 64\ncluster: p3.2xlarge\n", "fp16", true},
        {"network: resnet-50\nbatch: 64\ncluster: {flops: {fp32: 10 Tflop/s, bf16: 40 Tflop/s}, "
         "efficiency: 0.5, fabric: 10gbe}\n",
         "bf16", true},
        {"network: resnet-50\nbatch: 64\ncluster: p2.xlarge\n", "fp32", false},
        {"network: resnet-50\nbatch: 64\ncluster: dgx-1-p100\n", "fp32", false},
        {"network: resnet-50\nbatch: 64\ncluster: m5.4xlarge\n", "fp32", false},
        {"network: resnet-50\nbatch: 64\ncluster: {flops: 10 Tflop/s, fabric: 10gbe}\n", "fp32",
         false},
        {"network: {parameters: 25e6, forward: 8 Gflop}\nbatch: 64\ncluster: p3.2xlarge\n", "fp32",
         false},
        {"compute: 1e15 flop/flops/n\ncommunicate: []\ncluster: p3.2xlarge\n", "fp32", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        char text[400];
        snprintf(text, sizeof(text), "%sprecision: %s\n", jobs[i].job, jobs[i].precision);
        double given = predict(text, 1).time_s;
        if (predict(jobs[i].job, 1).time_s != given)
            fail_msg("job %zu: %g s, not %g s", i, predict(jobs[i].job, 1).time_s, given);
        if (model_notes(jobs[i].job, "no precision is given") != jobs[i].noted)
            fail_msg("job %zu: note", i);
        assert_false(model_notes(text, "no precision is given"));
    }
}

/* Median errors must be at most 15 % for steps on one accelerator, 12 % for scaling points, and 12
 * % for memory; constants may change as long as this holds. */
static void measured_steps_are_predicted(void **state)
{
    struct hm_measured_steps steps;
    struct hm_err err = {0};
    static double alone[1000], together[1000], memory[1000];
    size_t n_alone = 0, n_together = 0, n_memory = 0;

    (void)state;
    assert_int_equal(hm__measured_steps_read(NULL, NULL, 0, NULL, &steps, &err), 0);
    for (size_t i = 0; i < steps.count; i++) {
        const struct hm_measured_step *s = &steps.rows[i];
        struct hm_point p;
        assert_int_equal(hm__predict_step(s->job, &s->way, s->n, NULL, &p, &err), 0);
        double error = fabs(p.time_s / s->seconds - 1);
        if (s->n > 1)
            together[n_together++] = error;
        else
            alone[n_alone++] = error;
        if (s->memory_bytes > 0)
            memory[n_memory++] = fabs(p.memory_bytes / s->memory_bytes - 1);
    }
    hm__measured_steps_release(&steps);
    assert_true(n_alone > 150 && n_together > 100 && n_memory > 150);
    qsort(alone, n_alone, sizeof(double), hm__compare_numbers);
    qsort(together, n_together, sizeof(double), hm__compare_numbers);
    qsort(memory, n_memory, sizeof(double), hm__compare_numbers);
    assert_true(alone[n_alone / 2] < 0.12);
    assert_true(together[n_together / 2] < 0.12);
    assert_true(memory[n_memory / 2] < 0.12);
}

static void broken_tables_are_named(void **state)
{
    static const struct {
        const char *text, *says;
    } tables[] = {
        {"source,network\nx,y\n", "machine"},
        {"source,network,machine,fabric,n,batch,precision,weights,optimizer,software,step_s,"
         "memory_bytes\na,resnet-50,h200,,0,1,bf16,,sgd,eager,1,\n",
         "column 'n'"},
        {"source,network,machine,fabric,n,batch,precision,weights,optimizer,software,step_s,"
         "memory_bytes\na,resnet-51,h200,,1,1,bf16,,sgd,eager,1,\n",
         "resnet-51"},
        {"source,network,machine,fabric,n,batch,precision,weights,optimizer,software,step_s,"
         "memory_bytes\na,resnet-50,h200,,1,1,bf16,,sgd,eager,fast,\n",
         "column 'step_s'"},
#define TABLE_PLATFORM(platform, held_out)                                                         \
    "source,network,machine,fabric,n,batch,precision,weights,optimizer,software,step_s,"           \
    "memory_bytes,platform,held_out_s\na,resnet-50,h200,,2,1,bf16,,sgd,eager,1,," platform         \
    "," held_out "\n"
        {TABLE_PLATFORM("spark", "1"), "'spark' is not a platform"},
        {TABLE_PLATFORM("driver 3", "1"), "'driver 3' is not a platform"},
        {TABLE_PLATFORM("server", "1"), "'server' is not a platform"},
        {TABLE_PLATFORM("server 0 bsp", "1"), "'server 0 bsp' is not a platform"},
        {TABLE_PLATFORM("server 2 lazy", "1"), "'server 2 lazy' is not a platform"},
        {TABLE_PLATFORM("server 2 bsp here", "1"), "'server 2 bsp here' is not a platform"},
        {TABLE_PLATFORM("", "soon"), "column 'held_out_s'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct hm_measured_steps steps;
        struct hm_err err = {0};
        assert_true(hm__measured_steps_read(NULL, tables[i].text, strlen(tables[i].text), "t.csv",
                                            &steps, &err) < 0);
        if (!strstr(err.message, tables[i].says))
            fail_msg("%zu: %s", i, err.message);
        assert_string_equal(err.source, "t.csv");
    }
}

static void platforms_of_tables_are_read(void **state)
{
    static const char table[] = TABLE_PLATFORM("server 2 async colocated", "0.5");
    struct hm_measured_steps steps;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__measured_steps_read(NULL, table, sizeof(table) - 1, "t.csv", &steps, &err),
                     0);
    assert_int_equal(steps.rows[0].way.platform, HM_PLATFORM_SERVER);
    assert_int_equal(steps.rows[0].way.consistency, HM_CONSISTENCY_ASYNC);
    assert_true(steps.rows[0].way.servers == 2 && steps.rows[0].way.colocated);
    assert_near(steps.rows[0].held_out_s, 0.5, 0);
    hm__measured_steps_release(&steps);
}

/*
 * Returns whether a rate is at least `least` and at most `most` times another one; unknown rates
 * pass.
 */
static bool rate_between(double rate, double other, double least, double most)
{
    return !(rate > 0 && other > 0) || (rate >= least * other * .99 && rate <= most * other * 1.03);
}

/*
 * The rates of accelerators must be consistent. Dense rates of matrix units double with each
 * halving of the format, whereas figures with sparsity would be four times as large; some devices
 * have the same rate for two formats, or none. Cards for PCI Express must not be faster than those
 * for sockets.
 */
static void rates_of_accelerators_are_dense(void **state)
{
    static const char *const pairs[][2] = {{"P100-PCIE", "P100"}, {"V100-PCIE", "V100"},
                                           {"A100-PCIE", "A100"}, {"A100-80GB-PCIE", "A100-80GB"},
                                           {"H100-PCIE", "H100"}, {"H100-NVL", "H100"},
                                           {"H200-NVL", "H200"},  {"MI350X", "MI355X"},
                                           {"B200", "GB200"},     {"B300", "GB300"}};
    struct hm_catalog *catalog;
    const char *name;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    for (size_t i = 0; (name = hm_catalog_name(catalog, HM_CATALOG_ACCELERATOR, i)); i++) {
        struct hm_cluster *card;
        assert_int_equal(hm_catalog_machine(catalog, name, &card, NULL), 0);
        const struct hm_node *node = &card->node;
        double half = node->flops_bf16 > 0 ? node->flops_bf16 : node->flops_16;
        if (!rate_between(half, node->flops_tf32, 1, 4) ||
            !rate_between(node->flops_fp8, half, 1, 2) ||
            !rate_between(node->flops_fp4, half, 4, 6) ||
            !rate_between(node->flops_32, node->flops_64, 1, 67) ||
            !rate_between(half, node->flops_32, 1, 32) ||
            !(node->memory_bytes > 7e9 && node->memory_bytes < 310e9) ||
            !(node->memory_bandwidth_bytes_per_s > 1.5e11 &&
              node->memory_bandwidth_bytes_per_s <= 8e12))
            fail_msg("%s: its rates or its memory are not consistent", name);
        hm_cluster_free(card);
    }
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct hm_cluster *slow, *fast;
        assert_int_equal(hm_catalog_machine(catalog, pairs[i][0], &slow, NULL), 0);
        assert_int_equal(hm_catalog_machine(catalog, pairs[i][1], &fast, NULL), 0);
        assert_true(slow->node.flops_16 <= fast->node.flops_16 &&
                    slow->node.flops_32 <= fast->node.flops_32 &&
                    (slow->node.flops_fp4 > 0) == (fast->node.flops_fp4 > 0) &&
                    slow->node.link.bandwidth_bytes_per_s <= fast->node.link.bandwidth_bytes_per_s);
        hm_cluster_free(slow);
        hm_cluster_free(fast);
    }
    hm_catalog_free(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_of_accelerators_are_dense),
        cmocka_unit_test(a_step_grows_with_its_batch),
        cmocka_unit_test(small_batches_take_the_time_of_the_host),
        cmocka_unit_test(software_and_precision_matter),
        cmocka_unit_test(optimizers_keep_their_states),
        cmocka_unit_test(buckets_overlap_with_the_backward_pass),
        cmocka_unit_test(the_first_layer_has_no_gradient_of_its_input),
        cmocka_unit_test(explicit_rates_keep_their_meaning),
        cmocka_unit_test(networks_train_in_mixed_precision_where_machines_have_it),
        cmocka_unit_test(measured_steps_are_predicted),
        cmocka_unit_test(broken_tables_are_named),
        cmocka_unit_test(platforms_of_tables_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
