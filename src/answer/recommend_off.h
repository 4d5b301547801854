/* Computes the errors of a fit for configurations that it was not fitted to. */
#ifndef HM_RECOMMEND_OFF_H
#define HM_RECOMMEND_OFF_H

#include "fit.h"

/* Errors of a fit for configurations that it was not fitted to, as fractions of the predictions. */
struct hm_off {
    double *errors; /* Error of the prediction for each configuration; owned. */
    size_t count;
    double reach; /* Quantile of `errors` at the confidence level. */
    double usual; /* Root mean square of `errors`. */
};

/*
 * Leaves out each configuration in turn and computes the error of its prediction. The caller frees
 * off->errors with hm__free.
 */
int hm__off_find(const struct hm_fit *fit, double level, struct hm_off *off, struct hm_err *err);
/*
 * Returns the sum of the squared errors at n workers, or at all n if n is NaN; *ret_count is the
 * number of errors.
 */
double hm__off_at(const struct hm_fit *fit, const struct hm_off *off, double n, double *ret_count);

#endif
