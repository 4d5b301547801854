/*
 * Imports files of other tools: logs, traces, configurations, model files. Each format has one file
 * with one struct hm_importer, which is a row of the table hm__importers; docs/reference/formats.md
 * describes each format. A reader recognises a file by its content and fills in a struct
 * hm_imported:
 *
 *   facts     values in the file, as members of a JSON object
 *   runs      rows with n and seconds of an iteration, for fits
 *   traces    rows with iteration, loss and elapsed seconds, for convergence
 *   document  a network, a cluster or a job, as YAML
 *   items     messages about what was taken and what was left out
 *
 * A value that is not in the file stays unknown: null in the facts, NaN in the tables.
 */
#ifndef HM_IMPORT_H
#define HM_IMPORT_H

#include "archive.h"
#include "howmany_advise.h"
#include "json.h"
#include "memory.h"
#include "order.h"
#include "stream.h"
#include "timings.h"

struct hm_imported;

/* The beginning of a file; readers recognise their format by it. */
struct hm_import_head {
    const char *name; /* Name of the file. It is only a hint, because files may be renamed. */
    const char *text; /* First bytes of the decompressed contents, followed by NUL. */
    size_t length;
};

struct hm_importer {
    const char *name;    /* Name of the format for the field `as`, such as "hf-config". */
    const char *title;   /* Description of the format for users, such as "Megatron-LM log". */
    const char *becomes; /* Description of the results of an import, for help and hints. */
    /* Returns how likely the file has this format: 0 (no) to 100 (it has the format's magic
     * number). */
    int (*recognise)(const struct hm_import_head *head);
    /* Reads the whole stream. A truncated file is not an error: see hm__import_cut. */
    int (*read)(struct hm_imported *import, struct hm_err *err);
};

/* All formats; the list ends with NULL. */
extern const struct hm_importer *const hm__importers[];
const struct hm_importer *hm__importer_find(const char *name);

/* ---- results -------------------------------------------------------------------------------- */

/* A cell of a table: `text` if the column holds texts, otherwise `number`. */
struct hm_import_cell {
    double number;
    const char *text;
};

enum { HM_IMPORT_COLUMNS = 24 };

/* A table of runs or traces. Rows beyond HM_IMPORT_ROWS are counted but not kept. */
struct hm_import_table {
    const char *columns[HM_IMPORT_COLUMNS]; /* Names of the columns; static or in the arena. */
    bool texts[HM_IMPORT_COLUMNS];          /* True for each column that holds texts. */
    size_t column_count;
    struct hm_import_cell *cells; /* Cells of the table, row by row; owned. */
    size_t rows, room;
};

enum { HM_IMPORT_ROWS = 1000000 };

/* A message about something that was taken from the file or left out. */
struct hm_import_item {
    const char *what;
    double count; /* Number that is shown before `what`; NaN: `what` is a whole sentence. */
    enum hm_import_fate { HM_IMPORT_TAKEN, HM_IMPORT_LEFT, HM_IMPORT_NOTED } fate;
};

enum { HM_IMPORT_ITEMS = 64 };

/* A key of a job that the file does not give, with the value that a plan of the document assumes
 * if the user does not give it either. */
struct hm_import_usual {
    const char *key, *value;
};

enum { HM_IMPORT_USUAL = 4 };

struct hm_imported {
    /* The following members are inputs of the reader. */
    const char *name; /* Name of the file. */
    bool from_file; /* True if `name` is a file, so that other files in its folder may be opened. */
    const char *const
        *set; /* Properties NAME=VALUE of the file that the caller gives, such as n=8; borrowed. */
    size_t set_count;
    /* The following members are the state of the reader. */
    struct hm_arena *arena;
    struct hm_stream in;
    struct hm_archive *
        archive; /* Archive that contains the parts of the log, or NULL if they are files; owned. */
    const char *const *parts; /* Files of a log that is split, in order; in the arena. */
    size_t part_count, part_at;
    const char *codec; /* Name of the compression; NULL: the file is not compressed. */
    /* The following members are results of the import. */
    const struct hm_importer *importer;
    bool partial;       /* True if the file is truncated or damaged; the data before the damage were
                           taken. */
    double nodes;       /* Number of nodes of a communication benchmark; 0: unknown. */
    bool needs_n;       /* True if the tables need the number of workers, which is not known. */
    bool needs_network; /* True if the document is a job without a network, which the caller must
                           give. */
    struct hm_text facts_text;
    struct hm_json facts; /* JSON writer of facts_text, the values found in the file; an object is
                             open while the reader runs. */
    struct hm_import_table runs, traces;
    struct hm_text document;   /* The document as YAML; empty if there is none. */
    const char *document_kind; /* Kind of the document: "network", "cluster" or "job". */
    /* Times of operations, from which the machine can be described; none if the count is 0. */
    struct hm_timings timings;
    struct hm_import_usual usual[HM_IMPORT_USUAL];
    size_t usual_count;
    struct hm_import_item items[HM_IMPORT_ITEMS];
    size_t item_count;
    bool failed; /* True if an allocation failed. */
};

/* ---- for callers ---------------------------------------------------------------------------- */

/* The contents to import: a file or folder, given by its name, or bytes in memory. */
struct hm_import_from {
    const char *name;
    const char *data; /* Contents; NULL: open the file `name`. */
    size_t length;
    const struct hm_importer *as; /* Format; NULL: recognised from the contents. */
    const char *const
        *set; /* Properties NAME=VALUE of the file that the caller gives, such as n=8; borrowed. */
    size_t set_count;
};

