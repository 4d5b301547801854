/* Tests clusters with several kinds of machines: they are compared with a search over all mixes,
 * and with plans on one kind. */
#include "testing.h"

/* The kinds of machines, which are those of tools/oracle/mixes.py. */
#define KINDS                                                                                      \
    "kinds: ["                                                                                     \
    "{title: a, flops: 10 Gflop/s, efficiency: 1, price: $1/h, count: 4, "                         \
    "fabric: {bandwidth: 1 GB/s, latency: 50 us}}, "                                               \
    "{title: b, flops: 4 Gflop/s, efficiency: 1, price: $0.33/h, count: 6, "                       \
    "fabric: {bandwidth: 0.9 GB/s, latency: 100 us}}, "                                            \
    "{title: c, flops: 2.5 Gflop/s, efficiency: 1, price: $0.2/h, count: 9, "                      \
    "fabric: {bandwidth: 2 GB/s, latency: 20 us}}]"
#define WORK "compute: 3e10 flop/(flops*n)\niterations: 1000\n"
#define JOB WORK "communicate: [{bytes: 100 MB, scheme: ring}]\n"

static struct hm_answer *plan_asked(const char *text, const struct hm_question *q)
{
    struct hm_job *job = parse_job(text);
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    if (hm_plan(job, NULL, 0, NULL, 0, q, &answer, &err))
        fail_msg("%s: %s", err.field, err.message);
    hm_job_free(job);
    return answer;
}

static struct hm_answer *plan(const char *text)
{
    const struct hm_question q = HM_QUESTION_INIT;

    return plan_asked(text, &q);
}

static void test_best_mixes(void **state)
{
    FILE *table = open_source("tests/data/mixes.tsv");
    char line[256], shares[8], goal[32], text[2048];
    int rows = 0;

    (void)state;
    while (fgets(line, sizeof(line), table)) {
        double deadline, budget, machines[3], seconds, money;
        struct hm_question q = HM_QUESTION_INIT;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%7s %31s %lf %lf %lf %lf %lf %lf %lf", shares, goal,
                                &deadline, &budget, &machines[0], &machines[1], &machines[2],
                                &seconds, &money),
                         9);
        q.slack = 0;
        q.certainty = 0.5; /* Limits apply to the expected time. */
        q.deadline_s = deadline;
        q.budget = budget > 0 ? budget : NAN;
        q.goal = strcmp(goal, "time") == 0   ? HM_GOAL_TIME
                 : strcmp(goal, "cost") == 0 ? HM_GOAL_COST
                                             : HM_GOAL_BALANCE;
        if (q.goal == HM_GOAL_BALANCE)
            assert_int_equal(sscanf(goal, "%lf:%lf", &q.alpha, &q.beta), 2);
        snprintf(text, sizeof(text), JOB "cluster: {shares: %s, " KINDS "}\n", shares);
        struct hm_answer *answer = plan_asked(text, &q);
        assert_int_equal(answer->status, HM_STATUS_OK);
        const struct hm_point *p = &answer->points[answer->recommended];
        for (size_t k = 0; k < 3; k++)
            assert_near(p->machines[k], machines[k], 0);
        assert_near(p->total_s, seconds, 1e-12);
        assert_near(p->cost, money, 1e-12);
        assert_near(p->nodes, machines[0] + machines[1] + machines[2], 0);
        hm_answer_free(answer);
        rows++;
    }
    fclose(table);
    assert_true(rows >= 16);
}

