/*
 * Computes tail probabilities of Student's t and Fisher's F distributions with the incomplete beta
 * function, which is evaluated as a continued fraction (Lentz's method; Press et al., Numerical
 * Recipes, section 6.4). Quantiles are found by bisection, which needs no starting guess.
 */
#include "student.h"

#include <math.h>

#include "budget.h"

/*
 * Evaluates the continued fraction of the incomplete beta function, which converges fast for x <
 * (a+1)/(a+b+2).
 */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);

    d = 1 / (fabs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 10000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + even / c;
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        d = 1 + odd * d;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = 1 + odd / c;
        c = fabs(c) < tiny ? tiny : c;
        value *= d * c;
        if (fabs(d * c - 1) < 1e-16)
            break;
    }
    return value;
}

/*
 * Returns the regularised incomplete beta function I_x(a, b); y = 1 - x is passed separately,
 * because computing it from x would lose digits.
 */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0)
        return 0;
    if (y <= 0)
        return 1;
    /* lgamma_r is used because lgamma writes the sign to a global variable. */
    int sign;
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                       a * log(x) + b * log(y));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, y) / b;
}

double hm__student_tail(double df, double t)
{
    double x = df / (df + t * t), y = t * t / (df + t * t);
    double both = incomplete_beta(df / 2, 0.5, x, y);

    return t >= 0 ? both / 2 : 1 - both / 2;
}

double hm__student_quantile(double df, double p)
{
    double tail = p > 0.5 ? 1 - p : p, low = 0, high = 1;

    while (hm__student_tail(df, high) > tail && high < 1e300)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-15 * high; i++) {
        double middle = low + (high - low) / 2;
        if (hm__student_tail(df, middle) > tail)
            low = middle;
        else
            high = middle;
    }
    return p > 0.5 ? high : -high;
}

double hm__fisher_tail(double d1, double d2, double x)
{
    if (x <= 0)
        return 1;
    return incomplete_beta(d2 / 2, d1 / 2, d2 / (d2 + d1 * x), d1 * x / (d2 + d1 * x));
}

/* Moves values[at] down the heap of `count` values until none of the values below it is larger. */
static void heap_sink(double *values, size_t at, size_t count)
{
    double moved = values[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && values[child + 1] > values[child])
            child++;
        if (!(values[child] > moved))
            break;
        values[at] = values[child];
    }
    values[at] = moved;
}

/* Sorts values in ascending order with heapsort. If the budget is spent, it ends early. */
static void sort_heap(double *values, size_t count)
{
    enum { CHECK_EVERY = 4096 };

    for (size_t i = count / 2; i-- > 0;)
        heap_sink(values, i, count);
    for (size_t i = count; i-- > 1;) {
        double largest = values[0];
        if (i % CHECK_EVERY == 0 && hm__budget_spent(NULL))
            return;
        values[0] = values[i];
        values[i] = largest;
        heap_sink(values, 0, i);
    }
}

/*
 * Partitions the values only around the required position (Hoare's FIND algorithm) instead of
 * sorting all of them. The order of the values may be chosen so that each pass removes only a few
 * of them; once the passes have visited VISITS times the number of values, the rest is sorted by
 * heapsort, which takes n log n steps for every order. If the budget of the request is spent, any
 * value is returned.
 */
double hm__quantile(double *values, size_t count, double fraction)
{
    enum { VISITS = 32 };
    size_t low = 0, high = count - 1, wanted = (size_t)(fraction * (double)(count - 1) + 0.5);
    size_t left = VISITS * count;

    while (low < high && !hm__budget_spent(NULL)) {
        if (left < high - low) {
            sort_heap(values + low, high - low + 1);
            break;
        }
        left -= high - low;
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = values[i];
            values[i++] = values[j];
            values[j--] = swap;
        }
        if (wanted <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[wanted];
}
