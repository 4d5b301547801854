/*
 * Published scaling curves: fit the smaller half of the sizes, predict the largest, compare.
 *
 * A curve is what one table calls by one workload_id and metric (with weak scaling also by one
 * batch of a worker), of five or more sizes. Rates, times and speedups all become seconds of a
 * step: with weak scaling of a worker's whole batch, with strong scaling of a fixed amount of work.
 * Ernest's terms are fitted to the time of a unit of work, as the paper does.
 */
#include "validate_fits.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "format.h"
#include "howmany_fit.h"
#include "text.h"

enum { CURVES_MAX = 4096, POINTS_MAX = 512, SIZES_MIN = 5 };

struct point {
    double n, seconds;
};

struct curve {
    char workload[96], metric[48], batch[32];
    bool weak, speedup;
    struct point *points; /* POINTS_MAX, owned */
    size_t count;
    double largest, fitted_to; /* n */
    double measured;           /* seconds at the largest: the median */
    size_t sizes;
};

/* What one way of predicting says; error NaN where it cannot be used. */
struct verdict {
    double error;  /* relative */
    bool interval; /* there is one */
    bool inside;   /* and it holds what was measured */
};

enum way { ERNEST, AUTO, SHEET, WAYS };

struct fits {
    struct curve *curves;
    size_t count;
    struct verdict (*verdicts)[WAYS];
};

/* ---- reading -------------------------------------------------------------------------------- */

enum field { WORKLOAD, METRIC, VALUE, N, SCALING, BATCH, FIELDS };

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Seconds of a step; NaN for metrics that are no time. */
static double to_seconds(const char *metric, bool weak, double n, double batch, double value)
{
    double work = weak ? n * batch : 1;

    if (begins(metric, "step_time") || begins(metric, "time_to") || begins(metric, "epoch_time"))
        return value;
    if (begins(metric, "samples_per_s_per") || begins(metric, "tflops_per"))
        return work / (value * n);
    if (begins(metric, "samples_per_s") || begins(metric, "tokens_per_s") ||
        begins(metric, "speedup"))
        return work / value;
    return NAN;
}

static double number_or(const char *text, double otherwise)
{
    double value;
    size_t used = hm__number_read(text, &value);

    return used > 0 && text[used] == '\0' && value > 0 ? value : otherwise;
}

static struct curve *find_curve(struct fits *f, char **fields, const int *columns, bool weak)
{
    const char *batch = weak ? fields[columns[BATCH]] : "";

    for (size_t i = f->count; i-- > 0;) {
        struct curve *c = &f->curves[i];
        if (strcmp(c->workload, fields[columns[WORKLOAD]]) == 0 &&
            strcmp(c->metric, fields[columns[METRIC]]) == 0 && strcmp(c->batch, batch) == 0)
            return c;
    }
    if (f->count == CURVES_MAX)
        return NULL;
    struct curve *c = &f->curves[f->count];
    snprintf(c->workload, sizeof(c->workload), "%s", fields[columns[WORKLOAD]]);
    snprintf(c->metric, sizeof(c->metric), "%s", fields[columns[METRIC]]);
    snprintf(c->batch, sizeof(c->batch), "%s", batch);
    c->weak = weak;
    c->speedup = begins(c->metric, "speedup");
    c->points = calloc(POINTS_MAX, sizeof(*c->points));
    f->count += c->points != NULL;
    return c->points ? c : NULL;
}

static bool add_row(struct fits *f, char **fields, const int *columns)
{
    bool weak = strstr(fields[columns[SCALING]], "weak") != NULL;
    double n = number_or(fields[columns[N]], NAN), value = number_or(fields[columns[VALUE]], NAN);
    double batch = number_or(fields[columns[BATCH]], 1);
    double seconds = to_seconds(fields[columns[METRIC]], weak, n, batch, value);

    if (isnan(n) || isnan(value) || isnan(seconds))
        return true;
    struct curve *c = find_curve(f, fields, columns, weak);
    if (c && c->count < POINTS_MAX)
        c->points[c->count++] = (struct point){n, seconds};
    return c != NULL;
}

/* Tables without these columns are about something else. */
static int read_table(struct fits *f, const char *path)
{
    static const char *const names[FIELDS] = {"workload_id", "metric",  "value",
                                              "n",           "scaling", "batch_per_worker"};
    struct hm_csv *csv;
    struct hm_err err = {0};
    int columns[FIELDS], got;
    char **fields;

    if (hm__csv_open(path, &csv, &err))
        return cli_report(&err);
    for (size_t i = 0; i < FIELDS; i++)
        if ((columns[i] = hm__csv_column(csv, names[i])) < 0) {
            hm__csv_close(csv);
            return 0;
        }
    while ((got = hm__csv_next(csv, &fields, &err)) == 1)
        if (!add_row(f, fields, columns))
            got = cli_complain("out of memory");
    hm__csv_close(csv);
    return got < 0 ? cli_report(&err) : 0;
}

