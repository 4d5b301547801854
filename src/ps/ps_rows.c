/* Stores some rows of a table, and finds them by their row numbers. */
#include "ps_rows.h"

#include <string.h>

#include "memory.h"

int hm__ps_rows_init(struct hm_ps_rows *rows, size_t table_rows, size_t columns)
{
    *rows = (struct hm_ps_rows){.columns = columns};
    rows->place = hm__calloc(table_rows, sizeof(*rows->place));
    return rows->place ? 0 : HM_E_NOMEM;
}

void hm__ps_rows_release(struct hm_ps_rows *rows)
{
    hm__free(rows->place);
    hm__free(rows->row);
    hm__free(rows->version);
    hm__free(rows->values);
    *rows = (struct hm_ps_rows){0};
}

size_t hm__ps_rows_find(const struct hm_ps_rows *rows, size_t row)
{
    return rows->place[row] ? rows->place[row] - 1 : HM_NONE;
}

int hm__ps_rows_reserve(struct hm_ps_rows *rows, size_t more)
{
    size_t room = rows->room + rows->room / 2;

    if (rows->count + more <= rows->room)
        return 0;
    if (room < rows->count + more)
        room = rows->count + more;
    uint32_t *row = hm__realloc(rows->row, room, sizeof(*row));
    rows->row = row ? row : rows->row;
    double *version = hm__realloc(rows->version, room, sizeof(*version));
    rows->version = version ? version : rows->version;
    double *values = hm__realloc(rows->values, room, rows->columns * sizeof(*values));
    rows->values = values ? values : rows->values;
    if (!row || !version || !values)
        return HM_E_NOMEM;
    rows->room = room;
    return 0;
}

size_t hm__ps_rows_add(struct hm_ps_rows *rows, size_t row)
{
    size_t place = rows->count++;

    rows->row[place] = (uint32_t)row;
    rows->version[place] = 0;
    rows->place[row] = (uint32_t)place + 1;
    memset(rows->values + place * rows->columns, 0, rows->columns * sizeof(double));
    return place;
}

void hm__ps_rows_clear(struct hm_ps_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        rows->place[rows->row[i]] = 0;
    rows->count = 0;
}
