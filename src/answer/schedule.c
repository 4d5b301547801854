/*
 * Changing m on the way: the best schedule by dynamic programming.
 *
 * A run that has come to a loss is taken to go on from there on m' workers as if it had come there
 * on m': the loss is all that is known of its state. On levels of y = ln(P - P*), let I(m, k) be
 * the iteration at which the path of m crosses level k. A step on m leads from level k to the first
 * level k' with I(m, k') >= I(m, k) + 1, so that nobody changes in the middle of an iteration. V(k,
 * m), the least time from a level on with m running, follows from the levels below:
 *
 *     V(k, m) = min over m' of (switch if m' is not m) + f(m') (I(m', k') - I(m', k)) + V(k', m').
 *
 * Paths are smooth, g and how m lies apart from it: the dents of single traces would be taken for
 * gains. What a schedule found so gains is then counted over the draws, which follow the traces; if
 * that is nothing on average, there is no schedule. Before the first iteration, all m share a start
 * above their losses.
 */
#include <math.h>
#include <string.h>

#include "advise.h"
#include "err.h"
#include "student.h"

enum { LEVELS = 400 };

static const double WORTH = 0.01;  /* of the time: a schedule that gains less is no schedule */
static const double BOTHER = 1e-3; /* the same for a single change, so that ties do not alternate */

/* The best fixed m of all algorithms. */
struct rival {
    const struct hm_runner *runner; /* NULL: none gets there */
    double time_s, iterations;
};

/* The runners of one algorithm, and the levels. */
struct plan {
    struct hm_runner **runners; /* of one algorithm */
    size_t count;
    double *at;      /* at[r * LEVELS + k]: I of runner r at level k; INFINITY: never */
    double *ahead;   /* V, the same way */
    size_t *next;    /* the runner that goes on from there */
    double from, to; /* y */
    double switch_s; /* what a change takes */
    double bother_s; /* what it has to gain beside that */
};

static double level_of(const struct plan *p, size_t k)
{
    return p->from + (p->to - p->from) * (double)k / (LEVELS - 1);
}

/* Iterations from the start to every level along a falling path. */
static void cross(const struct plan *p, const struct hm_grid *grid, const double *y, double *at)
{
    for (size_t k = 0; k < LEVELS; k++) {
        double level = level_of(p, k);
        if (level < y[0])
            at[k] = hm__grid_hit(grid, y, level);
        else /* on the way of the first iteration */
            at[k] = p->from > y[0] ? grid->iterations[0] * (p->from - level) / (p->from - y[0]) : 0;
    }
}

static int lay_out(struct plan *p, double best, struct hm_err *err)
{
    double y[HM_GRID_MAX], top = -INFINITY;

    for (size_t r = 0; r < p->count; r++) {
        int rc = hm__runner_smooth(p->runners[r], best, y, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < p->runners[r]->grid.count; k++)
            top = isfinite(y[k]) ? fmax(top, y[k]) : top;
    }
    p->from = fmax(top, p->to) + 1; /* above all first iterations */
    for (size_t r = 0; r < p->count; r++) {
        int rc = hm__runner_smooth(p->runners[r], best, y, err);
        if (rc)
            return rc;
        cross(p, &p->runners[r]->grid, y, p->at + r * LEVELS);
    }
    return 0;
}

/* From level k: the first level that is a whole iteration away, or the last there is, and how many
 * iterations that are; INFINITY: none is below k. */
static double go_on(const double *at, size_t k, size_t *ret_level)
{
    size_t low = k + 1, high = LEVELS - 1;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (at[middle] >= at[k] + 1 - 1e-9)
            high = middle;
        else
            low = middle + 1;
    }
    if (isinf(at[low]) && low > k + 1) /* as far as it goes */
        low--;
    *ret_level = low;
    return at[low] - at[k];
}

