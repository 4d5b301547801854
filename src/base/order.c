/* The order of numbers, for qsort and bsearch. */
#include "order.h"

int hm__compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}
