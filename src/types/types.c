/* Plain data: names of enumerations, checks, and freeing. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "slowness.h"
#include "symbols.h"

const struct hm_symbol hm__job_symbols[HM_SYMBOL_COUNT] = {
    [HM_SYMBOL_N] = {"n", {0, 0, 0, 0}},
    [HM_SYMBOL_BATCH] = {"batch", {0, 0, 0, 0}},
    [HM_SYMBOL_PARAMETERS] = {"parameters", {0, 0, 0, 0}},
    [HM_SYMBOL_WEIGHT] = {"weight", {0, 1, 0, 0}},
    [HM_SYMBOL_FORWARD] = {"forward", {0, 0, 1, 0}},
    [HM_SYMBOL_TRAINING] = {"training", {0, 0, 1, 0}},
    [HM_SYMBOL_FLOPS] = {"flops", {-1, 0, 1, 0}},
    [HM_SYMBOL_MEMORY_BANDWIDTH] = {"memory_bandwidth", {-1, 1, 0, 0}},
    [HM_SYMBOL_BANDWIDTH] = {"bandwidth", {-1, 1, 0, 0}},
    [HM_SYMBOL_LATENCY] = {"latency", {1, 0, 0, 0}},
};

static const struct {
    const char *name;
    bool allreduce;
} schemes[] = {
#define HM_SCHEME_ROW(name, text, allreduce) {text, allreduce},
    HM_SCHEME_MAP(HM_SCHEME_ROW)
#undef HM_SCHEME_ROW
        {"best", true},
};

const char *hm_scheme_name(enum hm_scheme scheme)
{
    return (size_t)scheme <= HM_SCHEME_BEST ? schemes[scheme].name : "?";
}

int hm_scheme_find(const char *name)
{
    for (int i = 0; i <= HM_SCHEME_BEST; i++)
        if (strcmp(schemes[i].name, name) == 0)
            return i;
    return -1;
}

bool hm_scheme_is_allreduce(enum hm_scheme scheme)
{
    return (size_t)scheme <= HM_SCHEME_BEST && schemes[scheme].allreduce;
}

const char *hm_limit_name(enum hm_limit limit)
{
    switch (limit) {
    case HM_LIMIT_COMPUTE:
        return "compute";
    case HM_LIMIT_COMMUNICATION:
        return "communication";
    case HM_LIMIT_BANDWIDTH:
        return "bandwidth";
    case HM_LIMIT_LATENCY:
        return "latency";
    case HM_LIMIT_MEMORY:
        return "memory";
    case HM_LIMIT_BATCH:
        return "batch";
    case HM_LIMIT_IMBALANCE:
        return "imbalance";
    case HM_LIMIT_STRAGGLERS:
        return "stragglers";
    }
    return "?";
}

static const char *const platforms[] = {"job", "allreduce", "driver", "server"};
static const char *const consistencies[] = {"bsp", "ssp", "async"};

const char *hm_platform_name(enum hm_platform platform)
{
    return (size_t)platform <= HM_PLATFORM_SERVER ? platforms[platform] : "?";
}

int hm_platform_find(const char *name)
{
    for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_SERVER; i++)
        if (strcmp(platforms[i], name) == 0)
            return i;
    return -1;
}

const char *hm_consistency_name(enum hm_consistency consistency)
{
    return (size_t)consistency <= HM_CONSISTENCY_ASYNC ? consistencies[consistency] : "?";
}

int hm_consistency_find(const char *name)
{
    for (int i = 0; i <= HM_CONSISTENCY_ASYNC; i++)
        if (strcmp(consistencies[i], name) == 0)
            return i;
    return -1;
}

static const struct {
    const char *name;
    bool needs_edges, cuts_vertices, random;
} splits[] = {
#define HM_SPLIT_ROW(name, text, needs_edges, cuts_vertices, random)                               \
    {text, needs_edges, cuts_vertices, random},
    HM_SPLIT_MAP(HM_SPLIT_ROW)
#undef HM_SPLIT_ROW
};

const char *hm_split_name(enum hm_split split)
{
    return (size_t)split < HM_SPLIT_COUNT ? splits[split].name : "?";
}

int hm_split_find(const char *name)
{
    for (int i = 0; i < HM_SPLIT_COUNT; i++)
        if (strcmp(splits[i].name, name) == 0)
            return i;
    return -1;
}

bool hm_split_needs_edges(enum hm_split split)
{
    return (size_t)split < HM_SPLIT_COUNT && splits[split].needs_edges;
}

bool hm_split_cuts_vertices(enum hm_split split)
{
    return (size_t)split < HM_SPLIT_COUNT && splits[split].cuts_vertices;
}

bool hm_split_is_random(enum hm_split split)
{
    return (size_t)split < HM_SPLIT_COUNT && splits[split].random;
}

void hm_graph_free(struct hm_graph *graph)
{
    if (graph)
        hm__arena_free(graph->memory);
}

void hm_job_free(struct hm_job *job)
{
    if (job)
        hm__arena_free(job->memory);
}

void hm_cluster_free(struct hm_cluster *cluster)
{
    if (cluster)
        hm__arena_free(cluster->memory);
}

void hm_answer_free(struct hm_answer *answer)
{
    if (answer)
        hm__arena_free(answer->memory);
}

static int check_range(const char *field, double value, double min, double max, struct hm_err *err)
{
    if (isfinite(value) && value >= min && value <= max)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g is out of range", value);
    hm__err_hint(err, "it must be at least %g and at most %g", min, max);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

static int check_whole(const char *field, double value, double min, double max, struct hm_err *err)
{
    int rc = check_range(field, value, min, max, err);

    if (rc == 0 && value != floor(value))
        rc = hm__fail(err, HM_E_RANGE, "%s %g is not a whole number", field, value);
    return rc;
}

/* Of a way: the ranges, and what does not go together. */
static int check_way(const struct hm_way *way, struct hm_err *err)
{
    bool server = way->platform == HM_PLATFORM_SERVER;
    int rc = check_whole("staleness", way->staleness, 0, 1e6, err);

    if (rc == 0)
        rc = check_whole("servers", way->servers, 0, 1e6, err);
    if (rc == 0)
        rc = check_whole("backups", way->backups, 0, HM_BACKUPS_MOST, err);
    if (rc == 0 && way->stale_cost != 0)
        rc = check_range("stale_cost", way->stale_cost, 1e-6, 1e6, err);
    if (rc == 0)
        rc = check_range("stale_power", way->stale_power, -10, 10, err);
    if (rc)
        return rc;
    if (!server && (way->consistency != HM_CONSISTENCY_BSP || way->servers > 0 ||
                    way->backups > 0 || way->colocated)) {
        hm__fail(err, HM_E_CONFLICT, "the platform %s has no servers, so that its steps are bsp",
                 hm_platform_name(way->platform));
        hm__err_hint(err, "consistency, servers and backups are of the platform server");
        return HM_E_CONFLICT;
    }
    if (way->backups > 0 && way->consistency != HM_CONSISTENCY_BSP)
        return hm__fail(err, HM_E_CONFLICT, "backups are of bsp: with %s nobody waits for a step",
                        hm_consistency_name(way->consistency));
    return 0;
}

int hm_question_check(const struct hm_question *q, struct hm_err *err)
{
    int rc = check_whole("max_n", q->max_n, 0, 1e6, err);

    if (rc == 0)
        rc = check_whole("reference", q->reference, 0, 1e6, err);
    if (rc == 0)
        rc = check_range("deadline", q->deadline_s, 0, 1e15, err);
    if (rc == 0 && !(q->budget < 0))
        rc = check_range("budget", q->budget, 0, 1e15, err);
    if (rc == 0 && q->faster != 0)
        rc = check_range("faster", q->faster, 1e-6, 1e9, err);
    if (rc == 0 && q->work != 0)
        rc = check_range("work", q->work, 1e-6, 1e9, err);
    if (rc == 0 && !(q->alpha < 0))
        rc = check_range("alpha", q->alpha, 0, 1e15, err);
    if (rc == 0 && !(q->beta < 0))
        rc = check_range("beta", q->beta, 0, 1e15, err);
    for (size_t i = 0; rc == 0 && i < q->way_count; i++)
        rc = check_way(&q->ways[i], err);
    return rc;
}
