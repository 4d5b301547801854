/*
 * Finds the latency a and the time per byte b of links from messages: the time of a message of M
 * bytes is a + b M. Both are found by least squares of the relative errors, so that short and long
 * messages have the same weight; neither is negative.
 *
 * If only all-reduces were timed (nccl-tests), the model of all-reduces (allreduce.c) is inverted.
 * The bandwidth is chosen so that the median error of the model is 0 for the largest quarter of the
 * messages, and the latency so that it is 0 for the smallest quarter.
 *
 * Limits: MPI changes its protocol with the size of a message, and one straight line does not
 * describe this.
 */
#include "calibration_links.h"

#include <math.h>
#include <stdlib.h>

#include "allreduce.h"
#include "err.h"
#include "order.h"

enum { PAIRS = 256 };

struct link_rows {
    const struct hm_timing *rows[PAIRS]; /* Timed messages, sorted by their number of bytes. */
    size_t count;
};

static int compare_bytes(const void *a, const void *b)
{
    const struct hm_timing *x = *(const struct hm_timing *const *)a;
    const struct hm_timing *y = *(const struct hm_timing *const *)b;
    return x->shape[0] < y->shape[0] ? -1 : x->shape[0] > y->shape[0];
}

/* Collects the messages of one kind: the messages inside a node, or the messages between nodes. */
static void gather_rows(const struct hm_timings *t, enum hm_timed what, bool between,
                        struct link_rows *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < t->count && ret->count < PAIRS; i++)
        if (t->rows[i].what == what && (t->rows[i].nodes > 1) == between)
            ret->rows[ret->count++] = &t->rows[i];
    qsort(ret->rows, ret->count, sizeof(ret->rows[0]), compare_bytes);
}

/* Fits a + b M to messages between two ranks. Returns false if there are too few messages. */
static bool fit_line(const struct link_rows *r, struct hm_link *ret_link)
{
    double w = 0, wx = 0, wxx = 0, wt = 0, wxt = 0;

    if (r->count < 2 || r->rows[0]->shape[0] == r->rows[r->count - 1]->shape[0])
        return false;
    for (size_t i = 0; i < r->count; i++) {
        double x = r->rows[i]->shape[0], t = r->rows[i]->seconds, weight = 1 / (t * t);
        w += weight;
        wx += weight * x;
        wxx += weight * x * x;
        wt += weight * t;
        wxt += weight * x * t;
    }
    double determinant = w * wxx - wx * wx;
    double a = (wxx * wt - wx * wxt) / determinant, b = (w * wxt - wx * wt) / determinant;
    if (!(a >= 0)) {
        a = 0;
        b = wxt / wxx;
    }
    if (!(b > 0))
        return false;
    *ret_link = (struct hm_link){.bandwidth_bytes_per_s = 1 / b, .latency_s = a};
    return true;
}

static double allreduce_time(const struct hm_calibrated *m, const struct hm_timing *t)
{
    const struct hm_wires wires = {.fabric = m->fabric,
                                   .link = m->node.link,
                                   .per_node = ceil(t->workers / t->nodes),
                                   .servers = 1};

    if (m->gpu) {
        struct hm_allreduce a =
            hm__allreduce_init(HM_SCHEME_BEST, t->workers, &wires, &hm__constants);
        struct hm_wire_time time = hm__allreduce_time(&a, t->shape[0]);
        return time.latency_s + time.bandwidth_s;
    }
    struct hm_wire_time time = hm__collective_eval(HM_SCHEME_BEST, t->workers, t->shape[0], &wires);
    return time.latency_s + time.bandwidth_s;
}

double hm__links_time(const struct hm_calibrated *m, const struct hm_timing *t)
{
    const struct hm_link *link = t->nodes > 1 ? &m->fabric : &m->node.link;

    if (!(link->bandwidth_bytes_per_s > 0))
        return NAN;
    if (t->what == HM_TIMED_SEND)
        return link->latency_s + t->shape[0] / link->bandwidth_bytes_per_s;
    return allreduce_time(m, t);
}

/* Returns the median of ln(model / measured) over the messages with indices first .. first + count
 * - 1. */
static double rows_error(const struct hm_calibrated *m, const struct link_rows *r, size_t first,
                         size_t count)
{
    double errors[PAIRS];

    for (size_t i = 0; i < count; i++)
        errors[i] = log(allreduce_time(m, r->rows[first + i]) / r->rows[first + i]->seconds);
    return hm__values_median(errors, count);
}

/*
 * Finds the latency or bandwidth of a link, in [low, high], for which the median error of the model
 * is 0 over the messages with the indices first .. first + count - 1. `falls` is true if the time
 * decreases as the value grows.
 */
static void solve_figure(struct hm_calibrated *m, const struct link_rows *r, size_t first,
                         size_t count, double *figure, double low, double high, bool falls)
{
    for (int i = 0; i < 60; i++) {
        *figure = sqrt(low * high);
        if ((rows_error(m, r, first, count) > 0) == falls)
            low = *figure;
        else
            high = *figure;
    }
}

/*
 * Finds the latency and the bandwidth of a link from all-reduces, by alternately fitting one of
 * them while the other is fixed.
 */
static void fit_allreduce(struct hm_calibrated *m, const struct link_rows *r, struct hm_link *link)
{
    size_t few = r->count > 4 ? r->count / 4 : 1;

    *link = (struct hm_link){.bandwidth_bytes_per_s = 1e10,
                             .latency_s = 1e-6,
                             .reduces = link->reduces,
                             .mesh = link->mesh};
    for (int i = 0; i < 4; i++) {
        solve_figure(m, r, r->count - few, few, &link->bandwidth_bytes_per_s, 1e5, 1e14, true);
        solve_figure(m, r, 0, few, &link->latency_s, 1e-9, 1, false);
    }
}

/* Sets one link from messages if there are any, else from all-reduces. */
static bool set_link(const struct hm_timings *t, bool between, struct hm_calibrated *m,
                     struct hm_link *link)
{
    struct link_rows rows;

    gather_rows(t, HM_TIMED_SEND, between, &rows);
    if (fit_line(&rows, link))
        return true;
    gather_rows(t, HM_TIMED_ALL_REDUCE, between, &rows);
    if (rows.count < 2)
        return false;
    fit_allreduce(m, &rows, link);
    return true;
}

int hm__links_fit(const struct hm_timings *t, struct hm_calibrated *m, struct hm_err *err)
{
    bool any = set_link(t, false, m, &m->node.link);

    any = set_link(t, true, m, &m->fabric) || any;
    if (t->workers > 0)
        m->node.accelerators = t->workers;
    /* If no worker was timed, each rank counts as a worker. */
    for (size_t i = 0; !m->timed && i < t->count; i++)
        if (t->rows[i].what == HM_TIMED_ALL_REDUCE)
            m->node.accelerators =
                fmax(m->node.accelerators, ceil(t->rows[i].workers / t->rows[i].nodes));
    if (any || m->timed)
        return 0;
    return hm__fail(err, HM_E_MISSING,
                    "no operation and no messages of two sizes were timed: nothing is known about "
                    "the machine");
}
