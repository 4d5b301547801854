/* A run as JSON lines on standard output: a head, the iterations looked at, a summary. */
#ifndef HM_TRACE_H
#define HM_TRACE_H

#include "train_options.h"

/* What there is to say about a run before it starts. */
struct trace_head {
    const struct train_options *options;
    const struct hm_run *run;
    double rows, features, classes; /* 0: not of this problem */
    double vertices, edges;         /* of a field; 0: there is none */
    double limit;                   /* iterations at most; 0: no limit */
    bool sparse, simulated;
    const char *mpi, *blas; /* versions; borrowed */
};

void trace_head(const struct trace_head *head);
void trace_point(void *unused, const struct hm_trace_point *point);
/* And when it has ended. */
struct trace_end {
    const struct hm_trace_point *last;
    const struct hm_train_totals *totals;
    enum hm_stop stop;
    int ranks;
    bool simulated;
    const struct hm_serving *serving;
    const struct hm_server_stats *stats; /* NULL: there were no servers */
};

void trace_summary(const struct trace_end *end);

#endif
