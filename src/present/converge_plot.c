/*
 * Renders g(i, m), the loss after i iterations on m workers, as a gnuplot script: P - P* (loss
 * minus optimal loss) on a logarithmic axis against iterations. Measured points are joined by thin
 * lines; fitted curves, if there are any, are thick lines with bands for their intervals.
 */
#include <math.h>

#include "converge_render.h"
#include "palette.h"
#include "plot_style.h"

/*
 * Returns the number of different numbers of workers in the plot of an algorithm that are smaller
 * than `m`. This rank selects the colour.
 */
static size_t plot_rank(const struct hm_g *g, const struct hm_plot_curve *curves, size_t count,
                        size_t algorithm, double m)
{
    size_t rank = 0;

    for (size_t k = 0; k < g->curve_count; k++) {
        bool again = false;
        for (size_t j = 0; j < k; j++)
            again = again || g->curves[j].m == g->curves[k].m;
        rank += !again && g->curves[k].m < m;
    }
    for (size_t k = 0; k < count; k++) {
        bool again = curves[k].algorithm != algorithm;
        for (size_t j = 0; j < g->curve_count; j++)
            again = again || g->curves[j].m == curves[k].m;
        rank += !again && curves[k].m < m;
    }
    return rank;
}

/*
 * Writes the measured points as gnuplot data blocks. Points whose loss is not above P* (the optimal
 * loss) are omitted, because a logarithmic axis cannot show them. Returns the number of points.
 */
static size_t plot_measured_data(struct hm_text *out, const struct hm_convergence *c,
                                 size_t algorithm)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    size_t shown = 0;

    for (size_t k = 0; k < g->curve_count; k++) {
        const struct hm_g_curve *curve = &g->curves[k];
        hm__text_addf(out, "$g%zu_%zu << EOD\n", algorithm, k);
        for (size_t i = 0; i < curve->count; i++) {
            if (!(curve->loss[i] > c->best))
                continue;
            hm__text_addf(out, "%.17g %.9g\n", curve->iteration[i], curve->loss[i] - c->best);
            shown++;
        }
        hm__text_add(out, "EOD\n");
    }
    return shown;
}

static void plot_fitted_data(struct hm_text *out, const struct hm_plot_curve *curves, size_t count,
                             size_t algorithm)
{
    for (size_t k = 0; k < count; k++) {
        const struct hm_plot_curve *p = &curves[k];
        if (p->algorithm != algorithm)
            continue;
        hm__text_addf(out, "$f%zu << EOD\n", k);
        for (size_t i = 0; i < p->count; i++)
            hm__text_addf(out, "%.9g %.9g %.9g %.9g\n", p->x[i], p->y[i],
                          p->low ? p->low[i] : p->y[i], p->high ? p->high[i] : p->y[i]);
        hm__text_add(out, "EOD\n");
    }
}

static bool plot_is_measured(const struct hm_g *g, double m, size_t before)
{
    for (size_t k = 0; k < before; k++)
        if (g->curves[k].m == m)
            return true;
    return false;
}

/*
 * Writes the elements of a gnuplot command `plot` that draw either the fitted curves or their
 * bands. Returns the number of elements.
 */
static size_t plot_fitted(struct hm_text *out, const struct hm_g *g,
                          const struct hm_plot_curve *curves, size_t count, size_t algorithm,
                          bool bands)
{
    size_t pieces = 0;

    for (size_t k = 0; k < count; k++) {
        const struct hm_plot_curve *p = &curves[k];
        if (p->algorithm != algorithm || p->count == 0 || (bands && (!p->low || !p->high)))
            continue;
        const char *colour = hm__palette(plot_rank(g, curves, count, algorithm, p->m));
        if (bands)
            hm__text_addf(out, "%s$f%zu using 1:3:4 with filledcurves %s lc rgb '%s' notitle",
                          pieces ? ", \\\n  " : "", k, HM_PLOT_BAND, colour);
        else {
            hm__text_addf(out, "%s$f%zu using 1:2 with lines lw 2 lc rgb '%s' ",
                          pieces ? ", \\\n  " : "", k, colour);
            if (plot_is_measured(g, p->m, g->curve_count))
                hm__text_add(out, "notitle");
            else
                hm__text_addf(out, "title 'm = %.0f, fit'", p->m);
        }
        pieces++;
    }
    return pieces;
}

