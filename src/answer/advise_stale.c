/*
 * Adds candidates with stale or dropped gradients: bounded staleness (ssp), asynchronous runs and
 * backup workers. Such a run needs c times as many iterations as a synchronous run, where c comes
 * from the fit of the loss curves (stale.c), and its iterations take as long as in runs of the same
 * kind. Each kind that has times becomes a candidate on every number of workers within the measured
 * range. Limit: kinds without times of their own are left out, because the time of their iterations
 * is not known.
 */
#include <math.h>
#include <string.h>

#include "advise_parts.h"
#include "budget.h"
#include "err.h"

/*
 * Returns the cost of staleness for the kind of runs whose iteration times `pace` holds; NULL if
 * the fit has no such cost.
 */
static const struct hm_g_stale *cost_of_pace(const struct hm_g *g, const struct hm_pace *pace)
{
    const struct hm_g_stale *cost = pace->backups > 0        ? &g->backup
                                    : isinf(pace->staleness) ? &g->async
                                                             : &g->ssp;

    if (pace->backups > 0 && pace->staleness > 0)
        return NULL;
    return cost->traces > 0 ? cost : NULL;
}

/*
 * Returns whether `pace` holds the iteration times of an algorithm's stale runs, or of its runs
 * with backup workers.
 */
static bool pace_is_stale(const struct hm_pace *pace, const struct hm_g *g)
{
    return (pace->staleness > 0 || pace->backups > 0) && pace->algorithm &&
           strcmp(pace->algorithm, g->algorithm) == 0 && cost_of_pace(g, pace) != NULL;
}

/*
 * Returns the times of stale runs: the given times if there are any, otherwise the times in the
 * traces.
 */
static const struct hm_paces *source_at(const struct hm_advising *a, size_t k)
{
    return a->pace_count > 0 ? a->paces[k] : a->convergence->paces;
}

static size_t source_count(const struct hm_advising *a)
{
    return a->pace_count > 0 ? a->pace_count : 1;
}

size_t hm__advising_count_stale(const struct hm_advising *a, const struct hm_g *g)
{
    size_t count = 0;

    for (size_t s = 0; s < source_count(a); s++)
        for (size_t k = 0; source_at(a, s) && k < source_at(a, s)->count; k++)
            count += pace_is_stale(&source_at(a, s)->paces[k], g);
    return count;
}

static const char *kind_name(struct hm_arena *arena, const struct hm_g *g,
                             const struct hm_pace *pace)
{
    const char *gap = *g->algorithm ? " " : "";

    if (pace->backups > 0)
        return hm__arena_printf(arena, "%s%s(%g backup%s)", g->algorithm, gap, pace->backups,
                                pace->backups == 1 ? "" : "s");
    if (isinf(pace->staleness))
        return hm__arena_printf(arena, "%s%s(async)", g->algorithm, gap);
    return hm__arena_printf(arena, "%s%s(ssp %g)", g->algorithm, gap, pace->staleness);
}

static bool cost_is_measured(const struct hm_g_stale *cost, double staleness, double m)
{
    for (size_t k = 0; k < cost->cost_count; k++)
        if (cost->costs[k].staleness == staleness && cost->costs[k].m == m)
            return true;
    return false;
}

/* Returns whether m is outside the range of numbers of workers for which `pace` has measured
 * times. */
static bool pace_is_beyond(const struct hm_pace *pace, double m)
{
    return pace->count > 0 && (m < pace->m[0] || m > pace->m[pace->count - 1]);
}

/* Adds the candidates of one kind of stale runs. */
static int advising_add_kind(struct hm_advising *a, const struct hm_g *g,
                             const struct hm_pace *pace, struct hm_err *err)
{
    const struct hm_g_stale *cost = cost_of_pace(g, pace);
    const char *name = kind_name(a->memory, g, pace);
    double staleness = pace->backups > 0 ? pace->backups : pace->staleness;
    int rc = name ? 0 : hm__fail_nomem(err);

    for (size_t k = 0; rc == 0 && (rc = hm__budget_check("m", err)) == 0 && k < a->m_count; k++) {
        struct hm_runner *r = &a->runners[a->count];
        if ((g->m_count == 1 && a->ms[k] != g->m[0]) || pace->backups >= a->ms[k] ||
            pace_is_beyond(pace, a->ms[k]) || !hm__pace_eval(pace, a->ms[k], &r->seconds, r->paces))
            continue;
        a->count++;
        rc = hm__runner_init(r, g, a->ms[k], a->convergence->best, a->question->seed, err);
        if (rc)
            break;
        r->name = name;
        r->staleness = pace->staleness;
        r->backups = pace->backups;
        hm__runner_vary(r, hm__pace_spread(pace, r->m), a->question->seed, a->count);
        hm__runner_delay(r, cost, staleness);
        if (!cost_is_measured(cost, staleness, r->m))
            r->curves = 0;
    }
    return rc;
}

int hm__advising_add_stale(struct hm_advising *a, const struct hm_g *g, struct hm_err *err)
{
    int rc = 0;

    if (g->ssp.traces + g->async.traces + g->backup.traces == 0)
        return 0;
    if (hm__advising_count_stale(a, g) == 0)
        return hm__notes_add(hm__advice_notes(a), err,
                             "stale runs of %s are not candidates: their times are not known",
                             hm__g_name(g->algorithm));
    for (size_t s = 0; s < source_count(a); s++)
        for (size_t k = 0; rc == 0 && source_at(a, s) && k < source_at(a, s)->count; k++)
            if (pace_is_stale(&source_at(a, s)->paces[k], g))
                rc = advising_add_kind(a, g, &source_at(a, s)->paces[k], err);
    return rc;
}
