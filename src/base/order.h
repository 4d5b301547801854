/* Declares comparisons of numbers for qsort and bsearch, and the median. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include <stddef.h>

/* Compares two doubles, neither of which may be NaN; returns a negative number, 0 or 1. */
int hm__compare_numbers(const void *a, const void *b);
/*
 * Sorts values, none of which may be NaN, and returns their median: the middle value, or the mean
 * of the two middle values; NaN if there are no values.
 */
double hm__values_median(double *values, size_t count);

#endif
