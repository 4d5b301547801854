/*
 * Draws the coefficients and the noise of a fit, given the runs, to express the uncertainty of the
 * fit.
 *
 * The model is linear, y = x theta + noise, with theta >= 0, a normal prior for each coefficient
 * (or none) and an unknown spread of the noise. All intervals and probabilities of a fit are
 * computed from these draws, so that bounds, priors and several sets of terms need no separate
 * formulas. If no bound is active, the draws follow Student's t distribution.
 */
#ifndef HM_POSTERIOR_H
#define HM_POSTERIOR_H

#include "linear.h"
#include "random.h"

struct hm_prior {
    /*
     * Prior of a coefficient: its mean and standard deviation. A width of INFINITY means that
     * nothing is known.
     */
    double mean, width;
};

/* Prior of the noise, equivalent to `weight` runs with the standard deviation `spread`. */
struct hm_noise {
    double weight, spread;
    /* Smallest spread that is assumed if there are only few runs. */
    double least;
};

/*
 * One draw of the coefficients and of the standard deviation of the noise, in units of the weighted
 * rows.
 */
struct hm_draw {
    double theta[HM_TERMS_MAX];
    double spread;
};

/*
 * Computes the most probable coefficients theta and the most probable spread of the noise. rows is
 * the number of rows in the problem; priors may be NULL. With priors, theta and the spread depend
 * on each other and are found by iteration.
 */
void hm__posterior_mode(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, double *ret_theta, double *ret_spread);

/*
 * Fills `count` draws. Returns false if there is too little data: no degrees of freedom are left,
 * or coefficients without priors are not determined.
 */
bool hm__posterior_draw(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, struct hm_random *random, struct hm_draw *draws,
                        size_t count);

#endif
