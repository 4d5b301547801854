/*
 * Reads runs of a job that trains a transformer from a table with columns for n, the time in
 * seconds, and any properties of the layout. The columns for the layout have the same names as the
 * keys of the section `parallel` of a job.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "large_plan.h"
#include "plan.h"

/* Numeric columns, and the member of struct hm_layout that each column sets. */
static const struct {
    const char *name;
    size_t offset;
} columns[] = {
    {"tensor", offsetof(struct hm_layout, tensor)},
    {"tp", offsetof(struct hm_layout, tensor)},
    {"pipeline", offsetof(struct hm_layout, pipeline)},
    {"pp", offsetof(struct hm_layout, pipeline)},
    {"interleave", offsetof(struct hm_layout, interleave)},
    {"vpp", offsetof(struct hm_layout, interleave)},
    {"context", offsetof(struct hm_layout, context)},
    {"cp", offsetof(struct hm_layout, context)},
    {"expert", offsetof(struct hm_layout, expert)},
    {"ep", offsetof(struct hm_layout, expert)},
    {"data", offsetof(struct hm_layout, data)},
    {"dp", offsetof(struct hm_layout, data)},
    {"micro_batch", offsetof(struct hm_layout, micro_batch)},
    {"mbs", offsetof(struct hm_layout, micro_batch)},
    {"zero", offsetof(struct hm_layout, zero)},
};

static double column_value(const struct hm_runs *runs, const char *name, size_t row)
{
    const struct hm_column *column = hm_runs_column(runs, name);

    return column && column->values ? column->values[row] : NAN;
}

/* Sets how a run recomputes activations, from the column `recompute`. */
static int read_recompute(const struct hm_runs *runs, size_t row, struct hm_layout *layout,
                          struct hm_err *err)
{
    const struct hm_column *column = hm_runs_column(runs, "recompute");
    const char *label = column && column->labels ? column->labels[row] : NULL;

    layout->recompute = HM_RECOMPUTES;
    for (int i = 0; label && i < HM_RECOMPUTES; i++)
        if (strcmp(label, hm__recompute_names[i]) == 0)
            layout->recompute = (enum hm_recompute)i;
    if (!label || layout->recompute != HM_RECOMPUTES)
        return 0;
    hm__request_fail(err, "runs", HM_E_NAME, "row %zu: recompute '%.40s' is not known", row + 1,
                     label);
    hm__err_hint(err, "use none, selective or full");
    return HM_E_NAME;
}

/*
 * Returns the time of one iteration in seconds. If the table has times per token or per sample,
 * they are converted.
 */
static double step_seconds(const struct hm_runs *runs, size_t row, double batch, double sequence)
{
    double seconds = column_value(runs, "seconds", row);

    if (runs->unit && strcmp(runs->unit, "token") == 0)
        return seconds * batch * sequence;
    return runs->unit && strcmp(runs->unit, "sample") == 0 ? seconds * batch : seconds;
}

static int read_run(const struct hm_runs *runs, size_t row, const struct hm_large_job *job,
                    struct hm_large_measured *m, struct hm_err *err)
{
    *m = (struct hm_large_measured){.n = column_value(runs, "n", row),
                                    .batch = column_value(runs, "batch", row),
                                    .sequence = column_value(runs, "sequence", row),
                                    .layout = {.tensor = NAN,
                                               .pipeline = NAN,
                                               .interleave = NAN,
                                               .context = NAN,
                                               .expert = NAN,
                                               .data = NAN,
                                               .micro_batch = NAN,
                                               .zero = NAN}};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        double value = column_value(runs, columns[i].name, row);
        if (!isnan(value))
            memcpy((char *)&m->layout + columns[i].offset, &value, sizeof(value));
    }
    m->time_s = step_seconds(runs, row, isnan(m->batch) ? job->work.batch : m->batch,
                             isnan(m->sequence) ? job->work.sequence : m->sequence);
    return read_recompute(runs, row, &m->layout, err);
}

int hm__load_large_runs(struct hm_call *call, const struct hm_plan_request *r,
                        const struct hm_loaded_job *loaded, struct hm_large_measured **ret_runs,
                        size_t *ret_count, struct hm_err *err)
{
    struct hm_runs *runs = NULL;
    size_t count = 0;
    int rc;

    if (loaded->cluster_count > 1)
        return hm__request_fail(err, "runs", HM_E_CONFLICT,
                                "runs belong to one machine; %zu machines are compared",
                                loaded->cluster_count);
    rc = hm__load_runs(call, &r->runs, &r->where, &runs, err);
    if (rc == 0 && runs->count > HM_LARGE_MEASURED_MOST)
        rc = hm__request_fail(err, "runs", HM_E_LIMIT, "%zu runs; at most %d correct a plan",
                              runs->count, HM_LARGE_MEASURED_MOST);
    if (rc == 0 && (runs->relative || !hm_runs_column(runs, "seconds"))) {
        rc = hm__request_fail(err, "runs", HM_E_MISSING, "the runs have no seconds");
        hm__err_hint(err, "give the column seconds or tokens_per_s");
    }
    if (rc == 0 && !(*ret_runs = hm__arena_alloc(call->arena, runs->count + 1, sizeof(**ret_runs))))
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < runs->count; i++) {
        struct hm_large_measured *m = &(*ret_runs)[count];
        rc = read_run(runs, i, loaded->job->large, m, err);
        count +=
            m->time_s > 0 && isfinite(m->time_s); /* A failed run has no time and is not counted. */
    }
    if (rc == 0 && count == 0)
        rc = hm__request_fail(err, "runs", HM_E_MISSING, "no run has a time");
    *ret_count = rc ? 0 : count;
    hm_runs_free(runs);
    return rc;
}
