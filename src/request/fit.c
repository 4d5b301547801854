/*
 * Implements the verb fit, which learns from a few runs how the time depends on the number of
 * workers n, and predicts times with intervals.
 */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "verbs.h"

struct hm_fit_request {
    struct hm_document runs;
    struct hm_texts where, terms;
    struct hm_place target;
    struct hm_numbers predict;
    struct hm_job_fields job;
    double level, width, seed;
    int errors;
    bool residuals, json, csv;
    const char *plot;
};

#define T struct hm_fit_request

static const struct hm_request_field fields[] = {
    HM_ROW_DOCUMENT(T, runs, "runs", "runs", "RUNS", "the runs: CSV or JSON lines, or a store"),
    HM_ROW_WHERE(T, where, "only the runs that have this value"),
    HM_ROW_TERMS(
        T, terms, 't',
        "formulas over the columns, such as 1,size/n,ln(n),n; auto (default) chooses them"),
    {.name = "target",
     .kind = HM_REQUEST_PLACE,
     .offset = offsetof(T, target),
     .group = "question",
     .argument = "PLACE",
     .help = "predict the time at these values: 64, or n=64,size=1"},
    {.name = "predict",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, predict),
     .group = "question",
     .argument = "LIST",
     .help = "predict for these n: 4..64:4, or 8,16,32"},
    HM_ROW_DOCUMENT(
        T, job.job, "job", "job", "JOB",
        "start from the model of this job, which the runs correct; runs are then optional"),
    HM_ROW_ON(T, job, "with a job: the machine that the runs used"),
    HM_ROW_FABRIC(T, job),
    HM_ROW_SET(T, job),
    HM_ROW_LEVEL(T, level, 'l'),
    {.name = "errors",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, errors),
     .group = "fit",
     .argument = "KIND",
     .choices = "auto equal relative",
     .help = "errors of runs: equal, relative, or auto (default): decided by repeated runs; "
             "without repeats, equal for given terms, else relative"},
    {.name = "width",
     .kind = HM_REQUEST_NUMBER,
     .offset = offsetof(T, width),
     .group = "fit",
     .argument = "W",
     .help = "with a job: relative uncertainty of each part of its model (default 0.5)"},
    HM_ROW_SEED(T, seed, "0"),
    HM_ROW_FLAG(T, residuals, "residuals", 0, "output",
                "residual of each run, and the terms that were considered"),
    HM_ROW_PLOT(T, plot, "runs, fit and intervals as a picture: .svg, .png or .pdf"),
    HM_ROW_JSON(T, json),
    HM_ROW_CSV(T, csv, "the predictions as comma-separated values"),
};

#undef T

enum { PLOT_POINTS = 80 };

static int check_request(const struct hm_fit_request *r, struct hm_err *err)
{
    int rc = hm__check_job_fields(&r->job, true, err);

    if (rc)
        return rc;
    if (!r->job.job.name && !isnan(r->width))
        return hm__request_fail(err, "width", HM_E_CONFLICT, "this needs a job");
    if (!r->runs.name && r->job.job.name && r->where.count)
        return hm__request_fail(err, "where", HM_E_CONFLICT, "this needs runs");
    if (r->predict.count && !isnan(r->target.n))
        return hm__request_fail(err, "target", HM_E_CONFLICT,
                                "predict names the n already; leave n out of target");
    return 0;
}

/*
 * Adds a plot of the predictions, from n = 1 to the largest n among the runs and the predictions.
 */
