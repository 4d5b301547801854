/*
 * Converts traces to the points that the loss curve g(i, m) is fitted to.
 *
 * A trace of thousands of iterations is represented by about sixty points, evenly spaced in the
 * logarithm of the iteration i. Every number of workers m has the same weight, regardless of the
 * length and number of its traces, because g is needed between the measured m. Cross-validation
 * holds out all points with the same m, never single points, because neighbours in a trace are
 * strongly correlated. The smallest m is never held out, since predictions for fewer workers than
 * measured are not needed. With fewer than three values of m, blocks of iterations are held out
 * instead. Limit: each trace has at most HM_G_CURVE points.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "converge.h"
#include "err.h"

double hm__g_log(double loss, double best)
{
    return log(fmax(loss - best, HM_G_ROUNDING * fmax(fabs(best), fabs(loss))));
}

static bool loss_is_above_rounding(double loss, double best)
{
    return isinf(best) || loss - best > HM_G_ROUNDING * fmax(fabs(best), fabs(loss));
}

/*
 * Returns the index of the next point of a trace to keep after point `last`. The kept points are
 * evenly spaced in the logarithm of the iteration.
 */
static size_t trace_next_kept(const struct hm_trace *t, size_t last)
{
    double first = log(t->iteration[0]), end = log(t->iteration[t->count - 1]);
    double step = (end - first) / (HM_G_CURVE - 2), wanted = log(t->iteration[last]) + step;
    size_t next = last + 1;

    while (next + 1 < t->count && log(t->iteration[next]) < wanted - 1e-9)
        next++;
    return next;
}

int hm__g_thin(struct hm_g_curve *curve, struct hm_arena *arena, const struct hm_trace *t,
               double best, struct hm_err *err)
{
    *curve = (struct hm_g_curve){.m = t->m, .diverged = t->diverged};
    curve->iteration = hm__arena_alloc(arena, HM_G_CURVE, sizeof(double));
    curve->loss = hm__arena_alloc(arena, HM_G_CURVE, sizeof(double));
    if (!curve->iteration || !curve->loss)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < t->count; k = t->count < HM_G_CURVE ? k + 1 : trace_next_kept(t, k)) {
        if (loss_is_above_rounding(t->loss[k], best) && curve->count < HM_G_CURVE) {
            curve->iteration[curve->count] = t->iteration[k];
            curve->loss[curve->count++] = t->loss[k];
        }
    }
    return 0;
}

int hm__compare_traces_by_m(const void *a, const void *b)
{
    const struct hm_trace *x = *(const struct hm_trace *const *)a,
                          *y = *(const struct hm_trace *const *)b;

    return x->m != y->m ? (x->m < y->m ? -1 : 1) : x < y ? -1 : x > y;
}

bool hm__g_has_fresh(const struct hm_traces *traces, const char *algorithm)
{
    for (size_t k = 0; k < traces->count; k++)
        if (hm__g_takes(&traces->traces[k], algorithm, true))
            return true;
    return false;
}

/* Lists the traces that the points come from, in ascending order of the number of workers; returns
 * their number. */
static size_t list_traces(const struct hm_traces *traces, const char *algorithm, double leave_out,
                          const struct hm_trace **ret_traces)
{
    bool fresh = hm__g_has_fresh(traces, algorithm);
    size_t count = 0;

    for (size_t k = 0; k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        if (hm__g_takes(t, algorithm, fresh) && t->m != leave_out)
            ret_traces[count++] = t;
    }
    qsort(ret_traces, count, sizeof(*ret_traces), hm__compare_traces_by_m);
    return count;
}

