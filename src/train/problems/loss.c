/*
 * Implements the hinge max(0, 1 - yz), logistic ln(1 + exp(-yz)) and squared (z - y)^2/2 losses.
 *
 * With b = y alpha, the conjugates are -l*(-alpha) = b on [0, 1] (hinge), -b ln b - (1-b) ln(1-b)
 * on [0, 1] (logistic) and alpha y - alpha^2/2 (squared). Shalev-Shwartz and Zhang: Stochastic dual
 * coordinate ascent methods for regularized loss minimization, JMLR 14 (2013).
 */
#include "loss.h"

#include <math.h>

static double hinge_value(double z, double y)
{
    return fmax(0, 1 - y * z);
}

static double hinge_slope(double z, double y)
{
    return y * z < 1 ? -y : 0;
}

static double hinge_ascend(double z, double y, double old, double q)
{
    double slack = 1 - y * z, b = y * old;

    /*
     * A row without entries has no curvature (q = 0), so the dual objective is linear in b = y
     * alpha.
     */
    b = q > 0 ? b + slack / q : slack > 0 ? 1 : slack < 0 ? 0 : b;
    return y * fmin(1, fmax(0, b));
}

static double hinge_dual(double alpha, double y)
{
    return y * alpha;
}

static double logistic_value(double z, double y)
{
    double m = y * z;
    return m > 0 ? log1p(exp(-m)) : log1p(exp(m)) - m;
}

static double logistic_slope(double z, double y)
{
    double m = y * z;
    return m > 0 ? -y * exp(-m) / (1 + exp(-m)) : -y / (1 + exp(m));
}

/*
 * Finds the root b in (0, 1) of the decreasing function ln((1-b)/b) - yz - q (b - old) with
 * Newton's method in t = ln(b/(1-b)), because the function is nearly linear in t. Steps that would
 * leave a bracket around the root are replaced by bisection.
 */
static double logistic_ascend(double z, double y, double old, double q)
{
    enum { STEPS = 60 };
    double m = y * z, start = y * old;
    /*
     * Outside this bracket, the term q (b - old) cannot change the sign of the function, because
     * its absolute value is at most q.
     */
    double low = -m - q, high = -m + q, t = -m;

    for (int k = 0; k < STEPS; k++) {
        double b = t > 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t));
        double f = -t - m - q * (b - start);
        if (f == 0)
            break;
        if (f > 0)
            low = t;
        else
            high = t;
        double next = t + f / (1 + q * b * (1 - b));
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - t) <= 1e-15 * (1 + fabs(t)))
            break;
        t = next;
    }
    return y * (t > 0 ? 1 / (1 + exp(-t)) : exp(t) / (1 + exp(t)));
}

static double logistic_entropy(double b)
{
    return b > 0 ? -b * log(b) : 0;
}

static double logistic_dual(double alpha, double y)
{
    double b = y * alpha;
    return logistic_entropy(b) + logistic_entropy(1 - b);
}

static double squares_value(double z, double y)
{
    return 0.5 * (z - y) * (z - y);
}

static double squares_slope(double z, double y)
{
    return z - y;
}

static double squares_ascend(double z, double y, double old, double q)
{
    return old + (y - old - z) / (1 + q);
}

static double squares_dual(double alpha, double y)
{
    return alpha * y - 0.5 * alpha * alpha;
}

const struct hm_loss hm__loss_hinge = {
    .name = "svm",
    .title = "linear support vector machine (hinge loss)",
    .curvature = 1,
    .smooth = false,
    .classes = true,
    .value = hinge_value,
    .slope = hinge_slope,
    .ascend = hinge_ascend,
    .dual = hinge_dual,
};

const struct hm_loss hm__loss_logistic = {
    .name = "logistic",
    .title = "logistic regression",
    .curvature = 0.25,
    .smooth = true,
    .classes = true,
    .value = logistic_value,
    .slope = logistic_slope,
    .ascend = logistic_ascend,
    .dual = logistic_dual,
};

const struct hm_loss hm__loss_squares = {
    .name = "squares",
    .title = "least squares",
    .curvature = 1,
    .smooth = true,
    .classes = false,
    .value = squares_value,
    .slope = squares_slope,
    .ascend = squares_ascend,
    .dual = squares_dual,
};
