/*
 * Runs of a store as tables of runs and as traces. They are written as the JSON lines that anybody
 * could have recorded, and read by the readers of files: so a store means what a file means, to the
 * last rule. Numbers are written such that they come back bit for bit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "howmany_store.h"
#include "memory.h"
#include "store.h"
#include "stored.h"
#include "text.h"
#include "value.h"

/* ---- JSON ----------------------------------------------------------------------------------- */

static void add_quoted(struct hm_text *out, const char *text)
{
    hm__text_add(out, "\"");
    for (; *text; text++) {
        size_t plain = strcspn(text, "\"\\\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e"
                                     "\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
                                     "\x1e\x1f");
        hm__text_add_n(out, text, plain);
        text += plain;
        if (!*text)
            break;
        if ((unsigned char)*text < 0x20)
            hm__text_addf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            hm__text_addf(out, "\\%c", *text);
    }
    hm__text_add(out, "\"");
}

/* With 19 digits hm__number_read is exact: what it loses is far from where rounding turns. */
static void add_number(struct hm_text *out, const char *name, double value)
{
    char text[40];
    double back = NAN;

    if (isnan(value) || out->failed)
        return;
    snprintf(text, sizeof(text), "%.15g", value);
    if (hm__signed_read(text, &back) == 0 || back != value)
        snprintf(text, sizeof(text), "%.19g", value);
    char *comma = strchr(text, ','); /* a program may have set a locale */
    if (comma)
        *comma = '.';
    hm__text_addf(out, "%s\"%s\":%s", out->data[out->length - 1] == '{' ? "" : ",", name, text);
}

static void add_label(struct hm_text *out, const char *name, const char *value)
{
    if (!value || out->failed)
        return;
    hm__text_addf(out, "%s\"%s\":", out->data[out->length - 1] == '{' ? "" : ",", name);
    add_quoted(out, value);
}

/* What stands between the braces of an object that is known to be one; line breaks are blanks. */
static void add_members(struct hm_text *out, const char *object)
{
    const char *from = strchr(object, '{'), *to = strrchr(object, '}');

    for (from++; from < to && strchr(" \t\r\n", *from); from++)
        ;
    if (from == to)
        return;
    hm__text_add(out, ",");
    for (; from < to; from++)
        hm__text_add_n(out, *from == '\n' || *from == '\r' ? " " : from, 1);
}

/* ---- tables of runs ------------------------------------------------------------------------- */

/* A run without a time tells a fit nothing, unless it says why there is none. */
static bool has_time(const struct hm_stored *run)
{
    return run->seconds > 0 || run->total > 0 || !hm__stored_is_ok(run->status);
}

static int add_run(void *context, const struct hm_stored *run, struct hm_err *err)
{
    struct hm_text *out = context;

    if (!has_time(run))
        return 0;
    hm__text_add(out, "{");
    add_number(out, "n", run->n);
    for (size_t i = 1; !out->failed && i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        if (!c->label || c->whole)
            continue;
        if (c->kind == HM_STORE_TEXT)
            add_label(out, c->name, hm__stored_get_text(c, run));
        else if (!c->above || hm__stored_get_number(c, run) > c->min)
            add_number(out, c->name, hm__stored_get_number(c, run));
    }
    if (run->more && !out->failed)
        add_members(out, run->more);
    hm__text_add(out, "}\n");
    return out->failed ? hm__fail_nomem(err) : 0;
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
        rc = hm__store_end(store, hm__store_each(store, filter, false, add_run, &lines, err), err);
    if (rc == 0 && !lines.data) {
        rc = hm__fail(err, HM_E_MISSING, "no such run has a time");
        hm__err_at(err, store->label, 0);
    }
    if (rc == 0)
        rc = hm_runs_parse(lines.data, lines.length, store->label, ret_runs, err);
    hm__text_release(&lines);
    return rc;
}

/* ---- traces --------------------------------------------------------------------------------- */

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
    struct hm_value *told = NULL;
    double staleness = 0;

    if (run->more && !arena)
        return hm__fail_nomem(err);
    int rc = arena ? hm__json_parse(arena, run->more, strlen(run->more), "more", &told, NULL) : 0;
    if (rc == 0 && told) {
        const struct hm_value *consistency = hm__value_get(told, "consistency");
        double bound = hm__value_number(told, "staleness");
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

static void add_trace(struct hm_text *out, const struct hm_stored *run)
{
    bool diverged = run->status && strcmp(run->status, "diverged") == 0;
    double staleness;

    hm__text_addf(out, "{\"run\":\"%lld\"", (long long)run->id);
    if (out->failed)
        return;
    add_number(out, "n", run->n);
    add_label(out, "algorithm", run->algorithm);
    add_label(out, "problem", run->problem);
    add_label(out, "data", run->data);
    add_label(out, "scheme", run->scheme);
    add_number(out, "seed", run->seed);
    add_number(out, "best", run->best);
    if (hm_stored_staleness(run, &staleness, NULL))
        out->failed = true;
    else if (isinf(staleness))
        add_label(out, "staleness", "async");
    else if (staleness > 0)
        add_number(out, "staleness", staleness);
    hm__text_add(out, "}\n");
    for (size_t i = 0; i < run->sample_count && !out->failed; i++) {
        const struct hm_stored_sample *s = &run->samples[i];
        if (!(s->iteration > 0))
            continue;
        hm__text_add(out, "{");
        add_number(out, "iteration", s->iteration);
        add_number(out, "seconds", s->seconds);
        add_number(out, "elapsed_s", s->elapsed_s);
        add_number(out, "loss", s->loss);
        hm__text_add(out, "}\n");
    }
    hm__text_addf(out, "{\"summary\":true,\"stopped_by\":\"%s\"}\n", diverged ? "diverged" : "");
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
            add_trace(&lines, &page->runs[i]);
    hm_store_page_free(page);
    if (rc == 0 && lines.failed)
        rc = hm__fail_nomem(err);
    if (rc == 0 && !lines.data) {
        rc = hm__fail(err, HM_E_MISSING, "no such run has samples with a loss");
        hm__err_at(err, store->label, 0);
    }
    if (rc == 0)
        rc = hm_traces_parse(lines.data, lines.length, store->label, NULL, ret_traces, err);
    hm__text_release(&lines);
    return rc;
}
