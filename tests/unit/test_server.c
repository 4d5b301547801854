/*
 * Tests the parameter server in virtual time: results are compared with the same steps on one rank,
 * times with closed forms, and the staleness bound is tested under random delays.
 */
#include "train_problems.h"

#include <sys/wait.h>
#include <unistd.h>

#include "agree.h"
#include "checkpoint.h"
#include "client.h"
#include "messages.h"
#include "random.h"
#include "server.h"
#include "train.h"
#include "virtual_comm.h"

enum { UNKNOWNS = 256, POINTS = 64, RANKS = 80 };

struct server_run {
    /* The members up to `extra_staleness` are inputs. */
    const struct problem *problem;
    size_t loss;
    const char *algorithm;
    struct hm_train_settings settings;
    struct hm_serving serving;
    struct hm_slowness slowness;
    struct virtual_cluster cluster;
    struct hm_train_plan plan;
    const char *resume;
    double extra_staleness; /* Number that is added to the staleness bound of the workers, to
                               provoke a violation. */
    /* The members from here on are outputs. */
    double w[UNKNOWNS];
    size_t unknowns;
    double iteration, samples;
    struct hm_trace_point points[POINTS], last;
    size_t point_count;
    struct hm_train_totals totals;
    struct hm_server_stats stats;
    double wait_s[RANKS], server_bytes[RANKS];
    int rc[RANKS];
    struct hm_err err[RANKS];
};

static const struct virtual_cluster quick = {0x1p-10, 0x1p-24, 0x1p-20};

static void record_point(void *context, const struct hm_trace_point *point)
{
    struct server_run *r = context;

    if (r->point_count < POINTS)
        r->points[r->point_count++] = *point;
}

static void keep_result(struct server_run *r, struct hm_run *run, const struct hm_trace_point *last,
                        const struct hm_train_totals *totals)
{
    const struct hm_server_stats *stats = run->platform ? hm__server_worker_stats(run) : NULL;

    if (run->comm->rank > 0)
        return;
    memcpy(r->w, run->w, run->objective->unknowns * sizeof(double));
    r->unknowns = run->objective->unknowns;
    r->iteration = run->iteration;
    r->samples = run->samples;
    r->last = *last;
    r->totals = *totals;
    if (!stats)
        return;
    r->stats = *stats;
    memcpy(r->wait_s, stats->wait_s, (size_t)r->serving.workers * sizeof(double));
    memcpy(r->server_bytes, stats->server_bytes, (size_t)r->serving.servers * sizeof(double));
}

static void run_worker(struct server_run *r, struct hm_comm *world, struct hm_comm *comm)
{
    struct hm_objective o;
    struct hm_err *err = &r->err[comm->rank];
    struct hm_train_plan plan = r->plan;
    struct hm_serving serving = r->serving;
    struct hm_train_totals totals = {0};
    struct hm_trace_point last = {0};
    enum hm_stop stop;
    struct hm_straggling straggling = {.slowness = r->slowness,
                                       .seed = r->settings.seed,
                                       .flops = 1 / r->cluster.flop_s,
                                       .worker = comm->rank,
                                       .n = comm->size,
                                       .iteration = -1};
    struct hm_run run = {.algorithm = hm__algorithm_find(r->algorithm),
                         .comm = comm,
                         .objective = &o,
                         .settings = r->settings};

    serving.staleness += r->extra_staleness;
    problem_init(&o, r->problem, r->loss, false, comm->rank, comm->size);
    CHECK(o.unknowns <= UNKNOWNS);
    run.arena = o.arena;
    comm->scheme = HM_REDUCE_MASTER;
    comm->straggling = hm__slowness_any(&r->slowness) ? &straggling : NULL;
    plan.report = record_point;
    plan.context = r;
    plan.eval_every = plan.eval_every > 0 ? plan.eval_every : INFINITY;
    plan.identity = "a test";
    int rc = hm__run_begin(&run, err);
    if (rc == 0 && r->resume)
        rc = hm__checkpoint_load(r->resume, &run, plan.identity, &totals, err);
    if (rc == 0 && r->serving.servers > 0)
        rc = hm__server_worker_begin(&run, world, &serving, err);
    if (rc == 0) {
        rc = hm__train(&run, &plan, &totals, &last, &stop, err);
        keep_result(r, &run, &last, &totals);
        if (run.platform)
            hm__server_worker_end(&run);
    }
    r->rc[comm->rank] = rc;
    problem_release(&o);
}

