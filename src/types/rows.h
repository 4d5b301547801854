/*
 * Rows of a data set, dense or sparse. Each row has features and a label. One rank holds one block
 * of rows; `features` is the same on all ranks.
 */
#ifndef HM_ROWS_H
#define HM_ROWS_H

#include "howmany.h"

/* Initialise with {0}, set sparse and features, then add rows. All arrays are owned. */
struct hm_rows {
    bool sparse;
    size_t count;      /* Rows. */
    size_t features;   /* Columns. */
    double *values;    /* Dense: count x features, row by row. Sparse: the entries, row by row. */
    size_t *starts;    /* Sparse: count + 1 offsets into values and columns; NULL while empty. */
    uint32_t *columns; /* Sparse: columns from 0 on, ascending within a row. */
    double *labels;    /* One per row. */
    size_t row_room, value_room; /* Allocated sizes of the arrays, in rows and in values. */
};

/*
 * Add a row and return the array for its values: `features` zeros in dense rows, `entries` values
 * in sparse rows, where *ret_columns is the array for their columns. NULL when out of memory.
 */
double *hm__rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns);
/* Make room for `count` more rows, in sparse rows with `entries`; false when out of memory. */
bool hm__rows_reserve(struct hm_rows *rows, size_t count, size_t entries);
/* Move row i to place[i], a permutation. False when out of memory; then nothing has changed. */
bool hm__rows_reorder(struct hm_rows *rows, const uint32_t *place);
/* Add a copy of row i of another block of the same kind; false when out of memory. */
bool hm__rows_copy(struct hm_rows *rows, const struct hm_rows *from, size_t i);
/* Number of entries of all rows. */
size_t hm__rows_entries(const struct hm_rows *rows);
/* Bytes of the rows, without reserved room. */
double hm__rows_bytes(const struct hm_rows *rows);
/* Remove all rows but keep the memory. */
void hm__rows_clear(struct hm_rows *rows);
void hm__rows_release(struct hm_rows *rows);

#endif
