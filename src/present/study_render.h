/* The parts of the HTML report of a study. */
#ifndef HM_STUDY_RENDER_H
#define HM_STUDY_RENDER_H

#include "advice_render.h"
#include "memory.h"

/* A report that is being written. */
struct hm_page {
    struct hm_text *out;
    struct hm_arena *arena; /* Owns the arrays that charts need while they are drawn. */
    size_t charts;          /* Number of charts so far. */
    bool failed;            /* Memory ran out. */
};

/* Begin a table. `columns` ends with NULL; a name that begins with "*" is a column of numbers. */
void hm__table_begin(struct hm_text *out, const char *caption, const char *const *columns);
/* Begin a row; its first cell is a heading. */
void hm__table_row(struct hm_text *out, const char *head);
void hm__table_text(struct hm_text *out, const char *text);
/* A cell that is aligned to the right. */
void hm__table_number(struct hm_text *out, const char *text);
void hm__table_row_end(struct hm_text *out);
void hm__table_end(struct hm_text *out);

/* Figures with a table of their points. Each function adds nothing when there is no point to draw.
 */
void hm__chart_candidates(struct hm_page *page, const struct hm_advice *advice);
void hm__chart_iterations(struct hm_page *page, const struct hm_convergence *convergence,
                          size_t algorithm);
void hm__chart_times(struct hm_page *page, const struct hm_convergence *convergence,
                     const struct hm_advice *advice);
void hm__chart_checks(struct hm_page *page, const struct hm_study *study);

#endif
