/*
 * Compares schedules that change the number of workers m with trying every change, for an algorithm
 * whose iterations are fast on many workers, but whose loss stays above a floor that grows with
 * their number.
 */
#include "made_traces.h"

enum { POINTS = 60 };

/* Returns the slope a of the loss P - P* = 1 / (a i + b) + floor(m), which the form "inverse" has
 * exactly. */
static double slope_of(double m)
{
    return 2 * pow(m, -0.2);
}

static double floor_of(double m)
{
    return 1e-3 * pow(m, 0.7);
}

static double stalls(double i, double m)
{
    return 1 / (slope_of(m) * i + 2) + floor_of(m);
}

static double pace(double m)
{
    return 1 / m + 0.01;
}

/* Returns the number of iterations to a loss, not rounded; INFINITY below the floor. */
static double crossing(double m, double loss)
{
    return loss > floor_of(m) ? (1 / (loss - floor_of(m)) - 2) / slope_of(m) : INFINITY;
}

static double fixed_time(double m, double loss)
{
    return pace(m) * crossing(m, loss);
}

static double one_switch(double m, double n, double at, double loss, double switch_s)
{
    return pace(m) * crossing(m, at) + switch_s + pace(n) * (crossing(n, loss) - crossing(n, at));
}

static double best_fixed(const double *m, size_t count, double loss)
{
    double best = INFINITY;

    for (size_t k = 0; k < count; k++)
        best = fmin(best, fixed_time(m[k], loss));
    return best;
}

/* Returns the least time with one change, from any m to any other at any loss. */
static double best_switch(const double *m, size_t count, double loss, double switch_s)
{
    double best = INFINITY;

    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < count; k++)
            for (double at = 0.2; at > loss; at *= 0.995)
                if (at > floor_of(m[j]))
                    best = fmin(best, one_switch(m[j], m[k], at, loss, switch_s));
    return best;
}

/* Returns the least time with unlimited free changes, which use the fastest m at every loss. */
static double lower_bound(const double *m, size_t count, double loss)
{
    double sum = 0;

    for (double at = 0.4; at > loss; at *= 0.999) {
        double next = fmax(at * 0.999, loss), least = INFINITY;
        for (size_t k = 0; k < count; k++)
            if (next > floor_of(m[k]))
                least = fmin(least, pace(m[k]) * (fmax(crossing(m[k], next), 0) -
                                                  fmax(crossing(m[k], at), 0)));
        sum += least;
    }
    return sum;
}

static struct hm_advice *advise(const struct made *made, const double *m, size_t count, double loss,
                                double switch_s)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    struct hm_convergence *c = made_fit(made, 1);
    struct hm_advice *advice = NULL;
    struct hm_err err = {0};

    q.loss = loss;
    q.m = m;
    q.m_count = count;
    q.adaptive = true;
    q.switch_s = switch_s;
    if (hm_advise(c, NULL, 0, &q, &advice, &err))
        fail_msg("%s", err.message);
    hm_convergence_free(c);
    assert_non_null(advice->schedule);
    return advice;
}

static void add_stalling(struct made *made, const char *name, double slower)
{
    size_t first = made->traces.count;

    made_algorithm(made, name, made_ms, MADE_MS, POINTS, 1, stalls, 0, NULL);
    for (size_t k = first; k < made->traces.count; k++)
        made_time(&made->list[k], slower * pace(made->list[k].m));
}

/* Checks that the phases are contiguous down to the loss, and that their times add up. */
static void assert_whole(const struct hm_schedule *s, double loss, double switch_s)
{
    double sum = switch_s * (double)(s->phase_count - 1);

    assert_true(s->phase_count >= 1);
    for (size_t f = 0; f < s->phase_count; f++) {
        const struct hm_phase *p = &s->phases[f];
        sum += p->time_s;
        assert_true(p->iterations > 0 && p->time_s > 0 && p->to < p->from);
        assert_near(p->time_s, p->iterations * pace(p->m), 1e-9);
        assert_true(f == 0 ? isinf(p->from) : p->from == s->phases[f - 1].to);
        assert_true(f == 0 || p->m != s->phases[f - 1].m);
    }
    assert_near(s->phases[s->phase_count - 1].to, loss, 1e-9);
    assert_near(s->time_s, sum, 1e-9);
    assert_near(s->gain, 1 - s->time_s / s->fixed_s, 1e-9);
}

/* A loss of 0.025 is above all floors. The tolerance of times follows from the 400 losses at which
 * a change is considered, and from the accuracy of g, 1e-2. */
static void a_change_gains_what_trying_all_gains(void **state)
{
    const double pair[] = {1, 64}, losses[] = {0.025, 0.01, 5e-3}, switches[] = {0, 0.2, 1};
    struct made made;

    (void)state;
    made_init(&made);
    add_stalling(&made, "a", 1);
    for (size_t k = 0; k < 9; k++) {
        double loss = losses[k / 3], switch_s = switches[k % 3];
        struct hm_advice *advice = advise(&made, pair, 2, loss, switch_s);
        const struct hm_schedule *s = advice->schedule;
        double best = best_switch(pair, 2, loss, switch_s), fixed = best_fixed(pair, 2, loss);
        assert_whole(s, loss, switch_s);
        assert_near(s->fixed_s, fixed, 0.02);
        if (best < 0.97 * fixed) {
            assert_int_equal(s->phase_count, 2);
            assert_true(s->phases[0].m == 64 && s->phases[1].m == 1);
            assert_near(s->time_s, best, 0.02);
            assert_near(s->gain, 1 - best / fixed, 0.02);
            assert_true(s->gain_low <= s->gain + 0.01 && s->gain_high >= s->gain - 0.01);
        } else if (best > fixed) {
            assert_int_equal(s->phase_count, 1);
            assert_true(s->gain == 0);
        }
        hm_advice_free(advice);
    }
    made_release(&made);
}

