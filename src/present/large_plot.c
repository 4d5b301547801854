/*
 * Renders plans for transformers as gnuplot scripts: tokens per second and the time of the job
 * against the number of workers, with one curve for each machine.
 */
#include <math.h>

#include "format.h"
#include "large_render.h"
#include "plot_style.h"

/*
 * Returns the time of the whole job in hours or, if the length of the job is not given, the time of
 * one step in seconds.
 */
static double choice_time(const struct hm_large_choice *c)
{
    return isnan(c->total_s) ? c->step.time_s : c->total_s / 3600;
}

/*
 * Writes data rows for one machine: n, rate, time, and the ends of the interval for the time. If
 * `fits` is true, writes the configurations that fit in memory; otherwise, writes the
 * configurations that do not.
 */
static size_t add_block(struct hm_text *out, const struct hm_large_answer *a, int machine,
                        bool fits)
{
    size_t count = 0;

    hm__text_addf(out, "$%s%d << EOD\n", fits ? "m" : "unfit", machine);
    for (size_t i = 0; i < a->point_count; i++) {
        const struct hm_large_choice *c = &a->points[i];
        double time = choice_time(c);
        if (c->machine != machine || c->fits != fits)
            continue;
        hm__text_addf(out, "%.9g %.9g %.9g %.9g %.9g\n", c->n, c->tokens_per_s, time,
                      time * c->low_total, time * c->high_total);
        count++;
    }
    hm__text_add(out, "EOD\n");
    return count;
}

static void add_title(struct hm_text *out, const struct hm_large_answer *a)
{
    const struct hm_large_choice *c = &a->points[a->recommended];
    struct hm_text title = {0};
    char shown[HM_SHOWN];

    hm__text_addf(&title, "%s on %.0f x %s: %s", a->network ? a->network : "transformer", c->nodes,
                  a->machines[c->machine] ? a->machines[c->machine] : "node",
                  hm__show_time(isnan(c->total_s) ? c->step.time_s : c->total_s, shown));
    if (c->cost > 0 && !isnan(c->total_s))
        hm__text_addf(&title, ", %s", hm__show_money(c->cost, shown));
    hm__text_add(out, " title ");
    hm__gnuplot_quote(out, title.data ? title.data : "");
    hm__text_add(out, " noenhanced\n");
    out->failed = out->failed || title.failed;
    hm__text_release(&title);
}

/*
 * Appends the curves of all machines to the plot; column 2 of the data is the rate, and column 3 is
 * the time.
 */
static void add_lines(struct hm_text *out, const struct hm_large_answer *a, const size_t *fitting,
                      const size_t *unfit, int column)
{
    const char *between = "";
    bool titled = false;

    for (size_t k = 0; k < a->machine_count && k < HM_LARGE_PLOT_MACHINES; k++) {
        if (fitting[k] > 0) {
            hm__text_addf(out, "%s$m%zu using 1:%d with linespoints pt 7 ps 0.5 lt %zu title ",
                          between, k, column, k % 8 + 1);
            hm__gnuplot_quote(out, a->machines[k] ? a->machines[k] : "model");
            hm__text_add(out, " noenhanced");
            between = ", ";
        }
        if (unfit[k] > 0) {
            hm__text_addf(out, "%s$unfit%zu using 1:%d with points pt 7 ps 0.6 lt %d %s", between,
                          k, column, HM_PLOT_GREY, titled ? "notitle" : "title 'does not fit'");
            titled = true;
            between = ", ";
        }
    }
}

/* Appends a mark at the recommended point. */
static void add_mark(struct hm_text *out, const struct hm_large_answer *a, int column)
{
    hm__text_addf(out,
                  ", $best using 1:%d with points pt 13 ps 2 lt %d title 'recommended, %.0f'\n",
                  column, HM_PLOT_BEST, a->points[a->recommended].n);
}

static void add_panels(struct hm_text *out, const struct hm_large_answer *a, const size_t *fitting,
                       const size_t *unfit)
{
    const struct hm_large_choice *best = &a->points[a->recommended],
                                 *first = hm__large_first_fitting(a);
    struct hm_plot_span rates = {0}, times = {0};

    for (size_t i = 0; i < a->point_count; i++) {
        hm__span_add(&rates, a->points[i].tokens_per_s);
        hm__span_add(&times, choice_time(&a->points[i]));
    }
    hm__gnuplot_values(out, &rates);
    hm__text_add(out, "set ylabel 'tokens/s'\nplot ");
    hm__text_addf(out, "x*%.17g with lines dt 2 lw 1 lt %d title 'ideal', ",
                  first->tokens_per_s / first->n, HM_PLOT_GREY);
    add_lines(out, a, fitting, unfit, 2);
    add_mark(out, a, 2);
    hm__gnuplot_values(out, &times);
    hm__text_addf(out, "set ylabel '%s'\nplot ",
                  isnan(best->total_s) ? "seconds of an iteration" : "hours of the job");
    if (fitting[best->machine] > 0)
        hm__text_addf(out, "$m%d using 1:4:5 with filledcurves %s lt %d title '90 %% interval', ",
                      best->machine, HM_PLOT_BAND, best->machine % 8 + 1);
    add_lines(out, a, fitting, unfit, 3);
    add_mark(out, a, 3);
}

int hm__large_plot(const struct hm_large_answer *a, const char *file, char **ret_script,
                   struct hm_err *err)
{
    const struct hm_large_choice *best = &a->points[a->recommended];
    size_t fitting[HM_LARGE_PLOT_MACHINES] = {0}, unfit[HM_LARGE_PLOT_MACHINES] = {0};
    struct hm_plot_span workers = {0};
    struct hm_text out = {0};
    int rc = hm__gnuplot_output(&out, file, 1000, 460, err);

    if (rc) {
        hm__text_release(&out);
        return rc;
    }
    for (size_t k = 0; k < a->machine_count && k < HM_LARGE_PLOT_MACHINES; k++) {
        fitting[k] = add_block(&out, a, (int)k, true);
        unfit[k] = add_block(&out, a, (int)k, false);
    }
    hm__text_addf(&out, "$best << EOD\n%.9g %.9g %.9g\nEOD\n", best->n, best->tokens_per_s,
                  choice_time(best));
    for (size_t i = 0; i < a->point_count; i++)
        hm__span_add(&workers, a->points[i].n);
    hm__gnuplot_workers(&out, &workers);
    hm__text_add(&out, "set key maxcols 2\nset multiplot layout 1,2");
    add_title(&out, a);
    add_panels(&out, a, fitting, unfit);
    hm__text_add(&out, "unset multiplot\nunset output\n");
    return hm__text_take(&out, ret_script, err);
}
