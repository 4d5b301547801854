/*
 * Implements the verb plan, which computes how many machines to use, how long the job takes, what
 * it costs, and what limits the speed. The times come from a model, from runs, or from both.
 */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "order.h"
#include "render.h"
#include "verbs.h"

#define T struct hm_plan_request

static const struct hm_request_field fields[] = {
    HM_ROW_DOCUMENT(T, job.job, "job", "job", "JOB", "the job: YAML, or JSON (.json)"),
    HM_ROW_ON(T, job, "machines from the catalog, or cluster files, to run on; several are ranked"),
    HM_ROW_FABRIC(T, job),
    HM_ROW_SET(T, job),
    HM_ROW_TEXT(T, job.batch, "batch", 'b', "job", "SAMPLES", "samples in one iteration"),
    HM_ROW_TEXT(T, job.sequence, "sequence", 0, "job", "TOKENS", "tokens in a sequence"),
    HM_ROW_TEXT(T, job.tokens, "tokens", 0, "job", "TOKENS",
                "tokens in the whole job, such as 300B"),
    HM_ROW_TEXT(T, job.epochs, "epochs", 0, "job", "EPOCHS", "passes over the data set"),
    HM_ROW_TEXT(T, job.iterations, "iterations", 'i', "job", "K", "iterations of the whole job"),
    {.name = "scheme",
     .kind = HM_REQUEST_CHOICES,
     .offset = offsetof(T, scheme),
     .flags = HM_REQUEST_ALL,
     .group = "platform",
     .argument = "NAME[,…]",
     .choices = "ring rabenseifner recursive-doubling hierarchical parameter-server best all",
     .help = "how to reduce gradients; several are ranked, 'all' ranks them all"},
    {.name = "platform",
     .kind = HM_REQUEST_CHOICES,
     .offset = offsetof(T, platform.platform),
     .flags = HM_REQUEST_ALL,
     .group = "platform",
     .argument = "NAME[,…]",
     .choices = "allreduce driver server gossip-ring gossip-exp federated pipeline mirrored "
                "central-storage multi-worker-mirrored tpu parameter-server all",
     .help = "allreduce, driver (model at a driver), server (parameter servers), gossip-ring, "
             "gossip-exp, federated or pipeline (layers placed on several workers) instead of the "
             "job's communication; or a strategy of "
             "TensorFlow: mirrored, central-storage (both in one machine), multi-worker-mirrored, "
             "tpu, parameter-server (async); several are ranked, 'all' ranks the first three"},
    {.name = "consistency",
     .kind = HM_REQUEST_CHOICES,
     .offset = offsetof(T, platform.consistency),
     .flags = HM_REQUEST_ALL,
     .group = "platform",
     .argument = "NAME[,…]",
     .choices = "bsp ssp async all",
     .help = "consistency of servers: bsp (steps together), ssp (a bounded number of steps apart), "
             "async, or all (default bsp; with platform all, all)"},
    HM_ROW_WHOLE(
        T, platform.staleness, "staleness", 0, 0, 1e6, "platform", "S",
        "with ssp: largest number of steps between the fastest and the slowest worker (default 3)"),
    HM_ROW_WHOLE(T, platform.servers, "servers", 0, 1, 1e6, "platform", "S",
                 "number of parameter servers (default: chosen for the goal)"),
    HM_ROW_FLAG(T, platform.colocated, "colocated", 0, "platform",
                "servers share the nodes of the workers instead of having their own"),
    HM_ROW_WHOLE(T, platform.backups, "backups", 0, 0, 1000, "platform", "K",
                 "with bsp: a step uses the first n - K gradients of n workers"),
    HM_ROW_WHOLE(T, platform.local_steps, "local_steps", 0, 1, 1e9, "platform", "K",
                 "allreduce, gossip and federated: iterations between two averages (default 1)"),
    {.name = "stale_cost",
     .kind = HM_REQUEST_FACTOR,
     .offset = offsetof(T, platform.stale_cost),
     .least = 1,
     .group = "platform",
     .argument = "FACTOR|[ALGORITHM=]FIT",
     .help = "with ssp and async: factor by which stale gradients increase the iterations, such as "
             "1.2x; or a fit saved by `howmany converge --save` (.json)"},
    HM_ROW_DOCUMENT(T, runs, "runs", "runs", "RUNS",
                    "measured runs: they correct the model of the job or, without a job or with "
                    "terms, replace it; see howmany-fit(1)"),
    HM_ROW_WHERE(T, where, "with runs: use only those that have this value"),
    HM_ROW_TERMS(T, terms, 't', "with runs: terms of the fit, such as 1,size/n,ln(n); or auto"),
    HM_ROW_LEVEL(T, level, 'l'),
    HM_ROW_GOAL(T, goal),
    HM_ROW_ALPHA(T, alpha),
    HM_ROW_BETA(T, beta),
    HM_ROW_POSITIVE(T, deadline, "deadline", 0, HM_DIM_TIME, "question", "TIME",
                    "finish the job within this time, such as 6h, at the lowest cost"),
    {.name = "budget",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, budget),
     .dim = HM_DIM_MONEY,
     .group = "question",
     .argument = "MONEY",
     .help = "spend at most this amount on the job, such as 100"},
    HM_ROW_CERTAINTY(T, certainty),
    HM_ROW_POSITIVE(T, loss, "loss", 0, HM_DIM_NONE, "question", "X",
                    "for a language model: train until this loss (nats per token), according to "
                    "published scaling laws"),
    HM_ROW_TEXT(T, params, "params", 0, "question", "N",
                "for a language model: scale the network to this number of parameters, such as 7B; "
                "auto chooses the best number for the budget, the deadline or the loss"),
    HM_ROW_POSITIVE(
        T, faster, "faster", 0, HM_DIM_NONE, "question", "FACTOR",
        "find the fewest workers that are this many times as fast as the reference, such as 2x"),
    HM_ROW_POSITIVE(T, work, "work", 0, HM_DIM_NONE, "question", "FACTOR",
                    "find the fewest workers that do this many times as much work in the same "
                    "time, such as 3x"),
    HM_ROW_POSITIVE(T, max_n, "max_n", 0, HM_DIM_NONE, "question", "N",
                    "largest number of workers to consider (default: that of the cluster, else "
                    "1024, or 64 for a graph)"),
    {.name = "n",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, n),
     .letter = 'n',
     .group = "question",
     .argument = "LIST",
     .help = "consider only these numbers of workers: 8,16,32 or 8..64:8; for a transformer "
             "exactly this many, even if memory is insufficient"},
    HM_ROW_SLACK(T, slack),
    HM_ROW_FLAG(T, weak, "weak", 0, "question", "weak scaling: every worker has the whole batch"),
    HM_ROW_POSITIVE(T, reference, "reference", 0, HM_DIM_NONE, "question", "N",
                    "workers that speedups are relative to (default 1, or the job's)"),
    {.name = "table",
     .kind = HM_REQUEST_FLAG,
     .offset = offsetof(T, table),
     .flags = HM_REQUEST_SCREEN,
     .group = "output",
     .help = "the curve as a table"},
    {.name = "layers",
     .kind = HM_REQUEST_FLAG,
     .offset = offsetof(T, layers),
     .flags = HM_REQUEST_SCREEN,
     .group = "output",
     .help = "parameters, flop and bytes of the network, layer by layer"},
    HM_ROW_FLAG(T, explain_layout, "explain_layout", 0, "output",
                "for a transformer: which ranks form which groups on which nodes"),
    {.name = "emit",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, emit),
     .group = "output",
     .argument = "NAME",
     .choices = "megatron deepspeed torchtitan accelerate torchrun sbatch chrome simgrid",
     .help = "for a transformer: flags or a file that run the layout; chrome: the step as a trace "
             "for Perfetto; simgrid: the cluster as a platform"},
    HM_ROW_PLOT(T, plot, "speedup and step as a picture: .svg, .png or .pdf"),
    {.name = "no_chart",
     .kind = HM_REQUEST_FLAG,
     .offset = offsetof(T, no_chart),
     .flags = HM_REQUEST_SCREEN,
     .group = "output",
     .help = "no chart on the terminal"},
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "the curve as comma-separated values"),
};

