/* Checks a model before it is evaluated: quantities that formulas use, and links that communication
 * needs. */
#include "err.h"
#include "model_state.h"

/* Checks that each quantity that a formula uses has a value above 0; only the latency may be 0. */
static int check_formula(const struct hm_model *m, const struct hm_formula *f, const char *field,
                         int line, struct hm_err *err)
{
    for (size_t k = HM_SYMBOL_BATCH; f && k < HM_SYMBOL_COUNT; k++) {
        bool known =
            k == HM_SYMBOL_LATENCY ? m->wires.fabric.bandwidth_bytes_per_s > 0 : m->symbols[k] > 0;
        if (known || !hm__formula_uses(f, k))
            continue;
        hm__fail(err, HM_E_MISSING, "the formula uses '%s', which has no value here",
                 hm__job_symbols[k].name);
        hm__err_hint(err, "give it in where:, or give the %s that defines it",
                     k == HM_SYMBOL_BATCH      ? "batch"
                     : k <= HM_SYMBOL_TRAINING ? "network"
                                               : "cluster");
        hm__err_field(err, field);
        hm__err_at(err, m->job->source, line);
        return HM_E_MISSING;
    }
    return 0;
}

static int check_wires(const struct hm_model *m, struct hm_err *err)
{
    for (size_t i = 0; i < m->step_count; i++) {
        if (m->steps[i].time)
            continue;
        bool one_node = m->cluster && m->cluster->max_nodes == 1 && !m->wires.outside;
        if (!m->cluster || (!(m->wires.fabric.bandwidth_bytes_per_s > 0) && !one_node))
            return hm__model_fail_missing(m, "cluster.fabric", "the cluster has no fabric",
                                          "give cluster.fabric, e.g. 10gbe", err);
        if (m->wires.per_node > 1 && !(m->wires.link.bandwidth_bytes_per_s > 0))
            return hm__model_fail_missing(m, "cluster.link",
                                          "several accelerators need a link between them",
                                          "give link: {bandwidth: 300 GB/s, latency: 3 us}", err);
    }
    return 0;
}

int hm__model_check_formulas(const struct hm_model *m, struct hm_err *err)
{
    const struct hm_job *job = m->job;
    int rc = check_formula(m, job->compute, "compute", job->compute_line, err);

    for (size_t i = 0; rc == 0 && i < m->step_count; i++) {
        const struct hm_transfer *t = &m->steps[i];
        rc = check_formula(m, t->time, "communicate", t->line, err);
        if (rc == 0)
            rc = check_formula(m, t->bytes, "communicate", t->line, err);
    }
    if (rc == 0)
        rc = check_formula(m, job->per_edge, "graph.per_edge", 0, err);
    if (rc == 0)
        rc = check_formula(m, job->memory_needed, "memory", job->memory_line, err);
    return rc ? rc : check_wires(m, err);
}
