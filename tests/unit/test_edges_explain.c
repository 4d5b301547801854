/*
 * Tests what an answer explains: the limit and its share, in words, and the gain of each change,
 * which is compared with a plan of the changed job.
 */
#include "testing.h"

/* Returns a plan whose recommendation is the optimum. */
static struct hm_answer *plan(const char *text, double max_n, const struct hm_way *way)
{
    struct hm_job *job = parse_job(text);
    struct hm_question q = HM_QUESTION_INIT;

    q.max_n = max_n;
    q.slack = 0;
    q.ways = way;
    q.way_count = way ? 1 : 0;
    struct hm_answer *answer = ask(job, &q);
    hm_job_free(job);
    return answer;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Checks that the plan has this limit, share and explanation. */
static void limited(const char *text, double max_n, const struct hm_way *way, double n,
                    enum hm_limit limit, double share, const char *why)
{
    struct hm_answer *a = plan(text, max_n, way);

    assert_int_not_equal(a->best, HM_NONE);
    assert_near(a->points[a->best].n, n, 0);
    if (a->limit != limit || strncmp(a->why, why, strlen(why)) != 0)
        fail_msg("%s: %s", hm_limit_name(a->limit), a->why);
    assert_near(a->limit_share, share, 1e-6);
    hm_answer_free(a);
}

#define NET(bandwidth, latency)                                                                    \
    "cluster: {fabric: {bandwidth: " bandwidth ", latency: " latency "}}\n"

static void the_largest_part_is_the_limit(void **state)
{
    (void)state;
    limited("compute: 100 s / n\ncommunicate: 0.01 s * n\n", 10, NULL, 10, HM_LIMIT_COMPUTE,
            1 - 0.1 / 10.1, "most of the step is spent computing");
    limited("compute: 10 s / n\ncommunicate: 4 s * (n > 1)\n", 10, NULL, 10, HM_LIMIT_COMMUNICATION,
            0.8, "communication by the job's formula");
    /* With a ring of 10 workers, each worker sends 18/10 of the bytes in 18 messages. */
    limited("compute: 10 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n" NET("1 MB/s", "0 s"),
            10, NULL, 10, HM_LIMIT_BANDWIDTH, 7.2 / 8.2, "moving data by ring ");
    /* On 5 workers, computing takes 1.6 s, latency 2.4 s, and sending 3.2 s or 0.8 s. */
    limited(
        "compute: 40 s / n^2\ncommunicate: {bytes: 2 MB, scheme: ring}\n" NET("1 MB/s", "0.3 s"),
        10, NULL, 5, HM_LIMIT_BANDWIDTH, 5.6 / 7.2, "moving data by ring ");
    limited(
        "compute: 40 s / n^2\ncommunicate: {bytes: 0.5 MB, scheme: ring}\n" NET("1 MB/s", "0.3 s"),
        10, NULL, 5, HM_LIMIT_LATENCY, 3.2 / 4.8, "moving data by ring ");
    /* If computing and communicating take equally long, computing is named as the limit. */
    limited("compute: 16 s / n\ncommunicate: 1 s * n * (n > 1)\n", 4, NULL, 4, HM_LIMIT_COMPUTE,
            0.5, "most of the step is spent computing");
}

static void a_small_batch_is_a_limit(void **state)
{
    static const char text[] =
        "batch: 4\nnetwork: {input: 10, layers: [dense: {units: 5, bias: false}]}\n"
        "communicate: none\ncluster: {flops: 1 Gflop/s, max_nodes: 16}\n";
    struct hm_answer *a = plan(text, 16, NULL);

    (void)state;
    assert_near(a->points[a->best].n, 4, 0);
    assert_int_equal(a->limit, HM_LIMIT_BATCH);
    assert_string_equal(a->why, "each worker needs at least one sample of the batch");
    hm_answer_free(a);
}

#define SLOW(stragglers)                                                                           \
    "compute: 1 s\ncommunicate: [{bytes: 1 B, scheme: ring}]\nscaling: weak\nbatch: 100\n"         \
    "cluster: {fabric: {bandwidth: 1 GB/s, latency: 0 s}, stragglers: {" stragglers "}}\n"

/* The limit is the wait for slow workers, which is three quarters of the time if they take 4 times
 * as long. */
static void slow_workers_are_explained(void **state)
{
    struct hm_way way = {.platform = HM_PLATFORM_SERVER, .servers = 1};

    (void)state;
    limited(SLOW("slow: 1, slow_factor: 4"), 8, &way, 8, HM_LIMIT_STRAGGLERS, 0.75,
            "the slowest of 8 workers is expected to take 4 times as long as a steady one");
    way.backups = 2;
    limited(SLOW("slow: 3, slow_factor: 4"), 8, &way, 8, HM_LIMIT_STRAGGLERS, 0.75,
            "the first 6 of 8 workers are expected after 4 times the steady time");
    way.backups = 0;
    way.consistency = HM_CONSISTENCY_SSP;
    way.staleness = 3;
    limited(SLOW("slow: 1, slow_factor: 4"), 8, &way, 8, HM_LIMIT_STRAGGLERS, 0.75,
            "no worker is more than 3 ahead of the slowest: they take 4 times as long as a steady "
            "one");
    way.staleness = 0;
    limited(SLOW("slow: 1, slow_factor: 4"), 8, &way, 8, HM_LIMIT_STRAGGLERS, 0.75,
            "the slowest of 8 workers is expected to take 4 times as long as a steady one");
    way.consistency = HM_CONSISTENCY_ASYNC;
    limited(SLOW("slow: 8, slow_factor: 4"), 8, &way, 8, HM_LIMIT_STRAGGLERS, 0.75,
            "workers take 4 times as long on average as a steady one");
}

/* The worker with the most edges limits the other workers by the factor of the imbalance. */
static void imbalance_is_a_limit(void **state)
{
    struct hm_answer *a =
        plan("graph: {generate: power-law, vertices: 60, edges: 400, max_degree: 50, "
             "per_edge: 1 Gflop, split: random}\ncommunicate: 0.1 s * (n > 1)\n"
             "cluster: {flops: 1 Gflop/s, max_nodes: 6}\n",
             6, NULL);
    const struct hm_point *p = &a->points[a->best];

    (void)state;
    assert_true(p->imbalance > 1.1);
    assert_int_equal(a->limit, HM_LIMIT_IMBALANCE);
    assert_near(a->limit_share, (p->time_s - 0.1) / p->time_s * (1 - 1 / p->imbalance), 1e-9);
    assert_non_null(strstr(a->why, "times the mean"));
    hm_answer_free(a);
}

/* ---- changes that help ----------------------------------------------------------------------- */

/* Writes the text with `piece` replaced by `by`. */
static void replaced(const char *text, const char *piece, const char *by, char *ret, size_t room)
{
    const char *at = strstr(text, piece);

    if (!at)
        fail_msg("no '%s'", piece);
    snprintf(ret, room, "%.*s%s%s", (int)(at - text), text, by, at + strlen(piece));
}

/* The gain of a change must equal that of a plan of the changed job, whose iterations do `work`
 * times as much work. */
static void change_helps(const char *text, double max_n, const struct hm_way *way, const char *what,
                         const char *piece, const char *by, double work)
{
    char changed[1000];
    struct hm_answer *a = plan(text, max_n, way), *b;
    const struct hm_help *help = NULL;

    replaced(text, piece, by, changed, sizeof(changed));
    b = plan(changed, max_n, way);
    for (size_t i = 0; i < a->help_count; i++)
        if (strcmp(a->help[i].what, what) == 0)
            help = &a->help[i];
    if (!help)
        fail_msg("nothing of %s", what);
    const struct hm_point *p = &b->points[b->best];
    assert_near(help->n, p->n, 0);
    assert_near(help->time_s, p->time_s, 1e-9);
    assert_near(help->speedup, p->speedup, 1e-9);
    assert_near(help->gain, a->points[a->best].time_s * work / p->time_s, 1e-9);
    hm_answer_free(a);
    hm_answer_free(b);
}

/* Faster links help only if the machine has links; without them, the public struct has a bandwidth
 * and a latency of 0. */
static void missing_links_do_not_help(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s / n\ncommunicate: none\n"
                                   "cluster: {max_nodes: 4, flops: 1 Gflop/s}\n");
    const struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    job->cluster.fabric.bandwidth_bytes_per_s = job->cluster.fabric.latency_s = 0;
    if (hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(a->help_count, 1);
    assert_string_equal(a->help[0].what, "2x flop/s");
    hm_answer_free(a);
    hm_job_free(job);
}

static size_t help_count(const char *text)
{
    struct hm_answer *a = plan(text, 16, NULL);
    size_t count = a->help_count;

    hm_answer_free(a);
    return count;
}

static const char trained[] =
    "batch: 64\nprecision: 32\n"
    "network: {input: 1000, layers: [dense: {units: 100, bias: false}]}\n"
    "communicate: [{what: gradients, scheme: ring}]\n"
    "cluster: {flops: 1 Gflop/s, fabric: {bandwidth: 100 MB/s, latency: 1 ms}}\n";

static void hardware_helps_as_it_would(void **state)
{
    char epochs[600];

    (void)state;
    snprintf(epochs, sizeof(epochs), "epochs: 3\ndataset: 6400\n%s", trained);
    change_helps(trained, 32, NULL, "2x bandwidth", "100 MB/s", "200 MB/s", 1);
    change_helps(trained, 32, NULL, "half the latency", "1 ms", "0.5 ms", 1);
    change_helps(trained, 32, NULL, "2x flop/s", "1 Gflop/s", "2 Gflop/s", 1);
    /* A larger batch does the same work only in a job that is given in epochs: in half the
     * iterations. */
    change_helps(epochs, 32, NULL, "2x batch", "batch: 64", "batch: 128", 2);
    assert_int_equal(help_count(epochs), 4);
    assert_int_equal(help_count(trained), 3);
    assert_int_equal(help_count("compute: 10 s / n\ncommunicate: 1 s * n\n"), 0);
}

/* Returns the gain of a change that helps the job. */
static double gain_of(const char *text, const char *what)
{
    struct hm_answer *a = plan(text, 1, NULL);
    double gain = NAN;

    for (size_t i = 0; i < a->help_count; i++)
        if (strcmp(a->help[i].what, what) == 0)
            gain = a->help[i].gain;
    hm_answer_free(a);
    return gain;
}

/* Twice the flop/s do not help a step that the host limits (a small batch), help little where
 * memory limits most kernels, and nearly double the speed of large products. */
static void faster_products_help_products(void **state)
{
    (void)state;
    assert_near(gain_of("network: resnet-50\nbatch: 2\nprecision: bf16\ncluster: {machine: h200}\n",
                        "2x flop/s"),
                1, 1e-9);
    double some = gain_of(
        "network: resnet-50\nbatch: 256\nprecision: bf16\ncluster: {machine: h200}\n", "2x flop/s");
    assert_true(some > 1.02 && some < 1.3);
    double most =
        gain_of("network: {input: 16384, layers: [dense: 16384, dense: 16384, dense: 16384]}\n"
                "batch: 16384\nprecision: bf16\ncluster: {machine: h200}\n",
                "2x flop/s");
    assert_true(most > 1.5 && most < 2);
}

/* The three quantities with the largest effect, out of four, must be named; B is a rate, so it is
 * doubled. */
static void quantities_help_as_they_would(void **state)
{
    static const char text[] =
        "where: {W: 12, B: 4, C: 3, D: 0.02}\n"
        "compute: 8 s / n + C * 0.1 s\ncommunicate: W / B * n * 0.1 s + D * 1 s\n";
    struct hm_answer *a = plan(text, 16, NULL);

    (void)state;
    assert_int_equal(a->help_count, 3);
    assert_string_equal(a->help[2].what, "half of C");
    hm_answer_free(a);
    change_helps(text, 16, NULL, "half of W", "W: 12", "W: 6", 1);
    change_helps(text, 16, NULL, "2x B", "B: 4", "B: 8", 1);
    change_helps(text, 16, NULL, "half of C", "C: 3", "C: 1.5", 1);
}

static void ways_help_as_they_would(void **state)
{
    static const char text[] = SLOW("slow: 1, slow_factor: 4, speeds: [1, 0.5]");
    const struct hm_way way = {.platform = HM_PLATFORM_SERVER, .servers = 1};
    struct hm_answer *a = plan(text, 8, &way);
    bool found = false;

    (void)state;
    change_helps(text, 8, &way, "no stragglers", "slow: 1, slow_factor: 4, speeds: [1, 0.5]",
                 "slow: 0, slow_factor: 4, speeds: [1, 1]", 1);
    for (size_t i = 0; i < a->help_count; i++)
        if (strcmp(a->help[i].what, "batches by speed") == 0) {
            /* With equal shares, eight workers are limited by the one of speed 1/4; with shares by
             * speed, the sum of all speeds, 6.75, counts. */
            assert_near(a->help[i].gain, 6.75 / 2, 1e-6);
            found = true;
        }
    assert_true(found);
    hm_answer_free(a);
}

/* ---- plans of several candidates -------------------------------------------------------------
 */

/* Every machine must be combined with every scheme, once; the answer must be the first of the
 * ranking. */
static void all_combinations_are_ranked(void **state)
{
    static const enum hm_scheme schemes[] = {HM_SCHEME_RING, HM_SCHEME_PARAMETER_SERVER,
                                             HM_SCHEME_BEST};
    static const char *const machines[] = {"p3.2xlarge", "p4d.24xlarge"};
    struct hm_job *job = parse_job(trained);
    const struct hm_question q = HM_QUESTION_INIT;
    const struct hm_cluster *clusters[2];
    struct hm_cluster *found[2];
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[80];
        snprintf(text, sizeof(text), "machine: %s\nnetwork: 10gbe\n", machines[i]);
        if (hm_cluster_parse(NULL, text, strlen(text), "cluster.yaml", NULL, 0, &found[i], &err))
            fail_msg("%s", err.message);
        clusters[i] = found[i];
    }
    if (hm_plan(job, clusters, 2, schemes, 3, &q, &a, &err))
        fail_msg("%s: %s", err.field, err.message);
    assert_int_equal(a->rank_count, 6);
    for (int m = 0; m < 2; m++)
        for (int s = 0; s < 3; s++) {
            int times = 0;
            for (size_t k = 0; k < 6; k++)
                times += strcmp(a->ranking[k].machine, machines[m]) == 0 &&
                         strcmp(a->ranking[k].scheme, hm_scheme_name(schemes[s])) == 0;
            assert_int_equal(times, 1);
        }
    for (size_t k = 1; k < 6; k++)
        assert_true(a->ranking[k].total_s >= a->ranking[k - 1].total_s);
    assert_near(a->points[a->best].total_s, a->ranking[0].total_s, 0);
    assert_true(hm_plan(job, NULL, 2, NULL, 0, &q, &a, NULL) < 0);
    assert_true(hm_plan(job, NULL, 0, NULL, 2, &q, &a, NULL) < 0);
    hm_answer_free(a);
    hm_cluster_free(found[0]);
    hm_cluster_free(found[1]);
    hm_job_free(job);
}

