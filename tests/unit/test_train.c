/*
 * Tests training: every algorithm must reach the oracle's optimum on every problem it supports, on
 * any number of ranks, make the oracle's steps, stop at its limits, and report correct trace
 * points. Tests with real data are in test_train_data.c.
 */
#include "train_runs.h"

/* ---- optima --------------------------------------------------------------------------------- */

/* Distance from the least possible objective P*, which is 0.02 to 1.3, that an algorithm must
 * reach, and the number of iterations for this. */
struct promise {
    const char *algorithm;
    /* Distances that must be reached with smooth and with non-smooth losses. */
    double smooth, kinks;
    double iterations;
    double step; /* Step size; 0: the algorithm's default. */
};

static const struct promise promises[] = {
    {"gd", 1e-9, 2e-3, 400, 0},
    {"lbfgs", 1e-10, 2e-3, 300, 0},
    {"sgd", 5e-3, 1e-2, 400, 0.5},
    {"momentum", 1e-3, 1e-2, 300, 0.1},
    {"adam", 1e-3, 1e-2, 400, 0.05},
    {"local-sgd", 3e-2, 3e-2, 400, 0.5},
    {"splash", 2e-2, 3e-2, 400, 0},
    {"cocoa", 1e-9, 1e-7, 1500, 0},
    {"cocoa+", 1e-9, 1e-7, 1500, 0},
    {"mini-sdca", 1e-9, 1e-7, 3000, 0},
    {"gossip-ring", 3e-2, 3e-2, 1500, 0.05},
    {"gossip-exp", 3e-2, 3e-2, 1500, 0.05},
    {"fedavg", 3e-2, 3e-2, 400, 0.5},
};

static const struct promise *promise_of(const char *name)
{
    for (size_t i = 0; i < sizeof(promises) / sizeof(promises[0]); i++)
        if (strcmp(promises[i].algorithm, name) == 0)
            return &promises[i];
    fail_msg("%s promises nothing", name);
    return NULL;
}

/* Checks that the duality gap is at least the suboptimality, and that no objective is below the
 * optimum. */
static void check_certificate(const struct training *t)
{
    for (size_t i = 0; i < t->point_count; i++) {
        const struct hm_trace_point *point = &t->points[i];
        assert_true(point->suboptimality > -1e-14);
        if (!isnan(point->gap))
            assert_true(point->gap >= point->suboptimality - 3e-14);
    }
}

static void check_optimum(const struct hm_algorithm *algorithm, const struct problem *p,
                          size_t loss, int ranks)
{
    static struct training t;
    const struct promise *promise = promise_of(algorithm->name);
    double best = optimum_of(p, loss);
    double enough = loss == 0 ? promise->kinks : promise->smooth;

    t = (struct training){
        .problem = p,
        .loss = loss,
        .sparse = (ranks + (int)loss) % 2,
        .algorithm = algorithm->name,
        .settings = {.step = promise->step},
        .plan = {.eval_every = 10, .limits = {.iterations = promise->iterations, .best = best}}};
    /* If the algorithm has a dual, the duality gap alone must prove that the optimum is reached. */
    if (algorithm->dual)
        t.plan.limits.gap = enough;
    else
        t.plan.limits.suboptimality = enough;
    train_on(&t, ranks);
    check_certificate(&t);
    assert_true(isnan(t.last.gap) == !algorithm->dual);
    if (t.stop == HM_STOP_ITERATIONS || !(t.last.suboptimality <= enough))
        fail_msg("%s, %s %s on %d: %g more than %g (gap %g) after %g", algorithm->name, p->name,
                 loss_names[loss], ranks, t.last.suboptimality, best, t.last.gap, t.iteration);
}

/* Each algorithm runs on one rank and on more; the smallest problems run on more ranks than they
 * have rows. */
