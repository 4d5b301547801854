/*
 * Renders three kinds of answers as gnuplot scripts. A recommendation shows the time for each
 * number of workers. Advice shows the time or the loss for each algorithm and number of workers. A
 * design shows its runs, and the value of its criterion after each run. Intervals are drawn as
 * bands, with bars at the points.
 */
#include "choice_plot.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "plot_style.h"

/*
 * Starts a plot: sets the output file, the ranges of both axes, and the label of the vertical axis.
 */
static int plot_begin(struct hm_text *out, const char *file, const struct hm_plot_span *x,
                      const struct hm_plot_span *y, const char *y_label, struct hm_err *err)
{
    int rc = hm__gnuplot_output(out, file, 800, 500, err);

    if (rc)
        return rc;
    hm__gnuplot_workers(out, x);
    hm__gnuplot_values(out, y);
    hm__text_addf(out, "set ylabel '%s'\n", y_label);
    return 0;
}

/* Appends a data row "x value low high"; an unknown end of the interval is replaced by `value`. */
static void plot_row(struct hm_text *out, double x, double value, double low, double high)
{
    hm__text_addf(out, "%.17g %.17g %.17g %.17g\n", x, value, low > 0 ? low : value,
                  high > 0 ? high : value);
}

/* ---- recommendations --------------------------------------------------------------------------
 */

/* Appends a mark at the recommended point, and the title with its number of workers, time and cost.
 */
static void recommended_data(struct hm_text *out, const struct hm_recommended *b)
{
    char shown[HM_SHOWN];

    hm__text_addf(out, "$best << EOD\n%.17g %.17g\nEOD\nset title 'use %.0f worker%s: %s", b->n,
                  b->time_s, b->n, b->n == 1 ? "" : "s", hm__show_time(b->time_s, shown));
    if (b->cost > 0)
        hm__text_addf(out, ", %s", hm__show_money(b->cost, shown));
    hm__text_add(out, "' noenhanced\n");
}

/* Appends a grey vertical line for each number of workers whose runs failed. Returns the number of
 * lines. */
static size_t failed_lines(struct hm_text *out, const struct hm_recommendation *r)
{
    size_t count = 0;

    for (size_t i = 0; i < r->candidate_count; i++)
        if (r->candidates[i].failed) {
            hm__text_addf(out, "set arrow from %.17g,graph 0 to %.17g,graph 1 nohead dt 2 lt %d\n",
                          r->candidates[i].n, r->candidates[i].n, HM_PLOT_GREY);
            count++;
        }
    return count;
}

int hm__plot_recommendation(struct hm_text *out, const struct hm_recommendation *r,
                            const char *file, struct hm_err *err)
{
    struct hm_plot_span x = {0}, y = {0};

    for (size_t i = 0; i < r->candidate_count; i++) {
        hm__span_add(&x, r->candidates[i].n);
        hm__span_add(&y, r->candidates[i].time_s);
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
    if (r->recommended < r->candidate_count)
        recommended_data(out, &r->candidates[r->recommended]);
    size_t failed = failed_lines(out, r);
    hm__text_addf(out,
                  "plot $time using 1:3:4 with filledcurves %s lt %d notitle, "
                  "$time using 1:2:3:4 with yerrorlines lw 1.5 lt %d title 'time, %g %% interval'",
                  HM_PLOT_BAND, HM_PLOT_MODEL, HM_PLOT_MODEL, 100 * r->level);
    if (r->recommended < r->candidate_count)
        hm__text_addf(out, ", $best using 1:2 with points pt 6 ps 2.4 lt %d title 'recommended'",
                      HM_PLOT_BEST);
    if (failed)
        hm__text_addf(out, ", NaN with lines dt 2 lt %d title 'failed'", HM_PLOT_GREY);
    hm__text_add(out, "\nunset output\n");
    return 0;
}

/* ---- advice -----------------------------------------------------------------------------------
 */

/* Returns whether a candidate with an index below `end` has this algorithm. */
static bool is_repeated(const struct hm_advice *a, size_t end)
{
    for (size_t i = 0; i < end; i++)
        if (strcmp(a->candidates[i].algorithm, a->candidates[end].algorithm) == 0)
            return true;
    return false;
}

/*
 * The value by which candidates are compared, with its interval: the time or the cost to reach the
 * target loss, or the loss that is reached within the limits.
 */
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
 * Writes a data block for each algorithm, with rows in ascending order of the number of workers.
 * Returns the number of data blocks.
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
    if (best->cost > 0)
        hm__text_addf(&title, ", %s", hm__show_money(best->cost, shown));
    hm__text_add(out, "set title ");
    hm__gnuplot_quote(out, title.data ? title.data : "");
    hm__text_add(out, " noenhanced\n");
    hm__text_release(&title);
}

int hm__plot_advice(struct hm_text *out, const struct hm_advice *a, const char *file,
                    struct hm_err *err)
{
    struct hm_plot_span x = {0}, y = {0};

