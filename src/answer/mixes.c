/*
 * Chooses the mix of machines for each number of workers on a cluster with several kinds of
 * machines.
 *
 * All mixes of 0 to count_k machines of each kind k are evaluated. If there are more than MIXES_MAX
 * of them, only some numbers of machines (levels) are tried for each kind. They are spread evenly
 * over 0 to count_k, and always include 0, 1 and count_k. A mix uses all workers of its machines,
 * except that a single machine may use some of its workers. For each number of workers, the mix
 * with the best value of the goal is kept; mixes that meet the deadline and the budget are
 * preferred. The plan is then a search over the number of workers n, as for other clusters. Limit:
 * when changed hardware or batches are evaluated, the mix for each n stays the same.
 */
#include "mixes.h"

#include <math.h>
#include <string.h>

#include "budget.h"
#include "chance.h"
#include "checks.h"
#include "err.h"
#include "model_step.h"
#include "names.h"

enum { MIXES_MAX = 1024 };

/*
 * Returns the number of different counts of machines that are tried for a kind, if at most `most`
 * are tried for each kind.
 */
static double kind_levels(const struct hm_kind *kind, double most)
{
    return fmin(kind->count + 1, most);
}

/* Returns the number of different counts of machines that may be tried for each kind so that there
 * are at most MIXES_MAX mixes. */
static double levels_most(const struct hm_cluster *c)
{
    double most = MIXES_MAX, mixes;

    do {
        mixes = 1;
        for (size_t k = 0; k < c->kind_count; k++)
            mixes *= kind_levels(&c->kinds[k], most);
        if (mixes > MIXES_MAX)
            most = floor(most * (most > 32 ? 0.9 : 1)) - (most > 32 ? 0 : 1);
    } while (mixes > MIXES_MAX && most > 2);
    return most;
}

bool hm__mixes_partial(const struct hm_cluster *c)
{
    double most = levels_most(c);

    for (size_t k = 0; k < c->kind_count; k++)
        if (kind_levels(&c->kinds[k], most) < c->kinds[k].count + 1)
            return true;
    return false;
}

/*
 * Returns the count of machines of a kind that is tried at index `level`: 0, 1, then counts spread
 * evenly up to the total for this kind.
 */
static double level_machines(const struct hm_kind *kind, double level, double levels)
{
    if (level < 2 || levels > kind->count)
        return levels == 2 && level == 1 ? kind->count : level;
    return round(1 + (level - 1) * (kind->count - 1) / (levels - 2));
}

/* Sets the mix with the given index; returns false after the last one. */
static bool mix_nth(const struct hm_cluster *c, double most, size_t index, struct hm_mix *mix)
{
    double rest = (double)index;

    *mix = (struct hm_mix){{0}};
    for (size_t k = 0; k < c->kind_count; k++) {
        double levels = kind_levels(&c->kinds[k], most);
        mix->machines[k] = level_machines(&c->kinds[k], fmod(rest, levels), levels);
        rest = floor(rest / levels);
    }
    return rest < 1;
}

/* Returns whether the machines of a mix can exchange messages: several machines need a fabric. */
static bool mix_connected(const struct hm_search *s, const struct hm_mix *mix)
{
    const struct hm_job *job = s->job;
    double machines = 0;
    bool sends = s->way.platform != HM_PLATFORM_JOB, fabric = true;

    for (size_t i = 0; i < job->communicate_count; i++)
        sends = sends || !job->communicate[i].time;
    for (size_t k = 0; k < s->cluster->kind_count; k++) {
        machines += mix->machines[k];
        fabric = fabric && (mix->machines[k] == 0 ||
                            s->cluster->kinds[k].machine->fabric.bandwidth_bytes_per_s > 0);
    }
    return machines <= 1 || (!hm__strategy_inside(s->way.strategy) && (!sends || fabric));
}

/* All mixes that were evaluated, as points of a curve, and the machines of each point. */
struct mix_points {
    struct hm_curve curve;
    size_t room;
};

