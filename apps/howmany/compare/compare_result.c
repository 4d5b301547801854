/* Reads the trace of a run: a header line, then points with one value for each rank, then a summary
 * line. */
#include "compare_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

void compare_result_release(struct compare_result *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->runs[i].intervals);
        hm_text_free(r->runs[i].command);
    }
    compare_measured_release(&r->measured);
    free(r->runs);
    r->runs = NULL;
    r->count = 0;
}

/* Returns the mean of a list that has one value per rank, over the ranks [first, last); NAN if the
 * list is missing. */
static double mean_over_ranks(const struct hm_value *point, const char *key, double first,
                              double last)
{
    const struct hm_value *list = hm__value_get(point, key);
    double sum = 0, value;

    if (!list || list->kind != HM_VALUE_LIST || (double)list->count < last || last <= first)
        return NAN;
    for (size_t i = (size_t)first; i < (size_t)last; i++) {
        const struct hm_value *item = &list->items[i];
        if (item->kind != HM_VALUE_SCALAR || hm__number_read(item->text, &value) == 0)
            return NAN;
        sum += value;
    }
    return sum / (last - first);
}

static struct compare_role role_over_ranks(const struct hm_value *point, double first, double last)
{
    return (struct compare_role){.compute = mean_over_ranks(point, "rank_compute", first, last),
                                 .cpu = mean_over_ranks(point, "rank_cpu", first, last),
                                 .sent = mean_over_ranks(point, "rank_sent", first, last),
                                 .received = mean_over_ranks(point, "rank_received", first, last),
                                 .memory = mean_over_ranks(point, "rank_memory", first, last)};
}

static void read_head(struct compare_run *run, const struct hm_value *head)
{
    const struct hm_value *data = hm__value_get(head, "data");
    double servers = hm__value_number(head, "servers");

    run->rows = hm__value_number(head, "rows");
    run->unknowns = hm__value_number(head, "unknowns");
    run->others = strcmp(run->way->platform, "driver") == 0 ? 1 : isnan(servers) ? 0 : servers;
    snprintf(run->data, sizeof(run->data), "%s",
             data && data->kind == HM_VALUE_SCALAR ? data->text : "");
}

static int read_interval(struct compare_run *run, const struct hm_value *point)
{
    struct compare_interval *intervals =
        realloc(run->intervals, (run->interval_count + 1) * sizeof(*run->intervals));

    if (!intervals)
        return HM_E_NOMEM;
    run->intervals = intervals;
    intervals[run->interval_count++] =
        (struct compare_interval){.elapsed_s = hm__value_number(point, "elapsed_s"),
                                  .samples_per_s = hm__value_number(point, "samples_per_s"),
                                  .worker = role_over_ranks(point, 0, run->n),
                                  .other = role_over_ranks(point, run->n, run->n + run->others)};
    return 0;
}

static void read_summary(struct compare_run *run, const struct hm_value *summary)
{
    const struct hm_value *why = hm__value_get(summary, "stopped_by");

    run->iterations = hm__value_number(summary, "iterations");
    run->passes = hm__value_number(summary, "epochs");
    run->elapsed_s = hm__value_number(summary, "elapsed_s");
    run->compute_s = hm__value_number(summary, "compute_s");
    run->diverged = why && why->kind == HM_VALUE_SCALAR && strcmp(why->text, "diverged") == 0;
}

int compare_run_read_line(struct compare_run *run, const char *line)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object;
    int rc = arena ? 0 : HM_E_NOMEM;

    if (rc == 0 && line[0] == '{' &&
        hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0 &&
        object->kind == HM_VALUE_MAP) {
        if (hm__value_get(object, "run"))
            read_head(run, object);
        else if (hm__value_get(object, "iteration"))
            rc = read_interval(run, object);
        else if (hm__value_get(object, "summary"))
            read_summary(run, object);
    }
    hm__arena_free(arena);
    return rc;
}

/*
 * Adds the means over a time interval to the means of the run, weighted by the interval's share of
 * the run's time; for the memory, uses the maximum instead.
 */
static void add_role_share(struct compare_role *sum, const struct compare_role *one, double share)
{
    sum->compute += share * one->compute;
    sum->cpu += share * one->cpu;
    sum->sent += share * one->sent;
    sum->received += share * one->received;
    sum->memory = one->memory > sum->memory || isnan(one->memory) ? one->memory : sum->memory;
}

bool compare_run_finish(struct compare_run *run)
{
    double before = 0;

    if (!(run->elapsed_s > 0) || run->interval_count == 0)
        return false;
    run->samples_per_s = 0;
    run->worker = run->other = (struct compare_role){0};
    for (size_t i = 0; i < run->interval_count; i++) {
        const struct compare_interval *interval = &run->intervals[i];
        double share = (interval->elapsed_s - before) / run->elapsed_s;
        run->samples_per_s += share * interval->samples_per_s;
        add_role_share(&run->worker, &interval->worker, share);
        add_role_share(&run->other, &interval->other, share);
        before = interval->elapsed_s;
    }
    return true;
}

double compare_scaled_speed(const struct compare_run *run, double rows)
{
    double rest_s = run->elapsed_s - run->compute_s;

    return run->passes * rows / (run->compute_s * rows / run->rows + rest_s);
}
