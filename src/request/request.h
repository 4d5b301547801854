/*
 * Declares the tables that describe requests. Each verb has one table of fields and one struct that
 * the fields fill in. Command-line options, help, man pages, completion, HTTP keys, OpenAPI and the
 * types of the web page are all made from the tables. A field is read from text or from a tree into
 * the struct member at the offset of the field.
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
    HM_REQUEST_FLAG,    /* The field has the type bool. */
    HM_REQUEST_NUMBER,  /* Type double, in SI units of `dim`; NaN if it is not given. */
    HM_REQUEST_WHOLE,   /* Type double, a whole number; NaN if it is not given. */
    HM_REQUEST_CHOICE,  /* Type int, an index into `choices`; -1 if it is not given. */
    HM_REQUEST_CHOICES, /* Type struct hm_choices: a list of choices, or "all". */
    HM_REQUEST_TEXT,    /* Type const char *; NULL if it is not given. */
    /* Type struct hm_texts: texts separated by commas; the field may be repeated. */
    HM_REQUEST_TEXTS,
    HM_REQUEST_TERMS, /* Type struct hm_texts: formulas, separated by commas outside parentheses. */
    /* Type struct hm_texts: texts such as NAME=VALUE; the field may be repeated. */
    HM_REQUEST_PAIRS,
    HM_REQUEST_NUMBERS,  /* Type struct hm_numbers: a list such as "1..8", "4..64:4" or "1,2,4". */
    HM_REQUEST_PLACE,    /* Type struct hm_place: a configuration such as "64" or "n=64,size=1". */
    HM_REQUEST_QUANTITY, /* Type struct hm_quantity: a number, and the dimension of its unit. */
    /* Type struct hm_factor: a number, or a document that contains the number. */
    HM_REQUEST_FACTOR,
    HM_REQUEST_DOCUMENT, /* Type struct hm_document: the name of a file, or its contents. */
    /*
     * Type struct hm_documents: several documents, each with or without the name of an algorithm.
     */
    HM_REQUEST_DOCUMENTS,
    HM_REQUEST_MACHINES, /* Type struct hm_documents: machines of the catalog, or cluster files. */
    /* Type const char *: name of a file to write; refused if the caller has no access to files. */
    HM_REQUEST_OUTPUT,
};

struct hm_choices {
    int items[32]; /* Indices into `choices` without repeats, in the given order. */
    size_t count;
    /* True if "all" was given. Choices that are not possible are then left out, not refused. */
    bool all;
};

struct hm_texts {
    const char **items;
    size_t count, room;
    /*
     * For a field of terms only: true if the field was given, even as "auto", which gives no items.
     */
    bool given;
};

struct hm_numbers {
    double *values;
    size_t count, room;
};

enum { HM_PLACE_MAX = 32 };
struct hm_place {
    /* All quantities of the configuration that the user gave, including n. */
    struct hm_at at[HM_PLACE_MAX];
    size_t count;
    double n; /* Number of workers; NaN if it is not given. */
};

struct hm_quantity {
    double value; /* Value in SI units; NaN if it is not given. */
    struct hm_dim dim;
    bool has_unit;
};

/* A document: its contents as text or as a tree, or only its name. */
struct hm_document {
    /*
     * Name for error messages, and the file to open if there are no contents. NULL if no document
     * is given.
     */
    const char *name;
    const char *text;
    size_t length;
    struct hm_value *tree;
    /* Algorithm to which the data belong; NULL if the field does not name one. */
    const char *algorithm;
};

struct hm_factor {
    double value; /* Value of the factor; NaN if a document is given instead of a number, or
                     nothing. */
    /* Document that contains the factor; its name is NULL if no document is given. */
    struct hm_document from;
};

struct hm_documents {
    struct hm_document *items;
    size_t count, room;
};

/* ---- tables ------------------------------------------------------------------------------------
 */

enum hm_request_flags {
    HM_REQUEST_ABOVE = 1, /* The number must be greater than `least`, not equal to it. */
    HM_REQUEST_BELOW = 2, /* The number must be less than `most`. */
    /* The field names a file or a store, so only callers with access to files may use it. */
    HM_REQUEST_LOCAL = 4,
    /* The field affects only text on a terminal, and is refused over HTTP. */
    HM_REQUEST_SCREEN = 8,
    HM_REQUEST_SPREAD = 16, /* In a list of numbers, "a..b:k" means k evenly spaced values. */
    HM_REQUEST_ALL = 32,    /* In a field of choices, the value "all" is also accepted. */
    /* In a field of documents, a list in a JSON body is one table of rows. */
    HM_REQUEST_ROWS = 64,
};

struct hm_request_field {
    /* Name of the field in JSON, such as "max_n"; the command-line option is then --max-n. */
    const char *name;
    const char
        *old; /* Earlier name of the field, which is still accepted; NULL if there is none. */
    enum hm_request_kind kind;
    size_t offset;
    const char *help;     /* Help text of one line. */
    const char *group;    /* Heading under which the help shows the field. */
    const char *argument; /* Name of the value in the help, such as "TIME"; NULL for a flag. */
    char letter;          /* Letter of the short option; 0 if there is none. */
    unsigned flags;
    struct hm_dim dim;
    /* Smallest and largest allowed number; if most is 0, there is no upper limit. */
    double least, most;
    /* Names of the choices, separated by spaces; "@machine": all machines of the catalog. */
    const char *choices;
    /* Default value as text, which is read like any other value; NULL if there is no default. */
    const char *fallback;
};

