/*
 * Rows of a data set: features and a label each, dense or sparse. One rank holds one such block;
 * `features` is the same on all ranks.
 */
#ifndef HM_ROWS_H
#define HM_ROWS_H

#include "howmany.h"

/* Zero-initialise, set sparse and features, then add rows. All arrays are owned. */
struct hm_rows {
    bool sparse;
    size_t count;      /* rows */
    size_t features;   /* columns */
    double *values;    /* dense: count x features, row after row; sparse: the entries, in order */
    size_t *starts;    /* sparse: count + 1 places in values and columns; NULL while empty */
    uint32_t *columns; /* sparse: 0-based, ascending in a row */
    double *labels;    /* count */
    size_t row_room, value_room;
};

/*
 * Make room for one more row and return where its values go: dense, `features` places (zeroed);
 * sparse, `entries` places with *ret_columns for their columns. NULL when out of memory.
 */
double *hm__rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns);
/* Make room for that many more rows, and in sparse rows entries; false when out of memory. */
bool hm__rows_reserve(struct hm_rows *rows, size_t count, size_t entries);
/* Row i goes to place[i], a permutation; false when out of memory, and nothing has changed. */
bool hm__rows_reorder(struct hm_rows *rows, const uint32_t *place);
/* Add row i of another block that is kept in the same way; false when out of memory. */
bool hm__rows_copy(struct hm_rows *rows, const struct hm_rows *from, size_t i);
/* Entries of all rows. */
size_t hm__rows_entries(const struct hm_rows *rows);
/* Bytes of what they hold; room for more is not counted. */
double hm__rows_bytes(const struct hm_rows *rows);
/* Forget the rows, keep the memory. */
void hm__rows_clear(struct hm_rows *rows);
void hm__rows_release(struct hm_rows *rows);

#endif
