/*
 * Computes the time of an iteration on machines of several kinds.
 *
 * Each kind k has its own model. With equal shares, every worker has batch/n samples. With shares
 * by speed, a worker of kind k has the share v_k / sum_j w_j v_j of the batch, where w_j is the
 * number of workers of kind j, and v_j is the inverse of their computation time with equal shares.
 * Messages among the workers move at the slowest link of the mix: the smallest bandwidth, the
 * largest latency, and the smallest number of workers per node among the kinds in use. A
 * synchronous step takes as long as its slowest worker, so its time is the time of the slowest
 * kind. Asynchronous workers do not wait: n gradients take n / sum_j (w_j / t_j) seconds. Their
 * shares are equal.
 *
 * The price is the sum of the prices of all machines (Anwar et al.). Servers and a driver run on
 * machines of the first kind. Limits: the order in which slow and fast workers are joined by a
 * collective is not modelled, and stragglers of a kind are counted as if all n workers had them.
 */
#include <math.h>

#include "checks.h"
#include "err.h"
#include "mix.h"
#include "model.h"
#include "model_state.h"
#include "way_time.h"

int hm__model_new_mixed(const struct hm_job *job, const struct hm_cluster *cluster,
                        const struct hm_variant *variant, struct hm_model **ret_model,
                        struct hm_err *err)
{
    struct hm_variant own = *variant;
    struct hm_model *m = NULL;

    if (!variant->mixes)
        return hm__cluster_one_kind(cluster, err);
    own.mixes = NULL;
    own.stragglers = NULL;
    own.table = variant->mixes->tables[0];
    int rc = hm__model_new(job, cluster->kinds[0].machine, &own, &m, err);
    for (size_t k = 0; rc == 0 && k < cluster->kind_count; k++) {
        own.table = variant->mixes->tables[k];
        rc = hm__model_new(job, cluster->kinds[k].machine, &own, &m->kinds[k], err);
    }
    if (rc) {
        hm__model_free(m);
        return rc;
    }
    m->mixes = variant->mixes;
    *ret_model = m;
    return 0;
}

double hm__mix_workers(const struct hm_cluster *cluster, const struct hm_mix *mix)
{
    double n = 0;

    for (size_t k = 0; k < cluster->kind_count; k++)
        n += mix->machines[k] * cluster->kinds[k].machine->node.accelerators;
    return n;
}

/* Reduces a link to the smaller bandwidth and the larger latency of two links. */
static void link_slower(struct hm_link *link, const struct hm_link *other)
{
    if (isnan(link->bandwidth_bytes_per_s) ||
        other->bandwidth_bytes_per_s < link->bandwidth_bytes_per_s)
        link->bandwidth_bytes_per_s = other->bandwidth_bytes_per_s;
    link->latency_s = fmax(link->latency_s, other->latency_s);
    link->reduces = link->reduces && other->reduces;
}

/*
 * Returns the links of a mix of machines: the smallest bandwidth and the largest latency of the
 * kinds of machines in use.
 */
static struct hm_wires mix_wires(const struct hm_model *m, const struct hm_mix *mix)
{
    struct hm_wires wires = m->wires;
    bool any = false;

    for (size_t k = 0; k < m->mixes->cluster->kind_count; k++) {
        const struct hm_wires *own = &m->kinds[k]->wires;
        if (!(mix->machines[k] > 0))
            continue;
        if (!any) {
            wires = *own;
            any = true;
            continue;
        }
        link_slower(&wires.fabric, &own->fabric);
        link_slower(&wires.link, &own->link);
        wires.per_node = fmin(wires.per_node, own->per_node);
    }
    return wires;
}

/*
 * Copies the model of one kind of machine with other links; its share of the batch is multiplied by
 * `share`.
 */
static void kind_model(const struct hm_model *kind, const struct hm_wires *wires, double share,
                       struct hm_model *ret_model)
{
    *ret_model = *kind;
    ret_model->wires = *wires;
    ret_model->batch *= share;
    if (kind->job->compute && !hm__formula_uses(kind->job->compute, HM_SYMBOL_BATCH))
        ret_model->compute_work *= share;
    ret_model->symbols[HM_SYMBOL_BATCH] *= share;
    ret_model->symbols[HM_SYMBOL_BANDWIDTH] = wires->fabric.bandwidth_bytes_per_s;
    ret_model->symbols[HM_SYMBOL_LATENCY] = wires->fabric.latency_s;
}

/*
 * Evaluates n workers as if all machines were of kind k, with `share` times the equal share of the
 * batch.
 */
static int kind_eval(const struct hm_model *m, size_t k, const struct hm_wires *wires, double share,
                     double n, double factor, struct hm_point *ret_point, struct hm_err *err)
{
    struct hm_model kind;

    kind_model(m->kinds[k], wires, share, &kind);
    *ret_point = (struct hm_point){.n = n};
    return hm__model_eval_kind(&kind, ret_point, 1, factor, err);
}