static void rank_body(struct hm_comm *world, void *context)
{
    struct server_run *r = context;
    struct hm_comm workers;

    if (r->serving.servers == 0) {
        run_worker(r, world, world);
        return;
    }
    virtual_comm_part(world, r->serving.workers, &workers);
    if (world->rank < r->serving.workers)
        run_worker(r, world, &workers);
    else
        r->rc[world->rank] = hm__server_run(world, &r->serving, hm__algorithm_find(r->algorithm),
                                            &r->settings, &r->err[world->rank]);
}

static void run_checked(struct server_run *r)
{
    int ranks = r->serving.workers + r->serving.servers;

    r->point_count = 0;
    memset(r->err, 0, sizeof(r->err));
    CHECK(ranks <= RANKS);
    virtual_comm_run(ranks, &r->cluster, rank_body, r);
    for (int i = 0; i < ranks; i++)
        if (r->rc[i])
            fail_msg("rank %d: %s", i, r->err[i].message);
}

static struct server_run *new_run(const char *problem, const char *loss, const char *algorithm,
                                  int workers, int servers)
{
    static struct server_run runs[4];
    static size_t used;
    struct server_run *r = &runs[used++ % 4];

    *r = (struct server_run){.problem = problem_named(problem),
                             .loss = loss_named(loss),
                             .algorithm = algorithm,
                             .settings = {.batch = 12, .momentum = -1, .seed = 5},
                             .serving = {.workers = workers, .servers = servers},
                             .cluster = quick,
                             .plan = {.limits = {.iterations = 25, .best = NAN}}};
    return r;
}

static void same_bits(const struct server_run *a, const struct server_run *b)
{
    assert_int_equal(a->unknowns, b->unknowns);
    assert_memory_equal(a->w, b->w, a->unknowns * sizeof(double));
    assert_true(a->iteration == b->iteration && a->samples == b->samples);
}

static struct hm_slowness delays(void)
{
    return (struct hm_slowness){.spread = 0.8, .chance = 0.2, .factor = 5};
}

/* ---- results -------------------------------------------------------------------------------- */

static void test_bsp_is_allreduce(void **state)
{
    static const char *const algorithms[] = {"sgd", "momentum", "adam"};

    (void)state;
    for (size_t a = 0; a < 3; a++)
        for (size_t loss = 0; loss < LOSSES; loss++)
            for (int n = 1; n <= 5; n += 2)
                for (int servers = 1; servers <= 3; servers++) {
                    struct server_run *one =
                        new_run("dense", loss_names[loss], algorithms[a], n, 0);
                    struct server_run *other =
                        new_run("dense", loss_names[loss], algorithms[a], n, servers);
                    run_checked(one);
                    run_checked(other);
                    same_bits(one, other);
                }
}

static void test_ssp0_is_bsp(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct server_run *bsp = new_run("sparse", "softmax", "sgd", 4, 2);
        struct server_run *ssp = new_run("sparse", "softmax", "sgd", 4, 2);
        bsp->settings.seed = ssp->settings.seed = seed;
        bsp->slowness = ssp->slowness = delays();
        ssp->serving.consistency = HM_CONSISTENCY_SSP;
        run_checked(bsp);
        run_checked(ssp);
        same_bits(bsp, ssp);
        assert_true(ssp->stats.lead == 0 && ssp->stats.staleness[0] == 4 * 25);
        assert_true(ssp->stats.used == 4 * 25 && ssp->stats.dropped == 0);
    }
}

