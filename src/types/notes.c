/*
 * Appends notes to a result. The list initially has space for 4 notes and doubles when it is full,
 * so its capacity follows from its length: 4, 8, 16, ... There are at most HM_NOTES_MAX notes of at
 * most 511 bytes each.
 */
#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

enum { FIRST_ROOM = 4, NOTE_BYTES = 512 };

static bool notes_are_full(size_t count)
{
    return count == 0 || (count >= FIRST_ROOM && (count & (count - 1)) == 0);
}

static int notes_grow(struct hm_notes notes, struct hm_err *err)
{
    size_t room = *notes.count ? 2 * *notes.count : FIRST_ROOM;
    const char **list = hm__arena_alloc(notes.arena, room, sizeof(*list));

    if (!list)
        return hm__fail_nomem(err);
    if (*notes.count)
        memcpy(list, *notes.list, *notes.count * sizeof(*list));
    *notes.list = list;
    return 0;
}

int hm__notes_add(struct hm_notes notes, struct hm_err *err, const char *format, ...)
{
    char text[NOTE_BYTES];
    va_list args;

    if (*notes.count == HM_NOTES_MAX)
        return 0;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    int rc = notes_are_full(*notes.count) ? notes_grow(notes, err) : 0;
    const char *copy = rc ? NULL : hm__arena_strdup(notes.arena, text);
    if (!copy)
        return rc ? rc : hm__fail_nomem(err);
    (*notes.list)[(*notes.count)++] = copy;
    return 0;
}

const char *hm__note_source(const char *name)
{
    if (!name)
        return "the table";
    return strcmp(name, "-") == 0 ? "standard input" : name;
}