static void solve(struct plan *p)
{
    for (size_t r = 0; r < p->count; r++)
        p->ahead[r * LEVELS + LEVELS - 1] = 0;
    for (size_t k = LEVELS - 1; k-- > 0;) {
        double way[HM_RUNNERS_MAX];
        for (size_t o = 0; o < p->count; o++) {
            size_t level;
            double iterations = go_on(p->at + o * LEVELS, k, &level);
            way[o] = iterations * p->runners[o]->seconds + p->ahead[o * LEVELS + level];
        }
        for (size_t r = 0; r < p->count; r++) {
            double least = INFINITY;
            p->next[r * LEVELS + k] = r;
            for (size_t o = 0; o < p->count; o++) {
                double time = way[o] + (o == r ? 0 : p->switch_s + p->bother_s);
                if (time < least) {
                    least = time;
                    p->next[r * LEVELS + k] = o;
                }
            }
            p->ahead[r * LEVELS + k] = least;
        }
    }
}

/* Iterations of staying with runner r from a level until another, and where that ends. */
static double stay_until(const double *at, size_t from, size_t to, size_t *ret_end)
{
    double sum = 0;

    while (from < to && isfinite(sum))
        sum += go_on(at, from, &from);
    *ret_end = from;
    return sum;
}

static double stay(const struct plan *p, size_t r, double seconds)
{
    size_t end;

    return seconds * stay_until(p->at + r * LEVELS, 0, LEVELS - 1, &end);
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

/* A schedule by levels: which runner until which level. */
struct steps {
    size_t runner[LEVELS], until[LEVELS];
    size_t count;
};

static void trace_back(const struct plan *p, struct steps *steps)
{
    size_t now = p->next[best_start(p) * LEVELS], k = 0;

    steps->count = 0;
    while (k < LEVELS - 1) {
        size_t then = p->next[now * LEVELS + k];
        if (then != now) {
            steps->runner[steps->count] = now;
            steps->until[steps->count++] = k;
            now = then;
        }
        if (isinf(go_on(p->at + now * LEVELS, k, &k)))
            break;
    }
    steps->runner[steps->count] = now;
    steps->until[steps->count++] = LEVELS - 1;
}

/* Time of the steps on the paths as they are laid out; phases may be NULL. */
static double time_of(const struct plan *p, const struct steps *steps, const double *seconds,
                      struct hm_phase *phases)
{
    double total = p->switch_s * (double)(steps->count - 1);
    size_t level = 0;

    for (size_t s = 0; s < steps->count; s++) {
        size_t r = steps->runner[s], began = level;
        double iterations = stay_until(p->at + r * LEVELS, level, steps->until[s], &level);
        total += iterations * seconds[r];
        if (phases)
            phases[s] = (struct hm_phase){.m = p->runners[r]->m,
                                          .from = s == 0 ? INFINITY : exp(level_of(p, began)),
                                          .to = exp(level_of(p, steps->until[s])),
                                          .iterations = iterations,
                                          .time_s = iterations * seconds[r]};
    }
    return total;
}

static size_t best_fixed(const struct plan *p)
{
    size_t fixed = 0;

    for (size_t r = 1; r < p->count; r++)
        if (stay(p, r, p->runners[r]->seconds) < stay(p, fixed, p->runners[fixed]->seconds))
            fixed = r;
    return fixed;
}

/* What the steps gain over the rival, when paths and paces are as a draw has them. */
static double gain_of_draw(struct plan *p, const struct steps *steps, const struct rival *rival,
                           size_t draw)
{
    double seconds[HM_RUNNERS_MAX], fixed = hm__runner_hit(rival->runner, draw, p->to);

    for (size_t r = 0; r < p->count; r++) {
        const struct hm_runner *runner = p->runners[r];
        cross(p, &runner->grid, runner->y + draw * runner->grid.count, p->at + r * LEVELS);
        seconds[r] = runner->paces[draw];
    }
    return 1 - time_of(p, steps, seconds, NULL) / (fixed * rival->runner->paces[draw]);
}

/* The interval of the gain over the draws; its mean is returned. */
static double bound_gain(struct plan *p, struct hm_schedule *s, const struct steps *steps,
                         const struct rival *rival, double level)
{
    double gains[HM_G_DRAWS], sum = 0;
    size_t count = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        double gain = gain_of_draw(p, steps, rival, d);
        if (!isfinite(gain))
            continue;
        sum += gain;
        gains[count++] = gain;
    }
    s->gain_low = count > 0 ? hm__quantile(gains, count, (1 - level) / 2) : NAN;
    s->gain_high = count > 0 ? hm__quantile(gains, count, (1 + level) / 2) : NAN;
    return count > 0 ? sum / (double)count : NAN;
}