/* Evaluations must take no time and must not change the result. */
static void test_evaluations_are_free(void **state)
{
    (void)state;
    for (int c = 0; c <= HM_CONSISTENCY_ASYNC; c++) {
        struct server_run *seldom = new_run("dense", "logistic", "sgd", 4, 2);
        struct server_run *often = new_run("dense", "logistic", "sgd", 4, 2);
        seldom->serving.consistency = often->serving.consistency = (enum hm_consistency)c;
        seldom->serving.staleness = often->serving.staleness = 2;
        seldom->slowness = often->slowness = delays();
        often->plan.eval_every = 1;
        run_checked(seldom);
        run_checked(often);
        assert_int_equal(often->point_count, 25);
        if (c == HM_CONSISTENCY_BSP) {
            same_bits(seldom, often);
            assert_near(seldom->totals.elapsed_s, often->totals.elapsed_s, 1e-12);
        } else { /* Gradients that were being sent when the workers paused are sent again. */
            assert_true(fabs(seldom->totals.elapsed_s / often->totals.elapsed_s - 1) < 0.05);
        }
        assert_true(often->last.objective < often->points[0].objective);
        assert_near(often->totals.bytes, seldom->totals.bytes, 0.2);
    }
}

/* ---- staleness bound ------------------------------------------------------------------------ */

/* In many runs no worker gets too far ahead; the server would end such a run. */
static void test_ssp_holds(void **state)
{
    double largest[8] = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= (is_torture() ? 1000 : 300); seed++) {
        struct hm_random random;
        hm__random_init(&random, seed, 77);
        int n = 2 + (int)hm__random_below(&random, 4),
            servers = 1 + (int)hm__random_below(&random, 2);
        double s = 1 + hm__random_below(&random, 4);
        struct server_run *r = new_run("wide", "squares", "sgd", n, servers);
        r->serving.consistency = HM_CONSISTENCY_SSP;
        r->serving.staleness = s;
        r->serving.pull_late = hm__random_below(&random, 2) == 1;
        r->serving.together = hm__random_below(&random, 4) == 0;
        r->settings.seed = seed;
        r->slowness = delays();
        r->slowness.spread = 2 * hm__random_uniform(&random);
        r->cluster.flop_s = ldexp(1, -10 - (int)hm__random_below(&random, 10));
        r->plan.limits.iterations = 8;
        r->plan.eval_every = 1 + hm__random_below(&random, 8);
        run_checked(r);
        assert_true(r->stats.lead <= s);
        double reads = 0;
        for (size_t age = 0; age < HM_STALENESS_BINS; age++) {
            reads += r->stats.staleness[age];
            assert_true((double)age <= s || r->stats.staleness[age] == 0);
        }
        assert_true(r->stats.used == 8 * n && reads >= 8 * n && r->stats.dropped == 0);
        largest[(int)s] = fmax(largest[(int)s], r->stats.lead);
    }
    for (int s = 1; s <= 4; s++) /* Workers also reach the bound of the staleness. */
        assert_true(largest[s] == s);
}

static void test_async_leads(void **state)
{
    struct server_run *r = new_run("dense", "logistic", "sgd", 4, 1);

    (void)state;
    r->serving.consistency = HM_CONSISTENCY_ASYNC;
    r->slowness = (struct hm_slowness){.slow_nodes = 1, .slow_factor = 10};
    r->cluster.flop_s = 0x1p-12; /* With this speed, most of the time is computation. */
    run_checked(r);
    assert_true(r->stats.used == 100 && r->iteration == 25);
    assert_true(r->stats.lead > 20); /* Three workers do almost all of the work. */
}

/* A server whose workers use a wrong staleness bound ends the run and names the worker. */
static void test_violation(void **state)
{
    char said[512] = "";
    int pipes[2], status;

    (void)state;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        struct server_run *r = new_run("dense", "logistic", "sgd", 3, 1);
        dup2(pipes[1], STDERR_FILENO);
        r->serving.consistency = HM_CONSISTENCY_SSP;
        r->serving.staleness = 2;
        r->serving.pull_late = true;
        r->slowness = (struct hm_slowness){.slow_nodes = 1, .slow_factor = 100};
        r->extra_staleness = 5;
        run_checked(r);
        _exit(0);
    }
    close(pipes[1]);
    assert_true(read(pipes[0], said, sizeof(said) - 1) > 0);
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    assert_non_null(strstr(said, "3 ahead of the slowest; at most 2 are allowed"));
}

