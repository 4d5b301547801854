/*
 * Stores some rows of a table: copies of rows that a worker has read, or sums of its increments.
 * The rows are stored without gaps, in the order in which they were added.
 */
#ifndef HM_PS_ROWS_H
#define HM_PS_ROWS_H

#include "howmany_base.h"

struct hm_ps_rows {
    size_t columns;
    uint32_t *place; /* Position of each row of the table in the arrays below, plus 1; 0: the row is
                        absent. */
    size_t count, room;
    uint32_t *row;   /* Row numbers; length count. */
    double *version; /* A number of clocks for each row, which the owner of the rows sets; length
                        count. */
    double *values;  /* Values of the rows; length count * columns. */
};

int hm__ps_rows_init(struct hm_ps_rows *rows, size_t table_rows, size_t columns);
void hm__ps_rows_release(struct hm_ps_rows *rows);
/* Returns the position of a row, or HM_NONE. */
size_t hm__ps_rows_find(const struct hm_ps_rows *rows, size_t row);
/*
 * Make room for `more` rows, so that as many calls of hm__ps_rows_add succeed. Returns
 * HM_E_NOMEM without memory.
 */
int hm__ps_rows_reserve(struct hm_ps_rows *rows, size_t more);
/* Add a row, which must be absent, with values 0. Returns its position. */
size_t hm__ps_rows_add(struct hm_ps_rows *rows, size_t row);
void hm__ps_rows_clear(struct hm_ps_rows *rows);

#endif
