/*
 * Tests advice on traces with a known loss curve g and known times f. It is compared with trying
 * every algorithm on every number of workers m: the best candidate, its iterations and times,
 * limits, cost, the leading candidate at each loss, and the next run.
 */
#include "made_traces.h"

/* ---- a problem with exact solutions -----------------------------------------------------------
 *
 * The algorithm "rate" needs few iterations that take long; "power" needs many short ones.
 */

static double rate(double i, double m)
{
    return 0.5 * pow(1 - 0.3 / pow(m, 0.5), i);
}

static double power(double i, double m)
{
    return 0.4 * pow(m, 0.2) * pow(i, -1.6);
}

static double rate_pace(double m)
{
    return 0.8 / m + 0.02 + 0.01 * log(m);
}

static double power_pace(double m)
{
    return 0.1 / m + 0.001 + 0.002 * log(m);
}

enum { ALGORITHMS = 2, POINTS = 60 };

struct exact {
    const char *name;
    double (*g)(double i, double m);
    double (*f)(double m);
};

static const struct exact problem[ALGORITHMS] = {{"rate", rate, rate_pace},
                                                 {"power", power, power_pace}};

/*
 * Traces of all algorithms, and the convergence that is fitted to them. The optimal loss P* is 1.
 */
struct advise_world {
    struct made made;
    struct hm_convergence *convergence;
};

static void make_world(struct advise_world *w, double noise)
{
    struct hm_random random;

    made_init(&w->made);
    hm__random_init(&random, 5, 0);
    for (size_t a = 0; a < ALGORITHMS; a++)
        made_algorithm(&w->made, problem[a].name, made_ms, MADE_MS, POINTS, 1, problem[a].g, noise,
                       &random);
    for (size_t k = 0; k < w->made.traces.count; k++)
        made_time(&w->made.list[k], problem[k / MADE_MS].f(w->made.list[k].m));
    w->convergence = made_fit(&w->made, 1);
}

static void free_world(struct advise_world *w)
{
    hm_convergence_free(w->convergence);
    made_release(&w->made);
}

static struct hm_advice *advise(const struct hm_convergence *c, const struct hm_advise_question *q)
{
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};

    if (hm_advise(c, NULL, 0, q, &advice, &err))
        fail_msg("%s", err.message);
    return advice;
}

/* The true number of iterations and the true time of an algorithm on m workers. */
struct advise_truth {
    const struct exact *algorithm;
    double m, iterations, time_s, loss;
};

static struct advise_truth to_loss(const struct exact *e, double m, double loss)
{
    double i = 1;

    while (e->g(i, m) > loss)
        i++;
    return (struct advise_truth){e, m, i, i * e->f(m), loss};
}

static struct advise_truth in_time(const struct exact *e, double m, double time_s)
{
    double i = floor(time_s / e->f(m) + 1e-9);

    return (struct advise_truth){e, m, i, i * e->f(m), i > 0 ? e->g(i, m) : INFINITY};
}

static const struct exact *find_exact(const char *name)
{
    for (size_t a = 0; a < ALGORITHMS; a++)
        if (strcmp(problem[a].name, name) == 0)
            return &problem[a];
    fail_msg("no %s", name);
    return NULL;
}

/* ---- questions with a target loss -------------------------------------------------------------
 */

static void assert_probabilities(const struct hm_advice *advice)
{
    double sum = 0;

    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        assert_true(c->probability >= 0 && c->probability <= 1 + 1e-12);
        assert_true(c->reaches >= 0 && c->reaches <= 1 + 1e-12);
        sum += c->probability;
    }
    assert_near(sum, 1, 1e-12);
    assert_near(advice->right, fmin(advice->candidates[0].probability, 0.99), 1e-15);
    assert_true(advice->near >= advice->right - 1e-12);
    assert_true(advice->right_algorithm >= advice->right - 1e-12);
}

/*
 * Compares every candidate with the truth. Paths are interpolated linearly in ln i between points
 * of the grid, which may change a result by one iteration. Beyond the 60 points of a trace the
 * fitted g is used, which is accurate to about 1e-3.
 */
