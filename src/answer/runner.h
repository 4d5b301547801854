/*
 * Internal interface for computing advice: the path of the loss of an algorithm on m workers.
 *
 * A runner is one algorithm on m workers. For each random draw of the fits, it holds the time of an
 * iteration in seconds and the path of y = ln(P - P*) on a grid of iterations, where P is the loss
 * and P* is the lowest possible loss. The path is the minimum of y so far, since a run may stop
 * there. All answers are computed from these paths and times.
 */
#ifndef HM_RUNNER_H
#define HM_RUNNER_H

#include "converge.h"

/*
 * The first HM_GRID_EACH points of the grid are consecutive iterations; after them, the steps
 * increase.
 */
enum { HM_GRID_MAX = 80, HM_GRID_EACH = 20 };

struct hm_grid {
    double iterations[HM_GRID_MAX];
    size_t count;
};

struct hm_runner {
    const struct hm_g *g;
    const char *name; /* Name of the algorithm, followed by the kind of staleness for stale runs;
                         borrowed. */
    double m;
    double staleness, backups; /* Staleness bound, and number of backup workers. */
    size_t curves;             /* Number of traces on m workers. */
    struct hm_grid grid;
    double seconds;               /* f(m), the time of an iteration in seconds. */
    double paces[HM_G_DRAWS];     /* Time of an iteration in seconds in each draw of the fit. */
    struct hm_pace_spread spread; /* Spread of the times of single iterations. */
    double luck[HM_G_DRAWS]; /* Standard normal random number for each draw, which varies the time
                                of a run. */
    /* y[d * grid.count + p] is the smallest ln(P - P*) up to grid point p in draw d; owned. */
    double *y;
    /*
     * For each draw of the fits: the number of iterations until the target loss is reached
     * (INFINITY if it is never reached) or, without a target loss, the number of iterations within
     * the time limit.
     */
    double iterations[HM_G_DRAWS];
    /* Value to be minimised, for each draw of the fits: seconds, money, or y = ln(P - P*). */
    double value[HM_G_DRAWS];
    double expected; /* Mean of `value` over the draws. */
};

/*
 * Computes the path of the loss for each draw of the fit. The caller must have set `seconds` and
 * `paces`.
 */
int hm__runner_init(struct hm_runner *runner, const struct hm_g *g, double m, double best,
                    double seed, struct hm_err *err);
/*
 * Sets the spread of single iterations and the random numbers that vary the times of whole runs;
 * `stream` must be different for each candidate.
 */
void hm__runner_vary(struct hm_runner *runner, struct hm_pace_spread spread, double seed,
                     size_t stream);
/* Slows down all paths because of stale gradients. If staleness multiplies the number of iterations
 * by c, the loss of a run after i iterations equals the loss of a synchronous run after i / c
 * iterations. */
void hm__runner_delay(struct hm_runner *runner, const struct hm_g_stale *cost, double staleness);
/*
 * Returns the time in seconds that a number of iterations takes in a draw of the fits. The sum of k
 * iterations with a relative standard deviation s has the relative standard deviation s / sqrt(k).
 */
double hm__runner_time(const struct hm_runner *runner, size_t draw, double iterations);
/* Returns the number of whole iterations that fit into the given time in a draw of the fits. */
double hm__runner_within(const struct hm_runner *runner, size_t draw, double seconds);
void hm__runner_release(struct hm_runner *runner);
/*
 * Returns the number of iterations until y = ln(P - P*) is at most `level` in a draw of the fit;
 * INFINITY if that is beyond the grid.
 */
double hm__runner_hit(const struct hm_runner *runner, size_t draw, double level);
/*
 * Returns the smallest y = ln(P - P*) that a draw of the fit reaches within the given number of
 * iterations; INFINITY if that number ends before the first iteration that has a value.
 */
double hm__runner_reach(const struct hm_runner *runner, size_t draw, double iterations);
/*
 * Writes the time in seconds until y = ln(P - P*) is at most `level`, for every step-th draw of the
 * fit, into `times` (HM_G_DRAWS / step values) and returns their mean. A draw that never reaches
 * the level counts as ten times the mean of the draws that reach it. The result is INFINITY if no
 * draw reaches the level. *ret_there is the number of draws that reach it; ret_there may be NULL.
 */
double hm__runner_times(const struct hm_runner *runner, double level, size_t step, double *times,
                        size_t *ret_there);

/*
 * Computes the smooth path of an algorithm on m workers: the fitted loss curve g plus the
 * systematic difference between the traces on m workers and g, without the noise of single traces.
 */
int hm__runner_smooth(const struct hm_runner *runner, double best, double *y, struct hm_err *err);
/*
 * Returns the number of iterations, not rounded, until the loss along a path, as y = ln(P - P*), is
 * at most `level`.
 */
double hm__grid_hit(const struct hm_grid *grid, const double *y, double level);

enum {
    HM_RUNNERS_MAX = 256
}; /* Largest number of runners (numbers of workers) that a schedule has for one algorithm. */

/*
 * Finds when to change the number of workers so that y = ln(P - P*) decreases to `level` in the
 * shortest time. The runners of each algorithm are evaluated together; see schedule.c.
 */
int hm__schedule_find(struct hm_schedule *schedule, struct hm_arena *arena,
                      struct hm_runner *runners, size_t count, double best, double level,
                      double switch_s, double confidence, struct hm_err *err);

#endif
