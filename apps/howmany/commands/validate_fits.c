/*
 * Tests fits on published scaling curves: for each curve, fits the smaller half of the sizes
 * (numbers of workers), predicts the time at the largest size, and compares it with the
 * measurement.
 *
 * A curve consists of the rows of one source that have the same workload and metric (and, with weak
 * scaling, the same batch per worker); it must have at least five sizes. The curves are in
 * DIR/curves.csv, with a column for the source, or in DIR/scaling, with a table for each source.
 * Rates, times and speedups are all converted to seconds per step: with weak scaling, a step is one
 * batch on each worker; with strong scaling, it is a fixed amount of work. Ernest's terms are
 * fitted to the time per unit of work, as in the paper on Ernest.
 */
#include "validate_fits.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "csv.h"
#include "format.h"
#include "howmany_fit.h"
#include "json.h"
#include "order.h"
#include "text.h"

enum { POINTS_MAX = 512 };

/* ---- reading -------------------------------------------------------------------------------- */

enum fit_column {
    WORKLOAD,
    METRIC,
    VALUE,
    N,
    SCALING,
    BATCH,
    FIELDS,
    NODES = FIELDS,
    SOURCE,
    COLUMNS
};

static bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Converts a value to seconds per step; NaN if the metric is not a time, a rate or a speedup. */
static double to_seconds(const char *metric, bool weak, double n, double batch, double value)
{
    double work = weak ? n * batch : 1;

    if (text_begins(metric, "step_time") || text_begins(metric, "time_to") ||
        text_begins(metric, "epoch_time"))
        return value;
    if (text_begins(metric, "samples_per_s_per") || text_begins(metric, "tflops_per"))
        return work / (value * n);
    if (text_begins(metric, "samples_per_s") || text_begins(metric, "tokens_per_s") ||
        text_begins(metric, "speedup"))
        return work / value;
    return NAN;
}

static double number_or(const char *text, double otherwise)
{
    double value;
    size_t used = hm__number_read(text, &value);

    return used > 0 && text[used] == '\0' && value > 0 ? value : otherwise;
}

static struct validate_curve *find_curve(struct validate_curves *f, const char *source,
                                         char **fields, const int *columns, bool weak)
{
    const char *batch = weak ? fields[columns[BATCH]] : "";

    for (size_t i = f->count; i-- > 0;) {
        struct validate_curve *c = &f->curves[i];
        if (strcmp(c->source, source) == 0 && strcmp(c->workload, fields[columns[WORKLOAD]]) == 0 &&
            strcmp(c->metric, fields[columns[METRIC]]) == 0 && strcmp(c->batch, batch) == 0)
            return c;
    }
    if (f->count == VALIDATE_CURVES)
        return NULL;
    struct validate_curve *c = &f->curves[f->count];
    snprintf(c->source, sizeof(c->source), "%s", source);
    snprintf(c->workload, sizeof(c->workload), "%s", fields[columns[WORKLOAD]]);
    snprintf(c->metric, sizeof(c->metric), "%s", fields[columns[METRIC]]);
    snprintf(c->batch, sizeof(c->batch), "%s", batch);
    c->weak = weak;
    c->speedup = text_begins(c->metric, "speedup");
    c->points = calloc(POINTS_MAX, sizeof(*c->points));
    f->count += c->points != NULL;
    return c->points ? c : NULL;
}

static bool add_row(struct validate_curves *f, const char *source, char **fields,
                    const int *columns)
{
    bool weak = strstr(fields[columns[SCALING]], "weak") != NULL;
    double n = number_or(fields[columns[N]], NAN), value = number_or(fields[columns[VALUE]], NAN);
    double batch = number_or(fields[columns[BATCH]], 1);
    double seconds = to_seconds(fields[columns[METRIC]], weak, n, batch, value);

    if (isnan(n) || isnan(value) || isnan(seconds))
        return true;
    if (columns[SOURCE] >= 0)
        source = fields[columns[SOURCE]];
    struct validate_curve *c = find_curve(f, source, fields, columns, weak);
    if (c && c->count < POINTS_MAX)
        c->points[c->count++] = (struct validate_point){
            n, seconds, columns[NODES] < 0 ? NAN : number_or(fields[columns[NODES]], NAN)};
    return c != NULL;
}