static void assert_candidates(const struct hm_advice *advice, double loss)
{
    double best = INFINITY;

    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        struct advise_truth t = to_loss(find_exact(c->algorithm), c->m, loss);
        double slack = t.iterations <= 24 ? 0 : 1 + 2e-3 * t.iterations;
        if (isnan(c->iterations)) { /* The grid ends at 8 times the longest trace. */
            assert_true(t.iterations > 0.99 * 8 * POINTS);
            continue;
        }
        if (!(fabs(c->iterations - t.iterations) <= slack))
            fail_msg("%s on %g: %g iterations, not %g", c->algorithm, c->m, c->iterations,
                     t.iterations);
        assert_near(c->iteration_s, t.algorithm->f(c->m), 1e-9);
        assert_near(c->time_s, c->iterations * c->iteration_s, 1e-9);
        best = fmin(best, t.time_s);
    }
    const struct hm_candidate *first = &advice->candidates[0];
    struct advise_truth t = to_loss(find_exact(first->algorithm), first->m, loss);
    assert_near(t.time_s, best, 0.01);
    assert_int_equal(first->why, HM_WHY_BEST);
}

static void the_first_candidate_is_the_best(void **state)
{
    const double losses[] = {0.09, 0.033, 0.01, 3e-3, 1e-3, 3e-4, 1e-4};
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    for (size_t k = 0; k < sizeof(losses) / sizeof(losses[0]); k++) {
        struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
        q.loss = losses[k];
        struct hm_advice *advice = advise(w.convergence, &q);
        assert_int_equal(advice->candidate_count, ALGORITHMS * MADE_MS);
        assert_true(advice->feasible);
        assert_candidates(advice, losses[k]);
        assert_probabilities(advice);
        hm_advice_free(advice);
    }
    free_world(&w);
}

/* The answer must be the same whether the target is given as a loss or as a distance from P*. */
static void a_loss_can_be_given_with_or_without_p_star(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 0.0625;
    struct hm_advice *a = advise(w.convergence, &q);
    q.loss = 0;
    q.reach = 1.0625;
    struct hm_advice *b = advise(w.convergence, &q);
    assert_string_equal(a->candidates[0].algorithm, b->candidates[0].algorithm);
    assert_true(a->candidates[0].m == b->candidates[0].m);
    assert_true(a->candidates[0].time_s == b->candidates[0].time_s);
    assert_true(b->loss == 0.0625);
    hm_advice_free(a);
    hm_advice_free(b);
    free_world(&w);
}

/* For numbers of workers m without runs, the seconds f come from fitted terms and the loss from the
 * curve g. */
static void unmeasured_m_are_predicted(void **state)
{
    const double ms[] = {3, 6, 12, 24, 48, 100};
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 0.01;
    q.m = ms;
    q.m_count = 6;
    struct hm_advice *advice = advise(w.convergence, &q);
    assert_int_equal(advice->candidate_count, ALGORITHMS * 6);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        struct advise_truth t = to_loss(find_exact(c->algorithm), c->m, 0.01);
        assert_false(c->measured);
        assert_near(c->iterations, t.iterations, 0.05);
        assert_near(c->iteration_s, t.algorithm->f(c->m), 0.02);
        assert_near(c->beyond_m, c->m > 64 ? c->m / 64 : 1, 1e-12);
    }
    hm_advice_free(advice);
    free_world(&w);
}

/* ---- limits and cost ------------------------------------------------------------------------- */

static void the_first_candidate_is_the_cheapest(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    double best = INFINITY;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 3e-3;
    q.goal = HM_GOAL_COST;
    q.price_per_s = 0.25;
    struct hm_advice *advice = advise(w.convergence, &q);
    for (size_t a = 0; a < ALGORITHMS; a++)
        for (size_t k = 0; k < MADE_MS; k++)
            best = fmin(best, to_loss(&problem[a], made_ms[k], 3e-3).time_s * made_ms[k] * 0.25);
    assert_near(advice->candidates[0].cost, best, 0.02);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        assert_near(c->cost, c->time_s * c->m * 0.25, 1e-12);
        assert_true(k == 0 || c->cost >= advice->candidates[k - 1].cost * (1 - 1e-9) ||
                    isnan(c->cost));
        if (k > 0 && c->time_s <= advice->candidates[0].time_s)
            assert_int_equal(c->why, HM_WHY_PRICE);
    }
    assert_probabilities(advice);
    hm_advice_free(advice);
    free_world(&w);
}

