/*
 * Imports files from other tools: logs, traces, configurations, model files. Each format has one
 * source file with one struct hm_importer, to which the list hm__importers points;
 * docs/reference/formats.md describes each format. A reader recognises a file by its content and
 * fills in a struct hm_imported:
 *
 *   facts     values in the file, as members of a JSON object
 *   runs      rows with n and the seconds of an iteration, for fits
 *   traces    rows with iteration, loss and elapsed seconds, for convergence
 *   document  a network, a cluster or a job, as YAML
 *   items     messages about data that were imported or ignored
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

/* The beginning of a file, which readers use to recognise their format. */
struct hm_import_head {
    const char *name; /* Name of the file. It is only a hint, because files may be renamed. */
    const char *text; /* First bytes of the decompressed contents, followed by NUL. */
    size_t length;
};

struct hm_importer {
    const char *name;  /* Name of the format for the field `as`, such as "hf-config". */
    const char *title; /* Description of the format for users, such as "Megatron-LM log". */
    /* Description of what users obtain by importing this format, for help and hints. */
    const char *becomes;
    /* Returns how likely it is that the file has this format: from 0 (impossible) to 100 (it has
     * the format's magic number). */
    int (*recognise)(const struct hm_import_head *head);
    /* Reads the whole stream. A truncated file is not an error: see hm__import_cut. */
    int (*read)(struct hm_imported *import, struct hm_err *err);
};

/* Readers of all formats; the last element is NULL. */
extern const struct hm_importer *const hm__importers[];
const struct hm_importer *hm__importer_find(const char *name);

/* ---- results -------------------------------------------------------------------------------- */

/* A cell of a table: `text` if the column holds strings, otherwise `number`. */
struct hm_import_cell {
    double number;
    const char *text;
};

enum { HM_IMPORT_COLUMNS = 24 };

/* A table of runs or traces. Rows beyond HM_IMPORT_ROWS are counted but not stored. */
struct hm_import_table {
    /* Names of the columns of the table; static or in the arena. */
    const char *columns[HM_IMPORT_COLUMNS];
    bool texts[HM_IMPORT_COLUMNS]; /* True for each column that holds strings, false for numbers. */
    size_t column_count;
    struct hm_import_cell *cells; /* Cells of the table, row by row; owned. */
    size_t rows, room;
};

enum { HM_IMPORT_ROWS = 1000000 };

/*
 * A message to the user about data that were imported from the file, or about data that were
 * ignored.
 */
struct hm_import_item {
    const char *what;
    /*
     * Number that is printed before `what`; NaN if no number is printed, because `what` is a whole
     * sentence.
     */
    double count;
    enum hm_import_fate { HM_IMPORT_TAKEN, HM_IMPORT_LEFT, HM_IMPORT_NOTED } fate;
};

enum { HM_IMPORT_ITEMS = 64 };

/*
 * A key of a job that is missing in the file, and the value that a plan for the document uses if
 * the user does not specify another one.
 */
struct hm_import_usual {
    const char *key, *value;
};

enum { HM_IMPORT_USUAL = 4 };

