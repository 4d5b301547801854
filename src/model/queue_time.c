/*
 * Computes the time of workers that queue at the links of servers; queue_time.h gives the
 * equations.
 */
#include "queue_time.h"

#include <math.h>

/*
 * Factor and exponent in the formula of Suri, Sahu and Vernon, which they fitted to exact
 * solutions.
 */
static const double PLACES_FACTOR = 4.464, PLACES_POWER = 0.676;

/* Largest number of steps of the root finder; about ten are needed. */
enum { STEPS_MOST = 100 };

struct queue {
    double n, apart_s, alone_s, served_s, exponent;
};

/*
 * Returns (T - apart)(1 - met) - 2 alone, which is 0 at the solution of the equations in
 * queue_time.h, where met = served U^exponent (n - 1) / T.
 */
static double queue_residual(const struct queue *q, double time_s)
{
    double load = fmin(1, q->n * q->served_s / time_s);
    double met = q->served_s * pow(load, q->exponent) * (q->n - 1) / time_s;

    return (time_s - q->apart_s) * (1 - met) - 2 * q->alone_s;
}

/*
 * Finds the root by regula falsi with the Illinois rule, starting from a time that is too short and
 * a time that is too long.
 */
static double queue_solve(const struct queue *q, double low, double high)
{
    double below = queue_residual(q, low), above = queue_residual(q, high), middle = low;
    /*
     * End of the bracket that the last step kept: -1 for the upper end, 1 for the lower end, 0
     * before the first step.
     */
    int kept = 0;

    for (int i = 0; i < STEPS_MOST && high - low > 1e-13 * high && below < 0 && above > 0; i++) {
        middle = (low * above - high * below) / (above - below);
        double here = queue_residual(q, middle);
        if (here == 0)
            return middle;
        if (here < 0) {
            low = middle;
            below = here;
            above = kept < 0 ? above / 2 : above;
            kept = -1;
        } else {
            high = middle;
            above = here;
            below = kept > 0 ? below / 2 : below;
            kept = 1;
        }
    }
    return below >= 0 ? low : middle;
}

double hm__queue_time(double n, double apart_s, double alone_s, double served_s)
{
    struct queue q = {n, apart_s, fmax(alone_s, served_s), served_s, 0};
    double least = fmax(apart_s + 2 * q.alone_s, n * served_s);

    if (n <= 1 || !(served_s > 0))
        return least;
    q.exponent = PLACES_FACTOR * (pow(q.alone_s / served_s, PLACES_POWER) - 1);
    return queue_solve(&q, least, apart_s + 2 * n * q.alone_s);
}
