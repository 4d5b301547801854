/*
 * Finds the times of the iterations of a Spark program that does not print them: Spark writes its
 * event log into a temporary folder, and the log is read after the run.
 */
#ifndef HM_SPARK_LOG_H
#define HM_SPARK_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "temporary.h"

struct launch_spark_log {
    char folder[LAUNCH_FOLDER]; /* Folder of the event log; empty if no log is written. */
    char *before; /* Value of the variable SPARK_SUBMIT_OPTS before the run, owned; NULL if the
                     variable was not set. */
};

/*
 * Makes Spark write an event log, through the variable SPARK_SUBMIT_OPTS, if the command may be a
 * Spark program, that is, if one of its arguments contains "spark" or ".py". Settings of the
 * program itself take precedence. If anything fails, no log is written.
 */
void launch_spark_log_begin(struct launch_spark_log *log, char *const *argv);
/*
 * Reads the times in seconds of the Spark job that is repeated; its repetitions are the iterations.
 * If several jobs are repeated, the one with the longest total time is used. Returns the number of
 * its repetitions; the caller frees *ret_seconds.
 */
size_t launch_spark_log_read(const struct launch_spark_log *log, double **ret_seconds);
/* Removes the folder of the log and restores SPARK_SUBMIT_OPTS. */
void launch_spark_log_end(struct launch_spark_log *log);

#endif
