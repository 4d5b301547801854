/*
 * Tests CPUs and frameworks: operations on cores, edges of graphs, costs of drivers and servers,
 * the queue at a server, and the table of published measurements. Expected values are computed by
 * hand from the formulas, with round constants.
 */
#include "testing.h"

#include "device.h"
#include "order.h"
#include "predict_platform.h"
#include "read_platforms.h"
#include "sheet_spread.h"

/* A machine with four cores of 25 Gflop/s in 32 bits, 40 GB/s and 8 MB of cache, which is 2 MB for
 * each core. */
static const struct hm_node node = {.flops_32 = 100e9,
                                    .flops_64 = 50e9,
                                    .cores = 4,
                                    .memory_bandwidth_bytes_per_s = 40e9,
                                    .accelerators = 1};

static const struct hm_cpu_constants round_cpu = {.reach = 0.8,
                                                  .conv = 0.5,
                                                  .depthwise = 0.1,
                                                  .attention = 0.4,
                                                  .stream = 1,
                                                  .core_memory = 5,
                                                  .core_cache = 10};

static struct hm_device round_device(const struct hm_node *from)
{
    static struct hm_constants k;
    struct hm_device d;

    k = hm__constants;
    k.cpu = &round_cpu;
    assert_true(hm__device_init(&d, from, HM_MATH_FP32, 32, HM_SOFTWARE_EAGER, &k));
    return d;
}

static void products_use_the_threads(void **state)
{
    struct hm_node one = node, measured = node;
    struct hm_device d = round_device(&node);
    double flop = 2.0 * 1024 * 1024 * 1024;

    (void)state;
    one.threads = 1;
    measured.matrix_efficiency = 0.4;
    assert_near(hm__device_gemm(&d, 1024, 1024, 1024, 1), flop / 80e9, 1e-12);
    d.cpu.algebra = 0.1; /* The linear algebra of this framework is ten times slower than a BLAS. */
    assert_near(hm__device_gemm(&d, 1024, 1024, 1024, 1), flop / 8e9, 1e-12);
    d = round_device(&one);
    assert_near(hm__device_gemm(&d, 1024, 1024, 1024, 1), flop / 20e9, 1e-12);
    d = round_device(&measured);
    assert_near(hm__device_gemm(&d, 1024, 1024, 1024, 1), flop / 40e9, 1e-12);
    /* A matrix product with one block of results uses one thread of four. */
    d = round_device(&node);
    assert_near(hm__device_gemm(&d, 64, 64, 65536, 1), 2.0 * 64 * 64 * 65536 / 20e9, 1e-12);
}

static void small_dimensions_cost_more(void **state)
{
    struct hm_cpu_constants ramps = round_cpu;
    struct hm_device d = round_device(&node);

    (void)state;
    ramps.ramp_m = 1;
    ramps.ramp_n = 2;
    ramps.ramp_k = 3;
    ramps.start = 10;
    d.cpu.k = &ramps;
    assert_near(hm__device_gemm(&d, 999, 998, 997, 1), 2e9 / 80e9 + 10e-6, 1e-12);
}

static void memory_limits_products_with_a_vector(void **state)
{
    const struct hm_device d = round_device(&node);
    /* The product moves 40.044 MB: 8 MB from the cache at 40 GB/s, and the rest at 20 GB/s, which
     * four threads reach. */
    double expected = 8e6 / 40e9 + 32.044e6 / 20e9;

    (void)state;
    assert_near(hm__device_gemm(&d, 10000, 1, 1000, 1), expected, 1e-12);
    assert_near(hm__device_stream(&d, 4e6, 0.5), 4e6 / 40e9, 1e-12);
    assert_near(hm__device_slow(&d, 4e6, 1e6, 1), 4e6 / 40e9, 1e-12);
    assert_near(hm__device_norm(&d, 1e5, 16, true), 5 * 4e5 / 40e9, 1e-12);
}

