/*
 * Declares the tables that describe requests. Each verb has one table of fields, and one struct
 * that stores their values. Command-line options, help, man pages, completion, HTTP keys, OpenAPI
 * and the types of the web page are all generated from the tables. The value of a field is read
 * from a string or from a tree into the struct member at the offset of the field.
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
    HM_REQUEST_FLAG, /* The field is a flag of type bool. */
    /* The field is a number of type double in the SI unit of `dim`; NaN if it is not given. */
    HM_REQUEST_NUMBER,
    HM_REQUEST_WHOLE, /* The field is a whole number of type double; NaN if it is not given. */
    /*
     * The field is one of several words, stored as an int index into `choices`; -1 if it is not
     * given.
     */
    HM_REQUEST_CHOICE,
    /* The field is a set of the words in `choices`, or "all", stored in struct hm_choices. */
    HM_REQUEST_CHOICES,
    HM_REQUEST_TEXT, /* The field is a string of type const char *; NULL if it is not given. */
    /*
     * The field is a list of strings separated by commas, stored in struct hm_texts; it may be
     * repeated.
     */
    HM_REQUEST_TEXTS,
    /*
     * The field is a list of formulas separated by commas outside parentheses, stored in struct
     * hm_texts.
     */
    HM_REQUEST_TERMS,
    /*
     * The field is a list of assignments NAME=VALUE, stored in struct hm_texts; it may be repeated.
     */
    HM_REQUEST_PAIRS,
    /*
     * The field is a list of numbers such as "1..8", "4..64:4" or "1,2,4", stored in struct
     * hm_numbers.
     */
    HM_REQUEST_NUMBERS,
    /* The field is a configuration such as "64" or "n=64,size=1", stored in struct hm_place. */
    HM_REQUEST_PLACE,
    /* The field is a number with the dimension of its unit, stored in struct hm_quantity. */
    HM_REQUEST_QUANTITY,
    /* The field is a number, or a document that contains the number, stored in struct hm_factor. */
    HM_REQUEST_FACTOR,
    /*
     * The field is the name of a file, or the contents of a document, stored in struct hm_document.
     */
    HM_REQUEST_DOCUMENT,
    /*
     * The field is a list of documents, each with or without the name of an algorithm, stored in
     * struct hm_documents.
     */
    HM_REQUEST_DOCUMENTS,
    /*
     * The field is a list of machines in the catalog or cluster files, stored in struct
     * hm_documents.
     */
    HM_REQUEST_MACHINES,
    /*
     * The field is the name of a file to write, of type const char *; it is rejected if the caller
     * has no access to files.
     */
    HM_REQUEST_OUTPUT,
};

struct hm_choices {
    /* Indices of the chosen words in `choices`, without repeats, in the order of the request. */
    int items[32];
    size_t count;
    /*
     * True if the user wrote "all". Choices that are not possible are then omitted instead of
     * rejected.
     */
    bool all;
};

struct hm_texts {
    const char **items;
    size_t count, room;
    /*
     * Used only for lists of formulas: true if the user set the field. This includes the value
     * "auto", for which the list is empty.
     */
    bool given;
};

struct hm_numbers {
    double *values;
    size_t count, room;
};

enum { HM_PLACE_MAX = 32 };
struct hm_place {
    /* All quantities of the configuration that the user gives, including n. */
    struct hm_at at[HM_PLACE_MAX];
    size_t count;
    double n; /* Number of workers n; NaN if it is not given. */
};

struct hm_quantity {
    double value; /* Value of the quantity in SI units; NaN if it is not given. */
    struct hm_dim dim;
    bool has_unit;
};

/* A document: its contents as text or as a tree, or only the name of a file. */
struct hm_document {
    /*
     * Name of the document in error messages, and of the file to open if there are no contents;
     * NULL if no document is given.
     */
    const char *name;
    const char *text;
    size_t length;
    struct hm_value *tree;
    /* Algorithm to which the data in the document belong; NULL if the request does not name one. */
    const char *algorithm;
};

