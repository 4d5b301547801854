/*
 * Defines the style that all gnuplot plots share: fonts, colours of the palette, frame, grid, axes,
 * and the legend, which is below the plot so that it covers no data.
 */
#ifndef HM_PLOT_STYLE_H
#define HM_PLOT_STYLE_H

#include <stdbool.h>

#include "howmany_base.h"
#include "text.h"

/*
 * Numbers of the gnuplot line types that hm__gnuplot_output defines; 1 to 8 have the colours of the
 * palette.
 */
enum {
    HM_PLOT_MODEL = 1, /* Line type for the predictions of a model or a fit. */
    HM_PLOT_COMMUNICATE = 2,
    HM_PLOT_COMPUTE = 3,
    HM_PLOT_KNEE = 4,
    HM_PLOT_MEASURED = 6,
    HM_PLOT_BEST = 8,
    /* Line type for the ideal line, and for numbers of workers that are impossible. */
    HM_PLOT_GREY = 9,
};
/* Fill style of a band that shows an interval; it is written after `with filledcurves`. */
#define HM_PLOT_BAND "fs transparent solid 0.18 noborder"

/*
 * Appends a string in single quotes for gnuplot: a quote inside is doubled, and control characters
 * are removed.
 */
void hm__gnuplot_quote(struct hm_text *out, const char *text);
/*
 * Appends the gnuplot commands that set the terminal, the output file and the common style. The
 * extension of the file selects the terminal; it must be .svg, .png or .pdf.
 */
int hm__gnuplot_output(struct hm_text *out, const char *file, double width, double height,
                       struct hm_err *err);

/*
 * Range of the positive values that were added with hm__span_add; both ends are 0 if there are
 * none.
 */
struct hm_plot_span {
    double low, high;
};
void hm__span_add(struct hm_plot_span *span, double value);
/* Returns whether the largest value of the range is at least ten times the smallest. */
bool hm__span_is_wide(const struct hm_plot_span *span);
/*
 * Appends the commands for a horizontal axis with numbers of workers. It is logarithmic if the
 * numbers span a decade, with ticks at powers of two and at the largest number; otherwise ticks are
 * whole numbers.
 */
void hm__gnuplot_workers(struct hm_text *out, const struct hm_plot_span *span);
/*
 * Appends the commands for a logarithmic axis, such as "y". Its ticks are plain numbers if all
 * values are between 1e-4 and 1e5, otherwise powers of ten.
 */
void hm__gnuplot_log(struct hm_text *out, const char *axis, const struct hm_plot_span *span);
/*
 * Appends the commands for a vertical axis. It is logarithmic if the values span a decade;
 * otherwise it is linear and begins at 0.
 */
void hm__gnuplot_values(struct hm_text *out, const struct hm_plot_span *span);

#endif