static void convolutions_are_products(void **state)
{
    const struct hm_device d = round_device(&node);
    struct hm_conv c = {.batch = 8,
                        .in = 64,
                        .out = 128,
                        .in_places = 1024,
                        .out_places = 1024,
                        .window = 9,
                        .groups = 1,
                        .stride = 1};
    double flop = 2.0 * 8 * 1024 * 128 * 64 * 9;

    (void)state;
    for (int pass = 0; pass < 3; pass++)
        assert_near(hm__device_conv(&d, &c, (enum hm_pass)pass), flop / 40e9, 1e-12);
    c.groups = c.out = c.in;
    assert_near(hm__device_conv(&d, &c, HM_PASS_FORWARD), 2.0 * 8 * 1024 * 64 * 9 / 10e9, 1e-12);
    assert_near(hm__device_attention(&d, 2, 4, 512, 64, false),
                4.0 * 2 * 4 * 512 * 512 * 64 / (100e9 * 0.8 * 0.4), 1e-12);
}

static void edges_move_bytes(void **state)
{
    struct hm_node slow = node;

    (void)state;
    /* Scalar arithmetic takes 14 operations at 7 % of 50 Gflop/s. */
    assert_near(hm__cpu_edge(&node, 50e9, 14, 2, 1000, 8), 4e-9, 1e-12);
    /* An edge moves 48 bytes in order, and reads and writes a cache line of 64 bytes at random. */
    slow.memory_bandwidth_bytes_per_s = 4e9;
    assert_near(hm__cpu_edge(&slow, 50e9, 14, 2, 1000, 8), 12e-9, 1e-12);
    assert_near(hm__cpu_edge(&slow, 50e9, 14, 2, 1e7, 8), 44e-9, 1e-12);
    slow.cache_bytes = 1e9;
    assert_near(hm__cpu_edge(&slow, 50e9, 14, 2, 1e7, 8), 12e-9, 1e-12);
    /* Five states need 65 operations, and 90 more for each state. */
    assert_near(hm__cpu_edge(&node, 50e9, 65, 5, 1000, 8), 515 / 3.5e9, 1e-12);
    slow = node;
    slow.threads = 1;
    assert_near(hm__cpu_edge(&slow, 50e9, 14, 2, 1000, 8), 16e-9, 1e-12);
}

static void costs_add_up(void **state)
{
    const struct hm_framework_costs c = {
        .algebra = 1, .value = 0.68, .stage = 5000, .task = 1000, .request = 600, .byte = 0.005};
    struct hm_framework_costs serial = c;

    (void)state;
    serial.value_threads = 1;
    assert_near(hm__framework_driver_time(&c, 3, 4), 0.022, 1e-12);
    assert_near(hm__framework_message_time(&c, 3, 1e6), 1.815e-3, 1e-12);
    assert_near(hm__framework_input_time(&c, 1e6, 4), 0.17, 1e-12);
    assert_near(hm__framework_input_time(&serial, 1e6, 4), 0.68, 1e-12);
}

static void workers_queue_at_a_server(void **state)
{
    (void)state;
    assert_near(hm__framework_queue_time(1, 3, 2), 5, 1e-12);
    assert_near(hm__framework_queue_time(2, 1, 1), 1 + (1 + sqrt(5)) / 2, 1e-12);
    assert_near(hm__framework_queue_time(7, 0, 2), 14, 1e-12);
    assert_near(hm__framework_queue_time(7, 2, 0), 2, 1e-12);
    assert_near(hm__framework_queue_time(3, 0, 0), 0, 1e-12);
    /* Far below saturation a worker waits little; far above it, the server determines the time of
     * an iteration. */
    assert_near(hm__framework_queue_time(2, 1000, 1), 1001 + 1.0 / 1001, 1e-9);
    assert_near(hm__framework_queue_time(1000, 1, 1), 1000.001, 1e-8);
}