#undef T

/* All data that the verb loads or computes. */
struct plan_parts {
    struct hm_loaded_job job;
    struct hm_plan_ways ways;
    struct hm_runs *runs;
    struct hm_fit *fit;
    struct hm_answer *answer;
};

static void plan_release(struct plan_parts *p)
{
    hm_answer_free(p->answer);
    hm_fit_free(p->fit);
    hm_runs_free(p->runs);
    hm__loaded_job_release(&p->job);
}

static void set_question(const struct hm_plan_request *r, struct hm_question *q)
{
    q->goal = r->goal < 0 ? HM_GOAL_AUTO : (enum hm_goal)(HM_GOAL_TIME + r->goal);
    q->alpha = isnan(r->alpha) ? q->alpha : r->alpha;
    q->beta = isnan(r->beta) ? q->beta : r->beta;
    q->deadline_s = isnan(r->deadline) ? q->deadline_s : r->deadline;
    q->budget = isnan(r->budget) ? q->budget : r->budget;
    q->faster = isnan(r->faster) ? q->faster : r->faster;
    q->work = isnan(r->work) ? q->work : r->work;
    q->max_n = isnan(r->max_n) ? q->max_n : r->max_n;
    q->reference = isnan(r->reference) ? q->reference : r->reference;
    q->slack = isnan(r->slack) ? q->slack : r->slack;
    q->certainty = r->certainty;
    if (r->n.count > 0)
        qsort(r->n.values, r->n.count, sizeof(*r->n.values), hm__compare_numbers);
    q->n = r->n.values;
    q->n_count = r->n.count;
    q->weak = r->weak;
}