static int points_add(struct mix_points *all, const struct hm_model *model,
                      const struct hm_mix *mix, double n, struct hm_err *err)
{
    int rc = hm__budget_check("cluster", err);

    if (rc)
        return rc;
    struct hm_point *points =
        hm__grow(all->curve.points, all->curve.count, &all->room, sizeof(*points));
    if (!points)
        return hm__fail_nomem(err);
    all->curve.points = points;
    struct hm_point *p = &points[all->curve.count];
    *p = (struct hm_point){.n = n};
    rc = hm__mix_eval(model, mix, 1, p, err);
    all->curve.count += rc == 0;
    return rc;
}

/* For each kind of machine, evaluates a single machine that uses only some of its workers. */
static int points_add_parts(struct mix_points *all, const struct hm_search *s,
                            const struct hm_model *model, double max_n, struct hm_err *err)
{
    int rc = 0;

    for (size_t k = 0; k < s->cluster->kind_count; k++) {
        struct hm_mix mix = {{0}};
        mix.machines[k] = 1;
        double workers = hm__mix_workers(s->cluster, &mix);
        for (double n = 1; rc == 0 && n < workers && n <= max_n; n++)
            rc = points_add(all, model, &mix, n, err);
    }
    return rc;
}

static int points_add_all(struct mix_points *all, const struct hm_search *s,
                          const struct hm_model *model, double max_n, struct hm_err *err)
{
    const double most = levels_most(s->cluster);
    struct hm_mix mix;
    int rc = points_add_parts(all, s, model, max_n, err);

    for (size_t i = 1; rc == 0 && mix_nth(s->cluster, most, i, &mix); i++) {
        double n = hm__mix_workers(s->cluster, &mix);
        if (n <= max_n && mix_connected(s, &mix))
            rc = points_add(all, model, &mix, n, err);
    }
    return rc;
}

/* Sets the reference of the curve: the fastest mix for the reference number of workers. */
static int points_set_reference(struct mix_points *all, const struct hm_search *s,
                                struct hm_err *err)
{
    const struct hm_point *best = NULL;

    for (size_t i = 0; i < all->curve.count; i++) {
        const struct hm_point *p = &all->curve.points[i];
        if (p->n == s->reference && (!best || p->time_s < best->time_s))
            best = p;
    }
    if (!best) {
        hm__fail(err, HM_E_RANGE, "reference: no mix of the machines has %g workers", s->reference);
        hm__err_field(err, "reference");
        return HM_E_RANGE;
    }
    all->curve.reference = *best;
    return 0;
}

/* Returns whether point p is a better choice than q, which has the same number of workers. */
static bool point_is_better(const struct hm_search *s, const struct hm_point *p,
                            const struct hm_point *q)
{
    bool allowed = hm__search_allows(s, p);

    if (allowed != hm__search_allows(s, q))
        return allowed;
    if (p->fits != q->fits)
        return p->fits;
    double x = hm__search_value(s, p), y = hm__search_value(s, q);
    return x < y || (x == y && p->total_s < q->total_s);
}

/* Keeps the best mix for each number of workers. */
static int points_choose(const struct mix_points *all, const struct hm_search *search,
                         struct hm_mixes *mixes, struct hm_err *err)
{
    struct hm_search s = *search;
    const struct hm_point **best = hm__calloc(mixes->count, sizeof(*best));
    double time_s = INFINITY, expense = INFINITY;

    if (!best)
        return hm__fail_nomem(err);
    /* Weights that are not given are chosen so that the shortest time and the lowest cost are
     * equally important, as for other clusters. */
    hm__curve_least(&s, &all->curve, &time_s, &expense);
    s.alpha = isnan(s.alpha) ? 1 / fmax(time_s, 1e-300) : s.alpha;
    s.beta = isnan(s.beta) ? 1 / fmax(expense, 1e-300) : s.beta;
    for (size_t i = 0; i < all->curve.count; i++) {
        const struct hm_point *p = &all->curve.points[i];
        size_t n = (size_t)p->n;
        if (!best[n] || point_is_better(&s, p, best[n]))
            best[n] = p;
    }
    for (size_t n = 1; n < mixes->count; n++)
        if (best[n])
            memcpy(mixes->at[n].machines, best[n]->machines, sizeof(mixes->at[n].machines));
    hm__free(best);
    return 0;
}

