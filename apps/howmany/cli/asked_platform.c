/* Platforms as they are asked for. */
#include "asked_platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "err.h"
#include "guest.h"
#include "text.h"

static int take_platform(void *state, const char *piece)
{
    struct cli_platform *p = state;
    int found = hm_platform_find(piece);

    p->any = true;
    if (strcmp(piece, "all") == 0) {
        p->all = true;
        for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_SERVER; i++)
            p->platforms[i] = true;
        return 0;
    }
    if (found < 0)
        return cli_complain("--platform: '%s' is not allreduce, driver, server or all", piece);
    p->platforms[found] = true;
    return 0;
}

static int take_consistency(void *state, const char *piece)
{
    struct cli_platform *p = state;
    int found = hm_consistency_find(piece);

    p->consistency = true;
    if (strcmp(piece, "all") == 0) {
        for (int i = 0; i <= HM_CONSISTENCY_ASYNC; i++)
            p->consistencies[i] = true;
        return 0;
    }
    if (found < 0)
        return cli_complain("--consistency: '%s' is not bsp, ssp, async or all", piece);
    p->consistencies[found] = true;
    return 0;
}

int cli_platform_add(struct cli_platform *p, const char *list)
{
    return cli_each(list, take_platform, p);
}

int cli_consistency_add(struct cli_platform *p, const char *list)
{
    return cli_each(list, take_consistency, p);
}

/* Without --consistency: all where all platforms are asked for, else what other options imply. */
static void imply(struct cli_platform *p)
{
    if (p->consistency)
        return;
    p->consistencies[HM_CONSISTENCY_BSP] = p->all || !p->staleness;
    p->consistencies[HM_CONSISTENCY_SSP] = p->all || p->staleness;
    p->consistencies[HM_CONSISTENCY_ASYNC] = p->all;
}

static int check(const struct cli_platform *p)
{
    const bool *c = p->consistencies;

    if (!p->platforms[HM_PLATFORM_SERVER])
        return cli_complain("plan: --consistency, --staleness, --servers, --colocated, --backups "
                            "and --stale-cost are of --platform server or all");
    if (p->staleness && !c[HM_CONSISTENCY_SSP])
        return cli_complain("plan: --staleness goes with --consistency ssp");
    if (p->backups > 0 && !c[HM_CONSISTENCY_BSP])
        return cli_complain("plan: --backups go with --consistency bsp: otherwise nobody waits for "
                            "a whole step");
    if ((p->stale_cost > 0 || p->stale_fit) && !c[HM_CONSISTENCY_SSP] && !c[HM_CONSISTENCY_ASYNC])
        return cli_complain("plan: --stale-cost goes with --consistency ssp or async");
    return 0;
}

static void add_way(struct cli_platform *p, struct hm_way way)
{
    p->ways[p->way_count++] = way;
}

static void add_servers(struct cli_platform *p)
{
    struct hm_way way = {
        .platform = HM_PLATFORM_SERVER, .servers = p->servers, .colocated = p->colocated};

    if (p->consistencies[HM_CONSISTENCY_BSP] && (p->all || p->backups == 0))
        add_way(p, way);
    if (p->consistencies[HM_CONSISTENCY_BSP] && p->backups > 0) {
        struct hm_way backed = way;
        backed.backups = p->backups;
        add_way(p, backed);
    }
    way.stale_cost = p->stale_cost;
    if (p->consistencies[HM_CONSISTENCY_SSP]) {
        struct hm_way ssp = way;
        ssp.consistency = HM_CONSISTENCY_SSP;
        ssp.staleness = p->staleness ? p->stale : CLI_STALENESS;
        add_way(p, ssp);
    }
    way.consistency = HM_CONSISTENCY_ASYNC;
    if (p->consistencies[HM_CONSISTENCY_ASYNC])
        add_way(p, way);
}

/* ---- what staleness costs, by a fit ------------------------------------------------------------
 */

int cli_stale_cost(struct cli_platform *p, const char *value)
{
    p->stale_cost = 0;
    p->stale_fit = hm__text_ends(value, ".json") ? value : NULL;
    if (p->stale_fit)
        return 0;
    int rc = cli_positive("stale-cost", value, HM_DIM_NONE, &p->stale_cost);
    return rc == 0 && p->stale_cost < 1
               ? cli_complain("--stale-cost: '%s' is less than 1: stale gradients do not save "
                              "iterations",
                              value)
               : rc;
}

