/*
 * Reads the runs of a store as a table of runs and as traces. The runs are written as JSON lines,
 * as in a file of runs, and parsed by the readers of files, so that a store and a file with the
 * same contents give exactly the same result. No bit of a number is lost (see json.h).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "howmany_store.h"
#include "json.h"
#include "memory.h"
#include "store.h"
#include "stored.h"
#include "text.h"
#include "value.h"

/* Adds a number to a JSON object, unless it is NaN. */
static void put_known_number(struct hm_json *json, const char *key, double value)
{
    if (!isnan(value))
        hm__json_put_number(json, key, value);
}

/* Adds a string to a JSON object, unless it is NULL. */
static void put_known_text(struct hm_json *json, const char *key, const char *text)
{
    if (text)
        hm__json_put_text(json, key, text);
}

/*
 * Adds the members of `more`, a JSON object of numbers and strings, to the JSON object that is
 * being written.
 */
static int put_more(struct hm_json *json, const char *more, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object = NULL;
    int rc = arena ? hm__json_parse(arena, more, strlen(more), "more", &object, err)
                   : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < object->count; i++) {
        const struct hm_value *item = &object->items[i];
        if (item->kind == HM_VALUE_SCALAR && item->quoted)
            hm__json_put_text(json, object->keys[i], item->text);
        else if (item->kind == HM_VALUE_SCALAR)
            hm__json_put_raw(json, object->keys[i], item->text);
    }
    hm__arena_free(arena);
    return rc;
}

/* ---- tables of runs ------------------------------------------------------------------------- */

/* Returns whether a fit can use a run: it must have a time, or a status that explains why there is
 * none. */
static bool has_time(const struct hm_stored *run)
{
    return run->seconds > 0 || run->total > 0 || !hm__stored_is_ok(run->status);
}

/* Writes a run as one JSON line. */
static int write_run(void *context, const struct hm_stored *run, struct hm_err *err)
{
    struct hm_text *out = context;
    struct hm_json json = {.out = out};

    if (!has_time(run))
        return 0;
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    put_known_number(&json, "n", run->n);
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        if (!c->label || c->whole)
            continue;
        if (c->kind == HM_STORE_TEXT)
            put_known_text(&json, c->name, hm__stored_get_text(c, run));
        else if (!c->above || hm__stored_get_number(c, run) > c->min)
            put_known_number(&json, c->name, hm__stored_get_number(c, run));
    }
    int rc = run->more ? put_more(&json, run->more, err) : 0;
    hm__json_close(&json);
    hm__text_add(out, "\n");
    return rc == 0 && out->failed ? hm__fail_nomem(err) : rc;
}

int hm_store_runs(struct hm_store *store, const struct hm_store_filter *filter,
                  struct hm_runs **ret_runs, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "ret_runs", ret_runs, NULL);
    if (bad)
        return bad;
    struct hm_text lines = {0};
    int rc = hm__store_exec(store, store->sql->begin_read, err);

    if (rc == 0)
        rc =
            hm__store_end(store, hm__store_each(store, filter, false, write_run, &lines, err), err);
    if (rc == 0 && !lines.data) {
        rc = hm__fail(err, HM_E_MISSING, "no selected run has a time");
        hm__err_at(err, store->label, 0);
    }
    if (rc == 0)
        rc = hm_runs_parse(lines.data, lines.length, store->label, ret_runs, err);
    hm__text_release(&lines);
    return rc;
}

/* ---- traces --------------------------------------------------------------------------------- */

/* Returns whether a run has at least one sample with a loss after the start (iteration above 0). */
static bool is_trace(const struct hm_stored *run)
{
    for (size_t i = 0; i < run->sample_count; i++)
        if (run->samples[i].iteration > 0 && !isnan(run->samples[i].loss))
            return true;
    return false;
}

int hm_stored_staleness(const struct hm_stored *run, double *ret_staleness, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "run", run, "ret_staleness", ret_staleness, NULL);
    if (bad)
        return bad;
    struct hm_arena *arena = run->more ? hm__arena_new() : NULL;
    struct hm_value *more = NULL;
    double staleness = 0;

    if (run->more && !arena)
        return hm__fail_nomem(err);
    int rc = arena ? hm__json_parse(arena, run->more, strlen(run->more), "more", &more, NULL) : 0;
    if (rc == 0 && more) {
        const struct hm_value *consistency = hm__value_get(more, "consistency");
        double bound = hm__value_number(more, "staleness");
        if (bound >= 0 && bound <= HM_M_MOST)
            staleness = bound;
        else if (consistency && consistency->kind == HM_VALUE_SCALAR &&
                 strcmp(consistency->text, "async") == 0)
            staleness = INFINITY;
    }
    hm__arena_free(arena);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    *ret_staleness = staleness;
    return 0;
}