static int read_folder(struct fits *f, const char *data)
{
    char pattern[1024];
    glob_t found;
    int rc = 0;

    snprintf(pattern, sizeof(pattern), "%s/scaling/*.csv", data);
    if (glob(pattern, 0, NULL, &found)) {
        globfree(&found);
        return cli_complain("validate: no tables in %s/scaling", data);
    }
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        rc = read_table(f, found.gl_pathv[i]);
    globfree(&found);
    return rc;
}

/* ---- curves --------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/* Sizes, the end of their smaller half, and the median at the largest. */
static void measure_curve(struct curve *c)
{
    size_t last = 0, seen = 0;

    qsort(c->points, c->count, sizeof(*c->points), compare_points);
    for (size_t i = 0; i < c->count; i++)
        c->sizes += i == 0 || c->points[i].n != c->points[i - 1].n;
    for (size_t i = 0; i < c->count; i++) {
        if (i == 0 || c->points[i].n != c->points[i - 1].n) {
            last = i;
            if (++seen == (c->sizes + 1) / 2)
                c->fitted_to = c->points[i].n;
        }
    }
    c->largest = c->points[last].n;
    size_t many = c->count - last, middle = last + many / 2;
    c->measured = many % 2 ? c->points[middle].seconds
                           : (c->points[middle - 1].seconds + c->points[middle].seconds) / 2;
}

/* The runs of the smaller half; per_unit: seconds of a unit of work, for Ernest. */
static struct hm_runs *small_runs(const struct curve *c, bool per_unit, bool sheet)
{
    struct hm_text text = {0};
    struct hm_runs *runs = NULL;
    bool sized = !per_unit && !sheet;

    hm__text_addf(&text, "n%s,%s\n", sized ? ",size" : "",
                  sheet && c->speedup ? "speedup" : "seconds");
    for (size_t i = 0; i < c->count && c->points[i].n <= c->fitted_to; i++) {
        const struct point *p = &c->points[i];
        double value = per_unit && c->weak   ? p->seconds / p->n
                       : sheet && c->speedup ? 1 / p->seconds
                                             : p->seconds;
        hm__text_addf(&text, "%.17g", p->n);
        if (sized)
            hm__text_addf(&text, ",%.17g", c->weak ? p->n : 1);
        hm__text_addf(&text, ",%.17g\n", value);
    }
    if (!text.failed)
        hm_runs_parse(text.data, text.length, c->workload, &runs, NULL);
    hm__text_release(&text);
    return runs;
}

/* ---- the three ways ------------------------------------------------------------------------- */

static struct verdict judge(const struct curve *c, const struct hm_fit *fit, const struct hm_at *at,
                            size_t at_count, double measured)
{
    struct hm_prediction p;

    if (hm_fit_predict(fit, at, at_count, &c->largest, 1, &p, NULL))
        return (struct verdict){.error = NAN};
    return (struct verdict){fabs(p.time_s / measured - 1), !isnan(p.low_s),
                            p.low_s <= measured && measured <= p.high_s};
}

static struct verdict try_ernest(const struct curve *c)
{
    static const char *const terms[] = {"1", "1/n", "ln(n)", "n"};
    struct hm_fit_settings settings = {.terms = terms, .errors = HM_ERRORS_RELATIVE};
    struct hm_runs *runs = small_runs(c, true, false);
    struct hm_fit *fit = NULL;
    struct verdict verdict = {.error = NAN};

    /* No more terms than runs: the last ones go first. */
    settings.term_count = c->sizes >= 7 ? 4 : (c->sizes + 1) / 2;
    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0)
        verdict = judge(c, fit, NULL, 0, c->weak ? c->measured / c->largest : c->measured);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return verdict;
}

static struct verdict try_auto(const struct curve *c)
{
    struct hm_fit_settings settings = {0};
    struct hm_at size = {"size", c->weak ? c->largest : 1};
    struct hm_runs *runs = small_runs(c, false, false);
    struct hm_fit *fit = NULL;
    struct verdict verdict = {.error = NAN};

    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0)
        verdict = judge(c, fit, &size, 1, c->measured);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return verdict;
}

