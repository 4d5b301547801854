/* The request of plan, and the platforms it compares. */
#ifndef HM_REQUEST_PLAN_H
#define HM_REQUEST_PLAN_H

#include "load.h"

/* Platforms and consistencies as the fields of plan give them. */
struct hm_platform_fields {
    struct hm_choices platform, consistency;
    double staleness, servers, backups; /* NaN: not given */
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
    double alpha, beta, deadline, budget, faster, work, max_n, reference;
    bool weak;
    bool table, layers, no_chart, json, csv;
    const char *plot;
};

enum { HM_WAYS_MAX = 8 };

struct hm_plan_ways {
    struct hm_way ways[HM_WAYS_MAX];
    size_t count;
};

/* The ways that the fields ask for: platforms, consistencies, what staleness costs. */
int hm__plan_ways(struct hm_call *call, const struct hm_platform_fields *fields,
                  struct hm_plan_ways *ret_ways, struct hm_err *err);

#endif
