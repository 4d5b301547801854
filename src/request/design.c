/*
 * Implements the verb design, which chooses a few runs whose results would reduce the uncertainty
 * of a fit the most.
 */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "verbs.h"

struct hm_design_request {
    struct hm_job_fields job;
    struct hm_numbers n, size;
    struct hm_texts vary, terms;
    struct hm_quantity budget;
    const char *cost, *only;
    int criterion;
    struct hm_place target;
    struct hm_document have;
    double keep;
    bool fill, rounds, json;
    const char *plot;
};

#define T struct hm_design_request

static const struct hm_request_field fields[] = {
    HM_ROW_DOCUMENT(T, job.job, "job", "job", "JOB",
                    "a specification sheet: what it says is known already"),
    HM_ROW_ON(T, job, "with a job: the machine to run on"),
    HM_ROW_FABRIC(T, job),
    HM_ROW_SET(T, job),
    {.name = "n",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, n),
     .letter = 'n',
     .group = "candidates",
     .argument = "LIST",
     .help = "numbers of workers that could be run: 1..8, or 1,2,4"},
    {.name = "size",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, size),
     .letter = 's',
     .flags = HM_REQUEST_SPREAD,
     .group = "candidates",
     .argument = "LIST",
     .help = "sizes that could be run: 0.1,0.2, or 4/256..32/256:20 for twenty values"},
    {.name = "vary",
     .kind = HM_REQUEST_PAIRS,
     .offset = offsetof(T, vary),
     .group = "candidates",
     .argument = "NAME=LIST",
     .help = "values of another quantity that could be run"},
    {.name = "only",
     .kind = HM_REQUEST_TEXT,
     .offset = offsetof(T, only),
     .group = "candidates",
     .argument = "FORMULA",
     .help = "only candidates for which the formula is not 0, such as 'size*256 >= 4*n'"},
    {.name = "have",
     .kind = HM_REQUEST_DOCUMENT,
     .offset = offsetof(T, have),
     .group = "candidates",
     .argument = "RUNS",
     .choices = "@file",
     .help = "runs that were already measured; the design chooses the next ones"},
    {.name = "budget",
     .kind = HM_REQUEST_QUANTITY,
     .offset = offsetof(T, budget),
     .flags = HM_REQUEST_ABOVE,
     .group = "question",
     .argument = "COST",
     .help =
         "largest total cost of the runs, such as 10; with a job also 2h of machine time, or '$5'"},
    {.name = "cost",
     .kind = HM_REQUEST_TEXT,
     .offset = offsetof(T, cost),
     .group = "question",
     .argument = "FORMULA",
     .help = "formula for the cost of a run, over n, size and (with a job) seconds; default: "
             "machine time with a job, else size / smallest size / n"},
    {.name = "criterion",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, criterion),
     .fallback = "A",
     .group = "question",
     .argument = "A|D|I",
     .choices = "A D I",
     .help = "least variance of the coefficients (A, default), least volume (D), or least variance "
             "of the prediction at the target (I)"},
    {.name = "target",
     .kind = HM_REQUEST_PLACE,
     .offset = offsetof(T, target),
     .group = "question",
     .argument = "PLACE",
     .help = "with criterion I: 64, or n=64,size=1"},
    HM_ROW_TERMS(T, terms, 't',
                 "formulas whose coefficients are to be found (default 1,size/n,ln(n),n)"),
    {.name = "keep",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, keep),
     .group = "question",
     .argument = "SHARE",
     .help = "choose runs with a larger share (default 0.3)"},
    HM_ROW_FLAG(T, fill, "fill", 0, "question", "spend the rest of the budget on more runs"),
    HM_ROW_FLAG(T, rounds, "rounds", 0, "output",
                "also show what is known after each run, and the candidates that were not chosen"),
    HM_ROW_JSON(T, json),
    HM_ROW_PLOT(T, plot,
                "cost of the runs, and what is known after each, as a picture: .svg, .png or .pdf"),
};

