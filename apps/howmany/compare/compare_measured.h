/* Reads a table of measurements of other frameworks on the tasks of a comparison. */
#ifndef HM_COMPARE_MEASURED_H
#define HM_COMPARE_MEASURED_H

#include "compare_plan.h"

enum { COMPARE_MEASURED_RUNS = 9 }; /* Largest number of repetitions of a run in the table. */

/* Repeated runs of one framework with the same task, platform and number of workers. */
struct compare_measured {
    const struct compare_task *task;
    const struct compare_way *way;
    char *system;         /* Name of the framework, as written in the table; owned. */
    double n;             /* Number of workers. */
    double samples_per_s; /* Median of the samples per second over the runs. */
    size_t runs;          /* Number of repetitions that were measured. */
    double speeds[COMPARE_MEASURED_RUNS]; /* Samples per second of each run, in ascending order. */
};

struct compare_measured_list {
    struct compare_measured *rows; /* Measurements in the order of the table; owned. */
    size_t count;
};

/*
 * Reads a CSV table with the columns task, platform, system, n, and either samples_per_s, or both
 * seconds (time of an iteration) and batch (rows that all workers process in an iteration). Rows
 * with the same task, platform, system and n are repetitions. Returns 0, or EXIT_USAGE with a
 * message. Release the list in both cases.
 */
int compare_measured_read(const char *path, struct compare_measured_list *list);
void compare_measured_release(struct compare_measured_list *list);

#endif
