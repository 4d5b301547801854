/*
 * Inside of a fit, shared by its steps, and what the search for an answer needs of one: the time at
 * n as the fit has it, and as each of its draws has it.
 */
#ifndef HM_FIT_H
#define HM_FIT_H

#include "choose.h"
#include "fit_data.h"

enum { HM_FIT_DRAWS = 2000 };

struct hm__fit {
    struct hm_basis basis;
    struct hm_fit_data data;    /* count 0 without runs */
    bool in[HM_TERMS_MAX];      /* the terms that are used */
    double theta[HM_TERMS_MAX]; /* as told: most probable, or of a sheet the mean; 0 if not used */
    double spread;              /* of a weighted run */
    double typical;             /* size of a small weighted run: 1 where errors are relative */
    double *x;                  /* x[k * group_count + g]: term k at group g */
    double *scale;              /* weight of a run of each group */
    struct hm_lsq lsq;          /* the weighted problem, all terms of the basis */
    struct hm_draw *draws;      /* over all terms of the basis */
    double *luck;               /* of a further run, for each draw: standard normal */
    size_t draw_count;          /* 0 when there is no saying how sure */
    double at[HM_QUANTITIES_MAX]; /* value where nobody says otherwise; NaN: must be said */
};

/* Residuals, influence, outliers; then the notes on what a person should know. */
int hm__fit_diagnose(struct hm_fit *fit, struct hm_err *err);
/* Add a note; text is copied. */
int hm__fit_note(struct hm_fit *fit, struct hm_err *err, const char *format, ...) HM_PRINTF(3, 4);

/* ---- for answers ---------------------------------------------------------------------------- */

/*
 * Terms at every n, x[k * count + i], with everything else as the fit has it by default. A fit from
 * a sheet takes its parts from the model, which may be of changed hardware; others need none.
 * *ret_x is freed with hm__free.
 */
int hm__fit_terms(const struct hm_fit *fit, const struct hm_model *model, const double *n,
                  size_t count, double **ret_x, struct hm_err *err);
/* As above with other quantities as hm_fit_predict takes them. */
int hm__fit_terms_at(const struct hm_fit *fit, const struct hm_at *at, size_t at_count,
                     const double *n, size_t count, double **ret_x, struct hm_err *err);
/* Seconds at place i of `count`: by the most probable coefficients (draw HM_NONE) or by a draw's.
 */
double hm__fit_seconds(const struct hm_fit *fit, const double *x, size_t count, size_t i,
                       size_t draw);
/* Of them, the part that falls with n: the work that is shared out. */
double hm__fit_shared(const struct hm_fit *fit, const double *x, size_t count, size_t i);
size_t hm__fit_draw_count(const struct hm_fit *fit);
/* The used term at index `used`, at the one place of x. */
double hm__fit_term_at(const struct hm_fit *fit, const double *x, size_t used);

#endif
