/* Implements the verb recommend, which finds how many workers to use, based on measured runs. */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "verbs.h"

struct hm_recommend_request {
    struct hm_document runs;
    struct hm_texts where, at;
    double batch, latency;
    const char *algorithm, *machine;
    struct hm_numbers n;
    int goal;
    double alpha, beta, deadline, budget, certainty, price, slack, level, seed;
    struct hm_job_fields job;
    bool all, json, csv;
    const char *plot;
};

#define T struct hm_recommend_request

static const struct hm_request_field fields[] = {
    HM_ROW_DOCUMENT(T, runs, "runs", "runs", "RUNS", "the runs: CSV or JSON lines, or a store"),
    HM_ROW_WHERE(T, where, "only the runs that have this value"),
    {.name = "batch",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, batch),
     .letter = 'b',
     .group = "question",
     .argument = "N",
     .help = "samples in one iteration"},
    {.name = "latency",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, latency),
     .dim = HM_DIM_TIME,
     .group = "question",
     .argument = "TIME",
     .help = "latency of the fabric, such as 20ms"},
    {.name = "at",
     .kind = HM_REQUEST_PAIRS,
     .offset = offsetof(T, at),
     .group = "question",
     .argument = "NAME=VALUE",
     .help = "any other quantity of the runs, such as bandwidth='1 Gbit/s'"},
    HM_ROW_TEXT(T, algorithm, "algorithm", 'a', "question", "NAME", "only runs of this algorithm"),
    HM_ROW_TEXT(T, machine, "machine", 0, "question", "NAME", "only runs on this machine"),
    {.name = "n",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, n),
     .letter = 'n',
     .group = "question",
     .argument = "LIST",
     .help = "workers to choose from, such as 1..8 (default: those of the runs)"},
    HM_ROW_GOAL(T, goal),
    HM_ROW_ALPHA(T, alpha),
    HM_ROW_BETA(T, beta),
    HM_ROW_POSITIVE(T, deadline, "deadline", 0, HM_DIM_TIME, "question", "TIME",
                    "finish within this time, such as 10min, at the lowest cost"),
    HM_ROW_POSITIVE(T, budget, "budget", 0, HM_DIM_MONEY, "question", "MONEY",
                    "spend at most this, such as 0.5"),
    HM_ROW_CERTAINTY(T, certainty),
    HM_ROW_SLACK(T, slack),
    HM_ROW_POSITIVE(
        T, price, "price", 0, HM_DIM_PRICE, "question", "PRICE",
        "price of a worker, such as '$1/h' (default: from the column cost of the runs)"),
    HM_ROW_DOCUMENT(T, job.job, "job", "job", "JOB",
                    "job whose model is used if the runs do not suffice"),
    HM_ROW_ON(T, job, "with a job: the machine it runs on"),
    HM_ROW_FABRIC(T, job),
    HM_ROW_SET(T, job),
    HM_ROW_LEVEL(T, level, 'l'),
    HM_ROW_SEED(T, seed, "0"),
    HM_ROW_FLAG(T, all, "all", 0, "output", "all candidates as a table"),
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "the candidates as comma-separated values"),
    HM_ROW_PLOT(T, plot, "times and intervals as a picture: .svg, .png or .pdf"),
};

#undef T

/* ---- configuration of the question -------------------------------------------------------------
 */

static int place_add(struct hm_place *place, const char *field, const char *name, double value,
                     struct hm_err *err)
{
    for (size_t i = 0; i < place->count; i++)
        if (strcmp(place->at[i].name, name) == 0)
            return hm__request_fail(err, field, HM_E_CONFLICT, "%s is given twice", name);
    if (place->count == HM_PLACE_MAX)
        return hm__request_fail(err, field, HM_E_LIMIT, "more than %d quantities", HM_PLACE_MAX);
    place->at[place->count++] = (struct hm_at){name, value};
    return 0;
}

/*
 * Reads the value of a quantity. Latency and bandwidth may have units; all other values are plain
 * numbers, as in a column of a table of runs.
 */
static int value_read(const char *name, const char *text, double *ret_value, struct hm_err *err)
{
    struct hm_dim dim;
    bool has_unit;
    int rc;

    if (strcmp(name, "latency") == 0)
        rc = hm__quantity_parse(text, HM_DIM_TIME, ret_value, err);
    else if (strcmp(name, "bandwidth") == 0)
        rc = hm__quantity_parse(text, HM_DIM_BYTE_RATE, ret_value, err);
    else if (strcmp(name, "batch") == 0 || strcmp(name, "size") == 0)
        rc = hm__quantity_parse(text, HM_DIM_NONE, ret_value, err);
    else
        rc = hm__quantity_read(text, ret_value, &dim, &has_unit, err);
    if (rc) {
        hm__err_field(err, "at");
        hm__err_at(err, "request", 0);
    }
    return rc;
}

static int place_add_at(struct hm_call *call, struct hm_place *place, const char *text,
                        struct hm_err *err)
{
    const char *equal = strchr(text, '=');
    double value;

