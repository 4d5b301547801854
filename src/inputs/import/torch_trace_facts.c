/* Computes unions and intersections of the intervals of a profiler trace, and writes its facts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "torch_trace.h"

bool hm__trace_add(struct trace_list *l, int64_t start, int64_t end)
{
    if (l->count == l->room) {
        size_t room = l->room ? l->room + l->room / 2 : 1024;
        struct trace_interval *more = hm__realloc(l->items, room, sizeof(*more));
        if (!more)
            return false;
        l->items = more;
        l->room = room;
    }
    l->items[l->count++] = (struct trace_interval){start, end};
    return true;
}

static int compare_starts(const void *a, const void *b)
{
    const struct trace_interval *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

/* Appends the intervals of `from` that start inside the interval `within`; if it is NULL, appends
 * all. */
static bool take_intervals(struct trace_list *to, const struct trace_list *from,
                           const struct trace_interval *within)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct trace_interval *v = &from->items[i];
        if ((!within || (v->start >= within->start && v->start < within->end)) &&
            !hm__trace_add(to, v->start, v->end))
            return false;
    }
    return true;
}

/* Sorts intervals and merges those that touch or overlap; returns the total length. */
static int64_t merge_intervals(struct trace_list *l)
{
    int64_t length = 0;
    size_t kept = 0;

    if (l->count > 0)
        qsort(l->items, l->count, sizeof(*l->items), compare_starts);
    for (size_t i = 0; i < l->count; i++) {
        if (kept > 0 && l->items[i].start <= l->items[kept - 1].end) {
            if (l->items[i].end > l->items[kept - 1].end)
                l->items[kept - 1].end = l->items[i].end;
        } else {
            l->items[kept++] = l->items[i];
        }
    }
    l->count = kept;
    for (size_t i = 0; i < kept; i++)
        length += l->items[i].end - l->items[i].start;
    return length;
}

/* Returns the length of the intersection of two merged lists. */
static int64_t overlap_length(const struct trace_list *a, const struct trace_list *b)
{
    int64_t length = 0;

    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        int64_t start =
            a->items[i].start > b->items[k].start ? a->items[i].start : b->items[k].start;
        int64_t end = a->items[i].end < b->items[k].end ? a->items[i].end : b->items[k].end;
        if (end > start)
            length += end - start;
        if (a->items[i].end < b->items[k].end)
            i++;
        else
            k++;
    }
    return length;
}

/* Kernels and nanoseconds of the device in the whole trace, or in one step. */
struct device_time {
    double kernels;
    int64_t compute, comm, both, busy;
};

static bool measure_device(const struct trace *t, const struct trace_interval *within,
                           struct device_time *ret)
{
    struct trace_list compute = {0}, comm = {0}, all = {0};
    bool ok = take_intervals(&compute, &t->work[TRACE_COMPUTE], within) &&
              take_intervals(&comm, &t->work[TRACE_COMM], within);

    ret->kernels = (double)(compute.count + comm.count);
    for (int k = 0; ok && k < TRACE_WORKS; k++)
        ok = take_intervals(&all, &t->work[k], within);
    ret->compute = merge_intervals(&compute);
    ret->comm = merge_intervals(&comm);
    ret->both = overlap_length(&compute, &comm);
    ret->busy = merge_intervals(&all);
    hm__free(compute.items);
    hm__free(comm.items);
    hm__free(all.items);
    return ok;
}

static void put_us(struct hm_json *j, const char *key, int64_t ns)
{
    hm__json_put_number(j, key, (double)ns / 1000);
}

static void put_span(struct trace *t)
{
    int64_t first = INT64_MAX, last = INT64_MIN;

    for (int k = 0; k < TRACE_WORKS; k++)
        for (size_t i = 0; i < t->work[k].count; i++) {
            const struct trace_interval *v = &t->work[k].items[i];
            first = v->start < first ? v->start : first;
            last = v->end > last ? v->end : last;
        }
    put_us(&t->im->facts, "span_us", last > first ? last - first : 0);
}

