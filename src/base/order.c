/* Implements comparisons of numbers for qsort and bsearch, sorts that can be ended, and the median.
 */
#include "order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"

/* Number of items that are sorted by qsort, between two checks of the limits. */
enum { SMALL = 4096 };

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

/* What the merges of a sort have in common. */
struct sorting {
    size_t size; /* Size of an item in bytes. */
    hm_compare *compare;
    const char *field;
};

/* Merges two sorted runs, the first `first` of `count` items and the other ones. */
static void merge_runs(const struct sorting *s, const char *from, size_t first, size_t count,
                       char *to)
{
    size_t a = 0, b = first;

    for (size_t i = 0; i < count; i++) {
        if (i % SMALL == 0 && hm__budget_spent(s->field))
            return;
        bool is_first =
            a < first && (b == count || s->compare(from + a * s->size, from + b * s->size) <= 0);
        memcpy(to + i * s->size, from + (is_first ? a++ : b++) * s->size, s->size);
    }
}

/* Sorts the items by merging sorted runs of `SMALL` items; `other` has room for all of them. */
static void merge_sort(const struct sorting *s, char *items, char *other, size_t count)
{
    char *from = items, *to = other;

    for (size_t run = SMALL; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t both = count - at < 2 * run ? count - at : 2 * run;
            merge_runs(s, from + at * s->size, both < run ? both : run, both, to + at * s->size);
        }
        char *merged = to;
        to = from;
        from = merged;
    }
    if (from != items)
        memcpy(items, from, count * s->size);
}

int hm__sort(void *items, size_t count, size_t size, hm_compare *compare, const char *field,
             struct hm_err *err)
{
    const struct sorting s = {size, compare, field};
    char *bytes = items, *other = NULL;

    for (size_t at = 0; at < count; at += SMALL) {
        int rc = hm__budget_check(field, err);
        if (rc)
            return rc;
        qsort(bytes + at * size, count - at < SMALL ? count - at : SMALL, size, compare);
    }
    if (count <= SMALL)
        return 0;
    other = hm__calloc(count, size);
    if (!other) {
        int rc = hm__budget_check(field, err);
        return rc ? rc : hm__fail_nomem(err);
    }
    merge_sort(&s, bytes, other, count);
    hm__free(other);
    return hm__budget_check(field, err);
}