/* Evaluates all mixes and fills the table of the best mixes. */
static int mixes_fill(struct hm_mixes *mixes, const struct hm_search *search, double max_n,
                      struct hm_err *err)
{
    struct hm_search s = *search;
    struct mix_points all = {0};
    struct hm_model *model = NULL;

    s.mixes = mixes;
    struct hm_variant variant = hm__search_variant(&s);
    int rc = hm__model_new(s.job, s.cluster, &variant, &model, err);
    if (rc == 0)
        rc = points_add_all(&all, &s, model, max_n, err);
    if (rc == 0)
        rc = points_set_reference(&all, &s, err);
    if (rc == 0) {
        hm__curve_finish(&all.curve, &s, 1);
        rc = hm__curve_bounds(&all.curve, &s, model, err);
    }
    if (rc == 0)
        rc = points_choose(&all, &s, mixes, err);
    hm__curve_release(&all.curve);
    hm__model_free(model);
    return rc;
}

int hm__mixes_new(const struct hm_search *s, const struct hm_mixes *shared,
                  struct hm_mixes **ret_mixes, struct hm_err *err)
{
    bool ceiling;
    double max_n = hm__search_max_n(s, &ceiling);
    struct hm_mixes *mixes = hm__calloc(1, sizeof(*mixes));
    int rc = mixes ? 0 : hm__fail_nomem(err);

    if (rc)
        return rc;
    mixes->cluster = s->cluster;
    mixes->count = (size_t)fmax(max_n, 1) + 1;
    mixes->at = hm__calloc(mixes->count, sizeof(*mixes->at));
    if (!mixes->at)
        rc = hm__fail_nomem(err);
    for (size_t k = 0; rc == 0 && k < s->cluster->kind_count; k++) {
        if (shared)
            mixes->tables[k] = shared->tables[k];
        else
            rc = hm__model_table_new(s->job, s->cluster->kinds[k].machine, NULL, &mixes->tables[k],
                                     err);
    }
    if (rc == 0)
        rc = mixes_fill(mixes, s, max_n, err);
    if (rc)
        hm__mixes_free(mixes, !shared);
    else
        *ret_mixes = mixes;
    return rc;
}

void hm__mixes_free(struct hm_mixes *mixes, bool tables)
{
    if (!mixes)
        return;
    for (size_t k = 0; tables && k < HM_KINDS_MAX; k++)
        hm__step_table_free(mixes->tables[k]);
    hm__free(mixes->at);
    hm__free(mixes);
}

bool hm__mixes_have(const struct hm_mixes *mixes, double n)
{
    return n >= 1 && n < (double)mixes->count &&
           hm__mix_workers(mixes->cluster, &mixes->at[(size_t)n]) > 0;
}

size_t hm__mixes_count(const struct hm_mixes *mixes, double max_n)
{
    size_t count = 0;

    for (size_t n = 1; n < mixes->count && (double)n <= max_n; n++)
        count += hm__mixes_have(mixes, (double)n);
    return count;
}

int hm__kind_names(struct hm_arena *arena, const struct hm_cluster *c, const char ***ret_names,
                   size_t *ret_count, struct hm_err *err)
{
    const char **names;

    *ret_names = NULL;
    *ret_count = 0;
    if (!c || c->kind_count == 0)
        return 0;
    names = hm__arena_alloc(arena, c->kind_count, sizeof(*names));
    for (size_t k = 0; names && k < c->kind_count; k++) {
        const char *name = c->kinds[k].machine->name;
        names[k] =
            name ? hm__arena_strdup(arena, name) : hm__arena_printf(arena, "kind %zu", k + 1);
        if (!names[k])
            return hm__fail_nomem(err);
    }
    if (!names)
        return hm__fail_nomem(err);
    *ret_names = names;
    *ret_count = c->kind_count;
    return 0;
}
