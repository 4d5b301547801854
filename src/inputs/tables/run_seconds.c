/*
 * Derives the time of each run in seconds. The first of these columns that a row contains is used:
 *
 *     seconds                    as given
 *     total                      total / iterations
 *     iterations_per_s           1 / rate
 *     samples_per_s              batch / rate
 *     tokens_per_s               batch * sequence / rate
 *     seconds_per_sample         batch * seconds
 *     seconds_per_token          batch * sequence * seconds
 *     seconds_per_epoch          batch / dataset * seconds
 *     speedup                    1 / speedup, if the table has no time at all
 *
 * A rate per worker is multiplied by n. `batch` counts the samples of one iteration of the whole
 * job; it is n * batch_per_worker if only that is given. If the batch of some run is unknown, the
 * times of all runs remain times per sample, token or epoch, and the table says so in its `unit`; a
 * table never mixes units.
 */
#include "run_seconds.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "run_names.h"

/* The columns from which the times are derived; each may be NULL. */
struct time_columns {
    const double *n, *seconds, *total, *iterations, *iterations_per_s, *samples_per_s,
        *samples_each, *tokens_per_s, *tokens_each, *per_sample, *per_token, *per_epoch, *speedup,
        *batch, *sequence, *dataset;
    const struct hm_column *status;
};

static const double *values_of(const struct hm_runs *runs, const char *name)
{
    const struct hm_column *column = hm_runs_column(runs, name);

    return column ? column->values : NULL;
}

static double value_at(const double *values, size_t row)
{
    return values ? values[row] : NAN;
}

static struct time_columns columns_find(const struct hm_runs *runs)
{
    return (struct time_columns){
        .n = values_of(runs, "n"),
        .seconds = values_of(runs, "seconds"),
        .total = values_of(runs, "total"),
        .iterations = values_of(runs, "iterations"),
        .iterations_per_s = values_of(runs, "iterations_per_s"),
        .samples_per_s = values_of(runs, "samples_per_s"),
        .samples_each = values_of(runs, "samples_per_s_per_worker"),
        .tokens_per_s = values_of(runs, "tokens_per_s"),
        .tokens_each = values_of(runs, "tokens_per_s_per_worker"),
        .per_sample = values_of(runs, "seconds_per_sample"),
        .per_token = values_of(runs, "seconds_per_token"),
        .per_epoch = values_of(runs, "seconds_per_epoch"),
        .speedup = values_of(runs, "speedup"),
        .batch = values_of(runs, "batch"),
        .sequence = values_of(runs, "sequence"),
        .dataset = values_of(runs, "dataset"),
        .status = hm_runs_column(runs, "status"),
    };
}

static int fail_row(const struct hm_runs *runs, size_t row, const char *field, int code,
                    const char *message, struct hm_err *err)
{
    hm__fail(err, code, "%s", message);
    hm__err_field(err, field);
    hm__err_at(err, runs->source, hm__runs_line(runs, row));
    return code;
}

static bool has_failed(const struct hm_column *status, size_t row)
{
    const char *text = status && status->labels ? status->labels[row] : NULL;

    return text && strcasecmp(text, "ok") != 0 && strcasecmp(text, "done") != 0 &&
           strcasecmp(text, "success") != 0 && strcasecmp(text, "completed") != 0;
}

/* ---- batch and scaling ----------------------------------------------------------------------- */

/* Adds a column with one value per row to the table. */
static double *add_column(struct hm_runs *runs, const char *name, struct hm_err *err)
{
    double *values = hm__arena_alloc(runs->memory, runs->count, sizeof(*values));

    if (values)
        runs->columns[runs->column_count++] = (struct hm_column){name, values, NULL};
    else
        hm__fail_nomem(err);
    return values;
}

/*
 * Derives batch = n * batch_per_worker; a row that contains both must satisfy this equation. The
 * column batch_per_worker stays in the table for readers, but fits do not use it.
 */