struct hm_factor {
    /*
     * Value of the factor; NaN if a document is given instead of a number, or if the field is not
     * set.
     */
    double value;
    /* Document from which the factor is read; its name is NULL if no document is given. */
    struct hm_document from;
};

struct hm_documents {
    struct hm_document *items;
    size_t count, room;
};

/* ---- tables ------------------------------------------------------------------------------------
 */

enum hm_request_flags {
    HM_REQUEST_ABOVE = 1, /* The number must be above `least`, not equal to it. */
    HM_REQUEST_BELOW = 2, /* The number must be below `most`, not equal to it. */
    /*
     * The value is the name of a file or a store, so only callers with access to files may set the
     * field.
     */
    HM_REQUEST_LOCAL = 4,
    /* The field affects only output on a terminal, and is rejected over HTTP. */
    HM_REQUEST_SCREEN = 8,
    /* In a list of numbers, "a..b:k" means k evenly spaced values instead of steps of k. */
    HM_REQUEST_SPREAD = 16,
    HM_REQUEST_ALL = 32, /* A field with choices also accepts the value "all". */
    /*
     * If the value of a field of documents is a list in a JSON body, the list is one table of rows.
     */
    HM_REQUEST_ROWS = 64,
};

struct hm_request_field {
    /*
     * Name of the field in JSON, such as "max_n"; the command-line option follows from it, such as
     * --max-n.
     */
    const char *name;
    /* Earlier name of the field, which is still accepted; NULL if there is none. */
    const char *old;
    enum hm_request_kind kind;
    size_t offset;
    const char *help;  /* One line of help about the field. */
    const char *group; /* Heading under which the help shows the field. */
    /* Placeholder for the value in the help, such as "TIME"; NULL for a flag. */
    const char *argument;
    char letter; /* Letter of the short option, such as 'n' for -n; 0 if there is none. */
    unsigned flags;
    struct hm_dim dim;
    /* Smallest and largest allowed number; if `most` is 0, there is no upper limit. */
    double least, most;
    /* Allowed words, separated by spaces; "@machine" means all machines in the catalog. */
    const char *choices;
    /* Default value, written as on the command line; NULL if there is no default. */
    const char *fallback;
};

struct hm_call;

struct hm_verb {
    const char *name; /* Name of the verb, such as "plan" or "runs list". */
    const char *summary;
    const char *description; /* Paragraphs for the man page; may be NULL. */
    const struct hm_request_field *fields;
    size_t field_count;
    size_t size; /* Size in bytes of the struct that stores the values of the fields. */
    /*
     * Names of the fields that are set by command-line arguments without an option, separated by
     * spaces, in the order of these arguments. The last field receives all further arguments. It is
     * NULL if there are no such fields.
     */
    const char *operand;
    /* Name of the field that is set by an HTTP body of CSV or JSON lines; NULL if there is none. */
    const char *table;
    /*
     * True if an HTTP body that lacks the key of the operand is itself the value of the operand.
     * Such a verb must have exactly one operand.
     */
    bool bare;
    /* True if an HTTP body of any media type except JSON and YAML sets the field `table`. */
    bool any_body;
    bool writes;        /* True if the verb changes the store. */
    const char *answer; /* Name of the schema of the verb's JSON answer. */
    int (*run)(const void *values, struct hm_call *call, struct hm_err *err);
};

/* Table of all verbs; the last element is NULL. */
extern const struct hm_verb *const hm__verbs[];
const struct hm_verb *hm__verb_find(const char *name);
const struct hm_request_field *hm__verb_field(const struct hm_verb *verb, const char *name);
/*
 * hm__request_given returns whether a field was set, and hm__request_flag returns whether a flag is
 * on. Both return false if the verb has no such field.
 */
bool hm__request_given(const struct hm_request *request, const char *field);
bool hm__request_flag(const struct hm_request *request, const char *field);
/*
 * Copies word number `i` of the list `choices` into `text`; returns false if the list is shorter.
 */
bool hm__choice_name(const char *choices, size_t i, char *text, size_t room);

/* ---- reading fields ----------------------------------------------------------------------------
 */

