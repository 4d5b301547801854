/*
 * Renders stored runs as text, JSON and CSV. A member of struct hm_stored has the same name as its
 * column and its JSON key. The field `more` is a flat JSON object with other values, which are
 * written after the other columns.
 */
#include "stored_render.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "json.h"
#include "render.h"
#include "stored.h"

enum { CELL_SIZE = 64, CELL_WIDEST = 24 };

/*
 * Index of the first column after the id, and index of the column `more`, which comes after the
 * others.
 */
enum { COLUMN_FIRST = 1, COLUMN_END = HM_STORE_COLUMNS - 1 };

static bool column_is_text(size_t k)
{
    return hm__store_columns[k].kind == HM_STORE_TEXT;
}

static const char *stored_text(const struct hm_stored *run, size_t k)
{
    return column_is_text(k) ? hm__stored_get_text(&hm__store_columns[k], run) : NULL;
}

static double stored_number(const struct hm_stored *run, size_t k)
{
    return column_is_text(k) ? NAN : hm__stored_get_number(&hm__store_columns[k], run);
}

static bool stored_has(const struct hm_stored *run, size_t k)
{
    return column_is_text(k) ? stored_text(run, k) != NULL : isfinite(stored_number(run, k));
}

static bool stored_any_has(const struct hm_stored *runs, size_t count, size_t k)
{
    for (size_t i = 0; i < count; i++)
        if (stored_has(&runs[i], k))
            return true;
    return false;
}

/* ---- text ------------------------------------------------------------------------------------ */

/*
 * Returns the text of a table cell, or an empty string if the value is unknown. Long strings are
 * truncated.
 */
static const char *stored_cell(const struct hm_stored *run, size_t k, char text[CELL_SIZE])
{
    if (!stored_has(run, k))
        return "";
    if (column_is_text(k))
        snprintf(text, CELL_SIZE, "%.*s", CELL_WIDEST, stored_text(run, k));
    else
        snprintf(text, CELL_SIZE, "%.6g", stored_number(run, k));
    return text;
}

/*
 * Returns whether the table of several runs shows column `k`. Less important columns appear only
 * when one run is shown by hm__render_stored.
 */
static bool column_in_table(size_t k)
{
    return strcmp(hm__store_columns[k].name, "key") != 0 &&
           strcmp(hm__store_columns[k].name, "version") != 0 &&
           strcmp(hm__store_columns[k].name, "host") != 0;
}

void hm__render_stored_table(struct hm_text *out, const struct hm_stored *runs, size_t count,
                             const struct hm_style *style)
{
    const struct hm_style own = hm__style_or_default(style);
    size_t widths[HM_STORE_COLUMNS] = {0};
    char text[CELL_SIZE];

    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++) {
        if (!column_in_table(k) || !stored_any_has(runs, count, k))
            continue;
        widths[k] = strlen(hm__store_columns[k].name);
        for (size_t i = 0; i < count; i++) {
            size_t width = hm__text_columns(stored_cell(&runs[i], k, text));
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    hm__text_addf(out, "%s%8s", hm__render_dim(&own, true), "id");
    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++)
        if (widths[k])
            hm__text_addf(out, column_is_text(k) ? "  %-*s" : "  %*s", (int)widths[k],
                          hm__store_columns[k].name);
    hm__text_add(out, hm__render_dim(&own, false));
    hm__text_end_line(out);
    for (size_t i = 0; i < count; i++) {
        hm__text_addf(out, "%8lld", (long long)runs[i].id);
        for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++) {
            if (!widths[k])
                continue;
            const char *shown = stored_cell(&runs[i], k, text);
            size_t pad = widths[k] - hm__text_columns(shown);
            hm__text_add(out, "  ");
            hm__text_repeat(out, " ", column_is_text(k) ? 0 : pad);
            hm__text_add(out, shown);
            hm__text_repeat(out, " ", column_is_text(k) ? pad : 0);
        }
        hm__text_end_line(out);
    }
}

void hm__render_stored(struct hm_text *out, const struct hm_stored *run)
{
    hm__text_addf(out, "%-12s %lld\n", "id", (long long)run->id);
    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++) {
        if (!stored_has(run, k))
            continue;
        hm__text_addf(out, "%-12s ", hm__store_columns[k].name);
        if (column_is_text(k))
            hm__text_add(out, stored_text(run, k));
        else
            hm__text_addf(out, "%.15g", stored_number(run, k));
        hm__text_end_line(out);
    }
    if (run->more)
        hm__text_addf(out, "%-12s %s\n", "more", run->more);
    if (run->sample_count)
        hm__text_addf(out, "\n%10s %14s %14s %18s\n", "iteration", "seconds", "elapsed_s", "loss");
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__text_addf(out, "%10.10g %14.6g %14.6g %18.12g\n", s->iteration, s->seconds,
                      s->elapsed_s, s->loss);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_samples(struct hm_json *json, const struct hm_stored *run)
{
    hm__json_open(json, "samples", HM_JSON_LIST);
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "iteration", s->iteration);
        hm__json_put_number(json, "seconds", s->seconds);
        hm__json_put_number(json, "elapsed_s", s->elapsed_s);
        hm__json_put_number(json, "loss", s->loss);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/*
 * Copies the members of `more`, a JSON object such as {"a":1}, into the JSON object that is being
 * written.
 */
