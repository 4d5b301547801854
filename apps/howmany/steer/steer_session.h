/* Makes one steered training from start to end: trials, then frames with a decision before each. */
#ifndef HM_STEER_SESSION_H
#define HM_STEER_SESSION_H

#include "steer_folder.h"
#include "steer_plan.h"

/* Zero-initialise; set task, source and folder. */
struct steer_session {
    struct steer_task task;
    struct steer_source source;
    struct steer_folder folder;
    struct steer_state *state; /* Owned. */
    /* Fabric over which the state moves in a simulated switch; NaN: unknown. */
    double bandwidth_bytes_per_s, latency_s;
    bool switch_given; /* The time of a switch was given. */
};

/* Train until a limit. The log of decisions is written after each frame. Returns 0 or an exit
 * code. */
int steer_session_run(struct steer_session *session);
void steer_session_release(struct steer_session *session);

#endif