/* ---- backup workers ------------------------------------------------------------------------- */

/* Makes the same steps with the first `used` of n workers, one after another on one rank. */
static void steps_by_hand(struct server_run *r, int used, double *w)
{
    int n = r->serving.workers;
    double gradient[UNKNOWNS], flop;
    struct hm_objective o[8];
    struct hm_batches *batches[8];
    struct hm_comm comms[8];
    struct hm_run runs[8];
    size_t count;

    for (int i = 0; i < used; i++) {
        problem_init(&o[i], r->problem, r->loss, false, i, n);
        comms[i] = (struct hm_comm){.rank = i, .size = n};
        runs[i] = (struct hm_run){
            .comm = &comms[i], .objective = &o[i], .settings = r->settings, .arena = o[i].arena};
        assert_int_equal(hm__batches_new(&runs[i], &batches[i], NULL), 0);
    }
    memset(w, 0, UNKNOWNS * sizeof(double));
    for (double t = 0; t < r->plan.limits.iterations; t++) {
        double rows = 0;
        memset(gradient, 0, sizeof(gradient));
        for (int i = 0; i < used; i++) {
            runs[i].iteration = t;
            const uint32_t *list = hm__batches_next(&runs[i], batches[i], &count);
            o[i].ops->eval(&o[i], w, list, count, gradient, &flop);
            rows += (double)count;
        }
        double size = r->settings.step / (1 + o[0].lambda * r->settings.step * t);
        for (size_t j = 0; j < o[0].unknowns; j++)
            w[j] -= size * (gradient[j] / rows + o[0].lambda * w[j]);
    }
    for (int i = 0; i < used; i++)
        problem_release(&o[i]);
}

static void test_backups(void **state)
{
    (void)state;
    for (int servers = 1; servers <= 2; servers++) {
        struct server_run *r = new_run("dense", "logistic", "sgd", 4, servers);
        double w[UNKNOWNS];
        r->serving.backups = 1;
        r->settings.step = 0.3;
        r->slowness = (struct hm_slowness){.slow_nodes = 1, .slow_factor = 100};
        r->cluster.flop_s = 0x1p-12;
        run_checked(r);
        steps_by_hand(r, 3, w);
        for (size_t j = 0; j < r->unknowns; j++)
            assert_near(r->w[j], w[j], 1e-10);
        assert_true(r->stats.used == 3 * 25 && r->stats.lead == 0);
        assert_true(r->samples < 25 * 12 * 0.8); /* Only gradients that were used are counted. */
    }
}

static void test_dropped(void **state)
{
    struct server_run *r = new_run("dense", "logistic", "sgd", 4, 1);
    struct server_run *bsp = new_run("dense", "logistic", "sgd", 4, 1);
    double reads = 0;

    (void)state;
    r->serving.backups = 1;
    r->slowness = bsp->slowness = (struct hm_slowness){.chance = 0.3, .factor = 6};
    r->plan.limits.iterations = bsp->plan.limits.iterations = 200;
    r->cluster.flop_s = bsp->cluster.flop_s = 0x1p-12;
    run_checked(r);
    run_checked(bsp);
    for (size_t age = 0; age < HM_STALENESS_BINS; age++)
        reads += r->stats.staleness[age];
    assert_true(r->stats.used == 600 && r->stats.staleness[0] == reads);
    /* Every read is used, dropped, or unfinished at the end. */
    assert_true(r->stats.dropped > 60 && reads - 600 - r->stats.dropped >= 0 &&
                reads - 600 - r->stats.dropped <= 4);
    assert_true(r->totals.elapsed_s < 0.8 * bsp->totals.elapsed_s);
}

/* ---- times ---------------------------------------------------------------------------------- */

/* The time of a step is that of the computation, a push, the addition and update on the server, and
 * a reply. */
