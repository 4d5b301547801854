/*
 * Computes probabilities and quantiles of Student's and Fisher's distributions, for tests of
 * significance, and quantiles of arrays.
 */
#ifndef HM_STUDENT_H
#define HM_STUDENT_H

#include <stddef.h>

/* Returns the probability P(T > t) for Student's t distribution with df > 0 degrees of freedom. */
double hm__student_tail(double df, double t);
/* Returns the quantile of Student's t distribution: the t with P(T <= t) = p, for p in (0, 1). */
double hm__student_quantile(double df, double p);
/*
 * Returns the probability P(F > x) for Fisher's F distribution with d1 and d2 degrees of freedom.
 */
double hm__fisher_tail(double d1, double d2, double x);

/*
 * Returns the quantile of an array: the value below which the given fraction of the values lies.
 * Reorders the values.
 */
double hm__quantile(double *values, size_t count, double fraction);

#endif
