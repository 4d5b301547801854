/*
 * Gives advice for jobs that train transformers: the time of an iteration comes from plans, and
 * without traces the loss comes from published scaling laws.
 */
#include <math.h>

#include "advise_large.h"
#include "err.h"
#include "large_plan.h"
#include "notes.h"
#include "scaling.h"

int hm__advise_large_paces(const struct hm_loaded_job *job, double max_n, const char *algorithm,
                           struct hm_advise_paces *ret, struct hm_err *err)
{
    const struct hm_large_question question = {.n = NAN,
                                               .max_n = max_n > 0 ? max_n : NAN,
                                               .deadline_s = NAN,
                                               .budget = NAN,
                                               .certainty = NAN,
                                               .loss = NAN,
                                               .parameters = NAN};
    struct hm_large_answer *answer = NULL;
    double seconds[HM_ADVISE_SIZES];
    int rc = hm__large_plan(job->job, (const struct hm_cluster *const *)job->clusters,
                            job->cluster_count, &question, &answer, err);

    if (rc)
        return rc;
    ret->count = 0;
    for (size_t i = 0; i < answer->point_count && ret->count < HM_ADVISE_SIZES; i++) {
        const struct hm_large_choice *c = &answer->points[i];
        if (!c->fits)
            continue;
        ret->m[ret->count] = c->n;
        seconds[ret->count++] = c->step.time_s;
        ret->price_per_s = c->cost_per_s / c->per_node;
    }
    if (ret->count == 0)
        rc = hm__request_fail(err, "job", HM_E_CONFLICT,
                              "the transformer fits on no number of workers");
    if (rc == 0)
        rc = hm__paces_from_table(ret->m, seconds, ret->count, algorithm, &ret->paces, err);
    hm__large_answer_free(answer);
    return rc;
}

int hm__advise_laws(const struct hm_loaded_job *job, const struct hm_trace_fields *fields,
                    double reach, const struct hm_advise_paces *paces,
                    struct hm_loaded_traces *loaded, struct hm_err *err)
{
    /*
     * The batch is the same for all numbers of workers, so the loss after an iteration does not
     * depend on the number of workers.
     */
    static const char *const terms[] = {"ln(i)", "ln(i)^2"};
    const struct hm_large_job *large = job->job->large;
    const struct hm_transformer *x = &large->network;

    if (x->experts > 0 || x->encoder || x->cross_layers > 0 || large->work.trained < 1) {
        hm__request_fail(err, "traces", HM_E_MISSING, "no traces are given");
        hm__err_hint(err, "published scaling laws are those of dense language models that are "
                          "trained from scratch");
        return HM_E_MISSING;
    }
    loaded->settings =
        (struct hm_converge_settings){.terms = terms,
                                      .term_count = sizeof(terms) / sizeof(terms[0]),
                                      .level = isnan(fields->level) ? 0 : fields->level,
                                      .seed = fields->seed};
    int rc = hm__scaling_traces(hm__large_parameters(x), large->work.batch * large->work.sequence,
                                reach, paces->m, paces->count, &loaded->traces, err);
    return rc ? rc
              : hm_convergence_new(loaded->traces, &loaded->settings, &loaded->convergence, err);
}

int hm__advise_laws_note(struct hm_advice *advice, struct hm_err *err)
{
    const struct hm_notes notes = {advice->memory, &advice->notes, &advice->note_count};

    advice->next = (struct hm_next_run){0};
    int rc = 0;
    if (advice->loss > 0)
        rc = hm__notes_add(notes, err,
                           "losses here are distances from %.3f nats per token, which no training "
                           "of this network goes below: %.3g is a loss of %.3f",
                           advice->best, advice->loss, advice->best + advice->loss);
    if (rc)
        return rc;
    return hm__notes_add(notes, err,
                         "the loss follows the scaling laws of Hoffmann et al. 2022, Besiroglu et "
                         "al. 2024 and Muennighoff et al. 2023, which differ as the interval says; "
                         "traces of this job would replace them");
}
