/*
 * Stores rows of a data set. Arrays double in size when they are full, so adding rows takes linear
 * time in total. If an allocation fails, the rows stay unchanged.
 */
#include "rows.h"

#include <string.h>

#include "memory.h"

/* Allocates memory for the labels and, in sparse rows, the offsets of `more` additional rows. */
static bool reserve_rows(struct hm_rows *rows, size_t more)
{
    if (rows->labels && rows->count + more <= rows->row_room)
        return true;
    size_t room = more > 1 ? rows->count + more : rows->row_room ? 2 * rows->row_room : 64;
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

/* Allocates memory for `more` additional values and, in sparse rows, their columns. */
static bool reserve_values(struct hm_rows *rows, size_t used, size_t more)
{
    if (more > SIZE_MAX / 4 - used)
        return false;
    if (rows->values && used + more <= rows->value_room)
        return true;
    size_t room = rows->value_room ? rows->value_room : 256;
    while (rows->sparse && room < used + more)
        room *= 2;
    /*
     * If one row is added, the array of a dense block is doubled; if several rows are added
     * together, it grows by exactly that number.
     */
    if (!rows->sparse)
        room = used + (more > rows->features ? more : more + used);
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

double *hm__rows_add(struct hm_rows *rows, double label, size_t entries, uint32_t **ret_columns)
{
    size_t used = hm__rows_entries(rows), more = rows->sparse ? entries : rows->features;

    if (!reserve_rows(rows, 1) || !reserve_values(rows, used, more))
        return NULL;
    rows->labels[rows->count++] = label;
    if (rows->sparse) {
        rows->starts[rows->count] = used + more;
        *ret_columns = rows->columns + used;
    } else
        memset(rows->values + used, 0, more * sizeof(*rows->values));
    return rows->values + used;
}

bool hm__rows_reserve(struct hm_rows *rows, size_t count, size_t entries)
{
    size_t more = rows->sparse ? entries : count * rows->features;

    return reserve_rows(rows, count) && reserve_values(rows, hm__rows_entries(rows), more);
}

size_t hm__rows_entries(const struct hm_rows *rows)
{
    if (!rows->sparse)
        return rows->count * rows->features;
    return rows->starts ? rows->starts[rows->count] : 0;
}

double hm__rows_bytes(const struct hm_rows *rows)
{
    double entry = sizeof(*rows->values) + (rows->sparse ? sizeof(*rows->columns) : 0);
    double row = sizeof(*rows->labels) + (rows->sparse ? sizeof(*rows->starts) : 0);

    return entry * (double)hm__rows_entries(rows) + row * (double)rows->count;
}

void hm__rows_clear(struct hm_rows *rows)
{
    rows->count = 0;
}

void hm__rows_release(struct hm_rows *rows)
{
    hm__free(rows->values);
    hm__free(rows->starts);
    hm__free(rows->columns);
    hm__free(rows->labels);
    *rows = (struct hm_rows){.sparse = rows->sparse, .features = rows->features};
}

bool hm__rows_copy(struct hm_rows *rows, const struct hm_rows *from, size_t i)
{
    size_t at = from->sparse ? from->starts[i] : i * from->features;
    size_t entries = from->sparse ? from->starts[i + 1] - at : from->features;
    uint32_t *columns = NULL;
    double *values = hm__rows_add(rows, from->labels[i], entries, &columns);

    if (!values)
        return false;
    memcpy(values, from->values + at, entries * sizeof(*values));
    if (from->sparse && entries > 0)
        memcpy(columns, from->columns + at, entries * sizeof(*columns));
    return true;
}

bool hm__rows_reorder(struct hm_rows *rows, const uint32_t *place)
{
    struct hm_rows sorted = {.sparse = rows->sparse, .features = rows->features};
    uint32_t *row_at = hm__calloc(rows->count + 1, sizeof(*row_at));
    bool done = row_at && hm__rows_reserve(&sorted, rows->count, hm__rows_entries(rows));

    for (size_t i = 0; done && i < rows->count; i++)
        row_at[place[i]] = (uint32_t)i;
    for (size_t i = 0; done && i < rows->count; i++)
        done = hm__rows_copy(&sorted, rows, row_at[i]);
    hm__free(row_at);
    if (done) {
        struct hm_rows old = *rows;
        *rows = sorted;
        sorted = old;
    }
    hm__rows_release(&sorted);
    return done;
}
