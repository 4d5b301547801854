/*
 * Reads tables of steps that were measured with frameworks and their platforms. The cells of a row
 * are written as in a job file, so each row is converted to the text of a job and parsed by the
 * reader of jobs, which checks names, units and ranges. The columns are described in
 * data/README.md.
 */
#include "read_platforms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "embedded.h"
#include "err.h"
#include "memory.h"
#include "readers.h"
#include "text.h"

enum { ROWS_MAX = 100000, JOB_TEXT = 1024 };
static const double STALENESS = 3; /* Staleness bound of SSP in the measurements. */

enum column {
    SOURCE,
    FRAMEWORK,
    INPUT,
    NETWORK,
    MACHINE,
    THREADS,
    PLATFORM,
    CONSISTENCY,
    SERVERS,
    WORKERS,
    BATCH,
    PRECISION,
    SECONDS,
    HELD_OUT, /* Column of held-out predictions, which may be missing. */
    COLUMNS
};

static const char *const names[] = {"source",  "framework", "input",       "network",   "machine",
                                    "threads", "platform",  "consistency", "servers",   "n",
                                    "batch",   "precision", "step_s",      "held_out_s"};

static int row_fail(const struct hm_csv *csv, const char *column, const char *text,
                    const char *wanted, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "column '%s': '%.60s' is not %s", column, text, wanted);
    hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    return HM_E_RANGE;
}

static int row_number(const struct hm_csv *csv, enum column column, char **cells, double *ret_value,
                      struct hm_err *err)
{
    double value = 0;
    size_t used = hm__number_read(cells[column], &value);

    if (used == 0 || cells[column][used] || !(value > 0) || !isfinite(value))
        return row_fail(csv, names[column], cells[column], "a number above 0", err);
    *ret_value = value;
    return 0;
}

/* Reads the platform of a row of the table; an empty cell means one worker without a platform. */
static int row_way(const struct hm_csv *csv, char **cells, struct hm_way *way, struct hm_err *err)
{
    if (!*cells[PLATFORM])
        return 0;
    int platform = hm_platform_find(cells[PLATFORM]);
    int consistency = hm_consistency_find(cells[CONSISTENCY]);
    if (platform < 0)
        return row_fail(csv, "platform", cells[PLATFORM], "allreduce, driver or server", err);
    if (consistency < 0)
        return row_fail(csv, "consistency", cells[CONSISTENCY], "bsp, ssp or async", err);
    way->platform = (enum hm_platform)platform;
    way->consistency = (enum hm_consistency)consistency;
    if (way->consistency == HM_CONSISTENCY_SSP)
        way->staleness = STALENESS;
    way->servers = 1;
    return *cells[SERVERS] ? row_number(csv, SERVERS, cells, &way->servers, err) : 0;
}

/* Builds the job that a row of the table describes. Scaling is weak, because the column `batch`
 * counts the samples of one worker. */
static int row_job(const struct hm_catalog *catalog, const struct hm_csv *csv, char **cells,
                   struct hm_job **ret_job, struct hm_err *err)
{
    char text[JOB_TEXT];
    const bool threads = *cells[THREADS];
    int used = snprintf(text, sizeof(text),
                        "network: '%s'\nbatch: '%s'\nscaling: weak\nprecision: '%s'\n"
                        "framework: '%s'\ninput: '%s'\ncluster:\n  machine: '%s'\n%s%s%s",
                        cells[NETWORK], cells[BATCH], cells[PRECISION], cells[FRAMEWORK],
                        cells[INPUT], cells[MACHINE], threads ? "  threads: '" : "", cells[THREADS],
                        threads ? "'\n" : "");
    int rc = used >= (int)sizeof(text)
                 ? hm__fail(err, HM_E_LIMIT, "the row is longer than %d bytes", JOB_TEXT)
                 : hm_job_parse_with(catalog, text, (size_t)used, "row", NULL, 0, ret_job, err);

    if (rc && err) {
        err->source[0] = '\0';
        err->line = 0;
        hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    }
    return rc;
}

