/*
 * Draws a calibration as a gnuplot script. The left panel shows the rate of matrix products against
 * their size, for each precision; if only messages were timed, it shows their rate against their
 * size in bytes. The right panel compares the times that the calibrated model predicts with the
 * measured ones.
 */
#include <math.h>

#include "calibrate_session.h"
#include "cli.h"
#include "palette.h"
#include "plot_style.h"

/* Groups of operations; the plot shows each group in its own colour. */
static const struct plot_group {
    const char *name;
    enum hm_timed first, last;
} plot_groups[] = {
    {"products", HM_TIMED_GEMM, HM_TIMED_GEMM},
    {"memory", HM_TIMED_STREAM, HM_TIMED_STREAM},
    {"convolutions", HM_TIMED_CONV_FORWARD, HM_TIMED_CONV_WEIGHT},
    {"messages", HM_TIMED_SEND, HM_TIMED_SEND},
    {"all-reduces", HM_TIMED_ALL_REDUCE, HM_TIMED_ALL_REDUCE},
};
enum { PLOT_GROUPS = sizeof(plot_groups) / sizeof(plot_groups[0]) };

/*
 * Adds a gnuplot data block for each group, with rows of measured and predicted times; ret_counts
 * receives the number of rows in each group.
 */
static void add_times(struct hm_text *out, const struct calibrate_session *s,
                      size_t ret_counts[PLOT_GROUPS])
{
    for (size_t g = 0; g < PLOT_GROUPS; g++) {
        ret_counts[g] = 0;
        hm__text_addf(out, "$times%zu << EOD\n", g);
        for (size_t i = 0; i < s->timings.count; i++) {
            const struct hm_timing *t = &s->timings.rows[i];
            double predicted = hm__calibrated_time(&s->machine, t);
            if (t->what < plot_groups[g].first || t->what > plot_groups[g].last ||
                !(predicted > 0) || !(t->seconds > 0))
                continue;
            hm__text_addf(out, "%.9g %.9g\n", t->seconds, predicted);
            ret_counts[g]++;
        }
        hm__text_add(out, "EOD\n");
    }
}

/*
 * Adds a gnuplot data block with the sizes and rates of the matrix products in one precision.
 * Returns the number of rows.
 */
static size_t add_products(struct hm_text *out, const struct hm_timings *timings, enum hm_math math)
{
    size_t count = 0;

    hm__text_addf(out, "$rate%d << EOD\n", (int)math);
    for (size_t i = 0; i < timings->count; i++) {
        const struct hm_timing *t = &timings->rows[i];
        if (t->what != HM_TIMED_GEMM || t->math != math || !(t->seconds > 0))
            continue;
        double flop = hm__timing_flop(t);
        hm__text_addf(out, "%.9g %.9g\n", flop / 1e9, flop / t->seconds / 1e12);
        count++;
    }
    hm__text_add(out, "EOD\n");
    return count;
}

/* Adds a gnuplot data block with the bytes and rates of one kind of message. Returns the number of
 * rows. */
static size_t add_messages(struct hm_text *out, const struct hm_timings *timings,
                           enum hm_timed what)
{
    size_t count = 0;

    hm__text_addf(out, "$message%d << EOD\n", (int)what);
    for (size_t i = 0; i < timings->count; i++) {
        const struct hm_timing *t = &timings->rows[i];
        if (t->what != what || !(t->seconds > 0) || !(t->shape[0] > 0))
            continue;
        hm__text_addf(out, "%.9g %.9g\n", t->shape[0] / 1e6, t->shape[0] / t->seconds / 1e9);
        count++;
    }
    hm__text_add(out, "EOD\n");
    return count;
}

static void plot_rates(struct hm_text *out, const struct hm_timings *timings)
{
    struct hm_text parts = {0};
    size_t pieces = 0;

    for (enum hm_math math = HM_MATH_FP64; math < HM_MATH_COUNT; math++)
        if (add_products(out, timings, math)) {
            hm__text_addf(&parts, "%s$rate%d using 1:2 with points ps 0.8 lt %zu title '%s'",
                          pieces ? ", " : "", (int)math, pieces % HM_PALETTE_SIZE + 1,
                          hm_math_name(math));
            pieces++;
        }
    if (pieces)
        hm__text_add(out, "set title 'products'\nset xlabel 'Gflop of the product'\n"
                          "set ylabel 'Tflop/s'\n");
    else {
        for (size_t g = 0; g < PLOT_GROUPS; g++) {
            enum hm_timed what = plot_groups[g].first;
            if ((what != HM_TIMED_SEND && what != HM_TIMED_ALL_REDUCE) ||
                !add_messages(out, timings, what))
                continue;
            hm__text_addf(&parts, "%s$message%d using 1:2 with points ps 0.8 lt %zu title '%s'",
                          pieces ? ", " : "", (int)what, g + 1, plot_groups[g].name);
            pieces++;
        }
        hm__text_add(out, "set title 'messages'\nset xlabel 'MB of the message'\n"
                          "set ylabel 'GB/s'\n");
    }
    hm__text_addf(out, "plot %s\n", pieces && parts.data ? parts.data : "[1:10][1:10] NaN notitle");
    out->failed = out->failed || parts.failed;
    hm__text_release(&parts);
}

static void plot_times(struct hm_text *out, const struct calibrate_session *s)
{
    size_t counts[PLOT_GROUPS];

    add_times(out, s, counts);
    hm__text_addf(out,
                  "set title 'the calibrated model'\nset xlabel 'measured seconds'\n"
                  "set ylabel 'predicted seconds'\nplot x with lines lw 1 dt 2 lt %d title 'equal'",
                  HM_PLOT_GREY);
    for (size_t g = 0; g < PLOT_GROUPS; g++)
        if (counts[g])
            hm__text_addf(out, ", $times%zu using 1:2 with points ps 0.8 lt %zu title '%s'", g,
                          g + 1, plot_groups[g].name);
    hm__text_add(out, "\n");
}

int calibrate_plot(const struct calibrate_session *s)
{
    struct hm_text out = {0}, title = {0};
    struct hm_err err = {0};

    if (!s->request->plot)
        return 0;
    if (hm__gnuplot_output(&out, s->request->plot, 1000, 460, &err)) {
        hm__text_release(&out);
        return cli_report(&err);
    }
    hm__text_addf(&title, "%s%s%s", s->timings.name ? s->timings.name : "links",
                  s->timings.date ? ", " : "", s->timings.date ? s->timings.date : "");
    hm__text_add(&out, "set key maxcols 3\nset logscale xy 10\nset format '10^{%L}'\n"
                       "set multiplot layout 1,2 title ");
    hm__gnuplot_quote(&out, title.data ? title.data : "");
    hm__text_add(&out, " noenhanced\n");
    plot_rates(&out, &s->timings);
    plot_times(&out, s);
    hm__text_add(&out, "unset multiplot\nunset output\n");
    int rc = out.failed || title.failed ? cli_complain("out of memory")
                                        : cli_gnuplot(out.data, s->request->plot);
    hm__text_release(&title);
    hm__text_release(&out);
    return rc;
}
