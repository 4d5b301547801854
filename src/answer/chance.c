/*
 * Computes the probabilities of meeting a deadline or a budget. A time T is described by its median
 * m and an interval (a, b) of probability q. ln T is assumed to be normally distributed on each
 * side of the median: half of the probability is below m, (1 - q) / 2 below a, and (1 - q) / 2
 * above b, so that
 *
 *   P(T <= t) = Phi(z ln(t / m) / ln(b / m))    for t >= m, with z = Phi^-1((1 + q) / 2),
 *   P(T <= t) = Phi(z ln(t / m) / ln(m / a))    for t < m.
 *
 * The same distribution is used for intervals from fits and from specification sheets, so that a
 * stated probability always agrees with the stated interval. Limit: the shape of the tails is an
 * assumption, so no probability above HM_CHANCE_MOST is stated.
 */
#include "chance.h"

#include <math.h>

#include "sheet_error.h"

/* Returns the probability that a standard normal variable is below z. */
static double normal_below(double z)
{
    return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Returns the quantile of the standard normal distribution for 0 < p < 1, found by bisection. */
static double normal_quantile(double p)
{
    double low = -9, high = 9;

    if (p == 0.5)
        return 0;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (normal_below(middle) < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

bool hm__span_known(const struct hm_span *s)
{
    return s->low >= 0 && s->high >= s->middle && s->low <= s->middle && s->middle > 0 &&
           s->level > 0 && s->level < 1;
}

/*
 * Returns the standard deviation of the logarithm of a time: above its median if `above` is true,
 * otherwise below it.
 */
static double span_spread(const struct hm_span *s, bool above)
{
    double z = normal_quantile((1 + s->level) / 2);
    /* The lower end of the interval is kept above 0, because the logarithm of 0 is infinite. */
    double low = fmax(s->low, 1e-9 * s->middle);

    return (above ? log(s->high / s->middle) : log(s->middle / low)) / z;
}

double hm__span_chance(const struct hm_span *s, double limit)
{
    if (!hm__span_known(s))
        return NAN;
    if (!(limit > 0))
        return 0;
    double distance = log(limit / s->middle), spread = span_spread(s, distance >= 0);
    if (!(spread > 0))
        return distance >= 0 ? HM_CHANCE_MOST : 0;
    return fmin(normal_below(distance / spread), HM_CHANCE_MOST);
}

double hm__span_bound(const struct hm_span *s, double probability)
{
    if (!hm__span_known(s))
        return s->middle;
    return s->middle * exp(normal_quantile(probability) * span_spread(s, probability >= 0.5));
}

void hm__span_draw(const struct hm_span *s, struct hm_random *random, double *times, size_t count)
{
    double below = span_spread(s, false), above = span_spread(s, true);

    for (size_t i = 0; i < count; i++) {
        double z = hm__random_normal(random);
        times[i] = s->middle * exp(z * (z < 0 ? below : above));
    }
}

/*
 * Largest stated probability if the recommended number of workers is outside the range of the runs.
 */
static const double MOST_BEYOND = 0.9;

/*
 * After k runs that agree with a fit, the next one agrees with a probability of (k + 1/2) / (k + 1)
 * if nothing else is known (the rule of succession with Jeffreys' prior). The draws of a fit alone
 * would give a probability that is too large, because they do not contain terms that few runs
 * cannot reveal.
 */
double hm__chance_most(size_t runs, bool beyond)
{
    double k = (double)runs;

    return fmin((k + 0.5) / (k + 1), beyond ? MOST_BEYOND : HM_CHANCE_MOST);
}

double hm__certainty_or_default(double certainty)
{
    return certainty > 0 ? certainty : HM_DEFAULT_CERTAINTY;
}

/* Returns whether the question has a deadline or a budget. */
static bool question_limits(const struct hm_question *q)
{
    return q->deadline_s > 0 || q->budget >= 0;
}

static struct hm_span point_span(const struct hm_point *p, double level)
{
    return (struct hm_span){p->low_s, p->time_s, p->high_s, level};
}

int hm__curve_bounds(struct hm_curve *curve, const struct hm_search *s,
                     const struct hm_model *model, struct hm_err *err)
{
    const double certainty = hm__certainty_or_default(s->question->certainty);
    double level = NAN;
    int rc = 0;

    for (size_t i = 0; i < curve->count; i++) {
        curve->points[i].bound_s = curve->points[i].time_s;
        curve->points[i].meets = NAN;
    }
    if (!question_limits(s->question))
        return 0;
    if (s->question->fit)
        rc = hm__search_fit_intervals(s, model, curve->points, curve->count, &level, err);
    else
        level = hm__sheet_intervals(s, curve->points, curve->count);
    for (size_t i = 0; rc == 0 && i < curve->count; i++) {
        struct hm_span span = point_span(&curve->points[i], level);
        curve->points[i].bound_s = hm__span_bound(&span, certainty);
    }
    return rc;
}

double hm__point_chance(const struct hm_search *s, const struct hm_point *p, double level)
{
    const struct hm_question *q = s->question;
    const struct hm_span span = point_span(p, level);
    double limit = q->deadline_s > 0 ? p->time_s * q->deadline_s / p->total_s : INFINITY;

    if (q->budget >= 0 && p->cost > 0)
        limit = fmin(limit, p->time_s * q->budget / p->cost);
    return isinf(limit) ? NAN : hm__span_chance(&span, limit);
}

void hm__answer_chances(struct hm_answer *a, const struct hm_search *s)
{
    a->certainty = NAN;
    if (!question_limits(s->question))
        return;
    a->certainty = hm__certainty_or_default(s->question->certainty);
    for (size_t i = 0; i < a->point_count; i++)
        a->points[i].meets = hm__point_chance(s, &a->points[i], a->level);
}
