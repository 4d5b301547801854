/* Predictions of measured training steps of large networks; see large_validate.h. */
#include "large_validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "sheet_spread.h"

static void predict_row(const struct hm_large_row *row, const struct hm_large_device *device,
                        const struct hm_large_constants *constants, struct hm_large_prediction *p)
{
    const struct hm_large_case situation = {device, &row->work, constants};
    struct hm_large_interval interval = hm__large_interval(device, &row->work);
    struct hm_large_memory memory;
    struct hm_large_step step;

    hm__large_row_eval(row, device, constants, &step);
    hm__large_memory(&situation, &row->layout, &memory);
    p->row = row;
    p->group = hm__large_group(device, &row->work);
    p->time_s = step.time_s;
    p->low_s = step.time_s * interval.low;
    p->high_s = step.time_s * interval.high;
    p->memory_bytes = memory.total;
    p->fits = memory.total <= HM_LARGE_MEMORY_SHARE * device->memory_bytes;
}

/*
 * Sets the intervals of the rows of one group: each source gets the interval that the other sources
 * of the group give. A group with a single source keeps the interval of plans.
 */
static void set_intervals(struct hm_large_prediction *p, size_t count, int group,
                          struct hm_sheet_row *others)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (p[i].healthy && p[i].row->time_s > 0 && (int)p[i].group == group)
            others[used++] =
                (struct hm_sheet_row){p[i].row->source, log(p[i].row->time_s / p[i].time_s)};
    for (size_t i = 0; i < count; i++) {
        struct hm_sheet_error error;
        if ((int)p[i].group != group)
            continue;
        /* Rows of a source follow one another, so the interval is often that of the row before. */
        bool same = i > 0 && (int)p[i - 1].group == group &&
                    strcmp(p[i - 1].row->source, p[i].row->source) == 0;
        if (same) {
            p[i].low_s = p[i].time_s * p[i - 1].low_s / p[i - 1].time_s;
            p[i].high_s = p[i].time_s * p[i - 1].high_s / p[i - 1].time_s;
        } else if (hm__sheet_estimate(others, used, p[i].row->source, &error) > 0) {
            struct hm_interval interval = hm__sheet_interval(&error);
            p[i].low_s = p[i].time_s * interval.low;
            p[i].high_s = p[i].time_s * interval.high;
        }
    }
}

int hm__large_predict(struct hm_large_rows *rows, struct hm_large_prediction *predictions,
                      struct hm_err *err)
{
    bool *healthy = hm__calloc(rows->count + 1, sizeof(*healthy));
    int rc = healthy ? 0 : hm__fail_nomem(err);

    if (rc == 0)
        hm__large_rows_healthy(rows, healthy);
    for (size_t i = 0; rc == 0 && i < rows->count; i++) {
        struct hm_large_device device;
        const struct hm_large_constants *constants = hm__large_without(rows->rows[i].source);
        rc = hm__large_row_prepare(&rows->rows[i], &device, err);
        if (rc)
            break;
        predict_row(&rows->rows[i], &device, constants ? constants : hm__large_fitted(),
                    &predictions[i]);
        predictions[i].healthy = healthy[i];
    }
    struct hm_sheet_row *others = rc == 0 ? hm__calloc(rows->count + 1, sizeof(*others)) : NULL;
    if (rc == 0 && !others)
        rc = hm__fail_nomem(err);
    for (int group = 0; rc == 0 && group < HM_LARGE_GROUPS; group++)
        set_intervals(predictions, rows->count, group, others);
    hm__free(others);
    hm__free(healthy);
    return rc;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof(*values), compare_numbers);
    return count % 2 ? values[count / 2] : .5 * (values[count / 2 - 1] + values[count / 2]);
}

/* Returns the errors of one source; `errors` is a buffer with room for all rows. */
static struct hm_large_score score_source(const struct hm_large_prediction *p, size_t count,
                                          const char *source, double *errors)
{
    struct hm_large_score score = {.source = source};
    size_t memory = 0, times = 0;

    for (size_t i = 0; i < count; i++) {
        const struct hm_large_row *row = p[i].row;
        if (strcmp(row->source, source) != 0)
            continue;
        /*
         * A crash may have other causes, but in a sweep of layouts the cause is mostly a lack of
         * memory.
         */
        if (!row->recompute_unknown) {
            score.outcomes++;
            score.outcomes_right += p[i].fits == (row->outcome == HM_LARGE_RAN);
        }
        if (!p[i].healthy)
            continue;
        errors[times] = fabs(p[i].time_s / row->time_s - 1);
        score.mean += errors[times++];
        score.inside += row->time_s >= p[i].low_s && row->time_s <= p[i].high_s;
    }
    score.rows = (double)times;
    score.mean /= score.rows;
    score.inside /= score.rows;
    score.outcomes_right /= score.outcomes;
    score.median = median_of(errors, times);
    for (size_t i = 0; i < count; i++)
        if (strcmp(p[i].row->source, source) == 0 && p[i].row->memory_bytes > 0)
            errors[memory++] = fabs(p[i].memory_bytes / p[i].row->memory_bytes - 1);
    score.memory_rows = (double)memory;
    score.memory_median = median_of(errors, memory);
    return score;
}

/* Returns the means over all sources; the memory error and the outcomes are those of all rows. */
static struct hm_large_score score_all(const struct hm_large_prediction *p, size_t count,
                                       const struct hm_large_score *scores, size_t sources,
                                       double *errors)
{
    struct hm_large_score all = {0};
    size_t memory = 0;
    double timed = 0;

    for (size_t i = 0; i < sources; i++) {
        all.outcomes += scores[i].outcomes;
        all.outcomes_right +=
            scores[i].outcomes > 0 ? scores[i].outcomes_right * scores[i].outcomes : 0;
        if (!(scores[i].rows > 0))
            continue;
        timed++;
        all.rows += scores[i].rows;
        all.mean += scores[i].mean;
        all.median += scores[i].median;
        all.inside += scores[i].inside * scores[i].rows;
    }
    all.mean /= timed;
    all.median /= timed;
    all.inside /= all.rows;
    all.outcomes_right /= all.outcomes;
    for (size_t i = 0; i < count; i++)
        if (p[i].row->memory_bytes > 0)
            errors[memory++] = fabs(p[i].memory_bytes / p[i].row->memory_bytes - 1);
    all.memory_rows = (double)memory;
    all.memory_median = median_of(errors, memory);
    return all;
}

size_t hm__large_scores(const struct hm_large_prediction *p, size_t count,
                        struct hm_large_score *ret_scores)
{
    double *errors = hm__calloc(count + 1, sizeof(*errors));
    size_t sources = 0;

    if (!errors)
        return 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < sources && strcmp(ret_scores[k].source, p[i].row->source) != 0)
            k++;
        if (k == sources && sources + 1 < HM_LARGE_SOURCES)
            ret_scores[sources++] = score_source(p, count, p[i].row->source, errors);
    }
    ret_scores[sources] = score_all(p, count, ret_scores, sources, errors);
    hm__free(errors);
    return sources + 1;
}
