/* Notes on traces: the first few of each kind, and how many more there are. */
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
    HM_NOTE_ALL,      /* of all traces */
    HM_NOTE_PLATFORM, /* of how they were run */
    HM_TRACE_NOTES
};

enum { HM_TRACE_NOTES_SHOWN = 2 };

struct hm_trace_notes {
    struct hm_arena *arena;
    const char *texts[HM_TRACE_NOTES][HM_TRACE_NOTES_SHOWN];
    size_t counts[HM_TRACE_NOTES];
    const char *unit;
    bool failed; /* out of memory */
};

/* "cocoa on 4 workers: " and the rest; raw NULL: the rest alone. */
void hm__trace_note(struct hm_trace_notes *notes, enum hm_trace_note kind,
                    const struct hm_trace_raw *raw, const char *format, ...) HM_PRINTF(4, 5);
/* Where points are missing, or the trace went back, or names bests that differ. */
void hm__trace_note_gaps(struct hm_trace_notes *notes, const struct hm_trace_raw *raw,
                         const struct hm_trace_row *rows, size_t count);
void hm__trace_note_history(struct hm_trace_notes *notes, const struct hm_trace_raw *raw);
int hm__trace_notes_seal(struct hm_trace_notes *notes, struct hm_traces *traces,
                         struct hm_err *err);

#endif