/*
 * Reads the curves of one table; a table without the required columns is skipped. `own` is true for
 * data/curves.csv, which has a column for the source; in any other table, all curves belong to one
 * source.
 */
static int read_table(struct validate_curves *f, const char *path, bool own)
{
    const char *const names[FIELDS] = {
        own ? "workload" : "workload_id", "metric", "value", "n", "scaling", "batch_per_worker"};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char source[sizeof(f->curves->source)];
    struct hm_csv *csv;
    struct hm_err err = {0};
    int columns[COLUMNS], got;
    char **fields;

    if (hm__csv_open(path, &csv, &err))
        return cli_report(&err);
    for (size_t i = 0; i < FIELDS; i++)
        if ((columns[i] = hm__csv_column(csv, names[i])) < 0) {
            hm__csv_close(csv);
            return 0;
        }
    columns[NODES] = hm__csv_column(csv, own ? "nodes" : "n_nodes");
    columns[SOURCE] = own ? hm__csv_column(csv, "source") : -1;
    snprintf(source, sizeof(source), "%.*s", (int)strcspn(name, "."), name);
    while ((got = hm__csv_next(csv, &fields, &err)) == 1)
        if (!add_row(f, source, fields, columns)) {
            hm__csv_close(csv);
            return cli_complain("out of memory");
        }
    hm__csv_close(csv);
    return got < 0 ? cli_report(&err) : 0;
}

static int read_folder(struct validate_curves *f, const char *data)
{
    char pattern[1024];
    glob_t found;
    int rc = 0;

    snprintf(pattern, sizeof(pattern), "%s/curves.csv", data);
    if (access(pattern, R_OK) == 0)
        return read_table(f, pattern, true);
    snprintf(pattern, sizeof(pattern), "%s/scaling/*.csv", data);
    if (glob(pattern, 0, NULL, &found)) {
        globfree(&found);
        return cli_complain("validate: no tables in %s/scaling, and no %s/curves.csv", data, data);
    }
    for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
        rc = read_table(f, found.gl_pathv[i], false);
    globfree(&found);
    return rc;
}

/* ---- curves --------------------------------------------------------------------------------- */

static int compare_points(const void *a, const void *b)
{
    const struct validate_point *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return x->seconds < y->seconds ? -1 : x->seconds > y->seconds;
}

/*
 * Counts the distinct numbers of workers in a curve, finds the end of their smaller half, and
 * computes the median time on the largest number.
 */
static void finish_curve(struct validate_curve *c)
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

/* Returns whether the number of nodes is known for every run of a curve. */
static bool nodes_known(const struct validate_curve *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (isnan(c->points[i].nodes))
            return false;
    return true;
}

size_t validate_small_count(const struct validate_curve *c)
{
    size_t count = 0;

    while (count < c->count && c->points[count].n <= c->fitted_to)
        count++;
    return count;
}

/* Creates a table of the runs on the smaller half of a curve's numbers of workers. If `per_unit` is
 * true, times are in seconds per unit of work, for Ernest's terms. If `sheet` is true, the table is
 * for a fit whose prior is the model of a job. */
static struct hm_runs *small_runs(const struct validate_curve *c, bool per_unit, bool sheet)
{
    const size_t count = validate_small_count(c);
    const bool sized = !per_unit && !sheet;
    double *values = calloc(4 * count + 1, sizeof(*values));
    struct hm_runs *runs = NULL;

    if (!values)
        return NULL;
    double *n = values, *seconds = n + count, *sizes = seconds + count, *nodes = sizes + count;
    const struct hm_column columns[] = {{.name = "size", .values = sizes},
                                        {.name = "nodes", .values = nodes}};
    for (size_t i = 0; i < count; i++) {
        const struct validate_point *p = &c->points[i];
        n[i] = p->n;
        nodes[i] = p->nodes;
        sizes[i] = c->weak ? p->n : 1;
        seconds[i] = per_unit && c->weak ? p->seconds / p->n : p->seconds;
    }
    if (hm_runs_new(n, seconds, count, columns, !sized ? 0 : nodes_known(c) ? 2 : 1, &runs, NULL))
        runs = NULL;
    if (runs)
        runs->relative = sheet && c->speedup;
    free(values);
    return runs;
}

