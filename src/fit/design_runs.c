/*
 * Chooses the whole runs of a design from the shares of the candidates: rounds the shares, spends
 * the rest of the budget, and sorts the runs with the most informative first.
 */
#include "design_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"

struct ranked_share {
    double share;
    size_t j;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked_share *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return x->j < y->j ? -1 : x->j > y->j;
}

/*
 * Chooses whole runs: the runs with a share above `keep`, then further runs with the largest shares
 * until the coefficients are determined. Removes the runs with the smallest shares while the total
 * cost exceeds the budget. Returns the number of runs; *ret_short is set to true if the budget does
 * not pay for enough runs to determine the coefficients.
 */
static size_t round_shares(struct design_work *w, const struct ranked_share *ranked, double *whole,
                           bool *ret_short)
{
    double keep = w->settings->keep > 0 ? w->settings->keep : 0.3, cost = 0;
    size_t made = 0;

    for (; made < w->count; made++) {
        if (hm__budget_spent("n"))
            break;
        if (ranked[made].share <= keep && isfinite(hm__programme_value(&w->programme, whole)))
            break;
        if (ranked[made].share <= 1e-6 && made > 0)
            break;
        whole[ranked[made].j] = 1;
        cost += w->cost[ranked[made].j];
    }
    while (made > 1 && cost > w->programme.budget * (1 + 1e-9)) {
        whole[ranked[made - 1].j] = 0;
        /*
         * Many runs always determine the coefficients, so this is checked only when few runs are
         * left.
         */
        if (made <= 4 * w->basis.count && isinf(hm__programme_value(&w->programme, whole))) {
            whole[ranked[made - 1].j] = 1;
            *ret_short = true;
            break;
        }
        cost -= w->cost[ranked[--made].j];
    }
    return made;
}

/*
 * Returns the quantities of a candidate other than n and size as text, such as "latency = 0.01,
 * batch = 64"; NULL if there are none.
 */
static const char *candidate_text(const struct design_work *w, size_t row)
{
    char text[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < w->candidates->column_count && used < sizeof(text); i++) {
        const struct hm_column *c = &w->candidates->columns[i];
        if (!c->values || strcmp(c->name, "n") == 0 || strcmp(c->name, "size") == 0)
            continue;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s = %g", used ? ", " : "",
                                 c->name, c->values[row]);
    }
    return used ? hm__arena_strdup(w->design->memory, text) : NULL;
}

/*
 * Returns the criterion of the design with a small ridge added to the information matrix, so that
 * the criterion is finite even if the runs do not determine the coefficients.
 */
static double ridged_value(const struct hm_programme *p, const double *whole)
{
    struct hm_programme ridged = *p;

    for (size_t k = 0; k < p->terms; k++)
        ridged.known[k][k] += 1e-6;
    return hm__programme_value(&ridged, whole);
}

/*
 * Spends the rest of the budget: adds the run with the largest gain per cost until no affordable
 * run has a gain. Returns the number of runs.
 */
static size_t fill_budget(struct design_work *w, struct ranked_share *ranked, size_t made,
                          double *whole)
{
    double cost = 0;

    for (size_t i = 0; i < made; i++)
        cost += w->cost[ranked[i].j];
    while (made < w->count) {
        double now = ridged_value(&w->programme, whole), most = 0;
        size_t best = HM_NONE;
        for (size_t i = made; i < w->count; i++) {
            if (hm__budget_spent("n"))
                return made;
            size_t j = ranked[i].j;
            if (cost + w->cost[j] > w->programme.budget)
                continue;
            whole[j] = 1;
            double gain = (now - ridged_value(&w->programme, whole)) / fmax(w->cost[j], 1e-300);
            whole[j] = 0;
            if (gain > most) {
                most = gain;
                best = i;
            }
        }
        if (best == HM_NONE)
            break;
        struct ranked_share swap = ranked[best];
        ranked[best] = ranked[made];
        ranked[made++] = swap;
        whole[swap.j] = 1;
        cost += w->cost[swap.j];
    }
    return made;
}

static void fill_chosen(struct design_work *w, size_t j, struct hm_chosen *chosen)
{
    const double *size = hm__design_values(w->candidates, "size");
    size_t row = w->rows[j];

    *chosen = (struct hm_chosen){.row = row,
                                 .n = hm__design_values(w->candidates, "n")[row],
                                 .size = size ? size[row] : NAN,
                                 .where = candidate_text(w, row),
                                 .cost = w->cost[j],
                                 .share = w->shares[j],
                                 .after = NAN,
                                 .time_s = w->seconds[j]};
}

enum { ORDERED_MAX = 150 };

/* Copies the convex programme with only the chosen runs as candidates, so that it is cheap to
 * evaluate many times. */
static int programme_of_made(const struct design_work *w, const struct ranked_share *ranked,
                             size_t made, struct hm_programme *ret_programme, double **ret_features,
                             struct hm_err *err)
{
    const size_t terms = w->basis.count;
    double *features = hm__calloc(made * terms, sizeof(*features));

    if (!features)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < made; i++)
        memcpy(features + i * terms, w->features + ranked[i].j * terms, terms * sizeof(*features));
    *ret_programme = w->programme;
    ret_programme->features = features;
    ret_programme->count = made;
    *ret_features = features;
    return 0;
}

