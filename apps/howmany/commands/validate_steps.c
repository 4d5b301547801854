/*
 * Predicts measured training steps and collectives: each row of the tables in data/ (or of a file
 * with the same columns) is predicted from its network, machine, precision and software, and
 * compared with the measurement. For each source, network, precision and machine, the output
 * contains the median absolute error and the share of the rows whose measured time is in the 90 %
 * interval. The intervals are estimated in validate_kinds.c.
 */
#include "validate_steps.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "json.h"
#include "order.h"
#include "plot_style.h"
#include "predict.h"
#include "read_measured.h"
#include "readers.h"
#include "render.h"
#include "text.h"
#include "validate_kinds.h"
#include "validate_one.h"

/* A row of the table of steps or of collectives, with its prediction. */
struct step_case {
    const char *kind, *source, *network, *machine, *precision, *software;
    double n, batch, bytes; /* Numbers of workers, of samples in a batch, and of bytes in a message;
                               `batch` is NaN for collectives, and `bytes` is NaN for steps. */
    double measured_s, predicted_s, low_s, high_s;
    /* Measured and predicted peak memory in bytes; NaN if not measured. */
    double measured_bytes, predicted_bytes;
};

struct step_cases {
    struct step_case *rows;
    size_t count;
    struct hm_measured_steps steps;
    struct hm_measured_collectives collectives;
    struct step_kinds kinds;
    struct hm_platform_rows platforms; /* Measured iterations on CPUs and with frameworks, which are
                                          used to estimate intervals. */
};

static double case_error(const struct step_case *c)
{
    return c->predicted_s / c->measured_s - 1;
}

static bool case_inside(const struct step_case *c)
{
    return c->measured_s >= c->low_s && c->measured_s <= c->high_s;
}

static int add_steps(struct step_cases *all, struct hm_err *err)
{
    for (size_t i = 0; i < all->steps.count; i++) {
        const struct hm_measured_step *s = &all->steps.rows[i];
        struct hm_point p;
        int rc = hm__predict_step(s->job, &s->way, s->n, NULL, &p, err);
        if (rc)
            return rc;
        enum hm_sheet_kind kind = hm__sheet_kind(s->job, &s->job->cluster, &s->way, s->n);
        struct hm_interval interval = hm__sheet_interval(&hm__sheet_errors[kind]);
        bool platform = s->way.platform != HM_PLATFORM_JOB;
        all->rows[all->count++] = (struct step_case){.kind = platform ? "platform" : "step",
                                                     .source = s->source,
                                                     .network = s->network,
                                                     .machine = s->machine,
                                                     .precision = s->precision,
                                                     .software = s->software,
                                                     .n = s->n,
                                                     .batch = s->batch,
                                                     .bytes = NAN,
                                                     .measured_s = s->seconds,
                                                     .predicted_s = p.time_s,
                                                     .low_s = p.time_s * interval.low,
                                                     .high_s = p.time_s * interval.high,
                                                     .measured_bytes = s->memory_bytes,
                                                     .predicted_bytes = p.memory_bytes};
    }
    return 0;
}

static void add_collectives(struct step_cases *all)
{
    const struct hm_interval interval = hm__predict_allreduce_interval();

    for (size_t i = 0; i < all->collectives.count; i++) {
        const struct hm_measured_collective *c = &all->collectives.rows[i];
        double seconds = hm__predict_allreduce(c->cluster, c->n, c->bytes, NULL);
        all->rows[all->count++] = (struct step_case){.kind = "all-reduce",
                                                     .source = c->source,
                                                     .network = "",
                                                     .machine = c->machine,
                                                     .precision = "",
                                                     .software = "",
                                                     .n = c->n,
                                                     .batch = NAN,
                                                     .bytes = c->bytes,
                                                     .measured_s = c->seconds,
                                                     .predicted_s = seconds,
                                                     .low_s = seconds * interval.low,
                                                     .high_s = seconds * interval.high,
                                                     .measured_bytes = NAN,
                                                     .predicted_bytes = NAN};
    }
}

static int read_cases(struct step_cases *all, const char *path, const struct hm_catalog *catalog,
                      struct hm_err *err)
{
    char *text = NULL;
    size_t length = 0;
    int rc = path ? hm__read_file(path, &text, &length, err) : 0;