/* Curves whose job can be written down: a built-in example, or a few words. */
static const struct {
    const char *workload, *batch, *example, *text;
} sheets[] = {
    {"spark_ann_mnist", "", "fig2-spark-ann.yaml", NULL},
    {"loopy_bp_1K", "", "fig4-bp-1k.yaml", NULL},
    {"loopy_bp_10K", "", "fig4-bp-16k.yaml", NULL},
    {"loopy_bp_100K", "", "fig4-bp-165k.yaml", NULL},
    {"loopy_bp_1M", "", "fig4-bp-1600k.yaml", NULL},
    {"loopy_bp_10M", "", "fig4-bp-16m.yaml", NULL},
    {"ddp_resnet50", "32", NULL,
     "{network: resnet-50, batch: 32, scaling: weak, cluster: {machine: dgx-1}}"},
    {"ddp_resnet50_bucket1MB", "32", NULL,
     "{network: resnet-50, batch: 32, scaling: weak, cluster: {machine: dgx-1}}"},
    {"mxnet_alexnet_p2", "512", NULL,
     "{network: alexnet, batch: 512, scaling: weak, cluster: {machine: p2.16xlarge}}"},
    {"mxnet_inception-v3_p2", "32", NULL,
     "{network: inception-v3, batch: 32, scaling: weak, cluster: {machine: p2.16xlarge}}"},
    {"tf_EC2_distributed_K80_InceptionV3_b64_synthetic", "64", NULL,
     "{network: inception-v3, batch: 64, scaling: weak, cluster: {machine: p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_InceptionV3_b32_synthetic", "32", NULL,
     "{network: inception-v3, batch: 32, scaling: weak, cluster: {machine: p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_ResNet-50_b64_synthetic", "64", NULL,
     "{network: resnet-50, batch: 64, scaling: weak, cluster: {machine: p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_ResNet-50_b32_synthetic", "32", NULL,
     "{network: resnet-50, batch: 32, scaling: weak, cluster: {machine: p2.8xlarge}}"},
};

/* The text of a built-in example; NULL if there is none. */
static const char *example_text(const char *wanted, size_t *length)
{
    const char *name, *text;

    for (size_t i = 0; hm_example(i, &name, &text, length); i++)
        if (strcmp(name, wanted) == 0)
            return text;
    return NULL;
}

/* The job of a curve, or NULL. */
static struct hm_job *find_job(const struct curve *c, const char *data,
                               const struct hm_catalog *catalog)
{
    char source[1200];
    struct hm_job *job = NULL;

    for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
        if (strcmp(sheets[i].workload, c->workload) != 0 || strcmp(sheets[i].batch, c->batch) != 0)
            continue;
        const char *text = sheets[i].text;
        size_t length = text ? strlen(text) : 0;
        if (!text)
            text = example_text(sheets[i].example, &length);
        snprintf(source, sizeof(source), "%s/%s", data,
                 sheets[i].example ? sheets[i].example : "job.yaml");
        if (text && hm_job_parse_with(catalog, text, length, source, NULL, 0, &job, NULL))
            job = NULL;
    }
    return job;
}

static struct verdict try_sheet(const struct curve *c, const char *data,
                                const struct hm_catalog *catalog)
{
    struct hm_job *job = find_job(c, data, catalog);
    struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = job ? small_runs(c, false, true) : NULL;
    struct hm_fit *fit = NULL;
    struct verdict verdict = {.error = NAN};

    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0) {
        /* Speedups are measured in units of the sheet's own reference. */
        double unit = c->speedup ? hm_fit_reference_s(fit) : 1;
        verdict = judge(c, fit, NULL, 0, c->measured * unit);
    }
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_job_free(job);
    return verdict;
}