static bool tells(const struct hm_g *g)
{
    return g->ssp.traces > 0 || g->async.traces > 0;
}

static const char *algorithm_name(const void *context, size_t i)
{
    const struct hm_convergence *c = context;

    return i < c->count ? c->algorithms[i].algorithm : NULL;
}

/* The algorithm of that name; without a name the only one that has stale traces. */
static int find_algorithm(const struct hm_convergence *c, const char *file, const char *name,
                          size_t *ret_index)
{
    size_t found = 0, index = 0;

    for (size_t k = 0; k < c->count; k++) {
        if (name ? strcmp(c->algorithms[k].algorithm, name) != 0 : !tells(&c->algorithms[k]))
            continue;
        found++;
        index = k;
    }
    *ret_index = index;
    if (found == 0 && name) {
        const char *near = hm__suggest(name, algorithm_name, c);
        return cli_complain("--stale-cost: %s has no '%s'%s%s%s", file, name,
                            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (found > 1)
        return cli_complain("--stale-cost: %s tells it of several algorithms; %s=%s takes the last",
                            file, c->algorithms[index].algorithm, file);
    return found == 1 && tells(&c->algorithms[index])
               ? 0
               : cli_complain("--stale-cost: %s does not tell what staleness costs: howmany "
                              "converge learns it from traces of ssp or async beside fresh ones",
                              file);
}

/* The factors of the ways that are stale; where the fit tells of none of them, say so. */
static int take_costs(struct cli_platform *p, const struct hm_convergence *c, size_t algorithm)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    size_t stale = 0, told = 0;
    struct hm_err err = {0};

    for (size_t k = 0; k < p->way_count; k++) {
        struct hm_way *way = &p->ways[k];
        bool async = way->consistency == HM_CONSISTENCY_ASYNC;
        struct hm_stale_cost cost;
        if (way->consistency == HM_CONSISTENCY_BSP || (!async && way->staleness == 0))
            continue;
        stale++;
        if (hm_convergence_stale(c, algorithm, async ? INFINITY : way->staleness, 1, &cost, &err))
            continue;
        way->stale_cost = fmin(fmax(cost.factor, 1e-6), 1e6);
        way->stale_power = fmin(fmax(async ? g->async.power : g->ssp.power, -10), 10);
        told++;
    }
    if (stale == 0 || told > 0)
        return 0;
    hm__err_field(&err, "--stale-cost");
    return cli_report(&err);
}

static int cost_by_fit(struct cli_platform *p)
{
    const char *equal = strchr(p->stale_fit, '='), *file = equal ? equal + 1 : p->stale_fit;
    char *name = equal ? strndup(p->stale_fit, (size_t)(equal - p->stale_fit)) : NULL;
    struct hm_convergence *c = NULL;
    struct hm_err err = {0};
    size_t algorithm = 0;
    int rc = equal && !name ? cli_complain("out of memory") : 0;

    if (rc == 0 && cli_open_convergence(file, &c, &err))
        rc = cli_report(&err);
    rc = rc ? rc : find_algorithm(c, file, name, &algorithm);
    rc = rc ? rc : take_costs(p, c, algorithm);
    hm_convergence_free(c);
    free(name);
    return rc;
}

int cli_platform_finish(struct cli_platform *p)
{
    bool more = p->consistency || p->staleness || p->servers > 0 || p->backups > 0 ||
                p->stale_cost > 0 || p->stale_fit || p->colocated;

    if (!p->any && !more)
        return 0;
    imply(p);
    int rc = more ? check(p) : 0;
    if (rc)
        return rc;
    if (p->platforms[HM_PLATFORM_ALLREDUCE])
        add_way(p, (struct hm_way){.platform = HM_PLATFORM_ALLREDUCE});
    if (p->platforms[HM_PLATFORM_DRIVER])
        add_way(p, (struct hm_way){.platform = HM_PLATFORM_DRIVER});
    if (p->platforms[HM_PLATFORM_SERVER])
        add_servers(p);
    return p->stale_fit ? cost_by_fit(p) : 0;
}
