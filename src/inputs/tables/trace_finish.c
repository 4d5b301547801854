/*
 * Converts rows to traces. A file gives the time of one iteration, the time since the start, or
 * both. If only one of these is given, the other is derived from it. If point k was recorded after
 * iteration i_k,
 *
 *     seconds_k = (elapsed_k - elapsed_{k-1}) / (i_k - i_{k-1}),
 *     elapsed_k = elapsed_{k-1} + seconds_k (i_k - i_{k-1}).
 *
 * If both are given, the first formula is used between points that are more than one iteration
 * apart, and the given times of iterations are used otherwise.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "err.h"
#include "notes.h"
#include "order.h"
#include "trace_notes.h"
#include "trace_table.h"

struct finish {
    struct hm_trace_table *table;
    struct hm_traces *traces;
    struct hm_trace_notes notes;
    bool objective; /* True if the loss measure is the objective; otherwise it is
                       hm_trace_row.other. */
    bool bests;     /* True if the files specify the optimal value P* of this loss measure. */
    bool diverged;  /* True if at least one trace diverged. */
};

static double row_loss(const struct finish *f, const struct hm_trace_row *row)
{
    return f->objective ? row->objective : row->other;
}

static int fail_decrease(const struct finish *f, const struct hm_trace_raw *raw,
                         const struct hm_trace_row *row, const char *field, double now,
                         double before)
{
    hm__fail(f->table->err, HM_E_RANGE, "decreases from %.10g to %.10g", before, now);
    hm__err_field(f->table->err, field);
    hm__err_at(f->table->err, raw->source, row->line);
    return HM_E_RANGE;
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Fails if elapsed times or epochs decrease. *ret_has_elapsed is true if any row has an elapsed
 * time. */
static int check_order(const struct finish *f, const struct hm_trace_raw *raw,
                       bool *ret_has_elapsed)
{
    double elapsed = 0, at = 0;

    *ret_has_elapsed = false;
    for (size_t i = 0; i < raw->count; i++) {
        const struct hm_trace_row *row = &raw->rows[i];
        if (row->at < at)
            return fail_decrease(f, raw, row, "epoch", row->at, at);
        at = row->at;
        if (isnan(row->elapsed_s))
            continue;
        if (row->elapsed_s < elapsed) {
            int rc = fail_decrease(f, raw, row, "elapsed_s", row->elapsed_s, elapsed);
            hm__err_hint(f->table->err, "it counts from the start of the run");
            return rc;
        }
        elapsed = row->elapsed_s;
        *ret_has_elapsed = true;
    }
    return 0;
}

/*
 * Adds up the times of iterations to obtain elapsed times, if the file has no elapsed times. If
 * epochs are counted, the times of iterations are then dropped, so that derive_seconds computes the
 * time of an epoch.
 */
static void derive_elapsed(struct hm_trace_raw *raw, bool has_elapsed)
{
    double iteration = raw->resumed_at, elapsed = raw->resumed_at > 0 ? NAN : 0;
    bool differ = false;

    for (size_t i = 0; i < raw->count; i++) {
        struct hm_trace_row *row = &raw->rows[i];
        elapsed += row->seconds * (row->iteration - iteration);
        if (!has_elapsed)
            row->elapsed_s = elapsed;
        iteration = row->iteration;
        differ = differ || row->at != row->iteration;
    }
    for (size_t i = 0; differ && i < raw->count; i++)
        raw->rows[i].seconds = NAN;
}

/* Returns the time of one iteration in seconds at the first point. */
static double first_seconds(const struct hm_trace_raw *raw, const struct hm_trace_row *rows,
                            size_t count, bool has_elapsed)
{
    double seconds = rows[0].seconds, elapsed = rows[0].elapsed_s;
    double apart = count > 1 ? fmin(rows[0].at, rows[1].at - rows[0].at) : rows[0].at;

    if (isnan(seconds))
        return raw->resumed_at > 0 ? NAN : elapsed / rows[0].at;
    /* If the seconds equal the elapsed time, they are the time of all iterations so far, not of one
     * iteration. */
    if (has_elapsed && apart > 1 && raw->resumed_at == 0 &&
        fabs(seconds - elapsed) <= 1e-9 * elapsed)
        return elapsed / apart;
    return seconds;
}

static void derive_seconds(const struct hm_trace_raw *raw, struct hm_trace_row *rows, size_t count,
                           bool has_elapsed)
{
    bool dropped = count < raw->count;
    double first = count > 0 ? first_seconds(raw, rows, count, has_elapsed) : NAN;

    for (size_t i = count; i-- > 1;) {
        double step = rows[i].at - rows[i - 1].at;
        double each = (rows[i].elapsed_s - rows[i - 1].elapsed_s) / step;
        if (!isnan(each) && (isnan(rows[i].seconds) || (step > 1 && (has_elapsed || dropped))))
            rows[i].seconds = each;
    }
    if (count > 0)
        rows[0].seconds = first;
}

/* ---- points --------------------------------------------------------------------------------- */

/* Drops the first row with a diverged loss and all later rows; returns whether the trace
 * diverged. */
static bool cut_diverged(const struct finish *f, struct hm_trace_raw *raw)
{
    const struct hm_trace_file *file = &f->table->files[raw->file];

    if (f->table->settings.times_only)
        return false;
    for (size_t i = 0; i < raw->count; i++)
        if (isinf(row_loss(f, &raw->rows[i]))) {
            raw->count = i;
            return true;
        }
    bool empty = raw->count > 0 && isnan(row_loss(f, &raw->rows[raw->count - 1]));
    if (empty && (raw->diverged || (file->empty_ends && f->objective))) {
        raw->count--;
        return true;
    }
    return raw->diverged;
}

/* Keeps the rows that have a loss (or a time, if only times are read); if several have the same
 * iteration, keeps the last one. Returns the number of kept rows. *ret_empty is the number of rows
 * without a loss or time, and *ret_line is the line of the first of these. */
static size_t keep_rows(const struct finish *f, struct hm_trace_raw *raw, size_t *ret_empty,
                        int *ret_line)
{
    bool times = f->table->settings.times_only;
    size_t count = 0;

    *ret_empty = 0;
    for (size_t i = 0; i < raw->count; i++) {
        struct hm_trace_row row = raw->rows[i];
        if (times ? isnan(row.seconds) && isnan(row.elapsed_s) : isnan(row_loss(f, &row))) {
            if ((*ret_empty)++ == 0)
                *ret_line = row.line;
            continue;
        }
        count -= count > 0 && raw->rows[count - 1].at == row.at;
        raw->rows[count++] = row;
    }
    return count;
}

static int fill_points(const struct finish *f, const struct hm_trace_raw *raw, size_t count,
                       struct hm_trace *trace)
{
    double *room = hm__arena_alloc(f->table->arena, 4 * count, sizeof(*room));
    size_t kept = 0;

    if (!room)
        return hm__fail_nomem(f->table->err);
    trace->iteration = room;
    trace->loss = room + count;
    trace->seconds = room + 2 * count;
    trace->elapsed_s = room + 3 * count;
    for (size_t i = 0; i < count; i++) {
        const struct hm_trace_row *row = &raw->rows[i];
        if (f->table->settings.times_only && isnan(row->seconds))
            continue;
        double loss = row_loss(f, row);
        trace->iteration[kept] = row->at;
        trace->loss[kept] = isfinite(loss) ? loss : NAN;
        trace->seconds[kept] = row->seconds;
        trace->elapsed_s[kept++] = row->elapsed_s;
    }
    trace->count = kept;
    return 0;
}

static void note_points(struct finish *f, const struct hm_trace_raw *raw, size_t empty,
                        int empty_line, bool diverged, size_t count)
{
    const char *what = f->table->settings.times_only ? "time" : f->traces->measure;

    if (count == 0) {
        int line = empty ? empty_line : raw->rows[0].line;
        hm__trace_note(&f->notes, HM_NOTE_LEFT_OUT, raw,
                       diverged ? "left out, because it diverged before the first %.60s (%.200s:%d)"
                                : "left out, because no row has a %.60s (%.200s:%d)",
                       what, raw->source, line);
        return;
    }
    if (empty)
        hm__trace_note(&f->notes, HM_NOTE_EMPTY, raw,
                       "%zu row%s without %.60s left out, the first at %.200s:%d", empty,
                       empty == 1 ? "" : "s", what, raw->source, empty_line);
    if (diverged)
        hm__trace_note(&f->notes, HM_NOTE_DIVERGED, raw, "diverged after %s %.10g (%.200s:%d)",
                       f->notes.unit, raw->rows[count - 1].at, raw->source,
                       raw->rows[count - 1].line);
    hm__trace_note_history(&f->notes, raw);
    hm__trace_note_gaps(&f->notes, raw, raw->rows, count);
}

static int finish_trace(struct finish *f, struct hm_trace_raw *raw)
{
    struct hm_trace *trace = &f->traces->traces[f->traces->count];
    size_t empty;
    int empty_line = 0;
    bool has_elapsed;
    int rc = check_order(f, raw, &has_elapsed);

    if (rc)
        return rc;
    bool diverged = cut_diverged(f, raw);
    f->diverged = f->diverged || diverged;
    derive_elapsed(raw, has_elapsed);
    size_t count = keep_rows(f, raw, &empty, &empty_line);
    derive_seconds(raw, raw->rows, count, has_elapsed);
    *trace = (struct hm_trace){
        .algorithm = raw->algorithm,
        .m = raw->m,
        .seed = raw->seed,
        .staleness = raw->staleness,
        .backups = raw->backups,
        .rows = raw->data_rows,
        .source = raw->source,
        .line = raw->rows[0].line,
        .best = f->bests && !raw->best_differs ? raw->best : NAN,
        .bound = f->objective ? raw->bound : -INFINITY,
        .restarts = raw->restarts,
        .diverged = diverged,
    };
    if (count > 0)
        rc = fill_points(f, raw, count, trace);
    note_points(f, raw, empty, empty_line, diverged, trace->count ? count : 0);
    f->traces->count += trace->count > 0;
    hm__free(raw->rows);
    raw->rows = NULL;
    return rc;
}

/* ---- the measure ---------------------------------------------------------------------------- */

static int fail_measure(const struct hm_trace_table *t, const struct hm_trace_file *file,
                        const char *name, bool elsewhere)
{
    const char *have = file->have.data ? file->have.data : "";

    if (name)
        hm__fail(t->err, HM_E_MISSING, file->json ? "no line has '%.60s'" : "no column '%.60s'",
                 name);
    else
        hm__fail(t->err, HM_E_MISSING,
                 file->json ? "no line has 'objective' or 'loss'"
                            : "no column 'objective' or 'loss'");
    if (elsewhere)
        hm__err_hint(t->err,
                     "other files have it, and all files need the same measure; this one has %s%s",
                     *have ? "" : "none", have);
    else if (*have)
        hm__err_hint(t->err, "set `measure` to one of %s", have);
    else
        hm__err_hint(t->err, "it is the value that training makes smaller, after each iteration");
    hm__err_at(t->err, file->source, file->line);
    return HM_E_MISSING;
}

static int choose_measure(struct finish *f)
{
    const struct hm_trace_table *t = f->table;
    const char *asked = t->settings.measure;
    bool objective = false, other = false;

    for (size_t i = 0; i < t->file_count; i++) {
        objective = objective || t->files[i].has_objective;
        other = other || t->files[i].has_other;
    }
    f->objective = asked ? strcasecmp(asked, "objective") == 0 : objective;
    bool accuracy = asked && strcasecmp(asked, "accuracy") == 0;
    f->bests = f->objective || (!objective && !accuracy);
    const char *name = asked ? asked : f->objective ? "objective" : "loss";
    f->traces->measure = hm__arena_strdup(t->arena, accuracy ? "1 - accuracy" : name);
    if (!f->traces->measure)
        return hm__fail_nomem(t->err);
    bool some = f->objective ? objective : other;
    for (size_t i = 0; i < t->file_count && !t->settings.times_only; i++) {
        const struct hm_trace_file *file = &t->files[i];
        if (!(f->objective ? file->has_objective : file->has_other))
            return fail_measure(t, file, asked || some ? name : NULL, some);
    }
    return 0;
}

/* ---- the result ----------------------------------------------------------------------------- */

/* Adds notes if iterations of one algorithm may differ in progress or in time between traces. */
static void note_platforms(struct finish *f)
{
    const struct hm_trace_table *t = f->table;

    if (t->mixed[HM_LABEL_PLATFORM])
        hm__trace_note(&f->notes, HM_NOTE_PLATFORM, NULL,
                       "the traces are of different platforms: %ss of one algorithm are assumed to "
                       "make equal progress and to take equal time",
                       f->notes.unit);
    if (t->pulls_late && t->pulls_fresh)
        hm__trace_note(&f->notes, HM_NOTE_PLATFORM, NULL,
                       "some stale traces read the model late, others always anew: the cost of "
                       "staleness is a mean of both");
}

static void note_all(struct finish *f)
{
    const struct hm_trace_table *t = f->table;
    bool bare = false, times = false;

    for (size_t i = 0; i < t->file_count; i++) {
        bare = bare || t->files[i].bare_time;
        times = times || t->files[i].has_times;
        if (t->files[i].cut)
            hm__trace_note(&f->notes, HM_NOTE_ALL, NULL, "%.200s " HM_NOTE_CUT,
                           hm__note_source(t->files[i].source));
    }
    if (bare && !times)
        hm__trace_note(&f->notes, HM_NOTE_ALL, NULL,
                       "column 'time' is not used: name it seconds (of one %s) or elapsed_s (since "
                       "the start)",
                       f->notes.unit);
    if (t->mixed[HM_LABEL_DATA] || t->mixed[HM_LABEL_PROBLEM])
        hm__trace_note(&f->notes, HM_NOTE_ALL, NULL,
                       "the traces are of different %s: a common model of them means little",
                       t->mixed[HM_LABEL_PROBLEM] ? "problems" : "data");
    note_platforms(f);
}

static int fail_no_points(const struct finish *f)
{
    const struct hm_trace_table *t = f->table;
    const char *measure = t->settings.measure ? t->settings.measure : f->traces->measure;

    if (t->settings.times_only)
        hm__fail(t->err, HM_E_MISSING, "no row has a time");
    else if (f->diverged)
        hm__fail(t->err, HM_E_MISSING, "no row has a number in '%.60s' before the run diverged",
                 measure);
    else
        hm__fail(t->err, HM_E_MISSING, "no row has a number in '%.60s'", measure);
    hm__err_at(t->err, t->files[0].source, t->files[0].line);
    return HM_E_MISSING;
}

/* Fails if only times are read and a file has no times. */
static int check_times(const struct hm_trace_table *t)
{
    for (size_t i = 0; i < t->file_count; i++) {
        const struct hm_trace_file *file = &t->files[i];
        if (!t->settings.times_only || file->has_times)
            continue;
        hm__fail(t->err, HM_E_MISSING,
                 file->json ? "no line has 'seconds'" : "no column 'seconds'");
        hm__err_hint(t->err, "give seconds of one iteration, or elapsed_s since the start");
        hm__err_at(t->err, file->source, file->line);
        return HM_E_MISSING;
    }
    return 0;
}

static int compare_iterations(const void *a, const void *b)
{
    const struct hm_trace_row *x = a, *y = b;

    if (x->iteration != y->iteration)
        return x->iteration < y->iteration ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Sorts the rows of a trace by iteration if they are not in order. If several rows have the same
 * iteration, the last one in the file is kept. */
static int sort_rows(struct hm_trace_raw *raw, struct hm_err *err)
{
    size_t kept = 0;

    if (!raw->unsorted)
        return 0;
    int rc = hm__sort(raw->rows, raw->count, sizeof(*raw->rows), compare_iterations, "traces", err);
    for (size_t i = 0; rc == 0 && i < raw->count; i++) {
        if (kept > 0 && raw->rows[kept - 1].iteration == raw->rows[i].iteration)
            kept--;
        raw->rows[kept++] = raw->rows[i];
    }
    raw->count = kept;
    return rc;
}

int hm__trace_table_finish(struct hm_trace_table *t, struct hm_traces **ret_traces)
{
    struct finish f = {.table = t, .notes = {.arena = t->arena}};
    int rc = check_times(t);

    if (rc)
        return rc;
    f.traces = hm__arena_alloc(t->arena, 1, sizeof(*f.traces));
    if (!f.traces)
        return hm__fail_nomem(t->err);
    f.notes.unit = f.traces->unit = t->settings.epochs ? "epoch" : "iteration";
    f.traces->memory = t->arena;
    f.traces->traces = hm__arena_alloc(t->arena, t->count, sizeof(*f.traces->traces));
    if (!f.traces->traces)
        return hm__fail_nomem(t->err);
    for (size_t i = 0; rc == 0 && i < t->count; i++)
        rc = sort_rows(&t->traces[i], t->err);
    rc = rc ? rc : choose_measure(&f);
    note_all(&f);
    for (size_t i = 0; rc == 0 && i < t->count; i++)
        rc = finish_trace(&f, &t->traces[i]);
    if (rc == 0)
        rc = hm__trace_notes_seal(&f.notes, f.traces, t->err);
    if (rc == 0 && f.traces->count == 0)
        rc = fail_no_points(&f);
    if (rc == 0)
        *ret_traces = f.traces;
    return rc;
}
