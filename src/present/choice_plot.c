/*
 * Renders choices as gnuplot scripts: the time of each number of workers of a recommendation, the
 * time or loss of each algorithm and number of workers of an advice, and the runs of a design with
 * the value of its criterion after each run. Intervals are drawn as bars. An axis is logarithmic if
 * its values span a factor of ten.
 */
#include "choice_plot.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "render.h"

static const char *const plot_colours[] = {"#1f6fb4", "#c8381e", "#2c8a3d",
                                           "#7a3e9d", "#8a6d1f", "#444444"};
enum { PLOT_COLOURS = sizeof(plot_colours) / sizeof(plot_colours[0]) };

/* The smallest and largest of the values above 0 that were added. */
struct plot_span {
    double low, high;
};

static void span_add(struct plot_span *span, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    span->low = span->low > 0 && span->low < value ? span->low : value;
    span->high = span->high > value ? span->high : value;
}

static bool spans_decade(const struct plot_span *span)
{
    return span->low > 0 && span->high >= 10 * span->low;
}

/* Begins a plot: output, frame, labels of both axes, and logarithmic axes. */
static int plot_begin(struct hm_text *out, const char *file, const struct plot_span *x,
                      const struct plot_span *y, const char *y_label, struct hm_err *err)
{
    int rc = hm__gnuplot_output(out, file, 800, 480, err);

    if (rc)
        return rc;
    hm__text_addf(out,
                  "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
                  "set xlabel 'workers'\nset ylabel '%s'\nset key above\n",
                  y_label);
    if (spans_decade(x))
        hm__text_add(out, "set logscale x 2\n");
    if (spans_decade(y))
        hm__text_add(out, "set logscale y 10\n");
    else
        hm__text_add(out, "set yrange [0:*]\n");
    /* A margin of a tenth at both ends keeps points off the frame. */
    if (spans_decade(x))
        hm__text_addf(out, "set xrange [%.17g:%.17g]\n", x->low / 1.25, x->high * 1.25);
    else if (x->high > 0)
        hm__text_addf(out, "set xtics 1\nset xrange [%.17g:%.17g]\n",
                      x->low - 0.1 * (x->high - x->low) - 0.2,
                      x->high + 0.1 * (x->high - x->low) + 0.2);
    return 0;
}

/* Adds a row "x value low high"; an unknown end of the interval is replaced by the value. */
static void plot_row(struct hm_text *out, double x, double value, double low, double high)
{
    hm__text_addf(out, "%.17g %.17g %.17g %.17g\n", x, value, low > 0 ? low : value,
                  high > 0 ? high : value);
}

/* ---- recommendations --------------------------------------------------------------------------
 */

int hm__plot_recommendation(struct hm_text *out, const struct hm_recommendation *r,
                            const char *file, struct hm_err *err)
{
    struct plot_span x = {0}, y = {0};
    char shown[HM_SHOWN];

    for (size_t i = 0; i < r->candidate_count; i++) {
        span_add(&x, r->candidates[i].n);
        span_add(&y, r->candidates[i].time_s);
    }
    int rc = plot_begin(out, file, &x, &y, "seconds", err);
    if (rc)
        return rc;
    hm__text_add(out, "$time << EOD\n");
    for (size_t i = 0; i < r->candidate_count; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        if (c->time_s > 0 && !c->failed)
            plot_row(out, c->n, c->time_s, c->low_s, c->high_s);
    }
    hm__text_add(out, "EOD\n");
    if (r->recommended < r->candidate_count) {
        const struct hm_recommended *b = &r->candidates[r->recommended];
        hm__text_addf(out,
                      "$best << EOD\n%.17g %.17g\nEOD\nset title 'use %.0f worker%s: %s' "
                      "noenhanced\n",
                      b->n, b->time_s, b->n, b->n == 1 ? "" : "s", hm__show_time(b->time_s, shown));
    }
    hm__text_addf(out,
                  "plot $time using 1:2:3:4 with yerrorbars pt 7 lw 1.5 lc rgb '%s' "
                  "title 'time, %g %% interval'",
                  plot_colours[0], 100 * r->level);
    if (r->recommended < r->candidate_count)
        hm__text_addf(out,
                      ", $best using 1:2 with points pt 6 ps 2.4 lw 2.5 lc rgb '%s' "
                      "title 'recommended'",
                      plot_colours[1]);
    hm__text_add(out, "\nunset output\n");
    return 0;
}

/* ---- advice -----------------------------------------------------------------------------------
 */

/* Whether an algorithm appears among the candidates before index `end`. */
static bool is_repeated(const struct hm_advice *a, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (strcmp(a->candidates[i].algorithm, a->candidates[end].algorithm) == 0)
            return true;
    return false;
}

/* The value that candidates are compared by: the time or the cost to the loss, or the loss that is
 * reached; with its interval. */
struct candidate_figure {
    double value, low, high;
};

static struct candidate_figure candidate_value(const struct hm_advice *a,
                                               const struct hm_candidate *c)
{
    if (isnan(a->loss))
        return (struct candidate_figure){c->loss, c->loss_low, c->loss_high};
    if (a->goal == HM_GOAL_COST)
        return (struct candidate_figure){c->cost, c->cost_low, c->cost_high};
    return (struct candidate_figure){c->time_s, c->low_s, c->high_s};
}

/*
 * Writes a data block for each algorithm, with rows in increasing order of workers. Returns the
 * number of data blocks.
 */
