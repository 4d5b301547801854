/*
 * Measures how well samples of the training data predict a larger number of rows: the loss curves
 * are fitted to the traces on fewer rows, converted to the larger number (size.c), and compared
 * with the traces on the larger number. Errors are differences of log10(P - P*), where P* belongs
 * to the rows of each trace. Limit: at least two smaller numbers of rows are needed.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "converge.h"
#include "err.h"
#include "hold_out.h"
#include "size.h"

/* A prediction of the traces on `rows` rows from the traces on fewer rows. */
struct rows_trial {
    const struct hm_traces *traces;
    double rows;
    double best; /* Optimal loss P* of the traces on `rows` rows. */
    struct hm_convergence *c;
};

static int trial_fit_below(struct rows_trial *t, struct hm_arena *arena,
                           const struct hm_holdout_settings *settings, double *ret_sizes,
                           struct hm_err *err)
{
    struct hm_converge_settings s = settings->converge;
    struct hm_traces below = *t->traces;
    double first = 0;

    below.traces = hm__arena_alloc(arena, t->traces->count + 1, sizeof(*below.traces));
    if (!below.traces)
        return hm__fail_nomem(err);
    below.count = below.note_count = 0;
    *ret_sizes = 0;
    for (size_t k = 0; k < t->traces->count; k++) {
        const struct hm_trace *trace = &t->traces->traces[k];
        if (!(trace->rows < t->rows))
            continue;
        *ret_sizes = first == 0 ? 1 : trace->rows != first ? 2 : *ret_sizes;
        first = first == 0 ? trace->rows : first;
        below.traces[below.count++] = *trace;
    }
    s.rows = t->rows;
    s.leave_out = 0;
    return *ret_sizes < 2 ? 0 : hm_convergence_new(&below, &s, &t->c, err);
}

/* Predicts the traces of one algorithm on `rows` rows; ret->points is 0 if there are none. */
static int trial_predict(const struct rows_trial *t, size_t algorithm, struct hm_g_rows_error *ret,
                         struct hm_err *err)
{
    const struct hm_g *g = &t->c->algorithms[algorithm];
    struct hm_error_list errors = {0};
    size_t covered = 0;
    int rc = 0;

    *ret = (struct hm_g_rows_error){.rows = t->rows, .from = g->size.least, .to = g->size.most};
    for (size_t k = 0; rc == 0 && k < t->traces->count; k++) {
        const struct hm_trace *trace = &t->traces->traces[k];
        if (trace->rows == t->rows && hm__g_takes(trace, g->algorithm, true) &&
            (g->m_count > 1 || trace->m == g->m[0]))
            rc = hm__hold_out_trace(t->c, algorithm, trace, t->best, &errors, &covered, err);
    }
    if (rc == 0 && errors.count > 0) {
        ret->points = errors.count;
        ret->median = hm__error_list_median(&errors, 0);
        ret->rms = sqrt(errors.squares / (double)errors.count);
        ret->covered = (double)covered / (double)errors.count;
    }
    hm__free(errors.values);
    return rc;
}

/* Returns the entry of an algorithm, and adds one if there is none yet. */
static struct hm_g_holdout *holdout_find(struct hm_holdout *h, const char *algorithm)
{
    size_t k = 0;

    while (k < h->count && strcmp(h->algorithms[k].algorithm, algorithm) != 0)
        k++;
    if (k < h->count)
        return &h->algorithms[k];
    char *name = hm__arena_strdup(h->memory, algorithm);
    if (!name)
        return NULL;
    h->algorithms[k] = (struct hm_g_holdout){
        .algorithm = name, .inside = NAN, .outside = NAN, .ahead_median = NAN};
    h->count++;
    return &h->algorithms[k];
}

static int holdout_add_rows(struct hm_holdout *h, const struct rows_trial *t, size_t room,
                            struct hm_err *err)
{
    int rc = 0;

    for (size_t a = 0; rc == 0 && a < t->c->count; a++) {
        struct hm_g_rows_error error;
        if ((rc = hm__budget_check("traces", err)))
            break;
        struct hm_g_holdout *out = holdout_find(h, t->c->algorithms[a].algorithm);
        if (out && !out->rows)
            out->rows = hm__arena_alloc(h->memory, room, sizeof(*out->rows));
        if (!out || !out->rows)
            return hm__fail_nomem(err);
        rc = trial_predict(t, a, &error, err);
        if (rc == 0 && error.points > 0)
            out->rows[out->rows_count++] = error;
    }
    return rc;
}

int hm__hold_out_rows(struct hm_holdout *h, const struct hm_traces *traces,
                      const struct hm_holdout_settings *settings, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_sizes sizes;
    double last = 0;
    bool any = false;
    int rc = !arena ? hm__fail_nomem(err)
             : hm__traces_sized(traces, 0)
                 ? hm__sizes_init(&sizes, arena, traces, &settings->converge, err)
                 : hm__fail(err, HM_E_MISSING, "the traces have one number of rows");

    for (size_t k = 0; rc == 0 && k < traces->count; k++) {
        struct rows_trial t = {.traces = traces, .rows = INFINITY};
        double several;
        if ((rc = hm__budget_check("traces", err)))
            break;
        /* Find the smallest number of rows above the last one that was held out. */
        for (size_t l = 0; l < traces->count; l++)
            if (traces->traces[l].rows > last && traces->traces[l].rows < t.rows) {
                t.rows = traces->traces[l].rows;
                t.best = sizes.bests[l];
            }
        if (isinf(t.rows))
            break;
        last = t.rows;
        if (settings->leave_rows > 0 && settings->leave_rows != t.rows)
            continue;
        rc = trial_fit_below(&t, arena, settings, &several, err);
        if (rc == 0 && t.c)
            rc = holdout_add_rows(h, &t, traces->count + 1, err);
        any = any || t.c;
        hm_convergence_free(t.c);
    }
    if (rc == 0 && !any)
        rc = hm__fail(err, HM_E_MISSING,
                      settings->leave_rows > 0
                          ? "there are no traces on %.10g rows and on two smaller numbers"
                          : "no number of rows has traces on two smaller numbers",
                      settings->leave_rows);
    hm__arena_free(arena);
    return rc;
}