struct hm_imported {
    /* The caller of the reader sets the following members. */
    const char *name; /* Name of the imported file, as used in messages. */
    bool from_file; /* True if `name` is a file, so that other files in its folder may be opened. */
    const char *const
        *set; /* Properties NAME=VALUE of the file, given by the user, such as n=8; borrowed. */
    size_t set_count;
    /* The following members are used while the file is read. */
    struct hm_arena *arena;
    struct hm_stream in;
    /* Archive that contains the parts of the log, owned; NULL if the parts are files. */
    struct hm_archive *archive;
    /* Names of the files of a log that is split into several files, in order; in the arena. */
    const char *const *parts;
    size_t part_count, part_at;
    const char *codec; /* Name of the compression format; NULL if the file is not compressed. */
    /* The following members are results of the import. */
    const struct hm_importer *importer;
    /*
     * True if the file is truncated or damaged; the results then describe the data before the
     * damage.
     */
    bool partial;
    double nodes; /* Number of nodes on which a communication benchmark ran; 0 if unknown. */
    /*
     * True if the runs or traces need a number of workers that neither the file nor the user gives.
     */
    bool needs_n;
    /* True if the document is a job without a network, so that the user must specify one. */
    bool needs_network;
    struct hm_text facts_text;
    /*
     * JSON writer that appends the values found in the file (facts) to facts_text; an object is
     * open while the reader runs.
     */
    struct hm_json facts;
    struct hm_import_table runs, traces;
    /* Network, cluster or job that was found, as YAML; empty if there is none. */
    struct hm_text document;
    const char *document_kind; /* Kind of the document: "network", "cluster" or "job". */
    /*
     * Measured times of operations, from which rates of the machine can be computed; their count is
     * 0 if there are none.
     */
    struct hm_timings timings;
    struct hm_import_usual usual[HM_IMPORT_USUAL];
    size_t usual_count;
    struct hm_import_item items[HM_IMPORT_ITEMS];
    size_t item_count;
    bool failed; /* True if an allocation failed while the file was read. */
};

/* ---- for callers ---------------------------------------------------------------------------- */

/* What to import: a file or folder, given by its name, or bytes in memory. */
struct hm_import_from {
    const char *name;
    const char *data; /* Bytes that are imported; NULL to open the file `name`. */
    size_t length;
    /* Format of the contents; NULL to recognise it from the contents. */
    const struct hm_importer *as;
    const char *const
        *set; /* Properties NAME=VALUE of the file, given by the user, such as n=8; borrowed. */
    size_t set_count;
};

/* Reads one file. Free the result with hm__import_free. */
int hm__import_new(const struct hm_import_from *from, struct hm_imported **ret_import,
                   struct hm_err *err);
void hm__import_free(struct hm_imported *import);
/*
 * Finds the format of a file from its beginning; returns NULL, without an error, if no reader
 * recognises the file.
 */
const struct hm_importer *hm__import_recognise(const struct hm_import_from *from);
/*
 * Converts the imported tables to runs and to traces. If a property such as n is missing, the error
 * names it.
 */
int hm__import_runs(struct hm_imported *const *imports, size_t count, struct hm_runs **ret_runs,
                    struct hm_err *err);
int hm__import_traces(struct hm_imported *const *imports, size_t count,
                      const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                      struct hm_err *err);
/* Fails if a table has no rows, or if the number of workers of its rows is unknown. */
int hm__import_check(const struct hm_imported *import, const struct hm_import_table *table,
                     const char *what, struct hm_err *err);
/* Returns the name of format `i`; NULL after the last format. It is passed to hm__suggest. */
const char *hm__importer_name(const void *context, size_t i);
/* Writes a table as CSV with a header. */
void hm__import_csv(const struct hm_import_table *table, struct hm_text *out);
/*
 * Returns whether a path is a pattern such as "logs/run_*.log" that matches at least one file, and
 * is not the name of a file.
 */
bool hm__import_is_pattern(const char *path);
/*
 * Calls `visit` for a file, for the files that a pattern matches, or for the files in a folder in
 * the order of their names, with subfolders up to three levels deep. A folder that holds a Spark
 * event log is visited once, like a single file.
 */
int hm__import_walk(const char *path,
                    int (*visit)(void *data, const char *file, struct hm_err *err), void *data,
                    struct hm_err *err);

/*
 * Sets `parts` of the import if the path is a folder with one log that is split into several files.
 * Any other folder is an error; for a file, `parts` stays empty.
 */
int hm__import_parts(struct hm_imported *im, const char *path, struct hm_err *err);
/*
 * Opens the archive if the contents are a zip or tar archive, or if the path names a member of an
 * archive, as in "logs.zip/run/events_1". Sets `parts` to the given member, the files of one log,
 * the description in a Keras model, or the only file. Any other archive is an error. If standard
 * input is not an archive, it is opened as *ret_source.
 */
