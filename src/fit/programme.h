/*
 * The convex programme behind a design: shares 0 <= l <= 1 of candidate runs with features f_j and
 * cost c_j, sum c_j l_j <= budget, that make a criterion of M(l) = M0 + sum l_j f_j f_j' least.
 */
#ifndef HM_PROGRAMME_H
#define HM_PROGRAMME_H

#include "howmany_fit.h"
#include "linear.h"

struct hm_programme {
    enum hm_criterion criterion;
    size_t terms, count;
    const double *features;                   /* features[j * terms + k] */
    const double *cost;                       /* >= 0 */
    double budget;                            /* > 0; INFINITY: none */
    double known[HM_TERMS_MAX][HM_TERMS_MAX]; /* M0 */
    double target[HM_TERMS_MAX];              /* g, with HM_CRITERION_I */
};

/* Criterion: trace(M^-1), -log det M, or g'M^-1 g. INFINITY where M has no inverse. */
double hm__programme_value(const struct hm_programme *programme, const double *shares);

/*
 * Solve; to rounding, as a rule. *ret_gap bounds the distance from the optimum, by the best
 * that any feasible step could gain. All candidates together must give M an inverse.
 */
int hm__programme_solve(const struct hm_programme *programme, double *shares, double *ret_value,
                        double *ret_gap, struct hm_err *err);

#endif
