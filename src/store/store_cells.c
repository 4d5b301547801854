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

void hm__run_insert(struct hm_text *sql, const struct hm_sql *database, unsigned with, size_t count)
{
    const size_t cells = HM_RUN_CELLS + (with & HM_INSERT_IDS ? 1 : 0);

    hm__text_add(sql, database->insert);
    hm__text_add(sql, with & HM_INSERT_IDS ? " INTO runs (id, " : " INTO runs (");
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++)
        hm__text_addf(sql, "\"%s\", ", hm__store_columns[i].name);
    hm__text_add(sql, with & HM_INSERT_WAITING ? "sample_count, waiting) VALUES "
                                               : "sample_count) VALUES ");
    for (size_t k = 0; k < count; k++) {
        hm__text_add(sql, k ? ", (" : "(");
        for (size_t i = 1; i <= cells; i++)
            hm__text_addf(sql, i > 1 ? ", $%zu" : "$%zu", k * cells + i);
        hm__text_add(sql, with & HM_INSERT_WAITING ? ", 1)" : ")");
    }
}
