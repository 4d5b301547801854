/*
 * Writes the sections of HTML reports, both for studies and for trainings that `howmany steer`
 * controls.
 */
#ifndef HM_STUDY_RENDER_H
#define HM_STUDY_RENDER_H

#include "advice_render.h"
#include "memory.h"

/* State of an HTML report that is being written. */
struct hm_page {
    struct hm_text *out;
    struct hm_arena *arena; /* Arena that owns the arrays of the charts. */
    size_t charts;          /* Number of charts written so far. */
    bool failed;            /* True if an allocation failed while the report was written. */
};

/*
 * Starts a report: adds the CSS rules that all reports share, and the title as a heading inside
 * <main>.
 */
void hm__report_head(struct hm_text *out, const char *title);
/*
 * Starts a table. The list `columns` ends with NULL; a name that begins with "*" marks a column of
 * numbers.
 */
void hm__table_begin(struct hm_text *out, const char *caption, const char *const *columns);
/* Starts a row of a table; its first cell is the heading `head`. */
void hm__table_row(struct hm_text *out, const char *head);
void hm__table_text(struct hm_text *out, const char *text);
/* Appends a right-aligned cell, as for numbers. */
void hm__table_number(struct hm_text *out, const char *text);
void hm__table_row_end(struct hm_text *out);
void hm__table_end(struct hm_text *out);

/* Each of the following functions adds a chart; if there is no point to draw, it adds nothing. */
void hm__chart_candidates(struct hm_page *page, const struct hm_advice *advice);
void hm__chart_iterations(struct hm_page *page, const struct hm_convergence *convergence,
                          size_t algorithm);
void hm__chart_times(struct hm_page *page, const struct hm_convergence *convergence,
                     const struct hm_advice *advice);
/*
 * Appends a chart of the time of an iteration in seconds against the number of workers. If `advice`
 * is not NULL, algorithms have the same colours as in the charts of the advice.
 */
void hm__chart_paces(struct hm_page *page, const struct hm_paces *paces,
                     const struct hm_advice *advice);
void hm__chart_checks(struct hm_page *page, const struct hm_study *study);

#endif
