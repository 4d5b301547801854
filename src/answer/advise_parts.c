/*
 * Who is ahead at which loss, and which run would tell most.
 *
 * The worth of a run is what knowing its result is expected to save (Raiffa and Schlaifer 1961): if
 * it is not the first candidate, how much below the first's expectation it may come out; if it is
 * the first, how much above the second's. Of a candidate that was measured k times already, another
 * run settles one part in k + 1 of what is open.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "advise_parts.h"
#include "err.h"

enum { NOTES = 32, LEVELS = 25, LEAD_DRAWS = 16 };

static const double AHEAD = 0.95; /* of the leader's time, from which another one takes the lead */
static const double WORTH = 0.01; /* of what is expected: a run that saves less is not worth it */

int hm__advice_note(struct hm_advising *a, struct hm_err *err, const char *format, ...)
{
    struct hm_advice *out = a->advice;
    char text[512];
    va_list args;

    if (!out->notes)
        out->notes = hm__arena_alloc(a->memory, NOTES, sizeof(*out->notes));
    if (!out->notes)
        return hm__fail_nomem(err);
    if (out->note_count == NOTES)
        return 0;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    out->notes[out->note_count] = hm__arena_strdup(a->memory, text);
    return out->notes[out->note_count++] ? 0 : hm__fail_nomem(err);
}

/* ---- who is ahead -----------------------------------------------------------------------------
 */

/* Time (or money) to a level, expected over some of the draws; INFINITY where most do not get
 * there.
 */
static double expected_to(const struct hm_advising *a, const struct hm_runner *r, double level)
{
    double times[LEAD_DRAWS];
    size_t there;
    double expected = hm__runner_times(r, level, HM_G_DRAWS / LEAD_DRAWS, times, &there);

    if (2 * there < LEAD_DRAWS)
        return INFINITY;
    return a->question->goal == HM_GOAL_COST ? hm__advising_price(a, r, expected) : expected;
}

/* The best to a level; who led before keeps the lead while nobody is clearly better. */
static const struct hm_runner *leader(const struct hm_advising *a, double level,
                                      const struct hm_runner *before)
{
    const struct hm_runner *best = before ? before : &a->runners[a->order[0]];
    double least = before ? AHEAD * expected_to(a, before, level) : INFINITY;

    for (size_t k = 0; k < a->count; k++) {
        const struct hm_runner *r = &a->runners[a->order[k]];
        double expected = expected_to(a, r, level);
        if (expected < least) {
            least = expected;
            best = r;
        }
    }
    return best;
}

/* The first y that a draw knows; traces may begin later than at the first iteration. */
static double first_known(const struct hm_runner *r, size_t draw)
{
    const double *y = r->y + draw * r->grid.count;
    size_t p = 0;

    while (p + 1 < r->grid.count && isinf(y[p]))
        p++;
    return y[p];
}

/* The level where it begins to matter: the best of what first iterations leave. */
static double first_level(const struct hm_advising *a)
{
    double level = INFINITY;

    for (size_t k = 0; k < a->count; k++) {
        const struct hm_runner *r = &a->runners[k];
        double sum = 0;
        for (size_t d = 0; d < HM_G_DRAWS; d++)
            sum += first_known(r, d) / HM_G_DRAWS;
        level = fmin(level, sum);
    }
    return level;
}

int hm__advice_leads(struct hm_advising *a, struct hm_err *err)
{
    struct hm_advice *out = a->advice;
    const struct hm_runner *first = &a->runners[a->order[0]];
    double from = first_level(a) + 1, to = a->for_loss ? a->level : first->expected;
    const struct hm_runner *last = NULL;

    out->leads = hm__arena_alloc(a->memory, LEVELS + 1, sizeof(*out->leads));
    if (!out->leads)
        return hm__fail_nomem(err);
    for (size_t k = 0; isfinite(from) && isfinite(to) && k < LEVELS; k++) {
        double level = from + (to - from) * (double)k / (LEVELS - 1);
        bool end = k + 1 == LEVELS;
        const struct hm_runner *r = end && a->for_loss ? first : leader(a, level, last);
        if (r != last) {
            double change = exp(level - (to - from) / (LEVELS - 1) / 2);
            if (out->lead_count > 0)
                out->leads[out->lead_count - 1].to = change;
            out->leads[out->lead_count++] = (struct hm_lead){
                .algorithm = r->g->algorithm, .m = r->m, .from = k == 0 ? INFINITY : change};
        }
        last = r;
    }
    if (out->lead_count > 0)
        out->leads[out->lead_count - 1].to = exp(to);
    return 0;
}

/* ---- the next run -----------------------------------------------------------------------------
 */

/* What is expected of the first, and what comes next to it. */
static double worth(const struct hm_advising *a, size_t k)
{
    const struct hm_runner *r = &a->runners[a->order[k]];
    bool first = k == 0;
    double other = a->runners[a->order[first ? 1 : 0]].expected, sum = 0;

    for (size_t d = 0; d < HM_G_DRAWS; d++)
        sum += fmax(0, first ? r->value[d] - other : other - r->value[d]);
    /* Where the first is better anyway, its bad draws are what could be avoided. */
    return sum / HM_G_DRAWS / (1 + (double)r->curves);
}

void hm__advice_next(struct hm_advising *a)
{
    struct hm_next_run *next = &a->advice->next;
    double first = a->runners[a->order[0]].expected;
    double least = a->for_loss ? WORTH * first : WORTH;

    for (size_t k = 0; a->count > 1 && k < a->count; k++) {
        const struct hm_candidate *c = &a->advice->candidates[k];
        double saves = worth(a, k);
        if (!(saves > least) || !(saves > next->saves) || !isfinite(c->time_s))
            continue;
        *next = (struct hm_next_run){.algorithm = c->algorithm,
                                     .m = c->m,
                                     .iterations = c->iterations,
                                     .time_s = c->time_s,
                                     .saves = saves};
    }
}
