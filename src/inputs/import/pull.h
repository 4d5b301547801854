/*
 * Reads JSON from a stream, one token at a time, with bounded depth and memory. Values that are not
 * of interest are skipped without being decoded. NaN, Infinity and -Infinity are accepted as
 * numbers, because Python writes them.
 */
#ifndef HM_PULL_H
#define HM_PULL_H

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
    HM_PULL_END, /* The stream ends where a value could begin, outside all containers. */
    HM_PULL_CUT, /* The stream ends inside a value. */
    HM_PULL_BAD, /* The text is not JSON, or is nested too deeply. */
};

/* Most levels of nesting, and most bytes of a text or a number that are kept. */
enum { HM_PULL_DEPTH = 512, HM_PULL_TEXT_ROOM = 64 * 1024 };

struct hm_pull {
    struct hm_stream *in; /* Borrowed. */
    char *text;           /* The key, text or number of the last token, ended with NUL; owned. */
    size_t length;        /* Bytes of `text`. */
    bool clipped;         /* The text is longer than its buffer; `text` has its beginning. */
    size_t depth;
    bool lists[HM_PULL_DEPTH]; /* Whether each open container is a list. */
    bool filled;               /* The innermost container has a member already. */
    bool keyed;                /* A key was read, and its value follows. */
    bool failed; /* HM_PULL_CUT or HM_PULL_BAD was returned, and no further token can be read. */
};

int hm__pull_init(struct hm_pull *pull, struct hm_stream *in, struct hm_err *err);
void hm__pull_release(struct hm_pull *pull);
enum hm_pull_token hm__pull_next(struct hm_pull *pull);
/* Skip the next value, whatever it is. False: the stream ends before its end, or it is not JSON. */
bool hm__pull_skip(struct hm_pull *pull);
/*
 * Skip the rest of the innermost container, of which a token was read already. False as above.
 */
bool hm__pull_leave(struct hm_pull *pull);
/*
 * Enter the next value if it is an object or a list; otherwise skip it and return false. In an
 * object, hm__pull_key then reads each key and returns false at the end of the object, whose values
 * must be read or skipped.
 */
bool hm__pull_enter(struct hm_pull *pull, enum hm_pull_token container);
bool hm__pull_key(struct hm_pull *pull);
bool hm__pull_is(const struct hm_pull *pull, const char *text);
/* Read the next value as a number; NaN if it is another value. Texts of digits are accepted. */
double hm__pull_number(struct hm_pull *pull);
/* Read the next value as a text in the arena; NULL if it is another value. */
const char *hm__pull_text(struct hm_pull *pull, struct hm_arena *arena);
/* Forget the state, for example to read another document after an error. */
void hm__pull_restart(struct hm_pull *pull);

/* Read the next value as a tree, of at most 200,000 values. *ret_whole is false if the stream ended
 * before the end of the value; the tree then has the members that were complete. */
int hm__pull_tree(struct hm_pull *pull, struct hm_arena *arena, const char *source,
                  struct hm_value **ret_tree, bool *ret_whole, struct hm_err *err);

#endif
