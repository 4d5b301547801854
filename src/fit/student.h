/* Student's and Fisher's distributions, for tests of significance, and quantiles of arrays. */
#ifndef HM_STUDENT_H
#define HM_STUDENT_H

#include <stddef.h>

/* P(T > t) of Student's t with df > 0 degrees of freedom. */
double hm__student_tail(double df, double t);
/* The t with P(T <= t) = p, for p in (0, 1). */
double hm__student_quantile(double df, double p);
/* P(F > x) of Fisher's F with d1 and d2 degrees of freedom. */
double hm__fisher_tail(double d1, double d2, double x);

/* The value below which a fraction of the values lies; reorders the values. */
double hm__quantile(double *values, size_t count, double fraction);

#endif