/* Each cluster has its own stragglers: none, a factor of 4, none, a factor of 2. */
static void clusters_have_their_own_stragglers(void **state)
{
    static const double factors[] = {1, 4, 1, 2};
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: none\nscaling: weak\nbatch: 100\n");
    struct hm_question q = HM_QUESTION_INIT;
    const struct hm_cluster *clusters[4];
    struct hm_cluster *found[4];
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    q.max_n = 4;
    for (int i = 0; i < 4; i++) {
        char text[100];
        snprintf(text, sizeof(text), "max_nodes: 4\n%s%.0d%s",
                 i % 2 ? "stragglers: {slow: 1, slow_factor: " : "", i % 2 ? (int)factors[i] : 0,
                 i % 2 ? "}\n" : "");
        if (hm_cluster_parse(NULL, text, strlen(text), "cluster.yaml", NULL, 0, &found[i], &err))
            fail_msg("%s", err.message);
        clusters[i] = found[i];
    }
    for (int first = 0; first < 4; first++) {
        if (hm_plan(job, clusters + first, 1, NULL, 0, &q, &a, &err))
            fail_msg("%s", err.message);
        assert_near(a->points[3].time_s, factors[first], 1e-12);
        hm_answer_free(a);
    }
    if (hm_plan(job, clusters, 4, NULL, 0, &q, &a, &err))
        fail_msg("%s", err.message);
    assert_int_equal(a->rank_count, 4);
    assert_near(a->ranking[0].time_s, 1, 1e-12);
    assert_near(a->ranking[1].time_s, 1, 1e-12);
    assert_near(a->ranking[2].time_s, 2, 1e-12);
    assert_near(a->ranking[3].time_s, 4, 1e-12);
    hm_answer_free(a);
    found[0]->node.accelerators = 0; /* Every cluster is checked. */
    assert_true(hm_plan(job, clusters, 4, NULL, 0, &q, &a, NULL) < 0);
    for (int i = 0; i < 4; i++)
        hm_cluster_free(found[i]);
    hm_job_free(job);
}

