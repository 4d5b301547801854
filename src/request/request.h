/*
 * Requests as data. Each verb has one table of fields and one struct that the fields fill in; the
 * command-line options, help, man pages, completion, HTTP keys, OpenAPI and the page's types all
 * come from the tables. Reading a field turns text or a tree into the member at its offset.
 */
#ifndef HM_REQUEST_H
#define HM_REQUEST_H

#include "howmany_request.h"
#include "memory.h"
#include "text.h"
#include "unit.h"
#include "value.h"

/* ---- kinds of fields and the members they fill -------------------------------------------------
 */

enum hm_request_kind {
    HM_REQUEST_FLAG,      /* bool */
    HM_REQUEST_NUMBER,    /* double in SI units of `dim`; NaN: not given */
    HM_REQUEST_WHOLE,     /* double, a whole number; NaN: not given */
    HM_REQUEST_CHOICE,    /* int: index in `choices`; -1: not given */
    HM_REQUEST_CHOICES,   /* struct hm_choices: a list, or "all" */
    HM_REQUEST_TEXT,      /* const char *; NULL: not given */
    HM_REQUEST_TEXTS,     /* struct hm_texts: separated by commas, or repeated */
    HM_REQUEST_TERMS,     /* struct hm_texts: formulas; commas inside parentheses do not separate */
    HM_REQUEST_PAIRS,     /* struct hm_texts: each NAME=VALUE, repeated */
    HM_REQUEST_NUMBERS,   /* struct hm_numbers: "1..8", "4..64:4", "1,2,4" */
    HM_REQUEST_PLACE,     /* struct hm_place: "64", or "n=64,size=1" */
    HM_REQUEST_QUANTITY,  /* struct hm_quantity: a number and the dimension it was written in */
    HM_REQUEST_FACTOR,    /* struct hm_factor: a number, or a document that tells it */
    HM_REQUEST_DOCUMENT,  /* struct hm_document: a file, or its contents */
    HM_REQUEST_DOCUMENTS, /* struct hm_documents: several, each perhaps of one algorithm */
    HM_REQUEST_MACHINES,  /* struct hm_documents: machines of the catalog, or cluster files */
    HM_REQUEST_OUTPUT,    /* const char *: a file to write; refused without files */
};

struct hm_choices {
    int items[32]; /* Indices in `choices`, each once, in the order given. */
    size_t count;
    bool all; /* "all" was given: what is not possible is left out, not refused. */
};

struct hm_texts {
    const char **items;
    size_t count, room;
    bool given; /* Terms: true also for "auto", which has no items. */
};

struct hm_numbers {
    double *values;
    size_t count, room;
};

enum { HM_PLACE_MAX = 32 };
struct hm_place {
    struct hm_at at[HM_PLACE_MAX]; /* Everything that was given, n included. */
    size_t count;
    double n; /* NaN: not given. */
};

struct hm_quantity {
    double value; /* NaN: not given. */
    struct hm_dim dim;
    bool has_unit;
};

/* A document: its contents as text or tree, or only a name. */
struct hm_document {
    const char *name; /* For messages; a file to open where there are no contents. NULL: none. */
    const char *text;
    size_t length;
    struct hm_value *tree;
    const char *algorithm; /* Whose times these are, where the field says; NULL: any. */
};

struct hm_factor {
    double value;            /* NaN: not given. */
    struct hm_document from; /* Name NULL: not given. */
};

struct hm_documents {
    struct hm_document *items;
    size_t count, room;
};

/* ---- tables ------------------------------------------------------------------------------------
 */

enum hm_request_flags {
    HM_REQUEST_ABOVE = 1,   /* The number must be more than `least`, not equal to it. */
    HM_REQUEST_BELOW = 2,   /* The number must be less than `most`. */
    HM_REQUEST_LOCAL = 4,   /* Only for callers that may use files: names a file or a store. */
    HM_REQUEST_SCREEN = 8,  /* Concerns text for a terminal; refused over HTTP. */
    HM_REQUEST_SPREAD = 16, /* Numbers: "a..b:k" is k values evenly spaced. */
    HM_REQUEST_ALL = 32,    /* Choices: "all" is allowed. */
    HM_REQUEST_ROWS = 64,   /* Documents: a list in a body is one table of rows. */
};