    if (rc == 0)
        rc = hm__measured_steps_read(catalog, text, length, path, &all->steps, err);
    if (rc == 0 && !path)
        rc = hm__measured_collectives_read(catalog, NULL, 0, NULL, &all->collectives, err);
    if (rc == 0 && !path)
        rc = hm__platform_rows_read(catalog, NULL, 0, NULL, &all->platforms, err);
    hm_text_free(text);
    if (rc)
        return rc;
    all->rows = calloc(all->steps.count + all->collectives.count + 1, sizeof(*all->rows));
    if (!all->rows)
        return HM_E_NOMEM;
    rc = add_steps(all, err);
    if (rc)
        return rc;
    add_collectives(all);
    return step_kinds_init(&all->kinds, &all->steps, &all->platforms, catalog, err);
}

/* ---- medians --------------------------------------------------------------------------------- */

/* The properties used to group rows. */
static const char *const groupings[] = {"kind", "source", "network", "precision", "machine"};
enum { GROUPINGS = sizeof(groupings) / sizeof(groupings[0]) };

static const char *case_key(const struct step_case *c, size_t grouping)
{
    const char *const keys[] = {c->kind, c->source, c->network, c->precision, c->machine};
    return keys[grouping];
}

struct group_summary {
    size_t count, inside;
    double median, memory_median; /* Median absolute errors of the time and of the peak memory; NaN
                                     if not measured. */
};

/*
 * Summarises the rows of a group; `values` is a buffer that is large enough for one value per row.
 */
static struct group_summary group_summarise(const struct step_cases *all, size_t grouping,
                                            const char *key, double *values)
{
    struct group_summary s = {0};
    size_t memories = 0;

    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(case_key(&all->rows[i], grouping), key) != 0)
            continue;
        values[s.count++] = fabs(case_error(&all->rows[i]));
        s.inside += case_inside(&all->rows[i]);
    }
    s.median = hm__values_median(values, s.count);
    for (size_t i = 0; i < all->count; i++) {
        const struct step_case *c = &all->rows[i];
        if (strcmp(case_key(c, grouping), key) == 0 && c->measured_bytes > 0)
            values[memories++] = fabs(c->predicted_bytes / c->measured_bytes - 1);
    }
    s.memory_median = hm__values_median(values, memories);
    return s;
}

/* Returns whether row i is the first row of its group. */
static bool key_is_new(const struct step_cases *all, size_t grouping, size_t i)
{
    const char *key = case_key(&all->rows[i], grouping);

    for (size_t k = 0; k < i; k++)
        if (strcmp(case_key(&all->rows[k], grouping), key) == 0)
            return false;
    return *key != '\0';
}

/* ---- output ---------------------------------------------------------------------------------- */

static void put_case_json(struct hm_json *json, const struct step_case *c)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "kind", c->kind);
    hm__json_put_text(json, "source", c->source);
    hm__json_put_text(json, "network", c->network);
    hm__json_put_text(json, "machine", c->machine);
    hm__json_put_text(json, "precision", c->precision);
    hm__json_put_text(json, "software", c->software);
    hm__json_put_number(json, "n", c->n);
    hm__json_put_number(json, "batch_per_worker", c->batch);
    hm__json_put_number(json, "bytes", c->bytes);
    hm__json_put_number(json, "measured_s", c->measured_s);
    hm__json_put_number(json, "predicted_s", c->predicted_s);
    hm__json_put_number(json, "low_s", c->low_s);
    hm__json_put_number(json, "high_s", c->high_s);
    hm__json_put_number(json, "error", case_error(c));
    hm__json_put_number(json, "measured_bytes", c->measured_bytes);
    hm__json_put_number(json, "predicted_bytes", c->measured_bytes > 0 ? c->predicted_bytes : NAN);
    hm__json_close(json);
}

static int put_json(struct hm_text *out, const struct step_cases *all, double *values,
                    struct hm_err *err)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_open(&json, "rows", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < all->count; i++)
        put_case_json(&json, &all->rows[i]);
    hm__json_close(&json);
    hm__json_open(&json, "medians", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t g = 0; g < GROUPINGS; g++)
        for (size_t i = 0; i < all->count; i++) {
            if (!key_is_new(all, g, i))
                continue;
            const char *key = case_key(&all->rows[i], g);
            struct group_summary s = group_summarise(all, g, key, values);
            hm__json_open(&json, NULL, HM_JSON_OBJECT);
            hm__json_put_text(&json, "by", groupings[g]);
            hm__json_put_text(&json, "name", key);
            hm__json_put_number(&json, "rows", (double)s.count);
            hm__json_put_number(&json, "median_error", s.median);
            hm__json_put_number(&json, "covered", (double)s.inside / (double)s.count);
            hm__json_put_number(&json, "median_memory_error", s.memory_median);
            hm__json_close(&json);
        }
    hm__json_close(&json);
    step_kinds_put_json(&json, &all->kinds);
    int rc = validate_one(NULL, &json, &all->steps, err);
    hm__json_close(&json);
    hm__text_add(out, "\n");
    return rc;
}

