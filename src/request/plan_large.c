/* Implements the verb `plan` for jobs that train transformers. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "large_emit.h"
#include "large_plan.h"
#include "large_render.h"
#include "plan.h"
#include "text.h"

/*
 * Returns the name of the first field in the request that plans for transformers do not support;
 * NULL if there is none.
 */
static const char *unsupported_field(const struct hm_plan_request *r)
{
    return r->scheme.count              ? "scheme"
           : r->platform.platform.count ? "platform"
           : r->terms.given             ? "terms"
           : r->layers                  ? "layers"
           : !isnan(r->faster)          ? "faster"
           : !isnan(r->work)            ? "work"
           : !isnan(r->reference)       ? "reference"
           : r->weak                    ? "weak"
                                        : NULL;
}

static int check_fields(const struct hm_plan_request *r, struct hm_err *err)
{
    const char *field = unsupported_field(r);

    if (field)
        return hm__request_fail(err, field, HM_E_CONFLICT,
                                "this does not apply to a job that trains a transformer");
    if (r->n.count > 1)
        return hm__request_fail(err, "n", HM_E_CONFLICT,
                                "%zu numbers; a job that trains a transformer takes one",
                                r->n.count);
    if (r->n.count > 0 && !(r->n.values[0] >= 1 && r->n.values[0] == floor(r->n.values[0])))
        return hm__request_fail(err, "n", HM_E_RANGE, "%g is not a whole number of at least 1",
                                r->n.values[0]);
    if (r->n.count > 0 && !isnan(r->max_n))
        return hm__request_fail(err, "n", HM_E_CONFLICT, "n and max_n are both given");
    if ((r->emit >= 0 || r->explain_layout) && (r->json || r->csv))
        return hm__request_fail(err, r->emit >= 0 ? "emit" : "explain_layout", HM_E_CONFLICT,
                                "this is a text; leave out json and csv");
    return 0;
}

/* Reads a number of parameters such as 7B or 350M. The word "auto" is read as INFINITY, which means
 * that the plan chooses the number. */
static int read_params(const char *text, double *ret_parameters, struct hm_err *err)
{
    static const char letters[] = "kMBGT";
    static const double factors[] = {1e3, 1e6, 1e9, 1e9, 1e12};
    double number;

    if (!text)
        return 0;
    if (strcmp(text, "auto") == 0) {
        *ret_parameters = INFINITY;
        return 0;
    }
    const char *rest = text + hm__number_read(text, &number);
    const char *letter = rest > text && *rest ? strchr(letters, *rest) : NULL;
    if (letter && !rest[1])
        number *= factors[letter - letters];
    if (rest == text || (*rest && (!letter || rest[1])) || !(number >= 1e6 && number <= 1e14)) {
        hm__request_fail(err, "params", HM_E_RANGE,
                         "'%.40s' is not a number of parameters from 1M to 100T", text);
        hm__err_hint(err, "write 7B, 350M, or auto");
        return HM_E_RANGE;
    }
    *ret_parameters = number;
    return 0;
}

/* Rejects a plan that considers more workers than the context allows. */
static int check_limit(const struct hm_context *context, const struct hm_plan_request *r,
                       struct hm_err *err)
{
    double n = r->n.count > 0 ? r->n.values[0] : r->max_n;

    if (!(context->limits.max_n > 0) || !(n > context->limits.max_n))
        return 0;
    return hm__request_fail(err, r->n.count > 0 ? "n" : "max_n", HM_E_LIMIT,
                            "%g workers; at most %g are allowed", n, context->limits.max_n);
}

/* Adds the plot to the answer, if the request asks for one. */
static int add_picture(const struct hm_plan_request *r, const struct hm_large_answer *answer,
                       struct hm_call *call, struct hm_err *err)
{
    char *script;
    int rc = hm__large_plot(answer, r->plot, &script, err);

    if (rc)
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", script, err);
    hm_text_free(script);
    return rc;
}

int hm__plan_large(const struct hm_plan_request *r, struct hm_call *call,
                   const struct hm_loaded_job *loaded, struct hm_err *err)
{
    struct hm_large_question question = {
        .n = r->n.count > 0 ? r->n.values[0] : NAN,
        .max_n = r->max_n,
        .deadline_s = r->deadline,
        .budget = r->budget,
        .certainty = r->certainty,
        .goal = r->goal < 0 ? HM_GOAL_AUTO : (enum hm_goal)(HM_GOAL_TIME + r->goal),
        .alpha = r->alpha,
        .beta = r->beta,
        .slack = isnan(r->slack) ? HM_DEFAULT_SLACK : r->slack,
        .loss = r->loss,
        .parameters = NAN};
    const struct hm_cluster *const *clusters = (const struct hm_cluster *const *)loaded->clusters;
    const char *names[HM_MACHINES_MAX] = {loaded->job->cluster.name};
    struct hm_large_answer *answer = NULL;
    struct hm_large_measured *runs = NULL;
    enum hm_format format;
    char *text;
    int rc = check_fields(r, err);

    if (rc == 0)
        rc = read_params(r->params, &question.parameters, err);
    if (rc == 0)
        rc = check_limit(call->context, r, err);
    if (rc == 0 && r->runs.name)
        rc = hm__load_large_runs(call, r, loaded, &runs, &question.run_count, err);
    question.runs = runs;
    if (rc == 0)
        rc = hm__call_format(r->json, r->csv, &format, err);
    if (rc == 0)
        rc = hm__large_plan(loaded->job, clusters, loaded->cluster_count, &question, &answer, err);
    if (rc)
        return rc;
    for (size_t i = 0; i < loaded->cluster_count; i++)
        names[i] = loaded->clusters[i]->name;
    answer->machines = names;
    answer->machine_count = loaded->cluster_count ? loaded->cluster_count : 1;
    call->no_answer = !answer->feasible;
    if (hm__plan_emits(r))
        rc = hm__plan_emit_large(r, loaded, answer, &text, err);
    else if (r->emit >= 0)
        rc = hm__large_emit(answer, (enum hm_large_emit)r->emit, &text, err);
    else if (r->explain_layout)
        rc = hm__large_explain(answer, &text, err);
    else
        rc = hm__large_render(answer, format, &call->context->style, &text, err);
    if (rc == 0 && r->plot && (rc = add_picture(r, answer, call, err)))
        hm_text_free(text);
    hm__large_answer_free(answer);
    return rc ? rc : hm__call_answer(call, format, text, err);
}
