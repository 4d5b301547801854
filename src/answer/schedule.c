/*
 * Finds the best schedule for changing the number of workers m during a run, by dynamic programming
 * (Bellman 1957).
 *
 * A run that has reached a loss is assumed to continue on m' workers as if it had reached that loss
 * on m' workers: the loss is the whole state. Levels are equally spaced values of y = ln(P - P*),
 * the logarithm of the excess loss. Let I(m, k) be the iteration at which the path on m workers
 * crosses level k. A step on m workers leads from level k to the first level k' with I(m, k') >=
 * I(m, k) + 1, so that m does not change within an iteration. Let V(k, m) be the shortest time from
 * level k to the last level if the run is on m workers at level k. With f(m), the time of an
 * iteration in seconds, V is computed from the last level backwards:
 *
 *     V(k, m) = min over m' of (switch if m' is not m) + f(m') (I(m', k') - I(m', k)) + V(k', m').
 *
 * The search uses smooth paths (hm__runner_smooth), because it would mistake the noise of single
 * traces for gains. The gain of the schedule is then computed over the random draws, which follow
 * the traces; if the mean gain is too small, no schedule is proposed. All paths start at a common
 * level above the losses after the first iteration. Limit: there are at most SCHEDULE_LEVELS levels
 * of the loss and HM_RUNNERS_MAX values of m.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "runner.h"
#include "student.h"

enum { SCHEDULE_LEVELS = 400 };

/* Smallest relative gain for which a schedule is proposed. */
static const double SCHEDULE_WORTH = 0.01;
/*
 * Smallest relative gain for which the number of workers is changed. This threshold prevents
 * alternating between two equally good numbers.
 */
static const double BOTHER = 1e-3;

/* The fastest run of any algorithm with a fixed number of workers. */
struct fixed_rival {
    /* Runner (an algorithm on m workers) that executes this run; NULL if no number of workers
     * reaches the target loss. */
    const struct hm_runner *runner;
    double time_s, iterations;
};

/* Workspace of the search for the best schedule of one algorithm. */
struct schedule_plan {
    struct hm_runner **runners;
    size_t count;
    /*
     * at[r * SCHEDULE_LEVELS + k] is the iteration at which runner r crosses level k of the loss;
     * INFINITY if it never does.
     */
    double *at;
    /*
     * ahead[r * SCHEDULE_LEVELS + k] is the shortest time in seconds from level k to the last level
     * of the loss, starting with runner r.
     */
    double *ahead;
    /* next[r * SCHEDULE_LEVELS + k] is the best runner to continue with from level k of the loss,
     * after runner r. */
    size_t *next;
    /* First and last level of y = ln(P - P*), the logarithm of the excess loss. */
    double from, to;
    double switch_s; /* Time in seconds that a change of the number of workers takes. */
    /*
     * Time in seconds that a change of the number of workers must save in addition to the time that
     * it takes.
     */
    double bother_s;
};

static double schedule_level(const struct schedule_plan *p, size_t k)
{
    return p->from + (p->to - p->from) * (double)k / (SCHEDULE_LEVELS - 1);
}

/*
 * Computes, for every level of the loss, the number of iterations after which a decreasing path
 * reaches the level.
 */
static void schedule_cross(const struct schedule_plan *p, const struct hm_grid *grid,
                           const double *y, double *at)
{
    for (size_t k = 0; k < SCHEDULE_LEVELS; k++) {
        double level = schedule_level(p, k);
        if (level < y[0])
            at[k] = hm__grid_hit(grid, y, level);
        else /* This level of the loss is crossed during the first iteration. */
            at[k] = p->from > y[0] ? grid->iterations[0] * (p->from - level) / (p->from - y[0]) : 0;
    }
}

