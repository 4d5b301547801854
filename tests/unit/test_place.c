/* Compares the placement of layers on devices with a search over all placements, and with a
 * simulated pipeline. */
#include "testing.h"

#include "budget.h"
#include "layer_graph.h"
#include "place.h"
#include "random.h"
#include "split.h"

enum { UNITS = 9, TRIALS = 300 };

static double uniform(struct hm_random *random)
{
    return hm__random_uniform(random);
}

/* Tries all placements of the units from `from` on; returns the least time of a step. */
static double try_all(const struct hm_place_unit *units, size_t count, size_t stages, size_t stage,
                      size_t *ends, double micro_batches, double memory)
{
    double least = INFINITY;
    size_t from = stage > 0 ? ends[stage - 1] : 0;

    if (stage + 1 == stages) {
        ends[stage] = count;
        return from < count ? hm__place_time(units, ends, stages, micro_batches, memory) : INFINITY;
    }
    for (ends[stage] = from + 1; ends[stage] < count; ends[stage]++)
        least = fmin(least, try_all(units, count, stages, stage + 1, ends, micro_batches, memory));
    return least;
}

static void test_all_placements(void **state)
{
    struct hm_random random;
    struct hm_place_unit units[UNITS];
    int infeasible = 0;

    (void)state;
    hm__random_init(&random, 1, 2);
    for (int trial = 0; trial < TRIALS; trial++) {
        for (size_t i = 0; i < UNITS; i++)
            units[i] =
                (struct hm_place_unit){uniform(&random), 2 * uniform(&random) * uniform(&random),
                                       uniform(&random), uniform(&random)};
        size_t stages = 1 + (size_t)(trial % 5), ends[HM_STAGES_MAX];
        double micro = 1 + trial % 7, memory = trial % 3 ? NAN : 2 + 4 * uniform(&random);
        struct hm_placement placed;
        assert_int_equal(hm__place_chain(units, UNITS, stages, micro, memory, &placed, NULL), 0);
        double least = try_all(units, UNITS, stages, 0, ends, micro, memory);
        if (isinf(least)) {
            assert_true(isinf(placed.time_s));
            infeasible++;
            continue;
        }
        assert_near(placed.time_s, least, 1e-12);
        assert_near(hm__place_time(units, placed.ends, stages, micro, memory), least, 1e-12);
    }
    assert_true(infeasible > 5 && infeasible < TRIALS / 3);
}

/* Simulates a pipeline: each micro-batch passes the stages and links in order, and a stage or link
 * handles one micro-batch at a time. */
static double simulate(const double *lengths, size_t count, double micro_batches)
{
    double free_at[2 * HM_STAGES_MAX] = {0};

    for (double m = 0; m < micro_batches; m++) {
        double at = 0;
        for (size_t i = 0; i < count; i++)
            at = free_at[i] = fmax(at, free_at[i]) + lengths[i];
    }
    return free_at[count - 1];
}

static void test_pipeline(void **state)
{
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 3, 4);
    for (int trial = 0; trial < 50; trial++) {
        struct hm_place_unit units[4];
        double lengths[7];
        size_t ends[4] = {1, 2, 3, 4};
        for (size_t i = 0; i < 4; i++) {
            units[i] =
                (struct hm_place_unit){.time_s = uniform(&random), .send_s = uniform(&random)};
            lengths[2 * i] = units[i].time_s;
            if (i < 3)
                lengths[2 * i + 1] = units[i].send_s;
        }
        for (double m = 1; m < 9; m++)
            assert_near(hm__place_time(units, ends, 4, m, NAN), simulate(lengths, 7, m), 1e-12);
    }
}

/* A job with dense layers of 1000 x 1000, with 1e6 multiply-adds for each sample, and one layer of
 * 1000 x 10. */
#define WIDE "{dense: {units: 1000, bias: false}}"
#define DENSE                                                                                      \
    "network: {input: 1000, layers: [" WIDE ", " WIDE ", " WIDE ", " WIDE                          \
    ", {dense: {units: 10, bias: false}}]}\nbatch: 32\n"