static void all_reach_the_optimum(void **state)
{
    static const int more[] = {2, 3, 5};

    (void)state;
    for (size_t a = 0; hm__algorithms[a]; a++)
        for (size_t at = 0; at < PROBLEMS * LOSSES; at++) {
            const struct problem *p = &problems[at % PROBLEMS];
            size_t loss = at / PROBLEMS;
            if (!supports(hm__algorithms[a], loss))
                continue;
            check_optimum(hm__algorithms[a], p, loss, 1);
            check_optimum(hm__algorithms[a], p, loss, p->rows > 12 ? more[(a + at) % 3] : 13);
        }
}

static void every_algorithm_is_tested(void **state)
{
    size_t count = 0;

    (void)state;
    for (; hm__algorithms[count]; count++) {
        assert_ptr_equal(hm__algorithm_find(hm__algorithms[count]->name), hm__algorithms[count]);
        assert_true(strlen(hm__algorithms[count]->title) > 0);
        promise_of(hm__algorithms[count]->name);
    }
    assert_int_equal(count, sizeof(promises) / sizeof(promises[0]));
    assert_null(hm__algorithm_find("newton"));
}

/* Steps that never increase the objective would end at a kink, 0.0003, 0.0034 and 0.0032 above the
 * optimum. */
static void gradient_descent_gets_past_kinks(void **state)
{
    static const double wanted[] = {1e-4, 4e-4, 1e-5, 6e-4};
    static struct training t;

    (void)state;
    for (size_t at = 0; at < PROBLEMS; at++) {
        t = (struct training){
            .problem = &problems[at],
            .algorithm = "gd",
            .plan = {.limits = {.iterations = 2000, .best = optimum_of(&problems[at], 0)}}};
        train_on(&t, 1);
        assert_true(t.last.suboptimality < wanted[at]);
        assert_true(t.last.epoch < 4 * 2000);
    }
}

/*
 * At the exact optimum of (w^2 + (w - 1)^2)/2, w = 1/2, L-BFGS must keep its pairs and make no line
 * search.
 */
static void lbfgs_rests_at_an_exact_optimum(void **state)
{
    double x = 1, y = 1;
    struct hm_objective o = {.rows = {.count = 1, .features = 1, .values = &x, .labels = &y},
                             .total_rows = 1,
                             .lambda = 1,
                             .arena = hm__arena_new()};
    struct hm_comm comm;
    struct hm_run run = {.algorithm = hm__algorithm_find("lbfgs"),
                         .comm = &comm,
                         .objective = &o,
                         .settings = {.memory = 1},
                         .arena = o.arena};

    (void)state;
    hm__comm_alone(&comm);
    hm__linear_init(&o, &hm__loss_squares);
    assert_int_equal(hm__run_begin(&run, NULL), 0);
    for (; run.iteration < 10; run.iteration++)
        run.algorithm->step(&run);
    assert_near(run.w[0], 0.5, 0);
    assert_true(run.samples <= 2 + 10);
    hm__arena_free(o.arena);
}

/* Skipping rows changes the iterates, not the optimum. */
static void shrinking_ends_at_the_same_optimum(void **state)
{
    static const char *const algorithms[] = {"cocoa", "cocoa+"};
    static struct training t;

    (void)state;
    for (size_t at = 0; at < 3 * 2 * 2; at++) {
        const struct problem *p = &problems[at % 2];
        size_t loss = at / 4;
        t = (struct training){
            .problem = p,
            .loss = loss,
            .sparse = true,
            .algorithm = algorithms[at / 2 % 2],
            .settings = {.shrink = true, .passes = 5},
            .plan = {.eval_every = 10,
                     .limits = {.iterations = 1000, .gap = 1e-9, .best = optimum_of(p, loss)}}};
        train_on(&t, 3);
        check_certificate(&t);
        assert_int_equal(t.stop, HM_STOP_GAP);
    }
}

/* ---- iterates ------------------------------------------------------------------------------- */