    for (size_t i = 0; i < a->candidate_count; i++) {
        hm__span_add(&x, a->candidates[i].m);
        hm__span_add(&y, candidate_value(a, &a->candidates[i]).value);
    }
    int rc = plot_begin(out, file, &x, &y,
                        isnan(a->loss)            ? "loss above the least, P - P*"
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
        /*
         * The line type that marks the best point is skipped, so that no algorithm has its colour.
         */
        size_t type = block % (HM_PLOT_BEST - 1) + 1;
        hm__text_addf(out,
                      "%s$algorithm%zu using 1:3:4 with filledcurves %s lt %zu notitle, "
                      "$algorithm%zu using 1:2:3:4 with yerrorlines lw 1.5 lt %zu title ",
                      block ? ", " : "", block, HM_PLOT_BAND, type, block, type);
        hm__gnuplot_quote(out, *a->candidates[k].algorithm ? a->candidates[k].algorithm : "runs");
        hm__text_add(out, " noenhanced");
        block++;
    }
    if (a->feasible)
        hm__text_addf(out,
                      ", '-' using 1:2 with points pt 6 ps 2.4 lt %d title 'best'\n"
                      "%.17g %.17g\ne",
                      HM_PLOT_BEST, a->candidates[0].m,
                      candidate_value(a, &a->candidates[0]).value);
    hm__text_add(out, "\nunset output\n");
    return 0;
}

/* ---- designs ----------------------------------------------------------------------------------
 */

/*
 * Appends the runs as rows "place label cost", and the value of the design's criterion after each
 * run as rows "place variance". Returns the number of rows with a variance; sets `variance` to
 * their smallest and largest value.
 */
static size_t design_data(struct hm_text *out, const struct hm_design *d, bool sizes,
                          struct hm_plot_span *variance)
{
    size_t known = 0;

    hm__text_add(out, "$runs << EOD\n");
    for (size_t i = 0; i < d->made_count; i++) {
        const struct hm_chosen *c = &d->chosen[i];
        hm__text_addf(out, "%zu \"%.0f", i + 1, c->n);
        if (sizes)
            hm__text_addf(out, "\\n%.3g", c->size);
        hm__text_addf(out, "\" %.17g\n", c->cost);
    }
    hm__text_add(out, "EOD\n$known << EOD\n");
    for (size_t i = 0; i < d->made_count; i++)
        if (isfinite(d->chosen[i].after) && d->chosen[i].after > 0) {
            hm__text_addf(out, "%zu %.17g\n", i + 1, d->chosen[i].after);
            hm__span_add(variance, d->chosen[i].after);
            known++;
        }
    hm__text_add(out, "EOD\n");
    return known;
}

/*
 * Appends the rest of the title, with the number of runs, their machine time and their cost, and
 * ends its line.
 */
static void design_title(struct hm_text *out, const struct hm_design *d)
{
    char shown[HM_SHOWN];

    hm__text_addf(out, "%zu run%s, most useful first", d->made_count,
                  d->made_count == 1 ? "" : "s");
    if (d->seconds >= 0)
        hm__text_addf(out, ": %s of machine time", hm__show_time(d->seconds, shown));
    if (d->money > 0)
        hm__text_addf(out, ", %s", hm__show_money(d->money, shown));
    hm__text_add(out, "' noenhanced\n");
}

int hm__plot_design(struct hm_text *out, const struct hm_design *d, const char *file,
                    struct hm_err *err)
{
    struct hm_plot_span variance = {0};
    bool sizes = d->made_count > 0 && d->chosen[0].size > 0;
    int rc = hm__gnuplot_output(out, file, 800, 500, err);

    if (rc)
        return rc;
    size_t known = design_data(out, d, sizes, &variance);
    hm__text_addf(out,
                  "set boxwidth 0.7\nset style fill solid 0.5 noborder\n"
                  "set xrange [0.4:%zu.6]\nset yrange [0:*]\nset ylabel 'cost of the run'\n"
                  "set xlabel 'n of the run%s\n"
                  "set title '",
                  d->made_count ? d->made_count : (size_t)1,
                  sizes ? ", and its size below' offset 0,-1" : "'");
    design_title(out, d);
    if (known > 1)
        hm__text_addf(out, "set border 11\nset y2label 'variance after the run'\nset y2tics\n%s",
                      hm__span_is_wide(&variance) ? "set logscale y2 10\nset format y2 '%g'\n"
                                                  : "set y2range [0:*]\n");
    hm__text_addf(out, "plot $runs using 1:3:xtic(2) with boxes lt %d title 'cost'", HM_PLOT_MODEL);
    if (known > 1)
        hm__text_addf(out,
                      ", $known using 1:2 axes x1y2 with linespoints lt %d "
                      "title 'variance that is left'",
                      HM_PLOT_COMMUNICATE);
    hm__text_add(out, "\nunset output\n");
    return 0;
}
