/*
 * Tables that describe requests. Each verb has one table of fields and one struct that the fields
 * fill in. Command-line options, help, man pages, completion, HTTP keys, OpenAPI and the types of
 * the web page are all made from the tables. Reading a field converts text or a tree to the member
 * at the offset of the field.
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
    HM_REQUEST_FLAG,    /* Type bool. */
    HM_REQUEST_NUMBER,  /* Type double, in SI units of `dim`; NaN: not given. */
    HM_REQUEST_WHOLE,   /* Type double, a whole number; NaN: not given. */
    HM_REQUEST_CHOICE,  /* Type int, an index into `choices`; -1: not given. */
    HM_REQUEST_CHOICES, /* Type struct hm_choices: a list of choices, or "all". */
    HM_REQUEST_TEXT,    /* Type const char *; NULL: not given. */
    HM_REQUEST_TEXTS, /* Type struct hm_texts: texts separated by commas, or the field repeated. */
    HM_REQUEST_TERMS, /* Type struct hm_texts: formulas, separated by commas outside parentheses. */
    HM_REQUEST_PAIRS, /* Type struct hm_texts: texts NAME=VALUE, the field repeated. */
    HM_REQUEST_NUMBERS,   /* Type struct hm_numbers: "1..8", "4..64:4", "1,2,4". */
    HM_REQUEST_PLACE,     /* Type struct hm_place: "64", or "n=64,size=1". */
    HM_REQUEST_QUANTITY,  /* Type struct hm_quantity: a number, and the dimension of its unit. */
    HM_REQUEST_FACTOR,    /* Type struct hm_factor: a number, or a document that contains it. */
    HM_REQUEST_DOCUMENT,  /* Type struct hm_document: a file, or its contents. */
    HM_REQUEST_DOCUMENTS, /* Type struct hm_documents: several documents, each may name an
                             algorithm. */
    HM_REQUEST_MACHINES,  /* Type struct hm_documents: machines of the catalog, or cluster files. */
    HM_REQUEST_OUTPUT,    /* Type const char *: a file to write; refused without access to files. */
};

struct hm_choices {
    int items[32]; /* Indices into `choices` without repeats, in the given order. */
    size_t count;
    bool all; /* "all" was given: choices that are not possible are left out, not refused. */
};

struct hm_texts {
    const char **items;
    size_t count, room;
    bool given; /* Terms only: the field was given, even as "auto", which has no items. */
};

struct hm_numbers {
    double *values;
    size_t count, room;
};

enum { HM_PLACE_MAX = 32 };
struct hm_place {
    struct hm_at at[HM_PLACE_MAX]; /* All quantities that were given, including n. */
    size_t count;
    double n; /* Number of workers; NaN: not given. */
};

struct hm_quantity {
    double value; /* Value in SI units; NaN: not given. */
    struct hm_dim dim;
    bool has_unit;
};

/* A document: its contents as text or as a tree, or only its name. */
struct hm_document {
    const char *name; /* Name in error messages, and file to open if there are no contents. NULL: no
                         document is given. */
    const char *text;
    size_t length;
    struct hm_value *tree;
    const char *algorithm; /* Algorithm to which the data belong, if the field names one; NULL:
                              any. */
};

struct hm_factor {
    double value;            /* The factor; NaN: not given as a number. */
    struct hm_document from; /* Document that contains the factor; its name is NULL if not given. */
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
    HM_REQUEST_LOCAL = 4,   /* The field names a file or a store, and only callers with access to
                               files may use it. */
    HM_REQUEST_SCREEN = 8,  /* The field concerns text for a terminal, and is refused over HTTP. */
    HM_REQUEST_SPREAD = 16, /* Numbers: "a..b:k" means k evenly spaced values. */
    HM_REQUEST_ALL = 32,    /* Choices: "all" is accepted. */
    HM_REQUEST_ROWS = 64,   /* Documents: a list in a JSON body is one table of rows. */
};

struct hm_request_field {
    const char *name; /* Name as in JSON, such as "max_n"; the command-line option is --max-n. */
    enum hm_request_kind kind;
    size_t offset;
    const char *help;     /* Help text, one line. */
    const char *group;    /* Heading under which the help shows the field. */
    const char *argument; /* Name of the value in the help, such as "TIME"; NULL for a flag. */
    char letter;          /* Letter of the short option, or 0. */
    unsigned flags;
    struct hm_dim dim;
    double least, most;  /* Range of numbers; most = 0 means no upper limit. */
    const char *choices; /* Names of the choices, separated by spaces; "@machine" means the machines
                            of the catalog. */
    const char *fallback; /* Default as text, read like any other value; NULL: no default. */
};

