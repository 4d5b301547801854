/*
 * Implements the verb advise, which determines which algorithm to use on how many workers, for a
 * target loss, a time limit or a budget.
 */
#include <math.h>
#include <string.h>

#include "advise_large.h"
#include "budget.h"
#include "err.h"
#include "notes.h"
#include "traces.h"

struct hm_advise_request {
    struct hm_trace_fields traces;
    double loss, reach, within, budget, certainty;
    int goal;
    struct hm_numbers m;
    struct hm_documents times, jobs;
    /*
     * The fields `on`, `fabric` and `set`. The field `job` is not used; instead, each document in
     * `jobs` is loaded as a job.
     */
    struct hm_job_fields job;
    double price, switch_cost;
    bool adaptive, all, json, csv;
    const char *plot;
};

#define T struct hm_advise_request

static const struct hm_request_field fields[] = {
    HM_ROWS_TRACES(T, traces),
    HM_ROW_POSITIVE(T, loss, "loss", 0, HM_DIM_NONE, "question", "X",
                    "reach an excess loss P - P* of at most X"),
    {.name = "reach",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, reach),
     .least = -INFINITY,
     .group = "question",
     .argument = "P",
     .help = "reach this loss P"},
    HM_ROW_POSITIVE(T, within, "within", 0, HM_DIM_TIME, "question", "TIME",
                    "time available, such as 60s; without a loss: reach the lowest one"),
    HM_ROW_POSITIVE(T, budget, "budget", 0, HM_DIM_MONEY, "question", "MONEY",
                    "money available, such as $5; without a loss: reach the lowest one"),
    HM_ROW_CERTAINTY(T, certainty),
    {.name = "goal",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, goal),
     .letter = 'g',
     .fallback = "time",
     .group = "question",
     .argument = "GOAL",
     .choices = "time cost",
     .help = "what to minimise: time (default) or cost"},
    {.name = "m",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, m),
     .letter = 'm',
     .group = "question",
     .argument = "LIST",
     .help = "numbers of workers, such as 1..256 or 1,2,4 (default: measured ones and powers of 2 "
             "between them)"},
    {.name = "times",
     .kind = HM_REQUEST_DOCUMENTS,
     .offset = offsetof(T, times),
     .group = "times",
     .argument = "[ALGORITHM=]FILE",
     .choices = "@file",
     .help = "take the time of an iteration from these traces or runs (n, seconds)"},
    {.name = "job",
     .kind = HM_REQUEST_DOCUMENTS,
     .offset = offsetof(T, jobs),
     .group = "times",
     .argument = "[ALGORITHM=]JOB",
     .choices = "@file",
     .help = "take the time of an iteration from `howmany plan` for this job"},
    HM_ROW_ON(T, job, "machine that the job runs on; without a job, only its price is used"),
    HM_ROW_FABRIC(T, job),
    HM_ROW_SET(T, job),
    HM_ROW_POSITIVE(T, price, "price", 0, HM_DIM_PRICE, "question", "PRICE",
                    "price of a worker, such as $0.5/h"),
    HM_ROW_FLAG(T, adaptive, "adaptive", 0, "question",
                "also find the best schedule for changing m"),
    {.name = "switch_cost",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, switch_cost),
     .dim = HM_DIM_TIME,
     .group = "question",
     .argument = "TIME",
     .help = "with adaptive: time that a change of m takes"},
    HM_ROW_FLAG(T, all, "all", 0, "output", "a table of all candidates"),
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "the candidates as comma-separated values"),
    HM_ROW_PLOT(T, plot, "the candidates as a picture: .svg, .png or .pdf"),
};

#undef T

enum { PACES_MAX = 64 };

/* All data that the verb advise loads or computes. */
struct advice_parts {
    struct hm_loaded_traces loaded;
    struct hm_paces *paces[PACES_MAX];
    size_t pace_count;
    double price_per_s; /* Price of a worker per second; NaN if unknown. */
    /*
     * Time per iteration of a transformer in seconds, if its loss follows published scaling laws.
     */
    struct hm_advise_paces large;
    struct hm_advice *advice;
};

