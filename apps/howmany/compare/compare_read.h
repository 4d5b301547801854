/* What came of the runs of a comparison: traces read, and summed up by role. */
#ifndef HM_COMPARE_READ_H
#define HM_COMPARE_READ_H

#include "compare_plan.h"
#include "text.h"

/* A rank of a role, in the mean. Unknown is NAN. */
struct compare_role {
    double compute;        /* share of the time that it computes */
    double cpu;            /* processors' time over time; NAN when simulated */
    double sent, received; /* bytes a second */
    double memory;         /* bytes */
};

struct compare_look {
    double elapsed_s, samples_per_s;
    struct compare_role worker, other; /* other: a server, or the driver */
};

struct compare_run {
    const struct compare_task *task;
    const struct compare_way *way;
    double n, others;                /* workers, and ranks besides them */
    double batch, rows, unknowns;    /* batch: of all workers; 0: all rows */
    double iterations, passes;       /* passes over the rows */
    double elapsed_s, samples_per_s; /* of the whole run */
    double compute_s;                /* of the slowest rank */
    struct compare_role worker, other;
    bool diverged;
    char data[256]; /* as the trace names it */
    struct compare_look *looks;
    size_t look_count;
    char *command; /* that makes it; owned */
};

void compare_run_release(struct compare_run *run);

/* Take a line of the trace; lines that are none are passed over. 0 or HM_E_NOMEM. */
int compare_read_line(struct compare_run *run, const char *line);
/* After the last line: the sums. False when there is no whole trace. */
bool compare_read_end(struct compare_run *run);

/* Samples a second of a full-batch run if there were so many rows: computing grows with them, and
 * communicating does not. */
double compare_scaled_speed(const struct compare_run *run, double rows);

#endif
