/*
 * Inside of an advice: an algorithm on m workers as the draws have it.
 *
 * A runner holds, for each draw, the path of y = ln(P - P*) on a grid of iterations (the least so
 * far, since a run may stop there) and the seconds of an iteration. Everything that is asked is
 * counted from these.
 */
#ifndef HM_ADVISE_H
#define HM_ADVISE_H

#include "converge.h"

enum { HM_GRID_MAX = 80, HM_GRID_EACH = 20 /* iterations one by one, before steps grow */ };

struct hm_grid {
    double iterations[HM_GRID_MAX];
    size_t count;
};

struct hm_runner {
    const struct hm_g *g;
    double m;
    size_t curves; /* that there are of it */
    struct hm_grid grid;
    double seconds;                /* of an iteration, f(m) */
    double paces[HM_G_DRAWS];      /* the same, drawn */
    double *y;                     /* y[d * grid.count + p]: least up to grid point p; owned */
    double iterations[HM_G_DRAWS]; /* to the loss, or within the time; INFINITY: never */
    double value[HM_G_DRAWS];      /* what is to be least: seconds, money, or y */
    double expected;               /* mean of it */
};

/* Draw the paths. The pace has been found already. */
int hm__runner_init(struct hm_runner *runner, const struct hm_g *g, double m, double best,
                    double seed, struct hm_err *err);
void hm__runner_release(struct hm_runner *runner);
/* Iterations until y is at most `level` in a draw; INFINITY: not within the grid. */
double hm__runner_hit(const struct hm_runner *runner, size_t draw, double level);
/* The least y within so many iterations; INFINITY before the first. */
double hm__runner_reach(const struct hm_runner *runner, size_t draw, double iterations);
/*
 * Seconds to a level by every step-th draw, into times (HM_G_DRAWS / step of them); the mean is
 * returned. A draw that never gets there counts as ten times those that do; INFINITY: none does.
 * *ret_there, how many do, may be NULL.
 */
double hm__runner_times(const struct hm_runner *runner, double level, size_t step, double *times,
                        size_t *ret_there);

/* The smooth path of an algorithm on m workers: the mean of its traces, and g beyond them; g and
 * how m lies apart from it where there are none. */
int hm__runner_smooth(const struct hm_runner *runner, double best, double *y, struct hm_err *err);
/* Iterations, not rounded, until a path on the grid is at a level. */
double hm__grid_hit(const struct hm_grid *grid, const double *y, double level);

enum { HM_RUNNERS_MAX = 256 }; /* of an algorithm, that a schedule looks at */

/* The best schedule of m to a level, for the runners of each algorithm; see schedule.c. */
int hm__schedule_find(struct hm_schedule *schedule, struct hm_arena *arena,
                      struct hm_runner *runners, size_t count, double best, double level,
                      double switch_s, double confidence, struct hm_err *err);

#endif