struct hm_request_field {
    const char *name; /* As in JSON: "max_n"; the command line writes --max-n. */
    enum hm_request_kind kind;
    size_t offset;
    const char *help;     /* One line. */
    const char *group;    /* Heading in the help. */
    const char *argument; /* Name of the value in the help: "TIME"; NULL for a flag. */
    char letter;          /* Short option, or 0. */
    unsigned flags;
    struct hm_dim dim;
    double least, most;   /* Of numbers; most 0 means no upper end. */
    const char *choices;  /* Separated by blanks; "@machine" and the like for the catalog. */
    const char *fallback; /* Default, read like any other value; NULL: not given. */
};

struct hm_call;

struct hm_verb {
    const char *name; /* "plan", "runs list" */
    const char *summary;
    const char *description; /* Paragraphs for the man page; may be NULL. */
    const struct hm_request_field *fields;
    size_t field_count;
    size_t size;         /* Of the struct that the fields fill in. */
    const char *operand; /* Fields that words without an option fill in, in turn, separated by
                            blanks; the last one takes the rest. NULL: none. */
    const char *table;   /* Field that a body of CSV or JSON lines fills in; NULL: none. */
    bool bare;           /* A body without the operand's key is the operand itself; it has one. */
    bool writes;         /* It changes the store. */
    const char *answer;  /* Name of the schema of its JSON answer. */
    int (*run)(const void *values, struct hm_call *call, struct hm_err *err);
};

/* All verbs; NULL after the last. */
extern const struct hm_verb *const hm__verbs[];
const struct hm_verb *hm__verb_find(const char *name);
const struct hm_request_field *hm__verb_field(const struct hm_verb *verb, const char *name);
/* Whether a field was set, and whether a flag is on; false where there is no such field. */
bool hm__request_given(const struct hm_request *request, const char *field);
bool hm__request_flag(const struct hm_request *request, const char *field);
/* The i-th of the choices, into text; false after the last. */
bool hm__choice_name(const char *choices, size_t i, char *text, size_t room);

/* ---- reading fields ----------------------------------------------------------------------------
 */

/* A request error: source "request", and the field. Returns code. */
int hm__request_fail(struct hm_err *err, const char *field, int code, const char *format, ...)
    HM_PRINTF(4, 5);
/* Fill in the defaults of a struct. */
int hm__fields_init(struct hm_arena *arena, const struct hm_verb *verb, void *values,
                    struct hm_err *err);
/* Set one field from text or from a tree; what is kept lives in the arena. */
int hm__field_set(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                  const char *text, struct hm_err *err);
int hm__field_read(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                   struct hm_value *value, struct hm_err *err);
/* Add a document with contents to a field of a document kind. */
int hm__field_document(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                       struct hm_document document, struct hm_err *err);
/* "2..32", "4..64:4", "1,2,4", "4/256..32/256:20"; with spread, a..b:k is k values evenly spaced.
 */
int hm__numbers_parse(struct hm_arena *arena, struct hm_numbers *numbers, const char *text,
                      bool spread, struct hm_err *err);

/* ---- answering ---------------------------------------------------------------------------------
 */

/* A request on its way: what the verb may use, and where its answer goes. */
struct hm_call {
    const struct hm_context *context;
    struct hm_arena *arena; /* Freed after the verb has run. */
    struct hm_text out;
    const char *type; /* Of the answer; NULL: text. */
    bool no_answer;   /* There is no feasible answer. */
    bool from_store;
    struct hm_reply_file files[4]; /* Texts live in the arena. */
    size_t file_count;
    struct hm_catalog *made; /* The built-in catalog, made when first needed. */
};

/* The catalog to look names up in. */
int hm__call_catalog(struct hm_call *call, const struct hm_catalog **ret_catalog,
                     struct hm_err *err);
/* Add a text that was rendered (hm_text_free) to the answer, whose type is that of the format. */
int hm__call_answer(struct hm_call *call, enum hm_format format, char *text, struct hm_err *err);
/* Hand what is there of the answer to the caller, where it takes pieces. */
int hm__call_flush(struct hm_call *call, struct hm_err *err);
/* Ask the caller to write a file; the text is copied. */
int hm__call_file(struct hm_call *call, const char *path, const char *program, const char *text,
                  struct hm_err *err);
/* JSON, CSV or text; both at once is an error. */
int hm__call_format(bool json, bool csv, enum hm_format *ret_format, struct hm_err *err);

#endif
