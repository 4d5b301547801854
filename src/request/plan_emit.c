/*
 * Implements the field `emit` of the verb plan: writes the predicted step as a Chrome trace, or the
 * cluster as a SimGrid platform. present/large_emit.c writes flags and configuration files for the
 * layout of a transformer.
 */
#include <string.h>

#include "checks.h"
#include "emit_simgrid.h"
#include "emit_trace.h"
#include "err.h"
#include "large_emit.h"
#include "plan.h"

/* Values of the field `emit` that come after the values of enum hm_large_emit. */
enum plan_emit { PLAN_EMIT_CHROME = HM_EMITS, PLAN_EMIT_SIMGRID };

bool hm__plan_emits(const struct hm_plan_request *r)
{
    return r->emit >= (int)PLAN_EMIT_CHROME;
}

/*
 * Returns the cluster that an answer recommends: the cluster whose name is in the answer, or the
 * only cluster of the request.
 */
static const struct hm_cluster *find_cluster(const struct hm_loaded_job *loaded, const char *name)
{
    for (size_t i = 0; i < loaded->cluster_count; i++)
        if (name && loaded->clusters[i]->name && strcmp(loaded->clusters[i]->name, name) == 0)
            return loaded->clusters[i];
    return hm__loaded_cluster(loaded);
}

static int emit_cluster(const struct hm_cluster *cluster, double nodes, char **ret_text,
                        struct hm_err *err)
{
    if (!cluster)
        return hm__request_fail(err, "emit", HM_E_MISSING, "the job has no cluster");
    int rc = hm__cluster_one_kind(cluster, err);
    return rc ? rc : hm__emit_simgrid(cluster, nodes, ret_text, err);
}

int hm__plan_emit(const struct hm_plan_request *r, const struct hm_loaded_job *loaded,
                  const struct hm_answer *answer, struct hm_call *call, struct hm_err *err)
{
    char *text = NULL;
    int rc;

    if (r->json || r->csv)
        return hm__request_fail(err, "emit", HM_E_CONFLICT,
                                "this is a text; leave out json and csv");
    if (answer->recommended == HM_NONE)
        return hm__request_fail(err, "emit", HM_E_MISSING, "no number of workers is recommended");
    if (r->emit == (int)PLAN_EMIT_CHROME)
        rc = hm__emit_trace(answer, &text, err);
    else
        rc = emit_cluster(find_cluster(loaded, answer->machine),
                          answer->points[answer->recommended].nodes, &text, err);
    return rc ? rc : hm__call_answer(call, HM_FORMAT_TEXT, text, err);
}

int hm__plan_emit_large(const struct hm_plan_request *r, const struct hm_loaded_job *loaded,
                        const struct hm_large_answer *answer, char **ret_text, struct hm_err *err)
{
    const struct hm_large_choice *choice = &answer->points[answer->recommended];
    size_t i = choice->machine > 0 ? (size_t)choice->machine : 0;

    if (r->emit == (int)PLAN_EMIT_CHROME)
        return hm__emit_trace_large(answer, ret_text, err);
    return emit_cluster(i < loaded->cluster_count ? loaded->clusters[i]
                                                  : hm__loaded_cluster(loaded),
                        choice->nodes, ret_text, err);
}