int hm__import_archive(struct hm_imported *im, const struct hm_import_from *from,
                       struct hm_source **ret_source, struct hm_err *err);
/* Opens `parts[i]` of the import, which is a file or a member of an archive. */
int hm__import_part(const struct hm_imported *im, size_t i, struct hm_source **ret_source,
                    struct hm_err *err);
/*
 * Calls `visit` once for an archive that is one import (such as one log in several members),
 * otherwise for each of its members, as hm__import_walk does for folders.
 */
int hm__import_walk_archive(const char *path,
                            int (*visit)(void *data, const char *file, struct hm_err *err),
                            void *data, struct hm_err *err);
/*
 * hm__import_is_part returns whether a file is one part of a log that is split into several files.
 * hm__import_compare_parts orders two parts by the numbers or dates in their names.
 */
bool hm__import_is_part(const char *name);
int hm__import_compare_parts(const char *a, const char *b);

/* ---- for readers ---------------------------------------------------------------------------- */

/*
 * Adds a message about data that were imported (hm__import_took), about data that were ignored
 * (hm__import_left), or about anything else. If `count` is 0, no message is added.
 */
void hm__import_took(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_left(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_note(struct hm_imported *im, const char *format, ...) HM_PRINTF(2, 3);
/*
 * Adds a key that is missing in the file, with the value that a plan uses for it by default; the
 * value is copied.
 */
void hm__import_assume(struct hm_imported *im, const char *key, const char *format, ...)
    HM_PRINTF(3, 4);
/* Marks the result as partial, because the file is truncated. */
void hm__import_cut(struct hm_imported *im);
/*
 * Adds a note if a line that is used ended with the file instead of a line break. Some programs
 * write such files, so they do not count as truncated.
 */
void hm__import_last_line(struct hm_imported *im, const struct hm_line *line);
/*
 * Returns a property of the imported file that the user gave, as a number or as a text; NaN or NULL
 * if it was not given.
 */
double hm__import_given(const struct hm_imported *im, const char *name);
const char *hm__import_given_text(const struct hm_imported *im, const char *name);
/*
 * Returns the number of workers: the number that the user gave, else `found`, else a number in the
 * file's name. If none of them is known, returns NaN and sets needs_n.
 */
double hm__import_n(struct hm_imported *im, double found);

/*
 * Starts a table; `columns` lists the names of its columns, separated by commas. A '*' before a
 * name marks a column that holds strings.
 */
void hm__import_columns(struct hm_import_table *table, const char *columns);
/* Adds a row with one cell for each column. Strings are not copied and must outlive the import. */
void hm__import_row(struct hm_imported *im, struct hm_import_table *table,
                    const struct hm_import_cell *cells);
/* Creates a cell that holds a number, or a cell that holds a string. */
static inline struct hm_import_cell hm__cell(double number)
{
    return (struct hm_import_cell){number, NULL};
}
static inline struct hm_import_cell hm__cell_text(const char *text)
{
    return (struct hm_import_cell){0, text};
}

/*
 * Returns the first occurrence of `piece` in the first `length` bytes of a string; NULL if there is
 * none.
 */
const char *hm__find(const char *text, size_t length, const char *piece);
/*
 * Reads the number after a label such as "loss: " in a line; NaN if the line has no such label or
 * number.
 */
double hm__number_after(const char *text, size_t length, const char *label);
/*
 * Opens the next file of a log that is split into several files. Returns 1 if it was opened, 0
 * after the last file, or a negative error code.
 */
int hm__import_next_part(struct hm_imported *im, struct hm_err *err);
/*
 * Writes an integer as a JSON member of the facts, with all digits; a value below 0 is written as
 * null.
 */
void hm__fact_count(struct hm_imported *im, const char *key, int64_t value);
/*
 * Same as hm__fact_count, but for the integer part of a double; NaN and numbers of more than 63
 * bits are also written as null.
 */
void hm__fact_whole(struct hm_imported *im, const char *key, double value);

#endif
