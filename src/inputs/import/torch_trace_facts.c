/*
 * Computes when the device of a profiler trace computes and communicates, from unions and
 * intersections of time intervals, and writes the results as JSON members (facts).
 */
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

/* ---- intervals --------------------------------------------------------------------------------
 */

/*
 * Moves an element down in a heap of intervals; the interval with the latest start is at the top.
 */
static void sift_down(struct trace_interval *items, size_t at, size_t count)
{
    struct trace_interval item = items[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && items[child + 1].start > items[child].start)
            child++;
        if (items[child].start <= item.start)
            break;
        items[at] = items[child];
    }
    items[at] = item;
}

/*
 * Sorts intervals by start time without additional memory (heapsort), because qsort may copy the
 * whole list.
 */
static void sort_intervals(struct trace_list *l)
{
    bool sorted = true;

    for (size_t i = 1; sorted && i < l->count; i++)
        sorted = l->items[i - 1].start <= l->items[i].start;
    if (sorted)
        return;
    for (size_t i = l->count / 2; i-- > 0;)
        sift_down(l->items, i, l->count);
    for (size_t i = l->count; i-- > 1;) {
        struct trace_interval last = l->items[i];
        l->items[i] = l->items[0];
        l->items[0] = last;
        sift_down(l->items, 0, i);
    }
}

/* A range of consecutive intervals in a sorted list. */
struct trace_range {
    const struct trace_interval *at, *end;
};

/* Returns the first interval of a sorted list whose start is at or after `start`. */
static const struct trace_interval *find_start(const struct trace_list *l, int64_t start)
{
    size_t low = 0, high = l->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->items[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return l->items + low;
}

/*
 * Returns the intervals of a sorted list that start inside the interval `within`, or all if
 * `within` is NULL.
 */
static struct trace_range range_of(const struct trace_list *l, const struct trace_interval *within)
{
    if (l->count == 0)
        return (struct trace_range){NULL, NULL};
    if (!within)
        return (struct trace_range){l->items, l->items + l->count};
    return (struct trace_range){find_start(l, within->start), find_start(l, within->end)};
}

/*
 * Merges the next intervals of a range into one, as long as they touch or overlap; returns false at
 * the end of the range.
 */
static bool next_merged(struct trace_range *r, struct trace_interval *ret)
{
    if (r->at == r->end)
        return false;
    *ret = *r->at++;
    for (; r->at < r->end && r->at->start <= ret->end; r->at++)
        if (r->at->end > ret->end)
            ret->end = r->at->end;
    return true;
}

/* Returns the total time covered by at least one interval of several ranges. */
static int64_t union_length(struct trace_range *ranges, size_t count)
{
    int64_t length = 0, end = INT64_MIN;

    for (;;) {
        struct trace_range *first = NULL;
        for (size_t i = 0; i < count; i++)
            if (ranges[i].at < ranges[i].end && (!first || ranges[i].at->start < first->at->start))
                first = &ranges[i];
        if (!first)
            return length;
        const struct trace_interval *v = first->at++;
        if (v->end > end) {
            length += v->end - (v->start > end ? v->start : end);
            end = v->end;
        }
    }
}

/* Returns the total time covered by both ranges. */
static int64_t overlap_length(struct trace_range a, struct trace_range b)
{
    struct trace_interval x, y;
    int64_t length = 0;
    bool more = next_merged(&a, &x) && next_merged(&b, &y);

    while (more) {
        int64_t start = x.start > y.start ? x.start : y.start;
        int64_t end = x.end < y.end ? x.end : y.end;
        if (end > start)
            length += end - start;
        more = x.end < y.end ? next_merged(&a, &x) : next_merged(&b, &y);
    }
    return length;
}

/*
 * Number of kernels, and times in nanoseconds during which the device computed, communicated, did
 * both at the same time, or did any work, in the whole trace or in one step.
 */
struct device_time {
    double kernels;
    double intervals; /* Number of kernels, copies and settings of memory. */
    int64_t compute, comm, both, busy;
};

static void measure_device(const struct trace *t, const struct trace_interval *within,
                           struct device_time *ret)
{
    struct trace_range works[TRACE_WORKS];

    ret->intervals = 0;
    for (int k = 0; k < TRACE_WORKS; k++) {
        works[k] = range_of(&t->work[k], within);
        ret->intervals += (double)(works[k].end - works[k].at);
    }
    struct trace_range compute = works[TRACE_COMPUTE], comm = works[TRACE_COMM];
    ret->kernels = (double)(compute.end - compute.at) + (double)(comm.end - comm.at);
    ret->both = overlap_length(compute, comm);
    ret->compute = union_length(&compute, 1);
    ret->comm = union_length(&comm, 1);
    ret->busy = union_length(works, TRACE_WORKS);
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

static void put_device(struct trace *t, struct device_time *all)
{
    struct hm_json *j = &t->im->facts;
    struct trace_range copies = range_of(&t->work[TRACE_COPY], NULL);

    measure_device(t, NULL, all);
    hm__json_open(j, "gpu", HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(j, "kernels", all->kernels);
    hm__json_put_number(j, "compute_kernels", (double)t->work[TRACE_COMPUTE].count);
    hm__json_put_number(j, "comm_kernels", (double)t->work[TRACE_COMM].count);
    hm__json_put_number(j, "compute_sum_us", t->sums[TRACE_COMPUTE] / 1000);
    put_us(j, "compute_busy_us", all->compute);
    hm__json_put_number(j, "comm_sum_us", t->sums[TRACE_COMM] / 1000);
    put_us(j, "comm_busy_us", all->comm);
    put_us(j, "overlap_us", all->both);
    put_us(j, "exposed_comm_us", all->comm - all->both);
    put_us(j, "memcpy_busy_us", union_length(&copies, 1));
    put_us(j, "busy_us", all->busy);
    put_span(t);
    hm__json_open(j, "families_us", HM_JSON_OBJECT);
    for (int k = 0; k < TRACE_FAMILIES; k++)
        if (t->families[k] > 0)
            hm__json_put_number(j, hm__trace_families[k], t->families[k] / 1000);
    hm__json_close(j);
    hm__json_close(j);
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

/*
 * Steps follow each other, so each interval belongs to one of them. Steps that overlap are written
 * until they have had this number of kernels for each kernel of the trace.
 */
enum { OVERLAPS_MOST = 16 };

static void put_steps(struct trace *t, const struct device_time *all)
{
    struct hm_json *j = &t->im->facts;
    double most = OVERLAPS_MOST * (all->kernels + (double)t->work[TRACE_COPY].count +
                                   (double)t->work[TRACE_SET].count) +
                  1e6;
    double seen = 0;

    hm__json_open(j, "per_step", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < t->step_count; i++) {
        struct device_time d;
        if (seen > most) {
            hm__import_note(t->im, "the steps overlap: only the first %zu are listed", i);
            break;
        }
        measure_device(t, &t->steps[i].at, &d);
        seen += d.intervals;
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
        hm__json_put_number(j, "us", c->ns / 1000);
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

/* Adds the steps to the table of runs, with the number of workers in the trace, if it is known. */
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
    for (int k = 0; k < TRACE_WORKS; k++)
        sort_intervals(&t->work[k]);
    put_device(t, &all);
    put_steps(t, &all);
    put_collectives(t);
    put_runs(t, &all);
    hm__free(room);
    return 0;
}
