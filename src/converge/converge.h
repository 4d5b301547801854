/*
 * Internal interface for fitting convergence: the points of traces that a fit uses, the terms and
 * the other forms of the loss curve g, the cost of staleness, and the loss along the iterations.
 *
 * All fits describe y = ln(P(i, m) - P*), where P is the loss after iteration i on m workers and P*
 * is the optimal loss. The fitted function is the loss curve, y = g(i, m). The numbers of workers m
 * in the traces are sorted in ascending order and referred to by index.
 */
#ifndef HM_CONVERGE_H
#define HM_CONVERGE_H

#include <string.h>

#include "formula.h"
#include "howmany_advise.h"
#include "lasso.h"
#include "linear.h"
#include "memory.h"
#include "random.h"

enum {
    HM_G_FOLDS = HM_LASSO_FOLDS,
    /*
     * Number of blocks of iterations. If there are too few numbers of workers, these blocks are the
     * folds of the cross-validation.
     */
    HM_G_BLOCKS = 5,
    /* Largest number of parameters in a form of the loss curve g that is not a sum of terms. */
    HM_G_SHAPE_MAX = 5,
};

/* Points at which P - P* is below this fraction of the loss contain only rounding errors. */
static const double HM_G_ROUNDING = 1e-13;

/*
 * Smallest standard deviation of ln(P - P*) that is assumed for a point. Losses are usually written
 * with about seven digits, so closer agreement is not evidence of a better fit.
 */
static const double HM_G_NOISE = 1e-6;

/* ---- terms ----------------------------------------------------------------------------------- */

/* The terms of the loss curve g: formulas over the iteration i and the number of workers m. */
struct hm_g_basis {
    struct hm_formula *formulas[HM_LASSO_MAX]; /* The compiled formulas; owned by the arena. */
    const char *texts[HM_LASSO_MAX];
    size_t count;
};

/*
 * Compiles the given terms. If count is 0, uses the built-in terms instead; built-in terms that
 * contain m are excluded unless m_varies is true.
 */
int hm__g_basis_init(struct hm_g_basis *basis, struct hm_arena *arena, const char *const *terms,
                     size_t count, bool m_varies, struct hm_err *err);
/*
 * Sets x[k * count + p] to the value of term k at iteration i[p] on m[p] workers. Fails if a value
 * is not finite.
 */
int hm__g_basis_eval(const struct hm_g_basis *basis, const double *i, const double *m, size_t count,
                     double *x, struct hm_err *err);

/* ---- points ---------------------------------------------------------------------------------- */

/* The points to which the loss curve g of one algorithm is fitted. */
struct hm_g_data {
    struct hm_g_curve *curves; /* Traces reduced to a few points, sorted by number of workers. */
    size_t curve_count;
    double *ms; /* The different numbers of workers, ascending. */
    size_t m_count;
    size_t count; /* Total number of points in all curves. */
    /*
     * Iteration, number of workers, y = ln(P - P*) and weight of each point. The weights of all
     * points with the same number of workers add up to 1.
     */
    double *i, *m, *y, *weight;
    size_t *fold;          /* Index of the cross-validation fold of each point. */
    bool held[HM_G_FOLDS]; /* held[f] is true if cross-validation holds out fold f. */
    size_t fold_count;
    /*
     * True if each fold contains the points of one number of workers; false if the folds are blocks
     * of iterations.
     */
    bool by_m;
    double last; /* Number of the last iteration of any trace. */
};

/*
 * Returns whether an algorithm has fresh traces (traces without staleness and without backup
 * workers). If it has, the loss curve g and the time of an iteration are fitted only to the fresh
 * traces, because stale iterations make less progress and take less time; otherwise, they are
 * fitted to all traces.
 */
bool hm__g_has_fresh(const struct hm_traces *traces, const char *algorithm);
static inline bool hm__g_takes(const struct hm_trace *trace, const char *algorithm, bool has_fresh)
{
    return strcmp(trace->algorithm, algorithm) == 0 &&
           (!has_fresh || (trace->staleness == 0 && trace->backups == 0));
}

/* Compares two pointers to traces of one table by number of workers; traces with the same number
 * keep their order in the table. For qsort. */
int hm__compare_traces_by_m(const void *a, const void *b);