static void test_times(void **state)
{
    const double d = 7, head = 64;

    (void)state;
    for (int n = 1; n <= 4; n++) {
        struct server_run *r = new_run("dense", "squares", "sgd", n, 1);
        r->settings.batch = 61; /* The batch contains all rows. */
        run_checked(r);
        double message = quick.latency_s + (8 * d + head) * quick.byte_s;
        double server = ((n - 1) * d + 3 * d + 2 * d) * quick.flop_s;
        double flop = r->last.flop - (n - 1 + 5) * d;
        assert_true(flop > 0 && r->last.bytes == 2 * n * (8 * d + head));
        /* The first w is sent before the first step, and none after the last. */
        double step = r->totals.compute_s / 25 + server + 2 * message;
        assert_near(r->totals.elapsed_s, 25 * step, 1e-9);
        assert_true(r->server_bytes[0] == 25 * 2 * n * (8 * d + head));
        assert_true(r->wait_s[0] > 24 * (server + 2 * message) && r->wait_s[0] < 27 * step);
    }
}

/* ---- checkpoints ---------------------------------------------------------------------------- */

static void test_resumes(void **state)
{
    static const char path[] = "test_server.ck";

    (void)state;
    for (int c = 0; c <= HM_CONSISTENCY_ASYNC; c++)
        for (int variant = 0; variant < 2; variant++) {
            struct server_run *runs[3];
            for (int i = 0; i < 3; i++) {
                runs[i] = new_run("dense", "softmax", variant ? "adam" : "momentum", 4, 2);
                runs[i]->serving.consistency = (enum hm_consistency)c;
                runs[i]->serving.staleness = 2;
                runs[i]->serving.pull_late = variant == 1 && c == HM_CONSISTENCY_SSP;
                runs[i]->serving.backups = c == HM_CONSISTENCY_BSP ? variant : 0;
                runs[i]->serving.together = true;
                runs[i]->slowness = delays();
                runs[i]->plan.save_every = 5;
                runs[i]->plan.limits.iterations = i == 1 ? 10 : 20;
                runs[i]->plan.checkpoint = i == 0 ? "test_server.other.ck" : path;
            }
            runs[2]->resume = path;
            for (int i = 0; i < 3; i++)
                run_checked(runs[i]);
            same_bits(runs[0], runs[2]);
            assert_near(runs[0]->totals.elapsed_s, runs[2]->totals.elapsed_s, 1e-9);
            unlink(path);
            unlink("test_server.other.ck");
        }
}

/* ---- the client alone ----------------------------------------------------------------------- */

struct added {
    struct hm_serving serving;
    double w[5];
};

/* Sends the messages that hm__server_worker_begin would send. */
static void start_servers(struct hm_comm *world, const struct hm_serving *serving)
{
    struct hm_message message = {.kind = HM_MESSAGE_START};
    struct hm_server_start start = {.unknowns = 5, .step = 1, .rows = 1};
    double zeros[5] = {0};

    for (int k = 0; world->rank == 0 && k < serving->servers; k++) {
        hm__comm_send(world, serving->workers + k, &message, HM_MESSAGE_HEADER);
        hm__comm_send(world, serving->workers + k, &start, sizeof(start));
    }
    CHECK(hm__agree(world, 0, NULL) == 0);
    for (int k = 0; world->rank == 0 && k < serving->servers; k++) {
        struct hm_shard piece = hm__serving_shard(serving, 5, k);
        hm__comm_send(world, serving->workers + k, zeros, (size_t)piece.count * sizeof(double));
    }
}

static void resume_servers(struct hm_comm *world, const struct hm_serving *serving, double target)
{
    struct hm_message message = {.kind = HM_MESSAGE_RESUME, .target = target, .paused_s = -1};
    void *request;

    for (int k = 0; world->rank == 0 && k < serving->servers; k++) {
        hm__comm_start_send(world, serving->workers + k, &message, HM_MESSAGE_HEADER, &request);
        hm__comm_wait_all(world, &request, 1);
    }
    hm__comm_barrier(world);
}

