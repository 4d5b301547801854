/*
 * Reads JSON from a stream, one token at a time, with bounded depth and memory. Values that are not
 * of interest are skipped without being decoded. NaN, Infinity and -Infinity are accepted as
 * numbers, because Python writes them.
 */
#ifndef HM_PULL_H
#define HM_PULL_H

#include <string.h>

#include "memory.h"
#include "stream.h"
#include "value.h"

enum hm_pull_token {
    HM_PULL_OBJECT,
    HM_PULL_OBJECT_END,
    HM_PULL_LIST,
    HM_PULL_LIST_END,
    HM_PULL_KEY,
    HM_PULL_TEXT,
    HM_PULL_NUMBER,
    HM_PULL_TRUE,
    HM_PULL_FALSE,
    HM_PULL_NULL,
    HM_PULL_END, /* The stream ended between two values, outside all containers. */
    HM_PULL_CUT, /* The stream ended inside a value. */
    HM_PULL_BAD, /* The input is not valid JSON, or is nested too deeply. */
};

/* Largest nesting depth, and largest number of stored bytes of a string or a number. */
enum { HM_PULL_DEPTH = 512, HM_PULL_TEXT_ROOM = HM_BUFFER_SIZE(64 * 1024, 512) };

struct hm_pull {
    struct hm_stream *in; /* The stream that is read; borrowed. */
    char *text;           /* The key, string or number of the last token, followed by NUL; owned. */
    size_t length;        /* Number of bytes in `text`. */
    /* True if the token was longer than the buffer, so that `text` holds only its beginning. */
    bool clipped;
    size_t depth;
    bool lists[HM_PULL_DEPTH]; /* True for each open container that is a list, false for an object.
                                */
    /* True if at least one member of the innermost container has been read. */
    bool filled;
    bool keyed; /* True if a key has been read, so that the next token must be its value. */
    /* True if HM_PULL_CUT or HM_PULL_BAD has been returned; no further token can be read. */
    bool failed;
};

int hm__pull_init(struct hm_pull *pull, struct hm_stream *in, struct hm_err *err);
void hm__pull_release(struct hm_pull *pull);
enum hm_pull_token hm__pull_next(struct hm_pull *pull);
/*
 * Skips the next value of any kind. Returns false if the stream ends inside the value, or if it is
 * not valid JSON.
 */
bool hm__pull_skip(struct hm_pull *pull);
/*
 * Skips the rest of the innermost container, of which at least one token must have been read.
 * Returns false in the same cases as hm__pull_skip.
 */
bool hm__pull_leave(struct hm_pull *pull);
/*
 * Enters the next value if it is a container of the given kind; otherwise skips it and returns
 * false. In an object, hm__pull_key then reads each key and returns false at the end of the object;
 * after each key, its value must be read or skipped.
 */
bool hm__pull_enter(struct hm_pull *pull, enum hm_pull_token container);
bool hm__pull_key(struct hm_pull *pull);
/*
 * Returns whether the last key or string is equal to `text`. The function is inline because readers
 * call it for each key with string constants, whose lengths the compiler knows.
 */
static inline bool hm__pull_is(const struct hm_pull *pull, const char *text)
{
    size_t length = strlen(text);

    return pull->length == length && memcmp(pull->text, text, length) == 0;
}
/*
 * Reads the next value as a number; returns NaN if it is not a number. Strings that consist of
 * digits are also accepted.
 */
double hm__pull_number(struct hm_pull *pull);
/*
 * Reads the next value as a string, which is copied to the arena; returns NULL if it is not a
 * string.
 */
const char *hm__pull_text(struct hm_pull *pull, struct hm_arena *arena);
/* Resets the state of the reader, for example to read another document after an error. */
void hm__pull_restart(struct hm_pull *pull);

/*
 * Reads the next value as a tree of at most 200,000 values. *ret_whole is false if the stream ended
 * inside the value; the tree then holds the members that were complete.
 */
int hm__pull_tree(struct hm_pull *pull, struct hm_arena *arena, const char *source,
                  struct hm_value **ret_tree, bool *ret_whole, struct hm_err *err);

#endif
