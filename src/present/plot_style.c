/* Defines the style that all gnuplot plots share. */
#include "plot_style.h"

#include <math.h>

#include "err.h"
#include "palette.h"

void hm__gnuplot_quote(struct hm_text *out, const char *text)
{
    hm__text_add(out, "'");
    for (; *text; text++) {
        if (*text == '\'')
            hm__text_add(out, "''");
        else if ((unsigned char)*text >= 0x20)
            hm__text_add_n(out, text, 1);
    }
    hm__text_add(out, "'");
}

static int add_terminal(struct hm_text *out, const char *file, double width, double height,
                        struct hm_err *err)
{
    /*
     * gnuplot would run an output name that begins with "|" as a command, so such names are
     * rejected.
     */
    if (file && file[0] == '|') {
        hm__fail(err, HM_E_UNSUPPORTED, "'%.80s' is not the name of a file", file);
        return HM_E_UNSUPPORTED;
    }
    if (file && hm__text_ends(file, ".svg"))
        hm__text_addf(out, "set terminal svg size %g,%g font 'sans,13' background '#ffffff'\n",
                      width, height);
    else if (file && hm__text_ends(file, ".png"))
        hm__text_addf(out, "set terminal pngcairo size %g,%g font 'sans,11'\n", width, height);
    else if (file && hm__text_ends(file, ".pdf"))
        hm__text_addf(out, "set terminal pdfcairo size %gcm,%gcm font 'sans,11'\n", width / 40,
                      height / 40);
    else {
        hm__fail(err, HM_E_UNSUPPORTED, "'%.80s' is not the name of a plot file", file ? file : "");
        hm__err_hint(err, "the name must end in .svg, .png or .pdf");
        return HM_E_UNSUPPORTED;
    }
    hm__text_add(out, "set output ");
    hm__gnuplot_quote(out, file);
    hm__text_add(out, "\n");
    return 0;
}

int hm__gnuplot_output(struct hm_text *out, const char *file, double width, double height,
                       struct hm_err *err)
{
    /*
     * Curves also differ in the shapes of their points, so that no information depends on colour
     * alone.
     */
    static const int marks[HM_PALETTE_SIZE] = {7, 5, 9, 13, 11, 2, 6, 4};
    int rc = add_terminal(out, file, width, height, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < HM_PALETTE_SIZE; i++)
        hm__text_addf(out, "set linetype %zu lc rgb '%s' lw 2 pt %d\n", i + 1, hm__palette(i),
                      marks[i]);
    hm__text_addf(out,
                  "set linetype %d lc rgb '#999999' lw 2 pt 7\n"
                  "set border 3 lc rgb '#444444' lw 1\nset tics nomirror out\n"
                  "set grid lc rgb '#dddddd' lt 1 lw 1\nset format '%%h'\n"
                  "set key bottom outside center horizontal samplen 3 height 0.8 maxcols 4\n",
                  HM_PLOT_GREY);
    return 0;
}

void hm__span_add(struct hm_plot_span *span, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    span->low = span->low > 0 && span->low < value ? span->low : value;
    span->high = span->high > value ? span->high : value;
}

bool hm__span_is_wide(const struct hm_plot_span *span)
{
    return span->low > 0 && span->high >= 10 * span->low;
}

/*
 * Appends at most nine ticks at powers of two, and one at the largest number. A power of two is
 * omitted if its label would touch the label of the largest number.
 */
static void add_powers(struct hm_text *out, const struct hm_plot_span *span)
{
    double near = pow(span->high / span->low, 0.09);
    double step = 2, last = exp2(ceil(log2(span->low)));

    while (log2(span->high / span->low) / log2(step) > 8)
        step *= 2;
    hm__text_addf(out, "set xtics (%.0f", last);
    while (last * step * near < span->high || last * step == span->high)
        hm__text_addf(out, ",%.0f", last *= step);
    if (span->high > last)
        hm__text_addf(out, ",%.0f", span->high);
    hm__text_add(out, ")\n");
}

void hm__gnuplot_workers(struct hm_text *out, const struct hm_plot_span *span)
{
    double width = span->high - span->low;

    hm__text_add(out, "set xlabel 'workers'\n");
    if (!(span->high > 0))
        return;
    /*
     * The axis is a little longer than the range of the numbers, so that no point touches the
     * frame.
     */
    if (hm__span_is_wide(span)) {
        hm__text_addf(out, "set logscale x 2\nset xrange [%.17g:%.17g]\n",
                      span->low / pow(span->high / span->low, 0.02),
                      span->high * pow(span->high / span->low, 0.02));
        add_powers(out, span);
    } else
        hm__text_addf(out, "set xtics %.0f\nset xrange [%.17g:%.17g]\n", fmax(1, round(width / 8)),
                      span->low - 0.04 * width - (width > 0 ? 0 : 0.5),
                      span->high + 0.04 * width + (width > 0 ? 0 : 0.5));
}

void hm__gnuplot_log(struct hm_text *out, const char *axis, const struct hm_plot_span *span)
{
    bool is_short = span->low >= 1e-4 && span->high < 1e5;

    hm__text_addf(out, "set logscale %s 10\nset format %s '%s'\n", axis, axis,
                  is_short ? "%g" : "10^{%L}");
}

void hm__gnuplot_values(struct hm_text *out, const struct hm_plot_span *span)
{
    if (hm__span_is_wide(span))
        hm__gnuplot_log(out, "y", span);
    else
        hm__text_add(out, "set yrange [0:*]\n");
}