/* Predicts an iteration of the network on three machines m4.xlarge. */
static struct hm_point predict_three(const char *network, const char *framework,
                                     const char *precision, struct hm_way way)
{
    char text[300];
    struct hm_job *job = NULL;
    struct hm_point p = {0};
    struct hm_err err = {0};

    snprintf(text, sizeof(text),
             "network: %s\nbatch: 500\nscaling: weak\nprecision: %s\nframework: %s\n"
             "cluster: {machine: m4.xlarge, threads: 4}\n",
             network, precision, framework);
    if (hm_job_parse(text, strlen(text), "test", NULL, 0, &job, &err) ||
        hm__predict_platform(job, &way, 3, NULL, &p, &err))
        fail_msg("%s", err.message);
    hm_job_free(job);
    return p;
}

static void servers_serve_one_worker_at_a_time(void **state)
{
    const struct hm_way bsp = {.platform = HM_PLATFORM_SERVER, .servers = 1};
    const struct hm_way async = {
        .platform = HM_PLATFORM_SERVER, .consistency = HM_CONSISTENCY_ASYNC, .servers = 1};
    const double wire = 7850 * 4 * 8 / 750e6, request = 600e-6;
    struct hm_point none = predict_three("mnist-softmax", "none", "fp32", bsp);
    struct hm_point mxnet = predict_three("mnist-softmax", "mxnet", "fp32", bsp);

    (void)state;
    assert_near(mxnet.compute_s, none.compute_s, 1e-12);
    assert_near(none.communicate_s, 2 * (75e-6 + 3 * wire), 1e-12);
    assert_near(mxnet.communicate_s, 2 * (75e-6 + 3 * (wire + request)), 1e-12);
    assert_near(mxnet.server_share, 6 * (wire + request) / mxnet.time_s, 1e-9);
    struct hm_point stale = predict_three("mnist-softmax", "mxnet", "fp32", async);
    /*
     * The time R at the server in a queue of three workers satisfies R (Z + R) = S (Z + R) + 2 S R.
     */
    double s = 2 * (wire + request), z = stale.compute_s + 150e-6, r = stale.time_s - z;
    assert_near(r * (z + r), s * (z + r) + 2 * s * r, 1e-9);
    assert_near(stale.time_s, stale.compute_s + stale.communicate_s, 1e-12);
    struct hm_point tensorflow = predict_three("mnist-softmax", "tensorflow", "fp32", bsp);
    assert_near(tensorflow.compute_s - none.compute_s, 8e-3, 1e-12);
}

static void a_driver_schedules_tasks(void **state)
{
    const struct hm_way driver = {.platform = HM_PLATFORM_DRIVER};
    struct hm_point none = predict_three("mnist-softmax", "none", "fp64", driver);
    struct hm_point spark = predict_three("mnist-softmax", "spark", "fp64", driver);
    double copied = 3 * 7850 * 8 * 0.005e-9;

    (void)state;
    assert_near(spark.communicate_s - none.communicate_s, 0.022 + copied, 1e-9);
    assert_true(spark.compute_s > 2 * none.compute_s);
}

static void cpus_and_frameworks_have_errors_of_their_own(void **state)
{
    const struct hm_way job_way = {0}, driver = {.platform = HM_PLATFORM_DRIVER};
    const char *text = "network: mnist-ann\nbatch: 64\ncluster: m4.xlarge\n";
    struct hm_job *job;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_job_parse(text, strlen(text), "test", NULL, 0, &job, &err), 0);
    assert_int_equal(hm__sheet_kind(job, &job->cluster, &job_way, 3), HM_SHEET_CPU);
    assert_int_equal(hm__sheet_kind(job, &job->cluster, &driver, 3), HM_SHEET_DRIVER);
    job->framework = HM_FRAMEWORK_SPARK;
    assert_int_equal(hm__sheet_kind(job, &job->cluster, &driver, 3), HM_SHEET_FRAMEWORK);
    hm_job_free(job);
}