struct hm_call;

struct hm_verb {
    const char *name; /* Name of the verb, such as "plan" or "runs list". */
    const char *summary;
    const char *description; /* Paragraphs for the man page; may be NULL. */
    const struct hm_request_field *fields;
    size_t field_count;
    size_t size;         /* Size of the struct that the fields fill in. */
    const char *operand; /* Names of the fields that are set by arguments without an option, in this
                            order, separated by spaces; the last one takes all further arguments.
                            NULL: none. */
    const char *table;   /* Name of the field that a body of CSV or JSON lines sets; NULL: none. */
    bool bare; /* A body without the key of the operand is the operand itself; the verb then has one
                  operand. */
    bool writes;        /* The verb changes the store. */
    const char *answer; /* Name of the schema of the JSON answer. */
    int (*run)(const void *values, struct hm_call *call, struct hm_err *err);
};

/* All verbs; NULL after the last. */
extern const struct hm_verb *const hm__verbs[];
const struct hm_verb *hm__verb_find(const char *name);
const struct hm_request_field *hm__verb_field(const struct hm_verb *verb, const char *name);
/*
 * Whether a field was set, and whether a flag is on; both are false if the verb has no such field.
 */
bool hm__request_given(const struct hm_request *request, const char *field);
bool hm__request_flag(const struct hm_request *request, const char *field);
/* Copy the name of choice i into text; false after the last. */
bool hm__choice_name(const char *choices, size_t i, char *text, size_t room);

/* ---- reading fields ----------------------------------------------------------------------------
 */

/* Set an error with the source "request" and the name of the field. Returns code. */
int hm__request_fail(struct hm_err *err, const char *field, int code, const char *format, ...)
    HM_PRINTF(4, 5);
/* Set all fields of a struct to their defaults. */
int hm__fields_init(struct hm_arena *arena, const struct hm_verb *verb, void *values,
                    struct hm_err *err);
/* Set one field from text or from a tree. Copies are allocated in the arena. */
int hm__field_set(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                  const char *text, struct hm_err *err);
int hm__field_read(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                   struct hm_value *value, struct hm_err *err);
/* Add a document with contents to a field whose kind is a document. */
int hm__field_document(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                       struct hm_document document, struct hm_err *err);
/* Copy the quantities of a place other than n to ret_at, which has room for HM_PLACE_MAX; returns
 * their number. */
size_t hm__place_others(const struct hm_place *place, struct hm_at *ret_at);
enum { HM_PLACE_COUNTS = 64 };
/* The numbers of workers to predict for: target_n, or, if it is NaN, powers of 2 up to four times
 * the largest number of workers n_max of the runs. Returns how many there are. */
size_t hm__place_counts(double target_n, double n_max, double ret_n[HM_PLACE_COUNTS]);
/*
 * Read numbers such as "2..32", "4..64:4", "1,2,4" or "4/256..32/256:20". If `spread` is true,
 * a..b:k means k evenly spaced values.
 */
int hm__numbers_parse(struct hm_arena *arena, struct hm_numbers *numbers, const char *text,
                      bool spread, struct hm_err *err);

/* ---- answering ---------------------------------------------------------------------------------
 */

/* A request that is being run: what the verb may use, and its answer so far. */
struct hm_call {
    const struct hm_context *context;
    struct hm_arena *arena; /* Freed after the verb has run. */
    struct hm_text out;
    const char *type; /* Media type of the answer; NULL: plain text. */
    bool no_answer;   /* No answer is feasible. */
    bool from_store;
    struct hm_reply_file files[4]; /* Files to write; their texts are in the arena. */
    size_t file_count;
    struct hm_catalog *made; /* The built-in catalog, which is made when it is first needed. */
};

/* Get the catalog in which names are looked up. */
int hm__call_catalog(struct hm_call *call, const struct hm_catalog **ret_catalog,
                     struct hm_err *err);
/*
 * Add a rendered text to the answer and free it with hm_text_free. The format determines the type
 * of the answer.
 */
int hm__call_answer(struct hm_call *call, enum hm_format format, char *text, struct hm_err *err);
/* Pass the answer so far to the caller, if the context has the function `write`. */
int hm__call_flush(struct hm_call *call, struct hm_err *err);
/* Ask the caller to write a file; the texts are copied. */
int hm__call_file(struct hm_call *call, const char *path, const char *program, const char *text,
                  struct hm_err *err);
/*
 * Get the format from two flags: JSON, CSV or, without flags, text. Both flags together are an
 * error.
 */
int hm__call_format(bool json, bool csv, enum hm_format *ret_format, struct hm_err *err);

#endif