static int check_request(const struct hm_plan_request *r, struct hm_err *err)
{
    const char *of_runs = r->where.count     ? "where"
                          : r->terms.given   ? "terms"
                          : !isnan(r->level) ? "level"
                                             : NULL;

    if (!r->job.job.name && !r->runs.name) {
        hm__request_fail(err, "job", HM_E_MISSING, "no job is given");
        hm__err_hint(err, "name a network from the catalog, such as resnet-50, or a file, such as "
                          "examples/fig1.yaml; `howmany init` writes one");
        return HM_E_MISSING;
    }
    if (!r->runs.name && of_runs)
        return hm__request_fail(err, of_runs, HM_E_CONFLICT, "this needs runs");
    if (r->runs.name && r->job.on.count > 1)
        return hm__request_fail(err, "on", HM_E_CONFLICT,
                                "the runs were made on one machine: name one");
    if (r->layers && (r->json || r->csv))
        return hm__request_fail(err, "layers", HM_E_CONFLICT,
                                "this is a table to read; leave out json and csv");
    return 0;
}

/* Rejects a plan that considers more workers than the context allows. */
static int check_limits(const struct hm_context *context, const struct plan_parts *p,
                        const struct hm_question *q, struct hm_err *err)
{
    double most = q->max_n > 0 ? q->max_n : q->n_count > 0 ? q->n[q->n_count - 1] : 0;
    size_t count = most > 0 ? 0 : p->job.cluster_count ? p->job.cluster_count : 1;

    for (size_t i = 0; i < count; i++) {
        const struct hm_cluster *c =
            p->job.cluster_count ? p->job.clusters[i] : &p->job.job->cluster;
        most = fmax(most, hm__cluster_workers(c));
    }
    if (!(context->limits.max_n > 0) || !(most > context->limits.max_n))
        return 0;
    return hm__request_fail(err, "max_n", HM_E_LIMIT, "%g workers; at most %g are allowed", most,
                            context->limits.max_n);
}

/*
 * Fits the runs. If the request has a job, the fit corrects the model of the job; otherwise the fit
 * replaces the model.
 */
static int fit_runs(const struct hm_plan_request *r, struct hm_call *call, struct plan_parts *p,
                    struct hm_question *q, struct hm_err *err)
{
    bool alone = !r->job.job.name || r->terms.given;
    struct hm_fit_settings settings = {
        .job = alone ? NULL : p->job.job,
        .cluster = p->job.cluster_count ? p->job.clusters[0] : NULL,
        .terms = r->terms.items,
        .term_count = r->terms.count,
        .level = isnan(r->level) ? 0 : r->level,
    };
    int rc = hm__load_runs(call, &r->runs, &r->where, &p->runs, err);

    if (rc == 0)
        rc = hm_fit_new(p->runs, &settings, &p->fit, err);
    if (rc)
        return rc;
    if (p->fit->relative) {
        hm__request_fail(err, "runs", HM_E_MISSING, "%s has speedups only", p->runs->source);
        hm__err_hint(err,
                     "also give the job, whose model has the time on one worker, or give seconds");
        return HM_E_MISSING;
    }
    q->fit = p->fit;
    q->weak = q->weak || (alone && p->fit->weak);
    return 0;
}

static int add_layers(const struct plan_parts *p, struct hm_call *call, struct hm_err *err)
{
    const struct hm_job *job = p->job.job;
    struct hm_counts *counts;

    if (!job->network || job->network->layer_count == 0)
        return hm__request_fail(err, "layers", HM_E_MISSING, "the job has no network with layers");
    int rc = hm_counts_new(job->network, job->source, &counts, err);
    if (rc)
        return rc;
    hm__render_layers(&call->out, counts, job->precision / 8);
    hm_counts_free(counts);
    return call->out.failed ? hm__fail_nomem(err) : 0;
}

static int add_plot(const struct hm_plan_request *r, const struct plan_parts *p,
                    struct hm_call *call, struct hm_err *err)
{
    const struct hm_style style = {.file = r->plot};
    char *script;
    int rc = hm_answer_render(p->answer, HM_FORMAT_GNUPLOT, &style, &script, err);

    if (rc)
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", script, err);
    hm_text_free(script);
    return rc;
}