/* One server is enough if the message takes no time. */
static void one_server_may_be_enough(void **state)
{
    const struct hm_way way = {.platform = HM_PLATFORM_SERVER, .servers = 2};
    struct hm_answer *a = plan("compute: 8 s / n\ncommunicate: [{bytes: 1 B, scheme: ring}]\n"
                               "iterations: 7\n" NET("1 GB/s", "0 s"),
                               8, &way);

    (void)state;
    assert_near(a->servers_enough, 1, 0);
    assert_near(a->iterations, 7, 0);
    hm_answer_free(a);
}

static void weak_graphs_are_refused(void **state)
{
    struct hm_job *job =
        parse_job("graph: {generate: power-law, vertices: 60, edges: 400, max_degree: 50}\n"
                  "scaling: weak\ncommunicate: none\ncluster: {flops: 1 Gflop/s}\n");
    const struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *a = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &a, &err), HM_E_CONFLICT);
    assert_string_equal(err.hint, "leave out scaling: weak");
    assert_string_equal(err.field, "scaling");
    assert_string_equal(err.source, "test.yaml");
    hm_job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_part_is_the_limit),
        cmocka_unit_test(a_small_batch_is_a_limit),
        cmocka_unit_test(slow_workers_are_explained),
        cmocka_unit_test(imbalance_is_a_limit),
        cmocka_unit_test(hardware_helps_as_it_would),
        cmocka_unit_test(faster_products_help_products),
        cmocka_unit_test(missing_links_do_not_help),
        cmocka_unit_test(quantities_help_as_they_would),
        cmocka_unit_test(ways_help_as_they_would),
        cmocka_unit_test(all_combinations_are_ranked),
        cmocka_unit_test(clusters_have_their_own_stragglers),
        cmocka_unit_test(one_server_may_be_enough),
        cmocka_unit_test(weak_graphs_are_refused),
    };
    return cmocka_run_group_tests_name("edges_explain", tests, NULL, NULL);
}
