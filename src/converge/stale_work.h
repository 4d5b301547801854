/*
 * Declares the state of the fit of staleness costs, and the functions that evaluate the model and
 * solve the least-squares problem. stale.c describes the model.
 */
#ifndef HM_STALE_WORK_H
#define HM_STALE_WORK_H

#include "converge.h"

enum {
    STALE_GRID = 512,
    STALE_LEVEL = 0,
    STALE_GROWTH = 1,
    STALE_POWER = 2,
    STALE_COUNT = HM_STALE_PARAMETERS
};

/* Bounds of ln c, where c is the cost of staleness. */
static const double STALE_LEAST = -2.8, STALE_MOST = 5.5;

/*
 * The loss curve of fresh runs on m workers, y = ln(P - P*) on a grid over ln i: g plus the
 * measured difference between g and the fresh traces on m workers.
 */
struct stale_shape {
    struct hm_g_path path;
    bool known; /* True if there are fresh traces on this number of workers. */
    /* Difference from g, interpolated from other numbers of workers; used if `known` is false. */
    struct hm_g_bend bend;
    double y[STALE_GRID];
};

struct stale_work {
    const struct hm_g *g;
    double best;
    /* The iterations of the grid; their logarithms start at `first` and are `step` apart. */
    double iterations[STALE_GRID], first, step;
    struct stale_shape *shapes; /* Loss curve of fresh runs for each number of workers. */
    size_t shape_count;
    struct hm_g_curve *curves; /* Traces of stale runs; each is thinned to a few points. */
    double *staleness, *weight;
    /* For each stale curve, the loss curve of fresh runs on the same number of workers. */
    const struct stale_shape **shape;
    size_t count;
    /*
     * Random weights of the stale and of the fresh curves in a draw; all are 1 in the fit itself.
     */
    double *chance, *fresh_chance;
    bool uses[STALE_COUNT];
    double exponent; /* Exponent e of the staleness s: ln c, the logarithm of the cost, contains the
                        term growth s^e. */
    double held;     /* Staleness that is held out; NaN if no staleness is held out. */
};

/* Returns ln c, the logarithm of the cost of a staleness on m workers, for the parameters theta. */
double hm__stale_log_cost(const double *theta, double exponent, double staleness, double m);
/*
 * Computes the loss curves `shapes` of fresh runs from the loss curve g, with the current weights
 * of the fresh curves. Uses the fitted parameters of g if draw is HM_NONE, and the parameters of
 * the draw otherwise.
 */
void hm__stale_fill_shapes(struct stale_work *w, size_t draw);
/* Returns the weight of a stale curve in the sum of squares; 0 if its staleness is held out. */
double hm__stale_curve_weight(const struct stale_work *w, size_t c);
/*
 * Returns the residual of point p of stale curve c if `cost` is the logarithm of the curve's cost
 * of staleness. *ret_slope is the derivative of the fresh loss curve with respect to ln i;
 * ret_slope may be NULL.
 */
double hm__stale_residual(const struct stale_work *w, size_t c, size_t p, double cost,
                          double *ret_slope);
/*
 * Returns the logarithm of the cost of staleness for the curve with index c, limited to
 * STALE_LEAST..STALE_MOST.
 */
double hm__stale_curve_cost(const struct stale_work *w, const double *theta, size_t c);
/* Minimises the sum of squares, starting at theta; returns the final sum. */
double hm__stale_minimise(const struct stale_work *w, double *theta);
/*
 * Fits the parameters from several starting values, because the sum of squares may have more than
 * one local minimum.
 */
void hm__stale_fit(const struct stale_work *w, double theta[STALE_COUNT]);
/*
 * Returns the root mean square error of log10(P - P*) over all curves or, if `only` is not NaN,
 * over the curves with that staleness.
 */
double hm__stale_error(const struct stale_work *w, const double *theta, double only);

#endif
