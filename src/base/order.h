/* Orders of values, for qsort and bsearch. */
#ifndef HM_ORDER_H
#define HM_ORDER_H

/* Compares two doubles, neither of which is NaN; returns a negative number, 0 or 1. */
int hm__compare_numbers(const void *a, const void *b);

#endif