/* Returns the least time of the dense layers on n workers, by trying all placements. */
static double dense_time(double n, double flops, double bandwidth, double latency)
{
    double least = INFINITY;

    for (double k = 1; k <= n; k++) {
        size_t ends[HM_STAGES_MAX];
        double samples = 32 * k / n;
        if (fmod(n, k) != 0)
            continue;
        for (double b = 1; b <= samples; b *= 2) {
            struct hm_place_unit units[5];
            for (size_t i = 0; i < 5; i++)
                units[i] = (struct hm_place_unit){
                    .time_s = (i < 4 ? 6e6 : 6e4) * b / flops,
                    .send_s = k > 1 ? 2 * (latency + 4 * 1000 * b / bandwidth) : 0};
            double time_s = try_all(units, 5, (size_t)k, 0, ends, ceil(samples / b), NAN);
            /* With one stage on each worker, gradients are summed by the fastest all-reduce: a
             * message of all parameters in each direction on 2 workers, a ring on 3. */
            if (n > 1 && k == 1)
                time_s += 2 * (n - 1) * (latency + 4 * 4.01e6 / n / bandwidth);
            least = fmin(least, time_s);
        }
    }
    return least;
}

/* On up to 3 workers, either the workers form one pipeline, or every worker has all layers. */
static void test_plan(void **state)
{
    static const struct hm_way pipeline = {.platform = HM_PLATFORM_PIPELINE};
    struct hm_answer *answer =
        plan_way(4,
                 DENSE "cluster: {flops: 10 Gflop/s, efficiency: 1, roofline: false, memory: 1 GB, "
                       "fabric: {bandwidth: 10 MB/s, latency: 1 us}}\n",
                 &pipeline);

    (void)state;
    assert_int_equal(answer->point_count, 4);
    for (double n = 1; n <= 3; n++)
        assert_near(answer->points[(size_t)n - 1].time_s, dense_time(n, 10e9, 10e6, 1e-6), 1e-9);
    bool noted = false;
    for (size_t i = 0; i < answer->note_count; i++)
        noted = noted || strstr(answer->notes[i], "1 pipeline of");
    assert_true(noted);
    hm_answer_free(answer);
}

/* Each layer of 1e6 parameters needs 8 MB with SGD, so all 4 layers fit only on at least 2 workers
 * of 20 MB; a plan without a platform offers the pipeline. */
static void test_offer(void **state)
{
    static const struct hm_way pipeline = {.platform = HM_PLATFORM_PIPELINE};
    static const char text[] =
        DENSE "cluster: {flops: 10 Gflop/s, efficiency: 1, roofline: false, memory: 20 MB, "
              "fabric: {bandwidth: 10 MB/s, latency: 1 us}}\n";
    struct hm_answer *placed = plan_way(4, text, &pipeline), *plain = plan_way(4, text, NULL);
    bool offered = false;

    (void)state;
    assert_false(placed->points[0].fits);
    assert_true(placed->points[1].fits);
    assert_int_equal(plain->status, HM_STATUS_UNREACHED);
    for (size_t i = 0; i < plain->note_count; i++)
        offered = offered || strstr(plain->notes[i], "places the layers on 2 workers");
    assert_true(offered);
    hm_answer_free(placed);
    hm_answer_free(plain);
}

/* A residual block reads its input twice, so a pipeline can be cut before and after the block, but
 * not inside it. */
static void test_graph(void **state)
{
    struct hm_job *job = parse_job(
        "network: {input: 8, layers: [{dense: 8}, {residual: [{dense: 8}, relu, {dense: 8}]}, "
        "{dense: 4}]}\nbatch: 1\ncluster: {flops: 1 Gflop/s, fabric: {bandwidth: 1 GB/s}}\n");
    static const struct hm_layer_edge wanted[] = {{HM_NONE, 0}, {0, 1}, {1, 2}, {2, 3},
                                                  {3, 4},       {0, 4}, {4, 5}};
    static const size_t ends[] = {1, 5, 6};
    struct hm_counts *counts;
    struct hm_layer_graph graph;

    (void)state;
    assert_int_equal(hm_counts_new(job->network, NULL, &counts, NULL), 0);
    assert_int_equal(hm__layer_graph_init(&graph, job->network, counts, NULL), 0);
    assert_int_equal(graph.edge_count, 7);
    assert_memory_equal(graph.edges, wanted, sizeof(wanted));
    assert_int_equal(graph.unit_count, 3);
    assert_memory_equal(graph.ends, ends, sizeof(ends));
    hm__layer_graph_release(&graph);
    hm_counts_free(counts);
    hm_job_free(job);
}

/* METIS cuts a chain of 80 layers, in which every tenth layer sends little, into 4 parts of 20
 * layers. */