/* Two workers add known increments to w; a step of size 1 subtracts their mean. */
static void add_to_w(struct hm_comm *world, void *context)
{
    struct added *a = context;
    const struct hm_serving *serving = &a->serving;
    struct hm_train_settings settings = {.batch = 1, .momentum = -1};
    struct hm_client *client;
    struct hm_arena *arena;
    const double *w = NULL, run_of[3] = {1, 2, 4};

    if (world->rank >= serving->workers) {
        CHECK(hm__server_run(world, serving, hm__algorithm_find("sgd"), &settings, NULL) == 0);
        return;
    }
    arena = hm__arena_new();
    start_servers(world, serving);
    CHECK(hm__client_new(world, serving, 5, 0, arena, &client, NULL) == 0);
    resume_servers(world, serving, 3);
    hm__client_resume(client, 3, -1, false);
    while (!hm__client_get(client, &w)) {
        double clock = hm__client_clock_now(client);
        /* The values of w include all increments of earlier clocks, and no others. */
        CHECK(w[4] == -8 * clock * (serving->workers == 1 ? 1 : 1.5));
        const double one = 1, last = world->rank == 0 ? 4 : 12;
        hm__client_add(client, 0, 1, &one);
        hm__client_add(client, 0, 1, &clock);
        hm__client_add(client, 2, 3, run_of);
        hm__client_add(client, 4, 1, &last);
        hm__client_clock(client, 1);
    }
    if (world->rank == 0)
        memcpy(a->w, w, sizeof(a->w));
    hm__client_disconnect(client);
    hm__arena_free(arena);
}

static void test_client(void **state)
{
    (void)state;
    for (int workers = 1; workers <= 2; workers++)
        for (int servers = 1; servers <= 5; servers++) {
            struct added a = {.serving = {.workers = workers, .servers = servers}};
            virtual_comm_run(workers + servers, &quick, add_to_w, &a);
            /*
             * The last w that was read includes two steps; each step is the mean over the workers.
             */
            assert_true(a.w[0] == -3 && a.w[1] == 0 && a.w[2] == -2 && a.w[3] == -4);
        }
}

/* ---- stragglers ------------------------------------------------------------------------------ */

/* An iteration must take the time that was drawn for it, however its work is split. */
static void straggle(struct hm_comm *comm, void *context)
{
    struct hm_straggling s = {
        .slowness = {.spread = 0.7, .chance = 0.5, .factor = 3, .pause_s = 0.25},
        .seed = 9,
        .flops = 0x1p20,
        .worker = 1,
        .n = 2,
        .iteration = -1};

    (void)context;
    comm->straggling = &s;
    for (double i = 0; i < 50; i++) {
        double began = comm->ops->now(comm);
        hm__comm_set_iteration(comm, i);
        for (int part = 1; part <= 4; part++)
            hm__comm_work(comm, part * 0x1p18);
        double took = comm->ops->now(comm) - began;
        CHECK(fabs(took - hm__slowness_draw(&s.slowness, 9, 1, 2, i, 2.5)) < 1e-9);
    }
    CHECK(comm->flop == 50 * 2.5 * 0x1p20);
    comm->straggling = NULL;
}

static void test_stragglers(void **state)
{
    (void)state;
    virtual_comm_run(1, &quick, straggle, NULL);
}

/* ---- errors --------------------------------------------------------------------------------- */

static void test_too_many_servers(void **state)
{
    struct server_run *r = new_run("single", "squares", "sgd", 2, 2);

    (void)state;
    virtual_comm_run(4, &r->cluster, rank_body, r);
    assert_true(r->rc[0] == HM_E_RANGE && r->rc[1] == HM_E_RANGE && r->rc[2] == 0);
    assert_string_equal(r->err[1].message, "2 servers are too many for 1 parameters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bsp_is_allreduce),
        cmocka_unit_test(test_ssp0_is_bsp),
        cmocka_unit_test(test_evaluations_are_free),
        cmocka_unit_test(test_ssp_holds),
        cmocka_unit_test(test_async_leads),
        cmocka_unit_test(test_violation),
        cmocka_unit_test(test_backups),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_resumes),
        cmocka_unit_test(test_client),
        cmocka_unit_test(test_stragglers),
        cmocka_unit_test(test_too_many_servers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