static void advice_release(struct advice_parts *p)
{
    hm_advice_free(p->advice);
    for (size_t k = 0; k < p->pace_count; k++)
        hm_paces_free(p->paces[k]);
    hm__loaded_traces_release(&p->loaded);
}

/* ---- seconds of an iteration from other sources ------------------------------------------------
 */

static bool has_algorithm(const struct advice_parts *p, const char *name)
{
    const struct hm_convergence *c = p->loaded.convergence;

    if (!c) /* A request without traces uses published scaling laws for the loss. */
        return false;
    for (size_t k = 0; k < c->count; k++)
        if (strcmp(c->algorithms[k].algorithm, name) == 0)
            return true;
    return false;
}

/*
 * Splits "cocoa=FILE" into an algorithm and a file, if there are traces of the algorithm cocoa;
 * otherwise the whole string is a file name.
 */
static int split_source(struct hm_call *call, const struct advice_parts *p,
                        const struct hm_document *source, struct hm_document *ret_document,
                        struct hm_err *err)
{
    const char *equal = source->text || source->tree ? NULL : strchr(source->name, '=');

    *ret_document = *source;
    if (!equal)
        return 0;
    char *name = hm__arena_strndup(call->arena, source->name, (size_t)(equal - source->name));
    if (!name)
        return hm__fail_nomem(err);
    if (has_algorithm(p, name)) {
        ret_document->algorithm = name;
        ret_document->name = equal + 1;
    }
    return 0;
}

/*
 * Checks for which algorithms a source provides times. Times without the name of an algorithm apply
 * to all algorithms. At least one algorithm that has traces must have times.
 */
static int check_times(const struct advice_parts *p, const char *file, struct hm_paces *paces,
                       struct hm_err *err)
{
    size_t used = 0;

    for (size_t k = 0; k < paces->count; k++) {
        struct hm_pace *pace = &paces->paces[k];
        int rc = hm__budget_check("times", err);
        if (rc)
            return rc;
        if (pace->algorithm && !*pace->algorithm && !has_algorithm(p, ""))
            pace->algorithm = NULL;
        used += !pace->algorithm || has_algorithm(p, pace->algorithm);
    }
    if (used > 0)
        return 0;
    hm__request_fail(err, "times", HM_E_NAME, "%s has times of '%s', which has no traces", file,
                     paces->count ? paces->paces[0].algorithm : "");
    hm__err_hint(err, "ALGORITHM=%s says which algorithm they belong to", file);
    return HM_E_NAME;
}

/*
 * Adds times per iteration from a table. If the table has a column of iterations, its rows are
 * traces; otherwise, they are runs.
 */
static int add_times(struct hm_call *call, const struct hm_advise_request *r,
                     const struct hm_document *d, struct advice_parts *p, struct hm_err *err)
{
    const struct hm_traces_settings only_times = {.times_only = true, .epochs = r->traces.epochs};
    const struct hm_fit_settings settings = {0};
    struct hm_traces *traces = NULL;
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_err not_traces = {0}, not_runs = {0};
    struct hm_paces **paces = &p->paces[p->pace_count];
    int rc = hm__load_trace_table(call, d, &only_times, &traces, &not_traces);

    if (rc == 0) {
        for (size_t k = 0; d->algorithm && k < traces->count; k++)
            traces->traces[k].algorithm = d->algorithm;
        rc = hm_paces_from_traces(traces, paces, err);
    } else if (hm__load_runs(call, d, NULL, &runs, &not_runs) == 0) {
        rc = hm_fit_new(runs, &settings, &fit, err);
        if (rc == 0)
            rc = hm_paces_from_fit(fit, d->algorithm, paces, err);
    } else if (err) {
        *err = not_traces;
    }
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_traces_free(traces);
    return rc ? rc : check_times(p, d->name, p->paces[p->pace_count++], err);
}

/*
 * Returns whether the loss follows scaling laws, which is the case if the request has exactly one
 * job and no traces.
 */
static bool has_no_traces(const struct hm_advise_request *r)
{
    return r->traces.traces.count == 0 && !r->traces.record && r->traces.where.count == 0 &&
           r->jobs.count == 1;
}

