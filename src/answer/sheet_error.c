/*
 * Sets the uncertainty of a plan without runs: each point receives the 90 % interval for its kind
 * of job and hardware from the table of measured errors (src/model/sheet_spread.c). If the machine
 * was calibrated, the uncertainty of its measured rates is added; the two errors are independent,
 * so their squares are added.
 */
#include "sheet_error.h"

#include <math.h>

#include "sheet_spread.h"

static const double SHEET_LEVEL =
    0.9; /* Probability that an interval from the table contains the measured time. */

static struct hm_sheet_error point_sheet_error(const struct hm_search *s, const struct hm_point *p)
{
    struct hm_sheet_error error =
        hm__sheet_errors[hm__sheet_kind(s->job, s->cluster, &s->way, p->n)];
    const double calibrated = s->cluster ? s->cluster->node.measured.uncertainty : NAN;

    if (calibrated > 0)
        error.spread = hypot(error.spread, calibrated);
    return error;
}

double hm__sheet_intervals(const struct hm_search *s, struct hm_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hm_point *p = &points[i];
        const struct hm_sheet_error error = point_sheet_error(s, p);
        const struct hm_interval interval = hm__sheet_interval(&error);
        p->low_s = p->time_s * interval.low;
        p->high_s = p->time_s * interval.high;
    }
    return SHEET_LEVEL;
}

void hm__answer_sheet_error(struct hm_answer *a, const struct hm_search *s)
{
    if (s->question->fit)
        return;
    a->level = hm__sheet_intervals(s, a->points, a->point_count);
    size_t at = a->recommended != HM_NONE ? a->recommended : a->nearest;
    if (at < a->point_count)
        a->sheet_kind = point_sheet_error(s, &a->points[at]).title;
}
