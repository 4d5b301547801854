/* Advises on jobs that train transformers. */
#ifndef HM_ADVISE_LARGE_H
#define HM_ADVISE_LARGE_H

#include "load.h"

enum { HM_ADVISE_SIZES = 64 };

/* Numbers of workers whose memory suffices for a transformer, and the seconds of an iteration on
 * each. */
struct hm_advise_paces {
    /* Seconds of an iteration on each number of workers; owned by the caller. */
    struct hm_paces *paces;
    double m[HM_ADVISE_SIZES];
    size_t count;
    double price_per_s; /* Price of one worker in money per second; NaN: unknown. */
};

/* Plan a job that trains a transformer (job->large is set). The seconds of an iteration on up to
 * max_n workers come from the points of the plan; if max_n is 0, the cluster limits the workers. */
int hm__advise_large_paces(const struct hm_loaded_job *job, double max_n, const char *algorithm,
                           struct hm_advise_paces *ret, struct hm_err *err);
/* Make traces from published scaling laws, and fit them. */
int hm__advise_laws(const struct hm_loaded_job *job, const struct hm_trace_fields *fields,
                    const struct hm_advise_paces *paces, struct hm_loaded_traces *loaded,
                    struct hm_err *err);
/* Add a note that the loss follows scaling laws, and remove the advised next run, because no trace
 * was measured. */
int hm__advise_laws_note(struct hm_advice *advice, struct hm_err *err);

#endif