static int add_plot(const struct hm_fit_request *r, const struct hm_fit *fit,
                    const struct hm_numbers *places, struct hm_call *call, struct hm_err *err)
{
    const struct hm_style style = {.file = r->plot};
    struct hm_at at[HM_PLACE_MAX];
    size_t at_count = hm__place_others(&r->target, at);
    struct hm_prediction points[PLOT_POINTS];
    double n[PLOT_POINTS], most = fmax(fit->n_max, 2);
    char *script;

    for (size_t i = 0; i < places->count; i++)
        most = fmax(most, places->values[i]);
    for (size_t i = 0; i < PLOT_POINTS; i++) {
        n[i] = pow(most, (double)i / (PLOT_POINTS - 1));
        /* The model of a job is defined only for whole numbers of workers, so n is rounded. */
        if (fit->from_sheet)
            n[i] = round(n[i]);
    }
    int rc = hm_fit_predict(fit, at, at_count, n, PLOT_POINTS, points, err);
    if (rc == 0)
        rc = hm_fit_render(fit, points, PLOT_POINTS, HM_FORMAT_GNUPLOT, &style, &script, err);
    if (rc)
        return rc;
    rc = hm__call_file(call, r->plot, "gnuplot", script, err);
    hm_text_free(script);
    return rc;
}

static int predict_times(const struct hm_fit_request *r, const struct hm_fit *fit,
                         struct hm_call *call, struct hm_err *err)
{
    double n[HM_PLACE_COUNTS];
    struct hm_numbers places = r->predict;
    struct hm_style style = call->context->style;
    struct hm_at at[HM_PLACE_MAX];
    size_t at_count = hm__place_others(&r->target, at);
    enum hm_format format;
    char *text;

    if (places.count == 0)
        places =
            (struct hm_numbers){n, hm__place_counts(r->target.n, fit->n_max, n), HM_PLACE_COUNTS};
    struct hm_prediction *predictions =
        hm__arena_alloc(call->arena, places.count, sizeof(*predictions));
    int rc = predictions ? 0 : hm__fail_nomem(err);
    if (rc == 0)
        rc = hm__call_format(r->json, r->csv, &format, err);
    if (rc == 0)
        rc = hm_fit_predict(fit, at, at_count, places.values, places.count, predictions, err);
    style.table = r->residuals;
    if (rc == 0)
        rc = hm_fit_render(fit, predictions, places.count, format, &style, &text, err);
    if (rc == 0)
        rc = hm__call_answer(call, format, text, err);
    return rc == 0 && r->plot ? add_plot(r, fit, &places, call, err) : rc;
}

static int fit_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_fit_request *r = values;
    struct hm_loaded_job job = {0};
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    int rc = check_request(r, err);

    if (rc == 0 && r->job.job.name)
        rc = hm__load_job(call, &r->job, false, &job, err);
    if (rc == 0)
        rc = hm__cluster_one_kind(hm__loaded_cluster(&job), err);
    if (rc == 0 && (r->runs.name || !r->job.job.name))
        rc = hm__load_runs(call, &r->runs, &r->where, &runs, err);
    struct hm_fit_settings settings = {
        .job = job.job,
        .cluster = job.cluster_count ? job.clusters[0] : NULL,
        .terms = r->terms.items,
        .term_count = r->terms.count,
        .errors = r->errors < 0 ? HM_ERRORS_AUTO : (enum hm_errors)r->errors,
        .level = isnan(r->level) ? 0 : r->level,
        .width = isnan(r->width) ? 0 : r->width,
        .seed = r->seed,
    };
    if (rc == 0)
        rc = hm_fit_new(runs, &settings, &fit, err);
    if (rc == 0)
        rc = predict_times(r, fit, call, err);
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm__loaded_job_release(&job);
    return rc;
}

const struct hm_verb hm__verb_fit = {
    .name = "fit",
    .summary = "learn from a few runs, and predict with intervals",
    .description =
        "Reads runs (CSV with a header, or JSON lines; plain or .gz; - is standard input; a store; "
        "without any, your own store): n, and seconds of an iteration (or total and iterations, or "
        "speedup), and any other columns in which the runs differ. Fits their time by "
        "non-negative least squares on terms, and predicts it elsewhere, with the interval of one "
        "further run and that of the mean. With a job, the specification sheet is the starting "
        "point and the runs correct it.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input, with the row and the column.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_fit_request),
    .operand = "runs",
    .table = "runs",
    .answer = "fit",
    .run = fit_run,
};