/* A mixed cluster with only one kind must have the same curve as a cluster of that kind. */
static void test_one_kind(void **state)
{
    static const char *const fleets[][2] = {
        {"cluster: [{machine: p4d.24xlarge, count: 4}]\n",
         "cluster: {machine: p4d.24xlarge, max_nodes: 4}\n"},
        {"cluster: [{machine: m5.4xlarge, count: 9}]\n",
         "cluster: {machine: m5.4xlarge, max_nodes: 9}\n"},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "network: resnet-50\nbatch: 4096\nepochs: 90\n"
                 "dataset: 1281167\n%s",
                 fleets[i][0]);
        struct hm_answer *mixed = plan(text);
        snprintf(text, sizeof(text),
                 "network: resnet-50\nbatch: 4096\nepochs: 90\n"
                 "dataset: 1281167\n%s",
                 fleets[i][1]);
        struct hm_answer *plain = plan(text);
        assert_int_equal(mixed->point_count, plain->point_count);
        assert_int_equal(mixed->recommended, plain->recommended);
        assert_int_equal(mixed->limit, plain->limit);
        for (size_t k = 0; k < plain->point_count; k++) {
            const struct hm_point *a = &mixed->points[k], *b = &plain->points[k];
            assert_near(a->n, b->n, 0);
            assert_near(a->nodes, b->nodes, 0);
            assert_near(a->time_s, b->time_s, 0);
            assert_near(a->compute_s, b->compute_s, 0);
            assert_near(a->communicate_s, b->communicate_s, 0);
            assert_near(a->cost, b->cost, 1e-15);
            assert_near(a->machines[0], b->nodes, 0);
            assert_near(a->memory_bytes, b->memory_bytes, 0);
        }
        hm_answer_free(mixed);
        hm_answer_free(plain);
    }
}

/*
 * Asynchronous workers do not wait: 3 workers of 1 s and 1 worker of 4 s make 3.25 steps a second.
 * Workers that wait share 4 * 10 samples by their speed: the slow one has 10 * 4 / 13 of them.
 */
static void test_consistency(void **state)
{
    static const char text[] = "compute: 4e9 flop/flops\nscaling: weak\nbatch: 10\ncommunicate: "
                               "[{bytes: 1 B, scheme: ring}]\n"
                               "cluster: [{title: fast, flops: 4 Gflop/s, efficiency: 1, count: 3, "
                               "fabric: {bandwidth: 100 GB/s}}, "
                               "{title: slow, flops: 1 Gflop/s, efficiency: 1, count: 1, "
                               "fabric: {bandwidth: 100 GB/s}}]\n";
    static const double n = 4;
    const struct {
        struct hm_way way;
        double seconds;
    } cases[] = {
        {{.platform = HM_PLATFORM_SERVER, .servers = 1, .consistency = HM_CONSISTENCY_ASYNC},
         4 / 3.25},
        {{.platform = HM_PLATFORM_SERVER,
          .servers = 1,
          .consistency = HM_CONSISTENCY_SSP,
          .staleness = 3},
         16. / 13},
        {{.platform = HM_PLATFORM_ALLREDUCE}, 16. / 13},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_question q = HM_QUESTION_INIT;
        q.ways = &cases[i].way;
        q.way_count = 1;
        q.n = &n;
        q.n_count = 1;
        struct hm_answer *answer = plan_asked(text, &q);
        assert_near(answer->points[0].time_s, cases[i].seconds, 1e-6);
        hm_answer_free(answer);
    }
}

