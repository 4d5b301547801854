/*
 * Declares the list of notes of a result: sentences that a user should read together with the
 * numbers.
 *
 * A result has the two fields `const char **notes` and `size_t note_count`. A struct hm_notes
 * refers to them and to the arena that owns the result, and is passed by value:
 *
 *     rc = hm__notes_add((struct hm_notes){arena, &out->notes, &out->note_count}, err,
 *                        "%g workers are too many", n);
 */
#ifndef HM_NOTES_H
#define HM_NOTES_H

#include "memory.h"

enum { HM_NOTES_MAX = 64 }; /* Largest number of notes of a result; further notes are dropped. */

/*
 * Note about a CSV file that does not end with a newline and may have been truncated; the text
 * follows the name of the file.
 */
#define HM_NOTE_CUT                                                                                \
    "does not end in a newline: if it was cut, the last value of its last line is wrong"

/*
 * Returns the name of a file for a note about a possibly truncated file: "standard input" for "-",
 * and "the table" if the name is NULL.
 */
const char *hm__note_source(const char *name);

struct hm_notes {
    struct hm_arena *arena; /* Arena that owns the list and its strings. */
    const char ***list;     /* Address of the field `notes` of the result; *list is NULL before the
                               first note. */
    size_t *count;
};

/* Appends a note with a format string as in printf; returns 0, or HM_E_NOMEM. */
int hm__notes_add(struct hm_notes notes, struct hm_err *err, const char *format, ...)
    HM_PRINTF(3, 4);

#endif