static int row_read(const struct hm_catalog *catalog, const struct hm_csv *csv, char **cells,
                    struct hm_arena *arena, struct hm_platform_row *row, struct hm_err *err)
{
    int rc = row_number(csv, WORKERS, cells, &row->n, err);

    if (rc == 0)
        rc = row_number(csv, BATCH, cells, &row->batch, err);
    if (rc == 0)
        rc = row_number(csv, SECONDS, cells, &row->seconds, err);
    row->held_out_s = NAN;
    if (rc == 0 && cells[HELD_OUT] && *cells[HELD_OUT])
        rc = row_number(csv, HELD_OUT, cells, &row->held_out_s, err);
    if (rc == 0)
        rc = row_way(csv, cells, &row->way, err);
    if (rc)
        return rc;
    row->source = hm__arena_strdup(arena, cells[SOURCE]);
    row->framework = hm__arena_strdup(arena, cells[FRAMEWORK]);
    row->network = hm__arena_strdup(arena, cells[NETWORK]);
    row->machine = hm__arena_strdup(arena, cells[MACHINE]);
    if (!row->source || !row->framework || !row->network || !row->machine)
        return hm__fail_nomem(err);
    return row_job(catalog, csv, cells, &row->job, err);
}

/* Opens the table and finds its columns. */
static int table_open(const char *text, size_t length, const char *source, int *columns,
                      struct hm_csv **ret_csv, struct hm_err *err)
{
    if (!text) {
        const struct hm_embedded *file = hm__data_file("platforms.csv");
        text = file->text;
        length = file->length;
        source = file->name;
    }
    int rc = hm__csv_parse(text, length, source, 0, ret_csv, err);
    for (size_t i = 0; rc == 0 && i < HELD_OUT; i++) {
        rc = hm__csv_need(*ret_csv, names[i], &columns[i], err);
        if (rc)
            hm__csv_close(*ret_csv);
    }
    if (rc == 0)
        columns[HELD_OUT] = hm__csv_column(*ret_csv, names[HELD_OUT]);
    return rc;
}

/*
 * Appends an empty row and returns it; returns NULL if memory runs out or if there are too many
 * rows.
 */
static struct hm_platform_row *rows_add(struct hm_platform_rows *all, size_t *room)
{
    void *rows =
        all->count == ROWS_MAX ? NULL : hm__grow(all->rows, all->count, room, sizeof(*all->rows));

    if (!rows)
        return NULL;
    all->rows = rows;
    all->rows[all->count] = (struct hm_platform_row){0};
    return &all->rows[all->count++];
}

int hm__platform_rows_read(const struct hm_catalog *catalog, const char *text, size_t length,
                           const char *source, struct hm_platform_rows *ret_rows,
                           struct hm_err *err)
{
    struct hm_platform_rows all = {.memory = hm__arena_new()};
    struct hm_csv *csv;
    int columns[COLUMNS];
    char **fields, *cells[COLUMNS];
    size_t room = 0;
    int rc =
        all.memory ? table_open(text, length, source, columns, &csv, err) : hm__fail_nomem(err);

    if (rc) {
        hm__platform_rows_release(&all);
        return rc;
    }
    while ((rc = hm__csv_next(csv, &fields, err)) == 1) {
        struct hm_platform_row *row = rows_add(&all, &room);
        for (size_t i = 0; i < COLUMNS; i++)
            cells[i] = columns[i] >= 0 ? fields[columns[i]] : NULL;
        rc = row ? row_read(catalog, csv, cells, all.memory, row, err) : hm__fail_nomem(err);
        if (rc)
            break;
    }
    hm__csv_close(csv);
    if (rc)
        hm__platform_rows_release(&all);
    else
        *ret_rows = all;
    return rc;
}

void hm__platform_rows_release(struct hm_platform_rows *all)
{
    for (size_t i = 0; i < all->count; i++)
        hm_job_free(all->rows[i].job);
    hm__free(all->rows);
    hm__arena_free(all->memory);
    *all = (struct hm_platform_rows){0};
}
