/* Exports traces of stored runs as JSON lines and as CSV. */
#include "trace_export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "json.h"

const char hm__export_trace_header[] =
    "run,algorithm,m,seed,iteration,seconds,elapsed_s,objective,best,staleness,"
    "backups,rows\n";

/*
 * Returns the staleness of a run as a string: a number, "async", or "" if the run has no stale
 * gradients.
 */
static const char *staleness_text(const struct hm_stored *run, char text[40], struct hm_text *out)
{
    double staleness = 0;

    text[0] = '\0';
    out->failed = out->failed || hm_stored_staleness(run, &staleness, NULL) != 0;
    if (staleness > 0)
        snprintf(text, 40, "%.15g", staleness);
    if (isinf(staleness))
        snprintf(text, 40, "async");
    return text;
}

/* Returns a number from the field `more` of the run; NaN if there is no such number. */
static double more_number(const struct hm_stored *run, const char *key, struct hm_text *out)
{
    double number = NAN;

    out->failed = out->failed || hm_stored_number(run, key, &number, NULL) != 0;
    return number;
}

/* Returns whether a run has diverged, so that the readers of traces must leave it out. */
static bool has_diverged(const struct hm_stored *run)
{
    return run->status && strcmp(run->status, "diverged") == 0;
}

static void put_known(struct hm_json *json, const char *key, double value)
{
    if (isfinite(value))
        hm__json_put_number(json, key, value);
}

static void export_head(struct hm_text *out, const struct hm_stored *run)
{
    struct hm_json json = {.out = out};
    char staleness[40];

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&json, "run", "stored");
    if (run->algorithm)
        hm__json_put_text(&json, "algorithm", run->algorithm);
    hm__json_put_number(&json, "n", run->n);
    put_known(&json, "seed", run->seed);
    put_known(&json, "best", run->best);
    if (*staleness_text(run, staleness, out))
        hm__json_put_text(&json, "staleness", staleness);
    put_known(&json, "backups", more_number(run, "backups", out));
    put_known(&json, "rows", more_number(run, "rows", out));
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

void hm__export_trace_lines(struct hm_text *out, const struct hm_stored *run)
{
    struct hm_json json = {.out = out};

    if (run->sample_count == 0)
        return;
    export_head(out, run);
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(&json, "iteration", s->iteration);
        put_known(&json, "seconds", s->seconds);
        put_known(&json, "elapsed_s", s->elapsed_s);
        hm__json_put_number(&json, "objective", s->loss);
        hm__json_close(&json);
        hm__text_add(out, "\n");
    }
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_bool(&json, "summary", true);
    if (has_diverged(run))
        hm__json_put_text(&json, "stopped_by", "diverged");
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

/* A table has no place for the status of a run. If a run has diverged, a last row has the loss inf,
 * which says the same. */
static void export_divergence(struct hm_text *out, const struct hm_stored *run)
{
    hm__text_addf(out, "%lld,", (long long)run->id);
    hm__csv_text(out, run->algorithm ? run->algorithm : "");
    hm__csv_number(out, run->n);
    hm__csv_number(out, run->seed);
    hm__csv_number(out, run->samples[run->sample_count - 1].iteration + 1);
    hm__text_add(out, ",,,inf");
    hm__csv_number(out, run->best);
    hm__text_add(out, ",,,\n");
}

void hm__export_trace_rows(struct hm_text *out, const struct hm_stored *run)
{
    char staleness[40];

    staleness_text(run, staleness, out);
    double backups = more_number(run, "backups", out), rows = more_number(run, "rows", out);
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        const double cells[] = {run->n,       run->seed, s->iteration, s->seconds,
                                s->elapsed_s, s->loss,   run->best};
        hm__text_addf(out, "%lld,", (long long)run->id);
        hm__csv_text(out, run->algorithm ? run->algorithm : "");
        for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
            hm__csv_number(out, cells[k]);
        hm__text_addf(out, ",%s", staleness);
        hm__csv_number(out, backups);
        hm__csv_number(out, rows);
        hm__text_add(out, "\n");
    }
    if (run->sample_count > 0 && has_diverged(run))
        export_divergence(out, run);
}
