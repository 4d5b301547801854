/* The results of a comparison: the traces of its runs, averaged by the role of a rank. */
#ifndef HM_COMPARE_RESULT_H
#define HM_COMPARE_RESULT_H

#include "compare_plan.h"
#include "text.h"

/* Means over the ranks of one role. Unknown is NAN. */
struct compare_role {
    double compute;        /* Share of the time in which the rank computes. */
    double cpu;            /* Processor time divided by time; NAN when simulated. */
    double sent, received; /* Bytes per second. */
    double memory;         /* Bytes. */
};

/* Means over the time between two evaluations of the objective. */
struct compare_interval {
    double elapsed_s; /* End of the interval, in seconds since the start of the run. */
    double samples_per_s;
    struct compare_role worker, other; /* other: a server or the driver. */
};

struct compare_run {
    const struct compare_task *task;
    const struct compare_way *way;
    double n, others;                /* Workers, and ranks besides them. */
    double batch, rows, unknowns;    /* batch: rows of all workers; 0: all rows. */
    double iterations, passes;       /* passes: number of times all rows were used. */
    double elapsed_s, samples_per_s; /* Values of the whole run. */
    double compute_s;                /* Seconds of computation of the slowest rank. */
    struct compare_role worker, other;
    bool diverged;
    char data[256]; /* Name of the data in the trace. */
    struct compare_interval *intervals;
    size_t interval_count;
    char *command; /* The command of the run; owned. */
};

struct compare_result {
    const struct compare_request *request; /* Borrowed. */
    const char *cluster;                   /* Name of the cluster; NULL: real ranks. */
    double bandwidth;                      /* Bytes/s of a node; 0: not known. */
    struct compare_run *runs;              /* Owned; ordered by task, way and n. */
    size_t count;
};

void compare_result_release(struct compare_result *result);

/* Read a line of a run's trace; other lines are skipped. Returns 0 or HM_E_NOMEM. */
int compare_run_read_line(struct compare_run *run, const char *line);
/* Compute the means after the last line. False when the trace is incomplete. */
bool compare_run_finish(struct compare_run *run);

/* Samples per second that a full-batch run would reach with another number of rows: the time of
 * computation grows with the rows, the time of communication does not. */
double compare_scaled_speed(const struct compare_run *run, double rows);

#endif
