/*
 * Creates the list of platforms that a plan compares, from the fields of the request. If the field
 * `consistency` is missing and the request asks for all platforms, all consistencies are compared;
 * otherwise the consistency is derived from the other fields.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "names.h"
#include "plan.h"

/* Default staleness bound of SSP (stale synchronous parallel), in steps. */
enum { WAYS_STALENESS = 3 };

static bool has_choice(const struct hm_choices *choices, int index)
{
    for (size_t i = 0; i < choices->count; i++)
        if (choices->items[i] == index)
            return true;
    return false;
}

/*
 * Returns whether the request names a platform. The choices of the field `platform` begin with
 * all-reduce, but the enum begins with HM_PLATFORM_JOB, so indices differ by one. The choice `all`
 * does not include gossip and federated averaging, whose steps differ from the steps of the other
 * platforms.
 */
static bool has_platform(const struct hm_platform_fields *f, enum hm_platform platform)
{
    if (f->platform.all)
        return platform <= HM_PLATFORM_SERVER;
    return has_choice(&f->platform, (int)platform - (int)HM_PLATFORM_ALLREDUCE);
}

/*
 * Returns whether the request names a TensorFlow strategy. In the choices of the field `platform`,
 * the strategies come after the platforms.
 */
static bool has_strategy(const struct hm_platform_fields *f, enum hm_strategy strategy)
{
    return !f->platform.all && has_choice(&f->platform, (int)HM_PLATFORM_PIPELINE + (int)strategy -
                                                            (int)HM_STRATEGY_MIRRORED);
}

/*
 * Returns whether parameter servers are to be compared with this consistency. If the request names
 * no consistency, servers use bsp, except for TensorFlow's servers, which are asynchronous.
 */
static bool servers_have(const struct hm_platform_fields *f, enum hm_strategy strategy,
                         enum hm_consistency consistency)
{
    bool async = strategy == HM_STRATEGY_PARAMETER_SERVER && !(f->backups > 0);

    if (f->consistency.count > 0)
        return has_choice(&f->consistency, (int)consistency);
    if (f->platform.all)
        return true;
    return consistency == (!isnan(f->staleness) ? HM_CONSISTENCY_SSP
                           : async              ? HM_CONSISTENCY_ASYNC
                                                : HM_CONSISTENCY_BSP);
}

/* Returns whether the request compares any kind of parameter server with this consistency. */
static bool has_consistency(const struct hm_platform_fields *f, enum hm_consistency consistency)
{
    bool strategy = has_strategy(f, HM_STRATEGY_PARAMETER_SERVER);

    return ((has_platform(f, HM_PLATFORM_SERVER) || !strategy) &&
            servers_have(f, HM_STRATEGY_NONE, consistency)) ||
           (strategy && servers_have(f, HM_STRATEGY_PARAMETER_SERVER, consistency));
}

static bool has_stale_cost(const struct hm_platform_fields *f)
{
    return !isnan(f->stale_cost.value) || f->stale_cost.from.name;
}

/*
 * Returns the name of the first field in the request that applies only to parameter servers; NULL
 * if there is none.
 */
static const char *server_field(const struct hm_platform_fields *f)
{
    return f->consistency.count   ? "consistency"
           : !isnan(f->staleness) ? "staleness"
           : !isnan(f->servers)   ? "servers"
           : f->colocated         ? "colocated"
           : !isnan(f->backups)   ? "backups"
           : has_stale_cost(f)    ? "stale_cost"
                                  : NULL;
}

/* Returns whether the workers of a platform may perform several steps before they average the
 * models. */
static bool has_local_steps(enum hm_platform platform)
{
    return platform == HM_PLATFORM_ALLREDUCE ||
           (platform > HM_PLATFORM_SERVER && platform != HM_PLATFORM_PIPELINE);
}

static int check_local_steps(const struct hm_platform_fields *f, struct hm_err *err)
{
    bool any = isnan(f->local_steps);

    for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_PIPELINE; i++)
        any = any || (has_platform(f, (enum hm_platform)i) && has_local_steps((enum hm_platform)i));
    return any ? 0
               : hm__request_fail(err, "local_steps", HM_E_CONFLICT,
                                  "this applies only to platform allreduce, gossip-ring, "
                                  "gossip-exp or federated");
}

