/*
 * Files of other tools: logs, traces, configurations, model files. Each format has one file with
 * one struct hm_importer, which is a row of the table hm__importers; docs/formats.md has a section
 * on each. A reader recognises a file by its content and fills in a struct hm_imported:
 *
 *   facts     the values of the file, as members of a JSON object
 *   runs      rows with n and seconds of an iteration, for fits
 *   traces    rows with iteration, loss and elapsed seconds, for convergence
 *   document  a network, a cluster or a job, as YAML
 *   items     what was taken and what was left out, for people
 *
 * A value that is not in the file stays unknown: null in the facts, NaN in the tables.
 */
#ifndef HM_IMPORT_H
#define HM_IMPORT_H

#include "howmany_advise.h"
#include "json.h"
#include "memory.h"
#include "stream.h"

struct hm_imported;

/* The beginning of a file, by which readers recognise it. */
struct hm_import_head {
    const char *name; /* Name of the file; only a hint, never a proof. */
    const char *text; /* First bytes of the contents, decompressed; ended with NUL. */
    size_t length;
};

struct hm_importer {
    const char *name;    /* Name of the format for the field `as`, such as "hf-config". */
    const char *title;   /* What people call such a file. */
    const char *becomes; /* What is made of it, for help and hints. */
    /* Describe how surely a file has this format: 0 (no) to 100 (its magic is there). */
    int (*recognise)(const struct hm_import_head *head);
    /* Read the whole stream. A file that is cut short is not an error: see hm__import_cut. */
    int (*read)(struct hm_imported *import, struct hm_err *err);
};

/* All formats; NULL after the last. */
extern const struct hm_importer *const hm__importers[];
const struct hm_importer *hm__importer_find(const char *name);

/* ---- results -------------------------------------------------------------------------------- */

/* A cell of a table: a number, or a text in a column of texts. */
struct hm_import_cell {
    double number;
    const char *text;
};

enum { HM_IMPORT_COLUMNS = 24 };

/* A table of runs or traces. Rows beyond HM_IMPORT_ROWS are counted but not kept. */
struct hm_import_table {
    const char *columns[HM_IMPORT_COLUMNS]; /* Names; static or in the arena. */
    bool texts[HM_IMPORT_COLUMNS];          /* Whether each column has texts. */
    size_t column_count;
    struct hm_import_cell *cells; /* Cells row by row; owned. */
    size_t rows, room;
};

enum { HM_IMPORT_ROWS = 1000000 };

/* Something that was taken from the file or left out. */
struct hm_import_item {
    const char *what;
    double count; /* NaN: `what` is a sentence without a number. */
    enum hm_import_fate { HM_IMPORT_TAKEN, HM_IMPORT_LEFT, HM_IMPORT_NOTED } fate;
};

enum { HM_IMPORT_ITEMS = 64 };

struct hm_imported {
    /* What the caller gives. */
    const char *name;       /* Name of the file. */
    bool from_file;         /* The name is that of a file, so files beside it may be opened. */
    const char *const *set; /* Facts NAME=VALUE that the caller knows; borrowed. */
    size_t set_count;
    /* What the reader uses. */
    struct hm_arena *arena;
    struct hm_stream in;
    const char *const *parts; /* Files of a folder that are one log, in order; in the arena. */
    size_t part_count, part_at;
    const char *codec; /* How the file is compressed; NULL: not compressed. */
    /* Results. */
    const struct hm_importer *importer;
    bool partial; /* The file is cut short or damaged; what was whole was taken. */
    double nodes; /* Nodes that a benchmark of communication ran on; 0: unknown. */
    bool needs_n; /* The tables need the number of workers, which is not known. */
    struct hm_text facts_text;
    struct hm_json facts; /* Writes into facts_text; an object is open while the reader runs. */
    struct hm_import_table runs, traces;
    struct hm_text document;   /* YAML; empty if there is none. */
    const char *document_kind; /* "network", "cluster" or "job". */
    struct hm_import_item items[HM_IMPORT_ITEMS];
    size_t item_count;
    bool failed; /* An allocation failed. */
};

/* ---- for callers ---------------------------------------------------------------------------- */

