/*
 * How sure a fit is: draws of its coefficients and of its noise, given the runs.
 *
 * The model is linear, y = x theta + noise, with theta >= 0, a normal prior for each coefficient
 * (or none) and an unknown spread of the noise. Every interval and every probability of a fit is
 * counted from these draws, so that bounds, priors and several sets of terms need no formulas of
 * their own. Where no bound cuts in, the draws follow Student's t, as the textbook has it.
 */
#ifndef HM_POSTERIOR_H
#define HM_POSTERIOR_H

#include "linear.h"
#include "random.h"

struct hm_prior {
    double mean, width; /* width INFINITY: nothing is known */
};

/* What is known of the noise before any run: as if `weight` runs had shown `spread`. */
struct hm_noise {
    double weight, spread;
    double least; /* few runs are not taken as more exact than this, whatever they say */
};

/* One draw: the coefficients and the spread of the noise (in units of the weighted rows). */
struct hm_draw {
    double theta[HM_TERMS_MAX];
    double spread;
};

/*
 * Most probable theta and spread. rows is how many rows were added to the problem; priors may be
 * NULL. With priors theta depends on the spread and the other way round: found by iteration.
 */
void hm__posterior_mode(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, double *ret_theta, double *ret_spread);

/* Fill draws; false if there is not enough to say anything (no rows left over, no prior). */
bool hm__posterior_draw(const struct hm_lsq *lsq, double rows, const struct hm_prior *priors,
                        struct hm_noise noise, struct hm_random *random, struct hm_draw *draws,
                        size_t count);

#endif
