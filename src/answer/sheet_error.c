/*
 * How far a plan without runs may be off. The table has, for each kind of job and hardware, the
 * interval that contains 90 % of ln(measured / predicted) of a source that the model has not seen;
 * tools/sheet-error makes it from the published measurements of data/measured-steps.csv and
 * reports how the intervals hold for sources that are left out (docs/accuracy.md). Limits: few
 * sources, and one interval for all networks of a kind.
 */
#include "sheet_error.h"

#include <math.h>

enum sheet_kind { HM_SHEET_NODE, HM_SHEET_NODES, HM_SHEET_FORMULA };

static const struct {
    const char *title;
    double low, high; /* Ends of the interval of ln(measured / predicted). */
} sheet_errors[] = {
    /* rows: begin */
    [HM_SHEET_NODE] = {"networks on GPUs of one node", -1.0562, 0.3757},
    [HM_SHEET_NODES] = {"networks on GPUs of several nodes", -0.6349, 0.5171},
    [HM_SHEET_FORMULA] = {"jobs given by formulas or totals", -0.1114, 0.2534},
    /* rows: end */
};

static const double SHEET_LEVEL = 0.9; /* Probability of the intervals in the table. */

static enum sheet_kind point_sheet_kind(const struct hm_search *s, const struct hm_point *p)
{
    const struct hm_job *job = s->job;

    if (job->compute || !job->network || job->network->layer_count == 0)
        return HM_SHEET_FORMULA;
    return p->nodes > 1 ? HM_SHEET_NODES : HM_SHEET_NODE;
}

double hm__sheet_intervals(const struct hm_search *s, struct hm_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hm_point *p = &points[i];
        enum sheet_kind kind = point_sheet_kind(s, p);
        p->low_s = p->time_s * exp(sheet_errors[kind].low);
        p->high_s = p->time_s * exp(sheet_errors[kind].high);
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
        a->sheet_kind = sheet_errors[point_sheet_kind(s, &a->points[at])].title;
}
