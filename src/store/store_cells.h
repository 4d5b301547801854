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

/* Appends the names of the columns for these values, separated by commas. */
void hm__run_cell_names(struct hm_text *sql);

#endif
