/* Plain data: names of enumerations, checks, and freeing. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "symbols.h"

const struct hm_symbol hm_job_symbols[HM_SYMBOL_COUNT] = {
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
    }
    return "?";
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
        hm_arena_free(graph->memory);
}

void hm_job_free(struct hm_job *job)
{
    if (job)
        hm_arena_free(job->memory);
}

void hm_cluster_free(struct hm_cluster *cluster)
{
    if (cluster)
        hm_arena_free(cluster->memory);
}

void hm_answer_free(struct hm_answer *answer)
{
    if (answer)
        hm_arena_free(answer->memory);
}

static int check_range(const char *field, double value, double min, double max, struct hm_err *err)
{
    if (isfinite(value) && value >= min && value <= max)
        return 0;
    hm_fail(err, HM_E_RANGE, "%g is out of range", value);
    hm_err_hint(err, "it must be at least %g and at most %g", min, max);
    hm_err_field(err, field);
    return HM_E_RANGE;
}

int hm_question_check(const struct hm_question *q, struct hm_err *err)
{
    int rc = check_range("max_n", q->max_n, 0, 1e6, err);

    if (rc == 0 && q->max_n != floor(q->max_n))
        rc = hm_fail(err, HM_E_RANGE, "max_n %g is not a whole number", q->max_n);
    if (rc == 0)
        rc = check_range("reference", q->reference, 0, 1e6, err);
    if (rc == 0 && q->reference != floor(q->reference))
        rc = hm_fail(err, HM_E_RANGE, "reference %g is not a whole number", q->reference);
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
    return rc;
}
