/*
 * Compares schedules with a second, slower implementation of the method that schedule.c describes:
 * paths in closed form, crossings found point by point, and the least time by recursion. The two
 * must agree up to rounding, in the phases, the times and the interval of the gain.
 */
#include "memory.h"
#include "runner.h"
#include "student.h"
#include "testing.h"

enum { LEVELS = 400, RUNNERS = 3, GRID = 60 };

static const double P_LEAST = 0.25;

/* An algorithm with P - P* = 1 / (a m^-p i + b) + c m^q on 1, 8 and 64 workers. */
struct algorithm {
    struct hm_g g;
    struct hm_g_parameter parameters[5];
    double m[1];
    struct hm_runner runners[RUNNERS];
    double y[RUNNERS][HM_G_DRAWS * GRID];
};

struct scenario {
    double slower;   /* Factor by which the seconds of all iterations are multiplied. */
    double floor;    /* Parameter c: the floor of the loss on one worker. */
    double switch_s; /* Seconds that a change of the number of workers takes. */
    double uneven; /* Largest factor by which the iterations on 64 workers are slower in a draw. */
    double shift;  /* Largest shift of a path in a draw. */
};

static double path_at(const struct algorithm *a, double m, double i)
{
    const struct hm_g_parameter *t = a->parameters;

    return log(1 / (exp(t[0].value) * pow(m, -t[1].value) * i + exp(t[2].value)) +
               exp(t[3].value) * pow(m, t[4].value));
}

static void algorithm_init(struct algorithm *a, const char *name, const struct scenario *s)
{
    static const double ms[] = {1, 8, 64}, seconds[] = {1, 0.25, 0.08};

    a->m[0] = 1000; /* No number of workers m of this runner was measured, and no curve changes the
                       path. */
    a->parameters[0] = (struct hm_g_parameter){"ln a", log(2), NAN, NAN};
    a->parameters[1] = (struct hm_g_parameter){"p", 0.2, NAN, NAN};
    a->parameters[2] = (struct hm_g_parameter){"ln b", log(2), NAN, NAN};
    a->parameters[3] = (struct hm_g_parameter){"ln c", log(s->floor), NAN, NAN};
    a->parameters[4] = (struct hm_g_parameter){"q", 0.7, NAN, NAN};
    a->g = (struct hm_g){.algorithm = name,
                         .form = HM_G_INVERSE,
                         .parameters = a->parameters,
                         .parameter_count = 5,
                         .m = a->m,
                         .m_count = 1,
                         .last = 2000};
    for (size_t r = 0; r < RUNNERS; r++) {
        struct hm_runner *runner = &a->runners[r];
        *runner = (struct hm_runner){
            .g = &a->g, .m = ms[r], .seconds = s->slower * seconds[r], .y = a->y[r]};
        runner->grid.count = GRID;
        for (size_t p = 0; p < GRID; p++)
            runner->grid.iterations[p] =
                p < 20 ? (double)p + 1 : floor(20 * pow(1.13, (double)p - 19));
        for (size_t d = 0; d < HM_G_DRAWS; d++) {
            double at = (double)d / (HM_G_DRAWS - 1);
            runner->paces[d] = runner->seconds * (r == 2 ? 1 + (s->uneven - 1) * at : 1);
            for (size_t p = 0; p < GRID; p++)
                a->y[r][d * GRID + p] = path_at(a, ms[r], runner->grid.iterations[p]) +
                                        s->shift * sin((double)(d * (r + 2)));
        }
        for (size_t p = 0; p < GRID; p++) /* In draw 7, only the fewest workers make progress. */
            a->y[r][7 * GRID + p] = r == 0 ? a->y[r][7 * GRID + p] : 5;
    }
}

/* ---- the second implementation --------------------------------------------------------------- */

struct slow_plan {
    const struct algorithm *a;
    double from, to, switch_s, bother_s;
    double at[RUNNERS][LEVELS], best[RUNNERS][LEVELS];
    size_t choice[RUNNERS][LEVELS];
};

static double slow_level(const struct slow_plan *s, size_t k)
{
    return s->from - (s->from - s->to) * (double)k / 399;
}