static void json_more(struct hm_json *json, const char *more)
{
    struct hm_text members = {0};

    hm__text_add_n(&members, more + 1, strlen(more) - 2);
    json->out->failed = json->out->failed || members.failed;
    hm__json_put_raw(json, NULL, members.data ? members.data : "");
    hm__text_release(&members);
}

void hm__render_stored_json(struct hm_text *out, const struct hm_stored *run)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    hm__json_put_number(&json, "id", (double)run->id);
    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++) {
        if (!stored_has(run, k))
            continue;
        if (column_is_text(k))
            hm__json_put_text(&json, hm__store_columns[k].name, stored_text(run, k));
        else
            hm__json_put_number(&json, hm__store_columns[k].name, stored_number(run, k));
    }
    /* The object {} has no members, so there is nothing to copy. */
    if (run->more && strlen(run->more) > 2)
        json_more(&json, run->more);
    if (run->sample_count)
        json_samples(&json, run);
    hm__json_close(&json);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* The functions below parse `more`, a flat JSON object that the store has already checked. */
static const char *json_skip_text(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *json_skip_value(const char *at)
{
    if (*at == '"')
        return json_skip_text(at);
    return at + strcspn(at, ",}");
}

const char *hm__stored_member(const char *at, const char **name, size_t *name_length,
                              const char **value, size_t *value_length)
{
    at += strspn(at, "{, ");
    if (*at != '"')
        return NULL;
    const char *end = json_skip_text(at);
    *name = at + 1;
    *name_length = (size_t)(end - at) - 2;
    at = end + strspn(end, ": ");
    end = json_skip_value(at);
    *value = at;
    *value_length = (size_t)(end - at);
    return end;
}

static size_t find_name(const struct hm_csv_columns *c, const char *name, size_t length)
{
    size_t k = 0;

    while (k < c->count && (c->lengths[k] != length || memcmp(c->names[k], name, length) != 0))
        k++;
    return k;
}

int hm__csv_columns_add(struct hm_csv_columns *c, struct hm_arena *arena,
                        const struct hm_stored *run, struct hm_err *err)
{
    const char *at = run->more ? run->more : "", *name, *value;
    size_t length, ignored;

    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++)
        c->in[k] = c->in[k] || stored_has(run, k);
    while ((at = hm__stored_member(at, &name, &length, &value, &ignored)) != NULL) {
        size_t k = find_name(c, name, length);
        if (k < c->count)
            continue;
        if (k == HM_CSV_NAMES) {
            hm__fail(err, HM_E_LIMIT, "the runs have more than %d different other columns",
                     HM_CSV_NAMES);
            hm__err_hint(err, "select fewer runs, or write JSON");
            return HM_E_LIMIT;
        }
        c->names[k] = hm__arena_strndup(arena, name, length);
        c->lengths[k] = length;
        if (!c->names[k])
            return hm__fail_nomem(err);
        c->count++;
    }
    return 0;
}

/* Appends the text of a JSON string, which is given without its quotes, as a CSV field. */
static void csv_add_string(struct hm_text *out, const char *string, size_t length)
{
    struct hm_text plain = {0};

    hm__json_unescape(&plain, string, length);
    out->failed = out->failed || plain.failed;
    hm__csv_text(out, plain.data ? plain.data : "");
    hm__text_release(&plain);
}

/* Appends a JSON value as a CSV field. */
static void csv_add_value(struct hm_text *out, const char *value, size_t length)
{
    if (length >= 2 && value[0] == '"')
        csv_add_string(out, value + 1, length - 2);
    else
        hm__text_add_n(out, value, length);
}

static void csv_add_more(struct hm_text *out, const struct hm_csv_columns *c,
                         const struct hm_stored *run)
{
    for (size_t k = 0; k < c->count; k++) {
        const char *at = run->more ? run->more : "", *name, *value;
        size_t length, value_length;
        hm__text_add(out, ",");
        while ((at = hm__stored_member(at, &name, &length, &value, &value_length)) != NULL)
            if (length == c->lengths[k] && memcmp(name, c->names[k], length) == 0) {
                csv_add_value(out, value, value_length);
                break;
            }
    }
}

void hm__render_csv_header(struct hm_text *out, const struct hm_csv_columns *c)
{
    hm__text_add(out, "id");
    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++)
        if (c->in[k])
            hm__text_addf(out, ",%s", hm__store_columns[k].name);
    for (size_t k = 0; k < c->count; k++) {
        hm__text_add(out, ",");
        csv_add_string(out, c->names[k], c->lengths[k]);
    }
    hm__text_add(out, "\n");
}

void hm__render_csv_row(struct hm_text *out, const struct hm_csv_columns *c,
                        const struct hm_stored *run)
{
    hm__text_addf(out, "%lld", (long long)run->id);
    for (size_t k = COLUMN_FIRST; k < COLUMN_END; k++) {
        if (!c->in[k])
            continue;
        hm__text_add(out, ",");
        if (stored_has(run, k) && column_is_text(k))
            hm__csv_text(out, stored_text(run, k));
        else if (stored_has(run, k))
            hm__json_number(out, stored_number(run, k));
    }
    csv_add_more(out, c, run);
    hm__text_add(out, "\n");
}
