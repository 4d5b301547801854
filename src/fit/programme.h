/*
 * The convex programme of a design: shares 0 <= l <= 1 of candidate runs with features f_j and cost
 * c_j, sum c_j l_j <= budget, that minimise a criterion of M(l) = M0 + sum l_j f_j f_j'.
 */
#ifndef HM_PROGRAMME_H
#define HM_PROGRAMME_H

#include "howmany_fit.h"
#include "linear.h"

struct hm_programme {
    enum hm_criterion criterion;
    size_t terms, count;
    const double *features; /* features[j * terms + k] is feature k of candidate j. */
    const double *cost;     /* Costs >= 0. */
    double budget;          /* > 0; INFINITY means no limit. */
    double known[HM_TERMS_MAX][HM_TERMS_MAX]; /* M0. */
    double target[HM_TERMS_MAX];              /* g, for HM_CRITERION_I. */
};

/* Value of the criterion: trace(M^-1), -log det M, or g'M^-1 g. INFINITY if M is singular. */
double hm__programme_value(const struct hm_programme *programme, const double *shares);

/*
 * Solves, usually to rounding. *ret_gap bounds the distance from the optimum by the largest gain of
 * any feasible step. M must be invertible for all candidates together.
 */
int hm__programme_solve(const struct hm_programme *programme, double *shares, double *ret_value,
                        double *ret_gap, struct hm_err *err);

#endif
