/*
 * Inside of convergence: points of traces made ready for a fit, terms in i and m, the forms of g,
 * and paths of the loss as the draws have them.
 *
 * Everything is about y = ln(P(i, m) - P*). An m of a trace is told apart by its index among the
 * values there are, ascending.
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
    HM_G_BLOCKS = 5,    /* parts of the iterations, where folds by m are too few */
    HM_G_SHAPE_MAX = 5, /* parameters of a form that is not terms */
};

/* Of P - P*, below which a point says nothing: rounding of P. */
static const double HM_G_ROUNDING = 1e-13;

/* ---- terms ----------------------------------------------------------------------------------- */

/* Formulas over i and m. */
struct hm_g_basis {
    struct hm_formula *formulas[HM_LASSO_MAX]; /* owned by the arena */
    const char *texts[HM_LASSO_MAX];
    size_t count;
};

/* Compile; without terms those of the library that can differ where m does (m_varies) or not. */
int hm__g_basis_init(struct hm_g_basis *basis, struct hm_arena *arena, const char *const *terms,
                     size_t count, bool m_varies, struct hm_err *err);
/* x[k * count + p] = term k at (i[p], m[p]). Fails where one is not a number. */
int hm__g_basis_eval(const struct hm_g_basis *basis, const double *i, const double *m, size_t count,
                     double *x, struct hm_err *err);

/* ---- points ---------------------------------------------------------------------------------- */

/* The points of one algorithm. */
struct hm_g_data {
    struct hm_g_curve *curves; /* traces, thinned; of ascending m */
    size_t curve_count;
    double *ms; /* the values of m */
    size_t m_count;
    size_t count;               /* points of all curves */
    double *i, *m, *y, *weight; /* of each; every m weighs 1 */
    size_t *fold;               /* of each: what is held out together */
    bool held[HM_G_FOLDS];      /* whether that fold ever is */
    size_t fold_count;
    bool by_m;   /* folds are values of m; otherwise blocks of iterations */
    double last; /* most iterations */
};

/*
 * Whether g and f are learned from a trace of the algorithm: of fresh ones where there are any,
 * since stale iterations are not worth as much and do not take as long; else of all.
 */
bool hm__g_has_fresh(const struct hm_traces *traces, const char *algorithm);
static inline bool hm__g_takes(const struct hm_trace *trace, const char *algorithm, bool has_fresh)
{
    return strcmp(trace->algorithm, algorithm) == 0 && (!has_fresh || trace->staleness == 0);
}

/* The points of a trace that a fit looks at, without those at P* itself; best may be -INFINITY. */
int hm__g_thin(struct hm_g_curve *curve, struct hm_arena *arena, const struct hm_trace *trace,
               double best, struct hm_err *err);

/*
 * Gather the traces of an algorithm; those of `leave_out` are not used. Everything is in the arena.
 * Points at P* itself are passed over. *ret_data has curve_count 0 when nothing is left.
 */
int hm__g_data_init(struct hm_g_data *data, struct hm_arena *arena, const struct hm_traces *traces,
                    const char *algorithm, double best, double leave_out, struct hm_err *err);

/* P* that makes the traces simplest, within what they bound it to; its interval. */
int hm__g_best(const struct hm_traces *traces, double level, double seed, double *ret_best,
               double *ret_low, double *ret_high, struct hm_err *err);

/* ---- fits -------------------------------------------------------------------------------------
 */

/*
 * Lasso on terms: the whole path, cross-validated. Fills form, parameters, draws, error and
 * penalty. *ret_held are the parameters without each fold, held[f * parameter_count + k], in the
 * arena; NaN for folds that are never held out.
 */
int hm__g_fit_terms(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    const struct hm_converge_settings *settings, double **ret_held,
                    struct hm_err *err);
/* The same for another form, without draws; error is NaN where it cannot be fitted. */
int hm__g_fit_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                   enum hm_g_form form, double **ret_held, struct hm_err *err);
/* Draw the parameters of a chosen form that is not terms. */
int hm__g_draw_form(struct hm_g *g, struct hm_arena *arena, const struct hm_g_data *data,
                    double seed, struct hm_err *err);
