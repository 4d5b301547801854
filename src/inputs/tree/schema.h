/*
 * Reads a map of the value tree into a struct, described by a table of fields. The table is the
 * only place that defines a key's name, kind, unit, range and meaning.
 */
#ifndef HM_SCHEMA_H
#define HM_SCHEMA_H

#include "unit.h"
#include "value.h"

enum hm_field_kind {
    HM_FIELD_QUANTITY, /* The member is a double in the SI unit of `dim`. */
    HM_FIELD_REAL,     /* The member is a double without a unit, of any sign. */
    HM_FIELD_CHOICE,   /* The member is an enum, which receives the index in `choices`. */
    HM_FIELD_BOOL,
    HM_FIELD_TEXT, /* The member is a const char *, copied into the reader's arena. */
    HM_FIELD_OTHER /* The key is accepted, and a separate function reads its value. */
};

struct hm_field {
    const char *name;
    enum hm_field_kind kind;
    size_t offset;   /* Offset of the member in the struct; unused with HM_FIELD_OTHER. */
    const char *doc; /* Meaning of the key, as shown in the hints of errors. */
    struct hm_dim dim;
    double min, max; /* The allowed range, inclusive; `max` = 0 means no upper limit. */
    bool above; /* True if the value must be greater than min; otherwise min itself is allowed. */
    bool whole; /* True if the value must be an integer. */
    bool required; /* True if a map without the key is an error. */
    bool unknown;  /* Used only with HM_FIELD_REAL: true if null is allowed and read as NaN. */
    const char *const
        *choices; /* The allowed words for HM_FIELD_CHOICE; the list ends with NULL. */
};

enum { HM_PATH_MAX = 128 };

/* The state that every reading function needs; it is on the stack while one file is read. */
struct hm_reader {
    struct hm_arena *arena; /* Arena for the results; borrowed. */
    /* Catalog to search for names, borrowed; NULL means the built-in catalog. */
    const struct hm_catalog *catalog;
    struct hm_catalog *made; /* The built-in catalog if it was needed; owned. */
    bool closed; /* True if the input is not trusted: it may not name files or ask for large graphs.
                  */
    struct hm_err *err;
    char path[HM_PATH_MAX]; /* Dotted path of the value that is being read, used in error
                               messages. */
};

/* hm__reader_enter extends the path by a key or an index and returns a mark; hm__reader_leave
 * shortens the path to that mark. */
size_t hm__reader_enter(struct hm_reader *reader, const char *key);
size_t hm__reader_enter_index(struct hm_reader *reader, size_t index);
void hm__reader_leave(struct hm_reader *reader, size_t mark);

/* Reports an error in a value, with a message, path, source and line. Returns `code`. */
int hm__reader_fail(struct hm_reader *reader, const struct hm_value *at, int code,
                    const char *format, ...) HM_PRINTF(4, 5);
/* Adds the path, source and line to an error that another function reported. Returns `code`. */
int hm__reader_place(struct hm_reader *reader, const struct hm_value *at, int code);

/* Reads a map. Unknown keys, missing required keys and values out of range are errors. An absent
 * key leaves its member unchanged, so the caller sets the defaults before the call. */
int hm__read_map(struct hm_reader *reader, const struct hm_value *map,
                 const struct hm_field *fields, size_t count, void *object);
/* Reads one value as `field` describes it. */
int hm__read_field(struct hm_reader *reader, const struct hm_value *value,
                   const struct hm_field *field, void *object);
/* Reads a finite number of any sign; if `unknown` is true, null is allowed and read as NaN. */
int hm__read_real(struct hm_reader *reader, const struct hm_value *value, bool unknown,
                  double *out);
/* Fails unless a value has the given kind; the hint uses `name` to say what to write instead. */
int hm__expect_kind(struct hm_reader *reader, const struct hm_value *value, enum hm_value_kind kind,
                    const char *name);

#endif
