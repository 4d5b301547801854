/*
 * Writes the trace of a run as JSON lines on standard output: a header, one line per evaluation, a
 * summary.
 */
#ifndef HM_TRACE_H
#define HM_TRACE_H

#include "train_options.h"

/* Properties of a run that are known before it starts; they form the header of the trace. */
struct trace_head {
    const struct train_options *options;
    const struct hm_run *run;
    double rows, features, classes; /* Numbers of rows, features and classes of the data; 0 if they
                                       do not apply to this problem. */
    double vertices, edges; /* Numbers of vertices and edges of the Markov random field; 0 if there
                               is no field. */
    double limit;           /* Maximum number of iterations; 0 for no limit. */
    bool sparse, simulated;
    const char *mpi, *blas; /* Names and versions of the MPI and BLAS libraries; borrowed. */
};

/*
 * Times in seconds of the iterations of a run that were timed one by one. Zero-initialise the
 * struct; the list is owned.
 */
struct trace_times {
    double *seconds;
    size_t count, room;
    double last; /* Iteration number of the last point of the trace. */
};

void trace_head(const struct trace_head *head);
/*
 * Writes a point of the trace. `times` is a struct trace_times, to which the time of the point is
 * added.
 */
void trace_point(void *times, const struct hm_trace_point *point);
void trace_times_release(struct trace_times *times);
/* Result of a run, which forms the summary of the trace. */
struct trace_end {
    const struct hm_trace_point *last;
    const struct hm_train_totals *totals;
    enum hm_stop stop;
    int ranks;
    bool simulated;
    const struct hm_serving *serving;
    /* Statistics of the servers; NULL means that the run has no servers. */
    const struct hm_server_stats *stats;
    struct trace_times *times;
};

void trace_summary(const struct trace_end *end);

#endif
