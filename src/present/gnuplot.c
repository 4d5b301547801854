/*
 * Renders plans as gnuplot scripts: the library writes the script, and a program passes it to
 * gnuplot. The script contains the data, so that users can keep and edit it as a single file.
 */
#include "format.h"
#include "plot_style.h"
#include "render.h"

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

/*
 * Writes a data block with a single point of the curve, where a mark will be drawn; writes nothing
 * if there is no such point.
 */
static void plot_mark_data(struct hm_text *out, const struct hm_answer *a, const char *name,
                           size_t at)
{
    if (at < a->point_count)
        hm__text_addf(out, "$%s << EOD\n%.17g %.17g\nEOD\n", name, a->points[at].n,
                      a->points[at].speedup);
}

static void plot_marks_data(struct hm_text *out, const struct hm_answer *a)
{
    plot_mark_data(out, a, "knee", a->knee);
    plot_mark_data(out, a, "best", a->best);
    plot_mark_data(out, a, "recommended", a->recommended);
    if (a->measured_count == 0)
        return;
    hm__text_add(out, "$measured << EOD\n");
    for (size_t i = 0; i < a->measured_count; i++)
        hm__text_addf(out, "%.17g %.17g\n", a->measured[i].n, a->measured[i].speedup);
    hm__text_add(out, "EOD\n");
}

/*
 * Returns whether the largest n is at least ten times the smallest, so that both axes are
 * logarithmic.
 */