static int batch_derive(struct hm_runs *runs, struct hm_err *err)
{
    const double *n = values_of(runs, "n"), *each = values_of(runs, "batch_per_worker");
    const struct hm_column *have = hm_runs_column(runs, "batch");
    double *batch = have ? have->values : NULL;

    if (!each || (have && !batch))
        return 0;
    if (!batch) {
        batch = add_column(runs, "batch", err);
        if (!batch)
            return HM_E_NOMEM;
        for (size_t i = 0; i < runs->count; i++)
            batch[i] = NAN;
    }
    for (size_t i = 0; i < runs->count; i++) {
        if (isnan(each[i]) || isnan(n[i]))
            continue;
        if (isnan(batch[i]))
            batch[i] = n[i] * each[i];
        if (fabs(batch[i] / (n[i] * each[i]) - 1) <= 1e-6)
            continue;
        hm__fail(err, HM_E_CONFLICT,
                 "the batch of %g is not n times the batch_per_worker, %g * %g = %g", batch[i],
                 n[i], each[i], n[i] * each[i]);
        hm__err_hint(err, "batch counts the samples of one iteration of the whole job");
        hm__err_field(err, "batch");
        hm__err_at(err, runs->source, hm__runs_line(runs, i));
        return HM_E_CONFLICT;
    }
    return 0;
}

