/* Declares comparisons of numbers for qsort and bsearch, sorts that can be ended, and the median.
 */
#ifndef HM_ORDER_H
#define HM_ORDER_H

#include "howmany.h"

/* Compares two doubles, neither of which may be NaN; returns a negative number, 0 or 1. */
int hm__compare_numbers(const void *a, const void *b);
/*
 * Sorts values, none of which may be NaN, in ascending order. The limits of the request are checked
 * often, with this field; if they are exceeded, the values are not sorted.
 */
void hm__sort_numbers(double *values, size_t count, const char *field);
/* Compares two items; returns a negative number, 0 or a positive number. */
typedef int hm_compare(const void *a, const void *b);
/*
 * Sorts items of `size` bytes like qsort; equal items of an array of more than 4096 keep their
 * order only between its runs, so their order should not matter. The limits of the request are
 * checked often, with this field. Returns 0, HM_E_NOMEM or the error of the limits, after which the
 * items are in no order.
 */
int hm__sort(void *items, size_t count, size_t size, hm_compare *compare, const char *field,
             struct hm_err *err);
/*
 * Sorts values, none of which may be NaN, and returns their median: the middle value, or the mean
 * of the two middle values; NaN if there are no values.
 */
double hm__values_median(double *values, size_t count);

#endif
