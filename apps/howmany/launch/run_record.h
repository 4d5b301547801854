/*
 * A table of measured runs to which runs are added. The table is kept in memory as CSV, and each
 * run is also immediately appended to a file or store.
 */
#ifndef HM_RUN_RECORD_H
#define HM_RUN_RECORD_H

#include "lists.h"
#include "measure.h"
#include "own_store.h"
#include "text.h"

/* State of a record. Zero-initialise the struct, and set `names` and `axes`. */
struct launch_record {
    const char *names[CLI_AXES_MAX]; /* Names of the quantities that vary; borrowed. */
    size_t axes;                     /* Number of quantities that vary (axes). */
    struct hm_text csv;              /* The whole table as CSV, with its header. */
    int file; /* Descriptor of the file to which runs are appended; -1 if there is no file. */
    bool json_lines; /* True if the file contains JSON lines; false if it contains CSV. */
    bool earlier;    /* True if the file has the columns of an earlier version of this program. */
    size_t rows;     /* Number of runs in `csv`. */
    struct hm_store *store; /* Store that is used instead of a file; NULL if there is no store. */
};

/*
 * Starts recording runs. `path` is a file, a store or NULL. An existing file must have the same
 * columns, or the columns of an earlier version of this program; its runs are read and are not
 * executed again. Runs that a store already contains are not read. Returns 0 or EXIT_USAGE.
 */
int launch_record_begin(struct launch_record *record, const char *path);
/* Adds a run; the run is on disk when this function returns. */
int launch_record_add(struct launch_record *record, const double *values, size_t repeat,
                      const struct launch_measurement *measurement);
/* Returns all runs in `csv`. Returns NULL without an error if there are no runs, and NULL with an
 * error if `csv` cannot be read. */
struct hm_runs *launch_record_runs(const struct launch_record *record, struct hm_err *err);
void launch_record_end(struct launch_record *record);

#endif