/* Read one file. Free the result with hm__import_free. */
int hm__import_new(const struct hm_import_from *from, struct hm_imported **ret_import,
                   struct hm_err *err);
void hm__import_free(struct hm_imported *import);
/* Find the format of a file from its beginning; returns NULL, without an error, if no reader
 * recognises the file. */
const struct hm_importer *hm__import_recognise(const struct hm_import_from *from);
/*
 * Convert the tables to runs and to traces. If properties such as n are missing, the error names
 * them.
 */
int hm__import_runs(struct hm_imported *const *imports, size_t count, struct hm_runs **ret_runs,
                    struct hm_err *err);
int hm__import_traces(struct hm_imported *const *imports, size_t count,
                      const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                      struct hm_err *err);
/* Fail if a table has no rows, or if its rows lack the number of workers. */
int hm__import_check(const struct hm_imported *import, const struct hm_import_table *table,
                     const char *what, struct hm_err *err);
/* Returns the name of format i; NULL after the last. Used with hm__suggest. */
const char *hm__importer_name(const void *context, size_t i);
/* Write a table as CSV with a header. */
void hm__import_csv(const struct hm_import_table *table, struct hm_text *out);
/* Whether a path is a pattern such as "logs/run_*.log" that matches files, and not itself a file.
 */
bool hm__import_is_pattern(const char *path);
/* Call `visit` for a file, for the files that a pattern matches, or for the files of a folder in
 * the order of their names, three levels deep. A folder that holds a Spark event log is visited
 * once, as one file. */
int hm__import_walk(const char *path,
                    int (*visit)(void *data, const char *file, struct hm_err *err), void *data,
                    struct hm_err *err);

/* If the path is a folder that holds one log, split into several files, set the parts of the
 * import. Any other folder is an error; a file has no parts. */
int hm__import_parts(struct hm_imported *im, const char *path, struct hm_err *err);
/* If the contents are a zip or tar archive, or the path is that of a member as in
 * "logs.zip/run/events_1", open the archive and set the parts: the given member, the files of one
 * log, the description in a Keras model, or the only file. Any other archive is an error. Standard
 * input that is no archive is opened as *ret_source. */
int hm__import_archive(struct hm_imported *im, const struct hm_import_from *from,
                       struct hm_source **ret_source, struct hm_err *err);
/* Open part i of the import, which is a file or a member of an archive. */
int hm__import_part(const struct hm_imported *im, size_t i, struct hm_source **ret_source,
                    struct hm_err *err);
/* Call `visit` for an archive that is one import, or for its members, as hm__import_walk does. */
int hm__import_walk_archive(const char *path,
                            int (*visit)(void *data, const char *file, struct hm_err *err),
                            void *data, struct hm_err *err);
/* hm__import_is_part: whether a file is one part of a log that is split into several files.
 * hm__import_compare_parts: the order of two parts, by their names. */
bool hm__import_is_part(const char *name);
int hm__import_compare_parts(const char *a, const char *b);

/* ---- for readers ---------------------------------------------------------------------------- */

/*
 * Add a message about what was taken from the file (took) or left out (left), or any other note.
 * With a count of 0, no message is added.
 */
void hm__import_took(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_left(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_note(struct hm_imported *im, const char *format, ...) HM_PRINTF(2, 3);
/* Add a value that a plan assumes for a key of the job; the value is copied. */
void hm__import_assume(struct hm_imported *im, const char *key, const char *format, ...)
    HM_PRINTF(3, 4);
/* Mark the result as partial, because the file ended too early. */
void hm__import_cut(struct hm_imported *im);
/*
 * Returns the property that the caller gave with this name, as a number; NaN if it was not given.
 */
double hm__import_given(const struct hm_imported *im, const char *name);
/* Returns the number of workers: the number that the caller gave, else `found`, else a number in
 * the file's name. If none is known, returns NaN and sets needs_n. */
double hm__import_n(struct hm_imported *im, double found);

/* Begin a table; `columns` has the names separated by commas. A '*' before a name marks a column of
 * texts. */
void hm__import_columns(struct hm_import_table *table, const char *columns);
/* Add a row with one cell for each column; texts must outlive the import. */
void hm__import_row(struct hm_imported *im, struct hm_import_table *table,
                    const struct hm_import_cell *cells);
/* Make a cell with a number, or a cell with a text. */
static inline struct hm_import_cell hm__cell(double number)
{
    return (struct hm_import_cell){number, NULL};
}
static inline struct hm_import_cell hm__cell_text(const char *text)
{
    return (struct hm_import_cell){0, text};
}

/* Returns the first occurrence of `piece` in the first `length` bytes of the text; NULL if there is
 * none. */
const char *hm__find(const char *text, size_t length, const char *piece);
/* Read the number after a label such as "loss: " in a line; NaN if there is none. */
double hm__number_after(const char *text, size_t length, const char *label);
/* Open the next file of a log that is split into several files. Returns 1 on success, 0 after the
 * last file, or a negative error code. */
int hm__import_next_part(struct hm_imported *im, struct hm_err *err);
/*
 * Write an integer as a member of the facts, without rounding; a value below 0 is written as null.
 */
void hm__fact_count(struct hm_imported *im, const char *key, int64_t value);

#endif
