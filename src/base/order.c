/* Implements comparisons of numbers for qsort and bsearch, a sort that can be ended, and the
 * median. */
#include "order.h"

#include <math.h>
#include <stdlib.h>

#include "budget.h"

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
    return values[(count - 1) / 2] / 2 + values[count / 2] / 2;
}

/*
 * Divides values into a first part with values that are at most the median of three of them, and a
 * second part with values that are at least this median. Returns the number of values in the first
 * part, which is not 0 and less than `count`.
 */
static size_t divide_numbers(double *values, size_t count)
{
    double a = values[0], b = values[count / 2], c = values[count - 1];
    size_t low = 0, high = count - 1;
    /* The pivot must be one of the values: the mean of two large ones could be infinite. */
    double middle = fmax(fmin(a, b), fmin(fmax(a, b), c));

    for (;; low++, high--) {
        while (values[low] < middle)
            low++;
        while (values[high] > middle)
            high--;
        if (low >= high)
            return high + 1;
        double moved = values[low];
        values[low] = values[high];
        values[high] = moved;
    }
}

void hm__sort_numbers(double *values, size_t count, const char *field)
{
    enum { SMALL = 4096 };

    while (count > SMALL && !hm__budget_spent(field)) {
        size_t first = divide_numbers(values, count);
        /* The shorter part is sorted by a call, so that calls do not become deep. */
        if (first < count - first) {
            hm__sort_numbers(values, first, field);
            values += first;
            count -= first;
        } else {
            hm__sort_numbers(values + first, count - first, field);
            count = first;
        }
    }
    if (count <= SMALL)
        qsort(values, count, sizeof(*values), hm__compare_numbers);
}
