/*
 * Tests the spread of iterations, and candidates with stale or dropped gradients: percentiles and
 * deviations of known times, the probability of a deadline compared with the normal distribution,
 * and times of stale runs and of backup workers with a known cost.
 */
#include "made_traces.h"

#include "converge.h"

enum { POINTS = 60 };

static double rate(double i, double m)
{
    (void)m;
    return exp(-0.2 * i);
}

/* Adds a trace that needs `cost` times the iterations, whose iterations take `seconds`. */
static struct hm_trace *add(struct made *made, double m, double cost, double seconds)
{
    struct hm_trace *t = made_add(made, "sgd", m, POINTS);

    t->best = 0;
    for (size_t p = 0; p < POINTS; p++)
        t->loss[p] = rate(t->iteration[p] / cost, m);
    made_time(t, seconds);
    return t;
}

static struct hm_paces *paces_of(const struct made *made)
{
    struct hm_paces *paces = NULL;
    struct hm_err err = {0};

    if (hm_paces_from_traces(&made->traces, &paces, &err))
        fail_msg("%s", err.message);
    return paces;
}

static void percentiles_of_known_times(void **state)
{
    static struct made made;
    double elapsed = 0, squares = 0, mean = (1 + POINTS) / 2.0;

    (void)state;
    made_init(&made);
    struct hm_trace *t = add(&made, 4, 1, 1);
    for (size_t p = 0; p < POINTS; p++) {
        /* The seconds are 1 to POINTS in another order. */
        t->seconds[p] = (double)(1 + (p * 7) % POINTS);
        t->elapsed_s[p] = elapsed += t->seconds[p];
        squares += pow(t->seconds[p] / mean - 1, 2);
    }
    struct hm_paces *paces = paces_of(&made);
    const struct hm_pace *pace = &paces->paces[0];
    assert_near(pace->seconds[0], mean, 1e-12);
    /* The percentile has the rank 0.05 (60 - 1), rounded to 3 and counted from 0. */
    assert_near(pace->low_s[0], 4, 0);
    /* The percentile has the rank 0.95 (60 - 1), rounded to 56. */
    assert_near(pace->high_s[0], 57, 0);
    assert_near(pace->deviation[0], sqrt(squares / (POINTS - 1)), 1e-12);
    struct hm_pace_spread spread = hm__pace_spread(pace, 4);
    assert_near(spread.low, 4 / mean, 1e-12);
    assert_near(spread.high, 57 / mean, 1e-12);
    hm_paces_free(paces);

    /*
     * Means of ten iterations vary less; their deviation is scaled, and they have no percentiles.
     */
    for (size_t p = 0; p < POINTS; p++) {
        t->iteration[p] = 10.0 * (double)(p + 1);
        t->seconds[p] = p % 2 ? 0.9 : 1.1;
        t->elapsed_s[p] = NAN;
    }
    paces = paces_of(&made);
    pace = &paces->paces[0];
    assert_true(isnan(pace->low_s[0]) && isnan(pace->high_s[0]));
    assert_near(pace->deviation[0], 0.1 * sqrt(10.0 * POINTS / (POINTS - 1)), 1e-9);
    hm_paces_free(paces);
    made_release(&made);
}

static struct hm_advice *advise(const struct made *made, const struct hm_advise_question *q)
{
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};
    struct hm_convergence *c = made_fit(made, 0);

    if (hm_advise(c, NULL, 0, q, &advice, &err))
        fail_msg("%s", err.message);
    hm_convergence_free(c);
    return advice;
}

/*
 * The times of single iterations deviate by 40 %, so sixteen iterations together deviate by 10 %. A
 * deadline one deviation after the mean is met with the probability 0.841 of the normal
 * distribution.
 */
static void deadlines_use_the_spread(void **state)
{
    static struct made made;
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;

    (void)state;
    made_init(&made);
    struct hm_trace *t = add(&made, 4, 1, 1);
    for (size_t p = 0; p < POINTS; p++)
        t->seconds[p] = p % 2 ? 0.6 : 1.4;
    q.loss = exp(-0.2 * 16) * 1.001;
    struct hm_advice *advice = advise(&made, &q);
    const struct hm_candidate *c = &advice->candidates[0];
    assert_near(c->iterations, 16, 0);
    assert_near(c->iteration_p5_s, 0.6, 1e-12);
    assert_near(c->iteration_p95_s, 1.4, 1e-12);
    assert_near(c->time_s, 16, 0.03);
    assert_true(c->low_s > 16 * 0.78 && c->low_s < 16 * 0.88);
    assert_true(c->high_s > 16 * 1.12 && c->high_s < 16 * 1.22);
    hm_advice_free(advice);
    q.within_s = 16 * 1.1;
    advice = advise(&made, &q);
    assert_true(fabs(advice->candidates[0].reaches - 0.841) < 0.1);
    hm_advice_free(advice);
    /* Without a target loss, the number of iterations within the time limit varies. */
    q.loss = 0;
    advice = advise(&made, &q);
    assert_true(advice->candidates[0].loss_low < advice->candidates[0].loss_high);
    hm_advice_free(advice);
    made_release(&made);
}

