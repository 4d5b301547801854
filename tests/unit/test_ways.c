/* Compares platforms and stragglers in a plan with closed forms. */
#include "testing.h"

#include "queue_time.h"

/* Each worker computes for a second; the model has 1 MB and the link 8 MB/s and 1 ms, so Mb = 0.125
 * s. */
#define LINK "fabric: {bandwidth: 8 MB/s, latency: 1 ms}"
static const char weak[] = "compute: 1 s\ncommunicate: [{bytes: 1 MB, scheme: ring}]\n"
                           "scaling: weak\nbatch: 100\ncluster: {" LINK "}\n";
static const double a = 1e-3, mb = 0.125;

/* The same job with little communication, on workers that are slow with a probability of 5 %. */
static const char rare[] =
    "compute: 1 s\ncommunicate: [{bytes: 1 B, scheme: ring}]\n"
    "scaling: weak\nbatch: 100\ncluster: {" LINK ", stragglers: {chance: 5 %, factor: 4}}\n";
static const char slow[] =
    "compute: 1 s\ncommunicate: [{bytes: 1 B, scheme: ring}]\n"
    "scaling: weak\nbatch: 100\ncluster: {" LINK ", stragglers: {slow: 1, slow_factor: 4}}\n";

static const struct hm_way bsp = {.platform = HM_PLATFORM_SERVER, .servers = 1};
static const struct hm_way ssp3 = {.platform = HM_PLATFORM_SERVER,
                                   .consistency = HM_CONSISTENCY_SSP,
                                   .staleness = 3,
                                   .servers = 1};
static const struct hm_way async = {
    .platform = HM_PLATFORM_SERVER, .consistency = HM_CONSISTENCY_ASYNC, .servers = 1};

static struct hm_answer *plan(const char *text, const struct hm_way *ways, size_t count,
                              double max_n)
{
    struct hm_job *job = parse_job(text);
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    q.max_n = max_n;
    q.slack = 0;
    q.ways = ways;
    q.way_count = count;
    if (hm_plan(job, NULL, 0, NULL, 0, &q, &answer, &err))
        fail_msg("%s: %s", err.field, err.message);
    hm_job_free(job);
    return answer;
}

/* Returns the samples per second of the workers whose gradients are used. */
static double rate(const char *text, struct hm_way way, double n)
{
    struct hm_answer *answer = plan(text, &way, 1, n);
    const struct hm_point *p = &answer->points[(size_t)n - 1];
    double samples = 100 * (n - way.backups) / p->time_s;

    hm_answer_free(answer);
    return samples;
}

static void assert_refused(const char *text, struct hm_way way, int code, const char *field,
                           const char *words)
{
    struct hm_job *job = parse_job(text);
    struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    q.max_n = 8;
    q.ways = &way;
    q.way_count = 1;
    assert_int_equal(hm_plan(job, NULL, 0, NULL, 0, &q, &answer, &err), code);
    assert_string_equal(err.field, field);
    if (!strstr(err.message, words))
        fail_msg("%s", err.message);
    hm_job_free(job);
}

static void backups_and_staleness_against_rare_delays(void **state)
{
    struct hm_way backed = bsp, stale0 = ssp3;
    double steps = rate(rare, bsp, 8);

    (void)state;
    backed.backups = 1;
    stale0.staleness = 0;
    assert_near(steps, 800 / (1 + 3 * (1 - pow(0.95, 8))), 0.003);
    assert_near(rate(rare, stale0, 8), steps, 0);
    assert_near(rate(rare, ssp3, 8) / steps, 1.53, 0.03);
    assert_near(rate(rare, backed, 8) / steps, 1.50, 0.01);
    assert_near(rate(rare, async, 8), 800 / 1.15, 0.003);
}

static void backups_and_staleness_against_slow_workers(void **state)
{
    struct hm_way backed = bsp;
    double steps = rate(slow, bsp, 8);

    (void)state;
    backed.backups = 1;
    assert_near(steps, 200, 0.003);
    assert_near(rate(slow, ssp3, 8) / steps, 1, 0.001);
    assert_near(rate(slow, backed, 8) / steps, 3.5, 0.01);
    assert_near(rate(slow, async, 8), 725, 0.003);
}

