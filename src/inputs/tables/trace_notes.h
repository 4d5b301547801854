/* Collects notes about traces: the first few of each kind are shown, and the others are counted. */
#ifndef HM_TRACE_NOTES_H
#define HM_TRACE_NOTES_H

#include "trace_table.h"

enum hm_trace_note {
    HM_NOTE_LEFT_OUT,
    HM_NOTE_DIVERGED,
    HM_NOTE_RESTART,
    HM_NOTE_RESUMED,
    HM_NOTE_GAP,
    HM_NOTE_EMPTY,
    HM_NOTE_BEST,
    HM_NOTE_ALL,      /* Notes about all traces together. */
    HM_NOTE_PLATFORM, /* Notes about traces with different platforms or settings. */
    HM_TRACE_NOTES
};

enum { HM_TRACE_NOTES_SHOWN = 2 };

struct hm_trace_notes {
    struct hm_arena *arena;
    const char *texts[HM_TRACE_NOTES][HM_TRACE_NOTES_SHOWN];
    size_t counts[HM_TRACE_NOTES];
    const char *unit; /* Unit of progress: "iteration" or "epoch". */
    bool failed;      /* True if memory ran out; hm__trace_notes_seal reports this error. */
};

/* Adds a note. If raw is not NULL, the note begins with the name of the trace, as in "cocoa on 4
 * workers: ". */
void hm__trace_note(struct hm_trace_notes *notes, enum hm_trace_note kind,
                    const struct hm_trace_raw *raw, const char *format, ...) HM_PRINTF(4, 5);
/* Adds a note if points are missing inside a trace. */
void hm__trace_note_gaps(struct hm_trace_notes *notes, const struct hm_trace_raw *raw,
                         const struct hm_trace_row *rows, size_t count);
/* Adds notes if a trace restarted, was resumed, or contains contradicting values of the optimum
 * P*. */
void hm__trace_note_history(struct hm_trace_notes *notes, const struct hm_trace_raw *raw);
/* Moves the notes into the traces, and records how many others were omitted. */
int hm__trace_notes_seal(struct hm_trace_notes *notes, struct hm_traces *traces,
                         struct hm_err *err);

#endif
