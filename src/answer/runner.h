/*
 * Internal interface of an advice: an algorithm on m workers, draw by draw.
 *
 * A runner holds, for each draw, the path of y = ln(P - P*) on a grid of iterations (the minimum so
 * far, since a run may stop there) and the seconds of an iteration. All answers are counted from
 * these.
 */
#ifndef HM_RUNNER_H
#define HM_RUNNER_H

#include "converge.h"

enum { HM_GRID_MAX = 80, HM_GRID_EACH = 20 /* Consecutive iterations, before the steps grow. */ };

struct hm_grid {
    double iterations[HM_GRID_MAX];
    size_t count;
};

struct hm_runner {
    const struct hm_g *g;
    double m;
    size_t curves; /* Number of traces with this m. */
    struct hm_grid grid;
    double seconds;           /* Seconds of an iteration, f(m). */
    double paces[HM_G_DRAWS]; /* Seconds of an iteration in each draw. */
    double *y; /* y[d * grid.count + p] is the minimum up to grid point p in draw d; owned. */
    double
        iterations[HM_G_DRAWS]; /* Iterations to the loss, or within the time; INFINITY: never. */
    double value[HM_G_DRAWS];   /* Value to be minimised: seconds, money, or y. */
    double expected;            /* Mean of value. */
};

/* Draws the paths. seconds and paces must have been set already. */
int hm__runner_init(struct hm_runner *runner, const struct hm_g *g, double m, double best,
                    double seed, struct hm_err *err);
void hm__runner_release(struct hm_runner *runner);
/* Iterations until y is at most `level` in a draw; INFINITY: not within the grid. */
double hm__runner_hit(const struct hm_runner *runner, size_t draw, double level);
/* Smallest y within the given iterations; INFINITY before the first. */
double hm__runner_reach(const struct hm_runner *runner, size_t draw, double iterations);
/*
 * Writes the seconds to reach a level for every step-th draw into times (HM_G_DRAWS / step values)
 * and returns their mean. A draw that never reaches the level counts as ten times the mean of those
 * that do; INFINITY if none does. *ret_there, the number that do, may be NULL.
 */
double hm__runner_times(const struct hm_runner *runner, double level, size_t step, double *times,
                        size_t *ret_there);

/*
 * The smooth path of an algorithm on m workers: g and the bend of m, without the noise of single
 * traces.
 */
int hm__runner_smooth(const struct hm_runner *runner, double best, double *y, struct hm_err *err);
/* Iterations, not rounded, until a path on the grid reaches a level. */
double hm__grid_hit(const struct hm_grid *grid, const double *y, double level);

enum { HM_RUNNERS_MAX = 256 }; /* Largest number of runners of one algorithm in a schedule. */

/* Finds the best schedule of m to a level, for the runners of each algorithm; see schedule.c. */
int hm__schedule_find(struct hm_schedule *schedule, struct hm_arena *arena,
                      struct hm_runner *runners, size_t count, double best, double level,
                      double switch_s, double confidence, struct hm_err *err);

#endif