static void slow_cross(struct slow_plan *s, size_t r, const double *y)
{
    const double *i = s->a->runners[r].grid.iterations;

    for (size_t k = 0; k < LEVELS; k++) {
        double level = slow_level(s, k);
        size_t p = 0;
        while (p < GRID && y[p] > level)
            p++;
        if (p == 0)
            s->at[r][k] = i[0] * (s->from - level) / (s->from - y[0]);
        else if (p == GRID)
            s->at[r][k] = INFINITY;
        else
            s->at[r][k] = i[p - 1] + (i[p] - i[p - 1]) * (y[p - 1] - level) / (y[p - 1] - y[p]);
    }
}

/*
 * Returns the first level (target loss) that is reached at least one iteration later, or the last
 * level before one that is never reached.
 */
static size_t slow_next(const struct slow_plan *s, size_t r, size_t k)
{
    size_t next = k + 1;

    while (next < LEVELS - 1 && s->at[r][next] < s->at[r][k] + 1 - 1e-9)
        next++;
    return isinf(s->at[r][next]) && next > k + 1 ? next - 1 : next;
}

static double slow_least(struct slow_plan *s, size_t r, size_t k)
{
    if (k == LEVELS - 1)
        return 0;
    if (!isnan(s->best[r][k]))
        return s->best[r][k];
    double least = INFINITY;
    s->choice[r][k] = r;
    for (size_t o = 0; o < RUNNERS; o++) {
        size_t next = slow_next(s, o, k);
        double time = (s->at[o][next] - s->at[o][k]) * s->a->runners[o].seconds +
                      slow_least(s, o, next) + (o == r ? 0 : s->switch_s + s->bother_s);
        if (time < least) {
            least = time;
            s->choice[r][k] = o;
        }
    }
    return s->best[r][k] = least;
}

/* Returns the seconds on runner r from *level until level `until` is reached, in whole steps. */
static double slow_stay(const struct slow_plan *s, size_t r, size_t *level, size_t until,
                        double *ret_iterations)
{
    double sum = 0;

    while (*level < until && isfinite(sum)) {
        size_t next = slow_next(s, r, *level);
        sum += s->at[r][next] - s->at[r][*level];
        *level = next;
    }
    *ret_iterations = sum;
    return sum;
}

struct slow_steps {
    size_t runner[LEVELS], until[LEVELS], count;
};

static void slow_trace(struct slow_plan *s, struct slow_steps *steps)
{
    size_t now = 0, k = 0;

    for (size_t r = 1; r < RUNNERS; r++)
        if (slow_least(s, r, 0) < slow_least(s, now, 0))
            now = r;
    steps->count = 0;
    while (k < LEVELS - 1) {
        slow_least(s, now, k);
        size_t then = s->choice[now][k];
        if (then != now) {
            steps->runner[steps->count] = now;
            steps->until[steps->count++] = k;
            now = then;
        }
        k = slow_next(s, now, k);
    }
    steps->runner[steps->count] = now;
    steps->until[steps->count++] = LEVELS - 1;
}

static double slow_time(const struct slow_plan *s, const struct slow_steps *steps, size_t draw,
                        struct hm_phase *phases)
{
    double total = s->switch_s * ((double)steps->count - 1);
    size_t level = 0;

    for (size_t k = 0; k < steps->count; k++) {
        const struct hm_runner *runner = &s->a->runners[steps->runner[k]];
        double seconds = draw == HM_NONE ? runner->seconds : runner->paces[draw], iterations;
        size_t began = level;
        slow_stay(s, steps->runner[k], &level, steps->until[k], &iterations);
        total += seconds * iterations;
        if (phases)
            phases[k] = (struct hm_phase){.m = runner->m,
                                          .from = k ? exp(slow_level(s, began)) : INFINITY,
                                          .to = exp(slow_level(s, steps->until[k])),
                                          .iterations = iterations,
                                          .time_s = seconds * iterations};
    }
    return total;
}

static void slow_init(struct slow_plan *s, const struct algorithm *a, double to, double switch_s)
{
    double y[RUNNERS][GRID], top = to;

    *s = (struct slow_plan){.a = a, .to = to, .switch_s = switch_s};
    for (size_t r = 0; r < RUNNERS; r++) {
        for (size_t p = 0; p < GRID; p++)
            y[r][p] = path_at(a, a->runners[r].m, a->runners[r].grid.iterations[p]);
        top = fmax(top, y[r][0]);
        for (size_t k = 0; k < LEVELS; k++)
            s->best[r][k] = NAN;
    }
    s->from = top + 1;
    for (size_t r = 0; r < RUNNERS; r++)
        slow_cross(s, r, y[r]);
}