int hm_stored_number(const struct hm_stored *run, const char *key, double *ret_number,
                     struct hm_err *err)
{
    int bad = hm__check_pointers(err, "run", run, "key", key, "ret_number", ret_number, NULL);
    if (bad)
        return bad;
    struct hm_arena *arena = run->more ? hm__arena_new() : NULL;
    struct hm_value *more = NULL;

    if (run->more && !arena)
        return hm__fail_nomem(err);
    int rc = arena ? hm__json_parse(arena, run->more, strlen(run->more), "more", &more, NULL) : 0;
    double number = rc == 0 && more ? hm__value_number(more, key) : NAN;
    hm__arena_free(arena);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    *ret_number = number;
    return 0;
}

/*
 * Writes a number from the field `more` of a run, unless it is smaller than `least`, too large, or
 * not a whole number.
 */
static void put_more_number(struct hm_json *json, const struct hm_stored *run, const char *key,
                            double least)
{
    double number;

    if (hm_stored_number(run, key, &number, NULL))
        json->out->failed = true;
    else if (number >= least && number <= HM_M_MOST && floor(number) == number)
        hm__json_put_number(json, key, number);
}

/* Writes the first line of a trace, which contains the properties of the run. */
static void write_trace_head(struct hm_text *out, const struct hm_stored *run)
{
    struct hm_json json = {.out = out};
    char id[24];
    double staleness;

    snprintf(id, sizeof(id), "%lld", (long long)run->id);
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(&json, "run", id);
    put_known_number(&json, "n", run->n);
    put_known_text(&json, "algorithm", run->algorithm);
    put_known_text(&json, "problem", run->problem);
    put_known_text(&json, "data", run->data);
    put_known_text(&json, "scheme", run->scheme);
    put_known_number(&json, "seed", run->seed);
    put_known_number(&json, "best", run->best);
    if (hm_stored_staleness(run, &staleness, NULL))
        out->failed = true;
    else if (isinf(staleness))
        hm__json_put_text(&json, "staleness", "async");
    else if (staleness > 0)
        hm__json_put_number(&json, "staleness", staleness);
    put_more_number(&json, run, "backups", 0);
    put_more_number(&json, run, "rows", 1);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

/* Writes one point of a trace. */
static void write_trace_point(struct hm_text *out, const struct hm_stored_sample *sample)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    put_known_number(&json, "iteration", sample->iteration);
    put_known_number(&json, "seconds", sample->seconds);
    put_known_number(&json, "elapsed_s", sample->elapsed_s);
    put_known_number(&json, "loss", sample->loss);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

/*
 * Writes a run as a trace: a line with its properties, the points after the start, and a summary
 * line.
 */
static void write_trace(struct hm_text *out, const struct hm_stored *run)
{
    bool diverged = run->status && strcmp(run->status, "diverged") == 0;
    struct hm_json summary = {.out = out};

    write_trace_head(out, run);
    for (size_t i = 0; i < run->sample_count && !out->failed; i++)
        if (run->samples[i].iteration > 0)
            write_trace_point(out, &run->samples[i]);
    hm__json_open(&summary, NULL, HM_JSON_OBJECT);
    hm__json_put_bool(&summary, "summary", true);
    hm__json_put_text(&summary, "stopped_by", diverged ? "diverged" : "");
    hm__json_close(&summary);
    hm__text_add(out, "\n");
}

int hm_store_traces(struct hm_store *store, const struct hm_store_filter *filter,
                    struct hm_traces **ret_traces, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "store", store, "ret_traces", ret_traces, NULL);
    if (bad)
        return bad;
    struct hm_store_filter with = filter ? *filter : (struct hm_store_filter){0};
    struct hm_store_page *page = NULL;
    struct hm_text lines = {0};

    with.samples = true;
    int rc = hm_store_list(store, &with, &page, err);
    for (size_t i = 0; rc == 0 && i < page->count; i++)
        if (is_trace(&page->runs[i]))
            write_trace(&lines, &page->runs[i]);
    hm_store_page_free(page);
    if (rc == 0 && lines.failed)
        rc = hm__fail_nomem(err);
    if (rc == 0 && !lines.data) {
        rc = hm__fail(err, HM_E_MISSING, "no selected run has samples with a loss");
        hm__err_at(err, store->label, 0);
    }
    if (rc == 0)
        rc = hm_traces_parse(lines.data, lines.length, store->label, NULL, ret_traces, err);
    hm__text_release(&lines);
    return rc;
}