static bool put_device(struct trace *t, struct device_time *all)
{
    struct hm_json *j = &t->im->facts;
    struct trace_list copies = {0};
    bool ok = measure_device(t, NULL, all) && take_intervals(&copies, &t->work[TRACE_COPY], NULL);

    hm__json_open(j, "gpu", HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(j, "kernels", all->kernels);
    hm__json_put_number(j, "compute_kernels", (double)t->work[TRACE_COMPUTE].count);
    hm__json_put_number(j, "comm_kernels", (double)t->work[TRACE_COMM].count);
    put_us(j, "compute_sum_us", t->sums[TRACE_COMPUTE]);
    put_us(j, "compute_busy_us", all->compute);
    put_us(j, "comm_sum_us", t->sums[TRACE_COMM]);
    put_us(j, "comm_busy_us", all->comm);
    put_us(j, "overlap_us", all->both);
    put_us(j, "exposed_comm_us", all->comm - all->both);
    put_us(j, "memcpy_busy_us", merge_intervals(&copies));
    put_us(j, "busy_us", all->busy);
    put_span(t);
    hm__json_open(j, "families_us", HM_JSON_OBJECT);
    for (int k = 0; k < TRACE_FAMILIES; k++)
        if (t->families[k] > 0)
            hm__json_put_number(j, hm__trace_families[k], t->families[k] / 1000);
    hm__json_close(j);
    hm__json_close(j);
    hm__free(copies.items);
    return ok;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static int compare_steps(const void *a, const void *b)
{
    const struct trace_step *x = a, *y = b;

    return x->at.start < y->at.start ? -1 : x->at.start > y->at.start;
}

static double step_us(const struct trace_step *s)
{
    return (double)(s->at.end - s->at.start) / 1000;
}

static double median_us(const struct trace *t, double *room)
{
    size_t n = t->step_count;

    for (size_t i = 0; i < n; i++)
        room[i] = step_us(&t->steps[i]);
    if (n == 0)
        return NAN;
    qsort(room, n, sizeof(*room), hm__compare_numbers);
    return n % 2 ? room[n / 2] : (room[n / 2 - 1] + room[n / 2]) / 2;
}

static bool put_steps(struct trace *t)
{
    struct hm_json *j = &t->im->facts;
    bool ok = true;

    hm__json_open(j, "per_step", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; ok && i < t->step_count; i++) {
        struct device_time d;
        ok = measure_device(t, &t->steps[i].at, &d);
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_number(j, "step", t->steps[i].number);
        hm__json_put_number(j, "us", step_us(&t->steps[i]));
        hm__json_put_number(j, "kernels", d.kernels);
        put_us(j, "compute_busy_us", d.compute);
        put_us(j, "comm_busy_us", d.comm);
        put_us(j, "overlap_us", d.both);
        put_us(j, "busy_us", d.busy);
        hm__json_close(j);
    }
    hm__json_close(j);
    return ok;
}

/* ---- collectives ------------------------------------------------------------------------------
 */

static double dtype_bytes(const char *type)
{
    static const struct {
        const char *name;
        double bytes;
    } widths[] = {{"Float", 4}, {"Double", 8}, {"Half", 2}, {"BFloat16", 2}, {"Long", 8},
                  {"Int", 4},   {"Byte", 1},   {"Char", 1}, {"Bool", 1},     {"Short", 2}};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (strcmp(widths[i].name, type) == 0)
            return widths[i].bytes;
    return NAN;
}

static int compare_collectives(const void *a, const void *b)
{
    const struct trace_collective *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->dtype, y->dtype);
}

static void put_collectives(struct trace *t)
{
    struct hm_json *j = &t->im->facts;

    if (t->collective_count > 0)
        qsort(t->collectives, t->collective_count, sizeof(*t->collectives), compare_collectives);
    hm__json_open(j, "collectives", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < t->collective_count; i++) {
        const struct trace_collective *c = &t->collectives[i];
        hm__json_open(j, NULL, HM_JSON_OBJECT);
        hm__json_put_text(j, "name", c->name);
        hm__json_put_number(j, "group_size", c->group_size);
        hm__json_put_text(j, "dtype", c->dtype[0] ? c->dtype : NULL);
        hm__json_put_number(j, "kernels", c->kernels);
        put_us(j, "us", c->ns);
        hm__json_put_number(j, "in_elements", c->elements);
        hm__json_put_number(j, "in_bytes", c->elements * dtype_bytes(c->dtype));
        hm__json_close(j);
    }
    hm__json_close(j);
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static void put_head(struct trace *t)
{
    struct hm_json *j = &t->im->facts;

    hm__json_put_number(j, "events", t->events);
    hm__json_put_number(j, "complete_events", t->complete);
    hm__json_put_number(j, "schema", t->schema);
    hm__json_put_text(j, "display_time_unit", t->unit[0] ? t->unit : NULL);
    hm__json_put_text(j, "backend", t->backend[0] ? t->backend : NULL);
    hm__json_put_number(j, "rank", t->rank);
    hm__json_put_number(j, "world_size", t->world);
    hm__json_put_text(j, "device", t->device[0] ? t->device : NULL);
    hm__json_put_number(j, "devices", t->devices);
    hm__json_put_number(j, "cpu_ops", t->cpu_ops);
}

/* Adds the steps to the table of runs, with the number of workers that the trace gives. */
static void put_runs(struct trace *t, const struct device_time *all)
{
    double n = hm__import_n(t->im, t->world);
    double host = 0, step = 0;

    hm__import_columns(&t->im->runs, "n,seconds");
    for (size_t i = 0; i < t->step_count; i++) {
        const struct hm_import_cell cells[] = {hm__cell(n), hm__cell(step_us(&t->steps[i]) / 1e6)};
        hm__import_row(t->im, &t->im->runs, cells);
        step += step_us(&t->steps[i]);
    }
    host = t->step_count > 0 ? 1 - (double)all->busy / 1000 / step : NAN;
    hm__json_put_number(&t->im->facts, "host_bound_share", host > 0 ? host : NAN);
    hm__import_took(t->im, (double)t->step_count, "steps as runs");
    hm__import_took(t->im, all->kernels, "kernels");
    if (t->step_count == 0)
        hm__import_note(t->im, "the trace has no steps (ProfilerStep#k)");
    hm__import_left(t->im, t->events - all->kernels - (double)t->step_count, "other events");
}

int hm__trace_finish(struct trace *t, struct hm_err *err)
{
    struct hm_json *j = &t->im->facts;
    double *room = hm__calloc(t->step_count + 1, sizeof(*room));
    struct device_time all;

    if (!room)
        return hm__fail_nomem(err);
    if (t->step_count > 0)
        qsort(t->steps, t->step_count, sizeof(*t->steps), compare_steps);
    put_head(t);
    hm__json_put_number(j, "steps", (double)t->step_count);
    for (size_t i = 0; i < t->step_count; i++)
        room[i] = step_us(&t->steps[i]);
    hm__json_put_numbers(j, "step_us", room, t->step_count);
    hm__json_put_number(j, "median_step_us", median_us(t, room));
    bool ok = put_device(t, &all) && put_steps(t);
    put_collectives(t);
    put_runs(t, &all);
    hm__free(room);
    return ok ? 0 : hm__fail_nomem(err);
}
