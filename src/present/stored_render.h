/* Stored runs as text, JSON lines and CSV; all append to a text. */
#ifndef HM_STORED_RENDER_H
#define HM_STORED_RENDER_H

#include "howmany_store.h"
#include "text.h"

/* A table of the columns that the runs of a page have. */
void hm__render_stored_table(struct hm_text *out, const struct hm_stored *runs, size_t count,
                             const struct hm_style *style);
/* One run, a line for each thing that is known of it, and its samples. */
void hm__render_stored(struct hm_text *out, const struct hm_stored *run);
/* One run as a JSON object in one line, without the end of the line; samples if it has them. */
void hm__render_stored_json(struct hm_text *out, const struct hm_stored *run);
/* The CSV of runs; the header has the columns that some run has, of `more` as well. */
void hm__render_stored_csv(struct hm_text *out, const struct hm_stored *runs, size_t count);

#endif
