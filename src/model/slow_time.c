/*
 * Computes order statistics of the times of slowed iterations by quadrature.
 *
 * An iteration of one second takes T = F e^(s Z) on a worker, or F f e^(s Z) + pause with
 * probability p (slowness.h), where F is the permanent factor of the worker, f is the factor of a
 * slow iteration, s is the spread and Z is a standard normal variable. Workers with the same F form
 * a class. With q_g(t) = P(T > t) in class g,
 *     E X_(n-k) = integral over t of P(more than k workers are unfinished at t),
 * where X_(n-k) is the time at which all but k of n workers have finished. The number of unfinished
 * workers is a sum of binomials, one for each class; for k = 0, the integrand is 1 - prod_g (1 -
 * q_g)^(n_g). The integrand decreases from 1 to 0 in steps around F and F f + pause. The range is
 * divided at multiples of the spread around each step, and each piece is integrated over ln t with
 * 8-point Gauss-Legendre quadrature. Without spread, the integrand is constant between the steps
 * and the sum is exact. The tables of q are the same for every n, unless a pause makes them depend
 * on the seconds.
 *
 * Limits: iterations and workers are independent. With random draws, more than MANY_SPEEDS distinct
 * speeds are rounded to that many speeds, evenly spaced on a logarithmic scale. Reference: David
 * and Nagaraja, Order Statistics, 2003, chapter 5.
 */
#include "slow_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "memory.h"
#include "order.h"
#include "slow_parts.h"
#include "slowness.h"

enum { MANY_SPEEDS = 8, ORDER = 8 };

/*
 * Ends of the pieces of the quadrature around a step of the integrand, in multiples of the spread.
 */
static const double cuts[] = {-9, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7.5, 9};
enum { CUTS = sizeof(cuts) / sizeof(cuts[0]) };

/* ---- classes --------------------------------------------------------------------------------- */

/*
 * Copies the speeds of the nodes; rounds them when there are many and random draws need a table for
 * each speed.
 */
static void round_speeds(struct hm_slow *w)
{
    const struct hm_slowness *s = w->slowness;
    double low = 1, high = 1;

    for (size_t i = 0; i < s->speed_count; i++) {
        w->speeds[i] = s->speeds[i];
        low = fmin(low, s->speeds[i]);
        high = fmax(high, s->speeds[i]);
    }
    if (w->class_count / 2 <= MANY_SPEEDS || !hm__slowness_drawn(s))
        return;
    double step = log(high / low) / (MANY_SPEEDS - 1);
    for (size_t i = 0; i < s->speed_count; i++)
        w->speeds[i] = low * exp(step * round(log(s->speeds[i] / low) / step));
}

/*
 * Collects the distinct speeds in ascending order, including 1, the speed of nodes that are not
 * listed.
 */
