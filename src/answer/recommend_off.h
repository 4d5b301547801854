/* Errors of a fit on configurations that were left out. */
#ifndef HM_RECOMMEND_OFF_H
#define HM_RECOMMEND_OFF_H

#include "fit.h"

/* Errors of a fit on configurations that it was not fitted to, relative to the prediction. */
struct hm_off {
    double *errors; /* Error of each configuration; owned. */
    size_t count;
    double reach; /* Quantile of the errors at the level. */
    double usual; /* Root mean square of the errors. */
};

/* Leaves out each configuration in turn; off->errors is freed with hm__free. */
int hm__off_find(const struct hm_fit *fit, double level, struct hm_off *off, struct hm_err *err);
/* Sum of the squared errors at this n, or at all n (NaN); *ret_count is their number. */
double hm__off_at(const struct hm_fit *fit, const struct hm_off *off, double n, double *ret_count);

#endif
