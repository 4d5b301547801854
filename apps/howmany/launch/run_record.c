/*
 * Records runs. Each row is written and synced before the next run starts, so that no measurement
 * is lost when this program is killed. Numbers are written with enough digits to read back the same
 * value.
 */
#include "run_record.h"
#include "load.h"
#include "table_add.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "append_file.h"
#include "cli.h"
#include "err.h"
#include "format.h"
#include "json.h"

static const char *const result_columns[] = {"repeat",  "seconds", "total", "iterations",
                                             "loss",    "status",  "host",  "started",
                                             "startup", "timing"};

/*
 * Tables written by earlier versions of this program have only the first EARLIER_RESULTS columns;
 * rows added to such a table have the same columns.
 */
enum { RESULTS = sizeof(result_columns) / sizeof(result_columns[0]), EARLIER_RESULTS = 8 };

static void add_csv_header(const struct launch_record *r, size_t results, struct hm_text *out)
{
    for (size_t i = 0; i < r->axes; i++)
        hm__text_addf(out, "%s%s", i ? "," : "", r->names[i]);
    for (size_t i = 0; i < results; i++)
        hm__text_addf(out, ",%s", result_columns[i]);
    hm__text_add(out, "\n");
}

/* Copies the runs that an earlier session wrote into the table. */
static void copy_earlier_runs(struct launch_record *r, const struct hm_runs *before)
{
    for (size_t i = 0; i < before->count; i++) {
        for (size_t k = 0; k < r->axes + RESULTS; k++) {
            const char *name = k < r->axes ? r->names[k] : result_columns[k - r->axes];
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

/* Returns whether a column has a text in some row. */
static bool has_texts(const struct hm_column *column, size_t rows)
{
    for (size_t i = 0; column->labels && i < rows; i++)
        if (column->labels[i])
            return true;
    return false;
}

/* Reads the runs of an existing file, which must have all columns of the new rows. */
static int read_earlier_runs(struct launch_record *r, const char *path)
{
    struct hm_err err = {0};
    struct hm_runs *before;

    if (hm_runs_load(path, &before, &err)) {
        /* hm_runs_load fails for a CSV file with only a header, but such a file is valid and has no
         * runs. */
        if (err.code == HM_E_MISSING && !r->json_lines)
            return 0;
        if (err.line > 0 && !err.hint[0])
            hm__err_hint(&err, "if the row was cut, remove it and continue; the other runs stay");
        return cli_report(&err);
    }
    for (size_t i = 0; i < r->axes; i++) {
        const struct hm_column *column = hm_runs_column(before, r->names[i]);
        if (column && !has_texts(column, before->count))
            continue;
        hm_runs_free(before);
        return cli_complain("--record: the runs in %s have no %s%s; give another file", path,
                            column ? "numbers for " : "", r->names[i]);
    }
    copy_earlier_runs(r, before);
    hm_runs_free(before);
    return 0;
}

/* Opens a CSV file to append rows. If an earlier version of this program wrote the file, the rows
 * have the columns of that version. */
static int open_csv(struct launch_record *r, const char *path)
{
    struct hm_text header = {0};

    add_csv_header(r, EARLIER_RESULTS, &header);
    r->earlier = !header.failed && launch_append_continues(path, header.data);
    int rc = header.failed
                 ? cli_complain("out of memory")
                 : launch_append_open(path, r->earlier ? header.data : r->csv.data, &r->file);
    hm__text_release(&header);
    return rc;
}

int launch_record_begin(struct launch_record *r, const char *path)
{
    struct stat info;
    int rc = 0;

    r->file = -1;
    add_csv_header(r, RESULTS, &r->csv);
    if (!path)
        return r->csv.failed ? cli_complain("out of memory") : 0;
    if (hm__is_store(path))
        return cli_store_open(path, &r->store);
    int format = launch_append_format(path);
    if (format < 0)
        return EXIT_USAGE;
    r->json_lines = format == 1;
    bool exists = stat(path, &info) == 0 && info.st_size > 0;
    rc = r->json_lines ? launch_append_open(path, NULL, &r->file) : open_csv(r, path);
    if (rc == 0 && exists)
        rc = read_earlier_runs(r, path);
    return rc;
}

/* Adds a number to a row, both as CSV and as JSON; an unknown number is an empty field in CSV. */
static void row_put_number(struct hm_text *csv, struct hm_json *json, const char *key, double value)
{
    hm__text_add(csv, csv->length ? "," : "");
    if (isfinite(value))
        hm__json_number(csv, value);
    hm__json_put_number(json, key, value);
}

/* Adds a string, which must not contain a comma or a quote, to a row, both as CSV and as JSON. */
static void row_put_text(struct hm_text *csv, struct hm_json *json, const char *key,
                         const char *text)
{
    hm__text_addf(csv, ",%s", text);
    hm__json_put_text(json, key, text);
}

static void row_put_result(struct hm_text *csv, struct hm_json *json, size_t repeat,
                           const struct launch_measurement *m)
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
    row_put_number(csv, json, "repeat", (double)repeat);
    row_put_number(csv, json, "seconds", m->seconds);
    row_put_number(csv, json, "total", m->total_s);
    row_put_number(csv, json, "iterations", m->iterations > 0 ? m->iterations : NAN);
    row_put_number(csv, json, "loss", m->loss);
    row_put_text(csv, json, "status", m->status);
    row_put_text(csv, json, "host", host);
    row_put_text(csv, json, "started", started);
    row_put_number(csv, json, "startup", m->startup_s);
    row_put_text(csv, json, "timing", m->timing ? m->timing : "");
}

/* Adds a row to the store as a table of one run, because the store accepts only tables. */
static int add_row_to_store(const struct launch_record *r, const struct hm_text *row)
{
    struct hm_text table = {0};
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};
    struct hm_added added = {0};

    add_csv_header(r, RESULTS, &table);
    hm__text_add_n(&table, row->data, row->length);
    int rc = table.failed ? cli_complain("out of memory") : 0;
    if (rc == 0 && hm_runs_parse(table.data, table.length, "this run", &runs, &err))
        rc = cli_report(&err);
    const struct hm_run_sink sink = hm__store_sink(r->store);
    if (rc == 0 && hm__table_add_runs(&sink, runs, NULL, &added, &err))
        rc = cli_report(&err);
    hm__added_release(&added);
    hm_runs_free(runs);
    hm__text_release(&table);
    return rc;
}

/*
 * Appends a row to the file. If an earlier version of this program wrote the file, columns that the
 * file does not have are omitted.
 */
static int append_row(const struct launch_record *r, const struct hm_text *csv,
                      const struct hm_text *line)
{
    struct hm_text cut = {0};
    size_t length = csv->length;

    if (r->json_lines || !r->earlier)
        return r->json_lines ? launch_append(r->file, line->data, line->length, true)
                             : launch_append(r->file, csv->data, csv->length, true);
    for (size_t commas = RESULTS - EARLIER_RESULTS; commas > 0; commas--)
        while (csv->data[--length] != ',')
            ;
    hm__text_add_n(&cut, csv->data, length);
    hm__text_add(&cut, "\n");
    int rc = cut.failed ? cli_complain("out of memory")
                        : launch_append(r->file, cut.data, cut.length, true);
    hm__text_release(&cut);
    return rc;
}

int launch_record_add(struct launch_record *r, const double *values, size_t repeat,
                      const struct launch_measurement *m)
{
    struct hm_text csv = {0}, line = {0};
    struct hm_json json = {.out = &line};

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    for (size_t i = 0; i < r->axes; i++)
        row_put_number(&csv, &json, r->names[i], values[i]);
    row_put_result(&csv, &json, repeat, m);
    hm__json_close(&json);
    hm__text_add(&csv, "\n");
    hm__text_add(&line, "\n");
    bool ok = !csv.failed && !line.failed;
    if (ok)
        hm__text_add_n(&r->csv, csv.data, csv.length);
    r->rows++;
    int rc = ok && !r->csv.failed ? 0 : cli_complain("out of memory");
    if (rc == 0 && r->file >= 0)
        rc = append_row(r, &csv, &line);
    if (rc == 0 && r->store)
        rc = add_row_to_store(r, &csv);
    hm__text_release(&csv);
    hm__text_release(&line);
    return rc;
}

struct hm_runs *launch_record_runs(const struct launch_record *r, struct hm_err *err)
{
    struct hm_runs *runs = NULL;

    if (r->rows == 0 || hm_runs_parse(r->csv.data, r->csv.length, "these runs", &runs, err))
        return NULL;
    return runs;
}

void launch_record_end(struct launch_record *r)
{
    hm__text_release(&r->csv);
    hm_store_close(r->store);
    r->store = NULL;
    if (r->file >= 0)
        close(r->file);
    r->file = -1;
}