static void plot_measured(struct hm_text *out, const struct hm_g *g,
                          const struct hm_plot_curve *curves, size_t count, size_t algorithm,
                          size_t pieces)
{
    static const int marks[] = {7, 5, 9, 13, 11, 2};

    for (size_t k = 0; k < g->curve_count; k++) {
        double m = g->curves[k].m;
        size_t rank = plot_rank(g, curves, count, algorithm, m);
        hm__text_addf(out,
                      "%s$g%zu_%zu using 1:2 with linespoints lw 0.7 pt %d ps 0.5 lc rgb '%s' ",
                      pieces++ ? ", \\\n  " : "", algorithm, k,
                      marks[rank % (sizeof(marks) / sizeof(marks[0]))], hm__palette(rank));
        if (plot_is_measured(g, m, k))
            hm__text_add(out, "notitle");
        else
            hm__text_addf(out, "title 'm = %.0f'", m);
    }
}

/*
 * Writes the commands for the axis with iterations. A linear axis has at most seven ticks, because
 * the panels are narrow; the ticks of a logarithmic axis are powers of ten.
 */
static void plot_iterations(struct hm_text *out, const struct hm_g *g,
                            const struct hm_plot_curve *curves, size_t count, size_t algorithm)
{
    bool is_log = g->form == HM_G_POWER || g->form == HM_G_INVERSE;
    double last = 1;

    for (size_t k = 0; k < g->curve_count; k++)
        for (size_t i = 0; i < g->curves[k].count; i++)
            last = fmax(last, g->curves[k].iteration[i]);
    for (size_t k = 0; k < count; k++)
        if (curves[k].algorithm == algorithm && curves[k].count)
            last = fmax(last, curves[k].x[curves[k].count - 1]);
    double power = pow(10, floor(log10(last / 6))), lead = last / 6 / power;
    double step = power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
    hm__text_addf(out, "unset logscale\nset logscale %s\nset xtics ", is_log ? "xy" : "y");
    if (is_log)
        hm__text_add(out, "auto\n");
    else
        hm__text_addf(out, "%.17g\n", fmax(1, step));
}

static void plot_panel(struct hm_text *out, const struct hm_convergence *c, size_t algorithm,
                       const struct hm_plot_curve *curves, size_t count)
{
    const struct hm_g *g = &c->algorithms[algorithm];
    size_t points = plot_measured_data(out, c, algorithm), pieces = 0, bands = 0;
    struct hm_text lines = {0};

    plot_fitted_data(out, curves, count, algorithm);
    hm__text_add(out, "set title ");
    hm__gnuplot_quote(out, *g->algorithm ? g->algorithm : "P - P*");
    hm__text_add(out, " noenhanced\n");
    pieces = plot_fitted(&lines, g, curves, count, algorithm, false);
    if (points == 0 && pieces == 0) {
        hm__text_add(out, "unset logscale\nset label 1 'no point lies above P*' at graph 0.5,0.5 "
                          "center\nplot [0:1][0:1] NaN notitle\nunset label 1\n");
        hm__text_release(&lines);
        return;
    }
    plot_iterations(out, g, curves, count, algorithm);
    hm__text_add(out, "plot ");
    bands = plot_fitted(out, g, curves, count, algorithm, true);
    if (pieces)
        hm__text_addf(out, "%s%s", bands ? ", \\\n  " : "", lines.data ? lines.data : "");
    plot_measured(out, g, curves, count, algorithm, pieces + bands);
    hm__text_add(out, "\n");
    out->failed = out->failed || lines.failed;
    hm__text_release(&lines);
}

int hm__convergence_plot(const struct hm_convergence *c, const struct hm_plot_curve *curves,
                         size_t count, const char *file, char **ret_script, struct hm_err *err)
{
    size_t columns = c->count < 2 ? 1 : c->count <= 4 ? 2 : 3;
    size_t rows = c->count ? (c->count + columns - 1) / columns : 1;
    struct hm_text out = {0};
    int rc = hm__gnuplot_output(&out, file, columns == 1 ? 760 : 500 * (double)columns,
                                columns == 1 ? 480 : 360 * (double)rows, err);

    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    hm__text_add(&out, "set key outside right top vertical samplen 1.5\n"
                       "set format y '10^{%L}'\n");
    hm__text_addf(&out, "set xlabel '%ss'\nset ylabel 'loss above the least, P - P*' noenhanced\n",
                  c->unit ? c->unit : "iteration");
    hm__text_addf(&out, "set multiplot layout %zu,%zu\n", rows, columns);
    for (size_t i = 0; i < c->count; i++)
        plot_panel(&out, c, i, curves, count);
    hm__text_add(&out, "unset multiplot\nunset output\n");
    return hm__text_take(&out, ret_script, err);
}