/* Compares the smallest loss within a time, within a budget, and within both with a brute-force
 * search. */
static void assert_spent(const struct advise_world *w, double within_s, double budget)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    double best = INFINITY;

    q.within_s = within_s;
    q.budget = budget;
    q.price_per_s = 0.5;
    struct hm_advice *advice = advise(w->convergence, &q);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        double time = within_s > 0 ? within_s : INFINITY;
        if (budget > 0)
            time = fmin(time, budget / (c->m * 0.5));
        struct advise_truth t = in_time(find_exact(c->algorithm), c->m, time);
        best = fmin(best, t.loss);
        if (t.iterations == 0 || t.iterations > 8 * POINTS)
            continue;
        assert_near(c->iterations, t.iterations, 1e-12);
        assert_near(c->loss, t.loss, t.iterations > 24 ? 0.01 : 1e-4);
        assert_true(c->time_s <= time * (1 + 1e-9));
    }
    assert_true(advice->feasible);
    assert_near(advice->candidates[0].loss, best, 0.01);
    assert_true(isnan(advice->loss));
    for (size_t k = 1; k < advice->candidate_count; k++)
        assert_int_equal(advice->candidates[k].why, HM_WHY_LOSS);
    assert_probabilities(advice);
    hm_advice_free(advice);
}

static void the_least_loss_within_limits_is_found(void **state)
{
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    assert_spent(&w, 1, 0);
    assert_spent(&w, 0.2, 0);
    assert_spent(&w, 0, 2);
    assert_spent(&w, 1.5, 3);
    free_world(&w);
}

/* If there are a target loss and a limit, candidates over the limit are ranked after those within
 * it. */
static void candidates_over_a_limit_come_last(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    const double loss = 3e-3;
    bool late = false;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = loss;
    q.within_s = 0.9;
    struct hm_advice *advice = advise(w.convergence, &q);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        struct advise_truth t = to_loss(find_exact(c->algorithm), c->m, loss);
        if (fabs(t.time_s - 0.9) < 0.03)
            /* This candidate is skipped, because rounding changes its result by one iteration. */
            continue;
        assert_near(c->reaches, t.time_s <= 0.9, 1e-12);
        if (t.time_s > 0.9)
            assert_true(c->why == HM_WHY_LIMIT || c->why == HM_WHY_NEVER);
        late = late || t.time_s > 0.9;
    }
    assert_true(late && advice->feasible);
    hm_advice_free(advice);
    q.within_s = 1e-3;
    advice = advise(w.convergence, &q);
    assert_false(advice->feasible);
    assert_near(advice->candidates[0].reaches, 0, 0);
    hm_advice_free(advice);
    free_world(&w);
}

/* The stated reason of each other candidate must agree with the true times, if these are clearly
 * different. */
static void reasons_agree_with_the_truth(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 0.01;
    struct hm_advice *advice = advise(w.convergence, &q);
    const struct hm_candidate *first = &advice->candidates[0];
    struct advise_truth best = to_loss(find_exact(first->algorithm), first->m, 0.01);
    for (size_t k = 1; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        struct advise_truth t = to_loss(find_exact(c->algorithm), c->m, 0.01);
        bool slow = t.algorithm->f(c->m) > 1.05 * best.algorithm->f(first->m);
        bool many = t.iterations > 1.05 * best.iterations;
        if (c->reaches < 0.5)
            assert_int_equal(c->why, HM_WHY_NEVER);
        else if (slow && many)
            assert_int_equal(c->why, HM_WHY_BOTH);
        else if (many && t.algorithm->f(c->m) < best.algorithm->f(first->m))
            assert_int_equal(c->why, HM_WHY_ITERATIONS);
        else if (slow && t.iterations <= best.iterations)
            assert_int_equal(c->why, HM_WHY_ITERATION);
    }
    hm_advice_free(advice);
    free_world(&w);
}

/* ---- leading candidates and the next run ----------------------------------------------------- */

