/*
 * Stores rows of a data set, dense or sparse. Each row has features and a label. One rank holds one
 * block of rows; `features` is the same on all ranks.
 */
#ifndef HM_ROWS_H
#define HM_ROWS_H

#include "howmany.h"

/*
 * A block of rows. Initialise it with {0}, set `sparse` and `features`, and then add rows. The
 * struct owns all its arrays.
 */
struct hm_rows {
    bool sparse;
    size_t count;    /* Number of rows in the block. */
    size_t features; /* Number of features of a row, which are its columns. */
    /*
     * Values of the rows, row by row: count x features values for dense rows, and only the stored
     * entries for sparse rows.
     */
    double *values;
    /*
     * Sparse rows only: offset of each row in `values` and `columns`, count + 1 elements; NULL if
     * there are no rows yet.
     */
    size_t *starts;
    /* Sparse rows only: column of each entry, counted from 0, ascending within a row. */
    uint32_t *columns;
    double *labels; /* Labels of the rows, one per row. */
    /* Number of rows, and number of values, for which memory is allocated. */
    size_t row_room, value_room;
};

/*
 * Adds a row and returns the array for its values: `features` zeros for a dense row, `entries`
 * values for a sparse row. For a sparse row, *ret_columns is set to the array for the columns.
 * Returns NULL if memory runs out.
 */
double *hm__rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns);
/*
 * Allocates memory for `count` additional rows and, for sparse rows, `entries` additional entries.
 * Returns false if memory runs out.
 */
bool hm__rows_reserve(struct hm_rows *rows, size_t count, size_t entries);
/*
 * Moves each row `i` to position place[i], where `place` is a permutation. Returns false if memory
 * runs out; the rows are then unchanged.
 */
bool hm__rows_reorder(struct hm_rows *rows, const uint32_t *place);
/*
 * Adds a copy of row `i` of `from`. Both sets of rows must be sparse, or both must be dense.
 * Returns false if memory runs out.
 */
bool hm__rows_copy(struct hm_rows *rows, const struct hm_rows *from, size_t i);
/* Returns the total number of entries in all rows. */
size_t hm__rows_entries(const struct hm_rows *rows);
/* Returns the number of bytes that the rows use, without unused capacity. */
double hm__rows_bytes(const struct hm_rows *rows);
/* Removes all rows, but keeps the allocated memory for additional rows. */
void hm__rows_clear(struct hm_rows *rows);
void hm__rows_release(struct hm_rows *rows);

#endif
