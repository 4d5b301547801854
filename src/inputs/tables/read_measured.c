/*
 * Reads tables of measured steps and collectives. The cells of a row are written as in a job file,
 * so each row is converted to the text of a job and parsed by the reader of jobs, which checks
 * names, units and ranges. The columns are described in data/README.md.
 */
#include "read_measured.h"

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

enum step_column {
    STEP_SOURCE,
    STEP_NETWORK,
    STEP_MACHINE,
    STEP_FABRIC,
    STEP_N,
    STEP_BATCH,
    STEP_PRECISION,
    STEP_WEIGHTS,
    STEP_OPTIMIZER,
    STEP_SOFTWARE,
    STEP_SECONDS,
    STEP_MEMORY,
    STEP_NEEDED,
    STEP_PLATFORM = STEP_NEEDED,
    STEP_HELD_OUT,
    STEP_CHANNELS_LAST,
    STEP_COLUMNS
};

/* Columns of a table of steps; the columns starting with STEP_NEEDED may be missing. */
static const char *const step_names[] = {"source",    "network",    "machine",      "fabric",
                                         "n",         "batch",      "precision",    "weights",
                                         "optimizer", "software",   "step_s",       "memory_bytes",
                                         "platform",  "held_out_s", "channels_last"};
static const char *const collective_names[] = {"source", "machine", "fabric",
                                               "n",      "bytes",   "seconds"};

static int fail_cell(const struct hm_csv *csv, const char *column, const char *text,
                     struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "column '%s': '%.60s' is not a number above 0", column, text);
    hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    return HM_E_RANGE;
}

static int read_positive(const struct hm_csv *csv, const char *column, const char *text,
                         double *ret_value, struct hm_err *err)
{
    double value = 0;
    size_t used = hm__number_read(text, &value);

    if (used == 0 || text[used] || !(value > 0) || !isfinite(value))
        return fail_cell(csv, column, text, err);
    *ret_value = value;
    return 0;
}

/* Adds the line of the table to an error that the reader of jobs or clusters reports for a row. */
static int place_row(const struct hm_csv *csv, int rc, struct hm_err *err)
{
    if (rc && err) {
        err->source[0] = '\0';
        err->line = 0;
        hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    }
    return rc;
}

/* Builds the job that a row of the table describes. Scaling is weak, because the column `batch`
 * counts the samples of one worker. */
static int step_job(const struct hm_catalog *catalog, const struct hm_csv *csv, char **cells,
                    struct hm_job **ret_job, struct hm_err *err)
{
    char text[JOB_TEXT];
    const bool weights = *cells[STEP_WEIGHTS], fabric = *cells[STEP_FABRIC],
               last = *cells[STEP_CHANNELS_LAST];
    int used = snprintf(text, sizeof(text),
                        "network: '%s'\nbatch: '%s'\nscaling: weak\nprecision: '%s'\n%s%s%s"
                        "optimizer: '%s'\nsoftware: '%s'\n%s%s%scluster:\n  machine: '%s'\n%s%s%s",
                        cells[STEP_NETWORK], cells[STEP_BATCH], cells[STEP_PRECISION],
                        weights ? "weights: '" : "", cells[STEP_WEIGHTS], weights ? "'\n" : "",
                        cells[STEP_OPTIMIZER], cells[STEP_SOFTWARE], last ? "channels_last: " : "",
                        cells[STEP_CHANNELS_LAST], last ? "\n" : "", cells[STEP_MACHINE],
                        fabric ? "  fabric: '" : "", cells[STEP_FABRIC], fabric ? "'\n" : "");
    int rc = used >= (int)sizeof(text)
                 ? hm__fail(err, HM_E_LIMIT, "the row is longer than %d bytes", JOB_TEXT)
                 : hm_job_parse_with(catalog, text, (size_t)used, "row", NULL, 0, ret_job, err);

    return place_row(csv, rc, err);
}

/*
 * Reads a platform: an empty text, `driver`, or `server S CONSISTENCY` with the number of servers
 * S. The servers run on the nodes of the workers if the word `colocated` follows.
 */