/* Synchronous steps take 2(a + max(Mb, n Mb/s)); otherwise the links limit the rate. */
static void servers_saturate(void **state)
{
    (void)state;
    for (double s = 1; s <= 4; s *= 2) {
        struct hm_way steps = bsp, free = async;
        steps.servers = free.servers = s;
        struct hm_answer *x = plan(weak, &steps, 1, 64), *y = plan(weak, &free, 1, 64);
        for (int i = 0; i < 64; i++) {
            double n = i + 1, link = n * mb / s;
            assert_near(x->points[i].time_s, 1 + 2 * (a + fmax(mb, link)), 1e-12);
            /* Stale workers queue: their time is longer than that of the workers or the links
             * alone, and near that of the oracle. */
            double least = fmax(1 + 2 * (a + mb), link);
            assert_true(y->points[i].time_s >= least * (1 - 1e-12));
            assert_true(y->points[i].time_s < (i == 0 ? 1 + 1e-12 : 1.5) * least);
            assert_near(y->points[i].server_share, link / y->points[i].time_s, 1e-12);
            assert_near(y->points[i].nodes, n + s, 0);
        }
        /* Synchronous workers saturate the servers if the links take half of a step, at 2 n Mb/s =
         * 1.002; stale workers, if the links are busy for 70 % of the time. */
        assert_near(x->saturates_n, ceil(1.002 * s / mb / 2), 0);
        size_t at = (size_t)y->saturates_n - 1;
        assert_true(y->points[at].server_share >= 0.7 && y->points[at - 1].server_share < 0.7);
        hm_answer_free(x);
        hm_answer_free(y);
    }
}

/*
 * Workers average their models once in local_steps iterations: with two messages in a ring, one
 * message in an exponential graph, or a server whose link carries the models of all clients.
 */
static void averages_come_after_local_steps(void **state)
{
    (void)state;
    for (double k = 1; k <= 8; k *= 2) {
        struct hm_way ring = {.platform = HM_PLATFORM_GOSSIP_RING, .local_steps = k};
        struct hm_way exponential = {.platform = HM_PLATFORM_GOSSIP_EXP, .local_steps = k};
        struct hm_way clients = {.platform = HM_PLATFORM_FEDERATED, .local_steps = k};
        struct hm_way sum = {.platform = HM_PLATFORM_ALLREDUCE, .local_steps = k};
        struct hm_answer *r = plan(weak, &ring, 1, 16), *e = plan(weak, &exponential, 1, 16);
        struct hm_answer *f = plan(weak, &clients, 1, 16), *s = plan(weak, &sum, 1, 16);
        for (int i = 0; i < 16; i++) {
            double n = i + 1, messages = fmin(i, 2);
            assert_near(r->points[i].time_s, 1 + messages * (a + mb) / k, 1e-12);
            assert_near(e->points[i].time_s, 1 + fmin(i, 1) * (a + mb) / k, 1e-12);
            assert_near(f->points[i].time_s, 1 + 2 * (a + n * mb) / k, 1e-12);
            /* On 2 workers all schemes exchange two halves of the model; other tests use more
             * workers. */
            if (n == 2)
                assert_near(s->points[i].time_s, 1 + (a + mb) / k, 1e-12);
            assert_near(r->points[i].nodes, n, 0);
            assert_near(f->points[i].nodes, n + 1, 0);
        }
        assert_near(r->way.local_steps, k, 0);
        hm_answer_free(r);
        hm_answer_free(e);
        hm_answer_free(f);
        hm_answer_free(s);
    }
    struct hm_way wrong = bsp;
    wrong.local_steps = 2;
    assert_refused(weak, wrong, HM_E_CONFLICT, "local_steps", "server has no local steps");
    wrong = (struct hm_way){.platform = HM_PLATFORM_GOSSIP_RING, .local_steps = 1.5};
    assert_refused(weak, wrong, HM_E_RANGE, "local_steps", "1.5");
    wrong = (struct hm_way){.platform = HM_PLATFORM_GOSSIP_RING, .servers = 1};
    assert_refused(weak, wrong, HM_E_CONFLICT, "", "gossip-ring has no servers");
    wrong = (struct hm_way){.platform = (enum hm_platform)8};
    assert_refused(weak, wrong, HM_E_RANGE, "platform", "8");
}