/* Whether a fixed m of this algorithm beats the rival; then it is the rival. */
static void try_fixed(const struct plan *p, struct rival *rival)
{
    size_t r = best_fixed(p);
    double seconds = p->runners[r]->seconds, time = stay(p, r, seconds);

    if (rival->runner ? time < rival->time_s : isfinite(time))
        *rival = (struct rival){p->runners[r], time, time / seconds};
}

/* The best schedule of one algorithm, if it beats the one that is there. */
static int try_schedule(struct plan *p, struct hm_schedule *s, struct hm_arena *arena, double best,
                        const struct rival *rival, double confidence, struct hm_err *err)
{
    struct hm_schedule own = {.algorithm = p->runners[0]->g->algorithm};
    struct steps steps;
    double seconds[HM_RUNNERS_MAX];
    int rc = lay_out(p, best, err);

    if (rc)
        return rc;
    for (size_t r = 0; r < p->count; r++)
        seconds[r] = p->runners[r]->seconds;
    p->bother_s = BOTHER * rival->time_s;
    solve(p);
    trace_back(p, &steps);
    own.time_s = time_of(p, &steps, seconds, NULL);
    if (!(own.time_s < (1 - WORTH) * rival->time_s) || !(own.time_s < s->time_s) ||
        steps.count == 1)
        return 0;
    own.phase_count = steps.count;
    own.phases = hm__arena_alloc(arena, steps.count, sizeof(*own.phases));
    if (!own.phases)
        return hm__fail_nomem(err);
    time_of(p, &steps, seconds, own.phases);
    if (bound_gain(p, &own, &steps, rival, confidence) >= WORTH)
        *s = own;
    return 0;
}

/* One m from the beginning to the end. */
static int stay_fixed(struct hm_schedule *s, struct hm_arena *arena, const struct rival *rival,
                      double level, struct hm_err *err)
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

static int of_algorithm(struct plan *p, struct hm_runner *runners, size_t count, size_t first)
{
    p->count = 0;
    for (size_t k = 0; k < count; k++) {
        if (runners[k].g == runners[first].g && k < first)
            return 0; /* was looked at already */
        if (runners[k].g == runners[first].g && p->count < HM_RUNNERS_MAX)
            p->runners[p->count++] = &runners[k];
    }
    return p->count > 0;
}

int hm__schedule_find(struct hm_schedule *s, struct hm_arena *arena, struct hm_runner *runners,
                      size_t count, double best, double level, double switch_s, double confidence,
                      struct hm_err *err)
{
    struct plan p = {.to = level, .switch_s = switch_s};
    struct rival rival = {0};
    size_t room = (count < HM_RUNNERS_MAX ? count : HM_RUNNERS_MAX) * LEVELS + 1;
    int rc = 0;

    p.runners = hm__arena_alloc(arena, HM_RUNNERS_MAX, sizeof(struct hm_runner *));
    p.at = hm__arena_alloc(arena, room, sizeof(*p.at));
    p.ahead = hm__arena_alloc(arena, room, sizeof(*p.ahead));
    p.next = hm__arena_alloc(arena, room, sizeof(*p.next));
    if (!p.runners || !p.at || !p.ahead || !p.next)
        return hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < count; k++)
        if (of_algorithm(&p, runners, count, k) && (rc = lay_out(&p, best, err)) == 0)
            try_fixed(&p, &rival);
    rc = rc ? rc : stay_fixed(s, arena, &rival, level, err);
    for (size_t k = 0; rc == 0 && rival.runner && k < count; k++)
        if (of_algorithm(&p, runners, count, k))
            rc = try_schedule(&p, s, arena, best, &rival, confidence, err);
    s->fixed_s = rival.runner ? rival.time_s : NAN;
    s->gain = 1 - s->time_s / s->fixed_s;
    return rc;
}
