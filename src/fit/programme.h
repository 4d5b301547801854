/*
 * Solves the convex programme of a design of experiments: it finds shares l_j of candidate runs, 0
 * <= l_j <= 1, with the total cost sum c_j l_j <= budget, that minimise a criterion of the
 * information matrix M(l) = M0 + sum l_j f_j f_j', where f_j are the features and c_j is the cost
 * of candidate j.
 */
#ifndef HM_PROGRAMME_H
#define HM_PROGRAMME_H

#include "howmany_fit.h"
#include "linear.h"

struct hm_programme {
    enum hm_criterion criterion;
    size_t terms, count;
    const double *features; /* features[j * terms + k] is feature k of candidate j. */
    const double *cost;     /* Cost of each candidate, >= 0. */
    double budget;          /* Largest total cost, > 0; INFINITY means no limit. */
    /* Information matrix M0 that exists without the candidates. */
    double known[HM_TERMS_MAX][HM_TERMS_MAX];
    /* Features g of the prediction whose variance is minimised; used only by HM_CRITERION_I. */
    double target[HM_TERMS_MAX];
};

/*
 * Returns the value of the criterion for the given shares: trace(M^-1) for A, -log det M for D,
 * g'M^-1 g for I, where M is the information matrix and g is the target. The value is INFINITY if M
 * is singular.
 */
double hm__programme_value(const struct hm_programme *programme, const double *shares);

/*
 * Finds the optimal shares, usually up to rounding errors. *ret_gap is an upper bound on the
 * distance of *ret_value from the optimum. The information matrix must be invertible if all shares
 * are 1.
 */
int hm__programme_solve(const struct hm_programme *programme, double *shares, double *ret_value,
                        double *ret_gap, struct hm_err *err);

#endif
