/*
 * Internal interface of convergence: points of traces prepared for a fit, terms in i and m, the
 * forms of g, and paths of the loss for each draw.
 *
 * All fits are of y = ln(P(i, m) - P*), where i is the iteration and m the number of workers.
 * Values of m are sorted in ascending order and referred to by index.
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
    HM_G_BLOCKS = 5, /* Blocks of iterations, used when there are too few values of m for folds. */
    HM_G_SHAPE_MAX = 5, /* Largest number of parameters of a form other than terms. */
};

/* Relative P - P* below which a point is only rounding. */
static const double HM_G_ROUNDING = 1e-13;

/* ---- terms ----------------------------------------------------------------------------------- */

/* Formulas over i and m. */
struct hm_g_basis {
    struct hm_formula *formulas[HM_LASSO_MAX]; /* Owned by the arena. */
    const char *texts[HM_LASSO_MAX];
    size_t count;
};

/* Compiles terms. Without terms it takes the library; terms with m are left out unless m_varies. */
int hm__g_basis_init(struct hm_g_basis *basis, struct hm_arena *arena, const char *const *terms,
                     size_t count, bool m_varies, struct hm_err *err);
/* Sets x[k * count + p] to term k at (i[p], m[p]). Fails if a value is not finite. */
int hm__g_basis_eval(const struct hm_g_basis *basis, const double *i, const double *m, size_t count,
                     double *x, struct hm_err *err);

/* ---- points ---------------------------------------------------------------------------------- */

/* The points of one algorithm. */
struct hm_g_data {
    struct hm_g_curve *curves; /* Thinned traces, sorted by m. */
    size_t curve_count;
    double *ms; /* The distinct values of m. */
    size_t m_count;
    size_t count;               /* Number of points of all curves. */
    double *i, *m, *y, *weight; /* Values of each point; the weights of each m add up to 1. */
    size_t *fold;               /* Fold of each point; a fold is held out as a whole. */
    bool held[HM_G_FOLDS];      /* Whether the fold is ever held out. */
    size_t fold_count;
    bool by_m;   /* Folds are values of m; otherwise blocks of iterations. */
    double last; /* Largest iteration. */
};

/*
 * Whether an algorithm has fresh (not stale) traces. If it has, g and f are fitted to these only,
 * because stale iterations are worth less and take less time; otherwise to all traces.
 */
bool hm__g_has_fresh(const struct hm_traces *traces, const char *algorithm);
static inline bool hm__g_takes(const struct hm_trace *trace, const char *algorithm, bool has_fresh)
{
    return strcmp(trace->algorithm, algorithm) == 0 && (!has_fresh || trace->staleness == 0);
}

/* Selects the points of a trace for a fit, without those at P* itself; best may be -INFINITY. */
int hm__g_thin(struct hm_g_curve *curve, struct hm_arena *arena, const struct hm_trace *trace,
               double best, struct hm_err *err);

/*
 * Collects the traces of an algorithm except those with m = leave_out. All memory is in the arena.
 * Points at P* itself are skipped. curve_count is 0 when nothing is left.
 */
int hm__g_data_init(struct hm_g_data *data, struct hm_arena *arena, const struct hm_traces *traces,
                    const char *algorithm, double best, double leave_out, struct hm_err *err);

/* Estimates P* and its interval from the traces and their bounds. */
int hm__g_best(const struct hm_traces *traces, double level, double seed, double *ret_best,
               double *ret_low, double *ret_high, struct hm_err *err);

/* ---- fits ------------------------------------------------------------------------------------ */

/*
 * Fits terms by the Lasso with cross-validation. Sets form, parameters, draws, error and penalty.
 * *ret_held, in the arena, has the parameters without each fold, held[f * parameter_count + k]; NaN
 * for folds that are never held out.
 */
int hm__g_fit_terms(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    const struct hm_converge_settings *settings, double **ret_held,
                    struct hm_err *err);