/*
 * Adds the times per iteration of a job that trains a transformer and, if there are no traces, its
 * loss from scaling laws.
 */
static int add_times_of_large(const struct hm_advise_request *r, const char *algorithm,
                              const struct hm_loaded_job *job, double max_n, struct advice_parts *p,
                              struct hm_err *err)
{
    struct hm_advise_paces paces = {0};
    int rc = hm__advise_large_paces(job, max_n, algorithm, &paces, err);

    if (rc)
        return rc;
    p->paces[p->pace_count++] = paces.paces;
    if (isnan(p->price_per_s))
        p->price_per_s = paces.price_per_s;
    if (!p->loaded.convergence) {
        p->large = paces;
        rc = hm__advise_laws(job, &r->traces, r->reach, &paces, &p->loaded, err);
    }
    return rc;
}

static int add_times_of_job(struct hm_call *call, const struct hm_advise_request *r,
                            const struct hm_document *d, struct advice_parts *p, struct hm_err *err)
{
    struct hm_job_fields job_fields = r->job;
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_loaded_job job = {0};

    job_fields.job = *d;
    int rc = hm__load_job(call, &job_fields, false, &job, err);
    for (size_t k = 0; k < r->m.count; k++)
        question.max_n = fmax(question.max_n, r->m.values[k]);
    if (rc == 0 && job.job->large) {
        rc = add_times_of_large(r, d->algorithm, &job, question.max_n, p, err);
        hm__loaded_job_release(&job);
        return rc;
    }
    if (rc == 0)
        rc = hm_plan(job.job, (const struct hm_cluster *const *)job.clusters, job.cluster_count,
                     NULL, 0, &question, &answer, err);
    if (rc == 0)
        rc = hm_paces_from_answer(answer, d->algorithm, &p->paces[p->pace_count], err);
    p->pace_count += rc == 0;
    if (rc == 0 && answer->priced && isnan(p->price_per_s))
        p->price_per_s = answer->price_per_s / answer->accelerators;
    hm_answer_free(answer);
    hm__loaded_job_release(&job);
    return rc;
}

/*
 * Loads traces and fits them. If the request has no traces and its job trains a transformer,
 * nothing is loaded, because the loss then follows scaling laws.
 */
static int load_losses(struct hm_call *call, const struct hm_advise_request *r,
                       struct advice_parts *p, struct hm_err *err)
{
    struct hm_job_fields job_fields = r->job;
    struct hm_loaded_job job = {0};

    if (has_no_traces(r)) {
        job_fields.job = r->jobs.items[0];
        if (hm__load_job(call, &job_fields, false, &job, NULL) == 0 && job.job->large) {
            hm__loaded_job_release(&job);
            return isnan(r->loss) ? 0
                                  : hm__request_fail(err, "loss", HM_E_CONFLICT,
                                                     "scaling laws give the loss itself: use "
                                                     "reach, such as reach 2.1");
        }
        hm__loaded_job_release(&job);
    }
    return hm__load_convergence(call, &r->traces, NULL, &p->loaded, err);
}

static int load_times(struct hm_call *call, const struct hm_advise_request *r,
                      struct advice_parts *p, struct hm_err *err)
{
    int rc = 0;

    if (r->times.count + r->jobs.count > PACES_MAX)
        return hm__request_fail(err, r->jobs.count > r->times.count ? "job" : "times", HM_E_LIMIT,
                                "more than %d sources of times", PACES_MAX);
    for (size_t k = 0; rc == 0 && k < r->times.count + r->jobs.count; k++) {
        bool table = k < r->times.count;
        struct hm_document document;
        rc = split_source(call, p, table ? &r->times.items[k] : &r->jobs.items[k - r->times.count],
                          &document, err);
        if (rc == 0)
            rc = table ? add_times(call, r, &document, p, err)
                       : add_times_of_job(call, r, &document, p, err);
    }
    return rc;
}

/*
 * Determines the price of a worker: the field `price` or, if it is not given, the price of the
 * machine in the field `on`.
 */
