/* Declares functions that give advice for jobs that train transformers. */
#ifndef HM_ADVISE_LARGE_H
#define HM_ADVISE_LARGE_H

#include "load.h"

enum { HM_ADVISE_SIZES = 64 };

/*
 * Numbers of workers on which a transformer fits in memory, and the time of an iteration on each of
 * them in seconds.
 */
struct hm_advise_paces {
    /* Time of an iteration in seconds on each number of workers; owned by the caller. */
    struct hm_paces *paces;
    double m[HM_ADVISE_SIZES];
    size_t count;
    double price_per_s; /* Price of one worker per second; NaN if unknown. */
};

/*
 * Plans a job that trains a transformer (job->large is set), and returns the time of an iteration
 * in seconds on each number of workers up to `max_n`. If `max_n` is 0, the size of the cluster is
 * the limit.
 */
int hm__advise_large_paces(const struct hm_loaded_job *job, double max_n, const char *algorithm,
                           struct hm_advise_paces *ret, struct hm_err *err);
/*
 * Creates traces from published scaling laws, and fits g(i, m), the loss after i iterations on m
 * workers, to them. `reach` is the loss to reach; NaN if the question has none.
 */
int hm__advise_laws(const struct hm_loaded_job *job, const struct hm_trace_fields *fields,
                    double reach, const struct hm_advise_paces *paces,
                    struct hm_loaded_traces *loaded, struct hm_err *err);
/*
 * Adds a note that says that the loss follows scaling laws, and removes the proposed next run,
 * which would have to be a measured trace.
 */
int hm__advise_laws_note(struct hm_advice *advice, struct hm_err *err);

#endif