static int read_way(const struct hm_csv *csv, const char *text, struct hm_way *way,
                    struct hm_err *err)
{
    char kind[16] = "", consistency[16] = "", place[16] = "";
    double servers = 1;
    int words = sscanf(text, "%15s %lf %15s %15s", kind, &servers, consistency, place);
    int platform = words > 0 ? hm_platform_find(kind) : HM_PLATFORM_JOB;
    int rule = words > 2 ? hm_consistency_find(consistency) : HM_CONSISTENCY_BSP;
    bool colocated = words == 4 && strcmp(place, "colocated") == 0;
    bool right = words <= 0 || (words == 1 && platform == HM_PLATFORM_DRIVER) ||
                 (words >= 3 && platform == HM_PLATFORM_SERVER && servers >= 1 && servers <= 1e6 &&
                  rule >= 0 && (words == 3 || colocated));

    if (!right) {
        hm__fail(err, HM_E_RANGE, "column 'platform': '%.60s' is not a platform", text);
        hm__err_hint(err, "leave it empty, or write driver, or server 4 bsp colocated");
        hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
        return HM_E_RANGE;
    }
    *way = (struct hm_way){.platform = (enum hm_platform)platform,
                           .consistency = (enum hm_consistency)rule,
                           .staleness = rule == HM_CONSISTENCY_SSP ? 3 : 0,
                           .servers = platform == HM_PLATFORM_SERVER ? servers : 0,
                           .colocated = colocated};
    return 0;
}

static int read_step(const struct hm_catalog *catalog, const struct hm_csv *csv, char **cells,
                     struct hm_arena *arena, struct hm_measured_step *row, struct hm_err *err)
{
    int rc = read_positive(csv, "n", cells[STEP_N], &row->n, err);

    row->memory_bytes = row->held_out_s = NAN;
    if (rc == 0)
        rc = read_positive(csv, "batch", cells[STEP_BATCH], &row->batch, err);
    if (rc == 0)
        rc = read_positive(csv, "step_s", cells[STEP_SECONDS], &row->seconds, err);
    if (rc == 0 && *cells[STEP_MEMORY])
        rc = read_positive(csv, "memory_bytes", cells[STEP_MEMORY], &row->memory_bytes, err);
    if (rc == 0 && *cells[STEP_HELD_OUT])
        rc = read_positive(csv, "held_out_s", cells[STEP_HELD_OUT], &row->held_out_s, err);
    if (rc == 0)
        rc = read_way(csv, cells[STEP_PLATFORM], &row->way, err);
    if (rc)
        return rc;
    row->source = hm__arena_strdup(arena, cells[STEP_SOURCE]);
    row->network = hm__arena_strdup(arena, cells[STEP_NETWORK]);
    row->machine = hm__arena_strdup(arena, cells[STEP_MACHINE]);
    row->precision = hm__arena_strdup(arena, cells[STEP_PRECISION]);
    row->software = hm__arena_strdup(arena, cells[STEP_SOFTWARE]);
    if (!row->source || !row->network || !row->machine || !row->precision || !row->software)
        return hm__fail_nomem(err);
    return step_job(catalog, csv, cells, &row->job, err);
}

static int read_collective(const struct hm_catalog *catalog, const struct hm_csv *csv, char **cells,
                           struct hm_arena *arena, struct hm_measured_collective *row,
                           struct hm_err *err)
{
    char text[JOB_TEXT];
    int rc = read_positive(csv, "n", cells[3], &row->n, err);

    if (rc == 0)
        rc = read_positive(csv, "bytes", cells[4], &row->bytes, err);
    if (rc == 0)
        rc = read_positive(csv, "seconds", cells[5], &row->seconds, err);
    if (rc)
        return rc;
    row->source = hm__arena_strdup(arena, cells[0]);
    row->machine = hm__arena_strdup(arena, cells[1]);
    if (!row->source || !row->machine)
        return hm__fail_nomem(err);
    snprintf(text, sizeof(text), "machine: '%.200s'\n%s%.200s%s", cells[1],
             *cells[2] ? "fabric: '" : "", cells[2], *cells[2] ? "'\n" : "");
    rc = hm_cluster_parse(catalog, text, strlen(text), "row", NULL, 0, &row->cluster, err);
    return place_row(csv, rc, err);
}

/* Reads the next row and puts its cells into the order of `columns`; the cell of a missing column
 * is empty. */
static int next_cells(struct hm_csv *csv, const int *columns, size_t count, char **cells,
                      struct hm_err *err)
{
    static char empty[] = "";
    char **fields;
    int rc = hm__csv_next(csv, &fields, err);

