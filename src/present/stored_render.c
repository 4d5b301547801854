/*
 * Stored runs as text, JSON lines and CSV. A run has the same names everywhere: a member of struct
 * hm_stored, a column, a key. What is in `more` is written beside the members in JSON.
 */
#include "stored_render.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "stored.h"

enum { CELL = 64, WIDEST = 24 };

/* Columns that are written: all but the id, which stands first, and `more`, which is last. */
enum { FIRST = 1, LAST = HM_STORE_COLUMNS - 1 };

static bool is_text(size_t k)
{
    return hm__store_columns[k].kind == HM_STORE_TEXT;
}

static const char *text_of(const struct hm_stored *run, size_t k)
{
    return is_text(k) ? hm__stored_get_text(&hm__store_columns[k], run) : NULL;
}

static double number_of(const struct hm_stored *run, size_t k)
{
    return is_text(k) ? NAN : hm__stored_get_number(&hm__store_columns[k], run);
}

static bool is_told(const struct hm_stored *run, size_t k)
{
    return is_text(k) ? text_of(run, k) != NULL : isfinite(number_of(run, k));
}

static bool any_told(const struct hm_stored *runs, size_t count, size_t k)
{
    for (size_t i = 0; i < count; i++)
        if (is_told(&runs[i], k))
            return true;
    return false;
}

/* ---- text --------------------------------------------------------------------------------------
 */

/* A cell of the table; long texts are cut. */
static const char *cell(const struct hm_stored *run, size_t k, char text[CELL])
{
    if (!is_told(run, k))
        return "";
    if (is_text(k))
        snprintf(text, CELL, "%.*s", WIDEST, text_of(run, k));
    else
        snprintf(text, CELL, "%.6g", number_of(run, k));
    return text;
}

/* Keys and versions tell a person little; `show` has them. */
static bool in_table(size_t k)
{
    return strcmp(hm__store_columns[k].name, "key") != 0 &&
           strcmp(hm__store_columns[k].name, "version") != 0 &&
           strcmp(hm__store_columns[k].name, "host") != 0;
}