/* With all m, the gain must lie between that of one change and that of unlimited changes. */
static void more_changes_gain_no_less(void **state)
{
    const double losses[] = {0.03, 0.01, 4e-3};
    struct made made;

    (void)state;
    made_init(&made);
    add_stalling(&made, "a", 1);
    for (size_t k = 0; k < 3; k++) {
        struct hm_advice *advice = advise(&made, made_ms, MADE_MS, losses[k], 0.01);
        const struct hm_schedule *s = advice->schedule;
        double one = best_switch(made_ms, MADE_MS, losses[k], 0.01);
        assert_whole(s, losses[k], 0.01);
        assert_near(s->fixed_s, best_fixed(made_ms, MADE_MS, losses[k]), 0.02);
        assert_true(s->time_s <= one * 1.02);
        assert_true(s->time_s >= lower_bound(made_ms, MADE_MS, losses[k]) * 0.98);
        for (size_t f = 1; f < s->phase_count; f++)
            assert_true(s->phases[f].m < s->phases[f - 1].m);
        hm_advice_free(advice);
    }
    made_release(&made);
}

static void expensive_changes_are_not_made(void **state)
{
    struct made made;

    (void)state;
    made_init(&made);
    add_stalling(&made, "a", 1);
    struct hm_advice *advice = advise(&made, made_ms, MADE_MS, 0.01, 1e6);
    const struct hm_schedule *s = advice->schedule;
    assert_int_equal(s->phase_count, 1);
    assert_true(s->gain == 0 && s->time_s == s->fixed_s);
    assert_near(s->time_s, best_fixed(made_ms, MADE_MS, 0.01), 0.02);
    assert_true(s->phases[0].m == advice->candidates[0].m);
    assert_near(s->phases[0].to, 0.01, 1e-9);
    hm_advice_free(advice);
    made_release(&made);
}

/* If more workers are better at every loss, there is no change, even if changes are free. */
static double no_floor(double i, double m)
{
    return 1 / (2 * pow(m, 0.1) * i + 2) + 1e-3;
}

static void where_one_m_is_always_ahead_there_is_no_change(void **state)
{
    struct made made;

    (void)state;
    made_init(&made);
    made_algorithm(&made, "a", made_ms, MADE_MS, POINTS, 1, no_floor, 0, NULL);
    for (size_t k = 0; k < made.traces.count; k++)
        made_time(&made.list[k], pace(made.list[k].m));
    struct hm_advice *advice = advise(&made, made_ms, MADE_MS, 0.01, 0);
    assert_int_equal(advice->schedule->phase_count, 1);
    assert_true(advice->schedule->gain == 0);
    assert_true(advice->schedule->phases[0].m == 64);
    hm_advice_free(advice);
    made_release(&made);
}

/* The gain and its interval must be relative to the best fixed m of any algorithm. */
static void gains_are_over_the_best_of_any_algorithm(void **state)
{
    const double pair[] = {1, 64};
    struct made made;

    (void)state;
    for (int order = 0; order < 2; order++) {
        made_init(&made);
        if (order == 0)
            add_stalling(&made, "changing", 1);
        made_algorithm(&made, "steady", made_ms, MADE_MS, POINTS, 1, stalls, 0, NULL);
        double steady = 1.3 * best_switch(pair, 2, 0.01, 0) / crossing(1, 0.01);
        for (size_t k = 0; k < MADE_MS; k++)
            made_time(&made.list[made.traces.count - MADE_MS + k], steady);
        if (order == 1)
            add_stalling(&made, "changing", 1);
        struct hm_advice *advice = advise(&made, pair, 2, 0.01, 0);
        const struct hm_schedule *s = advice->schedule;
        assert_string_equal(s->algorithm, "changing");
        assert_near(s->fixed_s, steady * crossing(1, 0.01), 0.02);
        assert_near(s->gain, 1 - 1 / 1.3, 0.05);
        if (!(s->gain_low <= s->gain + 0.01 && s->gain_high >= s->gain - 0.01))
            fail_msg("a gain of %g is not from %g to %g", s->gain, s->gain_low, s->gain_high);
        hm_advice_free(advice);
        made_release(&made);
    }
}

/* A loss below every floor has no schedule, and the result contains no NaN. */
static void below_every_floor_there_is_no_schedule(void **state)
{
    struct made made;

    (void)state;
    made_init(&made);
    add_stalling(&made, "a", 1);
    struct hm_advice *advice = advise(&made, made_ms, MADE_MS, 1e-4, 0);
    const struct hm_schedule *s = advice->schedule;
    assert_false(advice->feasible);
    assert_true(isnan(s->gain) && !isfinite(s->time_s) && !isfinite(s->fixed_s));
    for (size_t f = 0; f < s->phase_count; f++)
        assert_false(isnan(s->phases[f].iterations) || isnan(s->phases[f].time_s));
    hm_advice_free(advice);
    made_release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_gains_what_trying_all_gains),
        cmocka_unit_test(more_changes_gain_no_less),
        cmocka_unit_test(expensive_changes_are_not_made),
        cmocka_unit_test(where_one_m_is_always_ahead_there_is_no_change),
        cmocka_unit_test(gains_are_over_the_best_of_any_algorithm),
        cmocka_unit_test(below_every_floor_there_is_no_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