/* The times of workers that queue must agree with the exact solution of tools/oracle/queue.py. */
static void queues_are_those_of_the_oracle(void **state)
{
    FILE *table = open_source("tests/data/queue.tsv");
    char line[256];
    double n, servers, compute, seconds, load, worst = 0, bounds = 0;
    int count = 0;

    (void)state;
    while (next_line(table, line, sizeof(line))) {
        if (sscanf(line, "%lf %lf %lf %lf %lf", &n, &servers, &compute, &seconds, &load) != 5)
            continue;
        double time = hm__queue_time(n, compute, 1, 1 / servers);
        double least = fmax(compute + 2, n / servers);
        worst = fmax(worst, fabs(time / seconds - 1));
        bounds = fmax(bounds, fabs(least / seconds - 1));
        assert_true(time >= least * (1 - 1e-12));
        count++;
    }
    fclose(table);
    assert_int_equal(count, 224);
    assert_true(worst < 0.04);
    /* The larger of the time of the workers alone and that of the links alone would be too short by
     * a third. */
    assert_true(bounds > 0.3);
    /* One worker never waits; a link that is not used takes no time. */
    assert_near(hm__queue_time(1, 3, 0.5, 0.25), 4, 0);
    assert_near(hm__queue_time(100, 3, 0.5, 0), 4, 0);
    /* With many workers, the time is that of the links alone. */
    assert_near(hm__queue_time(1e6, 3, 0.5, 0.25), 0.25e6, 1e-4);
}

static void enough_servers_are_found(void **state)
{
    struct hm_answer *x = plan(weak, &bsp, 1, 64), *y = plan(weak, &async, 1, 64);
    double n = x->points[x->recommended].n, s = 1;

    (void)state;
    while (1 + 2 * (a + fmax(mb, n * mb / s)) > 1.05 * (1 + 2 * (a + mb)))
        s++;
    assert_near(x->servers_enough, s, 0);
    n = y->points[y->recommended].n;
    /* With the chosen number of servers, stale workers hardly queue; with one server fewer they
     * do. */
    struct hm_way some = async;
    double times[2], fewest = y->servers_enough;
    for (int k = 0; k < 2; k++) {
        some.servers = k == 0 ? n : fewest;
        struct hm_answer *z = plan(weak, &some, 1, 64);
        times[k] = z->points[(size_t)n - 1].time_s;
        hm_answer_free(z);
    }
    assert_true(times[1] <= 1.05 * times[0]);
    some.servers = fewest - 1;
    struct hm_answer *z = plan(weak, &some, 1, 64);
    assert_true(z->points[(size_t)n - 1].time_s > 1.05 * times[0]);
    hm_answer_free(z);
    hm_answer_free(x);
    hm_answer_free(y);
}

static void servers_among_the_workers(void **state)
{
    struct hm_way way = bsp;
    struct hm_answer *x;

    (void)state;
    way.servers = 4;
    way.colocated = true;
    x = plan(weak, &way, 1, 16);
    assert_near(x->points[0].time_s, 1, 1e-15); /* One worker does not communicate. */
    for (int i = 1; i < 16; i++) {
        double n = i + 1, s = fmin(n, 4);
        assert_near(x->points[i].time_s, 1 + 2 * (a + fmax((s - 1) / s * mb, (n - 1) / s * mb)),
                    1e-12);
        assert_near(x->points[i].nodes, n, 0);
    }
    hm_answer_free(x);
}

static void drivers_and_all_reduces(void **state)
{
    const struct hm_way ways[] = {{.platform = HM_PLATFORM_DRIVER},
                                  {.platform = HM_PLATFORM_ALLREDUCE}};
    struct hm_answer *driver = plan(weak, &ways[0], 1, 16), *all = plan(weak, &ways[1], 1, 16);

    (void)state;
    for (int i = 0; i < 16; i++) {
        double n = i + 1;
        assert_near(driver->points[i].time_s, 1 + (log2(n) + 2 * ceil(sqrt(n))) * mb, 1e-12);
        assert_near(driver->points[i].nodes, n + 1, 0);
        assert_true(all->points[i].time_s <= 1 + 2 * (n - 1) * (a + mb / n) + 1e-12);
    }
    assert_near(driver->samples_per_s,
                100 * driver->points[driver->best].n / driver->points[driver->best].time_s, 1e-12);
    hm_answer_free(driver);
    hm_answer_free(all);
}

/* Without --servers, each combination must get the fewest servers that are nearly as fast as more
 * servers. */
