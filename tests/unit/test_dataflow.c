/* Tests dataflow platforms: waves of tasks, skew and lost workers are compared with simulations,
 * and plans with closed forms. */
#include "testing.h"

#include "dataflow_time.h"

static void test_simulations(void **state)
{
    FILE *table = open_source("tests/data/dataflow.tsv");
    char line[256];
    int rows = 0, losses = 0;

    (void)state;
    while (fgets(line, sizeof(line), table)) {
        double tasks, slots, skew, seconds, lineage, checkpoint;
        struct hm_dataflow d = {0};
        double n, compute;
        if (sscanf(line, "loss %lf %lf %lf %lf %lf %lf %lf %lf", &n, &d.mtbf_s, &d.restart_s,
                   &d.lineage, &d.checkpoint_s, &compute, &lineage, &checkpoint) == 8) {
            struct hm_dataflow_loss loss = hm__dataflow_loss(&d, n, compute);
            assert_near(loss.lineage, lineage, 0.03);
            assert_near(loss.checkpoint, checkpoint, 0.03);
            assert_near(hm__dataflow_recovery(&d, &loss), fmin(loss.lineage, loss.checkpoint), 0);
            d.recovery = HM_RECOVERY_CHECKPOINT;
            assert_near(hm__dataflow_recovery(&d, &loss), loss.checkpoint, 0);
            losses++;
        } else if (sscanf(line, "%lf %lf %lf %lf", &tasks, &slots, &skew, &seconds) == 4) {
            /* With more than 64 waves, only some positions of the large task are tried. */
            assert_near(hm__dataflow_makespan(tasks, slots, skew), seconds,
                        tasks / slots > 64 ? 0.01 : 1e-9);
            rows++;
        }
    }
    fclose(table);
    assert_true(rows > 100 && losses == 3);
}

/*
 * A skew just below the number of partitions leaves so little for the other tasks that the large
 * task takes more than 2^53 of their times, where neighbouring values differ by more than 1. It
 * then takes the time of all tasks.
 */
static void test_largest_skew(void **state)
{
    (void)state;
    for (double tasks = 2; tasks < 1e6; tasks = ceil(1.7 * tasks))
        for (double slots = 1; slots <= tasks; slots = ceil(1.7 * slots + .5))
            for (int steps = 0; steps < 4; steps++) {
                double skew = tasks;
                for (int i = 0; i < steps; i++)
                    skew = nextafter(skew, 0);
                assert_near(hm__dataflow_makespan(tasks, slots, skew), tasks, 1e-9);
            }
}

/* Failures per second, the time that is lost by computing again, and that with checkpoints, are
 * n / mtbf, f (restart + lineage compute / (n - 1)) and sqrt(2 f checkpoint) + f restart. */
static void test_losses(void **state)
{
    struct hm_dataflow d = {.mtbf_s = 0.5, .restart_s = 3, .lineage = 2, .checkpoint_s = 0.5};
    struct hm_dataflow_loss loss = hm__dataflow_loss(&d, 3, 10);

    (void)state;
    assert_near(loss.failures_per_s, 6, 1e-15);
    assert_near(loss.lineage, 6 * (3 + 2 * 10 / 2.), 1e-15);
    assert_near(loss.every_s, sqrt(2 * 0.5 / 6), 1e-15);
    assert_near(loss.checkpoint, sqrt(2 * 6 * 0.5) + 6 * 3, 1e-12);
    /* A single worker computes everything again; without lineage, one stage is lost. */
    d = (struct hm_dataflow){.mtbf_s = 4};
    loss = hm__dataflow_loss(&d, 1, 10);
    assert_near(loss.lineage, 10 / 4., 1e-15);
    assert_true(isinf(loss.checkpoint) && isinf(loss.every_s));
    d = (struct hm_dataflow){.mtbf_s = 4, .lineage = 0.5, .restart_s = 0.25, .checkpoint_s = 0.125};
    loss = hm__dataflow_loss(&d, 2, 10);
    assert_near(loss.lineage, 0.5 * (0.25 + 0.5 * 10), 1e-15);
    assert_near(loss.checkpoint, sqrt(2 * 0.5 * 0.125) + 0.5 * 0.25, 1e-12);
    /* Without a mean time between failures, nothing is lost. */
    d.mtbf_s = 0;
    loss = hm__dataflow_loss(&d, 2, 10);
    assert_true(loss.failures_per_s == 0 && loss.lineage == 0 && loss.checkpoint == 0);
}

