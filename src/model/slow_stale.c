/*
 * Computes the mean time of an iteration when workers need not wait for each other at every step.
 *
 * With async, each worker runs independently, so n workers finish n iterations in n / sum_i(1 /
 * t_i) seconds, where t_i is the mean time of worker i. With SSP (Ho et al. 2013), the fastest
 * worker is at most `staleness` iterations ahead of the slowest; this has no closed form, so the
 * recursion x_i(c) = max(x_i(c-1), max_j x_j(c-1-staleness)) + d_i(c) is run on a stored array of
 * random draws. The length of that array is prime, so that a worker does not see the same draws
 * periodically. Limits: draws are independent, and more than 2048 workers are extrapolated.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "random.h"
#include "slow_parts.h"
#include "slow_time.h"
#include "slowness.h"

enum {
    BANK = 65521,
    /*
     * Largest number of workers that are simulated; larger numbers are extrapolated over log2(n).
     */
    WORKERS = 2048,
    FEWEST = 400, /* Smallest number of iterations that are simulated. */
    /* Total number of draws of all workers, unless FEWEST iterations need more. */
    DRAWS = 200000,
    PER_STALENESS = 16, /* Smallest number of iterations that are simulated for each unit of
                           staleness. */
};

/*
 * Returns the expected time of an iteration on the given worker in seconds; workers are counted
 * from 0.
 */
static double mean_seconds(const struct hm_slow *w, double worker, double n, double seconds)
{
    const struct hm_slowness *s = w->slowness;
    double factor = hm__slowness_factor(s, worker, n) * exp(s->spread * s->spread / 2);

    return seconds * factor * (1 + w->chance * (w->slow - 1)) + w->chance * s->pause_s;
}

/*
 * Sums value() over n workers. The workers between the listed nodes and the slow nodes are equal,
 * so their value is computed once.
 */
static double sum_over_workers(const struct hm_slow *w, double n,
                               double (*value)(const struct hm_slow *, double, double, double,
                                               double),
                               double seconds, double extra)
{
    const struct hm_slowness *s = w->slowness;
    double per_node = s->per_node > 1 ? s->per_node : 1, sum = 0;
    double from = fmin(n, (double)s->speed_count * per_node);
    double to = fmax(from, per_node * (ceil(n / per_node) - s->slow_nodes));

    to = fmin(to, n);
    for (double i = 0; i < from; i++)
        sum += value(w, i, n, seconds, extra);
    if (to > from)
        sum += (to - from) * value(w, from, n, seconds, extra);
    for (double i = to; i < n; i++)
        sum += value(w, i, n, seconds, extra);
    return sum;
}

static double worker_rate(const struct hm_slow *w, double worker, double n, double seconds,
                          double extra)
{
    return 1 / (mean_seconds(w, worker, n, seconds) + extra);
}

double hm__slow_async(const struct hm_slow *w, double n, double seconds, double extra)
{
    return n / sum_over_workers(w, n, worker_rate, seconds, extra);
}

static double worker_speed(const struct hm_slow *w, double worker, double n, double seconds,
                           double extra)
{
    (void)seconds;
    (void)extra;
    return 1 / hm__slowness_factor(w->slowness, worker, n);
}

double hm__slow_even(const struct hm_slow *w, double n)
{
    return n / sum_over_workers(w, n, worker_speed, 0, 0);
}

static int draw_bank_fill(struct hm_slow *w, struct hm_err *err)
{
    const struct hm_slowness *s = w->slowness;
    struct hm_random random;

    if (w->bank)
        return 0;
    w->bank = hm__calloc(BANK, sizeof(*w->bank));
    w->paused = hm__calloc(BANK, sizeof(*w->paused));
    w->ends = hm__calloc(WORKERS, sizeof(*w->ends));
    w->factors = hm__calloc(WORKERS, sizeof(*w->factors));
    if (!w->bank || !w->paused || !w->ends || !w->factors) {
        hm__free(w->bank);
        w->bank = NULL;
        return hm__fail_nomem(err);
    }
    hm__random_init(&random, 1, 0);
    for (int i = 0; i < BANK; i++) {
        bool slow = hm__random_uniform(&random) < w->chance;
        double drawn = s->spread > 0 ? exp(s->spread * hm__random_normal(&random)) : 1;
        w->bank[i] = slow ? drawn * w->slow : drawn;
        w->paused[i] = slow;
    }
    return 0;
}