/* Reads the column `scaling`: the runs have weak scaling if all rows say so. */
static int scaling_read(struct hm_runs *runs, struct hm_err *err)
{
    const struct hm_column *scaling = hm_runs_column(runs, "scaling");
    size_t weak = 0;

    for (size_t i = 0; scaling && scaling->labels && i < runs->count; i++) {
        const char *text = scaling->labels[i];
        if (!text || strcasecmp(text, "strong") == 0)
            continue;
        if (strcasecmp(text, "weak") != 0)
            return fail_row(runs, i, "scaling", HM_E_NAME,
                            "scaling must be weak (each worker keeps its batch) or strong", err);
        weak++;
    }
    if (weak > 0 && weak < runs->count) {
        hm__fail(err, HM_E_CONFLICT, "%zu of %zu runs have weak scaling, the others do not", weak,
                 runs->count);
        hm__err_hint(err, "keep the runs of one kind, with where scaling=weak");
        hm__err_field(err, "scaling");
        hm__err_at(err, runs->source, 0);
        return HM_E_CONFLICT;
    }
    runs->weak = weak > 0;
    return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* The time of one run, before its unit is converted. */
struct unit_time {
    double seconds;
    const char *unit; /* Unit of the time: "sample", "token" or "epoch"; NULL for the time of an
                         iteration. */
    double iteration; /* Number of samples, tokens or epochs in one iteration; NaN if unknown. */
};

/*
 * Returns the time in seconds per sample or token, from the rate of the whole job or from the rate
 * of each worker.
 */
static double rate_seconds(const double *all, const double *each, double n, size_t row)
{
    double rate = value_at(all, row);

    return 1 / (isnan(rate) ? value_at(each, row) * n : rate);
}

static struct unit_time time_read(const struct time_columns *c, size_t row)
{
    double batch = value_at(c->batch, row), tokens = batch * value_at(c->sequence, row);
    double of = value_at(c->iterations, row);
    const struct unit_time ways[] = {
        {value_at(c->seconds, row), NULL, 1},
        {value_at(c->total, row) / (isnan(of) ? 1 : of), NULL, 1},
        {1 / value_at(c->iterations_per_s, row), NULL, 1},
        {rate_seconds(c->samples_per_s, c->samples_each, value_at(c->n, row), row), "sample",
         batch},
        {rate_seconds(c->tokens_per_s, c->tokens_each, value_at(c->n, row), row), "token", tokens},
        {value_at(c->per_sample, row), "sample", batch},
        {value_at(c->per_token, row), "token", tokens},
        {value_at(c->per_epoch, row), "epoch", batch / value_at(c->dataset, row)},
    };

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        if (!isnan(ways[i].seconds))
            return ways[i];
    return (struct unit_time){NAN, NULL, 1};
}

/* Returns whether the table has times, and not only speedups. */
static bool columns_have_time(const struct time_columns *c)
{
    return c->seconds || c->total || c->iterations_per_s || c->samples_per_s || c->samples_each ||
           c->tokens_per_s || c->tokens_each || c->per_sample || c->per_token || c->per_epoch;
}

/*
 * Decides the unit of the table: an iteration if every time can be converted to the time of an
 * iteration. Otherwise, it is the unit of the runs, which must be the same for all runs.
 */
static int unit_decide(struct hm_runs *runs, const struct time_columns *c, struct hm_err *err)
{
    bool unknown = false;

    for (size_t i = 0; i < runs->count; i++) {
        struct unit_time t = time_read(c, i);
        if (!isnan(t.seconds) && isnan(t.iteration) && !has_failed(c->status, i)) {
            unknown = true;
            runs->unit = t.unit;
        }
    }
    for (size_t i = 0; unknown && i < runs->count; i++) {
        struct unit_time t = time_read(c, i);
        if (isnan(t.seconds) || t.unit == runs->unit || has_failed(c->status, i))
            continue;
        hm__fail(err, HM_E_MISSING,
                 "the time of this run is that of %s, but other runs have the time of %s",
                 t.unit ? t.unit : "an iteration", runs->unit);
        hm__err_hint(err, "a column batch would convert them");
        hm__err_field(err, "batch");
        hm__err_at(err, runs->source, hm__runs_line(runs, i));
        return HM_E_MISSING;
    }
    return 0;
}

static int times_derive(struct hm_runs *runs, const struct time_columns *c, double *seconds,
                        struct hm_err *err)
{
    runs->relative = !columns_have_time(c);
    for (size_t i = 0; i < runs->count; i++) {
        struct unit_time t = time_read(c, i);
        bool failed = has_failed(c->status, i);
        seconds[i] = t.seconds * (runs->unit ? 1 : t.iteration);
        if (isnan(seconds[i]) && runs->relative)
            seconds[i] = 1 / value_at(c->speedup, i);
        if (failed)
            seconds[i] = NAN;
        if (isnan(value_at(c->n, i)))
            return fail_row(runs, i, "n", HM_E_MISSING, "the run has no n", err);
        if (isnan(seconds[i]) && !failed)
            return fail_row(runs, i, "seconds", HM_E_MISSING,
                            "the run has no time, and no status that explains it", err);
        runs->failed += isnan(seconds[i]) ? 1 : 0;
    }
    return 0;
}

/*
 * If the table has no column with the name `name`, gives this name to the first column whose own
 * name says that it has these numbers. Columns that are named `from` count, too.
 */
static void column_adopt(struct hm_runs *runs, const char *name, const char *from)
{
    for (size_t i = 0; !hm_runs_column(runs, name) && i < runs->column_count; i++) {
        struct hm_column *c = &runs->columns[i];
        const char *counts = hm__run_name_counts(c->name);
        if (c->values && ((counts && strcmp(counts, name) == 0) || strcmp(c->name, from) == 0))
            c->name = name;
    }
}

/*
 * Finds n in a table that has no column of this name, such as one with `num_gpus`. From a number of
 * nodes it follows with `workers_per_node`; otherwise each node is a worker.
 */
static int workers_derive(struct hm_runs *runs, struct hm_err *err)
{
    if (hm_runs_column(runs, "n"))
        return 0;
    const double *each = values_of(runs, "workers_per_node");
    column_adopt(runs, "n", "");
    column_adopt(runs, "nodes", "");
    const double *nodes = values_of(runs, "nodes");
    if (!each)
        column_adopt(runs, "n", "nodes");
    else if (!hm_runs_column(runs, "n") && nodes) {
        double *n = hm__arena_alloc(runs->memory, runs->count, sizeof(*n));
        if (!n)
            return hm__fail_nomem(err);
        for (size_t i = 0; i < runs->count; i++)
            n[i] = nodes[i] * each[i];
        runs->columns[runs->column_count++] = (struct hm_column){.name = "n", .values = n};
    }
    const double *n = values_of(runs, "n");
    for (size_t i = 0; n && i < runs->count; i++)
        if (n[i] < 1 || n[i] > HM_COUNT_MOST)
            return fail_row(runs, i, "n", HM_E_RANGE, "the number of workers is out of range", err);
    return 0;
}

/*
 * Fails if n, nodes and workers_per_node of a run contradict each other: every node has at least
 * one worker and at most workers_per_node.
 */
static int nodes_check(const struct hm_runs *runs, struct hm_err *err)
{
    const double *n = values_of(runs, "n"), *nodes = values_of(runs, "nodes");
    const double *each = values_of(runs, "workers_per_node");

    for (size_t i = 0; n && nodes && each && i < runs->count; i++) {
        /* Comparisons with an empty cell, which is NaN, are false. */
        if (!(n[i] > nodes[i] * each[i]) && !(n[i] < nodes[i]))
            continue;
        hm__fail(err, HM_E_CONFLICT,
                 "%.15g workers cannot be on %.15g nodes with %.15g workers_per_node", n[i],
                 nodes[i], each[i]);
        hm__err_hint(err, "every node has at least one worker, and at most workers_per_node");
        hm__err_field(err, "n");
        hm__err_at(err, runs->source, hm__runs_line(runs, i));
        return HM_E_CONFLICT;
    }
    return 0;
}

static int check_columns(const struct hm_runs *runs, struct hm_err *err)
{
    struct time_columns c = columns_find(runs);
    const char *lacks = !hm_runs_column(runs, "n") ? "n"
                        : !columns_have_time(&c) && !hm_runs_column(runs, "speedup") &&
                                !hm_runs_column(runs, "seconds") && !hm_runs_column(runs, "total")
                            ? "seconds"
                            : NULL;

    if (!lacks)
        return 0;
    hm__fail(err, HM_E_MISSING, "no column '%s'", lacks);
    bool one = runs->column_count == 1 && *lacks == 'n';
    hm__err_hint(err, one ? "columns are separated by commas; n is the number of workers of a run"
                      : *lacks == 'n'
                          ? "n: the number of workers of a run"
                          : "give seconds of one iteration, or total and iterations, or a "
                            "rate such as samples_per_s, or speedup");
    hm__err_at(err, runs->source, hm__runs_line(runs, 0));
    return HM_E_MISSING;
}

int hm__run_seconds(struct hm_runs *runs, struct hm_err *err)
{
    struct hm_column *have = NULL;
    int rc = workers_derive(runs, err);

    if (rc == 0)
        rc = nodes_check(runs, err);
    if (rc == 0)
        rc = check_columns(runs, err);
    if (rc == 0)
        rc = scaling_read(runs, err);
    if (rc == 0 && values_of(runs, "n"))
        rc = batch_derive(runs, err);
    if (rc)
        return rc;
    struct time_columns c = columns_find(runs);
    double *seconds = hm__arena_alloc(runs->memory, runs->count, sizeof(*seconds));
    if (!seconds)
        return hm__fail_nomem(err);
    rc = unit_decide(runs, &c, err);
    if (rc == 0)
        rc = times_derive(runs, &c, seconds, err);
    for (size_t i = 0; i < runs->column_count; i++)
        if (strcmp(runs->columns[i].name, "seconds") == 0)
            have = &runs->columns[i];
    if (!have) {
        have = &runs->columns[runs->column_count++];
        have->name = "seconds";
    }
    have->values = seconds;
    have->labels = NULL;
    return rc;
}
