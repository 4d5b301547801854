/*
 * Declares the internal state of a fit, which its steps share, and the functions that compute
 * answers from a fit: the time on n workers with the fitted coefficients and with the coefficients
 * of each draw.
 */
#ifndef HM_FIT_H
#define HM_FIT_H

#include "choose.h"
#include "fit_data.h"
#include "notes.h"

enum { HM_FIT_DRAWS = 2000 };

/* Ways in which the default value of a quantity depends on n in predictions. */
enum hm_by_n {
    HM_BY_NOTHING, /* The value does not depend on n. */
    HM_BY_WORKERS, /* The value belongs to one worker, such as its batch, and is multiplied by n. */
    /* The value is the number of workers in a node, and n is divided by it to obtain the number of
     * nodes. */
    HM_BY_NODES,
};

struct hm__fit {
    struct hm_basis basis;
    struct hm_fit_rule rule;
    /*
     * Random deviation (drift) of each draw outside the range of the runs, in units of its standard
     * deviation; NULL without drift. It is the same for all n, so that a draw remains a smooth
     * curve.
     */
    double *drift;
    struct hm_fit_data data; /* The measured runs; data.count is 0 if there are none. */
    /*
     * True if the times are for a fixed amount of work (a sample, an epoch, the work of the
     * reference) instead of for an iteration.
     */
    bool of_work;
    bool weak_runs; /* True if the batch of each worker stayed the same as n grew. */
    /* True if the runs state their scaling, so that weak_runs is not a guess. */
    bool scaling_stated;
    bool in[HM_TERMS_MAX]; /* True for each term that is in use. */
    /*
     * Reported coefficients: the means of the draws if the fit has a specification sheet, otherwise
     * the most probable values. The coefficient of a term that is not in use is 0.
     */
    double theta[HM_TERMS_MAX];
    /*
     * Standard deviation of the noise: relative to the time if errors are relative, otherwise in
     * seconds.
     */
    double spread;
    double typical; /* Smallest mean time of all configurations, in seconds; 1 with relative
                       errors. */
    double *x;      /* x[k * group_count + g] is the value of term k in configuration (group) g. */
    double *scale;  /* Factor by which the runs of each configuration (group) are weighted. */
    struct hm_lsq lsq;     /* The weighted least-squares problem with all terms. */
    struct hm_draw *draws; /* Draws of the coefficients of all terms. */
    /* Noise of a new run in each draw, in units of the standard deviation. */
    double *luck;
    size_t draw_count; /* Number of draws; 0 if there are no intervals. */
    /* Default value of each quantity in predictions; NaN if the caller must specify it. */
    double at[HM_QUANTITIES_MAX];
    enum hm_by_n by_n[HM_QUANTITIES_MAX];
};

/* ---- steps of a fit -------------------------------------------------------------------------- */

/*
 * Prepares the terms and the runs: groups, unit, scaling, values of the terms, kind of errors and
 * defaults of predictions. Implemented in fit_prepare.c.
 */
int hm__fit_prepare(struct hm_fit *fit, const struct hm_runs *runs,
                    const struct hm_fit_settings *settings, struct hm_err *err);
/*
 * Implements hm_fit_new. If `draws` is false, the coefficients are not drawn, which takes most of
 * the time, and the fit has no intervals. `table` holds the times of the job's steps; it may be
 * NULL. It is borrowed and must outlive the fit.
 */
int hm__fit_new(const struct hm_runs *runs, const struct hm_fit_settings *settings,
                struct hm_step_table *table, bool draws, struct hm_fit **ret_fit,
                struct hm_err *err);
/* Draws the coefficients of all sets of terms, each set in proportion to its weight; if no sets
 * were compared, draws the coefficients of the terms in use. Implemented in fit_draw.c. */
int hm__fit_draw(struct hm_fit *fit, const struct hm_fit_settings *settings,
                 const struct hm_choice *choices, size_t choice_count, struct hm_err *err);
/*
 * Resamples the draws of a fit whose terms the library chose: a draw is kept more often if the loss
 * of efficiency that it predicts beyond the runs is common in published curves. Implemented in
 * shrink.c.
 */
int hm__fit_shrink(struct hm_fit *fit, struct hm_random *random, struct hm_err *err);
/*
 * If runs correct a specification sheet, sets its coefficients to the means of the draws. Without
 * runs that show an overhead, its most probable value is 0, although nearly all plausible values
 * are larger.
 */
void hm__fit_take_mean(struct hm__fit *f);
/* Lists the terms in use with the intervals for their coefficients. */
int hm__fit_list(struct hm_fit *fit, struct hm_err *err);
/* Returns the priors of the coefficients; NULL without a specification sheet. */
const struct hm_prior *hm__fit_priors(const struct hm__fit *f);
/*
 * Returns the prior of the noise. If the fit has a specification sheet, the prior has the weight of
 * one measured run; otherwise its weight is 0.
 */
struct hm_noise hm__fit_noise(const struct hm_fit_settings *settings);
/* Sets terms[] to the indices of the terms in use, and returns their number. */
size_t hm__fit_used(const struct hm__fit *f, size_t *terms);

/* Computes residuals, influence and outliers, and adds notes to the fit. */
int hm__fit_diagnose(struct hm_fit *fit, struct hm_err *err);
/* Adds notes about the unit and the scaling of the runs. Implemented in fit_notes.c. */
int hm__fit_note_runs(struct hm_fit *fit, struct hm_err *err);

static inline struct hm_notes hm__fit_notes(struct hm_fit *fit)
{
    return (struct hm_notes){fit->memory, &fit->notes, &fit->note_count};
}

/* ---- for answers ----------------------------------------------------------------------------- */

/*
 * Computes the terms for every n: (*ret_x)[k * count + i] is term k for n[i], with the defaults of
 * all other quantities. For a fit from a specification sheet, the terms are computed by the model,
 * which may have changed hardware; other fits do not use the model. The caller frees *ret_x with
 * hm__free.
 */
int hm__fit_terms(const struct hm_fit *fit, const struct hm_model *model, const double *n,
                  size_t count, double **ret_x, struct hm_err *err);
/*
 * Computes the terms for every n like hm__fit_terms, but with the given values of other quantities,
 * as in hm_fit_predict.
 */
int hm__fit_terms_at(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                     const double *n, size_t count, double **ret_x, struct hm_err *err);
/*
 * Returns the time in seconds for the i-th of `count` configurations; x holds the values of the
 * terms for all configurations. Uses the reported coefficients if draw is HM_NONE, and the
 * coefficients of the given draw otherwise.
 */
double hm__fit_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                       size_t draw);
/*
 * Returns the time in seconds of an additional run at configuration i in a draw of the
 * coefficients: the time of the draw, changed by the noise of a run.
 */
double hm__fit_run_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                           size_t draw);
/*
 * Returns the part of the time at configuration i, in seconds, that decreases with n: the time of
 * the work that is divided among the workers.
 */
double hm__fit_shared(const struct hm_fit *fit, const double *x, size_t count, size_t i);
size_t hm__fit_draw_count(const struct hm_fit *fit);
/*
 * Returns the value of the term at position `used` among the terms in use, counted from 0; x holds
 * the terms of one configuration only.
 */
double hm__fit_term_at(const struct hm_fit *fit, const double *x, size_t used);

#endif
