/*
 * Stores some rows of a table: copies of rows that a worker has read, or sums of its increments.
 * The rows are stored without gaps, in the order in which they were added.
 */
#ifndef HM_PS_ROWS_H
#define HM_PS_ROWS_H

#include "howmany_base.h"

struct hm_ps_rows {
    size_t columns;
    /* For each row of the table, 1 + its index in the arrays below; 0 if the row is not stored. */
    uint32_t *place;
    size_t count, room;
    uint32_t *row; /* Numbers of the stored rows; `count` elements. */
    /* Clock of each stored row, `count` elements; its meaning depends on the owner of the rows. */
    double *version;
    double *values; /* Values of the stored rows; count * columns elements. */
};

int hm__ps_rows_init(struct hm_ps_rows *rows, size_t table_rows, size_t columns);
void hm__ps_rows_release(struct hm_ps_rows *rows);
/* Returns the index at which a row is stored; HM_NONE if it is not stored. */
size_t hm__ps_rows_find(const struct hm_ps_rows *rows, size_t row);
/*
 * Allocates memory for `more` additional rows, so that the next `more` calls to hm__ps_rows_add
 * cannot fail. Returns HM_E_NOMEM if memory runs out.
 */
int hm__ps_rows_reserve(struct hm_ps_rows *rows, size_t more);
/* Adds a row that is not stored yet, with all values 0. Returns its index. */
size_t hm__ps_rows_add(struct hm_ps_rows *rows, size_t row);
void hm__ps_rows_clear(struct hm_ps_rows *rows);

#endif