/* Fits another form, without draws; error is NaN if it cannot be fitted. */
int hm__g_fit_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                   enum hm_g_form form, double **ret_held, struct hm_err *err);
/* Draws the parameters of a chosen form other than terms. */
int hm__g_draw_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    double seed, struct hm_err *err);
/*
 * Sets the interval of each parameter from the draws. With F folds and p nonzero parameters the
 * draws are too narrow; they are widened by the usual factor sqrt(F / (F - p)), at most 2.
 */
void hm__g_bound(struct hm_g *g, double folds, double level);
/* Computes y at iterations i for a form other than terms. */
void hm__g_form_values(enum hm_g_form form, const double *theta, double m, const double *i,
                       const double *log_i, size_t count, double *y);
/*
 * One step of Levenberg and Marquardt from the lower half of the normal equations; false if the
 * matrix is not positive definite.
 */
bool hm__g_damped_step(size_t count, double a[HM_TERMS_MAX][HM_TERMS_MAX], const double *b,
                       double damping, double *ret_step);
/* Random weights from the exponential distribution, one for each fold, for one draw. */
void hm__g_fold_weights(double seed, size_t draw, size_t count, double *weights);

/* ---- staleness ------------------------------------------------------------------------------- */

/*
 * Fits the cost of staleness, g->ssp and g->async, from the stale traces. g is fitted to the fresh
 * traces and has its draws and curves. Traces that diverged, and those on m for which g is not
 * known, are not used; *ret_left_out counts them.
 */
int hm__g_fit_stale(struct hm_g *g, struct hm_arena *arena, const struct hm_traces *traces,
                    double best, double level, const struct hm_converge_settings *settings,
                    size_t *ret_left_out, struct hm_err *err);

/* ---- f(m) ------------------------------------------------------------------------------------ */

/*
 * The pace for an algorithm: the last one with its name, else the last one without a name, else
 * NULL.
 */
const struct hm_pace *hm__pace_find(const struct hm_paces *paces, const char *algorithm);
/*
 * Seconds of an iteration on m workers: *ret_seconds, and one value for each of HM_G_DRAWS draws.
 * Returns false if it is not known.
 */
bool hm__pace_eval(const struct hm_pace *pace, double m, double *ret_seconds, double *draws);

/* ---- paths ----------------------------------------------------------------------------------- */

/* An algorithm on m workers, prepared for evaluation at a set of iterations. */
struct hm_g_path {
    const struct hm_g *g;
    double m;
    size_t count;
    const double *iterations; /* Borrowed. */
    double *x; /* The terms at the iterations, or for other forms their logarithms; owned. */
};

int hm__g_path_init(struct hm_g_path *path, const struct hm_g *g, double m,
                    const double *iterations, size_t count, struct hm_err *err);
void hm__g_path_release(struct hm_g_path *path);
/*
 * Computes y at the iterations from..count-1, with the parameters (draw HM_NONE) or those of a
 * draw.
 */
void hm__g_path_values(const struct hm_g_path *path, size_t draw, size_t from, double *y);

/* Index of m among those of g, or HM_NONE. */
size_t hm__g_find(const struct hm_g *g, double m);
/* Standard deviation of y of one further run on m workers around g, from the held-out m. */
double hm__g_spread(const struct hm_g *g, double m);
/*
 * Difference of the curves of one m from g, as a straight line over ln i fitted to their residuals.
 * It is interpolated between two measured m and is 0 outside of them.
 */
struct hm_g_bend {
    double level, slope;
};

/*
 * Sums for that line: zero-initialise, add points, then take the line. Its slope is shrunk slightly
 * towards 0.
 */
struct hm_g_line {
    double weight, x, xx, y, xy;
};

void hm__g_line_add(struct hm_g_line *line, double weight, double log_i, double off);
struct hm_g_bend hm__g_line_bend(const struct hm_g_line *line);
int hm__g_bend(const struct hm_g *g, double m, double best, struct hm_g_bend *ret_bend,
               struct hm_err *err);
double hm__g_bent(const struct hm_g_bend *bend, double i);
/* The name of an algorithm in messages. */
static inline const char *hm__g_name(const char *algorithm)
{
    return *algorithm ? algorithm : "the algorithm";
}

/* ln(P - P*), where P - P* is at least the rounding error. */
double hm__g_log(double loss, double best);

#endif
