/*
 * Computes the spread of the times of single iterations around their mean f(m): the 5th and 95th
 * percentiles, like the error bars of Hemingway's Figure 1a (Pan et al. 2016), and the relative
 * standard deviation. A trace whose points are several iterations apart contains only means over
 * several iterations: its deviation is multiplied by the square root of their number, and it has no
 * percentiles. If iterations are independent, the standard deviation of the time of k iterations is
 * sqrt(k) times the standard deviation of one iteration. Limits: at least SPREAD_LEAST iterations
 * are needed for each m; slow phases that last for several iterations make total times vary more
 * than this.
 */
#include <math.h>
#include <string.h>

#include "converge.h"
#include "err.h"
#include "student.h"

/* Smallest number of iterations for which percentiles are computed. */
enum { SPREAD_LEAST = 10 };

/* Sums over the points of traces on m workers. */
struct spread_sums {
    double count, mean, square; /* Number of points, sum of the relative deviations of their times,
                                   and sum of the squared deviations, each multiplied by the number
                                   of iterations since the previous point. */
    double *single; /* Times of single iterations in seconds; if NULL, single iterations are only
                       counted. */
    size_t singles;
};

/* Adds the deviations of the iteration times of a trace from their mean, relative to the mean. */
static void sums_add(struct spread_sums *sums, const struct hm_trace *t)
{
    double mean = hm__trace_mean_seconds(t);

    for (size_t p = 0; p < t->count; p++) {
        double step = t->iteration[p] - (p > 0 ? t->iteration[p - 1] : 0);
        if (!isfinite(t->seconds[p]) || !(mean > 0) || !(step > 0))
            continue;
        double away = t->seconds[p] / mean - 1;
        sums->count++;
        sums->mean += away;
        sums->square += step * away * away;
        if (fabs(step - 1) > 1e-9)
            continue;
        if (sums->single)
            sums->single[sums->singles] = t->seconds[p];
        sums->singles++;
    }
}

/* Computes the spread of single iterations for the k-th measured number of workers from all traces
 * on it. */
static int spread_at(struct hm_pace *pace, size_t k, const struct hm_trace *const *traces,
                     size_t count, struct hm_err *err)
{
    struct spread_sums sums = {0};

    pace->low_s[k] = pace->high_s[k] = NAN;
    for (size_t t = 0; t < count; t++)
        sums_add(&sums, traces[t]);
    double room = (double)sums.singles;
    pace->deviation[k] = sums.count >= SPREAD_LEAST ? sqrt(sums.square / (sums.count - 1)) : 0;
    if (room < SPREAD_LEAST)
        return 0;
    sums = (struct spread_sums){.single = hm__calloc((size_t)room, sizeof(double))};
    if (!sums.single)
        return hm__fail_nomem(err);
    for (size_t t = 0; t < count; t++)
        sums_add(&sums, traces[t]);
    pace->low_s[k] = hm__quantile(sums.single, sums.singles, 0.05);
    pace->high_s[k] = hm__quantile(sums.single, sums.singles, 0.95);
    hm__free(sums.single);
    return 0;
}

int hm__pace_add_spread(struct hm_pace *pace, struct hm_arena *arena,
                        const struct hm_trace *const *traces, size_t count, struct hm_err *err)
{
    size_t from = 0, to = 0;
    int rc = 0;

    pace->low_s = hm__arena_alloc(arena, pace->count + 1, sizeof(double));
    pace->high_s = hm__arena_alloc(arena, pace->count + 1, sizeof(double));
    pace->deviation = hm__arena_alloc(arena, pace->count + 1, sizeof(double));
    if (!pace->low_s || !pace->high_s || !pace->deviation)
        return hm__fail_nomem(err);
    /* Both the traces and the measured numbers of workers are in ascending order. */
    for (size_t k = 0; rc == 0 && k < pace->count; k++) {
        for (from = to; from < count && traces[from]->m < pace->m[k]; from++)
            ;
        for (to = from; to < count && traces[to]->m == pace->m[k]; to++)
            ;
        rc = spread_at(pace, k, traces + from, to - from, err);
    }
    return rc;
}

/*
 * Returns the value of a table on m workers, divided by the measured seconds if `relative` is true.
 * It is interpolated in ln m between measured m; outside their range, the value at the nearest
 * measured m is used. Returns NaN if the value is unknown.
 */
static double table_at(const struct hm_pace *pace, const double *values, bool relative, double m)
{
    size_t right = 0;

    while (right + 1 < pace->count && pace->m[right] < m)
        right++;
    size_t left = right > 0 && pace->m[right] > m ? right - 1 : right;
    double a = values[left] / (relative ? pace->seconds[left] : 1);
    double b = values[right] / (relative ? pace->seconds[right] : 1);
    if (left == right)
        return a;
    double at = log(m / pace->m[left]) / log(pace->m[right] / pace->m[left]);
    return (1 - at) * a + at * b;
}

struct hm_pace_spread hm__pace_spread(const struct hm_pace *pace, double m)
{
    struct hm_pace_spread spread = {NAN, NAN, 0};

    if (pace->count == 0 || !pace->deviation)
        return spread;
    spread.low = table_at(pace, pace->low_s, true, m);
    spread.high = table_at(pace, pace->high_s, true, m);
    spread.deviation = table_at(pace, pace->deviation, false, m);
    return spread;
}