static bool is_wide(const struct hm_answer *a)
{
    return a->point_count && a->points[a->point_count - 1].n >= 10 * a->points[0].n;
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

/*
 * Appends marks at the knee, the best point and the recommended point; if two of these are the same
 * point, it is marked once.
 */
static void plot_marks(struct hm_text *out, const struct hm_answer *a)
{
    char number[HM_SHOWN];

    if (a->knee < a->point_count && a->knee != a->best && a->knee != a->recommended)
        hm__text_addf(out, ", $knee using 1:2 with points pt 4 ps 1.6 lt %d title 'knee, %.0f'",
                      HM_PLOT_KNEE, a->points[a->knee].n);
    if (a->best < a->point_count && a->best != a->recommended)
        hm__text_addf(out,
                      ", $best using 1:2 with points pt 8 ps 1.6 lt %d title 'best, %.0f: %sx'",
                      HM_PLOT_BEST, a->points[a->best].n,
                      hm__show_number(a->points[a->best].speedup, number));
    if (a->recommended < a->point_count)
        hm__text_addf(out,
                      ", $recommended using 1:2 with points pt 13 ps 2 lt %d "
                      "title 'recommended, %.0f: %sx'",
                      HM_PLOT_BEST, a->points[a->recommended].n,
                      hm__show_number(a->points[a->recommended].speedup, number));
}

static void plot_speedup(struct hm_text *out, const struct hm_answer *a)
{
    hm__text_addf(out, "set ylabel 'speedup over %.0f'\nplot ", a->reference);
    if (is_wide(a))
        hm__text_addf(out, "[][%.17g:%.17g] x/%.17g with lines dt 2 lw 1 lt %d title 'ideal', ",
                      0.8 * lowest_speedup(a), 2 * a->points[a->point_count - 1].n / a->reference,
                      a->reference, HM_PLOT_GREY);
    hm__text_addf(out, "$curve using 1:2 with lines lt %d title '%s'", HM_PLOT_MODEL,
                  a->provenance ? a->provenance : "");
    if (has_unfit(a))
        hm__text_addf(out,
                      ", $unfit using 1:2 with points pt 7 ps 0.6 lt %d "
                      "title 'does not fit'",
                      HM_PLOT_GREY);
    if (a->measured_count)
        hm__text_addf(out, ", $measured using 1:2 with points pt 2 ps 1.2 lt %d title 'measured'",
                      HM_PLOT_MEASURED);
    plot_marks(out, a);
    hm__text_add(out, "\n");
}

/*
 * Plots the computation and communication times in seconds as stacked areas. If the range of n is
 * wide, plots them as lines on logarithmic axes, and omits communication that takes less than a
 * thousandth of the step.
 */
static void plot_step(struct hm_text *out, const struct hm_answer *a)
{
    bool band = a->point_count > 0 && a->points[0].low_s > 0;
    struct hm_plot_span seconds = {0};

    hm__text_add(out, "set ylabel 'seconds of an iteration'\n");
    for (size_t i = 0; i < a->point_count; i++)
        hm__span_add(&seconds, a->points[i].time_s);
    if (is_wide(a)) {
        hm__gnuplot_log(out, "y", &seconds);
        hm__text_add(out, "set yrange [*:*]\nplot ");
        if (band)
            hm__text_addf(out, "$curve using 1:5:6 with filledcurves %s lt %d title 'interval', ",
                          HM_PLOT_BAND, HM_PLOT_MODEL);
        hm__text_addf(out,
                      "$curve using 1:4 with lines lt %d title 'iteration', "
                      "$curve using 1:3 with lines dt 2 lt %d title 'compute', "
                      "$curve using 1:($4-$3 > 0.001*$4 ? $4-$3 : NaN) with lines dt 4 lt %d "
                      "title 'communicate'\n",
                      HM_PLOT_MODEL, HM_PLOT_COMPUTE, HM_PLOT_COMMUNICATE);
        return;
    }
    hm__text_addf(out,
                  "plot $curve using 1:4 with filledcurves y1=0 fs solid 0.6 lt %d "
                  "title 'communicate', $curve using 1:3 with filledcurves y1=0 fs solid 1 lt %d "
                  "title 'compute'",
                  HM_PLOT_COMMUNICATE, HM_PLOT_COMPUTE);
    if (band)
        hm__text_addf(out,
                      ", $curve using 1:5 with lines dt 2 lw 1.5 lt %d title 'interval', "
                      "$curve using 1:6 with lines dt 2 lw 1.5 lt %d notitle",
                      HM_PLOT_MEASURED, HM_PLOT_MEASURED);
    hm__text_add(out, "\n");
}

/*
 * Writes the title of the plot: the job, the machine, and the recommended number of workers with
 * its time and cost.
 */
static void plot_title(struct hm_text *out, const struct hm_answer *a)
{
    const struct hm_point *used =
        a->recommended < a->point_count ? &a->points[a->recommended] : NULL;
    struct hm_text title = {0};
    char shown[HM_SHOWN];

    hm__text_add(&title, a->job ? a->job : "");
    if (a->machine)
        hm__text_addf(&title, "%s%s", title.length ? " on " : "", a->machine);
    if (used)
        hm__text_addf(&title, "%suse %.0f worker%s: %s", title.length ? "; " : "", used->n,
                      used->n == 1 ? "" : "s", hm__show_time(used->total_s, shown));
    if (used && used->cost > 0)
        hm__text_addf(&title, ", %s", hm__show_money(used->cost, shown));
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
    struct hm_plot_span workers = {0}, speedups = {0};
    int rc = hm__gnuplot_output(out, file, 1000, 460, err);

    if (rc)
        return rc;
    plot_curve_data(out, a);
    plot_marks_data(out, a);
    for (size_t i = 0; i < a->point_count; i++) {
        hm__span_add(&workers, a->points[i].n);
        hm__span_add(&speedups, a->points[i].speedup);
    }
    hm__gnuplot_workers(out, &workers);
    hm__text_add(out, "set key maxcols 2\nset yrange [0:*]\nset multiplot layout 1,2");
    plot_title(out, a);
    if (is_wide(a))
        hm__gnuplot_log(out, "y", &speedups);
    plot_speedup(out, a);
    hm__text_add(out, "unset logscale y\nset format y '%h'\n");
    plot_step(out, a);
    hm__text_add(out, "unset multiplot\nunset output\n");
    return 0;
}