/* Checks one line of the oracle's table; lines of federated averaging end with further settings. */
static void check_steps(const char *line)
{
    static struct training t;
    char problem[16], loss[16], algorithm[16];
    double iterations, step, batch, passes, norm, along, norm2 = 0, sum = 0;
    double clients = 0, fraction = 0, uneven = 0;
    int ranks;

    int read = sscanf(line, "steps %15s %15s %15s %d %lf %lf %lf %lf %lf %lf %lf %lf %lf", problem,
                      loss, algorithm, &ranks, &iterations, &step, &batch, &passes, &norm, &along,
                      &clients, &fraction, &uneven);
    assert_int_equal(read, strcmp(algorithm, "fedavg") == 0 ? 13 : 10);
    const struct problem *p = problem_named(problem);
    for (int sparse = 0; sparse < 2; sparse++) {
        t = (struct training){.problem = p,
                              .loss = loss_named(loss),
                              .sparse = sparse,
                              .algorithm = algorithm,
                              .settings = {.step = step,
                                           .batch = batch,
                                           .passes = passes,
                                           .clients = clients,
                                           .fraction = fraction,
                                           .uneven = uneven},
                              .plan = {.limits = {.iterations = iterations, .best = NAN}}};
        train_on(&t, ranks);
        norm2 = sum = 0;
        for (size_t k = 0; k < t.unknowns; k++) {
            norm2 += t.w[0][k] * t.w[0][k];
            sum += t.w[0][k] * made_value(p->seed + 10, k, 0);
        }
        if (!(fabs(sqrt(norm2) - norm) < 1e-11 * norm) || !(fabs(sum - along) < 1e-11 * norm))
            fail_msg("%s: |w| is %.17g, along %.17g", line, sqrt(norm2), sum);
        assert_true(isnan(t.last.suboptimality));
    }
}

static void the_first_steps_are_the_oracles(void **state)
{
    FILE *table = open_source("tests/data/train.tsv");
    char line[512];
    int count = 0;

    (void)state;
    while (next_line(table, line, sizeof(line)))
        if (strncmp(line, "steps ", 6) == 0) {
            check_steps(line);
            count++;
        }
    fclose(table);
    assert_true(count > 100);
}

/* Settings with which each algorithm except gd and lbfgs uses random numbers. */
static struct training random_run(const struct hm_algorithm *algorithm, uint64_t seed)
{
    return (struct training){.problem = &problems[1],
                             .loss = 1,
                             .sparse = true,
                             .algorithm = algorithm->name,
                             .settings = {.batch = 10, .passes = 2, .seed = seed},
                             .plan = {.limits = {.iterations = 7, .best = NAN}}};
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    static struct training a, b, c;

    (void)state;
    for (size_t i = 0; hm__algorithms[i]; i++) {
        bool full = strcmp(hm__algorithms[i]->name, "gd") == 0 ||
                    strcmp(hm__algorithms[i]->name, "lbfgs") == 0;
        a = b = random_run(hm__algorithms[i], 3);
        c = random_run(hm__algorithms[i], UINT64_C(3) << 40);
        train_on(&a, 3);
        train_on(&b, 3);
        train_on(&c, 3);
        assert_memory_equal(a.w[0], b.w[0], a.unknowns * sizeof(double));
        assert_memory_equal(a.state, b.state, a.state_count * sizeof(double));
        assert_true(a.totals.elapsed_s == b.totals.elapsed_s);
        assert_int_equal(memcmp(a.w[0], c.w[0], a.unknowns * sizeof(double)) == 0, full);
    }
}

/* With every all-reduce scheme, all ranks must have the same weights w, close to those of the other
 * schemes. */
static void every_scheme_gives_the_same_result(void **state)
{
    static struct training t, first;

    (void)state;
    for (size_t i = 0; hm__algorithms[i]; i++)
        for (int scheme = 0; scheme < HM_REDUCE_SCHEMES; scheme++) {
            t = random_run(hm__algorithms[i], 3);
            t.scheme = (enum hm_reduce_scheme)scheme;
            train_on(&t, 5); /* train_on also checks that w is the same on all ranks. */
            if (scheme == 0)
                first = t;
            for (size_t k = 0; k < t.unknowns; k++)
                assert_true(fabs(t.w[0][k] - first.w[0][k]) < 1e-12);
        }
}

