/*
 * Stores rows of a data set, dense or sparse. Each row has features and a label. One rank holds one
 * block of rows; `features` is the same on all ranks.
 */
#ifndef HM_ROWS_H
#define HM_ROWS_H

#include "howmany.h"

/*
 * A block of rows. Initialise it with {0}, set sparse and features, then add rows. The struct owns
 * all arrays.
 */
struct hm_rows {
    bool sparse;
    size_t count;    /* Number of rows. */
    size_t features; /* Number of columns. */
    double *values;  /* Dense rows: count x features values, row by row. Sparse rows: the values of
                        the entries, row by row. */
    size_t *starts;  /* Sparse rows only: count + 1 offsets into values and columns; NULL if there
                        are no rows yet. */
    uint32_t *columns; /* Column of each entry of sparse rows, from 0, ascending within a row. */
    double *labels;    /* Labels of the rows, one per row. */
    size_t row_room, value_room; /* Allocated sizes of the arrays, in rows and in values. */
};

/*
 * Add a row and return the array for its values: `features` zeros for dense rows, `entries` values
 * for sparse rows. For sparse rows, *ret_columns is the array for the columns. Returns NULL when
 * out of memory.
 */
double *hm__rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns);
/*
 * Make room for `count` more rows and, for sparse rows, `entries` more entries. Returns false when
 * out of memory.
 */
bool hm__rows_reserve(struct hm_rows *rows, size_t count, size_t entries);
/*
 * Move each row i to place[i], where place is a permutation. Returns false when out of memory; the
 * rows are then unchanged.
 */
bool hm__rows_reorder(struct hm_rows *rows, const uint32_t *place);
/*
 * Add a copy of row i of `from`. Both must be sparse, or both dense. Returns false when out of
 * memory.
 */
bool hm__rows_copy(struct hm_rows *rows, const struct hm_rows *from, size_t i);
/* Returns the number of entries in all rows. */
size_t hm__rows_entries(const struct hm_rows *rows);
/* Returns the number of bytes of the rows, without unused capacity. */
double hm__rows_bytes(const struct hm_rows *rows);
/* Remove all rows but keep the memory. */
void hm__rows_clear(struct hm_rows *rows);
void hm__rows_release(struct hm_rows *rows);

#endif
