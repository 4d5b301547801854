/*
 * Defines the losses l of a linear prediction z = w.x against a label y, where w are the weights
 * and x are the features, and their conjugates l* for dual methods. A dual variable alpha is
 * already multiplied by the sign of its row's label: w = sum_i alpha_i x_i / (lambda N), and the
 * dual objective is mean_i -l*(-alpha_i) - lambda/2 |w|^2.
 */
#ifndef HM_LOSS_H
#define HM_LOSS_H

#include "howmany.h"

struct hm_loss {
    const char *name;  /* Name of the linear problem with this loss, such as "svm". */
    const char *title; /* Description of this problem for people. */
    /*
     * Largest second derivative of the loss with respect to z. For the hinge loss, it is set to 1,
     * which holds for its smoothed (Huber-like) form.
     */
    double curvature;
    bool smooth;
    bool classes; /* True if the labels of the rows must be -1 and 1. */
    double (*value)(double z, double y);
    /*
     * Returns the derivative of the loss with respect to z; for the hinge loss, returns a
     * subgradient.
     */
    double (*slope)(double z, double y);
    /*
     * Returns the new value alpha of a dual variable, which maximises -l*(-alpha) - z (alpha - old)
     * - q/2 (alpha - old)^2. Here z is the prediction at the value `old`, and q >= 0 is the
     * curvature of the quadratic term.
     */
    double (*ascend)(double z, double y, double old, double q);
    /* Returns -l*(-alpha), the term of one row in the dual objective. */
    double (*dual)(double alpha, double y);
};

extern const struct hm_loss hm__loss_hinge, hm__loss_logistic, hm__loss_squares;

#endif