#undef T

enum { AXES_MAX = 16 };

/* ---- candidates --------------------------------------------------------------------------------
 */

struct design_axes {
    struct hm_axis axes[AXES_MAX];
    size_t count;
};

static int add_axis(struct design_axes *a, const char *field, const char *name,
                    const struct hm_numbers *values, struct hm_err *err)
{
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->axes[i].name, name) == 0)
            return hm__request_fail(err, field, HM_E_CONFLICT, "%s is given twice", name);
    if (a->count == AXES_MAX)
        return hm__request_fail(err, field, HM_E_LIMIT, "more than %d quantities", AXES_MAX);
    for (size_t i = 0; strcmp(name, "n") == 0 && i < values->count; i++)
        if (values->values[i] < 1 || values->values[i] != floor(values->values[i]))
            return hm__request_fail(err, field, HM_E_RANGE,
                                    "n must be whole and at least 1, not %g", values->values[i]);
    a->axes[a->count++] = (struct hm_axis){name, values->values, values->count};
    return 0;
}

/* "NAME=LIST" */
static int add_varied(struct hm_call *call, struct design_axes *a, const char *text,
                      struct hm_err *err)
{
    const char *equal = strchr(text, '=');
    struct hm_numbers values = {0};

    if (!equal || equal == text || equal - text > 63)
        return hm__request_fail(err, "vary", HM_E_SYNTAX, "'%.60s' is not NAME=LIST", text);
    char *name = hm__arena_strndup(call->arena, text, (size_t)(equal - text));
    if (!name)
        return hm__fail_nomem(err);
    int rc = hm__numbers_parse(call->arena, &values, equal + 1, strcmp(name, "n") != 0, err);
    if (rc) {
        hm__err_field(err, "vary");
        hm__err_at(err, "request", 0);
        return rc;
    }
    return add_axis(a, "vary", name, &values, err);
}

/* Creates the table of possible runs: every combination of the given values. */
static int make_candidates(const struct hm_design_request *r, struct hm_call *call,
                           struct hm_runs **ret_candidates, struct hm_err *err)
{
    struct design_axes a = {.count = 0};
    size_t most = call->context->limits.values;
    double combinations = 1;
    int rc = r->n.count ? add_axis(&a, "n", "n", &r->n, err) : 0;

    if (rc == 0 && r->size.count)
        rc = add_axis(&a, "size", "size", &r->size, err);
    for (size_t i = 0; rc == 0 && i < r->vary.count; i++)
        rc = add_varied(call, &a, r->vary.items[i], err);
    if (rc == 0 && a.count == 0) {
        hm__request_fail(err, "n", HM_E_MISSING, "no candidates are given");
        hm__err_hint(err, "give the possible runs, such as n 1..8 and size 0.1,0.2");
        return HM_E_MISSING;
    }
    for (size_t i = 0; i < a.count; i++)
        combinations *= (double)a.axes[i].count;
    if (rc == 0 && most > 0 && combinations > (double)most)
        rc = hm__request_fail(err, "n", HM_E_LIMIT, "%g combinations; at most %zu are allowed",
                              combinations, most);
    return rc ? rc : hm_runs_cross(a.axes, a.count, ret_candidates, err);
}

/* ---- the budget --------------------------------------------------------------------------------
 */

/*
 * Reads the budget of a design: a cost in the units of the cost formula, machine time, or money if
 * the machine has a price.
 */
