/* Lines of a trace: a head, looks with lists over the ranks, a summary. */
#include "compare_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

void compare_run_release(struct compare_run *run)
{
    free(run->looks);
    hm_text_free(run->command);
    *run = (struct compare_run){0};
}

/* The mean over ranks [first, last) of a list; NAN where there is none. */
static double mean_of(const struct hm_value *point, const char *key, double first, double last)
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

static struct compare_role role_of(const struct hm_value *point, double first, double last)
{
    return (struct compare_role){.compute = mean_of(point, "rank_compute", first, last),
                                 .cpu = mean_of(point, "rank_cpu", first, last),
                                 .sent = mean_of(point, "rank_sent", first, last),
                                 .received = mean_of(point, "rank_received", first, last),
                                 .memory = mean_of(point, "rank_memory", first, last)};
}

static void take_head(struct compare_run *run, const struct hm_value *head)
{
    const struct hm_value *data = hm__value_get(head, "data");
    double servers = hm__value_number(head, "servers");

    run->rows = hm__value_number(head, "rows");
    run->unknowns = hm__value_number(head, "unknowns");
    run->others = strcmp(run->way->platform, "driver") == 0 ? 1 : isnan(servers) ? 0 : servers;
    snprintf(run->data, sizeof(run->data), "%s",
             data && data->kind == HM_VALUE_SCALAR ? data->text : "");
}

static int take_look(struct compare_run *run, const struct hm_value *point)
{
    struct compare_look *looks = realloc(run->looks, (run->look_count + 1) * sizeof(*run->looks));

    if (!looks)
        return HM_E_NOMEM;
    run->looks = looks;
    looks[run->look_count++] =
        (struct compare_look){.elapsed_s = hm__value_number(point, "elapsed_s"),
                              .samples_per_s = hm__value_number(point, "samples_per_s"),
                              .worker = role_of(point, 0, run->n),
                              .other = role_of(point, run->n, run->n + run->others)};
    return 0;
}

static void take_summary(struct compare_run *run, const struct hm_value *summary)
{
    const struct hm_value *why = hm__value_get(summary, "stopped_by");

    run->iterations = hm__value_number(summary, "iterations");
    run->passes = hm__value_number(summary, "epochs");
    run->elapsed_s = hm__value_number(summary, "elapsed_s");
    run->compute_s = hm__value_number(summary, "compute_s");
    run->diverged = why && why->kind == HM_VALUE_SCALAR && strcmp(why->text, "diverged") == 0;
}

int compare_read_line(struct compare_run *run, const char *line)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object;
    int rc = arena ? 0 : HM_E_NOMEM;

    if (rc == 0 && line[0] == '{' &&
        hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0 &&
        object->kind == HM_VALUE_MAP) {
        if (hm__value_get(object, "run"))
            take_head(run, object);
        else if (hm__value_get(object, "iteration"))
            rc = take_look(run, object);
        else if (hm__value_get(object, "summary"))
            take_summary(run, object);
    }
    hm__arena_free(arena);
    return rc;
}

/* Means over time; the largest memory. */
static void add_role(struct compare_role *sum, const struct compare_role *one, double share)
{
    sum->compute += share * one->compute;
    sum->cpu += share * one->cpu;
    sum->sent += share * one->sent;
    sum->received += share * one->received;
    sum->memory = one->memory > sum->memory || isnan(one->memory) ? one->memory : sum->memory;
}

bool compare_read_end(struct compare_run *run)
{
    double before = 0;

    if (!(run->elapsed_s > 0) || run->look_count == 0)
        return false;
    run->samples_per_s = 0;
    run->worker = run->other = (struct compare_role){0};
    for (size_t i = 0; i < run->look_count; i++) {
        const struct compare_look *look = &run->looks[i];
        double share = (look->elapsed_s - before) / run->elapsed_s;
        run->samples_per_s += share * look->samples_per_s;
        add_role(&run->worker, &look->worker, share);
        add_role(&run->other, &look->other, share);
        before = look->elapsed_s;
    }
    return true;
}

double compare_scaled_speed(const struct compare_run *run, double rows)
{
    double rest_s = run->elapsed_s - run->compute_s;

    return run->passes * rows / (run->compute_s * rows / run->rows + rest_s);
}
