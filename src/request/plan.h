/* Declares the fields of the verb plan, and the functions that list the platforms to compare. */
#ifndef HM_REQUEST_PLAN_H
#define HM_REQUEST_PLAN_H

#include "load.h"

/* The fields of plan that describe platforms and consistencies. */
struct hm_platform_fields {
    struct hm_choices platform, consistency;
    /*
     * Bound of the staleness, number of servers, and number of backup workers; each is NaN if it is
     * not given.
     */
    double staleness, servers, backups;
    double local_steps; /* Iterations between two averages of the model; NaN if not given. */
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
    double loss; /* Loss that a transformer must reach; NaN: not given. */
    /* Number of parameters of a transformer, or "auto"; NULL: that of the job. */
    const char *params;
    struct hm_numbers n;
    bool weak, explain_layout;
    int emit; /* Index of the output format (enum hm_large_emit); -1: not given. */
    bool table, layers, no_chart, json, csv;
    const char *plot;
};

enum { HM_WAYS_MAX = 24 };

struct hm_plan_ways {
    struct hm_way ways[HM_WAYS_MAX];
    size_t count;
};

/*
 * Make the list of platforms to compare from the fields for platforms, consistencies and the cost
 * of staleness.
 */
int hm__plan_ways(struct hm_call *call, const struct hm_platform_fields *fields,
                  struct hm_plan_ways *ret_ways, struct hm_err *err);

struct hm_large_measured;
/*
 * Load the runs of a job that trains a transformer: the times, and as much of the layout as the
 * columns of the table give. The memory belongs to the call.
 */
int hm__load_large_runs(struct hm_call *call, const struct hm_plan_request *request,
                        const struct hm_loaded_job *loaded, struct hm_large_measured **ret_runs,
                        size_t *ret_count, struct hm_err *err);

/* Plan a job that trains a transformer, and add the answer to the call. */
int hm__plan_large(const struct hm_plan_request *request, struct hm_call *call,
                   const struct hm_loaded_job *loaded, struct hm_err *err);

struct hm_large_answer;

/*
 * Whether the request asks for a trace of the predicted step, or for a SimGrid platform file of the
 * cluster.
 */
bool hm__plan_emits(const struct hm_plan_request *request);
/*
 * Write the predicted step as a trace, or the cluster as a platform, whichever the request asks
 * for: hm__plan_emit into the answer of the call, hm__plan_emit_large into *ret_text.
 */
int hm__plan_emit(const struct hm_plan_request *request, const struct hm_loaded_job *loaded,
                  const struct hm_answer *answer, struct hm_call *call, struct hm_err *err);
int hm__plan_emit_large(const struct hm_plan_request *request, const struct hm_loaded_job *loaded,
                        const struct hm_large_answer *answer, char **ret_text, struct hm_err *err);

#endif