#define JOB                                                                                        \
    "compute: 120/n\ncommunicate: [{bytes: 8 MB, scheme: ring}]\n"                                 \
    "cluster: {fabric: {bandwidth: 80 MB/s}}\n"
static const struct hm_way driver = {.platform = HM_PLATFORM_DRIVER};
static const struct hm_way server = {.platform = HM_PLATFORM_SERVER, .servers = 1};

/* 20 partitions run on n workers with 3 slots each: there are ceil(20 / 3n) waves of tasks of 120 *
 * 3 / 20 s, and the driver needs 10 ms to start each task; then log2(n) and 2 ceil(sqrt(n))
 * messages of 0.1 s follow. */
static void test_waves(void **state)
{
    struct hm_answer *answer =
        plan_way(8, JOB "dataflow: {partitions: 20, slots: 3, task: 10 ms}\n", &driver);
    struct hm_answer *spread = plan_way(
        8, JOB "dataflow: {partitions: 20, slots: 3, task: 10 ms, model: distributed}\n", &driver);
    struct hm_answer *other = plan_way(8, JOB "dataflow: {partitions: 20, slots: 3}\n", &server);
    struct hm_answer *plain = plan_way(8, JOB, &server);

    (void)state;
    for (double n = 1; n <= 8; n++) {
        size_t i = (size_t)n - 1;
        double compute = ceil(20 / (3 * n)) * 120 * 3 / 20;
        assert_near(answer->points[i].compute_s, compute, 1e-12);
        assert_near(answer->points[i].communicate_s, 0.2 + 0.1 * (log2(n) + 2 * ceil(sqrt(n))),
                    1e-12);
        assert_near(spread->points[i].communicate_s, 0.4 + 2 * 0.1 * (n - 1) / n, 1e-12);
        assert_near(other->points[i].time_s, plain->points[i].time_s, 0);
    }
    hm_answer_free(answer);
    hm_answer_free(spread);
    hm_answer_free(other);
    hm_answer_free(plain);
}

static void check_limit(const char *dataflow, enum hm_limit limit, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), JOB "dataflow: %s\n", dataflow);
    struct hm_answer *answer = plan_way(8, text, &driver);
    assert_int_equal(answer->limit, limit);
    assert_non_null(strstr(answer->why, why));
    hm_answer_free(answer);
}

static void test_limits(void **state)
{
    (void)state;
    check_limit("{partitions: 50, slots: 100}", HM_LIMIT_IMBALANCE, "take 1 wave, and slots are");
    check_limit("{partitions: 64, slots: 8, skew: 30}", HM_LIMIT_IMBALANCE, "largest partition");
    check_limit("{partitions: 1000, slots: 8, task: 1 s}", HM_LIMIT_SERIAL, "starts 1000 tasks");
    check_limit("{partitions: 1000, slots: 8}", HM_LIMIT_COMPUTE, "computing");
}

/* Copies of slow tasks limit the delay of workers that are always four times as slow. */
static void test_speculation(void **state)
{
    static const char uneven[] =
        "compute: 120/n\ncommunicate: none\n"
        "cluster: {fabric: {bandwidth: 1 GB/s}, stragglers: {slow: 1, slow_factor: 4}}\n";
    char text[512];

    (void)state;
    for (double multiplier = 1; multiplier <= 4; multiplier += 0.5) {
        snprintf(text, sizeof(text), "%sdataflow: {speculation: %g}\n", uneven, multiplier);
        struct hm_answer *answer = plan_way(8, text, NULL);
        assert_near(answer->points[3].compute_s, 30 * fmin(multiplier + 1, 4), 1e-9);
        hm_answer_free(answer);
    }
}

/* Each of 4 workers fails once in 1000 s; a failure costs 3 s and 2 iterations of 30 / 3 s. */
static void test_lost_workers(void **state)
{
    struct hm_answer *answer =
        plan_way(8,
                 "compute: 120/n\ncommunicate: none\ndataflow: {mtbf: 1000 s, "
                 "restart: 3 s, lineage: 2}\n",
                 NULL);

    (void)state;
    assert_near(answer->points[3].time_s, 30 * (1 + 4 / 1000. * (3 + 2 * 30 / 3.)), 1e-12);
    bool noted = false;
    for (size_t i = 0; i < answer->note_count; i++)
        noted = noted || strstr(answer->notes[i], "recovery by lineage adds");
    assert_true(noted);
    hm_answer_free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulations),  cmocka_unit_test(test_largest_skew),
        cmocka_unit_test(test_losses),       cmocka_unit_test(test_waves),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_speculation),
        cmocka_unit_test(test_lost_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
