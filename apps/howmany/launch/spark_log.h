/*
 * Finds the times of the iterations of a Spark program that prints none: Spark writes its event log
 * into a temporary folder, and the log is read after the run.
 */
#ifndef HM_SPARK_LOG_H
#define HM_SPARK_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "temporary.h"

struct launch_spark_log {
    char folder[LAUNCH_FOLDER]; /* Folder of the log; empty: no log is written. */
    char *before;               /* SPARK_SUBMIT_OPTS before the run; owned. NULL: not set. */
};

/*
 * Make Spark write a log, by SPARK_SUBMIT_OPTS in the environment, if the command may be a Spark
 * program: one of its words contains "spark" or ".py". Settings of the program itself take
 * precedence. If anything fails, no log is written.
 */
void launch_spark_log_begin(struct launch_spark_log *log, char *const *argv);
/*
 * Read the seconds of the jobs that repeat, which are the iterations. If there are several groups
 * of such jobs, the group with the longest total time is read. Returns the number of jobs; the
 * caller frees *ret_seconds.
 */
size_t launch_spark_log_read(const struct launch_spark_log *log, double **ret_seconds);
/* Remove the folder and restore the environment. */
void launch_spark_log_end(struct launch_spark_log *log);

#endif
