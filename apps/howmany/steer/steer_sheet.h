/*
 * Predicts the time of an iteration in seconds from the specification sheet of the cluster, to
 * choose the first trial.
 */
#ifndef HM_STEER_SHEET_H
#define HM_STEER_SHEET_H

#include "steer_types.h"

/* Values of the specification sheet for one worker and for the network; NaN if unknown. */
struct steer_sheet {
    double flops; /* Speed of a worker in flop/s. */
    double bandwidth_bytes_per_s, latency_s;
};

/*
 * Sets the time in seconds of an iteration on each number of workers of the task, for data with
 * `entries` nonzero values and `features` columns. If a value of the specification sheet is
 * unknown, no time is predicted.
 */
void steer_sheet_fill(struct steer_task *task, double entries, double features,
                      const struct steer_sheet *sheet);
/*
 * Sets the times as steer_sheet_fill does. The training data with the name `data` are read to count
 * their values and columns. Returns 0, or EXIT_USAGE with a message.
 */
int steer_sheet_read(struct steer_task *task, const char *data, const struct steer_sheet *sheet);

#endif