/* ---- the three methods ---------------------------------------------------------------------- */

static struct validate_result predict_largest(const struct validate_curve *c,
                                              const struct hm_fit *fit, const struct hm_at *at,
                                              size_t at_count, double measured)
{
    const double n[2] = {c->largest, 8 * c->fitted_to};
    struct hm_prediction p[2];

    if (hm_fit_predict(fit, at, at_count, n, 2, p, NULL))
        return (struct validate_result){.error = NAN};
    return (struct validate_result){.error = fabs(p->time_s / measured - 1),
                                    .interval = !isnan(p->low_s),
                                    .inside = p->low_s <= measured && measured <= p->high_s,
                                    .predicted = p->time_s,
                                    .low = p->low_s,
                                    .high = p->high_s,
                                    .width = p[1].high_s / p[1].low_s};
}

static struct validate_result fit_ernest(const struct validate_curve *c)
{
    static const char *const terms[] = {"1", "1/n", "ln(n)", "n"};
    struct hm_fit_settings settings = {.terms = terms, .errors = HM_ERRORS_RELATIVE};
    struct hm_runs *runs = small_runs(c, true, false);
    struct hm_fit *fit = NULL;
    struct validate_result result = {.error = NAN};

    /* There must not be more terms than runs, so the last terms are dropped if there are few
     * runs. */
    settings.term_count = c->sizes >= 7 ? 4 : (c->sizes + 1) / 2;
    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0)
        result = predict_largest(c, fit, NULL, 0, c->weak ? c->measured / c->largest : c->measured);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return result;
}

struct validate_result validate_curve_predict(const struct validate_curve *c,
                                              const struct hm_fit_rule *rule, double level)
{
    struct hm_fit_settings settings = {.rule = rule, .level = level};
    struct hm_at size = {"size", c->weak ? c->largest : 1};
    struct hm_runs *runs = small_runs(c, false, false);
    struct hm_fit *fit = NULL;
    struct validate_result result = {.error = NAN};

    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0)
        result = predict_largest(c, fit, &size, 1, c->measured);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return result;
}

/* Curves whose job is known, either as a built-in example or as the text of a job file. Their fit
 * starts from the model of that job. */
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
     "{network: resnet-50, batch: 32, scaling: weak, precision: fp32, cluster: {machine: dgx-1}}"},
    {"ddp_resnet50_bucket1MB", "32", NULL,
     "{network: resnet-50, batch: 32, scaling: weak, precision: fp32, cluster: {machine: dgx-1}}"},
    {"mxnet_alexnet_p2", "512", NULL,
     "{network: alexnet, batch: 512, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.16xlarge}}"},
    {"mxnet_inception-v3_p2", "32", NULL,
     "{network: inception-v3, batch: 32, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.16xlarge}}"},
    {"tf_EC2_distributed_K80_InceptionV3_b64_synthetic", "64", NULL,
     "{network: inception-v3, batch: 64, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_InceptionV3_b32_synthetic", "32", NULL,
     "{network: inception-v3, batch: 32, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_ResNet-50_b64_synthetic", "64", NULL,
     "{network: resnet-50, batch: 64, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.8xlarge}}"},
    {"tf_EC2_distributed_K80_ResNet-50_b32_synthetic", "32", NULL,
     "{network: resnet-50, batch: 32, scaling: weak, precision: fp32, cluster: {machine: "
     "p2.8xlarge}}"},
};

/* Returns the text of the built-in example with the name `wanted`; NULL if there is none. */
static const char *example_text(const char *wanted, size_t *length)
{
    const char *name, *text;

    for (size_t i = 0; hm_example(i, &name, &text, length); i++)
        if (strcmp(name, wanted) == 0)
            return text;
    return NULL;
}