static const struct hm_candidate *find(const struct hm_advice *a, const char *name, double m)
{
    for (size_t k = 0; k < a->candidate_count; k++)
        if (strcmp(a->candidates[k].algorithm, name) == 0 && a->candidates[k].m == m)
            return &a->candidates[k];
    fail_msg("no candidate %s on %g", name, m);
    return NULL;
}

static void make_kinds(struct made *made)
{
    made_init(made);
    for (double m = 2; m <= 8; m *= 2) {
        add(made, m, 1, 1);
        add(made, m, 1.5, 0.5)->staleness = 3;
        add(made, m, 1.5, 0.9)->staleness = 6;
        add(made, m, 2, 0.7)->staleness = INFINITY;
        if (m > 2)
            add(made, m, 1.25, 0.6)->backups = 1;
    }
}

/* The time of a stale run is the number of iterations, including the cost of staleness, times the
 * seconds of an iteration in stale runs. */
static void stale_runs_are_candidates(void **state)
{
    static struct made made;
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;

    (void)state;
    make_kinds(&made);
    q.loss = exp(-0.2 * 20) * 1.001;
    struct hm_advice *a = advise(&made, &q);
    const struct hm_candidate *fresh = find(a, "sgd", 4), *ssp = find(a, "sgd (ssp 3)", 4),
                              *async = find(a, "sgd (async)", 4),
                              *backup = find(a, "sgd (1 backup)", 4);
    assert_int_equal(a->candidate_count, 4 + 3 * 3 + 2);
    assert_near(fresh->time_s, 20, 0.02);
    assert_near(ssp->time_s, 30 * 0.5, 0.04);
    assert_near(async->time_s, 40 * 0.7, 0.04);
    assert_near(backup->time_s, 25 * 0.6, 0.04);
    assert_true(ssp->staleness == 3 && isinf(async->staleness) && backup->backups == 1);
    assert_true(ssp->measured && fresh->staleness == 0 && fresh->backups == 0);
    assert_true(strncmp(a->candidates[0].algorithm, "sgd (", 5) == 0);
    assert_true(a->right_algorithm <= 0.99 && a->right_algorithm >= a->right);
    assert_int_equal(a->note_count, 0);
    hm_advice_free(a);
    made_release(&made);
}

/* If the times of stale runs are unknown, these candidates are left out, and a note says so. */
static void stale_runs_need_times(void **state)
{
    static struct made made;
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;

    (void)state;
    make_kinds(&made);
    for (size_t k = 0; k < made.traces.count; k++)
        if (made.list[k].staleness > 0 || made.list[k].backups > 0)
            made_time(&made.list[k], NAN);
    q.loss = 0.05;
    struct hm_advice *a = advise(&made, &q);
    assert_int_equal(a->candidate_count, 4); /* The candidates have 1 to 8 workers. */
    assert_int_equal(a->note_count, 1);
    assert_string_equal(a->notes[0],
                        "stale runs of sgd are not candidates: their times are not known");
    hm_advice_free(a);
    made_release(&made);
}

/* A schedule of m has synchronous phases only. */
static void schedules_are_synchronous(void **state)
{
    static struct made made;
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;

    (void)state;
    make_kinds(&made);
    q.loss = 0.05;
    q.adaptive = true;
    struct hm_advice *a = advise(&made, &q);
    assert_non_null(a->schedule);
    assert_string_equal(a->schedule->algorithm, "sgd");
    assert_near(a->schedule->fixed_s, find(a, "sgd", 4)->time_s, 0.1);
    hm_advice_free(a);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_known_times), cmocka_unit_test(deadlines_use_the_spread),
        cmocka_unit_test(stale_runs_are_candidates),  cmocka_unit_test(stale_runs_need_times),
        cmocka_unit_test(schedules_are_synchronous),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
