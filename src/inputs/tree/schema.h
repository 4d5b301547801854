/*
 * Reading a map of the value tree into a struct, by a table of fields. The table is the one place
 * that knows a key's name, kind, unit, range and meaning.
 */
#ifndef HM_SCHEMA_H
#define HM_SCHEMA_H

#include "unit.h"
#include "value.h"

enum hm_field_kind {
    HM_FIELD_QUANTITY, /* double, in SI units of `dim` */
    HM_FIELD_REAL,     /* double, a plain number of any sign */
    HM_FIELD_CHOICE,   /* int-sized enum: index in `choices` */
    HM_FIELD_BOOL,
    HM_FIELD_TEXT, /* const char *, copied into the reader's arena */
    HM_FIELD_OTHER /* the key is known; its reader is written by hand */
};

struct hm_field {
    const char *name;
    enum hm_field_kind kind;
    size_t offset; /* of the member in the struct; unused with HM_FIELD_OTHER */
    const char *doc;
    struct hm_dim dim;
    double min, max; /* allowed range, both included; max 0 means no upper end */
    bool above;      /* the value must be greater than min, not equal */
    bool whole;      /* an integer */
    bool required;
    bool unknown;               /* real: it may be null, which is NaN */
    const char *const *choices; /* NULL-terminated */
};

enum { HM_PATH_MAX = 128 };

/* What every reading function needs. Lives on the caller's stack while a file is read. */
struct hm_reader {
    struct hm_arena *arena;           /* where results go */
    const struct hm_catalog *catalog; /* for names; NULL: built-in, made when first needed */
    struct hm_catalog *made;          /* the one made; owned */
    bool closed; /* a stranger asks: no file may be named, and nothing large be made */
    struct hm_err *err;
    char path[HM_PATH_MAX]; /* dotted path of where we are */
};

/* Extend the path by a key for the time of a call: size_t mark = enter(…); …; leave(…, mark). */
size_t hm__reader_enter(struct hm_reader *reader, const char *key);
size_t hm__reader_enter_index(struct hm_reader *reader, size_t index);
void hm__reader_leave(struct hm_reader *reader, size_t mark);

/* Fail at a value: message, path, source and line. Returns code. */
int hm__reader_fail(struct hm_reader *reader, const struct hm_value *at, int code,
                    const char *format, ...) HM_PRINTF(4, 5);
/* Complete an error set by a deeper function with path, source and line. Returns code. */
int hm__reader_place(struct hm_reader *reader, const struct hm_value *at, int code);

/* Read a map: refuses unknown keys, reports missing ones, checks ranges. Absent keys leave the
 * struct as it is, which is how defaults are given. */
int hm__read_map(struct hm_reader *reader, const struct hm_value *map,
                 const struct hm_field *fields, size_t count, void *object);
/* Read one value as a field says. */
int hm__read_field(struct hm_reader *reader, const struct hm_value *value,
                   const struct hm_field *field, void *object);
/* A finite number of any sign; null is NaN where it may be unknown. */
int hm__read_real(struct hm_reader *reader, const struct hm_value *value, bool unknown,
                  double *out);
/* Expect a kind of value; name is what it should be, for the message ("a map of …"). */
int hm__expect_kind(struct hm_reader *reader, const struct hm_value *value, enum hm_value_kind kind,
                    const char *name);

#endif