static int check_fields(const struct hm_platform_fields *f, struct hm_err *err)
{
    const char *given = server_field(f);
    bool stale = has_consistency(f, HM_CONSISTENCY_SSP) || has_consistency(f, HM_CONSISTENCY_ASYNC);
    int rc = check_local_steps(f, err);

    if (rc)
        return rc;
    if (!given)
        return 0;
    if (!has_platform(f, HM_PLATFORM_SERVER) && !has_strategy(f, HM_STRATEGY_PARAMETER_SERVER))
        return hm__request_fail(err, given, HM_E_CONFLICT,
                                "this applies only to platform server or all, or parameter-server");
    if (!isnan(f->staleness) && !has_consistency(f, HM_CONSISTENCY_SSP))
        return hm__request_fail(err, "staleness", HM_E_CONFLICT,
                                "this applies only to consistency ssp");
    if (f->backups > 0 && !has_consistency(f, HM_CONSISTENCY_BSP))
        return hm__request_fail(err, "backups", HM_E_CONFLICT,
                                "this applies only to consistency bsp");
    if (has_stale_cost(f) && !stale)
        return hm__request_fail(err, "stale_cost", HM_E_CONFLICT,
                                "this applies only to consistency ssp or async");
    return 0;
}

static void add_way(struct hm_plan_ways *w, struct hm_way way)
{
    w->ways[w->count++] = way;
}

/*
 * Adds a platform with parameter servers for each consistency in the request; `strategy` is
 * HM_STRATEGY_NONE unless the servers belong to TensorFlow.
 */
static void add_servers(const struct hm_platform_fields *f, enum hm_strategy strategy,
                        struct hm_plan_ways *w)
{
    struct hm_way way = {.platform = HM_PLATFORM_SERVER,
                         .strategy = strategy,
                         .servers = isnan(f->servers) ? 0 : f->servers,
                         .colocated = f->colocated};
    bool backups = f->backups > 0;

    if (servers_have(f, strategy, HM_CONSISTENCY_BSP) && (f->platform.all || !backups))
        add_way(w, way);
    if (servers_have(f, strategy, HM_CONSISTENCY_BSP) && backups) {
        struct hm_way with = way;
        with.backups = f->backups;
        add_way(w, with);
    }
    way.stale_cost = isnan(f->stale_cost.value) ? 0 : f->stale_cost.value;
    if (servers_have(f, strategy, HM_CONSISTENCY_SSP)) {
        struct hm_way ssp = way;
        ssp.consistency = HM_CONSISTENCY_SSP;
        ssp.staleness = isnan(f->staleness) ? WAYS_STALENESS : f->staleness;
        add_way(w, ssp);
    }
    way.consistency = HM_CONSISTENCY_ASYNC;
    if (servers_have(f, strategy, HM_CONSISTENCY_ASYNC))
        add_way(w, way);
}

/* Adds the TensorFlow strategies that the request names. */
static void add_strategies(const struct hm_platform_fields *f, struct hm_plan_ways *w)
{
    for (int i = HM_STRATEGY_MIRRORED; i < HM_STRATEGY_COUNT; i++) {
        enum hm_strategy strategy = (enum hm_strategy)i;
        bool central = strategy == HM_STRATEGY_CENTRAL_STORAGE;
        if (!has_strategy(f, strategy))
            continue;
        if (strategy == HM_STRATEGY_PARAMETER_SERVER)
            add_servers(f, strategy, w);
        else
            add_way(w, (struct hm_way){.platform = hm__strategy_platform(strategy),
                                       .strategy = strategy,
                                       .servers = central ? 1 : 0,
                                       .colocated = central});
    }
}

/* ---- cost of staleness from a stored fit -------------------------------------------------------
 */

static bool knows_staleness(const struct hm_g *g)
{
    return g->ssp.traces > 0 || g->async.traces > 0;
}

static const char *algorithm_name(const void *context, size_t i)
{
    const struct hm_convergence *c = context;

    return i < c->count ? c->algorithms[i].algorithm : NULL;
}

/*
 * Finds the algorithm `name` or, if `name` is NULL, the only algorithm that has traces with stale
 * gradients.
 */
static int find_algorithm(const struct hm_convergence *c, const char *name, size_t *ret_index,
                          struct hm_err *err)
{
    static const char field[] = "stale_cost";
    size_t found = 0, index = 0;

