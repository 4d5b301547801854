/* Checks traces that a caller created, and frees traces. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "memory.h"

void hm_traces_free(struct hm_traces *traces)
{
    if (traces)
        hm__arena_free(traces->memory);
}

static int fail_point(const char *name, size_t point, double value, const char *wanted,
                      struct hm_err *err)
{
    char field[64];

    snprintf(field, sizeof(field), "%s[%zu]", name, point);
    hm__fail(err, HM_E_RANGE, "%g is out of range", value);
    hm__err_hint(err, "%s", wanted);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

static int check_points(const struct hm_trace *t, bool need_loss, struct hm_err *err)
{
    for (size_t i = 0; i < t->count; i++) {
        double before = i > 0 ? t->iteration[i - 1] : 0;
        if (!(t->iteration[i] > before) || t->iteration[i] > HM_RUN_MOST)
            return fail_point("iteration", i, t->iteration[i],
                              "iterations must be above 0 and in ascending order", err);
        if (need_loss && !(fabs(t->loss[i]) <= HM_RUN_MOST))
            return fail_point("loss", i, t->loss[i], "it must be finite", err);
        if (t->seconds[i] < 0 || t->seconds[i] > HM_RUN_MOST)
            return fail_point("seconds", i, t->seconds[i],
                              "it must be 0 or more, or NaN where it is unknown", err);
        if (t->elapsed_s[i] < 0 || t->elapsed_s[i] > HM_RUN_MOST)
            return fail_point("elapsed_s", i, t->elapsed_s[i],
                              "it must be 0 or more, or NaN where it is unknown", err);
    }
    return 0;
}

static int check_trace(const struct hm_trace *t, bool need_loss, struct hm_err *err)
{
    int rc = hm__check_pointer(t->algorithm, "algorithm", err);

    if (rc == 0)
        rc = hm__check_range("m", t->m, 1, HM_M_MOST, err);
    /* The staleness may be any number of at least 0, including infinity. */
    if (rc == 0 && !(t->staleness >= 0))
        rc = hm__check_range("staleness", t->staleness, 0, HM_M_MOST, err);
    if (rc == 0)
        rc = hm__check_range("backups", t->backups, 0, HM_M_MOST, err);
    if (rc == 0 && !isnan(t->rows))
        rc = hm__check_range("rows", t->rows, 0, HM_M_MOST, err);
    if (rc == 0 && t->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "the trace has no points");
    if (rc == 0)
        rc = hm__check_pointer(t->iteration, "iteration", err);
    if (rc == 0)
        rc = hm__check_pointer(t->loss, "loss", err);
    if (rc == 0)
        rc = hm__check_pointer(t->seconds, "seconds", err);
    if (rc == 0)
        rc = hm__check_pointer(t->elapsed_s, "elapsed_s", err);
    return rc ? rc : check_points(t, need_loss, err);
}

int hm__traces_check(const struct hm_traces *traces, bool need_loss, struct hm_err *err)
{
    int rc = hm__check_pointer(traces, "traces", err);

    if (rc == 0)
        rc = hm__check_pointer(traces->measure, "measure", err);
    if (rc == 0)
        rc = hm__check_pointer(traces->unit, "unit", err);
    if (rc == 0 && traces->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "there are no traces");
    if (rc == 0)
        rc = hm__check_pointer(traces->traces, "traces.traces", err);
    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        const struct hm_trace *t = &traces->traces[k];
        rc = check_trace(t, need_loss, err);
        if (rc) {
            hm__err_hint(err, "this is trace %zu", k);
            hm__err_at(err, t->source, t->line);
        }
    }
    return rc;
}

int hm_traces_check(const struct hm_traces *traces, struct hm_err *err)
{
    return hm__traces_check(traces, true, err);
}