/* ---- stopping -------------------------------------------------------------------------------- */

static struct training plain_run(const char *algorithm, size_t loss)
{
    return (struct training){.problem = &problems[0],
                             .loss = loss,
                             .algorithm = algorithm,
                             .plan = {.eval_every = 1, .limits = {.best = NAN}}};
}

static void evaluations_come_at_their_iterations(void **state)
{
    static struct training t;
    static const double wanted[] = {7, 14, 20};

    (void)state;
    t = plain_run("cocoa", 0);
    t.plan.eval_every = 7;
    t.plan.limits.iterations = 20;
    train_on(&t, 2);
    assert_int_equal(t.stop, HM_STOP_ITERATIONS);
    assert_string_equal(hm__stop_name(t.stop), "iterations");
    assert_int_equal(t.point_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_near(t.points[i].iteration, wanted[i], 0);
    assert_memory_equal(&t.last, &t.points[2], sizeof(t.last));
    double seconds = 7 * t.points[0].seconds + 7 * t.points[1].seconds + 6 * t.points[2].seconds;
    assert_near(seconds, t.totals.elapsed_s, 1e-15);
    assert_near(t.points[2].elapsed_s, t.totals.elapsed_s, 0);
    double bytes = 7 * t.points[0].bytes + 7 * t.points[1].bytes + 6 * t.points[2].bytes;
    assert_near(bytes, t.totals.bytes, 1e-15);
}

static void the_time_limit_ends_a_run(void **state)
{
    static struct training t;

    (void)state;
    /* With the largest `every`, there is no evaluation before the end. */
    for (double every = 1; every < 1e9; every *= 40) {
        t = plain_run("sgd", 1);
        t.plan.limits.iterations = 10;
        train_on(&t, 2);
        /* All iterations take the same time, since no row is sparse. */
        double each = t.totals.elapsed_s / 10;
        t = plain_run("sgd", 1);
        t.plan.limits.within_s = 5.5 * each;
        t.plan.eval_every = every;
        train_on(&t, 2);
        assert_int_equal(t.stop, HM_STOP_WITHIN);
        assert_string_equal(hm__stop_name(t.stop), "within");
        assert_near(t.iteration, 6, 0);
        assert_near(t.totals.elapsed_s, 6 * each, 1e-12);
    }
    t.plan.limits.iterations = 3; /* The limit that is reached first counts. */
    train_on(&t, 2);
    assert_int_equal(t.stop, HM_STOP_ITERATIONS);
    assert_near(t.iteration, 3, 0);
    /* At least one iteration is made, however short the time limit is. */
    t.plan.limits.within_s = 1e-9;
    train_on(&t, 2);
    assert_int_equal(t.stop, HM_STOP_WITHIN);
    assert_near(t.iteration, 1, 0);
}

static void the_gap_limit_ends_a_run(void **state)
{
    static struct training t;

    (void)state;
    t = plain_run("cocoa+", 1);
    t.plan.limits.gap = 1e-5;
    train_on(&t, 3);
    assert_int_equal(t.stop, HM_STOP_GAP);
    assert_true(t.last.gap <= 1e-5 && t.points[t.point_count - 2].gap > 1e-5);

    t = plain_run("lbfgs", 1);
    t.plan.limits.best = optimum_of(t.problem, 1);
    t.plan.limits.suboptimality = 1e-6;
    train_on(&t, 3);
    assert_int_equal(t.stop, HM_STOP_SUBOPTIMALITY);
    assert_near(t.last.suboptimality, t.last.objective - t.plan.limits.best, 0);
    assert_true(t.last.suboptimality <= 1e-6 && t.points[t.point_count - 2].suboptimality > 1e-6);

    t.plan.limits.best = NAN; /* Without a known optimum, a run cannot stop for suboptimality. */
    t.plan.limits.gap = 1;    /* L-BFGS has no duality gap. */
    t.plan.limits.iterations = 10;
    train_on(&t, 3);
    assert_int_equal(t.stop, HM_STOP_ITERATIONS);

    t.plan.limits.iterations = 1000; /* The run converges, however rare the evaluations are. */
    for (double every = 1; every < 3000; every += 1001) {
        t.plan.eval_every = every;
        train_on(&t, 3);
        assert_int_equal(t.stop, HM_STOP_SETTLED);
        assert_true(t.iteration < 50 && t.last.epoch < 300);
        assert_near(t.last.objective, optimum_of(t.problem, 1), 1e-15 * 4);
    }
}

static void nan_counts_as_diverged(void **state)
{
    static const char *const algorithms[] = {"sgd", "momentum"};
    static struct training t;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        t = plain_run(algorithms[i], 2);
        t.settings.step = 1e300;
        t.plan.limits.iterations = 1000;
        t.plan.limits.gap = 1;
        train_on(&t, 2);
        assert_int_equal(t.stop, HM_STOP_DIVERGED);
        assert_true(!isfinite(t.last.objective));
        assert_true(t.iteration < 200);
    }
    /* Implicit steps never overshoot, so the run does not diverge. */
    t = plain_run("local-sgd", 2);
    t.settings.step = 1e6;
    t.plan.limits.iterations = 100;
    train_on(&t, 2);
    assert_int_equal(t.stop, HM_STOP_ITERATIONS);
    assert_true(t.last.objective < 10);
}