/*
 * Returns the index of the run that improves the criterion most when it is added to the runs in
 * whole[].
 */
static size_t most_informative(const struct hm_programme *p, double *whole)
{
    size_t best = HM_NONE;
    double least = INFINITY;

    for (size_t i = 0; i < p->count; i++) {
        if (whole[i] > 0)
            continue;
        whole[i] = 1;
        double value = ridged_value(p, whole);
        whole[i] = 0;
        if (best == HM_NONE || value < least) {
            least = value;
            best = i;
        }
    }
    return best;
}

/*
 * Sorts the chosen runs with the most informative first; runs after the first ORDERED_MAX are
 * sorted by share.
 */
static int order_made(struct design_work *w, const struct ranked_share *ranked, size_t made,
                      double *whole, struct hm_err *err)
{
    struct hm_design *d = w->design;
    size_t ordered = made < ORDERED_MAX ? made : ORDERED_MAX;
    struct hm_programme few;
    double *features = NULL;
    int rc = programme_of_made(w, ranked, ordered, &few, &features, err);

    if (rc)
        return rc;
    d->rounded = hm__programme_value(&w->programme, whole);
    memset(whole, 0, w->count * sizeof(*whole));
    for (size_t i = 0; i < made; i++) {
        size_t next = i < ordered ? most_informative(&few, whole) : i;
        whole[next] = 1;
        fill_chosen(w, ranked[next].j, &d->chosen[i]);
        d->chosen[i].made = true;
        d->chosen[i].after = i < ordered ? hm__programme_value(&few, whole) : NAN;
    }
    hm__free(features);
    if (w->programme.budget < INFINITY && !w->settings->fill && d->rounded > 2 * fabs(d->objective))
        return hm__notes_add(
            hm__design_notes(d), err,
            "whole runs give much less information than shares of runs would: fill spends "
            "the rest of the budget");
    return 0;
}

static void design_sum_up(struct design_work *w)
{
    struct hm_design *d = w->design;
    const struct hm_job *job = w->settings->job;
    const struct hm_cluster *c = w->settings->cluster      ? w->settings->cluster
                                 : job && job->has_cluster ? &job->cluster
                                                           : NULL;

    d->money = d->seconds = w->fit ? 0 : NAN;
    for (size_t i = 0; i < d->made_count; i++) {
        d->spent += d->chosen[i].cost;
        if (w->fit)
            d->seconds += hm__design_node_seconds(w, d->chosen[i].n, d->chosen[i].time_s);
    }
    d->money = w->fit && c && c->node.price_per_s >= 0 ? d->seconds * c->node.price_per_s : NAN;
}

/*
 * Sets how precisely the time at the target will be known after the runs of the design. A job and a
 * target must be given.
 */
static void design_set_within(struct design_work *w, const struct ranked_share *ranked)
{
    const struct hm__fit *f = w->fit ? w->fit->inside : NULL;
    double target[HM_TERMS_MAX];

    w->design->within = NAN;
    if (!f || w->settings->criterion != HM_CRITERION_I)
        return;
    for (size_t i = 0; i < w->design->made_count; i++)
        hm__design_add_run(w, w->features + ranked[i].j * w->basis.count);
    for (size_t k = 0; k < w->basis.count; k++)
        target[k] = w->programme.target[k] / w->scale[k];
    w->design->within = hm__design_within(&w->runs, f->basis.priors, w->noise, target);
}

int hm__design_choose_runs(struct design_work *w, struct hm_err *err)
{
    struct hm_design *d = w->design;
    struct ranked_share *ranked = hm__calloc(w->count, sizeof(*ranked));
    double *whole = hm__calloc(w->count, sizeof(*whole));
    size_t listed = 0;

    if (!ranked || !whole) {
        hm__free(ranked);
        hm__free(whole);
        return hm__fail_nomem(err);
    }
    d->before = hm__programme_value(&w->programme, whole);
    for (size_t j = 0; j < w->count; j++)
        ranked[j] = (struct ranked_share){w->shares[j], j};
    qsort(ranked, w->count, sizeof(*ranked), compare_ranked);
    bool is_short = false;
    d->made_count = round_shares(w, ranked, whole, &is_short);
    if (w->settings->fill)
        d->made_count = fill_budget(w, ranked, d->made_count, whole);
    while (listed < w->count && (listed < d->made_count || ranked[listed].share > 1e-3))
        listed++;
    d->chosen = hm__arena_alloc(d->memory, listed, sizeof(*d->chosen));
    int rc = d->chosen ? 0 : hm__fail_nomem(err);
    if (rc == 0 && is_short)
        rc =
            hm__notes_add(hm__design_notes(d), err,
                          "the budget does not pay for enough whole runs to distinguish the terms");
    design_set_within(w, ranked);
    if (rc == 0)
        rc = order_made(w, ranked, d->made_count, whole, err);
    if (rc == 0) {
        for (size_t i = d->made_count; i < listed; i++)
            fill_chosen(w, ranked[i].j, &d->chosen[i]);
        d->chosen_count = listed;
        design_sum_up(w);
    }
    hm__free(ranked);
    hm__free(whole);
    return rc;
}
