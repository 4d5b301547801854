/*
 * Reads the table of --measured. A row is one run of a framework. Its speed is given directly, or
 * is computed from the time and the batch of an iteration, as `howmany bench` records them.
 */
#include "compare_measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "run_text.h"

/* Indices of the columns; -1 if the table does not have the column. */
struct measured_columns {
    int task, platform, system, n, samples_per_s, seconds, batch, status;
};

static int find_columns(const struct hm_csv *csv, struct measured_columns *c)
{
    struct hm_err err = {0};

    if (hm__csv_need(csv, "task", &c->task, &err) ||
        hm__csv_need(csv, "platform", &c->platform, &err) ||
        hm__csv_need(csv, "system", &c->system, &err) || hm__csv_need(csv, "n", &c->n, &err))
        return cli_report(&err);
    c->samples_per_s = hm__csv_column(csv, "samples_per_s");
    c->seconds = hm__csv_column(csv, "seconds");
    c->batch = hm__csv_column(csv, "batch");
    c->status = hm__csv_column(csv, "status");
    if (c->samples_per_s < 0 && (c->seconds < 0 || c->batch < 0))
        return cli_complain("%s: it needs a column samples_per_s, or the columns seconds and batch",
                            hm__csv_source(csv));
    return 0;
}

static int complain_cell(const struct hm_csv *csv, int column, const char *value, const char *what)
{
    return cli_complain("%s:%d: %s: '%.60s' is not %s", hm__csv_source(csv), hm__csv_line(csv),
                        hm__csv_name(csv, (size_t)column), value, what);
}

static int read_positive(const struct hm_csv *csv, char **fields, int column, double *ret_value)
{
    double value = NAN;

    if (!hm__run_bare_number(fields[column], &value) || !(value > 0))
        return complain_cell(csv, column, fields[column], "a number above 0");
    if (value > HM_RUN_MOST)
        return complain_cell(csv, column, fields[column], "a number of at most 1e50");
    *ret_value = value;
    return 0;
}

/*
 * Reads the names and the number of workers of a row. The name of the framework (`system`) is
 * borrowed from the row.
 */
static int read_key(const struct hm_csv *csv, char **fields, const struct measured_columns *c,
                    struct compare_measured *row)
{
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        if (strcmp(compare_tasks[t].name, fields[c->task]) == 0)
            row->task = &compare_tasks[t];
    for (size_t w = 0; w < COMPARE_WAYS; w++)
        if (strcmp(compare_ways[w].name, fields[c->platform]) == 0)
            row->way = &compare_ways[w];
    row->system = fields[c->system];
    if (!row->task)
        return complain_cell(csv, c->task, fields[c->task],
                             "logistic, softmax, one-layer or two-layers");
    if (!row->way)
        return complain_cell(csv, c->platform, fields[c->platform],
                             "driver, bsp, ssp, async or allreduce");
    if (!row->system[0])
        return complain_cell(csv, c->system, row->system, "the name of a framework");
    if (read_positive(csv, fields, c->n, &row->n))
        return EXIT_USAGE;
    return row->n == floor(row->n) ? 0 : complain_cell(csv, c->n, fields[c->n], "a whole number");
}

static int read_speed(const struct hm_csv *csv, char **fields, const struct measured_columns *c,
                      double *ret_speed)
{
    double seconds = NAN, batch = NAN;

    if (c->samples_per_s >= 0 && fields[c->samples_per_s][0])
        return read_positive(csv, fields, c->samples_per_s, ret_speed);
    if (c->seconds < 0 || c->batch < 0)
        return complain_cell(csv, c->samples_per_s, "", "a number above 0");
    if (read_positive(csv, fields, c->seconds, &seconds) ||
        read_positive(csv, fields, c->batch, &batch))
        return EXIT_USAGE;
    *ret_speed = batch / seconds;
    return *ret_speed <= HM_RUN_MOST
               ? 0
               : complain_cell(csv, c->seconds, fields[c->seconds],
                               "a time that gives a speed of at most 1e50 samples/s");
}

/*
 * Finds the entry with the same framework, task, platform and n, or adds it. Returns NULL if memory
 * runs out.
 */
static struct compare_measured *find_measured(struct compare_measured_list *list,
                                              const struct compare_measured *key)
{
    for (size_t i = 0; i < list->count; i++) {
        struct compare_measured *row = &list->rows[i];
        if (row->task == key->task && row->way == key->way && row->n == key->n &&
            strcmp(row->system, key->system) == 0)
            return row;
    }
    struct compare_measured *more = realloc(list->rows, (list->count + 1) * sizeof(*more));
    if (!more)
        return NULL;
    list->rows = more;
    more[list->count] = *key;
    more[list->count].system = strdup(key->system);
    return more[list->count].system ? &more[list->count++] : NULL;
}

/*
 * Inserts the speed of a run into the list of speeds, which is in ascending order, and updates the
 * median.
 */
static void add_speed(struct compare_measured *row, double speed)
{
    size_t i = row->runs++;

    for (; i > 0 && row->speeds[i - 1] > speed; i--)
        row->speeds[i] = row->speeds[i - 1];
    row->speeds[i] = speed;
    size_t middle = row->runs / 2;
    row->samples_per_s =
        row->runs % 2 ? row->speeds[middle] : (row->speeds[middle - 1] + row->speeds[middle]) / 2;
}

static int read_measured_row(const struct hm_csv *csv, char **fields,
                             const struct measured_columns *c, struct compare_measured_list *list)
{
    struct compare_measured key = {0};
    double speed = NAN;

    if (c->status >= 0 && fields[c->status][0] && strcmp(fields[c->status], "ok") != 0)
        return 0; /* The run failed, so its row has no speed and is skipped. */
    if (read_key(csv, fields, c, &key) || read_speed(csv, fields, c, &speed))
        return EXIT_USAGE;
    struct compare_measured *row = find_measured(list, &key);
    if (!row)
        return cli_complain("out of memory");
    if (row->runs == COMPARE_MEASURED_RUNS)
        return cli_complain("%s:%d: more than %d runs of %s, %s, n = %.0f", hm__csv_source(csv),
                            hm__csv_line(csv), COMPARE_MEASURED_RUNS, row->system, row->task->name,
                            row->n);
    add_speed(row, speed);
    return 0;
}

int compare_measured_read(const char *path, struct compare_measured_list *list)
{
    struct measured_columns columns;
    struct hm_csv *csv = NULL;
    struct hm_err err = {0};
    char **fields = NULL;
    int more = 0;

    if (hm__csv_open(path, &csv, &err))
        return cli_report(&err);
    int rc = find_columns(csv, &columns);
    while (rc == 0 && (more = hm__csv_next(csv, &fields, &err)) > 0)
        rc = read_measured_row(csv, fields, &columns, list);
    if (rc == 0 && more < 0)
        rc = cli_report(&err);
    if (rc == 0 && list->count == 0)
        rc = cli_complain("%s: it has no run that succeeded", path);
    hm__csv_close(csv);
    return rc;
}

void compare_measured_release(struct compare_measured_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->rows[i].system);
    free(list->rows);
    *list = (struct compare_measured_list){0};
}