/* Returns the job of a curve; NULL if no job is known for it. */
static struct hm_job *find_job(const struct validate_curve *c, const char *data,
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

static struct validate_result fit_sheet(const struct validate_curve *c, const char *data,
                                        const struct hm_catalog *catalog)
{
    struct hm_job *job = find_job(c, data, catalog);
    struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = job ? small_runs(c, false, true) : NULL;
    struct hm_fit *fit = NULL;
    struct validate_result result = {.error = NAN};

    if (runs && hm_fit_new(runs, &settings, &fit, NULL) == 0) {
        /* Times that were computed from speedups are relative, so they are multiplied by the
         * reference time of the fit. */
        double unit = c->speedup ? hm_fit_reference_s(fit) : 1;
        result = predict_largest(c, fit, NULL, 0, c->measured * unit);
    }
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_job_free(job);
    return result;
}

/* ---- the table ------------------------------------------------------------------------------ */

struct fit_summary {
    size_t count, intervals, inside;
    double median, ninetieth;
};

static struct fit_summary summarise_method(const struct validate_curves *f,
                                           enum validate_method method)
{
    double *errors = calloc(f->count + 1, sizeof(*errors));
    struct fit_summary s = {.median = NAN, .ninetieth = NAN};

    for (size_t i = 0; errors && i < f->count; i++) {
        if (f->curves[i].sizes < VALIDATE_SIZES || isnan(f->results[i][method].error))
            continue;
        errors[s.count++] = f->results[i][method].error;
        s.intervals += f->results[i][method].interval;
        s.inside += f->results[i][method].inside;
    }
    if (s.count == 0) {
        free(errors);
        return s;
    }
    s.median = hm__values_median(errors, s.count);
    s.ninetieth = errors[(size_t)(0.9 * (double)(s.count - 1))];
    free(errors);
    return s;
}

static const char *const method_names[METHODS] = {"ernest", "auto", "sheet"};

static void add_result_text(struct hm_text *out, const struct validate_result *v)
{
    if (isnan(v->error))
        hm__text_addf(out, " %9s     ", "");
    else
        hm__text_addf(out, " %8.1f%% %-4s", 100 * v->error,
                      !v->interval ? "-"
                      : v->inside  ? "in"
                                   : "out");
}

static void add_fits_text(struct hm_text *out, const struct validate_curves *f)
{
    hm__text_addf(out, "%-52s %5s %9s %9s", "curve", "sizes", "fitted to", "predicts");
    for (int w = 0; w < METHODS; w++)
        hm__text_addf(out, " %9s     ", method_names[w]);
    hm__text_end_line(out);
    for (size_t i = 0; i < f->count; i++) {
        const struct validate_curve *c = &f->curves[i];
        char name[140];
        if (c->sizes < VALIDATE_SIZES)
            continue;
        snprintf(name, sizeof(name), "%s%s%s", c->workload, *c->batch ? " " : "", c->batch);
        hm__text_addf(out, "%-52.52s %5zu %9g %9g", name, c->sizes, c->fitted_to, c->largest);
        for (int w = 0; w < METHODS; w++)
            add_result_text(out, &f->results[i][w]);
        hm__text_end_line(out);
    }
    for (int w = 0; w < METHODS; w++) {
        struct fit_summary s = summarise_method(f, (enum validate_method)w);
        if (s.count)
            hm__text_addf(out,
                          "%s%-7s %zu curves: median error %.1f %%, 90th percentile %.0f %%, the "
                          "90 %% interval holds %.0f %% of %zu\n",
                          w ? "" : "\n", method_names[w], s.count, 100 * s.median,
                          100 * s.ninetieth, 100 * (double)s.inside / (double)s.intervals,
                          s.intervals);
    }
}

/*
 * Writes the results of the three methods for a curve as the members "ernest", "auto" and "sheet".
 */
static void put_results(struct hm_json *json, const struct validate_result *results)
{
    for (int m = 0; m < METHODS; m++) {
        hm__json_open(json, method_names[m], HM_JSON_OBJECT);
        hm__json_put_number(json, "error", results[m].error);
        hm__json_put_number(json, "predicted_s", results[m].predicted);
        hm__json_put_number(json, "low_s", results[m].low);
        hm__json_put_number(json, "high_s", results[m].high);
        hm__json_put_number(json, "width", results[m].width);
        if (isnan(results[m].error))
            hm__json_put_null(json, "inside");
        else
            hm__json_put_bool(json, "inside", results[m].inside);
        hm__json_close(json);
    }
}

static void put_curve(struct hm_json *json, const struct validate_curve *c,
                      const struct validate_result *results)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "source", c->source);
    hm__json_put_text(json, "workload", c->workload);
    hm__json_put_text(json, "batch", *c->batch ? c->batch : NULL);
    hm__json_put_text(json, "metric", c->metric);
    hm__json_put_bool(json, "weak", c->weak);
    hm__json_put_number(json, "sizes", (double)c->sizes);
    hm__json_put_number(json, "fitted_to", c->fitted_to);
    hm__json_put_number(json, "n", c->largest);
    hm__json_put_number(json, "measured_s", c->measured);
    put_results(json, results);
    hm__json_close(json);
}