    for (size_t i = 0; rc == 1 && i < count; i++)
        cells[i] = columns[i] < 0 ? empty : fields[columns[i]];
    return rc;
}

static int open_table(const char *text, size_t length, const char *source, const char *built_in,
                      const char *const *names, size_t needed, size_t count, int *columns,
                      struct hm_csv **ret_csv, struct hm_err *err)
{
    if (!text) {
        const struct hm_embedded *file = hm__data_file(built_in);
        text = file->text;
        length = file->length;
        source = file->name;
    }
    int rc = hm__csv_parse(text, length, source, 0, ret_csv, err);
    for (size_t i = 0; rc == 0 && i < needed; i++) {
        rc = hm__csv_need(*ret_csv, names[i], &columns[i], err);
        if (rc)
            hm__csv_close(*ret_csv);
    }
    for (size_t i = needed; rc == 0 && i < count; i++)
        columns[i] = hm__csv_column(*ret_csv, names[i]);
    return rc;
}

int hm__measured_steps_read(const struct hm_catalog *catalog, const char *text, size_t length,
                            const char *source, struct hm_measured_steps *ret_steps,
                            struct hm_err *err)
{
    struct hm_measured_steps steps = {.memory = hm__arena_new()};
    struct hm_csv *csv;
    int columns[STEP_COLUMNS];
    char *cells[STEP_COLUMNS];
    size_t room = 0;
    int rc = steps.memory ? open_table(text, length, source, "steps.csv", step_names, STEP_NEEDED,
                                       STEP_COLUMNS, columns, &csv, err)
                          : hm__fail_nomem(err);

    if (rc) {
        hm__measured_steps_release(&steps);
        return rc;
    }
    while ((rc = next_cells(csv, columns, STEP_COLUMNS, cells, err)) == 1) {
        void *rows = steps.count == ROWS_MAX
                         ? NULL
                         : hm__grow(steps.rows, steps.count, &room, sizeof(*steps.rows));
        if (!rows) {
            rc = hm__fail_nomem(err);
            break;
        }
        steps.rows = rows;
        struct hm_measured_step *row = &steps.rows[steps.count++];
        *row = (struct hm_measured_step){0};
        if ((rc = read_step(catalog, csv, cells, steps.memory, row, err)))
            break;
    }
    hm__csv_close(csv);
    if (rc)
        hm__measured_steps_release(&steps);
    else
        *ret_steps = steps;
    return rc;
}

int hm__measured_collectives_read(const struct hm_catalog *catalog, const char *text, size_t length,
                                  const char *source, struct hm_measured_collectives *ret_rows,
                                  struct hm_err *err)
{
    enum { COLUMNS = sizeof(collective_names) / sizeof(collective_names[0]) };
    struct hm_measured_collectives all = {.memory = hm__arena_new()};
    struct hm_csv *csv;
    int columns[COLUMNS];
    char *cells[COLUMNS];
    size_t room = 0;
    int rc = all.memory ? open_table(text, length, source, "collectives.csv", collective_names,
                                     COLUMNS, COLUMNS, columns, &csv, err)
                        : hm__fail_nomem(err);

    if (rc) {
        hm__measured_collectives_release(&all);
        return rc;
    }
    while ((rc = next_cells(csv, columns, COLUMNS, cells, err)) == 1) {
        void *rows =
            all.count == ROWS_MAX ? NULL : hm__grow(all.rows, all.count, &room, sizeof(*all.rows));
        if (!rows) {
            rc = hm__fail_nomem(err);
            break;
        }
        all.rows = rows;
        struct hm_measured_collective *row = &all.rows[all.count++];
        *row = (struct hm_measured_collective){0};
        if ((rc = read_collective(catalog, csv, cells, all.memory, row, err)))
            break;
    }
    hm__csv_close(csv);
    if (rc)
        hm__measured_collectives_release(&all);
    else
        *ret_rows = all;
    return rc;
}

void hm__measured_steps_release(struct hm_measured_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++)
        hm_job_free(steps->rows[i].job);
    hm__free(steps->rows);
    hm__arena_free(steps->memory);
    *steps = (struct hm_measured_steps){0};
}

void hm__measured_collectives_release(struct hm_measured_collectives *all)
{
    for (size_t i = 0; i < all->count; i++)
        hm_cluster_free(all->rows[i].cluster);
    hm__free(all->rows);
    hm__arena_free(all->memory);
    *all = (struct hm_measured_collectives){0};
}
