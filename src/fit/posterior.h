/*
 * Uncertainty of a fit: draws of its coefficients and of its noise, given the runs.
 *
 * The model is linear, y = x theta + noise, with theta >= 0, a normal prior for each coefficient
 * (or none) and an unknown spread of the noise. Every interval and every probability of a fit is
 * counted from these draws, so that bounds, priors and several sets of terms need no formulas of
 * their own. Where no bound is active, the draws follow Student's t distribution.
 */
#ifndef HM_POSTERIOR_H
#define HM_POSTERIOR_H

#include "linear.h"
#include "random.h"

struct hm_prior {
    double mean, width; /* A width of INFINITY means that nothing is known. */
};

/* Prior of the noise: as if `weight` runs had shown `spread`. */
struct hm_noise {
    double weight, spread;
    double least; /* With few runs, the spread is not taken as smaller than this. */
};

/* One draw: the coefficients and the spread of the noise, in units of the weighted rows. */
struct hm_draw {
    double theta[HM_TERMS_MAX];
    double spread;
};

/*
 * Most probable theta and spread. rows is the number of rows in the problem; priors may be NULL.
 * With priors, theta and spread depend on each other and are found by iteration.
 */
void hm__posterior_mode(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, double *ret_theta, double *ret_spread);

/* Fills draws; returns false if the data are too few (no degrees of freedom and no prior). */
bool hm__posterior_draw(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, struct hm_random *random, struct hm_draw *draws,
                        size_t count);

#endif