static int read_budget(const struct hm_design_request *r, const struct hm_loaded_job *job,
                       double *ret_budget, struct hm_err *err)
{
    const struct hm_quantity *b = &r->budget;
    const struct hm_cluster *cluster = hm__loaded_cluster(job);
    bool money = hm__dim_equal(b->dim, HM_DIM_MONEY), time = hm__dim_equal(b->dim, HM_DIM_TIME);

    if (isnan(b->value))
        return 0;
    if ((money || time) && (!r->job.job.name || r->cost)) {
        hm__request_fail(err, "budget", HM_E_CONFLICT, "time and money need a job and no cost");
        hm__err_hint(err, "the job determines how long runs take");
        return HM_E_CONFLICT;
    }
    if (money && !(cluster && cluster->node.price_per_s > 0)) {
        hm__request_fail(err, "budget", HM_E_MISSING, "money needs a machine with a price");
        hm__err_hint(err, "name one in `on`, or set cluster.price='$1/h'");
        return HM_E_MISSING;
    }
    if (b->has_unit && !money && !time)
        return hm__request_fail(err, "budget", HM_E_UNIT,
                                "it is neither a cost, nor time, nor money");
    *ret_budget = money ? b->value / cluster->node.price_per_s : b->value;
    return 0;
}

/* ---- running -----------------------------------------------------------------------------------
 */

static int design_solve(const struct hm_design_request *r, struct hm_call *call,
                        const struct hm_runs *candidates, const struct hm_design_settings *settings,
                        struct hm_err *err)
{
    struct hm_style style = call->context->style;
    enum hm_format format = r->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT;
    struct hm_design *design;
    char *text;
    int rc = hm_design_new(candidates, settings, &design, err);

    if (rc)
        return rc;
    style.table = r->rounds;
    rc = hm_design_render(design, format, &style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    const struct hm_style picture = {.file = r->plot};
    if (rc == 0 && r->plot &&
        (rc = hm_design_render(design, HM_FORMAT_GNUPLOT, &picture, &text, err)) == 0) {
        rc = hm__call_file(call, r->plot, "gnuplot", text, err);
        hm_text_free(text);
    }
    hm_design_free(design);
    return rc;
}

static int design_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_design_request *r = values;
    struct hm_loaded_job job = {0};
    struct hm_runs *candidates = NULL, *measured = NULL;
    double budget = 0;
    int rc = hm__check_job_fields(&r->job, true, err);

    if (rc == 0 && r->target.count && r->criterion != HM_CRITERION_I)
        rc = hm__request_fail(err, "target", HM_E_CONFLICT, "this applies only to criterion I");
    if (rc == 0 && r->job.job.name)
        rc = hm__load_job(call, &r->job, false, &job, err);
    if (rc == 0)
        rc = hm__cluster_one_kind(hm__loaded_cluster(&job), err);
    if (rc == 0)
        rc = read_budget(r, &job, &budget, err);
    if (rc == 0 && r->have.name)
        rc = hm__load_runs(call, &r->have, NULL, &measured, err);
    if (rc == 0)
        rc = make_candidates(r, call, &candidates, err);
    const struct hm_design_settings settings = {
        .terms = r->terms.items,
        .term_count = r->terms.count,
        .job = job.job,
        .cluster = job.cluster_count ? job.clusters[0] : NULL,
        .have = measured,
        .cost = r->cost,
        .only = r->only,
        .criterion = (enum hm_criterion)r->criterion,
        .budget = budget,
        .target = r->target.at,
        .target_count = r->target.count,
        .keep = isnan(r->keep) ? 0 : r->keep,
        .fill = r->fill,
    };
    if (rc == 0)
        rc = design_solve(r, call, candidates, &settings, err);
    hm_runs_free(candidates);
    hm_runs_free(measured);
    hm__loaded_job_release(&job);
    return rc;
}

const struct hm_verb hm__verb_design = {
    .name = "design",
    .summary = "which few runs are most useful",
    .description =
        "Considers every combination of the values that could be run and chooses the runs that "
        "give most information about the coefficients of a fit within a budget (Ernest, NSDI "
        "2016), by convex optimization. With a job, its specification sheet is the prior, runs "
        "cost machine time, and the cost is shown in money too. With runs that were already "
        "measured "
        "(have), the design chooses the runs to make next.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_design_request),
    .operand = "job",
    .table = "have",
    .answer = "design",
    .run = design_run,
};