static int load_price(struct hm_call *call, const struct hm_advise_request *r,
                      struct advice_parts *p, struct hm_err *err)
{
    struct hm_cluster *cluster;

    if (!isnan(p->price_per_s) || r->job.on.count == 0)
        return 0;
    int rc = hm__load_machine(call, &r->job, &r->job.on.items[0], &cluster, err);
    if (rc)
        return rc;
    if (cluster->node.price_per_s > 0 && cluster->kind_count == 0)
        p->price_per_s = cluster->node.price_per_s / fmax(cluster->node.accelerators, 1);
    hm_cluster_free(cluster);
    return 0;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* Returns whether the request has a target loss, a time limit or a budget. */
static bool has_aim(const struct hm_advise_request *r)
{
    return !isnan(r->loss) || !isnan(r->reach) || !isnan(r->within) || !isnan(r->budget);
}

/*
 * Sets the target loss of a request that has no target loss, time limit or budget: the smallest
 * loss that every trace reaches. A stored fit contains no traces, so a request with a stored fit
 * must have one of these three.
 */
static int default_aim(const struct hm_traces *traces, double *ret_reach, struct hm_err *err)
{
    double reach = -INFINITY;

    for (size_t i = 0; traces && i < traces->count; i++) {
        double least = INFINITY;
        for (size_t k = 0; k < traces->traces[i].count; k++)
            least = fmin(least, traces->traces[i].loss[k]);
        reach = fmax(reach, least);
    }
    if (isfinite(reach)) {
        *ret_reach = reach;
        return 0;
    }
    hm__request_fail(err, "loss", HM_E_MISSING, "no target is given");
    hm__err_hint(err, "give an excess loss (loss 1e-4), a loss (reach), a time (within 60s) or an "
                      "amount of money (budget $5)");
    return HM_E_MISSING;
}

/* Adds a note to the advice that says that the target loss was chosen automatically. */
static int note_aim(struct hm_advice *advice, double reach, struct hm_err *err)
{
    const char **notes = hm__arena_alloc(advice->memory, advice->note_count + 1, sizeof(*notes));
    const char *note = hm__arena_printf(
        advice->memory, "no target was given: %.6g is the smallest loss that every trace reaches",
        reach);

    if (!notes || !note)
        return hm__fail_nomem(err);
    notes[0] = note;
    for (size_t i = 0; i < advice->note_count; i++)
        notes[i + 1] = advice->notes[i];
    advice->notes = notes;
    advice->note_count++;
    return 0;
}

static int check_request(const struct hm_advise_request *r, struct hm_err *err)
{
    if (r->switch_cost > 0 && !r->adaptive)
        return hm__request_fail(err, "switch_cost", HM_E_CONFLICT, "this needs adaptive");
    if (r->jobs.count == 0 && (r->job.fabric || hm__sets_job(&r->job.set)))
        return hm__request_fail(err, r->job.fabric ? "fabric" : "set", HM_E_CONFLICT,
                                "this needs a job");
    if (r->job.on.count > 1)
        return hm__request_fail(err, "on", HM_E_CONFLICT, "only one machine can be named here");
    return 0;
}

/* Adds a note that relates a target for the loss to the distances that the answer shows. */
static int note_distance(struct hm_advice *advice, double reach, struct hm_err *err)
{
    const struct hm_notes notes = {advice->memory, &advice->notes, &advice->note_count};

    return hm__notes_add(
        notes, err, "losses here are distances from the least one, %.6g: %.3g is a loss of %.6g",
        advice->best, advice->loss, reach);
}

static int advise_solve(const struct hm_advise_request *r, struct advice_parts *p,
                        struct hm_err *err)
{
    struct hm_advise_question q = HM_ADVISE_QUESTION_INIT;
    bool cost = r->goal == 1;