static void servers_are_chosen(void **state)
{
    struct hm_way ways[] = {{.platform = HM_PLATFORM_ALLREDUCE},
                            {.platform = HM_PLATFORM_SERVER},
                            {.platform = HM_PLATFORM_SERVER, .consistency = HM_CONSISTENCY_ASYNC}};
    struct hm_answer *x = plan(weak, ways, 3, 32);

    (void)state;
    assert_int_equal(x->rank_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct hm_rank *r = &x->ranking[i];
        bool free = r->way.consistency == HM_CONSISTENCY_ASYNC;
        if (r->way.platform == HM_PLATFORM_SERVER)
            /* Asynchronous workers get 6 servers (32 Mb/s = 0.67), and synchronous workers get one
             * server each. */
            assert_near(r->way.servers, free ? 6 : 32, 0);
        if (i > 0)
            assert_true(r->total_s >= x->ranking[i - 1].total_s);
    }
    hm_answer_free(x);
}

static const char priced[] = "network: {parameters: 1e6, forward: 1 Gflop}\nbatch: 64\n"
                             "iterations: 100\ncluster: {flops: 10 Gflop/s, price: $3600/h,\n"
                             "  max_nodes: 10, " LINK "}\n";

static void servers_cost_and_take_nodes(void **state)
{
    struct hm_way way = async;
    struct hm_answer *x;

    (void)state;
    way.servers = 3;
    x = plan(priced, &way, 1, 0);
    assert_int_equal(x->point_count, 7);
    assert_near(x->points[6].cost, 10 * x->points[6].total_s, 1e-12);
    double fresh = x->points[6].total_s;
    hm_answer_free(x);
    way.stale_cost = 1.25;
    x = plan(priced, &way, 1, 0);
    assert_near(x->points[6].total_s, 1.25 * fresh, 1e-12);
    hm_answer_free(x);
    way.stale_cost = 0.8; /* The factor on n workers is 0.8 sqrt(n), at least 1. */
    way.stale_power = 0.5;
    x = plan(priced, &way, 1, 0);
    assert_near(x->points[6].total_s, fresh / 100 * ceil(80 * sqrt(7)), 1e-12);
    assert_near(x->points[0].total_s, 100 * x->points[0].time_s, 1e-12);
    assert_near(x->way.stale_cost, fmax(1, 0.8 * sqrt(x->points[x->best].n)), 1e-12);
    hm_answer_free(x);
}

/* The workers whose gradients are used must share the batch, so that an iteration has the whole
 * batch. */
static void backups_share_the_batch(void **state)
{
    struct hm_way way = bsp;
    struct hm_answer *none = plan(priced, &way, 1, 0), *two;

    (void)state;
    way.backups = 2;
    two = plan(priced, &way, 1, 0);
    assert_near(two->points[5].compute_s, none->points[3].compute_s, 1e-14);
    assert_false(two->points[1].fits);
    assert_true(two->points[2].fits);
    hm_answer_free(none);
    hm_answer_free(two);
}

static void impossible_ways_are_refused(void **state)
{
    struct hm_way way = bsp;
    const struct hm_way driver = {.platform = HM_PLATFORM_DRIVER, .backups = 1};

    (void)state;
    way.servers = 10;
    assert_refused(priced, way, HM_E_RANGE, "servers", "leave none for workers");
    way.servers = 2e6;
    assert_refused(priced, way, HM_E_RANGE, "servers", "out of range");
    way.servers = 11;
    assert_refused("network: {parameters: 10, forward: 1 Gflop}\nbatch: 64\n"
                   "cluster: {flops: 10 Gflop/s, " LINK "}\n",
                   way, HM_E_RANGE, "servers", "11 servers for a model of 10 parameters");
    way = bsp;
    way.backups = 8;
    assert_refused(weak, way, HM_E_RANGE, "backups", "8 backups are not fewer than the workers");
    way = ssp3;
    way.staleness = -1;
    assert_refused(weak, way, HM_E_RANGE, "staleness", "-1 is out of range");
    way = ssp3;
    way.backups = 1;
    assert_refused(weak, way, HM_E_CONFLICT, "", "backups apply only to the consistency bsp");
    assert_refused(weak, driver, HM_E_CONFLICT, "", "has no servers");
    assert_refused("compute: 10/n\ncommunicate: 1 s\ncluster: {" LINK "}\n", bsp, HM_E_MISSING,
                   "communicate", "needs the size of the model");
}