/* The rows of synchronous and asynchronous training follow one another in the table. */
static void published_platforms_are_predicted(void **state)
{
    const double most[HM_FRAMEWORK_COUNT] = {0.15, 0.30, 0.10, 0.10, 0.05};
    const size_t least[HM_FRAMEWORK_COUNT] = {63, 4, 8, 8, 1};
    static double errors[HM_FRAMEWORK_COUNT][200];
    size_t counts[HM_FRAMEWORK_COUNT] = {0}, gains = 0;
    struct hm_platform_rows all;
    struct hm_err err = {0};
    double before = 0;

    (void)state;
    assert_int_equal(hm__platform_rows_read(NULL, NULL, 0, NULL, &all, &err), 0);
    for (size_t i = 0; i < all.count; i++) {
        const struct hm_platform_row *r = &all.rows[i];
        struct hm_point p;
        assert_int_equal(hm__predict_platform(r->job, &r->way, r->n, NULL, &p, &err), 0);
        enum hm_framework f = r->job->framework;
        errors[f][counts[f]++] = fabs(p.time_s / r->seconds - 1);
        if (r->way.consistency == HM_CONSISTENCY_ASYNC) {
            double gain = before / p.time_s;
            assert_true(gain > 1.04 && gain < 1.45);
            gains++;
        }
        before = p.time_s;
    }
    hm__platform_rows_release(&all);
    assert_int_equal(gains, 6);
    for (size_t f = 0; f < HM_FRAMEWORK_COUNT; f++) {
        assert_int_equal(counts[f], least[f]);
        qsort(errors[f], counts[f], sizeof(double), hm__compare_numbers);
        if (!(errors[f][counts[f] / 2] < most[f]))
            fail_msg("%zu: median error %g", f, errors[f][counts[f] / 2]);
    }
}

static void broken_tables_are_named(void **state)
{
#define HEAD                                                                                       \
    "source,framework,input,network,machine,threads,platform,consistency,servers,n,batch,"         \
    "precision,step_s\n"
    static const struct {
        const char *text, *says;
    } tables[] = {
        {"source,network\nx,y\n", "framework"},
        {HEAD "a,hadoop,memory,mnist-ann,m4.xlarge,4,driver,bsp,,3,5,fp32,1\n", "hadoop"},
        {HEAD "a,spark,disk,mnist-ann,m4.xlarge,4,driver,bsp,,3,5,fp32,1\n", "disk"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,0,driver,bsp,,3,5,fp32,1\n", "threads"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,ring,bsp,,3,5,fp32,1\n", "column 'platform'"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,driver,lazy,,3,5,fp32,1\n",
         "column 'consistency'"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,server,bsp,x,3,5,fp32,1\n", "column 'servers'"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,driver,bsp,,0,5,fp32,1\n", "column 'n'"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,driver,bsp,,3,-1,fp32,1\n", "column 'batch'"},
        {HEAD "a,spark,memory,mnist-ann,m4.xlarge,4,driver,bsp,,3,5,fp32,soon\n",
         "column 'step_s'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct hm_platform_rows all;
        struct hm_err err = {0};
        assert_true(hm__platform_rows_read(NULL, tables[i].text, strlen(tables[i].text), "t.csv",
                                           &all, &err) < 0);
        if (!strstr(err.message, tables[i].says) && !strstr(err.field, tables[i].says))
            fail_msg("%zu: %s (%s)", i, err.message, err.field);
        assert_string_equal(err.source, "t.csv");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_use_the_threads),
        cmocka_unit_test(small_dimensions_cost_more),
        cmocka_unit_test(memory_limits_products_with_a_vector),
        cmocka_unit_test(convolutions_are_products),
        cmocka_unit_test(edges_move_bytes),
        cmocka_unit_test(costs_add_up),
        cmocka_unit_test(workers_queue_at_a_server),
        cmocka_unit_test(servers_serve_one_worker_at_a_time),
        cmocka_unit_test(a_driver_schedules_tasks),
        cmocka_unit_test(cpus_and_frameworks_have_errors_of_their_own),
        cmocka_unit_test(published_platforms_are_predicted),
        cmocka_unit_test(broken_tables_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