/* ---- trace points --------------------------------------------------------------------------- */

/* Returns the bytes that all ranks send in one all-reduce. */
static double bytes_of(enum hm_reduce_scheme scheme, double n, double count)
{
    double bytes = count * sizeof(double), power = exp2(floor(log2(n)));

    if (scheme == HM_REDUCE_DOUBLING)
        return bytes * (power * log2(power) + 2 * (n - power));
    return 2 * (n - 1) * bytes; /* For the ring, this is the sum over all chunks. */
}

static void bytes_are_those_of_the_scheme(void **state)
{
    static const struct {
        const char *algorithm;
        double more; /* Number of doubles that are sent in addition to those of w. */
    } sums[] = {{"cocoa", 0}, {"cocoa+", 0},   {"local-sgd", 0}, {"splash", 0}, {"sgd", 1},
                {"adam", 1},  {"momentum", 1}, {"mini-sdca", 1}, {"fedavg", 1}};
    static struct training t;

    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        for (int scheme = HM_REDUCE_LIBRARY; scheme < HM_REDUCE_SCHEMES; scheme++)
            for (int n = 1; n <= 6; n++) {
                t = plain_run(sums[i].algorithm, 0);
                t.scheme = (enum hm_reduce_scheme)scheme;
                t.plan.limits.iterations = 2;
                train_on(&t, n);
                double count = (double)t.problem->features + sums[i].more;
                assert_near(t.last.bytes, n == 1 ? 0 : bytes_of(t.scheme, n, count), 1e-14);
                assert_true(t.last.flop > 2 * (double)t.problem->features);
                assert_near(t.totals.bytes, 2 * t.last.bytes, 1e-15);
            }
}

/*
 * A rank of a ring sends to two neighbours, one after the other, and a rank of an exponential graph
 * to one. All ranks have one row in each mini-batch, so that no rank waits for another.
 */
static void gossip_sends_one_or_two_messages(void **state)
{
    static struct training t;

    (void)state;
    for (int ring = 0; ring < 2; ring++)
        for (int ranks = 1; ranks <= 12; ranks++) {
            double messages = ranks == 1 ? 0 : ring && ranks > 2 ? 2 : 1;
            t = plain_run(ring ? "gossip-ring" : "gossip-exp", 2);
            t.settings.batch = ranks;
            t.plan.limits.iterations = 4;
            train_on(&t, ranks);
            double bytes = (double)t.unknowns * sizeof(double);
            assert_near(t.last.bytes, ranks * messages * bytes, 0);
            assert_near(t.last.communicate_s, messages * (FAKE_LATENCY_S + bytes * FAKE_BYTE_S),
                        1e-9);
        }
}

