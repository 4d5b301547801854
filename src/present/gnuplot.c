/*
 * Renders plots as gnuplot scripts: the library writes the script, and a program passes it to
 * gnuplot. The data are part of the script, so that it can be kept and edited.
 */
#include <string.h>

#include "err.h"
#include "format.h"
#include "render.h"

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

int hm__gnuplot_output(struct hm_text *out, const char *file, double width, double height,
                       struct hm_err *err)
{
    /* gnuplot treats an output name that begins with "|" as a command to run. */
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

static void plot_curve_data(struct hm_text *out, const struct hm_answer *a)
{
    hm__text_add(out, "$unfit << EOD\n");
    for (size_t i = 0; i < a->point_count; i++)
        if (!a->points[i].fits)
            hm__text_addf(out, "%.17g %.17g\n", a->points[i].n, a->points[i].speedup);
    hm__text_add(out, "EOD\n$curve << EOD\n");
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_point *p = &a->points[i];
        double compute = p->compute_s < p->time_s ? p->compute_s : p->time_s;
        hm__text_addf(out, "%.17g %.17g %.17g %.17g %.17g %.17g\n", p->n, p->speedup, compute,
                      p->time_s, p->low_s, p->high_s);
    }
    hm__text_add(out, "EOD\n");
}

static void plot_marks_data(struct hm_text *out, const struct hm_answer *a)
{
    if (a->best < a->point_count)
        hm__text_addf(out, "$best << EOD\n%.17g %.17g\nEOD\n", a->points[a->best].n,
                      a->points[a->best].speedup);
    if (a->knee < a->point_count)
        hm__text_addf(out, "$knee << EOD\n%.17g %.17g\nEOD\n", a->points[a->knee].n,
                      a->points[a->knee].speedup);
    if (a->measured_count == 0)
        return;
    hm__text_add(out, "$measured << EOD\n");
    for (size_t i = 0; i < a->measured_count; i++)
        hm__text_addf(out, "%.17g %.17g\n", a->measured[i].n, a->measured[i].speedup);
    hm__text_add(out, "EOD\n");
}

static double lowest_speedup(const struct hm_answer *a)
{
    double lowest = a->points[0].speedup;

    for (size_t i = 1; i < a->point_count; i++)
        lowest = a->points[i].speedup < lowest ? a->points[i].speedup : lowest;
    return lowest;
}

static bool has_unfit(const struct hm_answer *a)
{
    for (size_t i = 0; i < a->point_count; i++)
        if (!a->points[i].fits)
            return true;
    return false;
}

static void plot_speedup(struct hm_text *out, const struct hm_answer *a, bool wide)
{
    char number[HM_SHOWN];

    hm__text_addf(out,
                  "set key %s\nset xlabel 'workers'\nset ylabel 'speedup over %.0f'\n"
                  "plot ",
                  wide ? "left top" : "right bottom", a->reference);
    if (wide)
        hm__text_addf(out,
                      "[][%.17g:%.17g] x/%.17g with lines dt 2 lc rgb '#999999' title 'ideal', ",
                      0.8 * lowest_speedup(a), 2 * a->points[a->point_count - 1].n / a->reference,
                      a->reference);
    hm__text_addf(out, "$curve using 1:2 with lines lw 2 lc rgb '#1f6fb4' title '%s'",
                  a->provenance ? a->provenance : "");
    if (has_unfit(a))
        hm__text_add(out, ", $unfit using 1:2 with points pt 7 ps 0.6 lc rgb '#aaaaaa' "
                          "title 'does not fit in memory'");
    if (a->measured_count)
        hm__text_add(out, ", $measured using 1:2 with points pt 2 ps 1.2 lw 2 lc rgb '#444444' "
                          "title 'measured'");
    if (a->knee < a->point_count && a->knee != a->best)
        hm__text_addf(out,
                      ", $knee using 1:2 with points pt 4 ps 1.6 lw 2 lc rgb '#2c8a3d' "
                      "title 'knee, %.0f'",
                      a->points[a->knee].n);
    if (a->best < a->point_count)
        hm__text_addf(out,
                      ", $best using 1:2 with points pt 13 ps 2 lc rgb '#c8381e' "
                      "title 'best, %.0f: %sx'",
                      a->points[a->best].n, hm__show_number(a->points[a->best].speedup, number));
    hm__text_add(out, "\n");
}

