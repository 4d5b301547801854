/* Converts runs to parameters of statements that insert them. */
#ifndef HM_STORE_CELLS_H
#define HM_STORE_CELLS_H

#include "sql.h"
#include "stored.h"
#include "text.h"

enum {
    /* Number of values of a run: all columns except id, plus sample_count. */
    HM_RUN_CELLS = HM_STORE_COLUMNS,
};

/* Sets the HM_RUN_CELLS values of a run; `now` is the time of a run without a time. */
void hm__run_cells(const struct hm_stored *run, const char *now, struct hm_sql_value *cells);

/* Appends the names of the columns of these values, each followed by a comma except the last. */
void hm__run_cell_names(struct hm_text *sql);

#endif