static int show_answer(const struct hm_plan_request *r, const struct plan_parts *p,
                       struct hm_call *call, struct hm_err *err)
{
    struct hm_style style = call->context->style;
    enum hm_format format;
    char *text;

    style.table = r->table;
    style.chart = style.chart && !r->no_chart;
    int rc = hm__call_format(r->json, r->csv, &format, err);
    if (rc == 0 && r->layers)
        rc = add_layers(p, call, err);
    if (rc == 0)
        rc = hm_answer_render(p->answer, format, &style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    if (rc == 0 && r->plot)
        rc = add_plot(r, p, call, err);
    call->no_answer = p->answer->status != HM_STATUS_OK;
    return rc;
}

/* Rejects fields that apply only to transformers. */
static int check_ordinary(const struct hm_plan_request *r, struct hm_err *err)
{
    const char *field = r->emit >= 0        ? "emit"
                        : r->explain_layout ? "explain_layout"
                        : !isnan(r->loss)   ? "loss"
                        : r->params         ? "params"
                                            : NULL;

    return field ? hm__request_fail(err, field, HM_E_CONFLICT,
                                    "this needs a job that trains a transformer")
                 : 0;
}

static int solve_plan(const struct hm_plan_request *r, struct hm_call *call, struct plan_parts *p,
                      struct hm_err *err)
{
    struct hm_question question = HM_QUESTION_INIT;
    enum hm_scheme schemes[HM_SCHEME_COUNT + 1];
    size_t scheme_count = 0;
    char name[64];
    int rc = hm__plan_ways(call, &r->platform, &p->ways, err);

    for (size_t i = 0; i < r->scheme.count; i++)
        if (hm__choice_name(hm__verb_field(&hm__verb_plan, "scheme")->choices,
                            (size_t)r->scheme.items[i], name, sizeof(name)) &&
            (!r->scheme.all || strcmp(name, "best") != 0))
            schemes[scheme_count++] = (enum hm_scheme)hm_scheme_find(name);
    set_question(r, &question);
    question.ways = p->ways.ways;
    question.way_count = p->ways.count;
    if (rc == 0)
        rc = hm__load_job(call, &r->job, r->runs.name && !r->job.job.name, &p->job, err);
    if (rc == 0 && p->job.job->large)
        return 0;
    if (rc == 0)
        rc = hm__plan_emits(r) ? 0 : check_ordinary(r, err);
    if (rc == 0 && r->runs.name)
        rc = fit_runs(r, call, p, &question, err);
    if (rc == 0)
        rc = check_limits(call->context, p, &question, err);
    if (rc == 0)
        rc = hm_plan(p->job.job, (const struct hm_cluster *const *)p->job.clusters,
                     p->job.cluster_count, schemes, scheme_count, &question, &p->answer, err);
    return rc;
}

/*
 * Returns whether the extension of a document's name (such as ".csv") shows that it is a table of
 * runs.
 */
static bool names_table(const struct hm_document *d)
{
    static const char *const endings[] = {".csv", ".csv.gz", ".csv.zst", ".tsv", ".jsonl", ".db"};

    for (size_t i = 0; d->name && i < sizeof(endings) / sizeof(endings[0]); i++)
        if (hm__text_ends(d->name, endings[i]))
            return true;
    return false;
}

static int plan_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    struct hm_plan_request request = *(const struct hm_plan_request *)values, *r = &request;
    struct plan_parts p = {0};

    /*
     * `plan runs.csv` is also accepted: if the first argument is a table instead of a job, it is
     * read as the runs.
     */
    if (names_table(&r->job.job) && !r->runs.name) {
        r->runs = r->job.job;
        r->job.job = (struct hm_document){0};
    }
    int rc = check_request(r, err);
    if (rc == 0)
        rc = solve_plan(r, call, &p, err);
    if (rc == 0 && p.job.job->large)
        rc = hm__plan_large(r, call, &p.job, err);
    else if (rc == 0 && hm__plan_emits(r))
        rc = hm__plan_emit(r, &p.job, p.answer, call, err);
    else if (rc == 0)
        rc = show_answer(r, &p, call, err);
    plan_release(&p);
    return rc;
}

const struct hm_verb hm__verb_plan = {
    .name = "plan",
    .summary = "how many machines, how long, how much and why, from a model or a few runs",
    .description =
        "Reads a job (YAML, or JSON when the name ends in .json; - is standard input), searches "
        "every number of workers up to the ceiling and answers with the best for the goal. With a "
        "deadline and no goal, the cheapest way to meet it is best.\n\n"
        "Exit status: 0 answered; 1 nothing meets the goal, or more workers do not help (the "
        "nearest miss is shown); 2 wrong usage or input.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_plan_request),
    .operand = "job",
    .table = "runs",
    .bare = true,
    .answer = "plan",
    .run = plan_run,
};