/*
 * Plots the seconds of computing and communicating as stacked areas or, if the range of n is wide,
 * as lines on logarithmic axes, where communication below a thousandth of the step is left out.
 */
static void plot_step(struct hm_text *out, const struct hm_answer *a, bool wide)
{
    bool band = a->point_count > 0 && a->points[0].low_s > 0;

    hm__text_add(out, "set ylabel 'seconds of an iteration'\nset key right top\n");
    if (wide) {
        hm__text_addf(out, "set logscale y 10\nset yrange [*:*]\nplot %s",
                      band ? "$curve using 1:5:6 with filledcurves lc rgb '#d5e4f1' title "
                             "'interval', "
                           : "");
        hm__text_add(out, "$curve using 1:4 with lines lw 2 lc rgb '#1f6fb4' title 'iteration', "
                          "$curve using 1:3 with lines dt 2 lw 2 lc rgb '#2c8a3d' title 'compute', "
                          "$curve using 1:($4-$3 > 0.001*$4 ? $4-$3 : NaN) with lines dt 2 lw 2 "
                          "lc rgb '#c8681e' title 'communicate'\n");
        return;
    }
    hm__text_add(out, "plot $curve using 1:4 with filledcurves y1=0 lc rgb '#e8a15b' "
                      "title 'communicate', $curve using 1:3 with filledcurves y1=0 "
                      "lc rgb '#4f8fc0' title 'compute'");
    if (band)
        hm__text_add(out, ", $curve using 1:5 with lines dt 2 lc rgb '#555555' title 'interval', "
                          "$curve using 1:6 with lines dt 2 lc rgb '#555555' notitle");
    hm__text_add(out, "\n");
}

/*
 * Writes the title of the picture: the job, the machine, and the time and cost of the best point.
 */
static void plot_title(struct hm_text *out, const struct hm_answer *a)
{
    const struct hm_point *best = a->best < a->point_count ? &a->points[a->best] : NULL;
    struct hm_text title = {0};
    char shown[HM_SHOWN];

    hm__text_add(&title, a->job ? a->job : "");
    if (a->machine)
        hm__text_addf(&title, "%s%s", title.length ? " on " : "", a->machine);
    if (best)
        hm__text_addf(&title, "%sbest %.0f: %s", title.length ? "; " : "", best->n,
                      hm__show_time(best->total_s, shown));
    if (best && best->cost > 0)
        hm__text_addf(&title, ", %s", hm__show_money(best->cost, shown));
    if (title.length && !title.failed) {
        hm__text_add(out, " title ");
        hm__gnuplot_quote(out, title.data);
        hm__text_add(out, " noenhanced");
    }
    hm__text_add(out, "\n");
    hm__text_release(&title);
}

int hm__render_gnuplot(struct hm_text *out, const struct hm_answer *a, const char *file,
                       struct hm_err *err)
{
    int rc = hm__gnuplot_output(out, file, 1000, 440, err);

    if (rc)
        return rc;
    plot_curve_data(out, a);
    plot_marks_data(out, a);
    hm__text_add(out, "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n");
    hm__text_add(out, "set yrange [0:*]\n");
    hm__text_addf(out, "set xrange [1:%.17g]\n",
                  a->point_count > 1 ? a->points[a->point_count - 1].n : 2);
    bool wide = a->point_count && a->points[a->point_count - 1].n >= 10 * a->points[0].n;
    if (wide)
        hm__text_add(out, "set logscale x 2\n");
    hm__text_add(out, "set multiplot layout 1,2");
    plot_title(out, a);
    if (wide)
        hm__text_add(out, "set logscale y 10\n");
    plot_speedup(out, a, wide);
    hm__text_add(out, "unset logscale y\n");
    plot_step(out, a, wide);
    hm__text_add(out, "unset multiplot\nunset output\n");
    return 0;
}