/* The library must copy kinds into the cluster, and the cluster into the job. */
static void test_library(void **state)
{
    struct hm_cluster *mixed = NULL, *machine = NULL;
    struct hm_catalog *catalog = NULL;
    struct hm_answer *answer = NULL;
    struct hm_job *job = parse_job("network: resnet-50\nbatch: 256\n");
    const struct hm_question q = HM_QUESTION_INIT;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    assert_int_equal(hm_cluster_new(&mixed, &err), 0);
    assert_int_equal(hm_catalog_machine(catalog, "p3.2xlarge", &machine, &err), 0);
    assert_int_equal(hm_cluster_add_kind(mixed, machine, 0, &err), HM_E_RANGE);
    err = (struct hm_err){0};
    assert_int_equal(hm_cluster_add_kind(mixed, NULL, 1, &err), HM_E_MISSING);
    err = (struct hm_err){0};
    assert_int_equal(hm_cluster_add_kind(mixed, machine, 2, &err), 0);
    assert_int_equal(hm_cluster_add_kind(mixed, machine, 2, &err), HM_E_CONFLICT);
    assert_non_null(strstr(err.message, "twice"));
    err = (struct hm_err){0};
    hm_cluster_free(machine);
    assert_int_equal(hm_catalog_machine(catalog, "p3.8xlarge", &machine, &err), 0);
    assert_int_equal(hm_cluster_add_kind(mixed, machine, 3, &err), 0);
    assert_int_equal(hm_cluster_add_kind(machine, mixed, 3, &err), HM_E_CONFLICT);
    err = (struct hm_err){0};
    hm_cluster_free(machine);
    assert_int_equal(hm_job_set_cluster(job, mixed, &err), 0);
    hm_cluster_free(mixed);
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &answer, &err), 0);
    assert_int_equal(answer->kind_count, 2);
    assert_string_equal(answer->kinds[1], "p3.8xlarge");
    assert_string_equal(answer->machine, "p3.2xlarge + p3.8xlarge");
    /* The curve has 1 to 4 workers on one machine, then 5, 6, 8, 9, 10, 12, 13 and 14 workers. */
    assert_int_equal(answer->point_count, 12);
    assert_near(answer->points[11].machines[0] * 100 + answer->points[11].machines[1], 203, 0);
    hm_answer_free(answer);
    hm_job_free(job);
    hm_catalog_free(catalog);
}

/* A mix fits only if each of its kinds of machines has enough memory for its share. */
static void test_memory(void **state)
{
    static const char text[] =
        "compute: 1/n\nmemory: 3 GB\ncommunicate: none\n"
        "cluster: [{title: big, memory: 4 GB, count: 2}, {title: small, memory: 2 GB, count: 2}]\n";
    struct hm_answer *answer = plan(text);

    (void)state;
    assert_int_equal(answer->point_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(answer->points[i].fits, i < 2);
    assert_near(answer->points[answer->recommended].machines[0], 2, 0);
    hm_answer_free(answer);
}

/* If there are many machines, only some numbers of them are tried, and a note says so. */
static void test_many(void **state)
{
    struct hm_answer *answer = plan(
        JOB "cluster: [{title: a, flops: 2 Gflop/s, efficiency: 1, count: 500, "
            "fabric: {bandwidth: 1 GB/s}}, {title: b, flops: 1 Gflop/s, efficiency: 1, count: 700, "
            "fabric: {bandwidth: 1 GB/s}}, {title: c, flops: 1 Gflop/s, efficiency: 1, count: 3, "
            "fabric: {bandwidth: 1 GB/s}}]\n");
    bool noted = false;

    (void)state;
    for (size_t i = 0; i < answer->note_count; i++)
        noted = noted || strstr(answer->notes[i], "too many mixes");
    assert_true(noted);
    assert_true(answer->point_count > 100 && answer->point_count <= 1203);
    assert_near(answer->points[answer->point_count - 1].n, 1203, 0);
    hm_answer_free(answer);
}

/* Graphs are split equally, also with shares by speed: the slow kind limits two workers. */
static void test_graph(void **state)
{
#define GRAPH                                                                                      \
    "graph: {generate: random, vertices: 1000, edges: 5000, seed: 1, states: 2, split: dealt}\n"   \
    "communicate: none\n"
    struct hm_answer *mixed =
        plan(GRAPH "cluster: [{title: fast, flops: 2 Gflop/s, efficiency: 1, count: 1}, "
                   "{title: slow, flops: 1 Gflop/s, efficiency: 1, count: 1}]\n");
    struct hm_answer *slow =
        plan(GRAPH "cluster: {flops: 1 Gflop/s, efficiency: 1, max_nodes: 2}\n");

    (void)state;
    assert_near(mixed->points[0].time_s, slow->points[0].time_s / 2, 1e-12);
    assert_near(mixed->points[1].time_s, slow->points[1].time_s, 0);
    hm_answer_free(mixed);
    hm_answer_free(slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best_mixes),  cmocka_unit_test(test_one_kind),
        cmocka_unit_test(test_consistency), cmocka_unit_test(test_library),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_many),
        cmocka_unit_test(test_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
