/*
 * Explains an answer for a dataflow platform: whether the waves of its tasks, its largest partition
 * or the driver that starts the tasks limit an iteration, and what a lost worker costs.
 */
#include <math.h>

#include "dataflow_time.h"
#include "err.h"
#include "notes.h"
#include "search.h"

int hm__answer_explain_dataflow(struct hm_answer *a, const struct hm_model *model,
                                const struct hm_point *p, bool *ret_limits, struct hm_err *err)
{
    *ret_limits = false;
    if (!hm__model_dataflow(model))
        return 0;
    const struct hm_dataflow *d = hm__model_dataflow(model);
    const struct hm_dataflow_parts parts = hm__model_dataflow_parts(model, p->n);
    double uneven_s = (p->compute_s - p->wait_s) * (1 - parts.even);
    double even_s = p->compute_s - p->wait_s - uneven_s;
    double sent_s = p->communicate_s - parts.schedule_s;
    bool skewed = d->skew > 1 && parts.tasks < d->skew * parts.slots;

    if (parts.schedule_s > fmax(fmax(even_s, uneven_s), sent_s)) {
        a->limit = HM_LIMIT_SERIAL;
        a->limit_share = parts.schedule_s / p->time_s;
        a->why = hm__arena_printf(a->memory, "the driver starts %.0f tasks in %.3g s", parts.tasks,
                                  parts.schedule_s);
    } else if (uneven_s > fmax(even_s, sent_s)) {
        a->limit = HM_LIMIT_IMBALANCE;
        a->limit_share = uneven_s / p->time_s;
        a->why = skewed ? hm__arena_printf(a->memory,
                                           "the task of the largest partition takes %.3g times as "
                                           "long as the mean",
                                           d->skew)
                        : hm__arena_printf(a->memory,
                                           "%.0f tasks on %.0f slots take %.0f wave%s, and slots "
                                           "are idle for %.0f %% of the computing",
                                           parts.tasks, parts.slots, parts.waves,
                                           parts.waves > 1 ? "s" : "", 100 * (1 - parts.even));
    } else {
        return 0;
    }
    *ret_limits = true;
    return a->why ? 0 : hm__fail_nomem(err);
}

int hm__answer_note_dataflow(struct hm_answer *a, const struct hm_model *model, struct hm_err *err)
{
    const struct hm_dataflow *d = hm__model_dataflow(model);
    struct hm_notes notes = {a->memory, &a->notes, &a->note_count};

    if (!d || a->recommended >= a->point_count)
        return 0;
    const struct hm_point *p = &a->points[a->recommended];
    const struct hm_dataflow_parts parts = hm__model_dataflow_parts(model, p->n);
    int rc = hm__notes_add(notes, err,
                           "%.0f tasks on %.0f slots: %.0f wave%s, %.0f %% of the slots' "
                           "time is used; the driver needs %.3g ms to start them",
                           parts.tasks, parts.slots, parts.waves, parts.waves > 1 ? "s" : "",
                           100 * parts.even, 1e3 * parts.schedule_s);
    if (rc || !(d->mtbf_s > 0))
        return rc;
    const struct hm_dataflow_loss loss = hm__dataflow_loss(d, p->n, p->compute_s);
    double lineage = 100 * loss.lineage, checkpoint = 100 * loss.checkpoint;
    if (isinf(checkpoint))
        return hm__notes_add(notes, err,
                             "a worker is lost every %.3g h: recovery by lineage adds %.2g %%",
                             1 / loss.failures_per_s / 3600, lineage);
    return hm__notes_add(notes, err,
                         "a worker is lost every %.3g h: recovery by lineage adds %.2g %%, by "
                         "checkpoints every %.3g min %.2g %%",
                         1 / loss.failures_per_s / 3600, lineage, loss.every_s / 60, checkpoint);
}
