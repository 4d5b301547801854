/*
 * Adds notes that warn the user about traces. A gap is a step between two rows that is more than
 * twice the median step and is followed by steps of at most the median. Therefore, a trace that is
 * recorded less and less often has no gaps.
 */
#include "trace_notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "err.h"
#include "order.h"

void hm__trace_note(struct hm_trace_notes *notes, enum hm_trace_note kind,
                    const struct hm_trace_raw *raw, const char *format, ...)
{
    struct hm_text text = {0};
    char rest[512];
    va_list args;

    if (notes->counts[kind]++ >= HM_TRACE_NOTES_SHOWN)
        return;
    va_start(args, format);
    vsnprintf(rest, sizeof(rest), format, args);
    va_end(args);
    if (raw)
        hm__text_addf(&text, "%.60s%s%.10g worker%s: ", raw->algorithm,
                      *raw->algorithm ? " on " : "", raw->m, raw->m == 1 ? "" : "s");
    hm__text_add(&text, rest);
    const char *kept = text.failed ? NULL : hm__arena_strdup(notes->arena, text.data);
    notes->texts[kind][notes->counts[kind] - 1] = kept;
    notes->failed = notes->failed || !kept;
    hm__text_release(&text);
}

/* Returns the median difference in progress between consecutive rows; NaN if there are fewer than
 * two rows. */
static double usual_step(struct hm_trace_notes *notes, const struct hm_trace_row *rows,
                         size_t count)
{
    double first = count > 1 ? rows[1].at - rows[0].at : NAN;
    size_t same = 1;

    while (same + 1 < count && rows[same + 1].at - rows[same].at == first)
        same++;
    if (same + 1 >= count)
        return first;
    double *steps = hm__calloc(count - 1, sizeof(*steps));
    if (!steps) {
        notes->failed = true;
        return NAN;
    }
    for (size_t i = 1; i < count; i++)
        steps[i - 1] = rows[i].at - rows[i - 1].at;
    qsort(steps, count - 1, sizeof(*steps), hm__compare_numbers);
    double median = steps[(count - 2) / 2];
    hm__free(steps);
    return median;
}

void hm__trace_note_gaps(struct hm_trace_notes *notes, const struct hm_trace_raw *raw,
                         const struct hm_trace_row *rows, size_t count)
{
    double usual = usual_step(notes, rows, count);
    size_t gaps = 0, at = 0;
    char more[40] = "";

    for (size_t i = 1; i < count; i++) {
        bool last = i + 1 == count;
        double near = !last   ? rows[i + 1].at - rows[i].at
                      : i > 1 ? rows[i - 1].at - rows[i - 2].at
                              : INFINITY;
        if (!(rows[i].at - rows[i - 1].at > 2 * usual) || near > usual)
            continue;
        at = gaps++ ? at : i;
    }
    if (gaps == 0)
        return;
    if (gaps > 1)
        snprintf(more, sizeof(more), ", and %zu more gap%s", gaps - 1, gaps == 2 ? "" : "s");
    hm__trace_note(notes, HM_NOTE_GAP, raw, "no points between %ss %.10g and %.10g (%.200s:%d)%s",
                   notes->unit, rows[at - 1].at, rows[at].at, raw->source, rows[at].line, more);
}

void hm__trace_note_history(struct hm_trace_notes *notes, const struct hm_trace_raw *raw)
{
    char times[40] = "";

    if (raw->restarts > 1)
        snprintf(times, sizeof(times), " %zu times, last", raw->restarts);
    if (raw->restarts)
        hm__trace_note(notes, HM_NOTE_RESTART, raw, "restarted%s at %s %.10g (%.200s:%d)", times,
                       notes->unit, raw->restart_at, raw->source, raw->restart_line);
    if (raw->resumed_at > 0)
        hm__trace_note(
            notes, HM_NOTE_RESUMED, raw,
            "continues after iteration %.10g of a run that is not in the files (%.200s:%d)",
            raw->resumed_at, raw->source, raw->rows[0].line);
    if (raw->best_differs)
        hm__trace_note(notes, HM_NOTE_BEST, raw,
                       "contains different values of best, so none is used (%.200s:%d)",
                       raw->source, raw->rows[0].line);
}

int hm__trace_notes_seal(struct hm_trace_notes *notes, struct hm_traces *traces, struct hm_err *err)
{
    static const char *const tails[HM_TRACE_NOTES] = {
        [HM_NOTE_LEFT_OUT] = "left out",
        [HM_NOTE_DIVERGED] = "diverged",
        [HM_NOTE_RESTART] = "restarted",
        [HM_NOTE_RESUMED] = "continue runs that are not in the files",
        [HM_NOTE_GAP] = "have gaps",
        [HM_NOTE_EMPTY] = "have rows that are left out",
        [HM_NOTE_BEST] = "contain different values of best",
        [HM_NOTE_ALL] = "",
        [HM_NOTE_PLATFORM] = "differ in how they were run",
    };
    const char **list =
        hm__arena_alloc(notes->arena, HM_TRACE_NOTES * (HM_TRACE_NOTES_SHOWN + 1), sizeof(*list));
    size_t count = 0;

    if (!list || notes->failed)
        return hm__fail_nomem(err);
    for (size_t kind = 0; kind < HM_TRACE_NOTES; kind++) {
        for (size_t i = 0; i < HM_TRACE_NOTES_SHOWN && i < notes->counts[kind]; i++)
            list[count++] = notes->texts[kind][i];
        if (notes->counts[kind] <= HM_TRACE_NOTES_SHOWN)
            continue;
        size_t more = notes->counts[kind] - HM_TRACE_NOTES_SHOWN;
        list[count] = hm__arena_printf(notes->arena, "%zu more trace%s %s", more,
                                       more == 1 ? "" : "s", tails[kind]);
        if (!list[count++])
            return hm__fail_nomem(err);
    }
    traces->notes = list;
    traces->note_count = count;
    return 0;
}