/*
 * Selects the points of a trace for a fit. Points whose loss equals the optimal loss `best` up to
 * rounding are excluded; best may be -INFINITY.
 */
int hm__g_thin(struct hm_g_curve *curve, struct hm_arena *arena, const struct hm_trace *trace,
               double best, struct hm_err *err);

/*
 * Collects the points of an algorithm from all traces except those on leave_out workers. Points
 * whose loss equals the optimal loss `best` up to rounding are excluded. All memory is allocated
 * from the arena. curve_count is 0 if no points remain.
 */
int hm__g_data_init(struct hm_g_data *data, struct hm_arena *arena, const struct hm_traces *traces,
                    const char *algorithm, double best, double leave_out, struct hm_err *err);

/*
 * Returns the optimal loss P* that the traces specify, or NaN if no trace specifies it. Fails if
 * two traces specify different values.
 */
int hm__g_given_best(const struct hm_traces *traces, double *ret_best, struct hm_err *err);
/*
 * Estimates the optimal loss P* and the interval for it from the traces and the lower bounds in
 * them.
 */
int hm__g_best(const struct hm_traces *traces, double level, double seed, double *ret_best,
               double *ret_low, double *ret_high, struct hm_err *err);

/* ---- fits ------------------------------------------------------------------------------------ */

/*
 * Fits the loss curve g as a sum of terms by the Lasso with cross-validation. Sets the form,
 * parameters, draws, error and penalty of g. (*ret_held)[f * parameter_count + k], in the arena, is
 * parameter k fitted without fold f; parameter 0 is NaN for folds that are never held out.
 */
int hm__g_fit_terms(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    const struct hm_converge_settings *settings, double **ret_held,
                    struct hm_err *err);
/*
 * Fits a form of the loss curve g that is not a sum of terms, without random draws. g->error is NaN
 * if no held-out fold could be predicted.
 */
int hm__g_fit_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                   enum hm_g_form form, double **ret_held, struct hm_err *err);
/* Draws random parameters of the loss curve g for a form that is not a sum of terms. */
int hm__g_draw_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    double seed, struct hm_err *err);
/*
 * Sets the interval for each parameter of the loss curve g from the draws and from the residuals of
 * the fit; no interval has zero width. With F folds and p nonzero parameters, the draws vary too
 * little. Therefore, their deviations are multiplied by the standard factor, sqrt(F / (F - p)), but
 * at most by 2. The interval is unknown (NaN) for a parameter on which no point depends.
 */
int hm__g_bound(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data, double best,
                double level, struct hm_err *err);
/* Computes y = g(i, m) at the given iterations for a form that is not a sum of terms. */
void hm__g_form_values(enum hm_g_form form, const double *theta, double m, const double *i,
                       const double *log_i, size_t count, double *y);
/*
 * Solves the normal equations a x = b for one step of the Levenberg-Marquardt method; only the
 * lower half of a is read. Returns false if the matrix is not positive definite.
 */
bool hm__g_damped_step(size_t count, double a[HM_TERMS_MAX][HM_TERMS_MAX], const double *b,
                       double damping, double *ret_step);
/*
 * Sets a random weight for each fold, from the exponential distribution. The weights depend only on
 * the seed and the index of the draw.
 */
void hm__g_fold_weights(double seed, size_t draw, size_t count, double *weights);

/* ---- staleness ------------------------------------------------------------------------------- */

/*
 * Returns ln c, where c is the cost of a staleness (or number of backup workers) on m workers, in
 * one draw of the fit. If `draw` is HM_NONE or there is no such draw, returns the fitted value.
 */
double hm__g_stale_log_cost(const struct hm_g_stale *stale, double staleness, double m,
                            size_t draw);
/*
 * Fits the cost of staleness, g->ssp and g->async, and of backup workers, g->backup, to the traces
 * of stale runs and of runs with backup workers. g must have been fitted to the fresh traces, and
 * must have draws and curves. Traces that diverged, and traces on a number of workers for which g
 * is unknown, are not used; *ret_left_out is their number.
 */
int hm__g_fit_stale(struct hm_g *g, struct hm_arena *arena, const struct hm_traces *traces,
                    double best, double level, const struct hm_converge_settings *settings,
                    size_t *ret_left_out, struct hm_err *err);

