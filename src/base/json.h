/*
 * Declares the JSON writer that all modules use. It keeps track of open objects and lists, so that
 * commas, quotes and line breaks are handled in one place:
 *
 *     struct hm_json json = {.out = &text};
 *     hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
 *     hm__json_put_number(&json, "n", 16);
 *     hm__json_open(&json, "notes", HM_JSON_LIST);
 *     hm__json_put_text(&json, NULL, "a note");
 *     hm__json_close(&json);
 *     hm__json_close(&json);
 *
 * If memory runs out, out->failed becomes true.
 */
#ifndef HM_JSON_H
#define HM_JSON_H

#include "text.h"

/* Largest depth of nested objects and lists; a greater depth is a programming error. */
enum { HM_JSON_DEPTH = 32 };

enum hm_json_layout {
    HM_JSON_OBJECT = 0,
    HM_JSON_LIST = 1,
    HM_JSON_LINES = 2, /* Each member is written on its own line. */
};

/* A JSON writer. Set `out` and leave all other fields zero. */
struct hm_json {
    struct hm_text *out; /* Text that receives the JSON; borrowed. */
    size_t depth;
    unsigned char layouts[HM_JSON_DEPTH]; /* Layout of each open object or list. */
    bool filled[HM_JSON_DEPTH]; /* True for each open object or list that already has a member. */
};

/* Opens an object or a list; key is NULL at the top level and inside a list. */
void hm__json_open(struct hm_json *json, const char *key, unsigned layout);
/* Closes the innermost object or list. */
void hm__json_close(struct hm_json *json);

/* Adds a member whose value is a string, or null if text is NULL; key is NULL inside a list. */
void hm__json_put_text(struct hm_json *json, const char *key, const char *text);
/*
 * Adds a number as the shortest decimal that reads back as the same double, or null if the number
 * is not finite.
 */
void hm__json_put_number(struct hm_json *json, const char *key, double value);
void hm__json_put_bool(struct hm_json *json, const char *key, bool value);
void hm__json_put_null(struct hm_json *json, const char *key);
/* Adds a string that is already JSON; it is copied without changes. */
void hm__json_put_raw(struct hm_json *json, const char *key, const char *text);
/* Adds a list of strings, each on its own line. */
void hm__json_put_texts(struct hm_json *json, const char *key, const char *const *texts,
                        size_t count);
/* Adds a list of numbers on one line. */
void hm__json_put_numbers(struct hm_json *json, const char *key, const double *values,
                          size_t count);

/* Writes a JSON string with quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
void hm__json_text(struct hm_text *out, const char *text);
/*
 * Appends the text of a JSON string. `string` is the string without its quotes, which a reader has
 * checked.
 */
void hm__json_unescape(struct hm_text *out, const char *string, size_t length);
/* Writes a JSON number, as hm__json_put_number does. */
void hm__json_number(struct hm_text *out, double value);

#endif
