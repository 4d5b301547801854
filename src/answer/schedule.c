/*
 * Changing m on the way: the best schedule by dynamic programming.
 *
 * A run that has come to a loss is taken to go on from there on m' workers as if it had come there
 * on m': the loss is all that is known of its state. Between two levels of y = ln(P - P*) it takes
 * f(m') (I(m', lower) - I(m', upper)), where I is the iteration at which the smooth g of m' crosses
 * a level; above the loss of the first iteration the way is taken as straight from a start that all
 * m share. V(level, m), the least time from a level on with m running, follows from the level
 * below:
 *
 *     V(k, m) = min over m' of (switch if m' is not m) + f(m') (I(m', k+1) - I(m', k)) + V(k+1,
 * m').
 *
 * Smooth paths only: the dents of single traces would be taken for gains.
 */
#include <math.h>
#include <string.h>

#include "advise.h"
#include "err.h"
#include "student.h"

enum { LEVELS = 240 };

static const double WORTH = 0.01;  /* of the time: a schedule that gains less is no schedule */
static const double BOTHER = 1e-3; /* the same for a single change, so that ties do not alternate */

/* The best fixed m of any algorithm. */
struct fixed {
    const struct hm_runner *runner; /* NULL: not known yet */
    double from;                    /* y that its algorithm starts at */
    double time_s;                  /* INFINITY: none gets there */
};

/* The runners of one algorithm, and the levels. */
struct plan {
    struct hm_runner **runners; /* of one algorithm */
    size_t count;
    double *at;      /* at[r * LEVELS + k]: I of runner r at level k; INFINITY: never */
    double *ahead;   /* V, the same way */
    size_t *next;    /* the runner that takes the step from k to k + 1 */
    double from, to; /* y */
    double switch_s; /* what a change takes */
    double bother_s; /* what it has to gain beside that */
    struct fixed fixed;
};

static double level_of(const struct plan *p, size_t k)
{
    return p->from + (p->to - p->from) * (double)k / (LEVELS - 1);
}

/* Iterations from y = `from` to a level along a falling path; the first iteration is in parts. */
static double crossing(const struct hm_grid *grid, const double *y, double from, double level)
{
    if (level < y[0])
        return hm_grid_hit(grid, y, level);
    return from > y[0] ? grid->iterations[0] * (from - level) / (from - y[0]) : 0;
}

static void cross(const struct plan *p, const struct hm_grid *grid, const double *y, double *at)
{
    for (size_t k = 0; k < LEVELS; k++)
        at[k] = crossing(grid, y, p->from, level_of(p, k));
}

static int lay_out(struct plan *p, double best, struct hm_err *err)
{
    double y[HM_GRID_MAX], top = -INFINITY;

    for (size_t r = 0; r < p->count; r++) {
        int rc = hm_runner_smooth(p->runners[r], best, y, err);
        if (rc)
            return rc;
        top = fmax(top, y[0]);
    }
    p->from = fmax(top, p->to) + 1; /* above all first iterations */
    for (size_t r = 0; r < p->count; r++) {
        hm_runner_smooth(p->runners[r], best, y, NULL);
        cross(p, &p->runners[r]->grid, y, p->at + r * LEVELS);
    }
    return 0;
}

static double step_time(const struct plan *p, size_t r, size_t k)
{
    const double *at = p->at + r * LEVELS;

    return isinf(at[k + 1]) ? INFINITY : p->runners[r]->seconds * (at[k + 1] - at[k]);
}

static void solve(struct plan *p)
{
    for (size_t r = 0; r < p->count; r++)
        p->ahead[r * LEVELS + LEVELS - 1] = 0;
    for (size_t k = LEVELS - 1; k-- > 0;) {
        for (size_t r = 0; r < p->count; r++) {
            double least = INFINITY;
            p->next[r * LEVELS + k] = r;
            for (size_t o = 0; o < p->count; o++) {
                double time = (o == r ? 0 : p->switch_s + p->bother_s) + step_time(p, o, k) +
                              p->ahead[o * LEVELS + k + 1];
                if (time < least * (1 - 1e-12)) {
                    least = time;
                    p->next[r * LEVELS + k] = o;
                }
            }
            p->ahead[r * LEVELS + k] = least;
        }
    }
}