static void test_metis(void **state)
{
    struct hm_weighted_edge edges[79];
    double weights[80];
    uint32_t owner[80];
    size_t sizes[4] = {0};

    (void)state;
    for (uint32_t i = 0; i < 80; i++) {
        weights[i] = 1;
        if (i < 79)
            edges[i] = (struct hm_weighted_edge){i, i + 1, i % 10 == 9 ? 1 : 1000};
    }
    struct hm_err err = {0};
    int rc = hm__metis_weighted(80, weights, edges, 79, 4, owner, &err);
    if (rc == HM_E_UNSUPPORTED)
        skip();
    assert_int_equal(rc, 0);
    for (uint32_t i = 0; i < 80; i++) {
        sizes[owner[i]]++;
        if (i < 79 && owner[i] != owner[i + 1])
            assert_int_equal(i % 10, 9);
    }
    for (size_t k = 0; k < 4; k++)
        assert_int_equal(sizes[k], 20);
    assert_int_equal(hm__metis_weighted(80, weights, edges, 79, 16, owner, &err), HM_E_LIMIT);
}

enum { CHAIN = 95, CHAIN_STAGES = 4 };

/* Returns the smallest sum of link times if no stage and no link takes more than `most`. */
static double least_links(const struct hm_place_unit *units, double most)
{
    double least[CHAIN_STAGES + 1][CHAIN + 1];

    for (size_t k = 0; k <= CHAIN_STAGES; k++)
        for (size_t j = 0; j <= CHAIN; j++)
            least[k][j] = j == 0 && k == 0 ? 0 : INFINITY;
    for (size_t k = 1; k <= CHAIN_STAGES; k++)
        for (size_t j = 1; j <= CHAIN; j++) {
            double send = k < CHAIN_STAGES ? units[j - 1].send_s : 0, time_s = 0;
            for (size_t i = j; send <= most && i-- > 0;) {
                time_s += units[i].time_s;
                if (time_s > most * (1 + 1e-12))
                    break;
                least[k][j] = fmin(least[k][j], least[k - 1][i] + send);
            }
        }
    return least[CHAIN_STAGES][CHAIN];
}

/* With many layers, the placement is as good as the best over all times of the slowest stage. */
static void test_many_times(void **state)
{
    struct hm_place_unit units[CHAIN];
    struct hm_random random;
    struct hm_placement placed = {0};
    double best = INFINITY, total = 0;

    (void)state;
    hm__random_init(&random, 5, 6);
    for (size_t i = 0; i < CHAIN; i++) {
        units[i] = (struct hm_place_unit){uniform(&random), 3 * uniform(&random)};
        total += units[i].time_s;
    }
    for (size_t i = 0; i < CHAIN; i++) {
        double most = units[i].send_s;
        best = fmin(best, total + least_links(units, most) + 7 * most);
        most = 0;
        for (size_t j = i; j < CHAIN; j++) {
            most += units[j].time_s;
            best = fmin(best, total + least_links(units, most) + 7 * most);
        }
    }
    assert_int_equal(hm__place_chain(units, CHAIN, CHAIN_STAGES, 8, NAN, &placed, NULL), 0);
    assert_true(fabs(placed.time_s - best) <= 1e-9 * best);
}

/* Many layers take long, so the search checks the budget at every 64th unit and for each stage; a
 * search that ends early leaves the result unchanged. */
static void test_budget(void **state)
{
    enum { LONG = 130, STAGES = 6, MANY = 1 << 30 };
    struct hm_place_unit units[LONG];
    struct hm_random random;
    struct hm_budget whole = {.checks = MANY};
    struct hm_placement placed = {0};
    struct hm_err err = {0};

    (void)state;
    hm__random_init(&random, 3, 4);
    for (size_t i = 0; i < LONG; i++)
        units[i] = (struct hm_place_unit){uniform(&random), uniform(&random)};
    hm__budget_enter(&whole);
    assert_int_equal(hm__place_chain(units, LONG, STAGES, 8, NAN, &placed, &err), 0);
    hm__budget_leave(&whole);
    long checks = MANY - whole.checks;
    /* A binary search over about 8,600 times fills the table at least 13 times. */
    assert_true(checks > 13L * STAGES * (LONG / 64));
    for (long check = 3; check <= checks; check += 1 + check / 4) {
        struct hm_budget budget = {.checks = check};
        struct hm_placement none = {.time_s = -1};
        err = (struct hm_err){0};
        hm__budget_enter(&budget);
        int rc = hm__place_chain(units, LONG, STAGES, 8, NAN, &none, &err);
        hm__budget_leave(&budget);
        assert_int_equal(rc, HM_E_CANCELLED);
        assert_string_equal(budget.field, "platform");
        assert_true(none.time_s == -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_placements), cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_plan),           cmocka_unit_test(test_offer),
        cmocka_unit_test(test_graph),          cmocka_unit_test(test_metis),
        cmocka_unit_test(test_many_times),     cmocka_unit_test(test_budget)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
