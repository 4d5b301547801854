/*
 * Declares the value tree: the maps, lists and scalars of a specification, before their meaning is
 * checked. YAML and JSON are both parsed into it, so that one reader and one set of messages serve
 * both.
 *
 * Limits: there are at most 64 levels of nesting, 10000 entries in one map or list, and 4 MiB of
 * text.
 */
#ifndef HM_VALUE_H
#define HM_VALUE_H

#include "howmany.h"
#include "memory.h"

enum hm_value_kind { HM_VALUE_NULL, HM_VALUE_SCALAR, HM_VALUE_LIST, HM_VALUE_MAP };

struct hm_value {
    enum hm_value_kind kind;
    int line; /* Line in the source, counted from 1; 0 if the value was not read from a string. */
    const char *source; /* File name, or "set" for an override; in the tree's arena. */
    const char *text;   /* Text of a scalar, terminated by NUL. */
    bool quoted; /* True if the scalar was in quotes, so that it is a string and not a number. */
    bool spare;  /* True if the arrays of a map have places after the last entry (value.c). */
    struct hm_value *items; /* Entries of a list or map. */
    const char **keys;      /* Keys of a map; all NULL for a list. */
    size_t count;           /* Number of entries in the list or map. */
};

enum { HM_VALUE_DEPTH = 64, HM_VALUE_ENTRIES = 10000, HM_VALUE_BYTES = 4 * 1024 * 1024 };

/*
 * Parses a string into the arena; the string need not be terminated by NUL. *ret_value is in the
 * arena.
 */
int hm__yaml_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err);
int hm__json_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err);
/* Parses JSON if the name of the source ends in .json, and YAML otherwise. */
int hm__value_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                    struct hm_value **ret_value, struct hm_err *err);

/* Returns the entry of a map, or NULL if the value is not a map or has no such key. */
struct hm_value *hm__value_get(const struct hm_value *map, const char *key);
/* Returns the entry of a map as a number, which may be negative; NaN if there is no such number. */
double hm__value_number(const struct hm_value *map, const char *key);
/* Returns the name of a value's kind as used in messages, such as "a map" or "a list". */
const char *hm__value_kind_name(const struct hm_value *value);

/* Renames a key of a map, if the map has the old key and not the new one. Returns whether the key
 * was renamed. */
bool hm__value_rename(struct hm_value *map, const char *old_key, const char *new_key);
/* Applies "path.to.key=value", where value is YAML. Missing maps along the path are created.
 * Values and errors that come from an override have the source "set". */
int hm__value_override(struct hm_arena *arena, struct hm_value *root, const char *assignment,
                       struct hm_err *err);

/* A map or list while a parser is building it, in heap arrays. Zero-initialise the struct. */
struct hm_value_builder {
    struct hm_value *items;
    const char **keys;
    size_t count, room;
};

/* Appends an entry; key is NULL in a list. */
int hm__value_append(struct hm_value_builder *builder, const char *key, const struct hm_value *item,
                     struct hm_err *err);
/* Copies the entries into the arena as the contents of *value, and releases the builder. A key that
 * appears twice in a map is an error. */
int hm__value_seal(struct hm_value_builder *builder, struct hm_arena *arena, struct hm_value *value,
                   struct hm_err *err);
void hm__value_builder_release(struct hm_value_builder *builder);

#endif
