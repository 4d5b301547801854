/* What left-out configurations show of a fit. */
#ifndef HM_RECOMMEND_OFF_H
#define HM_RECOMMEND_OFF_H

#include "fit.h"

/* How far off a fit is for configurations that it has not seen, relative to what it says. */
struct hm_off {
    double *errors; /* of each configuration; owned */
    size_t count;
    double reach; /* so many of them as the level are less off */
    double usual; /* root of the mean of their squares */
};

/* Leave out each configuration; off->errors is freed with hm__free. */
int hm__off_find(const struct hm_fit *fit, double level, struct hm_off *off, struct hm_err *err);
/* Sum of the squares of the errors at this n, or at all (NaN), and of how many. */
double hm__off_at(const struct hm_fit *fit, const struct hm_off *off, double n, double *ret_count);

#endif