static void add_fits_json(struct hm_text *out, const struct validate_curves *f)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "curves", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < f->count; i++)
        if (f->curves[i].sizes >= VALIDATE_SIZES)
            put_curve(&json, &f->curves[i], f->results[i]);
    hm__json_close(&json);
    for (int m = 0; m < METHODS; m++) {
        struct fit_summary s = summarise_method(f, (enum validate_method)m);
        hm__json_open(&json, method_names[m], HM_JSON_OBJECT);
        hm__json_put_number(&json, "curves", (double)s.count);
        hm__json_put_number(&json, "intervals", (double)s.intervals);
        hm__json_put_number(&json, "inside", (double)s.inside);
        hm__json_put_number(&json, "median", s.median);
        hm__json_put_number(&json, "ninetieth", s.ninetieth);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

static int print_fits(const struct validate_curves *f, bool json)
{
    struct hm_text out = {0};

    if (json)
        add_fits_json(&out, f);
    else
        add_fits_text(&out, f);
    return cli_put_text(&out);
}

void validate_curves_release(struct validate_curves *f)
{
    for (size_t i = 0; f->curves && i < f->count; i++)
        free(f->curves[i].points);
    free(f->curves);
    free(f->results);
}

int validate_curves_read(struct validate_curves *f, const char *data, const char *option)
{
    size_t kept = 0;

    *f = (struct validate_curves){.curves = calloc(VALIDATE_CURVES, sizeof(*f->curves)),
                                  .results = calloc(VALIDATE_CURVES, sizeof(*f->results))};
    int rc = f->curves && f->results ? 0 : cli_complain("out of memory");
    if (rc == 0 && !data)
        rc = cli_complain("validate: %s needs the folder of published curves: --data DIR, "
                          "with DIR/curves.csv (as in data/) or DIR/scaling/*.csv",
                          option);
    if (rc == 0)
        rc = read_folder(f, data);
    for (size_t i = 0; rc == 0 && i < f->count; i++) {
        finish_curve(&f->curves[i]);
        if (f->curves[i].sizes < VALIDATE_SIZES)
            free(f->curves[i].points);
        else
            f->curves[kept++] = f->curves[i];
    }
    f->count = rc == 0 ? kept : f->count;
    return rc;
}

int validate_fits(const char *data, bool json, const struct hm_catalog *catalog)
{
    struct validate_curves f;
    int rc = validate_curves_read(&f, data, "--fits");

    struct cli_progress progress = cli_progress_start("fits", f.count);
    for (size_t i = 0; rc == 0 && i < f.count; i++) {
        f.results[i][ERNEST] = fit_ernest(&f.curves[i]);
        f.results[i][AUTO] = validate_curve_predict(&f.curves[i], NULL, 0.9);
        f.results[i][SHEET] = fit_sheet(&f.curves[i], data, catalog);
        cli_progress_step(&progress, i);
    }
    cli_progress_end(&progress);
    if (rc == 0)
        rc = print_fits(&f, json);
    validate_curves_release(&f);
    return rc;
}
