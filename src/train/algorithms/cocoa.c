/*
 * Implements CoCoA and CoCoA+. In a round, each of the K ranks improves the dual objective by
 * changing the dual variables of its own rows. Within this local problem, the rank's change of the
 * weights w is multiplied by sigma; afterwards, the changes of all ranks are added with weight
 * gamma:
 *
 *     CoCoA   gamma = 1/K, sigma = 1: average;      CoCoA+  gamma = 1, sigma = K: add.
 *
 * Jaggi et al.: Communication-efficient distributed dual coordinate ascent, NIPS 2014; Ma et al.:
 * Adding vs. averaging in distributed primal-dual optimization, ICML 2015.
 */
#include "local_sdca.h"

#include "err.h"

static int cocoa_begin(struct hm_run *run, struct hm_err *err)
{
    struct hm_local_sdca *local = hm__arena_alloc(run->arena, 1, sizeof(*local));

    if (!local)
        return hm__fail_nomem(err);
    run->state = local;
    return hm__local_sdca_init(local, run, err);
}

/*
 * Performs one round. The changes of the weights w on all ranks are summed with weight gamma; sigma
 * is the factor of the quadratic term in the local problem of each rank.
 */
static void cocoa_round(struct hm_run *run, double gamma, double sigma)
{
    struct hm_local_sdca *local = run->state;
    size_t d = run->objective->unknowns;
    double *change = run->gradient;

    hm__local_sdca_solve(local, run, sigma);
    for (size_t j = 0; j < d; j++)
        change[j] = (local->w[j] - run->w[j]) / sigma;
    change[d] = local->visited;
    hm__comm_work(run->comm, 2 * (double)d);
    /*
     * With shrinking, the number of visited rows differs between rounds, so this number is summed
     * over the ranks together with the changes of w.
     */
    hm__comm_sum(run->comm, change, run->settings.shrink ? d + 1 : d, run->scratch);
    run->samples +=
        run->settings.shrink ? change[d] : run->settings.passes * run->objective->total_rows;
    for (size_t j = 0; j < d; j++)
        run->w[j] += gamma * change[j];
    for (size_t i = 0; i < run->objective->rows.count && gamma != 1; i++)
        local->alpha[i] = local->before[i] + gamma * (local->alpha[i] - local->before[i]);
    hm__comm_work(run->comm, 2 * (double)d + 2 * (double)run->objective->rows.count);
}

static void cocoa_average(struct hm_run *run)
{
    cocoa_round(run, 1.0 / run->comm->size, 1);
}

static void cocoa_add(struct hm_run *run)
{
    cocoa_round(run, 1, run->comm->size);
}

static double cocoa_dual(const struct hm_run *run)
{
    return hm__local_sdca_dual(run->state, run);
}

static size_t cocoa_parts(struct hm_run *run, struct hm_part parts[HM_PARTS])
{
    struct hm_local_sdca *local = run->state;

    parts[0] = (struct hm_part){"alpha", local->alpha, run->objective->rows.count, true};
    if (!run->settings.shrink)
        return 1;
    parts[1] = (struct hm_part){"resting", local->resting, run->objective->rows.count, true};
    parts[2] = (struct hm_part){"away", local->away, run->objective->rows.count, true};
    return 3;
}

const struct hm_algorithm hm__algorithm_cocoa = {
    .name = "cocoa",
    .title = "CoCoA: local dual ascent, averaged",
    .traits = HM_TRAIT_DUAL | HM_TRAIT_LINEAR,
    .defaults = {.passes = 1},
    .begin = cocoa_begin,
    .step = cocoa_average,
    .dual = cocoa_dual,
    .parts = cocoa_parts,
};

const struct hm_algorithm hm__algorithm_cocoa_plus = {
    .name = "cocoa+",
    .title = "CoCoA+: local dual ascent, added",
    .traits = HM_TRAIT_DUAL | HM_TRAIT_LINEAR,
    .defaults = {.passes = 1},
    .begin = cocoa_begin,
    .step = cocoa_add,
    .dual = cocoa_dual,
    .parts = cocoa_parts,
};