static void points_have_times_work_and_accuracy(void **state)
{
    static struct training t;

    (void)state;
    for (size_t i = 0; hm__algorithms[i]; i++) {
        t = random_run(hm__algorithms[i], 1);
        t.sparse = false;
        t.test = true;
        t.plan.eval_every = 1;
        train_on(&t, 3);
        assert_int_equal(t.point_count, 7);
        for (size_t k = 0; k < 7; k++) {
            const struct hm_trace_point *point = &t.points[k];
            assert_true(point->seconds > 0 && point->compute_s > 0 && point->communicate_s > 0);
            assert_near(point->compute_s + point->communicate_s, point->seconds, 1e-14);
            assert_true(point->epoch > (k ? t.points[k - 1].epoch : 0));
            assert_true(point->elapsed_s > (k ? t.points[k - 1].elapsed_s : 0));
            assert_true(point->flop > 0 && point->bytes > 0 && point->samples_per_s > 0);
            assert_true(point->accuracy > 0 && point->accuracy <= 1);
        }
        assert_near(t.last.epoch * (double)t.problem->rows, t.samples, 1e-15);
    }
    t = plain_run("cocoa", 0);
    t.settings.passes = 3;
    t.plan.limits.iterations = 2;
    train_on(&t, 2);
    assert_near(t.last.epoch, 6, 0);
    assert_true(isnan(t.last.accuracy));
    t = plain_run("gd", 2);
    t.plan.limits.iterations = 5;
    t.test = true;
    /* For least squares, the test error is the mean squared error, which is twice the loss. */
    train_on(&t, 3);
    double norm2 = 0;
    for (size_t k = 0; k < t.unknowns; k++)
        norm2 += t.w[0][k] * t.w[0][k];
    assert_near(t.last.test_error / 2 + t.problem->lambda / 2 * norm2, t.last.objective, 1e-13);
}

/* The batches of all ranks together have the requested number of rows, and contain each row once in
 * an epoch. */
static void batches_have_their_size(void **state)
{
    static struct training t;

    (void)state;
    for (size_t at = 0; at < PROBLEMS; at++)
        for (int n = 1; n <= 17; n += 4)
            for (double batch = 1; batch < 100; batch = 2 * batch + 1) {
                double rows = (double)problems[at].rows, per = ceil(rows / batch), before = 0;
                t = plain_run("sgd", 1);
                t.problem = &problems[at];
                t.settings.batch = batch;
                t.plan.limits.iterations = fmin(2 * per, 40);
                train_on(&t, n);
                for (size_t k = 0; k < t.point_count; k++) {
                    double size = t.points[k].epoch * rows - before;
                    before += size;
                    assert_true(fabs(size - rows / per) < 2.001);
                    assert_true(n > 1 || fabs(size - rows / per) < 1);
                    if (fmod(t.points[k].iteration, per) == 0)
                        assert_near(t.points[k].epoch, t.points[k].iteration / per, 1e-15);
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_algorithm_is_tested),
        cmocka_unit_test(all_reach_the_optimum),
        cmocka_unit_test(gradient_descent_gets_past_kinks),
        cmocka_unit_test(lbfgs_rests_at_an_exact_optimum),
        cmocka_unit_test(shrinking_ends_at_the_same_optimum),
        cmocka_unit_test(the_first_steps_are_the_oracles),
        cmocka_unit_test(the_same_seed_gives_the_same_bits),
        cmocka_unit_test(every_scheme_gives_the_same_result),
        cmocka_unit_test(evaluations_come_at_their_iterations),
        cmocka_unit_test(the_time_limit_ends_a_run),
        cmocka_unit_test(the_gap_limit_ends_a_run),
        cmocka_unit_test(nan_counts_as_diverged),
        cmocka_unit_test(bytes_are_those_of_the_scheme),
        cmocka_unit_test(gossip_sends_one_or_two_messages),
        cmocka_unit_test(points_have_times_work_and_accuracy),
        cmocka_unit_test(batches_have_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