/* Time of staying with one m. */
static double stay(const struct plan *p, size_t r)
{
    double end = p->at[r * LEVELS + LEVELS - 1];

    return isinf(end) ? INFINITY : p->runners[r]->seconds * end;
}

/* The run that does without a change at its beginning: the best to start with. */
static size_t best_start(const struct plan *p)
{
    size_t best = 0;

    for (size_t r = 1; r < p->count; r++)
        if (p->ahead[r * LEVELS] < p->ahead[best * LEVELS])
            best = r;
    return best;
}

static int trace_back(struct plan *p, struct hm_schedule *s, struct hm_arena *arena,
                      size_t *ret_order, struct hm_err *err)
{
    size_t now = best_start(p), began = 0;

    s->phases = hm_arena_alloc(arena, LEVELS, sizeof(*s->phases));
    if (!s->phases)
        return hm_fail_nomem(err);
    s->phase_count = 0;
    s->time_s = p->ahead[now * LEVELS];
    now = p->next[now * LEVELS];
    for (size_t k = 0; k < LEVELS - 1; k++) {
        size_t then = k + 1 < LEVELS - 1 ? p->next[now * LEVELS + k + 1] : HM_NONE;
        if (then == now)
            continue;
        const double *at = p->at + now * LEVELS;
        double iterations = at[k + 1] - at[began];
        ret_order[s->phase_count] = now;
        s->phases[s->phase_count++] =
            (struct hm_phase){.m = p->runners[now]->m,
                              .from = began == 0 ? INFINITY : exp(level_of(p, began)),
                              .to = exp(level_of(p, k + 1)),
                              .iterations = iterations,
                              .time_s = iterations * p->runners[now]->seconds};
        began = k + 1;
        now = then;
    }
    return 0;
}

/* What the phases gain over the fixed m, when paths are as a draw has them. */
static double gain_of_draw(struct plan *p, const struct hm_schedule *s, const size_t *order,
                           size_t draw)
{
    const struct hm_runner *rival = p->fixed.runner;
    const double *path = rival->y + draw * rival->grid.count;
    double total = p->switch_s * (double)(s->phase_count - 1);
    double fixed = rival->paces[draw] * crossing(&rival->grid, path, p->fixed.from, p->to);

    for (size_t r = 0; r < p->count; r++) {
        const struct hm_runner *runner = p->runners[r];
        cross(p, &runner->grid, runner->y + draw * runner->grid.count, p->at + r * LEVELS);
    }
    for (size_t f = 0; f < s->phase_count; f++) {
        const double *at = p->at + order[f] * LEVELS;
        double width = (p->to - p->from) / (LEVELS - 1);
        size_t a = f == 0 ? 0 : (size_t)lround((log(s->phases[f].from) - p->from) / width);
        size_t b = (size_t)lround((log(s->phases[f].to) - p->from) / width);
        total += p->runners[order[f]]->paces[draw] * (at[b] - at[a]);
    }
    return isfinite(total) && isfinite(fixed) ? 1 - total / fixed : NAN;
}

static void bound_gain(struct plan *p, struct hm_schedule *s, const size_t *order, double level)
{
    double gains[HM_G_DRAWS];
    size_t count = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        double gain = gain_of_draw(p, s, order, d);
        if (isfinite(gain))
            gains[count++] = gain;
    }
    s->gain_low = count > 0 ? hm_quantile(gains, count, (1 - level) / 2) : NAN;
    s->gain_high = count > 0 ? hm_quantile(gains, count, (1 + level) / 2) : NAN;
}

