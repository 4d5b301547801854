/*
 * Tests a driver and its workers in virtual time: results are compared with an all-reduce that adds
 * in the same order, times with the closed form, and runs are resumed from a checkpoint.
 */
#include "train_problems.h"

#include <unistd.h>

#include "checkpoint.h"
#include "driver.h"
#include "train.h"
#include "virtual_comm.h"

enum { UNKNOWNS = 256 };

struct driven_run {
    const struct problem *problem;
    size_t loss;
    const char *algorithm, *resume;
    int workers;
    bool driver; /* True if the run uses a driver; false if it uses an all-reduce. */
    struct virtual_cluster cluster;
    struct hm_train_plan plan;

    double w[UNKNOWNS], iteration, samples;
    struct hm_train_totals totals;
    struct hm_trace_point last;
    enum hm_stop stop;
};

static const struct virtual_cluster quick = {0x1p-10, 0x1p-24, 0x1p-20};

static void work(struct driven_run *r, struct hm_comm *world, struct hm_comm *comm)
{
    struct hm_objective o;
    struct hm_train_plan plan = r->plan;
    struct hm_train_totals totals = {0};
    struct hm_trace_point last = {0};
    enum hm_stop stop = HM_STOP_NOT;
    struct hm_run run = {.algorithm = hm__algorithm_find(r->algorithm),
                         .comm = comm,
                         .objective = &o,
                         .settings = {.momentum = -1}};

    problem_init(&o, r->problem, r->loss, false, comm->rank, comm->size);
    run.arena = o.arena;
    comm->scheme = HM_REDUCE_TWO_WAVE;
    plan.eval_every = plan.eval_every > 0 ? plan.eval_every : INFINITY;
    plan.identity = "a test";
    CHECK(o.unknowns <= UNKNOWNS && hm__run_begin(&run, NULL) == 0);
    if (r->resume)
        CHECK(hm__checkpoint_load(r->resume, &run, plan.identity, &totals, NULL) == 0);
    if (r->driver)
        CHECK(hm__driver_worker_begin(&run, world, plan.checkpoint != NULL, NULL) == 0);
    CHECK(hm__train(&run, &plan, &totals, &last, &stop, NULL) == 0);
    if (r->driver)
        hm__driver_worker_end(&run);
    if (comm->rank == 0) {
        memcpy(r->w, run.w, o.unknowns * sizeof(double));
        r->iteration = run.iteration;
        r->samples = run.samples;
        r->totals = totals;
        r->last = last;
        r->stop = stop;
    }
    problem_release(&o);
}

static void body(struct hm_comm *world, void *context)
{
    struct driven_run *r = context;
    struct hm_train_settings settings = {.momentum = -1};
    struct hm_comm workers;

    if (!r->driver) {
        work(r, world, world);
        return;
    }
    virtual_comm_part(world, r->workers, &workers);
    if (world->rank < r->workers)
        work(r, world, &workers);
    else
        CHECK(hm__driver_run(world, hm__algorithm_find(r->algorithm), &settings, losses[r->loss],
                             NULL) == 0);
}

static struct driven_run run_one(const char *algorithm, size_t loss, int n, bool driver)
{
    struct driven_run r = {.problem = problem_named("dense"),
                           .loss = loss,
                           .algorithm = algorithm,
                           .workers = n,
                           .driver = driver,
                           .cluster = quick,
                           .plan = {.limits = {.iterations = 12, .best = NAN}}};

    virtual_comm_run(n + driver, &r.cluster, body, &r);
    return r;
}

/* The groups and the order of addition inside a group are the same as in the all-reduce, so for
 * square numbers of workers and below, the sums must have the same bits. */
static void test_is_allreduce(void **state)
{
    static const char *const algorithms[] = {"gd", "lbfgs"};

    (void)state;
    for (size_t a = 0; a < 2; a++)
        for (size_t loss = 0; loss < LOSSES; loss++)
            for (int n = 1; n <= 9; n++) {
                struct driven_run one = run_one(algorithms[a], loss, n, false);
                struct driven_run other = run_one(algorithms[a], loss, n, true);
                assert_memory_equal(one.w, other.w, sizeof(one.w));
                assert_true(one.iteration == other.iteration && one.samples == other.samples &&
                            one.stop == other.stop && one.last.objective == other.last.objective);
            }
}

static double rounds(int n)
{
    double rounds = 0;

    for (int reached = 1; reached < n; reached *= 2)
        rounds++;
    return rounds;
}

/* On the cluster of this test, only messages take time. */
static void test_times(void **state)
{
    const double d = 7;

    (void)state;
    for (int n = 1; n <= 17; n++) {
        struct driven_run r = {.problem = problem_named("dense"),
                               .loss = 2,
                               .algorithm = "lbfgs",
                               .workers = n,
                               .driver = true,
                               .cluster = {0x1p-10, 0x1p-20, 0},
                               .plan = {.limits = {.iterations = 1, .best = NAN}}};
        virtual_comm_run(n + 1, &r.cluster, body, &r);
        double group = ceil(sqrt(n)), out = 0x1p-10 + (8 * d + 64) * 0x1p-20;
        double in = 0x1p-10 + 8 * (d + 1) * 0x1p-20, times = r.samples / 61;
        double wanted = times * (rounds(n + 1) * out + (group - 1 + ceil(n / group)) * in);
        /* A group with fewer workers finishes earlier. */
        assert_true(r.totals.elapsed_s <= wanted * (1 + 1e-12));
        if (n == (int)(group * group))
            assert_near(r.totals.elapsed_s, wanted, 1e-12);
        assert_near(r.totals.bytes, times * (n * (8 * d + 64) + n * 8 * (d + 1)), 1e-12);
    }
}

static void test_resumes(void **state)
{
    static const char path[] = "test_driver.ck";

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct driven_run whole = run_one(i ? "lbfgs" : "gd", 1, 3, true);
        struct driven_run part = whole;
        part.plan.checkpoint = path;
        part.plan.limits.iterations = 5;
        virtual_comm_run(4, &part.cluster, body, &part);
        part.plan.limits.iterations = 12;
        part.resume = path;
        virtual_comm_run(4, &part.cluster, body, &part);
        assert_memory_equal(whole.w, part.w, sizeof(whole.w));
        assert_near(part.totals.elapsed_s, whole.totals.elapsed_s, 1e-12);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_allreduce),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
