/* Carries out one steered training from start to finish: first trials, then frames with a decision
 * before each frame. */
#ifndef HM_STEER_SESSION_H
#define HM_STEER_SESSION_H

#include "steer_folder.h"
#include "steer_plan.h"

/*
 * A steered training. Zero-initialise the struct, set `task`, `source` and `folder`, and release it
 * on every path.
 */
struct steer_session {
    struct steer_task task;
    struct steer_source source;
    struct steer_folder folder;
    struct steer_state *state; /* State of the training; owned. */
    /*
     * Bandwidth and latency of the network over which the checkpoint moves in a simulated change of
     * the number of workers; NaN if unknown.
     */
    double bandwidth_bytes_per_s, latency_s;
    bool switch_given; /* True if the user gave the time in seconds for changing the algorithm or
                          the number of workers. */
};

/*
 * Trains until the target or a limit is reached. The log of decisions is written after each frame.
 * Returns 0 or an exit code.
 */
int steer_session_run(struct steer_session *session);
void steer_session_release(struct steer_session *session);

#endif