static size_t advice_data(struct hm_text *out, const struct hm_advice *a)
{
    size_t blocks = 0;

    for (size_t k = 0; k < a->candidate_count; k++) {
        if (is_repeated(a, k))
            continue;
        hm__text_addf(out, "$algorithm%zu << EOD\n", blocks++);
        for (double last = 0;;) {
            const struct hm_candidate *next = NULL;
            for (size_t i = k; i < a->candidate_count; i++) {
                const struct hm_candidate *c = &a->candidates[i];
                if (strcmp(c->algorithm, a->candidates[k].algorithm) == 0 && c->m > last &&
                    (!next || c->m < next->m))
                    next = c;
            }
            if (!next)
                break;
            struct candidate_figure v = candidate_value(a, next);
            if (v.value > 0 && isfinite(v.value))
                plot_row(out, next->m, v.value, v.low, isfinite(v.high) ? v.high : v.value);
            last = next->m;
        }
        hm__text_add(out, "EOD\n");
    }
    return blocks;
}

static void advice_title(struct hm_text *out, const struct hm_advice *a)
{
    struct hm_text title = {0};
    char shown[HM_SHOWN];
    const struct hm_candidate *best = &a->candidates[0];

    hm__text_addf(&title, "use %s on %.0f worker%s: %s", best->algorithm, best->m,
                  best->m == 1 ? "" : "s", hm__show_time(best->time_s, shown));
    hm__text_add(out, "set title ");
    hm__gnuplot_quote(out, title.data ? title.data : "");
    hm__text_add(out, " noenhanced\n");
    hm__text_release(&title);
}

int hm__plot_advice(struct hm_text *out, const struct hm_advice *a, const char *file,
                    struct hm_err *err)
{
    struct plot_span x = {0}, y = {0};

    for (size_t i = 0; i < a->candidate_count; i++) {
        span_add(&x, a->candidates[i].m);
        span_add(&y, candidate_value(a, &a->candidates[i]).value);
    }
    int rc = plot_begin(out, file, &x, &y,
                        isnan(a->loss)            ? "loss above the least possible"
                        : a->goal == HM_GOAL_COST ? "cost to reach the loss"
                                                  : "seconds to reach the loss",
                        err);
    if (rc)
        return rc;
    size_t blocks = advice_data(out, a), block = 0;
    if (blocks == 0)
        return hm__fail(err, HM_E_MISSING, "there is no candidate to plot");
    if (a->feasible)
        advice_title(out, a);
    hm__text_add(out, "plot ");
    for (size_t k = 0; k < a->candidate_count; k++) {
        if (is_repeated(a, k))
            continue;
        hm__text_addf(out,
                      "%s$algorithm%zu using 1:2:3:4 with yerrorlines pt 7 lw 1.5 lc rgb '%s' "
                      "title ",
                      block ? ", " : "", block, plot_colours[block % PLOT_COLOURS]);
        hm__gnuplot_quote(out, *a->candidates[k].algorithm ? a->candidates[k].algorithm : "runs");
        hm__text_add(out, " noenhanced");
        block++;
    }
    if (a->feasible)
        hm__text_addf(out,
                      ", '-' using 1:2 with points pt 6 ps 2.4 lw 2.5 lc rgb '#222222' title "
                      "'best'\n%.17g %.17g\ne",
                      a->candidates[0].m, candidate_value(a, &a->candidates[0]).value);
    hm__text_add(out, "\nunset output\n");
    return 0;
}

/* ---- designs ----------------------------------------------------------------------------------
 */

int hm__plot_design(struct hm_text *out, const struct hm_design *d, const char *file,
                    struct hm_err *err)
{
    int rc = hm__gnuplot_output(out, file, 800, 480, err);

    if (rc)
        return rc;
    hm__text_add(out, "$runs << EOD\n");
    for (size_t i = 0; i < d->made_count; i++) {
        const struct hm_chosen *c = &d->chosen[i];
        hm__text_addf(out, "%zu \"n = %.0f", i + 1, c->n);
        if (c->size > 0)
            hm__text_addf(out, ", size %.3g", c->size);
        hm__text_addf(out, "\" %.17g\n", c->cost);
    }
    hm__text_add(out, "EOD\n$known << EOD\n");
    size_t known = 0;
    for (size_t i = 0; i < d->made_count; i++)
        if (isfinite(d->chosen[i].after) && d->chosen[i].after > 0) {
            hm__text_addf(out, "%zu %.17g\n", i + 1, d->chosen[i].after);
            known++;
        }
    hm__text_addf(out,
                  "EOD\nset border 11\nset tics nomirror out\nset grid y lc rgb '#dddddd' lt 1\n"
                  "set key above\nset boxwidth 0.7\nset style fill solid\n"
                  "set xrange [0.4:%zu.6]\nset yrange [0:*]\nset ylabel 'cost of the run'\n"
                  "set xtics rotate by -35\n"
                  "set title '%zu runs, most useful first' noenhanced\n",
                  d->made_count ? d->made_count : (size_t)1, d->made_count);
    if (known)
        hm__text_add(out, "set y2label 'variance after the run'\nset y2tics\nset logscale y2 10\n"
                          "set format y2 '%g'\n");
    hm__text_addf(out, "plot $runs using 1:3:xtic(2) with boxes lc rgb '#a9c8e2' title 'cost'");
    if (known)
        hm__text_addf(out,
                      ", $known using 1:2 axes x1y2 with linespoints pt 7 lw 2 lc rgb '%s' "
                      "title 'variance that is left'",
                      plot_colours[1]);
    hm__text_add(out, "\nunset output\n");
    return 0;
}
