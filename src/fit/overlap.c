/* Interpolates the time of overlapped communication; overlap.h describes the method. */
#include "overlap.h"

#include <math.h>

const double hm__overlap_ratios[HM_OVERLAP_KNOTS] = {
    0, 0.03125, 0.0625, 0.125, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4, 8, 32};

/* A straight line that equals the time near a given ratio of communication to computation: start +
 * slope * ratio. */
struct overlap_line {
    double start, slope;
};

static struct overlap_line line_at(const struct hm_basis *basis, const double *x, size_t count,
                                   size_t i, double ratio)
{
    const double *knots = x + basis->count * count;
    size_t k = 0;

    while (k + 2 < HM_OVERLAP_KNOTS && ratio >= hm__overlap_ratios[k + 1])
        k++;
    double from = hm__overlap_ratios[k], low = knots[k * count + i];
    double slope = (knots[(k + 1) * count + i] - low) / (hm__overlap_ratios[k + 1] - from);
    return (struct overlap_line){low - slope * from, slope};
}

/* Returns the ratio of communication to computation. Without computation, it is infinite, or 1 if
 * there is no communication either. */
static double ratio_of(double c, double m)
{
    return c > 0 ? m / c : m > 0 ? INFINITY : 1;
}

double hm__overlap_seconds(const struct hm_basis *basis, const double *x, size_t count, size_t i,
                           double c, double m)
{
    struct overlap_line line = line_at(basis, x, count, i, ratio_of(c, m));

    return c * line.start + m * line.slope;
}

void hm__overlap_linearise(const struct hm_basis *basis, double c, double m, double *x,
                           size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct overlap_line line = line_at(basis, x, count, i, ratio_of(c, m));
        x[i] = line.start;
        x[count + i] = line.slope;
    }
}
