/*
 * Declares the results of a comparison: values from the traces of its runs, averaged over the ranks
 * of each role.
 */
#ifndef HM_COMPARE_RESULT_H
#define HM_COMPARE_RESULT_H

#include "compare_measured.h"
#include "text.h"

/* Means over the ranks of one role: the workers, or the other ranks (servers or driver). A value
 * that is not known is NAN. */
struct compare_role {
    double compute;        /* Share of the time during which a rank computes. */
    double cpu;            /* Processor time divided by wall time; NAN in a simulation. */
    double sent, received; /* Bytes per second that a rank sends and receives. */
    double memory;         /* Memory of a rank in bytes. */
};

/* Means over one interval between two evaluations of the objective. */
struct compare_interval {
    double elapsed_s; /* End of the interval, in seconds since the start of the run. */
    double samples_per_s;
    struct compare_role worker,
        other; /* Means over the workers, and over the other ranks (servers or driver). */
};

struct compare_run {
    const struct compare_task *task;
    const struct compare_way *way;
    double n, others; /* Number of workers, and number of other ranks (servers or driver). */
    /*
     * `batch` is the number of rows in a mini-batch of all workers together (0 for all rows),
     * `rows` is the number of rows in the data, and `unknowns` is the number of model parameters.
     */
    double batch, rows, unknowns;
    double iterations, passes;       /* `passes` is the number of times that all rows were used. */
    double elapsed_s, samples_per_s; /* Time of the whole run in seconds, and samples per second. */
    double compute_s;                /* Computation time of the slowest rank in seconds. */
    struct compare_role worker, other;
    bool diverged;
    char data[256]; /* Name of the data set, as written in the trace. */
    struct compare_interval *intervals;
    size_t interval_count;
    char *command; /* The command of the run; owned. */
};

struct compare_result {
    const struct compare_request *request; /* Options of the comparison; borrowed. */
    /* Name of the simulated cluster; NULL means that the ranks are not simulated. */
    const char *cluster;
    double bandwidth; /* Bandwidth of the network port of a node in bytes/s; 0 if not known. */
    /* Array of runs, ordered by task, platform and n; owned. */
    struct compare_run *runs;
    size_t count;
    struct compare_measured_list measured; /* Measurements of other frameworks; owned. */
};

void compare_result_release(struct compare_result *result);

/*
 * Reads a line of the output of a run; lines that do not belong to the trace are skipped. Returns 0
 * or HM_E_NOMEM.
 */
int compare_run_read_line(struct compare_run *run, const char *line);
/*
 * Computes the means after the last line has been read. Returns false if the trace is incomplete.
 */
bool compare_run_finish(struct compare_run *run);

/* Returns the samples per second that a full-batch run would reach with another number of rows: the
 * computation time grows with the number of rows, but the communication time does not. */
double compare_scaled_speed(const struct compare_run *run, double rows);

#endif