    if (!equal || equal == text || equal - text > 63)
        return hm__request_fail(err, "at", HM_E_SYNTAX, "'%.60s' is not NAME=VALUE", text);
    char *name = hm__arena_strndup(call->arena, text, (size_t)(equal - text));
    if (!name)
        return hm__fail_nomem(err);
    int rc = value_read(name, equal + 1, &value, err);
    return rc ? rc : place_add(place, "at", name, value, err);
}

static int make_place(const struct hm_recommend_request *r, struct hm_call *call,
                      struct hm_place *place, struct hm_err *err)
{
    int rc = isnan(r->batch) ? 0 : place_add(place, "batch", "batch", r->batch, err);

    if (rc == 0 && !isnan(r->latency))
        rc = place_add(place, "latency", "latency", r->latency, err);
    for (size_t i = 0; rc == 0 && i < r->at.count; i++)
        rc = place_add_at(call, place, r->at.items[i], err);
    return rc;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static int check_request(const struct hm_recommend_request *r, struct hm_err *err)
{
    int rc = hm__check_job_fields(&r->job, true, err);

    if (rc)
        return rc;
    if (!r->runs.name && r->job.job.name && r->where.count)
        return hm__request_fail(err, "where", HM_E_CONFLICT, "this needs runs");
    for (size_t i = 0; i < r->n.count; i++)
        if (r->n.values[i] < 1 || r->n.values[i] != floor(r->n.values[i]))
            return hm__request_fail(err, "n", HM_E_RANGE, "n must be whole and at least 1, not %g",
                                    r->n.values[i]);
    return 0;
}

static int show_recommendation(const struct hm_recommend_request *r,
                               const struct hm_recommendation *recommendation,
                               enum hm_format format, struct hm_call *call, struct hm_err *err)
{
    struct hm_style style = call->context->style;
    char *text;

    style.table = r->all;
    int rc = hm_recommendation_render(recommendation, format, &style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    call->no_answer = recommendation->best == HM_NONE;
    if (rc || !r->plot)
        return rc;
    const struct hm_style picture = {.file = r->plot};
    if ((rc = hm_recommendation_render(recommendation, HM_FORMAT_GNUPLOT, &picture, &text, err)))
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", text, err);
    hm_text_free(text);
    return rc;
}

static int recommend_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_recommend_request *r = values;
    struct hm_loaded_job job = {0};
    struct hm_recommendation *recommendation = NULL;
    struct hm_runs *runs = NULL;
    struct hm_place place = {.count = 0};
    enum hm_format format;
    int rc = hm__call_format(r->json, r->csv, &format, err);

    if (rc == 0)
        rc = check_request(r, err);
    if (rc == 0)
        rc = make_place(r, call, &place, err);
    if (rc == 0 && r->job.job.name)
        rc = hm__load_job(call, &r->job, false, &job, err);
    if (rc == 0)
        rc = hm__cluster_one_kind(hm__loaded_cluster(&job), err);
    if (rc == 0 && (r->runs.name || !r->job.job.name))
        rc = hm__load_runs(call, &r->runs, &r->where, &runs, err);
    const struct hm_recommend_question question = {
        .at = place.at,
        .at_count = place.count,
        .algorithm = r->algorithm,
        .machine = r->machine,
        .n = r->n.values,
        .n_count = r->n.count,
        .goal = r->goal < 0 ? HM_GOAL_AUTO : (enum hm_goal)(HM_GOAL_TIME + r->goal),
        .alpha = isnan(r->alpha) ? 0 : r->alpha,
        .beta = isnan(r->beta) ? 0 : r->beta,
        .budget = isnan(r->budget) ? 0 : r->budget,
        .deadline_s = isnan(r->deadline) ? 0 : r->deadline,
        .price_per_s = isnan(r->price) ? 0 : r->price,
        .job = job.job,
        .cluster = job.cluster_count ? job.clusters[0] : NULL,
        .level = isnan(r->level) ? 0 : r->level,
        .seed = r->seed,
        .certainty = isnan(r->certainty) ? 0 : r->certainty,
        .slack = isnan(r->slack) ? HM_DEFAULT_SLACK : r->slack,
    };
    if (rc == 0)
        rc = hm_recommend(runs, &question, &recommendation, err);
    if (rc == 0)
        rc = show_recommendation(r, recommendation, format, call, err);
    hm_recommendation_free(recommendation);
    hm_runs_free(runs);
    hm__loaded_job_release(&job);
    return rc;
}

const struct hm_verb hm__verb_recommend = {
    .name = "recommend",
    .summary = "how many workers, based on measured runs",
    .description =
        "Reads runs (CSV with a header, or JSON lines; plain or .gz; - is standard input; a store; "
        "without any, your own store) and says how many workers are best for a batch, a latency "
        "and any other quantity in which the runs differ. The answer comes from runs that match "
        "exactly; else from a fit of the runs, with intervals; else from the model of a job, if "
        "one is named; else it says which run would help. A configuration that is known to fail is "
        "never recommended.\n\n"
        "Exit status: 0 answered; 1 too few runs to answer, or nothing meets deadline and budget; "
        "2 wrong "
        "usage or input.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_recommend_request),
    .operand = "runs",
    .table = "runs",
    .answer = "recommend",
    .run = recommend_run,
};