static double slow_fixed(const struct slow_plan *s, size_t r)
{
    size_t level = 0;
    double iterations;

    slow_stay(s, r, &level, LEVELS - 1, &iterations);
    return iterations * s->a->runners[r].seconds;
}

/* Collects the gains of the draws in which both schedules reach the loss; returns their number. */
static size_t slow_gains(struct slow_plan *s, const struct slow_steps *steps,
                         const struct hm_runner *rival, double *gains)
{
    size_t count = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        for (size_t r = 0; r < RUNNERS; r++)
            slow_cross(s, r, s->a->y[r] + d * GRID);
        double fixed = hm__runner_hit(rival, d, s->to) * rival->paces[d];
        double time = slow_time(s, steps, d, NULL);
        if (isfinite(fixed) && isfinite(time))
            gains[count++] = 1 - time / fixed;
    }
    return count;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static struct algorithm algorithms[2];

/* Results of the second implementation for one algorithm and a rival. */
struct wanted {
    double time_s, low, high, mean;
    struct slow_steps steps;
    struct hm_phase phases[LEVELS];
};

static void wanted_init(struct wanted *w, const struct algorithm *a, const struct hm_runner *rival,
                        double rival_s, double to, double switch_s)
{
    static struct slow_plan s;
    double gains[HM_G_DRAWS], sum = 0;

    slow_init(&s, a, to, switch_s);
    s.bother_s = 1e-3 * rival_s;
    slow_trace(&s, &w->steps);
    w->time_s = slow_time(&s, &w->steps, HM_NONE, w->phases);
    size_t count = slow_gains(&s, &w->steps, rival, gains);
    for (size_t d = 0; d < count; d++)
        sum += gains[d];
    w->low = hm__quantile(gains, count, 0.1);
    w->high = hm__quantile(gains, count, 0.9);
    w->mean = sum / (double)count;
}

static void check_phases(const struct hm_schedule *s, const struct wanted *w)
{
    assert_int_equal(s->phase_count, w->steps.count);
    for (size_t k = 0; k < s->phase_count; k++) {
        assert_near(s->phases[k].m, w->phases[k].m, 0);
        assert_true(k > 0 || isinf(s->phases[k].from));
        if (k > 0)
            assert_near(s->phases[k].from, w->phases[k].from, 1e-9);
        assert_near(s->phases[k].to, w->phases[k].to, 1e-9);
        assert_near(s->phases[k].iterations, w->phases[k].iterations, 1e-9);
        assert_near(s->phases[k].time_s, w->phases[k].time_s, 1e-9);
    }
    assert_near(s->gain_low, w->low, 1e-9);
    assert_near(s->gain_high, w->high, 1e-9);
}

/*
 * Compares the schedule of `count` algorithms with the second implementation. Returns the number of
 * its phases.
 */
static size_t check_scenario(const struct scenario *scenario, size_t count, double loss)
{
    static struct wanted wanted[2];
    static struct slow_plan s;
    struct hm_runner all[2 * RUNNERS], *rival = NULL;
    struct hm_schedule got = {0};
    struct hm_arena *arena = hm__arena_new();
    double to = log(loss), switch_s = scenario->switch_s, fixed = INFINITY, least;
    size_t best = HM_NONE;

    for (size_t a = 0; a < count; a++) {
        algorithm_init(&algorithms[a], a ? "b" : "a", &scenario[a]);
        memcpy(all + a * RUNNERS, algorithms[a].runners, sizeof(algorithms[a].runners));
        slow_init(&s, &algorithms[a], to, switch_s);
        for (size_t r = 0; r < RUNNERS; r++)
            if (slow_fixed(&s, r) < fixed) {
                fixed = slow_fixed(&s, r);
                rival = &algorithms[a].runners[r];
            }
    }
    least = fixed;
    for (size_t a = 0; a < count; a++) {
        wanted_init(&wanted[a], &algorithms[a], rival, fixed, to, switch_s);
        if (wanted[a].steps.count > 1 && wanted[a].time_s < 0.99 * fixed &&
            wanted[a].time_s < least && wanted[a].mean >= 0.01) {
            least = wanted[a].time_s;
            best = a;
        }
    }
    assert_int_equal(
        hm__schedule_find(&got, arena, all, count * RUNNERS, P_LEAST, to, switch_s, 0.8, NULL), 0);
    assert_near(got.fixed_s, fixed, 1e-9);
    assert_near(got.time_s, least, 1e-9);
    assert_near(got.gain, 1 - least / fixed, 1e-7);
    if (best != HM_NONE) {
        assert_string_equal(got.algorithm, algorithms[best].g.algorithm);
        check_phases(&got, &wanted[best]);
    } else {
        assert_int_equal(got.phase_count, 1);
        assert_string_equal(got.algorithm, rival->g->algorithm);
        assert_near(got.phases[0].m, rival->m, 0);
        assert_true(isinf(got.phases[0].from));
        assert_near(got.phases[0].to, loss, 1e-12);
        assert_near(got.phases[0].iterations, fixed / rival->seconds, 1e-9);
        assert_near(got.phases[0].time_s, fixed, 1e-9);
    }
    hm__arena_free(arena);
    return got.phase_count;
}