void hm__render_stored_table(struct hm_text *out, const struct hm_stored *runs, size_t count,
                             const struct hm_style *style)
{
    size_t widths[HM_STORE_COLUMNS] = {0};
    char text[CELL];

    for (size_t k = FIRST; k < LAST; k++) {
        if (!in_table(k) || !any_told(runs, count, k))
            continue;
        widths[k] = strlen(hm__store_columns[k].name);
        for (size_t i = 0; i < count; i++) {
            size_t width = hm__text_columns(cell(&runs[i], k, text));
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    hm__text_addf(out, "%s%8s", style->colour ? "\033[2m" : "", "id");
    for (size_t k = FIRST; k < LAST; k++)
        if (widths[k])
            hm__text_addf(out, is_text(k) ? "  %-*s" : "  %*s", (int)widths[k],
                          hm__store_columns[k].name);
    hm__text_add(out, style->colour ? "\033[0m" : "");
    hm__text_end_line(out);
    for (size_t i = 0; i < count; i++) {
        hm__text_addf(out, "%8lld", (long long)runs[i].id);
        for (size_t k = FIRST; k < LAST; k++) {
            if (!widths[k])
                continue;
            const char *shown = cell(&runs[i], k, text);
            size_t pad = widths[k] - hm__text_columns(shown);
            hm__text_add(out, "  ");
            hm__text_repeat(out, " ", is_text(k) ? 0 : pad);
            hm__text_add(out, shown);
            hm__text_repeat(out, " ", is_text(k) ? pad : 0);
        }
        hm__text_end_line(out);
    }
}

void hm__render_stored(struct hm_text *out, const struct hm_stored *run)
{
    hm__text_addf(out, "%-12s %lld\n", "id", (long long)run->id);
    for (size_t k = FIRST; k < LAST; k++) {
        if (!is_told(run, k))
            continue;
        hm__text_addf(out, "%-12s ", hm__store_columns[k].name);
        if (is_text(k))
            hm__text_add(out, text_of(run, k));
        else
            hm__text_addf(out, "%.15g", number_of(run, k));
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

/* ---- JSON --------------------------------------------------------------------------------------
 */

static void json_samples(struct hm_text *out, const struct hm_stored *run)
{
    hm__text_add(out, ",\"samples\":[");
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__text_add(out, p ? ",{\"iteration\":" : "{\"iteration\":");
        hm__json_number(out, s->iteration);
        hm__json_field(out, "seconds", s->seconds);
        hm__json_field(out, "elapsed_s", s->elapsed_s);
        hm__json_field(out, "loss", s->loss);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]");
}

void hm__render_stored_json(struct hm_text *out, const struct hm_stored *run)
{
    hm__text_addf(out, "{\"id\":%lld", (long long)run->id);
    for (size_t k = FIRST; k < LAST; k++) {
        if (!is_told(run, k))
            continue;
        if (is_text(k))
            hm__json_named(out, hm__store_columns[k].name, text_of(run, k));
        else
            hm__json_field(out, hm__store_columns[k].name, number_of(run, k));
    }
    if (run->more && strlen(run->more) > 2) { /* {"a":1} goes in as ,"a":1 */
        hm__text_add(out, ",");
        hm__text_add_n(out, run->more + 1, strlen(run->more) - 2);
    }
    if (run->sample_count)
        json_samples(out, run);
    hm__text_add(out, "}");
}

/* ---- CSV ---------------------------------------------------------------------------------------
 */

/* Flat JSON objects are walked by hand: names and values of `more`, which the store has checked. */
static const char *skip_text(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *skip_value(const char *at)
{
    if (*at == '"')
        return skip_text(at);
    return at + strcspn(at, ",}");
}

/* The next pair from `at` on, which begins at { or ,; NULL after the last. */
static const char *next_pair(const char *at, const char **name, size_t *name_length,
                             const char **value, size_t *value_length)
{
    at += strspn(at, "{, ");
    if (*at != '"')
        return NULL;
    const char *end = skip_text(at);
    *name = at + 1;
    *name_length = (size_t)(end - at) - 2;
    at = end + strspn(end, ": ");
    end = skip_value(at);
    *value = at;
    *value_length = (size_t)(end - at);
    return end;
}

enum { MORE_MAX = 256 };

struct names {
    const char *names[MORE_MAX];
    size_t lengths[MORE_MAX];
    size_t count;
};

static size_t find_name(const struct names *names, const char *name, size_t length)
{
    size_t k = 0;

    while (k < names->count &&
           (names->lengths[k] != length || memcmp(names->names[k], name, length) != 0))
        k++;
    return k;
}

static void gather_names(struct names *names, const struct hm_stored *runs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = runs[i].more ? runs[i].more : "", *name, *value;
        size_t length, ignored;
        while ((at = next_pair(at, &name, &length, &value, &ignored)) != NULL) {
            size_t k = find_name(names, name, length);
            if (k < names->count || k == MORE_MAX)
                continue;
            names->names[k] = name;
            names->lengths[k] = length;
            names->count++;
        }
    }
}

/* A JSON value as a field: texts lose their quotes and escapes of quotes and backslashes. */
static void add_value(struct hm_text *out, const char *value, size_t length)
{
    struct hm_text plain = {0};

    if (length < 2 || value[0] != '"') {
        hm__text_add_n(out, value, length);
        return;
    }
    for (size_t i = 1; i + 1 < length; i++) {
        if (value[i] == '\\' && i + 2 < length)
            i++;
        hm__text_add_n(&plain, value + i, 1);
    }
    out->failed = out->failed || plain.failed;
    hm__csv_text(out, plain.data ? plain.data : "");
    hm__text_release(&plain);
}

static void add_more(struct hm_text *out, const struct names *names, const struct hm_stored *run)
{
    for (size_t k = 0; k < names->count; k++) {
        const char *at = run->more ? run->more : "", *name, *value;
        size_t length, value_length;
        hm__text_add(out, ",");
        while ((at = next_pair(at, &name, &length, &value, &value_length)) != NULL)
            if (length == names->lengths[k] && memcmp(name, names->names[k], length) == 0) {
                add_value(out, value, value_length);
                break;
            }
    }
}

void hm__render_stored_csv(struct hm_text *out, const struct hm_stored *runs, size_t count)
{
    struct names names = {.count = 0};
    bool in[HM_STORE_COLUMNS];

    gather_names(&names, runs, count);
    hm__text_add(out, "id");
    for (size_t k = FIRST; k < LAST; k++)
        if ((in[k] = any_told(runs, count, k)))
            hm__text_addf(out, ",%s", hm__store_columns[k].name);
    for (size_t k = 0; k < names.count; k++)
        hm__text_addf(out, ",%.*s", (int)names.lengths[k], names.names[k]);
    hm__text_add(out, "\n");
    for (size_t i = 0; i < count; i++) {
        hm__text_addf(out, "%lld", (long long)runs[i].id);
        for (size_t k = FIRST; k < LAST; k++) {
            if (!in[k])
                continue;
            hm__text_add(out, ",");
            if (is_told(&runs[i], k) && is_text(k))
                hm__csv_text(out, text_of(&runs[i], k));
            else if (is_told(&runs[i], k))
                hm__json_number(out, number_of(&runs[i], k));
        }
        add_more(out, &names, &runs[i]);
        hm__text_add(out, "\n");
    }
}
