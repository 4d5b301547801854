/* The parts of a study's page. */
#ifndef HM_STUDY_RENDER_H
#define HM_STUDY_RENDER_H

#include "advice_render.h"
#include "memory.h"

/* A page on its way. The arena is for what charts need while they are drawn. */
struct hm_page {
    struct hm_text *out;
    struct hm_arena *arena;
    size_t charts; /* drawn so far */
    bool failed;   /* out of memory */
};

/* <div><table><caption>…</caption><thead>…: columns "*name" hold numbers. Ends the list with NULL.
 */
void hm__table_begin(struct hm_text *out, const char *caption, const char *const *columns);
/* A new row, whose first cell is a heading. */
void hm__table_row(struct hm_text *out, const char *head);
void hm__table_text(struct hm_text *out, const char *text);
/* A cell on the right; empty where the text is. */
void hm__table_number(struct hm_text *out, const char *text);
void hm__table_row_end(struct hm_text *out);
void hm__table_end(struct hm_text *out);

/* Figures, each with its table unless that stands beside it; nothing where nothing can be drawn. */
void hm__chart_candidates(struct hm_page *page, const struct hm_advice *advice);
void hm__chart_iterations(struct hm_page *page, const struct hm_convergence *convergence,
                          size_t algorithm);
void hm__chart_times(struct hm_page *page, const struct hm_convergence *convergence,
                     const struct hm_advice *advice);
void hm__chart_checks(struct hm_page *page, const struct hm_study *study);

#endif