/* Sets an error with the source "request" that names the field. Returns `code`. */
int hm__request_fail(struct hm_err *err, const char *field, int code, const char *format, ...)
    HM_PRINTF(4, 5);
/* Sets all fields of a request to their default values. */
int hm__fields_init(struct hm_arena *arena, const struct hm_verb *verb, void *values,
                    struct hm_err *err);
/*
 * Sets one field from a string (hm__field_set) or from a tree (hm__field_read). Copied values are
 * allocated in the arena.
 */
int hm__field_set(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                  const char *text, struct hm_err *err);
int hm__field_read(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                   struct hm_value *value, struct hm_err *err);
/* Sets a field, which must be a document or a list of documents, to a document with contents. */
int hm__field_document(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                       struct hm_document document, struct hm_err *err);
/*
 * Copies all quantities of a configuration except n to `ret_at`, which must have HM_PLACE_MAX
 * elements; returns their number.
 */
size_t hm__place_others(const struct hm_place *place, struct hm_at *ret_at);
enum { HM_PLACE_COUNTS = 64 };
/*
 * Stores the numbers of workers for which times are predicted in `ret_n` and returns their count.
 * These are `target_n` alone or, if `target_n` is NaN, the powers of 2 up to four times `n_max`,
 * the largest number of workers in the runs.
 */
size_t hm__place_counts(double target_n, double n_max, double ret_n[HM_PLACE_COUNTS]);
/*
 * Reads numbers such as "2..32", "4..64:4", "1,2,4" or "4/256..32/256:20". If `spread` is true,
 * a..b:k means k evenly spaced values.
 */
int hm__numbers_parse(struct hm_arena *arena, struct hm_numbers *numbers, const char *text,
                      bool spread, struct hm_err *err);

/* ---- answering ---------------------------------------------------------------------------------
 */

/*
 * A request that is being executed: the data that the verb may use, and the answer that it has
 * written so far.
 */
struct hm_call {
    const struct hm_context *context;
    struct hm_arena *arena; /* Arena of the call, which is freed after the verb has run. */
    struct hm_text out;
    const char *type; /* Media type of the answer; NULL means plain text. */
    /* True if nothing meets the limits of the request, so that there is no recommendation. */
    bool no_answer;
    bool from_store;
    /* Files that the verb asks the caller to write; their contents are in the arena. */
    struct hm_reply_file files[4];
    size_t file_count;
    /*
     * Assignments in the field `set`, which may be properties of imported files (such as n=8); NULL
     * if the verb has no such field.
     */
    const struct hm_texts *facts;
    /*
     * True if a file from another tool was read, so that properties of imported files in the field
     * `set` have an effect.
     */
    bool imported;
    struct hm_catalog *made; /* The built-in catalog, which is loaded when it is first needed. */
};

/*
 * Returns whether an assignment in the field `set` is a property of imported files, such as "n=8";
 * otherwise it sets a key of a job.
 */
bool hm__is_fact(const char *assignment);
/*
 * If a limit on time or memory is exceeded (budget.h), returns the error that says so, with the
 * source "request" if a field of the verb caused it. Otherwise returns `rc`.
 */
int hm__request_budget(const struct hm_verb *verb, int rc, struct hm_err *err);
/* Gets the catalog used to look up names. */
int hm__call_catalog(struct hm_call *call, const struct hm_catalog **ret_catalog,
                     struct hm_err *err);
/*
 * Appends a rendered text to the answer and frees it with hm_text_free. `format` determines the
 * media type of the answer.
 */
int hm__call_answer(struct hm_call *call, enum hm_format format, char *text, struct hm_err *err);
/* Passes the text of the answer so far to the caller, if the context has the function `write`. */
int hm__call_flush(struct hm_call *call, struct hm_err *err);
/* Asks the caller to write a file after the verb has run. The path and the text are copied. */
int hm__call_file(struct hm_call *call, const char *path, const char *program, const char *text,
                  struct hm_err *err);
/*
 * Determines the output format from two flags: JSON, CSV or, without flags, text. Both flags
 * together are an error.
 */
int hm__call_format(bool json, bool csv, enum hm_format *ret_format, struct hm_err *err);

#endif
