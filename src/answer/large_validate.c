/* Predicts measured training steps of large networks; see large_validate.h. */
#include "large_validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "order.h"

static void predict_row(const struct hm_large_row *row, const struct hm_large_device *device,
                        bool alone, struct hm_large_prediction *p)
{
    const struct hm_large_constants *without = hm__large_without(row->source);
    const struct hm_large_constants *constants = without ? without : hm__large_fitted();
    const struct hm_large_case situation = {device, &row->work, constants};
    struct hm_large_memory memory;
    struct hm_large_step step;

    hm__large_row_eval(row, device, constants, &step);
    hm__large_memory(&situation, &row->layout, &memory);
    const struct hm_large_interval interval =
        hm__large_interval(hm__large_spread_without(row->source, alone ? row->model : NULL), device,
                           &row->work, &step);
    p->row = row;
    p->time_s = step.time_s;
    p->low_s = step.time_s * interval.low;
    p->high_s = step.time_s * interval.high;
    p->memory_bytes = memory.total;
    p->fits = memory.total <= device->memory_bytes;
}

/*
 * Returns whether most of the compared measurements in the group of row k come from its source, so
 * that the other sources have too few measurements to estimate an interval.
 */
static bool is_alone(const struct hm_large_rows *rows, const struct hm_large_prediction *p,
                     size_t k)
{
    double same = 0, all = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (p[i].healthy && p[i].group == p[k].group) {
            all++;
            same += strcmp(rows->rows[i].source, rows->rows[k].source) == 0;
        }
    return same >= HM_LARGE_ALONE * all;
}

int hm__large_predict(struct hm_large_rows *rows, struct hm_large_prediction *predictions,
                      struct hm_err *err)
{
    bool *healthy = hm__calloc(rows->count + 1, sizeof(*healthy));
    struct hm_large_device *devices = hm__calloc(rows->count + 1, sizeof(*devices));
    int rc = healthy && devices ? 0 : hm__fail_nomem(err);

    if (rc == 0)
        hm__large_rows_healthy(rows, healthy);
    for (size_t i = 0; rc == 0 && i < rows->count; i++) {
        rc = hm__large_row_prepare(&rows->rows[i], &devices[i], err);
        predictions[i].healthy = healthy[i];
        predictions[i].group = hm__large_group(&devices[i], &rows->rows[i].work);
    }
    for (size_t i = 0; rc == 0 && i < rows->count; i++)
        predict_row(&rows->rows[i], &devices[i], is_alone(rows, predictions, i), &predictions[i]);
    hm__free(devices);
    hm__free(healthy);
    return rc;
}

/* Returns the errors of the predictions for one source; `errors` is a buffer with room for all rows
 * of the table. */
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
         * A crash may have other causes, but in a sweep of layouts the cause is usually a lack of
         * memory, so it counts as out of memory.
         */
        if (!row->recompute_unknown && row->outcome != HM_LARGE_TIMED) {
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
    score.median = hm__values_median(errors, times);
    for (size_t i = 0; i < count; i++)
        if (strcmp(p[i].row->source, source) == 0 && p[i].row->memory_bytes > 0)
            errors[memory++] = fabs(p[i].memory_bytes / p[i].row->memory_bytes - 1);
    score.memory_rows = (double)memory;
    score.memory_median = hm__values_median(errors, memory);
    return score;
}

/*
 * Returns the means of the errors over all sources; the memory error and the share of correct
 * outcomes are computed over all rows together.
 */
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
    all.memory_median = hm__values_median(errors, memory);
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
