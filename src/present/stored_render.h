/* Renders stored runs as text, JSON and CSV; all functions append to `out`. */
#ifndef HM_STORED_RENDER_H
#define HM_STORED_RENDER_H

#include "memory.h"
#include "stored.h"
#include "text.h"

/*
 * Renders a table with the columns for which at least one run has a value. If `style` is NULL, the
 * default style is used.
 */
void hm__render_stored_table(struct hm_text *out, const struct hm_stored *runs, size_t count,
                             const struct hm_style *style);
/* Renders one run as text: a line for each known value, then its samples. */
void hm__render_stored(struct hm_text *out, const struct hm_stored *run);
/* Renders one run as a JSON object without a line break, with its samples if it has any. */
void hm__render_stored_json(struct hm_text *out, const struct hm_stored *run);

enum { HM_CSV_NAMES = 1000 };

/*
 * The columns of a table in CSV: those for which at least one run has a value, and the names of all
 * members of `more`. Zero-initialise it and add all runs.
 */
struct hm_csv_columns {
    bool in[HM_STORE_COLUMNS];
    const char *names[HM_CSV_NAMES]; /* As JSON strings without quotes. */
    size_t lengths[HM_CSV_NAMES], count;
};

/* Adds the columns of a run; the arena owns the names. */
int hm__csv_columns_add(struct hm_csv_columns *columns, struct hm_arena *arena,
                        const struct hm_stored *run, struct hm_err *err);
void hm__render_csv_header(struct hm_text *out, const struct hm_csv_columns *columns);
void hm__render_csv_row(struct hm_text *out, const struct hm_csv_columns *columns,
                        const struct hm_stored *run);
/*
 * Finds the next member of `more`, a flat JSON object; `at` points to its "{" or to the "," before
 * the member. Returns the end of the member, or NULL after the last one.
 */
const char *hm__stored_member(const char *at, const char **name, size_t *name_length,
                              const char **value, size_t *value_length);

#endif