static int schedule_lay_out(struct schedule_plan *p, double best, struct hm_err *err)
{
    double y[HM_GRID_MAX], top = -INFINITY;

    for (size_t r = 0; r < p->count; r++) {
        int rc = hm__runner_smooth(p->runners[r], best, y, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < p->runners[r]->grid.count; k++)
            top = isfinite(y[k]) ? fmax(top, y[k]) : top;
    }
    /* The first level of the loss is above the losses of all paths after their first iteration. */
    p->from = fmax(top, p->to) + 1;
    for (size_t r = 0; r < p->count; r++) {
        int rc = hm__runner_smooth(p->runners[r], best, y, err);
        if (rc)
            return rc;
        schedule_cross(p, &p->runners[r]->grid, y, p->at + r * SCHEDULE_LEVELS);
    }
    return 0;
}

/*
 * Finds the first level of the loss that is reached at least one iteration after level k or, if
 * there is none, the last level that is reached. Returns the number of iterations from level k to
 * that level; INFINITY if no level after k is reached.
 */
static double levels_go_on(const double *at, size_t k, size_t *ret_level)
{
    size_t low = k + 1, high = SCHEDULE_LEVELS - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (at[middle] >= at[k] + 1 - 1e-9)
            high = middle;
        else
            low = middle + 1;
    }
    /* If level `low` of the loss is never reached, the level before it is the last one that is
     * reached. */
    if (isinf(at[low]) && low > k + 1)
        low--;
    *ret_level = low;
    return at[low] - at[k];
}

static void schedule_solve(struct schedule_plan *p)
{
    for (size_t r = 0; r < p->count; r++)
        p->ahead[r * SCHEDULE_LEVELS + SCHEDULE_LEVELS - 1] = 0;
    for (size_t k = SCHEDULE_LEVELS - 1; k-- > 0;) {
        double way[HM_RUNNERS_MAX];
        if (hm__budget_spent("m"))
            return;
        for (size_t o = 0; o < p->count; o++) {
            size_t level;
            double iterations = levels_go_on(p->at + o * SCHEDULE_LEVELS, k, &level);
            way[o] = iterations * p->runners[o]->seconds + p->ahead[o * SCHEDULE_LEVELS + level];
        }
        for (size_t r = 0; r < p->count; r++) {
            double least = INFINITY;
            p->next[r * SCHEDULE_LEVELS + k] = r;
            for (size_t o = 0; o < p->count; o++) {
                double time = way[o] + (o == r ? 0 : p->switch_s + p->bother_s);
                if (time < least) {
                    least = time;
                    p->next[r * SCHEDULE_LEVELS + k] = o;
                }
            }
            p->ahead[r * SCHEDULE_LEVELS + k] = least;
        }
    }
}

/*
 * Returns the number of iterations from level `from` of the loss until level `to` is reached. Steps
 * are whole, so the level at the end, *ret_end, may be beyond `to`.
 */
static double levels_stay_until(const double *at, size_t from, size_t to, size_t *ret_end)
{
    double sum = 0;

    while (from < to && isfinite(sum))
        sum += levels_go_on(at, from, &from);
    *ret_end = from;
    return sum;
}

static double schedule_stay(const struct schedule_plan *p, size_t r, double seconds)
{
    size_t end;

    return seconds * levels_stay_until(p->at + r * SCHEDULE_LEVELS, 0, SCHEDULE_LEVELS - 1, &end);
}

/*
 * Returns the best runner to start with. Starting does not count as a change of the number of
 * workers.
 */
static size_t schedule_best_start(const struct schedule_plan *p)
{
    size_t best = 0;

    for (size_t r = 1; r < p->count; r++)
        if (p->ahead[r * SCHEDULE_LEVELS] < p->ahead[best * SCHEDULE_LEVELS])
            best = r;
    return best;
}

/* A schedule: in step s, runner[s] runs until level until[s] of the loss is reached. */
struct schedule_steps {
    size_t runner[SCHEDULE_LEVELS], until[SCHEDULE_LEVELS];
    size_t count;
};

static void schedule_trace_back(const struct schedule_plan *p, struct schedule_steps *steps)
{
    size_t now = p->next[schedule_best_start(p) * SCHEDULE_LEVELS], k = 0;

    steps->count = 0;
    while (k < SCHEDULE_LEVELS - 1) {
        size_t then = p->next[now * SCHEDULE_LEVELS + k];
        if (then != now) {
            steps->runner[steps->count] = now;
            steps->until[steps->count++] = k;
            now = then;
        }
        if (isinf(levels_go_on(p->at + now * SCHEDULE_LEVELS, k, &k)))
            break;
    }
    steps->runner[steps->count] = now;
    steps->until[steps->count++] = SCHEDULE_LEVELS - 1;
}