struct hm_call;

struct hm_verb {
    const char *name; /* Name of the verb, such as "plan" or "runs list". */
    const char *summary;
    const char *description; /* Paragraphs for the man page; may be NULL. */
    const struct hm_request_field *fields;
    size_t field_count;
    size_t size; /* Size in bytes of the struct into which the fields are read. */
    /*
     * Names of the fields that are set by arguments without an option, separated by spaces, in the
     * order of these arguments. The last field takes all further arguments. NULL if there are no
     * such fields.
     */
    const char *operand;
    /* Name of the field that is set by a body of CSV or JSON lines; NULL if there is none. */
    const char *table;
    /*
     * True if a body that lacks the key of the operand is itself the value of the operand. The verb
     * must have exactly one operand.
     */
    bool bare;
    /* True if a body of any media type other than JSON and YAML sets the field `table`. */
    bool any_body;
    bool writes;        /* True if the verb changes the store. */
    const char *answer; /* Name of the schema of the JSON answer. */
    int (*run)(const void *values, struct hm_call *call, struct hm_err *err);
};

/* All verbs; the list ends with NULL. */
extern const struct hm_verb *const hm__verbs[];
const struct hm_verb *hm__verb_find(const char *name);
const struct hm_request_field *hm__verb_field(const struct hm_verb *verb, const char *name);
/*
 * Whether a field was set (hm__request_given), and whether a flag is on (hm__request_flag). Both
 * are false if the verb has no such field.
 */
bool hm__request_given(const struct hm_request *request, const char *field);
bool hm__request_flag(const struct hm_request *request, const char *field);
/* Copy the name of choice i into text; false if there is no such choice. */
bool hm__choice_name(const char *choices, size_t i, char *text, size_t room);

/* ---- reading fields ----------------------------------------------------------------------------
 */

/* Set an error with the source "request" and the name of the field. Returns `code`. */
int hm__request_fail(struct hm_err *err, const char *field, int code, const char *format, ...)
    HM_PRINTF(4, 5);
/* Set all fields of a struct to their defaults. */
int hm__fields_init(struct hm_arena *arena, const struct hm_verb *verb, void *values,
                    struct hm_err *err);
/* Set one field from text or from a tree. Copied values are allocated in the arena. */
int hm__field_set(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                  const char *text, struct hm_err *err);
int hm__field_read(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                   struct hm_value *value, struct hm_err *err);
/* Set a field, which must be a document or a list of documents, to a document with contents. */
int hm__field_document(struct hm_arena *arena, const struct hm_request_field *field, void *values,
                       struct hm_document document, struct hm_err *err);
/*
 * Copy all quantities of a configuration except n to ret_at, which has room for HM_PLACE_MAX;
 * returns their number.
 */
size_t hm__place_others(const struct hm_place *place, struct hm_at *ret_at);
enum { HM_PLACE_COUNTS = 64 };
/*
 * Writes the numbers of workers to predict for into ret_n and returns their count. They are
 * target_n alone or, if target_n is NaN, powers of 2 up to four times n_max, the largest number of
 * workers in the runs.
 */
size_t hm__place_counts(double target_n, double n_max, double ret_n[HM_PLACE_COUNTS]);
/*
 * Read numbers such as "2..32", "4..64:4", "1,2,4" or "4/256..32/256:20". If `spread` is true,
 * a..b:k means k evenly spaced values.
 */
int hm__numbers_parse(struct hm_arena *arena, struct hm_numbers *numbers, const char *text,
                      bool spread, struct hm_err *err);

/* ---- answering ---------------------------------------------------------------------------------
 */

/* A request that is being run, with the data that the verb may use and the answer so far. */
struct hm_call {
    const struct hm_context *context;
    struct hm_arena *arena; /* Memory that is freed after the verb has run. */
    struct hm_text out;
    const char *type; /* Media type of the answer; NULL means plain text. */
    bool no_answer;   /* True if the request has no feasible answer. */
    bool from_store;
    /* Files that the caller is asked to write; their texts are in the arena. */
    struct hm_reply_file files[4];
    size_t file_count;
    /*
     * Assignments of the field `set`, which may give properties of files of other tools (such as
     * n=8); NULL if the verb has no such field.
     */
    const struct hm_texts *facts;
    /*
     * True if a file of another tool was read, so that properties in the field `set` have an
     * effect.
     */
    bool imported;
    struct hm_catalog *made; /* The built-in catalog, which is loaded when it is first needed. */
};

/*
 * Whether an assignment of the field `set` is a property of files of other tools, such as "n=8",
 * and not a key of a job.
 */
bool hm__is_fact(const char *assignment);
/*
 * Returns rc, unless the limits of this thread are exceeded (budget.h): then returns the error that
 * says so, with the source "request" if a field of the verb caused it.
 */
int hm__request_budget(const struct hm_verb *verb, int rc, struct hm_err *err);
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
/* Ask the caller to write a file. The path and the text are copied. */
int hm__call_file(struct hm_call *call, const char *path, const char *program, const char *text,
                  struct hm_err *err);
/*
 * Get the format from two flags: JSON, CSV or, without flags, text. Both flags together are an
 * error.
 */
int hm__call_format(bool json, bool csv, enum hm_format *ret_format, struct hm_err *err);

#endif