/* ---- f(m) ------------------------------------------------------------------------------------ */

/*
 * Returns the pace (time of an iteration in seconds) of synchronous runs of an algorithm: the last
 * pace with the name of the algorithm or, if there is none, the last pace without a name; NULL if
 * there is neither.
 */
const struct hm_pace *hm__pace_find(const struct hm_paces *paces, const char *algorithm);
/*
 * Computes the percentiles and standard deviations of single iterations for a pace (time of an
 * iteration in seconds) with a table of measured times, from its traces, which are sorted by number
 * of workers.
 */
int hm__pace_add_spread(struct hm_pace *pace, struct hm_arena *arena,
                        const struct hm_trace *const *traces, size_t count, struct hm_err *err);

/*
 * The spread of single iterations on m workers: the 5th and 95th percentiles divided by the mean
 * (NaN if unknown), and the relative standard deviation (0 if unknown).
 */
struct hm_pace_spread {
    double low, high, deviation;
};

struct hm_pace_spread hm__pace_spread(const struct hm_pace *pace, double m);
/* Returns the mean time of an iteration of a trace, in seconds; NaN if the trace has no times. */
double hm__trace_mean_seconds(const struct hm_trace *trace);
/*
 * Computes the time of an iteration on m workers, in seconds: *ret_seconds, and one value for each
 * of HM_G_DRAWS draws. Returns false if the time is not known for m.
 */
bool hm__pace_eval(const struct hm_pace *pace, double m, double *ret_seconds, double *draws);

/* ---- paths ----------------------------------------------------------------------------------- */

/* The loss curve of an algorithm on m workers, prepared for evaluation at the given iterations. */
struct hm_g_path {
    const struct hm_g *g;
    double m;
    size_t count;
    const double *iterations; /* Iterations at which the curve is evaluated; borrowed. */
    /*
     * For a sum of terms, the values of the terms at the iterations; for other forms, the
     * logarithms of the iterations. Owned.
     */
    double *x;
};

int hm__g_path_init(struct hm_g_path *path, const struct hm_g *g, double m,
                    const double *iterations, size_t count, struct hm_err *err);
void hm__g_path_release(struct hm_g_path *path);
/*
 * Computes y = g(i, m) at the iterations with index `from` and above, with the fitted parameters if
 * draw is HM_NONE, otherwise with the parameters of that draw.
 */
void hm__g_path_values(const struct hm_g_path *path, size_t draw, size_t from, double *y);

/*
 * Returns the index of m among the numbers of workers that g was fitted to; HM_NONE if it is not
 * one of them.
 */
size_t hm__g_find(const struct hm_g *g, double m);
/*
 * Returns the standard deviation of ln(P - P*) of a new run on m workers around the loss curve g,
 * estimated from held-out numbers of workers.
 */
double hm__g_spread(const struct hm_g *g, double m);
/*
 * The difference between the measured curves on m workers and the loss curve g, as a straight line
 * in ln i that is fitted to the residuals. Between two measured m, the line is interpolated;
 * outside the measured range, it is 0.
 */
struct hm_g_bend {
    double level, slope;
};

/*
 * Sums over points from which hm__g_line_bend computes a straight line, with a slope that is shrunk
 * slightly towards 0. Zero-initialise the struct, then call hm__g_line_add for each point.
 */
struct hm_g_line {
    double weight, x, xx, y, xy;
};

void hm__g_line_add(struct hm_g_line *line, double weight, double log_i, double off);
struct hm_g_bend hm__g_line_bend(const struct hm_g_line *line);
int hm__g_bend(const struct hm_g *g, double m, double best, struct hm_g_bend *ret_bend,
               struct hm_err *err);
double hm__g_bent(const struct hm_g_bend *bend, double i);
/* Returns the name of an algorithm as used in messages; "the algorithm" if the name is empty. */
static inline const char *hm__g_name(const char *algorithm)
{
    return *algorithm ? algorithm : "the algorithm";
}

/*
 * Computes ln(P - P*) for the loss P and the optimal loss P*. A difference below the rounding error
 * is replaced by the rounding error.
 */
double hm__g_log(double loss, double best);

#endif