/*
 * Returns the time of a schedule in seconds if each runner crosses the levels of the loss at the
 * iterations in p->at. phases may be NULL.
 */
static double schedule_time(const struct schedule_plan *p, const struct schedule_steps *steps,
                            const double *seconds, struct hm_phase *phases)
{
    double total = p->switch_s * (double)(steps->count - 1);
    size_t level = 0;

    for (size_t s = 0; s < steps->count; s++) {
        size_t r = steps->runner[s], began = level;
        double iterations =
            levels_stay_until(p->at + r * SCHEDULE_LEVELS, level, steps->until[s], &level);
        total += iterations * seconds[r];
        if (phases)
            phases[s] = (struct hm_phase){.m = p->runners[r]->m,
                                          .from = s == 0 ? INFINITY : exp(schedule_level(p, began)),
                                          .to = exp(schedule_level(p, steps->until[s])),
                                          .iterations = iterations,
                                          .time_s = iterations * seconds[r]};
    }
    return total;
}

static size_t schedule_best_fixed(const struct schedule_plan *p)
{
    size_t fixed = 0;

    for (size_t r = 1; r < p->count; r++)
        if (schedule_stay(p, r, p->runners[r]->seconds) <
            schedule_stay(p, fixed, p->runners[fixed]->seconds))
            fixed = r;
    return fixed;
}

/*
 * Returns the relative gain of a schedule over the best fixed number of workers, in one draw of the
 * fits.
 */
static double schedule_draw_gain(struct schedule_plan *p, const struct schedule_steps *steps,
                                 const struct fixed_rival *rival, size_t draw)
{
    double seconds[HM_RUNNERS_MAX], fixed = hm__runner_hit(rival->runner, draw, p->to);

    for (size_t r = 0; r < p->count; r++) {
        const struct hm_runner *runner = p->runners[r];
        schedule_cross(p, &runner->grid, runner->y + draw * runner->grid.count,
                       p->at + r * SCHEDULE_LEVELS);
        seconds[r] = runner->paces[draw];
    }
    return 1 - schedule_time(p, steps, seconds, NULL) / (fixed * rival->runner->paces[draw]);
}

/* Sets the interval for the gain from all draws of the fits, and returns the mean gain. */
static double schedule_bound_gain(struct schedule_plan *p, struct hm_schedule *s,
                                  const struct schedule_steps *steps,
                                  const struct fixed_rival *rival, double level)
{
    double gains[HM_G_DRAWS], sum = 0;
    size_t count = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        if (hm__budget_spent("m"))
            break;
        double gain = schedule_draw_gain(p, steps, rival, d);
        if (!isfinite(gain))
            continue;
        sum += gain;
        gains[count++] = gain;
    }
    s->gain_low = count > 0 ? hm__quantile(gains, count, (1 - level) / 2) : NAN;
    s->gain_high = count > 0 ? hm__quantile(gains, count, (1 + level) / 2) : NAN;
    return count > 0 ? sum / (double)count : NAN;
}

/*
 * Replaces *rival with the fastest run of this algorithm with a fixed number of workers, if that
 * run is faster.
 */
static void rival_try_fixed(const struct schedule_plan *p, struct fixed_rival *rival)
{
    size_t r = schedule_best_fixed(p);
    double seconds = p->runners[r]->seconds, time = schedule_stay(p, r, seconds);

    if (rival->runner ? time < rival->time_s : isfinite(time))
        *rival = (struct fixed_rival){p->runners[r], time, time / seconds};
}

/* Replaces *s with the best schedule of this algorithm, if that schedule is faster. */
static int schedule_try(struct schedule_plan *p, struct hm_schedule *s, struct hm_arena *arena,
                        double best, const struct fixed_rival *rival, double confidence,
                        struct hm_err *err)
{
    struct hm_schedule own = {.algorithm = p->runners[0]->g->algorithm};
    struct schedule_steps steps;
    double seconds[HM_RUNNERS_MAX];
    int rc = schedule_lay_out(p, best, err);

