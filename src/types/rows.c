/*
 * Rows of a data set. Room doubles when it runs out, so that adding rows one by one takes time
 * linear in what they hold; a failed allocation leaves the rows as they were.
 */
#include "rows.h"

#include <string.h>

#include "memory.h"

/* Room for one more row: a label, and in sparse rows the place its entries end. */
static bool reserve_row(struct hm_rows *rows)
{
    if (rows->count < rows->row_room)
        return true;
    size_t room = rows->row_room ? 2 * rows->row_room : 64;
    double *labels = hm__realloc(rows->labels, room, sizeof(*labels));
    if (!labels)
        return false;
    rows->labels = labels;
    if (rows->sparse) {
        size_t *starts = hm__realloc(rows->starts, room + 1, sizeof(*starts));
        if (!starts)
            return false;
        if (!rows->starts)
            starts[0] = 0;
        rows->starts = starts;
    }
    rows->row_room = room;
    return true;
}

/* Room for that many more values, and in sparse rows their columns. */
static bool reserve_values(struct hm_rows *rows, size_t used, size_t more)
{
    if (more > SIZE_MAX / 4 - used)
        return false;
    if (rows->values && used + more <= rows->value_room)
        return true;
    size_t room = rows->value_room ? rows->value_room : 256;
    while (room < used + more)
        room *= 2;
    double *values = hm__realloc(rows->values, room, sizeof(*values));
    if (!values)
        return false;
    rows->values = values;
    if (rows->sparse) {
        uint32_t *columns = hm__realloc(rows->columns, room, sizeof(*columns));
        if (!columns)
            return false;
        rows->columns = columns;
    }
    rows->value_room = room;
    return true;
}

double *hm_rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns)
{
    size_t used = hm_rows_entries(rows), more = rows->sparse ? entries : rows->features;

    if (!reserve_row(rows) || !reserve_values(rows, used, more))
        return NULL;
    rows->labels[rows->count++] = label;
    if (rows->sparse) {
        rows->starts[rows->count] = used + more;
        *ret_columns = rows->columns + used;
    } else
        memset(rows->values + used, 0, more * sizeof(*rows->values));
    return rows->values + used;
}

size_t hm_rows_entries(const struct hm_rows *rows)
{
    if (!rows->sparse)
        return rows->count * rows->features;
    return rows->starts ? rows->starts[rows->count] : 0;
}

void hm_rows_clear(struct hm_rows *rows)
{
    rows->count = 0;
}

void hm_rows_release(struct hm_rows *rows)
{
    hm__free(rows->values);
    hm__free(rows->starts);
    hm__free(rows->columns);
    hm__free(rows->labels);
    *rows = (struct hm_rows){.sparse = rows->sparse, .features = rows->features};
}