/* With uneven workers the answer reports the waiting time. */
static void stragglers_are_reported(void **state)
{
    struct hm_answer *x = plan(slow, NULL, 0, 8);
    double even = 0, dealt = 0;

    (void)state;
    assert_true(x->uneven);
    assert_int_equal(x->limit, HM_LIMIT_STRAGGLERS);
    assert_near(x->limit_share, 0.75, 0.01);
    assert_near(x->points[7].wait_s, 3, 1e-12);
    for (size_t i = 0; i < x->help_count; i++) {
        even = strcmp(x->help[i].what, "no stragglers") == 0 ? x->help[i].time_s : even;
        dealt = strcmp(x->help[i].what, "batches by speed") == 0 ? x->help[i].time_s : dealt;
    }
    assert_near(even, 1, 0.05);
    assert_near(dealt, 8 / 7.25, 0.05);
    hm_answer_free(x);
}

/* Strategies of TensorFlow are platforms with limits. The machine has 4 workers, whose links have
 * 40 MB/s and 0.1 ms, and the model has 1 MB. */
static void strategies_have_limits(void **state)
{
    static const char text[] =
        "compute: 1 s\ncommunicate: [{bytes: 1 MB, scheme: ring}]\nscaling: weak\nbatch: 100\n"
        "cluster: {" LINK ", accelerators: 4, link: {bandwidth: 40 MB/s, latency: 0.1 ms}}\n";
    static const struct hm_way ways[] = {
        {.platform = HM_PLATFORM_ALLREDUCE, .strategy = HM_STRATEGY_MIRRORED},
        {.platform = HM_PLATFORM_SERVER,
         .servers = 1,
         .colocated = true,
         .strategy = HM_STRATEGY_CENTRAL_STORAGE},
        {.platform = HM_PLATFORM_ALLREDUCE, .strategy = HM_STRATEGY_MULTI_WORKER_MIRRORED},
        {.platform = HM_PLATFORM_ALLREDUCE},
    };

    (void)state;
    struct hm_answer *answer = plan(text, &ways[0], 1, 16);
    assert_int_equal(answer->point_count, 4);
    assert_true(isnan(answer->beyond_n));
    assert_near(answer->points[3].nodes, 1, 0);
    hm_answer_free(answer);
    answer = plan(text, &ways[1], 1, 16);
    assert_int_equal(answer->point_count, 4);
    for (double n = 1; n <= 4; n++) {
        const struct hm_point *p = &answer->points[(size_t)n - 1];
        assert_near(p->time_s, 1 + 2 * (1e-4 + n * 1e6 / 40e6), 1e-12);
        assert_near(p->nodes, 1, 0);
    }
    hm_answer_free(answer);
    answer = plan(text, &ways[2], 1, 16);
    struct hm_answer *plain = plan(text, &ways[3], 1, 16);
    assert_int_equal(answer->point_count, plain->point_count);
    assert_near(answer->points[6].time_s, plain->points[6].time_s, 0);
    hm_answer_free(answer);
    hm_answer_free(plain);
    assert_refused(text,
                   (struct hm_way){.platform = HM_PLATFORM_ALLREDUCE, .strategy = HM_STRATEGY_TPU},
                   HM_E_MISSING, "platform", "needs TPUs");
    assert_refused(weak, ways[1], HM_E_MISSING, "platform", "several accelerators");
    assert_refused(
        text, (struct hm_way){.platform = HM_PLATFORM_DRIVER, .strategy = HM_STRATEGY_MIRRORED},
        HM_E_CONFLICT, "strategy", "has the platform allreduce");
    assert_refused(text,
                   (struct hm_way){.platform = HM_PLATFORM_SERVER,
                                   .servers = 2,
                                   .strategy = HM_STRATEGY_CENTRAL_STORAGE},
                   HM_E_CONFLICT, "strategy", "one server");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backups_and_staleness_against_rare_delays),
        cmocka_unit_test(backups_and_staleness_against_slow_workers),
        cmocka_unit_test(servers_saturate),
        cmocka_unit_test(enough_servers_are_found),
        cmocka_unit_test(servers_among_the_workers),
        cmocka_unit_test(drivers_and_all_reduces),
        cmocka_unit_test(servers_are_chosen),
        cmocka_unit_test(servers_cost_and_take_nodes),
        cmocka_unit_test(backups_share_the_batch),
        cmocka_unit_test(averages_come_after_local_steps),
        cmocka_unit_test(queues_are_those_of_the_oracle),
        cmocka_unit_test(impossible_ways_are_refused),
        cmocka_unit_test(strategies_have_limits),
        cmocka_unit_test(stragglers_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
