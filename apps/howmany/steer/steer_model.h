/*
 * Estimates the time to the target loss from the measured points of all runs so far. It uses f(m),
 * the time in seconds of an iteration on m workers, g(i, m), the loss after i iterations, and the
 * recent rate at which the loss of each run decreases. f and g are fitted as in `howmany advise`.
 */
#ifndef HM_STEER_MODEL_H
#define HM_STEER_MODEL_H

#include "steer_types.h"

/* Models that are fitted to the runs. Zero-initialise the struct, and release it on every path. */
struct steer_model {
    const struct steer_state *state; /* State of the training; borrowed. */
    double until_s;                  /* Points that were measured after this time are not used. */
    struct hm_traces traces;         /* Measured points of all runs, as traces. */
    struct hm_convergence *convergence; /* Fit of the traces; NULL if they cannot be fitted yet. */
    double best;  /* Lowest possible loss P*, which is given, estimated by the fit, or assumed. */
    void *memory; /* Memory in which the traces are stored; owned. */
};

/* An expected time until the target loss is reached, in seconds. */
struct steer_estimate {
    /* Expected time to the target loss, in seconds; INFINITY if the target is not expected to be
     * reached; NaN if unknown. */
    double time_s;
    double high_s; /* Upper end of the interval for time_s; NaN if unknown. */
};

/*
 * Fits the points up to the time `until_s`. It is not an error if the points cannot be fitted.
 * Returns 0 or a negative code.
 */
int steer_model_fit(struct steer_model *model, const struct steer_state *state, double until_s,
                    struct hm_err *err);
void steer_model_release(struct steer_model *model);

/* Estimates the time that a run needs from its last known point to the target loss. */
struct steer_estimate steer_model_line(const struct steer_model *model,
                                       const struct steer_line *line);
/*
 * Returns whether an algorithm on m workers has a run with a loss near `from_loss`, so that its
 * rate at this loss is known.
 */
bool steer_model_near(const struct steer_model *model, size_t algorithm, size_t m,
                      double from_loss);
/*
 * Estimates the time that an algorithm on m workers needs from the loss `from_loss` to the target
 * loss, excluding the time for changing to this algorithm and number of workers.
 */
struct steer_estimate steer_model_choice(const struct steer_model *model, size_t algorithm,
                                         size_t m, double from_loss);

#endif
