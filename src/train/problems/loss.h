/*
 * Losses of a linear prediction z = w.x against a label y, and their conjugates for the methods
 * that work on the dual. A dual variable alpha carries the sign of its row: w = sum_i alpha_i x_i /
 * (lambda N), and the dual objective is mean_i -l*(-alpha_i) - lambda/2 |w|^2.
 */
#ifndef HM_LOSS_H
#define HM_LOSS_H

#include "howmany.h"

struct hm_loss {
    const char *name;  /* of the problem */
    const char *title; /* in words */
    double curvature;  /* largest second derivative in z; hinge: of its Huber-like smoothing, 1 */
    bool smooth;
    bool classes; /* labels are -1 and 1 */
    double (*value)(double z, double y);
    double (*slope)(double z, double y); /* derivative in z; hinge: a subgradient */
    /*
     * The alpha that maximises -l*(-alpha) - z (alpha - old) - q/2 (alpha - old)^2, where z is the
     * prediction at old and q >= 0 the curvature of the quadratic term.
     */
    double (*ascend)(double z, double y, double old, double q);
    /* -l*(-alpha): the row's part of the dual objective. */
    double (*dual)(double alpha, double y);
};

extern const struct hm_loss hm__loss_hinge, hm__loss_logistic, hm__loss_squares;

#endif
