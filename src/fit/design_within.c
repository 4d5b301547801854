/* Computes intervals from draws of the coefficients, which reflect the uncertainty that remains
 * after the runs of a design. */
#include "design_within.h"

#include <math.h>
#include <string.h>

#include "student.h"

/*
 * Number of draws of the coefficients, and number of simulated runs with different noise for each
 * draw. Several simulated runs halve the random error of the interval's width (about 7 % with 100
 * draws) and cost little, because solving for the coefficients takes most of the time.
 */
enum { DRAWS = 100, RUNS = 4 };

void hm__design_add_row(struct hm_design_rows *rows, const double *terms)
{
    double row[HM_LSQ_SIDE];

    memcpy(row, terms, rows->lsq.count * sizeof(*row));
    row[rows->lsq.count] = 1;
    hm__lsq_add(&rows->lsq, row);
    rows->count++;
}

double hm__design_within(const struct hm_design_rows *rows, const struct hm_prior *priors,
                         double noise, const double *target)
{
    /* The expected noise has the weight of one run, as in a fit. */
    const struct hm_noise expected = {1, noise, 0};
    struct hm_draw draws[DRAWS];
    double seconds[DRAWS * RUNS];
    struct hm_random random;

    hm__random_init(&random, 0, 0);
    if (!hm__posterior_draw(&rows->lsq, rows->count, priors, expected, &random, draws, DRAWS))
        return NAN;
    for (size_t d = 0; d < DRAWS; d++) {
        double mean = 0;
        for (size_t k = 0; k < rows->lsq.count; k++)
            mean += draws[d].theta[k] * target[k];
        for (size_t i = 0; i < RUNS; i++)
            seconds[d * RUNS + i] = mean * (1 + draws[d].spread * hm__random_normal(&random));
    }
    double low = hm__quantile(seconds, DRAWS * RUNS, 0.05);
    double high = hm__quantile(seconds, DRAWS * RUNS, 0.95);
    double median = hm__quantile(seconds, DRAWS * RUNS, 0.5);
    return median > 0 ? (high - low) / (2 * median) : NAN;
}