    for (size_t k = 0; k < c->count; k++) {
        if (name ? strcmp(c->algorithms[k].algorithm, name) != 0
                 : !knows_staleness(&c->algorithms[k]))
            continue;
        found++;
        index = k;
    }
    *ret_index = index;
    if (found == 0 && name) {
        const char *near = hm__suggest(name, algorithm_name, c);
        hm__request_fail(err, field, HM_E_NAME, "the fit has no algorithm '%.60s'", name);
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        return HM_E_NAME;
    }
    if (found > 1) {
        hm__request_fail(err, field, HM_E_CONFLICT,
                         "the fit contains the cost of staleness for several algorithms");
        hm__err_hint(err, "name one of them, such as %s=FIT", c->algorithms[index].algorithm);
        return HM_E_CONFLICT;
    }
    if (found == 1 && knows_staleness(&c->algorithms[index]))
        return 0;
    hm__request_fail(err, field, HM_E_MISSING, "the fit does not contain the cost of staleness");
    hm__err_hint(err, "converge learns it from traces of ssp or async in addition to fresh ones");
    return HM_E_MISSING;
}

/*
 * Sets the factor by which staleness increases the number of iterations, for each platform with
 * stale gradients. It is an error if the fit has no such factor for any of the platforms.
 */
static int take_costs(const struct hm_convergence *c, size_t algorithm, struct hm_plan_ways *w,
                      struct hm_err *err)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    size_t stale = 0, known = 0;
    struct hm_err why = {0};

    for (size_t k = 0; k < w->count; k++) {
        struct hm_way *way = &w->ways[k];
        bool async = way->consistency == HM_CONSISTENCY_ASYNC;
        struct hm_stale_cost cost;
        if (way->consistency == HM_CONSISTENCY_BSP || (!async && way->staleness == 0))
            continue;
        stale++;
        if (hm_convergence_stale(c, algorithm, async ? INFINITY : way->staleness, 1, &cost, &why))
            continue;
        way->stale_cost = fmin(fmax(cost.factor, 1e-6), 1e6);
        way->stale_power = fmin(fmax(async ? g->async.power : g->ssp.power, -10), 10);
        known++;
    }
    if (stale == 0 || known > 0)
        return 0;
    return hm__request_fail(err, "stale_cost", why.code, "%s", why.message);
}

/*
 * Reads the factors by which staleness increases the number of iterations from a fit of the loss,
 * which is given as ALGORITHM=FILE or as a document with the name of an algorithm.
 */
static int costs_from_fit(struct hm_call *call, const struct hm_document *from,
                          struct hm_plan_ways *w, struct hm_err *err)
{
    struct hm_document fit = *from;
    struct hm_convergence *c = NULL;
    size_t algorithm = 0;
    const char *equal = fit.text || fit.tree ? NULL : strchr(fit.name, '=');

    if (equal) {
        fit.algorithm = hm__arena_strndup(call->arena, fit.name, (size_t)(equal - fit.name));
        fit.name = equal + 1;
        if (!fit.algorithm)
            return hm__fail_nomem(err);
    }
    int rc = hm__load_fit(call, &fit, &c, err);
    if (rc == 0)
        rc = find_algorithm(c, fit.algorithm, &algorithm, err);
    if (rc == 0)
        rc = take_costs(c, algorithm, w, err);
    hm_convergence_free(c);
    return rc;
}

int hm__plan_ways(struct hm_call *call, const struct hm_platform_fields *f, struct hm_plan_ways *w,
                  struct hm_err *err)
{
    int rc = check_fields(f, err);

    *w = (struct hm_plan_ways){.count = 0};
    if (rc)
        return rc;
    for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_PIPELINE; i++) {
        enum hm_platform platform = (enum hm_platform)i;
        if (!has_platform(f, platform))
            continue;
        if (platform == HM_PLATFORM_SERVER)
            add_servers(f, HM_STRATEGY_NONE, w);
        else
            add_way(w, (struct hm_way){.platform = platform,
                                       .local_steps =
                                           has_local_steps(platform) && !isnan(f->local_steps)
                                               ? f->local_steps
                                               : 0});
    }
    add_strategies(f, w);
    return f->stale_cost.from.name ? costs_from_fit(call, &f->stale_cost.from, w, err) : 0;
}