static void put_case_text(struct hm_text *out, const struct step_case *c)
{
    char what[64];

    if (c->bytes > 0)
        snprintf(what, sizeof(what), "all-reduce of %.4g MB", c->bytes / 1e6);
    else
        snprintf(what, sizeof(what), "%.28s b%g %s", c->network, c->batch, c->precision);
    hm__text_addf(out, "%-18.18s %-36.36s %-16.16s %5g %11.4g %11.4g %10.4g-%-10.4g %+6.1f %%\n",
                  c->source, what, c->machine, c->n, c->measured_s * 1e3, c->predicted_s * 1e3,
                  c->low_s * 1e3, c->high_s * 1e3, 100 * case_error(c));
}

static int put_text(struct hm_text *out, const struct step_cases *all, double *values,
                    struct hm_err *err)
{
    hm__text_addf(out, "%-18s %-36s %-16s %5s %11s %11s %21s %8s\n", "source", "what", "machine",
                  "n", "measured ms", "ours ms", "90 % interval", "error");
    for (size_t i = 0; i < all->count; i++)
        put_case_text(out, &all->rows[i]);
    for (size_t g = 0; g < GROUPINGS; g++) {
        hm__text_addf(out, "\n%-36s %5s %13s %9s %14s\n", groupings[g], "rows", "median error",
                      "covered", "memory error");
        for (size_t i = 0; i < all->count; i++) {
            if (!key_is_new(all, g, i))
                continue;
            const char *key = case_key(&all->rows[i], g);
            struct group_summary s = group_summarise(all, g, key, values);
            hm__text_addf(out, "%-36.36s %5zu %11.1f %% %7.0f %%", key, s.count, 100 * s.median,
                          100 * (double)s.inside / (double)s.count);
            if (isnan(s.memory_median))
                hm__text_addf(out, " %14s\n", "-");
            else
                hm__text_addf(out, " %12.1f %%\n", 100 * s.memory_median);
        }
    }
    step_kinds_put_text(out, &all->kinds);
    return validate_one(out, NULL, &all->steps, err);
}

/* Writes a plot of predicted times against measured times, on logarithmic axes. */
static int write_plot(const struct step_cases *all, const char *plot)
{
    struct hm_text out = {0};
    struct hm_err err = {0};

    if (hm__gnuplot_output(&out, plot, 700, 600, &err)) {
        hm__text_release(&out);
        return cli_report(&err);
    }
    hm__text_add(&out, "$rows << EOD\n");
    for (size_t i = 0; i < all->count; i++)
        hm__text_addf(&out, "%.6g %.6g\n", all->rows[i].measured_s, all->rows[i].predicted_s);
    hm__text_addf(&out,
                  "EOD\nset logscale xy\nset format '%%g'\n"
                  "set xlabel 'measured s'\nset ylabel 'predicted s'\n"
                  "plot $rows using 1:2 with points pt 7 ps 0.5 lt %d title 'rows', "
                  "x with lines lw 1 lt %d title 'equal'\nunset output\n",
                  HM_PLOT_MODEL, HM_PLOT_GREY);
    int rc = out.failed ? cli_complain("out of memory") : cli_gnuplot(out.data, plot);
    hm__text_release(&out);
    return rc;
}

int validate_steps(const char *path, bool json, const char *plot, const struct hm_catalog *catalog)
{
    struct step_cases all = {0};
    struct hm_text out = {0};
    struct hm_err err = {0};
    double *values = NULL;
    int rc = read_cases(&all, path, catalog, &err);

    if (rc) {
        rc = cli_report(&err);
        goto out;
    }
    values = calloc(all.count + 1, sizeof(*values));
    if (!values) {
        rc = cli_complain("out of memory");
        goto out;
    }
    rc = json ? put_json(&out, &all, values, &err) : put_text(&out, &all, values, &err);
    if (rc) {
        hm__text_release(&out);
        rc = cli_report(&err);
        goto out;
    }
    rc = cli_put_text(&out);
    if (rc == 0 && plot)
        rc = write_plot(&all, plot);
out:
    free(values);
    free(all.rows);
    step_kinds_release(&all.kinds);
    hm__platform_rows_release(&all.platforms);
    hm__measured_steps_release(&all.steps);
    hm__measured_collectives_release(&all.collectives);
    return rc;
}