/*
 * Interval of each parameter, from the draws. As many unknowns as there are leave fewer folds over
 * to show how far apart they are, which draws do not know: the usual sqrt(F / (F - p)), at most 2.
 */
void hm__g_bound(struct hm_g *g, double folds, double level);
/* y at iterations i by a form that is not terms. */
void hm__g_form_values(enum hm_g_form form, const double *theta, double m, const double *i,
                       const double *log_i, size_t count, double *y);
/* A step of Levenberg and Marquardt, from the lower half of the normal equations; false: none. */
bool hm__g_damped_step(size_t count, double a[HM_TERMS_MAX][HM_TERMS_MAX], const double *b,
                       double damping, double *ret_step);
/* Weights that follow the exponential distribution, one for each fold, of draw d. */
void hm__g_fold_weights(double seed, size_t draw, size_t count, double *weights);

/* ---- staleness --------------------------------------------------------------------------------
 */

/*
 * What staleness costs, from the traces that are stale: g->ssp and g->async. g is that of the fresh
 * ones, with its draws and curves. Traces on m where g tells nothing, and those that diverged, are
 * not used: *ret_left_out of them.
 */
int hm__g_fit_stale(struct hm_g *g, struct hm_arena *arena, const struct hm_traces *traces,
                    double best, double level, const struct hm_converge_settings *settings,
                    size_t *ret_left_out, struct hm_err *err);

/* ---- f(m) -------------------------------------------------------------------------------------
 */

/* The pace of an algorithm: the last one that is its own, else the last that is of all; or NULL. */
const struct hm_pace *hm__pace_find(const struct hm_paces *paces, const char *algorithm);
/*
 * Seconds of an iteration on m workers: *ret_seconds, and as each of HM_G_DRAWS draws has it. false
 * where it is not known.
 */
bool hm__pace_eval(const struct hm_pace *pace, double m, double *ret_seconds, double *draws);

/* ---- paths ------------------------------------------------------------------------------------
 */

/* An algorithm on m workers, ready to be evaluated at a set of iterations. */
struct hm_g_path {
    const struct hm_g *g;
    double m;
    size_t count;
    const double *iterations; /* borrowed */
    double *x;                /* terms at them, or of another form their logarithms; owned */
};

int hm__g_path_init(struct hm_g_path *path, const struct hm_g *g, double m,
                    const double *iterations, size_t count, struct hm_err *err);
void hm__g_path_release(struct hm_g_path *path);
/* y at the iterations from..count-1, by the parameters (draw HM_NONE) or by a draw's. */
void hm__g_path_values(const struct hm_g_path *path, size_t draw, size_t from, double *y);

/* Index of m among those of g, or HM_NONE. */
size_t hm__g_find(const struct hm_g *g, double m);
/* Spread of y of one further run on m workers around g, from the m that were held out. */
double hm__g_spread(const struct hm_g *g, double m);
/*
 * How the curves of an m lie apart from g: a straight line over ln i, as their residuals have it;
 * between two m that were measured, between theirs. Nothing outside.
 */
struct hm_g_bend {
    double level, slope;
};

/* Sums for that line: zero-initialise, add points, take it. It is drawn a little towards level. */
struct hm_g_line {
    double weight, x, xx, y, xy;
};

void hm__g_line_add(struct hm_g_line *line, double weight, double log_i, double off);
struct hm_g_bend hm__g_line_bend(const struct hm_g_line *line);
int hm__g_bend(const struct hm_g *g, double m, double best, struct hm_g_bend *ret_bend,
               struct hm_err *err);
double hm__g_bent(const struct hm_g_bend *bend, double i);
/* As messages name an algorithm. */
static inline const char *hm__g_name(const char *algorithm)
{
    return *algorithm ? algorithm : "the algorithm";
}

/* ln(P - P*), where P - P* counts as no less than rounding. */
double hm__g_log(double loss, double best);

#endif