/*
 * Sets the share of each kind of machine relative to an equal share, from the computation times
 * with equal shares. A kind whose computation takes no time has an equal share.
 */
static int mix_shares(const struct hm_model *m, const double *workers, const struct hm_wires *wires,
                      double n, double factor, double *shares, struct hm_err *err)
{
    double rate = 0;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < m->mixes->cluster->kind_count; k++) {
        struct hm_point p;
        shares[k] = 0;
        if (!(workers[k] > 0))
            continue;
        rc = kind_eval(m, k, wires, 1, n, factor, &p, err);
        double compute_s = rc ? 1 : p.compute_s - p.wait_s;
        shares[k] = compute_s > 0 ? 1 / compute_s : 0;
        rate += workers[k] * shares[k];
    }
    for (size_t k = 0; k < m->mixes->cluster->kind_count; k++)
        shares[k] = rate > 0 && shares[k] > 0 ? shares[k] * n / rate : 1;
    return rc;
}

/* Sets the number of workers of each kind; only a mix of one machine may have idle workers. */
static void mix_workers(const struct hm_cluster *cluster, const struct hm_mix *mix, double n,
                        double *workers)
{
    for (size_t k = 0; k < cluster->kind_count; k++)
        workers[k] = fmin(mix->machines[k] * cluster->kinds[k].machine->node.accelerators, n);
}

/* Sets the machines of a point (the number of each kind) and their price. */
static void point_machines(const struct hm_model *m, const struct hm_mix *mix,
                           struct hm_point *point)
{
    const struct hm_cluster *cluster = m->mixes->cluster;
    double outside = hm__way_nodes(&m->variant.way);

    point->nodes = outside;
    point->price_per_s = outside > 0 ? outside * cluster->kinds[0].machine->node.price_per_s : 0;
    for (size_t k = 0; k < cluster->kind_count; k++) {
        point->machines[k] = mix->machines[k];
        point->nodes += mix->machines[k];
        if (mix->machines[k] > 0)
            point->price_per_s += mix->machines[k] * cluster->kinds[k].machine->node.price_per_s;
    }
}

int hm__mix_eval(const struct hm_model *m, const struct hm_mix *mix, double factor,
                 struct hm_point *point, struct hm_err *err)
{
    const struct hm_cluster *cluster = m->mixes->cluster;
    const bool async = m->variant.way.consistency == HM_CONSISTENCY_ASYNC;
    const bool by_speed = cluster->shares == HM_SHARES_SPEED && !async && !m->job->graph;
    const struct hm_wires wires = mix_wires(m, mix);
    double workers[HM_KINDS_MAX], shares[HM_KINDS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};
    double n = point->n, rate = 0;
    struct hm_point slowest = {.n = n};
    bool fits = true;
    int rc = 0;

    mix_workers(cluster, mix, n, workers);
    if (by_speed)
        rc = mix_shares(m, workers, &wires, n, factor, shares, err);
    for (size_t k = 0; rc == 0 && k < cluster->kind_count; k++) {
        struct hm_point p;
        if (!(workers[k] > 0))
            continue;
        rc = kind_eval(m, k, &wires, shares[k], n, factor, &p, err);
        if (rc)
            break;
        rate += workers[k] / p.time_s;
        fits = fits && p.fits;
        if (slowest.time_s == 0 || p.time_s > slowest.time_s)
            slowest = p;
    }
    if (rc)
        return rc;
    if (async && rate > 0)
        slowest.time_s = n / rate;
    slowest.fits = fits;
    *point = slowest;
    point_machines(m, mix, point);
    return 0;
}

/* Finds the mix of n workers; fails if there is no such mix. */
static int mix_find(const struct hm_model *m, double n, const struct hm_mix **ret_mix,
                    struct hm_err *err)
{
    size_t at = n >= 1 && n < (double)m->mixes->count ? (size_t)n : 0;

    if (at > 0 && (double)at == n && hm__mix_workers(m->mixes->cluster, &m->mixes->at[at]) >= n) {
        *ret_mix = &m->mixes->at[at];
        return 0;
    }
    hm__fail(err, HM_E_RANGE, "no mix of the machines has %g workers", n);
    hm__err_field(err, "n");
    return HM_E_RANGE;
}

int hm__model_mix_links(const struct hm_model *m, double n, struct hm_model *ret_model,
                        struct hm_err *err)
{
    const struct hm_mix *mix;
    int rc = mix_find(m, n, &mix, err);

    if (rc)
        return rc;
    const struct hm_wires wires = mix_wires(m, mix);
    kind_model(m->kinds[0], &wires, 1, ret_model);
    return 0;
}

int hm__model_eval_slowed(const struct hm_model *m, struct hm_point *points, size_t count,
                          double factor, struct hm_err *err)
{
    int rc = 0;

    if (!m->mixes)
        return hm__model_eval_kind(m, points, count, factor, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct hm_mix *mix;
        rc = mix_find(m, points[i].n, &mix, err);
        if (rc == 0)
            rc = hm__mix_eval(m, mix, factor, &points[i], err);
    }
    return rc;
}
