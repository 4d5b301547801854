/*
 * The value tree: what a specification says, before anyone asks whether it makes sense. YAML and
 * JSON both end here, so that one reader and one set of messages serve both.
 */
#ifndef HM_VALUE_H
#define HM_VALUE_H

#include "howmany.h"
#include "memory.h"

enum hm_value_kind { HM_VALUE_NULL, HM_VALUE_SCALAR, HM_VALUE_LIST, HM_VALUE_MAP };

struct hm_value {
    enum hm_value_kind kind;
    int line;               /* 1-based; 0 when it was not read from a file */
    const char *source;     /* where it was read; borrowed from the tree's arena */
    const char *text;       /* scalar; never holds a NUL inside */
    bool quoted;            /* scalar: written in quotes, so never a number or true/false */
    struct hm_value *items; /* list, map */
    const char **keys;      /* map */
    size_t count;
};

enum { HM_VALUE_DEPTH = 64, HM_VALUE_ENTRIES = 10000, HM_VALUE_BYTES = 4 * 1024 * 1024 };

/* Parse into the arena. The text need not end in NUL. */
int hm__yaml_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err);
int hm__json_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err);
/* By the name of the source: JSON when it ends in .json, YAML otherwise. */
int hm__value_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                    struct hm_value **ret_value, struct hm_err *err);

/* The entry of a map, or NULL. */
struct hm_value *hm__value_get(const struct hm_value *map, const char *key);
/* The number of an entry, which may have a sign; NAN where there is none, or more than one. */
double hm__value_number(const struct hm_value *map, const char *key);
/* "a map", "a list", … for messages. */
const char *hm__value_kind_name(const struct hm_value *value);

/* Apply "path.to.key=value"; maps on the way are made where they are missing. */
int hm__value_override(struct hm_arena *arena, struct hm_value *root, const char *assignment,
                       struct hm_err *err);

/* Used by the parsers: append to a map or list under construction (heap arrays, then sealed). */
struct hm_value_builder {
    struct hm_value *items;
    const char **keys;
    size_t count, room;
};

int hm__value_append(struct hm_value_builder *builder, const char *key, const struct hm_value *item,
                     struct hm_err *err);
/* Copy what was gathered into the arena as the contents of *value, and release the builder. */
int hm__value_seal(struct hm_value_builder *builder, struct hm_arena *arena, struct hm_value *value,
                   struct hm_err *err);
void hm__value_builder_release(struct hm_value_builder *builder);

#endif