    if (rc)
        return rc;
    for (size_t r = 0; r < p->count; r++)
        seconds[r] = p->runners[r]->seconds;
    p->bother_s = BOTHER * rival->time_s;
    schedule_solve(p);
    schedule_trace_back(p, &steps);
    own.time_s = schedule_time(p, &steps, seconds, NULL);
    if (!(own.time_s < (1 - SCHEDULE_WORTH) * rival->time_s) || !(own.time_s < s->time_s) ||
        steps.count == 1)
        return 0;
    own.phase_count = steps.count;
    own.phases = hm__arena_alloc(arena, steps.count, sizeof(*own.phases));
    if (!own.phases)
        return hm__fail_nomem(err);
    schedule_time(p, &steps, seconds, own.phases);
    if (schedule_bound_gain(p, &own, &steps, rival, confidence) >= SCHEDULE_WORTH)
        *s = own;
    return 0;
}

/* Sets the schedule to a single fixed number of workers. */
static int schedule_set_fixed(struct hm_schedule *s, struct hm_arena *arena,
                              const struct fixed_rival *rival, double level, struct hm_err *err)
{
    s->algorithm = rival->runner ? rival->runner->g->algorithm : NULL;
    s->phase_count = rival->runner ? 1 : 0;
    s->time_s = s->fixed_s = rival->runner ? rival->time_s : NAN;
    s->phases = hm__arena_alloc(arena, 1, sizeof(*s->phases));
    if (!s->phases)
        return hm__fail_nomem(err);
    if (rival->runner)
        s->phases[0] = (struct hm_phase){.m = rival->runner->m,
                                         .from = INFINITY,
                                         .to = exp(level),
                                         .iterations = rival->iterations,
                                         .time_s = rival->time_s};
    return 0;
}

static int schedule_select_algorithm(struct schedule_plan *p, struct hm_runner *runners,
                                     size_t count, size_t first)
{
    p->count = 0;
    for (size_t k = 0; k < count; k++) {
        if (runners[k].g == runners[first].g && k < first)
            /*
             * The algorithm of this runner has already been evaluated, together with an earlier
             * runner.
             */
            return 0;
        if (runners[k].g == runners[first].g && p->count < HM_RUNNERS_MAX)
            p->runners[p->count++] = &runners[k];
    }
    return p->count > 0;
}

int hm__schedule_find(struct hm_schedule *s, struct hm_arena *arena, struct hm_runner *runners,
                      size_t count, double best, double level, double switch_s, double confidence,
                      struct hm_err *err)
{
    struct schedule_plan p = {.to = level, .switch_s = switch_s};
    struct fixed_rival rival = {0};
    size_t room = (count < HM_RUNNERS_MAX ? count : HM_RUNNERS_MAX) * SCHEDULE_LEVELS + 1;
    int rc = 0;

    p.runners = hm__arena_alloc(arena, HM_RUNNERS_MAX, sizeof(struct hm_runner *));
    p.at = hm__arena_alloc(arena, room, sizeof(*p.at));
    p.ahead = hm__arena_alloc(arena, room, sizeof(*p.ahead));
    p.next = hm__arena_alloc(arena, room, sizeof(*p.next));
    if (!p.runners || !p.at || !p.ahead || !p.next)
        return hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < count; k++)
        if (schedule_select_algorithm(&p, runners, count, k) &&
            (rc = schedule_lay_out(&p, best, err)) == 0)
            rival_try_fixed(&p, &rival);
    rc = rc ? rc : schedule_set_fixed(s, arena, &rival, level, err);
    for (size_t k = 0; rc == 0 && rival.runner && k < count; k++)
        if (schedule_select_algorithm(&p, runners, count, k))
            rc = schedule_try(&p, s, arena, best, &rival, confidence, err);
    s->fixed_s = rival.runner ? rival.time_s : NAN;
    s->gain = 1 - s->time_s / s->fixed_s;
    return rc;
}
