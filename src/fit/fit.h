/*
 * Internal state of a fit, shared by its steps, and the interface for answers: the time at n
 * according to the fit and according to each of its draws.
 */
#ifndef HM_FIT_H
#define HM_FIT_H

#include "choose.h"
#include "fit_data.h"
#include "notes.h"

enum { HM_FIT_DRAWS = 2000 };

struct hm__fit {
    struct hm_basis basis;
    struct hm_fit_data data;    /* data.count is 0 without runs. */
    bool in[HM_TERMS_MAX];      /* Terms in use. */
    double theta[HM_TERMS_MAX]; /* Reported coefficients: the most probable ones, or the mean with a
                                   sheet; 0 if not in use. */
    double spread;              /* Standard deviation of a weighted run. */
    double typical;             /* Smallest mean of a weighted run; 1 with relative errors. */
    double *x;                  /* x[k * group_count + g] is term k at group g. */
    double *scale;              /* Weight of a run of each group. */
    struct hm_lsq lsq;          /* The weighted problem with all terms of the basis. */
    struct hm_draw *draws;      /* Draws over all terms of the basis. */
    double *luck;      /* Standard normal noise of a further run, one value for each draw. */
    size_t draw_count; /* 0 when there are no intervals. */
    double
        at[HM_QUANTITIES_MAX]; /* Default value of each quantity; NaN: the caller must give it. */
};

/* Computes residuals, influence and outliers, and adds the notes. */
int hm__fit_diagnose(struct hm_fit *fit, struct hm_err *err);

static inline struct hm_notes hm__fit_notes(struct hm_fit *fit)
{
    return (struct hm_notes){fit->memory, &fit->notes, &fit->note_count};
}

/* ---- for answers ----------------------------------------------------------------------------- */

/*
 * Computes the terms at every n, x[k * count + i], with the defaults of all other quantities. A fit
 * from a sheet takes its parts from the model, which may have changed hardware; other fits need no
 * model. *ret_x is freed with hm__free.
 */
int hm__fit_terms(const struct hm_fit *fit, const struct hm_model *model, const double *n,
                  size_t count, double **ret_x, struct hm_err *err);
/* The same with values of other quantities, as hm_fit_predict takes them. */
int hm__fit_terms_at(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                     const double *n, size_t count, double **ret_x, struct hm_err *err);
/*
 * Seconds at place i of `count`: with the reported coefficients (draw HM_NONE) or those of a draw.
 */
double hm__fit_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                       size_t draw);
/* Part of these seconds that falls with n: the work that is divided among workers. */
double hm__fit_shared(const struct hm_fit *fit, const double *x, size_t count, size_t i);
size_t hm__fit_draw_count(const struct hm_fit *fit);
/* Value of the used term with index `used`, at the only place of x. */
double hm__fit_term_at(const struct hm_fit *fit, const double *x, size_t used);

#endif
