/* Declares the fields of the verb plan, and the functions that list the platforms to compare. */
#ifndef HM_REQUEST_PLAN_H
#define HM_REQUEST_PLAN_H

#include "load.h"

/* The fields of the verb plan that describe platforms and consistencies. */
struct hm_platform_fields {
    struct hm_choices platform, consistency;
    /*
     * Staleness bound, number of parameter servers, and number of backup workers; each is NaN if it
     * is not given.
     */
    double staleness, servers, backups;
    /* Number of iterations after which workers average their models; NaN if not given. */
    double local_steps;
    bool colocated;
    struct hm_factor stale_cost;
};

struct hm_plan_request {
    struct hm_job_fields job;
    struct hm_choices scheme;
    struct hm_platform_fields platform;
    struct hm_document runs;
    struct hm_texts where, terms;
    double level;
    int goal;
    double alpha, beta, deadline, budget, faster, work, max_n, reference, slack, certainty;
    double loss; /* Target loss of a transformer; NaN if not given. */
    /*
     * Number of parameters in the transformer, or "auto" if the plan chooses it; if NULL, the
     * number of the job is used.
     */
    const char *params;
    struct hm_numbers n;
    bool weak, explain_layout;
    /*
     * Index of the chosen value of the field `emit`; -1 if not given. The choices are the values of
     * enum hm_large_emit, followed by the values in plan_emit.c.
     */
    int emit;
    bool table, layers, no_chart, json, csv;
    const char *plot;
};

enum { HM_WAYS_MAX = 24 };

struct hm_plan_ways {
    struct hm_way ways[HM_WAYS_MAX];
    size_t count;
};

/*
 * Creates the list of platforms to compare from the fields that describe platforms, consistencies
 * and the cost of staleness.
 */
int hm__plan_ways(struct hm_call *call, const struct hm_platform_fields *fields,
                  struct hm_plan_ways *ret_ways, struct hm_err *err);

struct hm_large_measured;
/*
 * Loads measured runs of a job that trains a transformer: their times, and the properties of the
 * layout for which the table has columns. The arena of the call owns the memory.
 */
int hm__load_large_runs(struct hm_call *call, const struct hm_plan_request *request,
                        const struct hm_loaded_job *loaded, struct hm_large_measured **ret_runs,
                        size_t *ret_count, struct hm_err *err);

/* Plans a job that trains a transformer, and appends the answer to the answer of the call. */
int hm__plan_large(const struct hm_plan_request *request, struct hm_call *call,
                   const struct hm_loaded_job *loaded, struct hm_err *err);

struct hm_large_answer;

/*
 * Returns whether the request asks for a trace of the predicted step, or for a SimGrid platform
 * file of the cluster.
 */
bool hm__plan_emits(const struct hm_plan_request *request);
/*
 * Writes the predicted step as a trace, or the cluster as a platform, depending on the request:
 * hm__plan_emit adds it to the answer of the call, and hm__plan_emit_large stores it in *ret_text.
 */
int hm__plan_emit(const struct hm_plan_request *request, const struct hm_loaded_job *loaded,
                  const struct hm_answer *answer, struct hm_call *call, struct hm_err *err);
int hm__plan_emit_large(const struct hm_plan_request *request, const struct hm_loaded_job *loaded,
                        const struct hm_large_answer *answer, char **ret_text, struct hm_err *err);

#endif