static void gather_speeds(struct hm_slow *w)
{
    size_t count = w->slowness->speed_count, distinct = 0;
    double *all = w->distinct;

    memcpy(all, w->speeds, count * sizeof(*all));
    all[count++] = 1;
    qsort(all, count, sizeof(*all), hm__compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (distinct == 0 || all[i] != all[distinct - 1])
            all[distinct++] = all[i];
    w->class_count = 2 * distinct;
}

static size_t speed_class(const struct hm_slow *w, double speed)
{
    const double *at =
        bsearch(&speed, w->distinct, w->class_count / 2, sizeof(*w->distinct), hm__compare_numbers);
    return 2 * (size_t)(at - w->distinct);
}

static double class_factor(const struct hm_slow *w, size_t class)
{
    return (class % 2 ? w->slowness->slow_factor : 1) / w->distinct[class / 2];
}

/* Counts the workers in each class of speed for n workers; odd classes belong to slow nodes. */
static void count_classes(struct hm_slow *w, double n)
{
    const struct hm_slowness *s = w->slowness;
    double per_node = s->per_node > 1 ? s->per_node : 1, nodes = ceil(n / per_node);
    double last = n - (nodes - 1) * per_node, first_slow = fmax(nodes - s->slow_nodes, 0);
    double listed = fmin(nodes, (double)s->speed_count);

    memset(w->counts, 0, w->class_count * sizeof(*w->counts));
    for (size_t i = 0; i < (size_t)listed; i++)
        w->counts[w->classes[i] + ((double)i >= first_slow)] +=
            (double)i == nodes - 1 ? last : per_node;
    if (listed == nodes)
        return;
    double slow = fmin(nodes - listed, nodes - first_slow), steady = nodes - listed - slow;
    w->counts[w->ordinary] += steady * per_node - (slow == 0 ? per_node - last : 0);
    w->counts[w->ordinary + 1] += slow > 0 ? slow * per_node - (per_node - last) : 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/*
 * Returns P(e^(spread Z) > ratio) for a standard normal Z; without spread, this drops from 1 to 0
 * at ratio 1.
 */
static double lognormal_above(double ratio, double spread)
{
    if (ratio <= 0)
        return 1;
    if (spread == 0)
        return ratio < 1;
    return 0.5 * erfc(log(ratio) / spread * M_SQRT1_2);
}

/*
 * Returns P(T > t) for a class of workers with equal speed, where T and t are relative to the time
 * of an iteration without delays.
 */
static double class_not_done(const struct hm_slow *w, size_t class, double t)
{
    const struct hm_slowness *s = w->slowness;
    double f = class_factor(w, class), q = (1 - w->chance) * lognormal_above(t / f, s->spread);

    if (w->chance > 0)
        q += w->chance * lognormal_above((t - w->pause) / (f * w->slow), s->spread);
    return q;
}

static void quadrature_add_cuts(struct hm_slow *w, double shift, double at, size_t *count)
{
    const double spread = w->slowness->spread;

    for (size_t k = 0; k < (spread > 0 ? (size_t)CUTS : 1); k++)
        w->edges[(*count)++] = shift + at * (spread > 0 ? exp(spread * cuts[k]) : 1);
}

static void quadrature_add_node(struct hm_slow *w, double t, double weight)
{
    size_t at = w->node_count++;

    w->weights[at] = weight;
    for (size_t g = 0; g < w->class_count; g++) {
        if (g % 2 && w->slowness->slow_nodes == 0)
            continue;
        double q = class_not_done(w, g, t);
        w->q[at * w->class_count + g] = q;
        w->log_done[at * w->class_count + g] = log1p(-fmin(q, 1));
    }
}

/* Adds the nodes of the quadrature over ln t for the piece from time a to time b. */
static void quadrature_add_piece(struct hm_slow *w, double a, double b)
{
    static const double at[ORDER / 2] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                         0.9602898564975363};
    static const double weight[ORDER / 2] = {0.3626837833783620, 0.3137066458778873,
                                             0.2223810344533745, 0.1012285362903763};
    double middle = log(a * b) / 2, half = log(b / a) / 2;

    if (w->slowness->spread == 0) { /* Without spread, the integrand is constant in this piece. */
        quadrature_add_node(w, (a + b) / 2, b - a);
        return;
    }
    for (int i = 0; i < ORDER; i++) {
        double x = i % 2 ? at[i / 2] : -at[i / 2], t = exp(middle + half * x);
        quadrature_add_node(w, t, weight[i / 2] * half * t);
    }
}

/* Fills the tables of the quadrature for a pause, which is relative to the time of an iteration. */
static void quadrature_fill(struct hm_slow *w, double pause)
{
    size_t count = 0;

    if (w->tabulated && w->pause == pause)
        return;
    w->pause = pause;
    w->tabulated = true;
    w->node_count = 0;
    for (size_t g = 0; g < w->class_count; g++) {
        if (g % 2 && w->slowness->slow_nodes == 0)
            continue;
        quadrature_add_cuts(w, 0, class_factor(w, g), &count);
        if (w->chance > 0)
            quadrature_add_cuts(w, pause, class_factor(w, g) * w->slow, &count);
    }
    qsort(w->edges, count, sizeof(*w->edges), hm__compare_numbers);
    w->certain = w->edges[0]; /* No worker has finished before the time `certain`. */
    for (size_t i = 1; i < count; i++)
        if (w->edges[i] > w->edges[i - 1] * (1 + 1e-12))
            quadrature_add_piece(w, w->edges[i - 1], w->edges[i]);
}

/* ---- number of unfinished workers ------------------------------------------------------------ */

/*
 * Writes the probability that exactly j of count workers are unfinished into mass[j], for j =
 * 0..most.
 */
static void binomial_mass(double count, double q, double log_done, size_t most, double *mass)
{
    double first = exp(count * log_done);

    for (size_t j = 0; j <= most; j++) {
        double k = (double)j;
        if (k > count || q == 0)
            mass[j] = k == 0 && q == 0;
        else if (q >= 1)
            mass[j] = k == count;
        else if (first > 1e-280)
            mass[j] = j == 0 ? first : mass[j - 1] * (count - k + 1) / k * (q / (1 - q));
        else
            mass[j] = exp(lgamma(count + 1) - lgamma(k + 1) - lgamma(count - k + 1) + k * log(q) +
                          (count - k) * log_done);
    }
}

/*
 * Returns the probability that at most `late` workers are unfinished at a quadrature node. The
 * classes of workers with equal speed are added one after another.
 */
static double prob_few_late(struct hm_slow *w, size_t node, size_t late)
{
    double *sum = w->mass, *next = w->mass + (late + 1), *one = w->mass + 2 * (late + 1), all = 0;
    size_t reach = 0; /* Largest number of unfinished workers among the classes added so far. */

    sum[0] = 1;
    for (size_t g = 0; g < w->class_count; g++) {
        size_t at = node * w->class_count + g;
        size_t most = (size_t)fmin(w->counts[g], (double)late);
        if (w->counts[g] == 0)
            continue;
        binomial_mass(w->counts[g], w->q[at], w->log_done[at], most, one);
        size_t further = reach + most < late ? reach + most : late;
        for (size_t j = 0; j <= further; j++) {
            next[j] = 0;
            for (size_t i = j > reach ? j - reach : 0; i <= most && i <= j; i++)
                next[j] += one[i] * sum[j - i];
        }
        reach = further;
        double *swap = sum;
        sum = next;
        next = swap;
    }
    for (size_t j = 0; j <= reach; j++)
        all += sum[j];
    return all;
}

/*
 * Returns the factor that multiplies the time of the slowest worker that the others wait for, if
 * there are no random draws.
 */
static double steady_order(struct hm_slow *w, double late)
{
    double slowest = 0, passed = 0;

    for (;;) { /* Visit the classes of workers from the slowest to the fastest. */
        size_t at = HM_NONE;
        for (size_t g = 0; g < w->class_count; g++)
            if (w->counts[g] > 0 && (at == HM_NONE || class_factor(w, g) > class_factor(w, at)))
                at = g;
        slowest = class_factor(w, at);
        passed += w->counts[at];
        if (passed > late)
            return slowest;
        w->counts[at] = 0;
    }
}

double hm__slow_order(struct hm_slow *w, double n, double late, double seconds)
{
    double sum = 0;

    count_classes(w, n);
    if (!hm__slowness_drawn(w->slowness) || seconds == 0)
        return steady_order(w, late) * seconds;
    quadrature_fill(w, w->slowness->pause_s / seconds);
    for (size_t i = 0; i < w->node_count; i++) {
        if (hm__budget_spent("backups"))
            break;
        double done = 0;
        for (size_t g = 0; late == 0 && g < w->class_count; g++)
            if (w->counts[g] > 0)
                done += w->counts[g] * w->log_done[i * w->class_count + g];
        sum += w->weights[i] * (late == 0 ? -expm1(done) : 1 - prob_few_late(w, i, (size_t)late));
    }
    return (w->certain + sum) * seconds;
}

/* ---- construction ---------------------------------------------------------------------------- */

static int allocate_classes(struct hm_slow *w, struct hm_err *err)
{
    size_t speeds = w->slowness->speed_count;

    w->speeds = hm__calloc(speeds + 1, sizeof(*w->speeds));
    w->distinct = hm__calloc(speeds + 1, sizeof(*w->distinct));
    w->classes = hm__calloc(speeds + 1, sizeof(*w->classes));
    w->counts = hm__calloc(2 * (speeds + 1), sizeof(*w->counts));
    return w->speeds && w->distinct && w->classes && w->counts ? 0 : hm__fail_nomem(err);
}

static int allocate_tables(struct hm_slow *w, struct hm_err *err)
{
    size_t steps = w->class_count * (w->chance > 0 ? 2 : 1);
    size_t edges = steps * (w->slowness->spread > 0 ? (size_t)CUTS : 1);
    size_t nodes = edges * (w->slowness->spread > 0 ? (size_t)ORDER : 1);

    w->edges = hm__calloc(edges, sizeof(*w->edges));
    w->weights = hm__calloc(nodes, sizeof(*w->weights));
    w->q = hm__calloc(nodes * w->class_count, sizeof(*w->q));
    w->log_done = hm__calloc(nodes * w->class_count, sizeof(*w->log_done));
    w->mass = hm__calloc(3 * (HM_BACKUPS_MOST + 1), sizeof(*w->mass));
    return w->edges && w->weights && w->q && w->log_done && w->mass ? 0 : hm__fail_nomem(err);
}

int hm__slow_new(const struct hm_slowness *s, struct hm_slow **ret_slow, struct hm_err *err)
{
    struct hm_slow *w = hm__calloc(1, sizeof(*w));

    if (!w)
        return hm__fail_nomem(err);
    w->slowness = s;
    w->slow = s->factor > 0 ? s->factor : 1;
    w->chance = s->factor > 0 || s->pause_s > 0 ? s->chance : 0;
    int rc = allocate_classes(w, err);
    if (rc == 0) {
        round_speeds(w); /* The first pass counts the distinct speeds. */
        gather_speeds(w);
        round_speeds(w); /* The second pass rounds the speeds if there are too many. */
        gather_speeds(w);
        for (size_t i = 0; i < s->speed_count; i++)
            w->classes[i] = speed_class(w, w->speeds[i]);
        w->ordinary = speed_class(w, 1);
        if (hm__slowness_drawn(s))
            rc = allocate_tables(w, err);
    }
    if (rc) {
        hm__slow_free(w);
        return rc;
    }
    *ret_slow = w;
    return 0;
}

void hm__slow_free(struct hm_slow *w)
{
    if (!w)
        return;
    hm__free(w->speeds);
    hm__free(w->distinct);
    hm__free(w->classes);
    hm__free(w->counts);
    hm__free(w->edges);
    hm__free(w->weights);
    hm__free(w->q);
    hm__free(w->log_done);
    hm__free(w->mass);
    hm__free(w->bank);
    hm__free(w->paused);
    hm__free(w->ends);
    hm__free(w->factors);
    hm__free(w);
}