static void schedules_agree_with_recursion(void **state)
{
    static const double losses[] = {0.3, 0.03, 0.01, 0.004};
    size_t most = 0;

    (void)state;
    for (size_t l = 0; l < 4; l++)
        for (double floor = 1e-4; floor < 2e-3; floor *= 3) {
            struct scenario s = {1, floor, 0.01, 1.2, 0.02};
            size_t phases = check_scenario(&s, 1, losses[l]);
            most = phases > most ? phases : most;
        }
    assert_true(most >= 3);
}

/* The cost of a change increases from 0 to more than the gain of a change; in between, the gain
 * falls below 1 %. */
static void changes_end_where_they_cost_too_much(void **state)
{
    size_t one = 0, several = 0;

    (void)state;
    for (double switch_s = 0; switch_s < 1.5; switch_s += 0.08) {
        struct scenario s = {1, 1e-3, switch_s, 1, 0.01};
        if (check_scenario(&s, 1, 0.01) > 1)
            several++;
        else
            one++;
    }
    if (one < 4 || several < 4)
        fail_msg("%zu fixed, %zu that change", one, several);
}

/* A gain that exists without uncertainty may vanish in the mean over the draws. */
static void gains_must_remain_in_the_draws(void **state)
{
    size_t one = 0, several = 0;

    (void)state;
    for (double uneven = 1; uneven < 3; uneven += 0.1) {
        struct scenario s = {1, 1e-3, 0.1, uneven, 0.02};
        if (check_scenario(&s, 1, 0.01) > 1)
            several++;
        else
            one++;
    }
    if (one < 4 || several < 4)
        fail_msg("%zu fixed, %zu that change", one, several);
}

/* The best schedule of two algorithms must be found whichever comes first; the best fixed number of
 * workers may belong to either of them. */
static void the_best_algorithm_wins(void **state)
{
    (void)state;
    for (double slower = 0.6; slower < 1.6; slower += 0.1)
        for (double floor = 3e-4; floor < 2e-3; floor *= 2) {
            struct scenario two[] = {{1, 1e-3, 0.02, 1.1, 0.02}, {slower, floor, 0.02, 1.1, 0.02}};
            check_scenario(two, 2, 0.01);
        }
}

/* If no runner reaches the loss, there is no schedule. */
static void no_runner_reaches_the_loss(void **state)
{
    struct scenario s = {1, 0.5, 0, 1, 0};
    struct hm_schedule got = {0};
    struct hm_arena *arena = hm__arena_new();

    (void)state;
    algorithm_init(&algorithms[0], "a", &s);
    assert_int_equal(hm__schedule_find(&got, arena, algorithms[0].runners, RUNNERS, P_LEAST,
                                       log(0.01), 0, 0.8, NULL),
                     0);
    assert_int_equal(got.phase_count, 0);
    assert_null(got.algorithm);
    assert_true(isnan(got.time_s) && isnan(got.fixed_s) && isnan(got.gain));
    hm__arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_agree_with_recursion),
        cmocka_unit_test(changes_end_where_they_cost_too_much),
        cmocka_unit_test(gains_must_remain_in_the_draws),
        cmocka_unit_test(the_best_algorithm_wins),
        cmocka_unit_test(no_runner_reaches_the_loss),
    };
    return cmocka_run_group_tests_name("exact_schedule", tests, NULL, NULL);
}
