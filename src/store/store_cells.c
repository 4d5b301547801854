/* Converts runs to the parameters of INSERT statements. */
#include "store_cells.h"

#include <stddef.h>

void hm__run_cells(const struct hm_stored *run, const char *now, struct hm_sql_value *cells)
{
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        const char *text = c->kind == HM_STORE_TEXT ? hm__stored_get_text(c, run) : NULL;
        if (!text && c->offset == offsetof(struct hm_stored, made_at))
            text = now;
        if (!text && c->offset == offsetof(struct hm_stored, status))
            text = "ok";
        cells[i - 1] = c->kind == HM_STORE_TEXT ? hm__sql_text(text)
                                                : hm__sql_real(hm__stored_get_number(c, run));
    }
    cells[HM_RUN_CELLS - 1] = hm__sql_integer((int64_t)run->sample_count);
}

void hm__run_cell_names(struct hm_text *sql)
{
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++)
        hm__text_addf(sql, "\"%s\", ", hm__store_columns[i].name);
    hm__text_add(sql, "sample_count");
}