/* ---- the table ------------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct summary {
    size_t count, intervals, inside;
    double median, ninetieth;
};

static struct summary sum_up(const struct fits *f, enum way way)
{
    double *errors = calloc(f->count + 1, sizeof(*errors));
    struct summary s = {.median = NAN, .ninetieth = NAN};

    for (size_t i = 0; errors && i < f->count; i++) {
        if (f->curves[i].sizes < SIZES_MIN || isnan(f->verdicts[i][way].error))
            continue;
        errors[s.count++] = f->verdicts[i][way].error;
        s.intervals += f->verdicts[i][way].interval;
        s.inside += f->verdicts[i][way].inside;
    }
    if (s.count == 0) {
        free(errors);
        return s;
    }
    qsort(errors, s.count, sizeof(*errors), compare_doubles);
    s.median =
        s.count % 2 ? errors[s.count / 2] : (errors[s.count / 2 - 1] + errors[s.count / 2]) / 2;
    s.ninetieth = errors[(size_t)(0.9 * (double)(s.count - 1))];
    free(errors);
    return s;
}

static const char *const way_names[WAYS] = {"ernest", "auto", "sheet"};

static void text_verdict(struct hm_text *out, const struct verdict *v)
{
    if (isnan(v->error))
        hm__text_addf(out, " %9s     ", "");
    else
        hm__text_addf(out, " %8.1f%% %-4s", 100 * v->error,
                      !v->interval ? "-"
                      : v->inside  ? "in"
                                   : "out");
}

static void render_text(struct hm_text *out, const struct fits *f)
{
    hm__text_addf(out, "%-52s %5s %9s %9s", "curve", "sizes", "fitted to", "predicts");
    for (int w = 0; w < WAYS; w++)
        hm__text_addf(out, " %9s     ", way_names[w]);
    hm__text_end_line(out);
    for (size_t i = 0; i < f->count; i++) {
        const struct curve *c = &f->curves[i];
        char name[140];
        if (c->sizes < SIZES_MIN)
            continue;
        snprintf(name, sizeof(name), "%s%s%s", c->workload, *c->batch ? " " : "", c->batch);
        hm__text_addf(out, "%-52.52s %5zu %9g %9g", name, c->sizes, c->fitted_to, c->largest);
        for (int w = 0; w < WAYS; w++)
            text_verdict(out, &f->verdicts[i][w]);
        hm__text_end_line(out);
    }
    for (int w = 0; w < WAYS; w++) {
        struct summary s = sum_up(f, (enum way)w);
        if (s.count)
            hm__text_addf(out,
                          "%s%-7s %zu curves: median error %.1f %%, 90th percentile %.0f %%, the "
                          "90 %% interval holds %.0f %% of %zu\n",
                          w ? "" : "\n", way_names[w], s.count, 100 * s.median, 100 * s.ninetieth,
                          100 * (double)s.inside / (double)s.intervals, s.intervals);
    }
}

static void render_json(struct hm_text *out, const struct fits *f)
{
    bool first = true;

    hm__text_add(out, "{\"curves\":[");
    for (size_t i = 0; i < f->count; i++) {
        const struct curve *c = &f->curves[i];
        if (c->sizes < SIZES_MIN)
            continue;
        hm__text_add(out, first ? "\n  {\"workload\":" : ",\n  {\"workload\":");
        first = false;
        hm__json_text(out, c->workload);
        hm__json_named(out, "batch", *c->batch ? c->batch : NULL);
        hm__json_named(out, "metric", c->metric);
        hm__text_addf(out, ",\"weak\":%s,\"sizes\":%zu", c->weak ? "true" : "false", c->sizes);
        hm__json_field(out, "fitted_to", c->fitted_to);
        hm__json_field(out, "n", c->largest);
        for (int w = 0; w < WAYS; w++) {
            const struct verdict *v = &f->verdicts[i][w];
            hm__text_addf(out, ",\"%s\":{\"error\":", way_names[w]);
            hm__json_number(out, v->error);
            hm__text_addf(out, ",\"inside\":%s}",
                          isnan(v->error) ? "null"
                          : v->inside     ? "true"
                                          : "false");
        }
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
    for (int w = 0; w < WAYS; w++) {
        struct summary s = sum_up(f, (enum way)w);
        hm__text_addf(out, ",\n\"%s\":{\"curves\":%zu,\"intervals\":%zu,\"inside\":%zu",
                      way_names[w], s.count, s.intervals, s.inside);
        hm__json_field(out, "median", s.median);
        hm__json_field(out, "ninetieth", s.ninetieth);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "}\n");
}

static int show(const struct fits *f, bool json)
{
    struct hm_text out = {0};

    if (json)
        render_json(&out, f);
    else
        render_text(&out, f);
    return cli_put_text(&out);
}

int cli_validate_fits(const char *data, bool json, const struct hm_catalog *catalog)
{
    struct fits f = {.curves = calloc(CURVES_MAX, sizeof(*f.curves)),
                     .verdicts = calloc(CURVES_MAX, sizeof(*f.verdicts))};
    int rc = f.curves && f.verdicts ? 0 : cli_complain("out of memory");

    if (rc == 0 && !data)
        rc = cli_complain("validate: --fits needs the folder of published curves: --data DIR, "
                          "with DIR/scaling/*.csv");
    if (rc == 0)
        rc = read_folder(&f, data);
    struct cli_progress progress = cli_progress_start("fits", f.count);
    for (size_t i = 0; rc == 0 && i < f.count; i++) {
        measure_curve(&f.curves[i]);
        if (f.curves[i].sizes < SIZES_MIN)
            continue;
        f.verdicts[i][ERNEST] = try_ernest(&f.curves[i]);
        f.verdicts[i][AUTO] = try_auto(&f.curves[i]);
        f.verdicts[i][SHEET] = try_sheet(&f.curves[i], data, catalog);
        cli_progress_step(&progress, i);
    }
    cli_progress_end(&progress);
    if (rc == 0)
        rc = show(&f, json);
    for (size_t i = 0; f.curves && i < f.count; i++)
        free(f.curves[i].points);
    free(f.curves);
    free(f.verdicts);
    return rc;
}
