/*
 * Adds the effect of stragglers to the model of a cluster: notes for the user, and a table of the
 * delays that stragglers cause.
 */
#include "dataflow_time.h"
#include "slowness.h"

int hm__model_set_stragglers(struct hm_model *m, struct hm_err *err)
{
    const struct hm_slowness *slowness = m->cluster ? &m->cluster->slowness : NULL;

    if (slowness && hm__model_dataflow(m)) {
        m->capped = hm__dataflow_slowness(hm__model_dataflow(m), slowness);
        slowness = &m->capped;
    }
    if (hm__way_stale(&m->variant.way) && m->overlap != HM_OVERLAP_NONE)
        hm__model_add_note(
            m, "with stale gradients a worker computes and communicates in turn: the overlap of "
               "the job is ignored");
    if (!slowness || m->variant.steady || !hm__slowness_any(slowness))
        return 0;
    if (hm__way_stale(&m->variant.way))
        hm__model_add_note(
            m, "workers differ in speed or vary between iterations: see stragglers of the cluster");
    else
        hm__model_add_note(
            m, "the computing time is the expected time of the slowest worker of a step: see "
               "stragglers of the cluster");
    /* A shared table has no times for speculative copies of tasks, so a dataflow needs its own
     * table. */
    m->stragglers = m->variant.by_speed || hm__model_dataflow(m) ? NULL : m->variant.stragglers;
    if (m->stragglers)
        return 0;
    int rc = hm__stragglers_new(slowness, m->variant.by_speed, &m->own_stragglers, err);
    m->stragglers = m->own_stragglers;
    return rc;
}
