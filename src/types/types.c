/*
 * Defines names of enumerations, the symbols of a job, and functions that free graphs and answers.
 */
#include <string.h>

#include "memory.h"
#include "names.h"
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
        if (name && strcmp(schemes[i].name, name) == 0)
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
    case HM_LIMIT_SERIAL:
        return "serial";
    }
    return "?";
}

static const char *const platforms[] = {"job",         "allreduce",  "driver",    "server",
                                        "gossip-ring", "gossip-exp", "federated", "pipeline"};
static const char *const consistencies[] = {"bsp", "ssp", "async"};

static const struct {
    const char *name, *title;
    enum hm_platform platform;
    bool inside;
} strategies[] = {{"none", "none", HM_PLATFORM_JOB, false},
#define HM_STRATEGY_ROW(id, name, title, platform, inside)                                         \
    {name, title, HM_PLATFORM_##platform, inside},
                  HM_STRATEGY_MAP(HM_STRATEGY_ROW)
#undef HM_STRATEGY_ROW
};

const char *hm_strategy_title(enum hm_strategy strategy)
{
    return (size_t)strategy < HM_STRATEGY_COUNT ? strategies[strategy].title : "?";
}

const char *hm__way_name(const struct hm_way *way)
{
    bool named = way->strategy > HM_STRATEGY_NONE && way->strategy < HM_STRATEGY_COUNT;

    return named ? strategies[way->strategy].name : hm_platform_name(way->platform);
}

enum hm_platform hm__strategy_platform(enum hm_strategy strategy)
{
    return strategies[strategy].platform;
}

bool hm__strategy_inside(enum hm_strategy strategy)
{
    return strategies[strategy].inside;
}

const char *hm_platform_name(enum hm_platform platform)
{
    return (size_t)platform <= HM_PLATFORM_PIPELINE ? platforms[platform] : "?";
}

int hm_platform_find(const char *name)
{
    for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_PIPELINE; i++)
        if (name && strcmp(platforms[i], name) == 0)
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
        if (name && strcmp(consistencies[i], name) == 0)
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
        if (name && strcmp(splits[i].name, name) == 0)
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

void hm_answer_free(struct hm_answer *answer)
{
    if (answer)
        hm__arena_free(answer->memory);
}
