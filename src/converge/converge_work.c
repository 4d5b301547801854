/*
 * Estimates the work of fitting loss curves to traces. A fit takes about the same time for each
 * trace. Hold-outs fit all traces again, and those of an algorithm once for each number of workers
 * that is left out; looking ahead fits small models to a window that ends at each point of a trace.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "admit.h"
#include "err.h"
#include "hold_out.h"
#include "memory.h"

/* The traces in the order of algorithms and numbers of workers, so that both can be counted. */
static int compare_traces(const void *a, const void *b)
{
    const struct hm_trace *x = *(const struct hm_trace *const *)a,
                          *y = *(const struct hm_trace *const *)b;
    int order = strcmp(x->algorithm, y->algorithm);

    return order ? order : (x->m > y->m) - (x->m < y->m);
}

/* Returns the number of fits to a trace if each number of workers is left out in turn, or only the
 * number `only` if it is above 0. `sorted` has the traces in the order of compare_traces. */
static double count_left_out(const struct hm_trace *const *sorted, size_t count, double only)
{
    double fits = 0;

    for (size_t from = 0, to; from < count; from = to) {
        double different = 1, all, left;
        for (to = from + 1;
             to < count && strcmp(sorted[to]->algorithm, sorted[from]->algorithm) == 0; to++)
            different += sorted[to]->m != sorted[to - 1]->m;
        all = (double)(to - from);
        left = only > 0 ? 1 : different;
        /* At least three numbers of workers are needed. A fit leaves out the traces on one. */
        fits += different > 2 ? left * all * (1 - 1 / different) : 0;
    }
    return fits;
}

/* Counts the windows of all traces; *ret_points is the number of points of a window. */
static double count_windows(const struct hm_traces *traces, double window, double *ret_points)
{
    double windows = 0, points = 0;

    for (size_t k = 0; k < traces->count; k++) {
        double count = (double)traces->traces[k].count, here = fmax(0, count - window);
        windows += here;
        points += here * fmin(window, count);
    }
    *ret_points = windows > 0 ? points / windows : 0;
    return windows;
}

/* Estimates the small fits of looking ahead. */
static int admit_ahead(const struct hm_traces *traces, const struct hm_holdout_settings *s,
                       struct hm_err *err)
{
    double points, window = s->window > 0 ? s->window : HM_HOLD_OUT_WINDOW;
    double windows = count_windows(traces, fmax(window, 1), &points);
    const struct hm_work_factor factors[] = {{"traces", windows, "points of traces"},
                                             {"window", points, "points of a window"},
                                             {NULL, HM_HOLD_OUT_SHAPES, "small fits"}};

    return hm__admit(HM_STEP_ROW, factors, sizeof(factors) / sizeof(factors[0]), err);
}

int hm__converge_admit(const struct hm_traces *traces, const struct hm_holdout_settings *s,
                       struct hm_err *err)
{
    const bool ahead = s && (s->ahead > 0 || s->ahead_s > 0), each = s && !s->only_ahead;
    double count = (double)traces->count, fits = s ? 2 * count : count;
    const struct hm_trace **sorted = hm__calloc(traces->count + 1, sizeof(*sorted));

    if (!sorted)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < traces->count; k++)
        sorted[k] = &traces->traces[k];
    if (ahead || each) {
        qsort(sorted, traces->count, sizeof(*sorted), compare_traces);
        fits += count_left_out(sorted, traces->count, ahead ? 0 : s->converge.leave_out);
    }
    hm__free(sorted);
    const struct hm_work_factor factors[] = {{"traces", count, "traces"},
                                             {each ? "leave_out" : "ahead", fits / count, "fits"}};
    int rc = count > 0 ? hm__admit(HM_STEP_TRACE, factors, s ? 2 : 1, err) : 0;
    return rc == 0 && ahead ? admit_ahead(traces, s, err) : rc;
}
