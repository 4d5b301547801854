/*
 * Internal interface of an advice: the path of the loss of an algorithm on m workers, in each draw.
 *
 * A runner holds, for each draw, the path of y = ln(P - P*) on a grid of iterations (the minimum so
 * far, since a run may stop there) and the seconds of an iteration. P is the loss and P* the least
 * possible loss. All answers are computed from these paths and times.
 */
#ifndef HM_RUNNER_H
#define HM_RUNNER_H

#include "converge.h"

/* HM_GRID_EACH iterations are consecutive; after them the steps grow. */
enum { HM_GRID_MAX = 80, HM_GRID_EACH = 20 };

struct hm_grid {
    double iterations[HM_GRID_MAX];
    size_t count;
};

struct hm_runner {
    const struct hm_g *g;
    double m;
    size_t curves; /* Number of traces on m workers. */
    struct hm_grid grid;
    double seconds;           /* f(m), the seconds of an iteration. */
    double paces[HM_G_DRAWS]; /* Seconds of an iteration in each draw. */
    /* y[d * grid.count + p] is the minimum of y up to grid point p in draw d; owned. */
    double *y;
    /*
     * Iterations to the target loss (INFINITY: never), or iterations within the time limit, in each
     * draw.
     */
    double iterations[HM_G_DRAWS];
    /* Value to be minimised in each draw: seconds, money, or y. */
    double value[HM_G_DRAWS];
    double expected; /* Mean of `value` over the draws. */
};

/* Draws the paths. The caller must have set `seconds` and `paces`. */
int hm__runner_init(struct hm_runner *runner, const struct hm_g *g, double m, double best,
                    double seed, struct hm_err *err);
void hm__runner_release(struct hm_runner *runner);
/* Iterations in a draw until y is at most `level`; INFINITY if the grid ends before. */
double hm__runner_hit(const struct hm_runner *runner, size_t draw, double level);
/*
 * Smallest y of a draw within a number of iterations; INFINITY if that ends before the first known
 * point.
 */
double hm__runner_reach(const struct hm_runner *runner, size_t draw, double iterations);
/*
 * Writes the seconds until y is at most `level`, for every step-th draw, into times (HM_G_DRAWS /
 * step values) and returns their mean. A draw that never reaches the level counts as ten times the
 * mean of the draws that do; the result is INFINITY if no draw does. *ret_there is the number of
 * draws that reach the level; ret_there may be NULL.
 */
double hm__runner_times(const struct hm_runner *runner, double level, size_t step, double *times,
                        size_t *ret_there);

/*
 * Computes the smooth path of an algorithm on m workers: the fitted g and the systematic difference
 * of the traces on m from g, without the noise of single traces.
 */
int hm__runner_smooth(const struct hm_runner *runner, double best, double *y, struct hm_err *err);
/* Iterations, not rounded, until a path on the grid is at most `level`. */
double hm__grid_hit(const struct hm_grid *grid, const double *y, double level);

enum { HM_RUNNERS_MAX = 256 }; /* Largest number of runners of one algorithm in a schedule. */

/*
 * Finds the best schedule of the number of workers m until y is at most `level`, for the runners of
 * each algorithm; see schedule.c.
 */
int hm__schedule_find(struct hm_schedule *schedule, struct hm_arena *arena,
                      struct hm_runner *runners, size_t count, double best, double level,
                      double switch_s, double confidence, struct hm_err *err);

#endif
