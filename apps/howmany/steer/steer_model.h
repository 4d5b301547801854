/*
 * What the lines so far tell about the time to the target: the system model f(m), the convergence
 * model g(i, m), both fitted as `howmany advise` does, and the recent rate of each line.
 */
#ifndef HM_STEER_MODEL_H
#define HM_STEER_MODEL_H

#include "steer_types.h"

/* Zero-initialise; release on every path. */
struct steer_model {
    const struct steer_state *state;    /* Borrowed. */
    double until_s;                     /* Points after this time are not used. */
    struct hm_traces traces;            /* The points, as traces. */
    struct hm_convergence *convergence; /* NULL: the points cannot be fitted yet. */
    double best;                        /* P*, given, estimated or assumed. */
    void *memory;                       /* Owns the traces. */
};

/* An expected time to the target, in seconds. */
struct steer_estimate {
    double time_s; /* INFINITY: the target is not expected to be reached; NaN: unknown. */
    double high_s; /* Upper end of the interval; NaN: unknown. */
};

/* Fit all points up to until_s. Points that cannot be fitted are not an error. Returns 0 or a
 * negative code. */
int steer_model_fit(struct steer_model *model, const struct steer_state *state, double until_s,
                    struct hm_err *err);
void steer_model_release(struct steer_model *model);

/* Time that a line needs from its last known point to the target. */
struct steer_estimate steer_model_line(const struct steer_model *model,
                                       const struct steer_line *line);
/* Whether an algorithm on m workers has a line near a loss, which tells its present rate. */
bool steer_model_near(const struct steer_model *model, size_t algorithm, size_t m,
                      double from_loss);
/* Time that an algorithm on m workers needs from a loss to the target, without the switch. */
struct steer_estimate steer_model_choice(const struct steer_model *model, size_t algorithm,
                                         size_t m, double from_loss);

#endif