static size_t best_fixed(const struct plan *p)
{
    size_t fixed = 0;

    for (size_t r = 1; r < p->count; r++)
        if (stay(p, r) < stay(p, fixed))
            fixed = r;
    return fixed;
}

/* One m from the beginning to the end. */
static void keep_fixed(const struct plan *p, struct hm_schedule *s, size_t *order, size_t fixed)
{
    order[0] = fixed;
    s->phase_count = 1;
    s->time_s = stay(p, fixed);
    s->phases[0] = (struct hm_phase){.m = p->runners[fixed]->m,
                                     .from = INFINITY,
                                     .to = exp(p->to),
                                     .iterations = p->at[fixed * LEVELS + LEVELS - 1],
                                     .time_s = s->time_s};
}

/* Whether an algorithm's best fixed m is that of all so far. */
static int try_fixed(struct plan *p, double best, struct hm_err *err)
{
    int rc = lay_out(p, best, err);

    if (rc)
        return rc;
    size_t own = best_fixed(p);
    if (!p->fixed.runner || stay(p, own) < p->fixed.time_s)
        p->fixed = (struct fixed){p->runners[own], p->from, stay(p, own)};
    return 0;
}

/* The best schedule of one algorithm, if it beats the one that is there. */
static int try_algorithm(struct plan *p, struct hm_schedule *s, struct hm_arena *arena, double best,
                         double confidence, struct hm_err *err)
{
    struct hm_schedule own = {.algorithm = p->runners[0]->g->algorithm, .fixed_s = p->fixed.time_s};
    size_t order[LEVELS];
    int rc = lay_out(p, best, err);

    if (rc)
        return rc;
    size_t fixed = best_fixed(p);
    p->bother_s = isfinite(stay(p, fixed)) ? BOTHER * stay(p, fixed) : 0;
    solve(p);
    rc = trace_back(p, &own, arena, order, err);
    if (rc)
        return rc;
    own.time_s -= p->bother_s * (double)(own.phase_count - 1);
    if (isinf(own.time_s) || own.time_s > (1 - WORTH) * own.fixed_s)
        keep_fixed(p, &own, order, fixed);
    if (!s->algorithm || own.time_s < s->time_s) {
        bound_gain(p, &own, order, confidence);
        *s = own;
    }
    return 0;
}

static int of_algorithm(struct plan *p, struct hm_runner *runners, size_t count, size_t first)
{
    p->count = 0;
    for (size_t k = 0; k < count; k++) {
        if (runners[k].g == runners[first].g && k < first)
            return 0; /* was looked at already */
        if (runners[k].g == runners[first].g)
            p->runners[p->count++] = &runners[k];
    }
    return p->count > 0;
}

int hm_schedule_find(struct hm_schedule *s, struct hm_arena *arena, struct hm_runner *runners,
                     size_t count, double best, double level, double switch_s, double confidence,
                     struct hm_err *err)
{
    struct plan p = {.to = level, .switch_s = switch_s};
    int rc = 0;

    p.runners = hm_arena_alloc(arena, count + 1, sizeof(struct hm_runner *));
    p.at = hm_arena_alloc(arena, count * LEVELS + 1, sizeof(*p.at));
    p.ahead = hm_arena_alloc(arena, count * LEVELS + 1, sizeof(*p.ahead));
    p.next = hm_arena_alloc(arena, count * LEVELS + 1, sizeof(*p.next));
    if (!p.runners || !p.at || !p.ahead || !p.next)
        return hm_fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < count; k++)
        if (of_algorithm(&p, runners, count, k))
            rc = try_fixed(&p, best, err);
    for (size_t k = 0; rc == 0 && k < count; k++)
        if (of_algorithm(&p, runners, count, k))
            rc = try_algorithm(&p, s, arena, best, confidence, err);
    s->gain = isfinite(s->fixed_s) && isfinite(s->time_s) ? 1 - s->time_s / s->fixed_s : NAN;
    return rc;
}