/* Returns the number of iterations that are simulated for n <= WORKERS workers. */
static size_t ssp_rounds(size_t n, size_t staleness)
{
    size_t rounds = DRAWS / n > FEWEST ? DRAWS / n : FEWEST;

    return rounds < PER_STALENESS * (staleness + 1) ? PER_STALENESS * (staleness + 1) : rounds;
}

double hm__slow_draws(double n, double staleness)
{
    size_t apart = (size_t)fmin(staleness, HM_SLOW_STALENESS), workers = (size_t)fmin(n, WORKERS);
    double draws = 0;

    if (apart == 0 || n <= 1)
        return 0;
    if (n > WORKERS) /* A second simulation with half of the workers is needed to extrapolate. */
        draws = WORKERS / 2 * (double)ssp_rounds(WORKERS / 2, apart);
    return draws + (double)workers * (double)ssp_rounds(workers, apart);
}

/*
 * Runs the recursion for n <= WORKERS and returns the mean time of an iteration. The first fifth of
 * the iterations is not counted.
 */
static double ssp_recursion(struct hm_slow *w, size_t n, size_t staleness, double seconds,
                            double extra)
{
    double front[HM_SLOW_STALENESS + 1] = {
        /*
         * Time at which all workers had finished iteration c, stored at index c % (staleness + 1).
         */
        0};
    size_t rounds = ssp_rounds(n, staleness), at = 0;
    double began = 0, ended = 0, pause = w->slowness->pause_s;

    for (size_t i = 0; i < n; i++) {
        w->ends[i] = 0;
        w->factors[i] = seconds * hm__slowness_factor(w->slowness, (double)i, (double)n);
    }
    for (size_t c = 0; c < rounds; c++) {
        if (hm__budget_spent("staleness"))
            break;
        /*
         * Time at which all workers finished the iteration that is staleness + 1 before this one.
         */
        double gate = front[c % (staleness + 1)];
        ended = 0;
        hm__budget_steps(HM_STEP_DRAW, (double)n);
        for (size_t i = 0; i < n; i++, at = at + 1 == BANK ? 0 : at + 1) {
            double begins = w->ends[i] > gate ? w->ends[i] : gate;
            w->ends[i] = begins + w->factors[i] * w->bank[at] + w->paused[at] * pause + extra;
            ended = w->ends[i] > ended ? w->ends[i] : ended;
        }
        front[c % (staleness + 1)] = ended;
        if (c + 1 == rounds / 5)
            began = ended;
    }
    return (ended - began) / (double)(rounds - rounds / 5);
}

int hm__slow_stale(struct hm_slow *w, double n, double staleness, double seconds, double extra,
                   double *ret_seconds, struct hm_err *err)
{
    size_t apart = (size_t)fmin(staleness, HM_SLOW_STALENESS);

    if (apart == 0 || n == 1 || !hm__slowness_drawn(w->slowness)) {
        /*
         * A single worker does not wait for others; without random draws, all workers are as fast
         * as the slowest.
         */
        *ret_seconds =
            (n == 1 ? mean_seconds(w, 0, 1, seconds) : hm__slow_order(w, n, 0, seconds)) + extra;
        return 0;
    }
    int rc = draw_bank_fill(w, err);
    if (rc)
        return rc;
    if (n <= WORKERS) {
        *ret_seconds = ssp_recursion(w, (size_t)n, apart, seconds, extra);
        return 0;
    }
    double half = ssp_recursion(w, WORKERS / 2, apart, seconds, extra);
    double full = ssp_recursion(w, WORKERS, apart, seconds, extra);
    *ret_seconds = fmin(full + fmax(full - half, 0) * log2(n / WORKERS),
                        hm__slow_order(w, n, 0, seconds) + extra);
    return 0;
}
