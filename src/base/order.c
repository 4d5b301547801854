/* Implements comparisons of numbers for qsort and bsearch, and the median. */
#include "order.h"

#include <math.h>
#include <stdlib.h>

int hm__compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

double hm__values_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), hm__compare_numbers);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
