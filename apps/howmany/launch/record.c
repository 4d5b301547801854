/*
 * Recording runs. A row is written and synced before the next run starts: what was measured stays
 * measured, whatever becomes of us. Numbers are written so that they read back the same.
 */
#include "record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "append.h"
#include "cli.h"
#include "format.h"

static const char *const results[] = {"repeat", "seconds", "total", "iterations",
                                      "loss",   "status",  "host",  "started"};

enum { RESULTS = sizeof(results) / sizeof(results[0]) };

static void add_header(const struct cli_record *r, struct hm_text *out)
{
    for (size_t i = 0; i < r->axes; i++)
        hm__text_addf(out, "%s%s", i ? "," : "", r->names[i]);
    for (size_t i = 0; i < RESULTS; i++)
        hm__text_addf(out, ",%s", results[i]);
    hm__text_add(out, "\n");
}

/* Copy rows that were recorded before. */
static void absorb(struct cli_record *r, const struct hm_runs *before)
{
    for (size_t i = 0; i < before->count; i++) {
        for (size_t k = 0; k < r->axes + RESULTS; k++) {
            const char *name = k < r->axes ? r->names[k] : results[k - r->axes];
            const struct hm_column *column = hm_runs_column(before, name);
            hm__text_add(&r->csv, k ? "," : "");
            if (column && column->values && isfinite(column->values[i]))
                hm__json_number(&r->csv, column->values[i]);
            else if (column && column->labels && column->labels[i])
                hm__csv_text(&r->csv, column->labels[i]);
        }
        hm__text_add(&r->csv, "\n");
        r->rows++;
    }
}

/* An existing file must have the columns we are about to write. */
static int take_file(struct cli_record *r, const char *path)
{
    struct hm_err err = {0};
    struct hm_runs *before;

    if (hm_runs_load(path, &before, &err)) /* a header alone is a table without runs */
        return err.code == HM_E_MISSING && !r->json_lines ? 0 : cli_report(&err);
    for (size_t i = 0; i < r->axes; i++)
        if (!hm_runs_column(before, r->names[i])) {
            hm_runs_free(before);
            return cli_complain("--record: the runs in %s have no %s; give another file", path,
                                r->names[i]);
        }
    absorb(r, before);
    hm_runs_free(before);
    return 0;
}

int cli_record_begin(struct cli_record *r, const char *path)
{
    struct stat info;
    int rc = 0;

    r->file = -1;
    add_header(r, &r->csv);
    if (!path)
        return r->csv.failed ? cli_complain("out of memory") : 0;
    if (cli_is_store(path))
        return cli_store_open(path, &r->store);
    int form = cli_append_form(path);
    if (form < 0)
        return EXIT_USAGE;
    r->json_lines = form == 1;
    bool there = stat(path, &info) == 0 && info.st_size > 0;
    rc = cli_append_open(path, r->json_lines ? NULL : r->csv.data, &r->file);
    if (rc == 0 && there)
        rc = take_file(r, path);
    return rc;
}

/* One value of a row: a number, or nothing where it is not known. */
static void put_number(struct hm_text *csv, struct hm_text *json, const char *key, double value)
{
    hm__text_add(csv, csv->length ? "," : "");
    hm__text_addf(json, "%s\"%s\":", json->length > 1 ? "," : "", key);
    if (isfinite(value))
        hm__json_number(csv, value);
    hm__json_number(json, value);
}

static void put_text(struct hm_text *csv, struct hm_text *json, const char *key, const char *text)
{
    hm__text_addf(csv, ",%s", text); /* none of ours has a comma or a quote in it */
    hm__text_addf(json, ",\"%s\":", key);
    hm__json_text(json, text);
}

static void put_result(struct hm_text *csv, struct hm_text *json, size_t repeat,
                       const struct cli_measure *m)
{
    char host[65] = "", started[40] = "";
    struct tm utc;
    time_t now = time(NULL) - (time_t)m->total_s;

    if (gethostname(host, sizeof(host) - 1))
        host[0] = '\0';
    for (char *c = host; *c; c++)
        if (*c == ',' || *c == '"')
            *c = '_';
    if (gmtime_r(&now, &utc))
        strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
    put_number(csv, json, "repeat", (double)repeat);
    put_number(csv, json, "seconds", m->seconds);
    put_number(csv, json, "total", m->total_s);
    put_number(csv, json, "iterations", m->iterations > 0 ? m->iterations : NAN);
    put_number(csv, json, "loss", m->loss);
    put_text(csv, json, "status", m->status);
    put_text(csv, json, "host", host);
    put_text(csv, json, "started", started);
}

/* A row by itself, as a table of one run. */
static int store_row(const struct cli_record *r, const struct hm_text *row)
{
    struct hm_text table = {0};
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    struct cli_added added = {0};

    add_header(r, &table);
    hm__text_add_n(&table, row->data, row->length);
    int rc = table.failed ? cli_complain("out of memory") : 0;
    if (rc == 0 && hm_runs_parse(table.data, table.length, "this run", &runs, &err))
        rc = cli_report(&err);
    rc = rc ? rc : cli_store_add_runs(r->store, runs, NULL, &added);
    cli_added_release(&added);
    hm_runs_free(runs);
    hm__text_release(&table);
    return rc;
}

int cli_record_add(struct cli_record *r, const double *values, size_t repeat,
                   const struct cli_measure *m)
{
    struct hm_text csv = {0}, json = {0};

    hm__text_add(&json, "{");
    for (size_t i = 0; i < r->axes; i++)
        put_number(&csv, &json, r->names[i], values[i]);
    put_result(&csv, &json, repeat, m);
    hm__text_add(&csv, "\n");
    hm__text_add(&json, "}\n");
    bool ok = !csv.failed && !json.failed;
    if (ok)
        hm__text_add_n(&r->csv, csv.data, csv.length);
    r->rows++;
    int rc = ok && !r->csv.failed ? 0 : cli_complain("out of memory");
    if (rc == 0 && r->file >= 0)
        rc = r->json_lines ? cli_append(r->file, json.data, json.length, true)
                           : cli_append(r->file, csv.data, csv.length, true);
    if (rc == 0 && r->store)
        rc = store_row(r, &csv);
    hm__text_release(&csv);
    hm__text_release(&json);
    return rc;
}

struct hm_runs *cli_record_runs(const struct cli_record *r, struct hm_err *err)
{
    struct hm_runs *runs = NULL;

    if (r->rows == 0 || hm_runs_parse(r->csv.data, r->csv.length, "these runs", &runs, err))
        return NULL;
    return runs;
}

void cli_record_end(struct cli_record *r)
{
    hm__text_release(&r->csv);
    cli_store_close(r->store);
    r->store = NULL;
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
}