/* Returns the time of an algorithm on m workers to a loss, relative to the least time of all
 * candidates. */
static double behind(const char *algorithm, double m, double loss)
{
    double best = INFINITY;

    for (size_t a = 0; a < ALGORITHMS; a++)
        for (size_t k = 0; k < MADE_MS; k++)
            best = fmin(best, to_loss(&problem[a], made_ms[k], loss).time_s);
    return to_loss(find_exact(algorithm), m, loss).time_s / best;
}

/* The leading algorithm is determined at 25 losses, here 0.38 apart in the logarithm, so the losses
 * at which it changes have an error of half of that. */
static void leads_change_where_the_curves_cross(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    double above = INFINITY;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 1e-4;
    struct hm_advice *advice = advise(w.convergence, &q);
    assert_true(advice->lead_count >= 3);
    assert_true(isinf(advice->leads[0].from));
    for (size_t l = 0; l < advice->lead_count; l++) {
        const struct hm_lead *lead = &advice->leads[l];
        double high = log(fmin(lead->from, 0.95)), low = log(lead->to), least = INFINITY;
        for (double y = high; y >= low; y -= 0.02) {
            double by = behind(lead->algorithm, lead->m, exp(y));
            least = fmin(least, by);
            if (y < high - 0.19 && y > low + 0.19 && by > (exp(y) > 0.1 ? 1.35 : 1.1))
                fail_msg("%s on %g is %g behind at %g", lead->algorithm, lead->m, by, exp(y));
        }
        if (least > 1.01)
            fail_msg("%s on %g is %g behind", lead->algorithm, lead->m, least);
        assert_true(lead->from == above && lead->to < lead->from);
        above = lead->to;
    }
    assert_near(above, 1e-4, 1e-9);
    assert_string_equal(advice->leads[advice->lead_count - 1].algorithm,
                        advice->candidates[0].algorithm);
    hm_advice_free(advice);
    free_world(&w);
}

static void no_run_helps_where_all_is_certain(void **state)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct advise_world w;

    (void)state;
    make_world(&w, 0);
    q.loss = 0.01;
    struct hm_advice *advice = advise(w.convergence, &q);
    assert_null(advice->next.algorithm);
    /* 0.99 is the largest probability that an answer states. */
    assert_near(advice->right, 0.99, 0);
    assert_near(advice->near, 0.99, 0);
    hm_advice_free(advice);
    free_world(&w);
}

/* With noise and unmeasured m, the proposed next run is a candidate that may be the best. */
static void the_next_run_may_be_the_best(void **state)
{
    const double ms[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 128, 256};
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    bool found = false;
    struct advise_world w;

    (void)state;
    make_world(&w, 0.25);
    q.loss = 3e-3;
    q.m = ms;
    q.m_count = sizeof(ms) / sizeof(ms[0]);
    struct hm_advice *advice = advise(w.convergence, &q);
    assert_non_null(advice->next.algorithm);
    assert_true(advice->next.saves > 0.01 * advice->candidates[0].time_s * 0.9);
    assert_probabilities(advice);
    for (size_t k = 0; k < advice->candidate_count; k++) {
        const struct hm_candidate *c = &advice->candidates[k];
        if (strcmp(c->algorithm, advice->next.algorithm) != 0 || c->m != advice->next.m)
            continue;
        found = true;
        assert_true(c->low_s < c->high_s);
        assert_true(c->low_s < advice->candidates[0].time_s);
    }
    assert_true(found);
    hm_advice_free(advice);
    free_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_candidate_is_the_best),
        cmocka_unit_test(a_loss_can_be_given_with_or_without_p_star),
        cmocka_unit_test(unmeasured_m_are_predicted),
        cmocka_unit_test(the_first_candidate_is_the_cheapest),
        cmocka_unit_test(the_least_loss_within_limits_is_found),
        cmocka_unit_test(candidates_over_a_limit_come_last),
        cmocka_unit_test(reasons_agree_with_the_truth),
        cmocka_unit_test(leads_change_where_the_curves_cross),
        cmocka_unit_test(no_run_helps_where_all_is_certain),
        cmocka_unit_test(the_next_run_may_be_the_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