/* Where the contents are: a file or folder by name, or bytes in memory. */
struct hm_import_from {
    const char *name;
    const char *data; /* Contents; NULL: open the file `name`. */
    size_t length;
    const struct hm_importer *as; /* Format; NULL: recognised. */
    const char *const *set;       /* Facts NAME=VALUE; borrowed. */
    size_t set_count;
};

/* Read one file. Free the result with hm__import_free. */
int hm__import_new(const struct hm_import_from *from, struct hm_imported **ret_import,
                   struct hm_err *err);
void hm__import_free(struct hm_imported *import);
/* Find the format of a file without reading all of it; NULL: none, and no error is set. */
const struct hm_importer *hm__import_recognise(const struct hm_import_from *from);
/* The tables as runs and traces. Missing facts are an error with the names of the facts. */
int hm__import_runs(const struct hm_imported *import, struct hm_runs **ret_runs,
                    struct hm_err *err);
int hm__import_traces(struct hm_imported *const *imports, size_t count,
                      const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                      struct hm_err *err);
/* Fail if a table has no rows, or if its rows lack the number of workers. */
int hm__import_check(const struct hm_imported *import, const struct hm_import_table *table,
                     const char *what, struct hm_err *err);
/* Returns the name of format i, and NULL after the last; for hm__suggest. */
const char *hm__importer_name(const void *context, size_t i);
/* Write a table as CSV with a header. */
void hm__import_csv(const struct hm_import_table *table, struct hm_text *out);
/* Call `visit` for each file that a path means: itself, or the files of a folder in the order of
 * their names, three levels deep. A folder of a Spark event log is one file. */
int hm__import_walk(const char *path,
                    int (*visit)(void *data, const char *file, struct hm_err *err), void *data,
                    struct hm_err *err);

/* If the path is a folder of one log in several files, set the parts of the import. A folder of
 * another kind is an error; a file has no parts. */
int hm__import_parts(struct hm_imported *im, const char *path, struct hm_err *err);

/* ---- for readers ---------------------------------------------------------------------------- */

/* Say what was taken, what was left out, or any other thing to know. A count of 0 says nothing. */
void hm__import_took(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_left(struct hm_imported *im, double count, const char *format, ...) HM_PRINTF(3, 4);
void hm__import_note(struct hm_imported *im, const char *format, ...) HM_PRINTF(2, 3);
/* The file ended too early: mark the result as partial. */
void hm__import_cut(struct hm_imported *im);
/* Returns a fact that the caller gave, as a number; NaN if it was not given. */
double hm__import_given(const struct hm_imported *im, const char *name);
/* Returns the number of workers: the given one, else `found`, else one in the file's name; NaN and
 * needs_n if none is known. */
double hm__import_n(struct hm_imported *im, double found);

/* Begin a table; `columns` are names separated by commas, texts after a '*'. */
void hm__import_columns(struct hm_import_table *table, const char *columns);
/* Add a row of as many cells as there are columns; texts must outlive the import. */
void hm__import_row(struct hm_imported *im, struct hm_import_table *table,
                    const struct hm_import_cell *cells);
/* A cell with a number, and a cell with a text. */
static inline struct hm_import_cell hm__cell(double number)
{
    return (struct hm_import_cell){number, NULL};
}
static inline struct hm_import_cell hm__cell_text(const char *text)
{
    return (struct hm_import_cell){0, text};
}

/* Whether the text has a piece within its first `length` bytes, and where; NULL: it has not. */
const char *hm__find(const char *text, size_t length, const char *piece);
/* Read a number after a label such as "loss: " in a line; NaN if there is none. */
double hm__number_after(const char *text, size_t length, const char *label);
/* Open the next file of a folder that is one log. Returns 1, 0 after the last, or an error code. */
int hm__import_next_part(struct hm_imported *im, struct hm_err *err);
/* Compare two doubles for qsort and bsearch. */
int hm__compare_numbers(const void *a, const void *b);
/* Put an integer fact exactly, or null if it is below 0. */
void hm__fact_count(struct hm_imported *im, const char *key, int64_t value);

#endif