    q.loss = isnan(r->loss) ? q.loss : r->loss;
    q.reach = r->reach;
    q.within_s = isnan(r->within) ? q.within_s : r->within;
    q.budget = isnan(r->budget) ? q.budget : r->budget;
    q.certainty = isnan(r->certainty) ? 0 : r->certainty;
    q.goal = cost ? HM_GOAL_COST : HM_GOAL_TIME;
    q.m = r->m.count || !p->large.count ? r->m.values : p->large.m;
    q.m_count = r->m.count || !p->large.count ? r->m.count : p->large.count;
    q.algorithms = r->traces.algorithms.items;
    q.algorithm_count = r->traces.algorithms.count;
    q.price_per_s = isnan(p->price_per_s) ? q.price_per_s : p->price_per_s;
    q.adaptive = r->adaptive;
    q.switch_s = isnan(r->switch_cost) ? 0 : r->switch_cost;
    q.level = p->loaded.settings.level;
    q.seed = p->loaded.settings.seed;
    if ((!isnan(r->budget) || cost) && isnan(p->price_per_s)) {
        hm__request_fail(err, "price", HM_E_MISSING, "the price of a worker is not known");
        hm__err_hint(err, "give price '$0.5/h', or a machine in `on`");
        return HM_E_MISSING;
    }
    int rc = hm_advise(p->loaded.convergence, (const struct hm_paces *const *)p->paces,
                       p->pace_count, &q, &p->advice, err);
    if (rc == 0 && p->large.count)
        rc = hm__advise_laws_note(p->advice, err);
    else if (rc == 0 && isfinite(r->reach))
        rc = note_distance(p->advice, r->reach, err);
    return rc;
}

static int show_advice(const struct hm_advise_request *r, const struct hm_advice *advice,
                       struct hm_call *call, struct hm_err *err)
{
    struct hm_style style = call->context->style;
    enum hm_format format;
    char *text;
    int rc = hm__call_format(r->json, r->csv, &format, err);

    style.table = r->all;
    if (rc == 0)
        rc = hm_advice_render(advice, format, &style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    call->no_answer = !advice->feasible;
    if (rc || !r->plot)
        return rc;
    const struct hm_style picture = {.file = r->plot};
    if ((rc = hm_advice_render(advice, HM_FORMAT_GNUPLOT, &picture, &text, err)))
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", text, err);
    hm_text_free(text);
    return rc;
}

static int advise_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    struct hm_advise_request request = *(const struct hm_advise_request *)values, *r = &request;
    struct advice_parts p = {.price_per_s = r->price};
    /*
     * True if the request has no target, in which case the target loss is chosen from the traces.
     */
    const bool chosen = !has_aim(r);
    int rc = check_request(r, err);

    if (rc == 0)
        rc = load_losses(call, r, &p, err);
    if (rc == 0 && chosen && p.loaded.convergence && !isnan(p.loaded.convergence->rows))
        rc = hm__request_fail(
            err, "loss", HM_E_MISSING,
            "no target is given; traces on samples need a loss above P*, such as 1e-4, or a time");
    if (rc == 0 && chosen)
        rc = default_aim(p.loaded.traces, &r->reach, err);
    if (rc == 0)
        rc = load_times(call, r, &p, err);
    if (rc == 0)
        rc = load_price(call, r, &p, err);
    if (rc == 0)
        rc = advise_solve(r, &p, err);
    if (rc == 0 && chosen)
        rc = note_aim(p.advice, r->reach, err);
    if (rc == 0)
        rc = show_advice(r, p.advice, call, err);
    advice_release(&p);
    return rc;
}

const struct hm_verb hm__verb_advise = {
    .name = "advise",
    .summary = "which algorithm on how many workers",
    .description =
        "Reads traces as `howmany converge` does, or a fit that it has saved (.json), and joins "
        "the loss after i iterations on m workers with the seconds of an iteration. Given a loss, "
        "it answers with the algorithm and m that reach it first, or for the least money; given a "
        "time or a budget alone, with those that reach the lowest loss. It says why the others "
        "lose, which algorithm leads at which loss, how sure the answer is, and which run would "
        "make it more certain. Seconds come from the traces themselves, or from elsewhere (times, "
        "job): "
        "convergence stays the same when the machines change.\n\n"
        "Exit status: 0 answered; 1 no candidate reaches the aim with a probability above one "
        "half; 2 wrong "
        "usage or input.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_advise_request),
    .operand = "traces",
    .table = "traces",
    .answer = "advise",
    .run = advise_run,
};
