/* Converts runs to the parameters of INSERT statements. */
#ifndef HM_STORE_CELLS_H
#define HM_STORE_CELLS_H

#include "sql.h"
#include "stored.h"
#include "text.h"

enum {
    /*
     * Number of values that are stored for a run: all columns except the id, and the number of
     * samples.
     */
    HM_RUN_CELLS = HM_STORE_COLUMNS,
};

/* Sets the HM_RUN_CELLS values of a run; a run without a time is given the time `now`. */
void hm__run_cells(const struct hm_stored *run, const char *now, struct hm_sql_value *cells);

/* The values that an INSERT statement stores for each run in addition to the values above. */
enum {
    HM_INSERT_IDS = 1, /* The id, which is the first parameter of each run. */
    HM_INSERT_WAITING =
        2, /* The column `waiting`, so that the runs are added to the indexes later. */
};

/* Writes "INSERT INTO runs (…) VALUES ($1, …), …" for `count` runs. If the statement fails, the
 * transaction must be rolled back. */
void hm__run_insert(struct hm_text *sql, const struct hm_sql *database, unsigned with,
                    size_t count);

#endif
