/* Declares comparisons of numbers for qsort and bsearch, a sort that can be ended, and the median.
 */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include <stddef.h>

/* Compares two doubles, neither of which may be NaN; returns a negative number, 0 or 1. */
int hm__compare_numbers(const void *a, const void *b);
/*
 * Sorts values, none of which may be NaN, in ascending order. The limits of the request are checked
 * often, with this field; if they are exceeded, the values are not sorted.
 */
void hm__sort_numbers(double *values, size_t count, const char *field);
/*
 * Sorts values, none of which may be NaN, and returns their median: the middle value, or the mean
 * of the two middle values; NaN if there are no values.
 */
double hm__values_median(double *values, size_t count);

#endif