static int data_gather(struct hm_g_data *data, struct hm_arena *arena,
                       const struct hm_traces *traces, const char *algorithm, double best,
                       double leave_out, struct hm_err *err)
{
    const struct hm_trace **listed = hm__arena_alloc(arena, traces->count + 1, sizeof(*listed));

    if (!listed)
        return hm__fail_nomem(err);
    size_t count = list_traces(traces, algorithm, leave_out, listed);
    data->curves = hm__arena_alloc(arena, count + 1, sizeof(*data->curves));
    data->ms = hm__arena_alloc(arena, count + 1, sizeof(*data->ms));
    if (!data->curves || !data->ms)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < count; k++) {
        struct hm_g_curve curve;
        int rc = hm__g_thin(&curve, arena, listed[k], best, err);
        if (rc)
            return rc;
        if (curve.count == 0)
            continue;
        data->curves[data->curve_count++] = curve;
        data->count += curve.count;
        data->last = fmax(data->last, listed[k]->iteration[listed[k]->count - 1]);
    }
    for (size_t c = 0; c < data->curve_count; c++)
        if (c == 0 || data->curves[c].m != data->curves[c - 1].m)
            data->ms[data->m_count++] = data->curves[c].m;
    return 0;
}

/* Returns the number of curves with the same number of workers as curve `from`, which is the first
 * of them. */
static size_t data_curves_from(const struct hm_g_data *data, size_t from)
{
    size_t end = from;

    while (end < data->curve_count && data->curves[end].m == data->curves[from].m)
        end++;
    return end - from;
}

/* Returns the index of the block that contains iteration i; blocks have equal length in ln i. */
static size_t data_block(const struct hm_g_data *data, double i)
{
    double share = data->last > 1 ? log(fmax(i, 1)) / log(data->last) : 0;
    size_t b = (size_t)(share * HM_G_BLOCKS);

    return b < HM_G_BLOCKS ? b : HM_G_BLOCKS - 1;
}

static void data_lay_out(struct hm_g_data *data, double best)
{
    size_t p = 0, fold = 0, alike = 0;

    for (size_t c = 0; c < data->curve_count; c++) {
        const struct hm_g_curve *curve = &data->curves[c];
        bool first = c == 0 || curve->m != data->curves[c - 1].m;
        if (first)
            alike = data_curves_from(data, c);
        double weight = 1 / ((double)curve->count * (double)alike);
        if (c > 0 && first && fold + 1 < HM_G_FOLDS)
            fold++;
        for (size_t k = 0; k < curve->count; k++, p++) {
            data->i[p] = curve->iteration[k];
            data->m[p] = curve->m;
            data->y[p] = hm__g_log(curve->loss[k], best);
            data->weight[p] = weight;
            data->fold[p] = data->by_m ? fold : data_block(data, curve->iteration[k]);
        }
    }
}

/* Returns whether there are points outside this fold. There are none if all iterations are in one
 * block. */
static bool data_has_others(const struct hm_g_data *data, size_t fold)
{
    size_t p = 0;

    while (p < data->count && data->fold[p] == fold)
        p++;
    return p < data->count;
}

int hm__g_data_init(struct hm_g_data *data, struct hm_arena *arena, const struct hm_traces *traces,
                    const char *algorithm, double best, double leave_out, struct hm_err *err)
{
    memset(data, 0, sizeof(*data));
    int rc = data_gather(data, arena, traces, algorithm, best, leave_out, err);
    if (rc)
        return rc;
    size_t room = data->count + 1;
    data->i = hm__arena_alloc(arena, room, sizeof(double));
    data->m = hm__arena_alloc(arena, room, sizeof(double));
    data->y = hm__arena_alloc(arena, room, sizeof(double));
    data->weight = hm__arena_alloc(arena, room, sizeof(double));
    data->fold = hm__arena_alloc(arena, room, sizeof(size_t));
    if (!data->i || !data->m || !data->y || !data->weight || !data->fold)
        return hm__fail_nomem(err);
    data->by_m = data->m_count >= 3;
    data->fold_count = !data->by_m                  ? HM_G_BLOCKS
                       : data->m_count < HM_G_FOLDS ? data->m_count
                                                    : HM_G_FOLDS;
    data_lay_out(data, best);
    for (size_t f = 0; f < data->fold_count; f++)
        data->held[f] = f > 0 && data_has_others(data, f);
    return 0;
}

void hm__g_fold_weights(double seed, size_t draw, size_t count, double *weights)
{
    struct hm_random random;

    hm__random_init(&random, (uint64_t)seed, 0x600000000u + draw);
    for (size_t f = 0; f < count; f++)
        weights[f] = -log(hm__random_uniform(&random));
}
