/*
 * Writes a comparison as a gnuplot script with two rows of three panels for each task. The first
 * panel shows samples per second against the number of workers, with published speeds as crosses.
 * The next four show quantities over time, for the runs on the largest number of workers:
 * computation, network and memory of a worker, and the network of a server. The last panel contains
 * the legend.
 */
#include <math.h>
#include <string.h>

#include "compare_explain.h"
#include "compare_output.h"
#include "palette.h"
#include "plot_style.h"

enum { COLUMNS = 3, ROWS = 2, PANEL_WIDTH = 400, PANEL_HEIGHT = 320 };

/* Returns the number of the gnuplot line type in which a platform is drawn. */
static size_t way_type(size_t way)
{
    return way % HM_PALETTE_SIZE + 1;
}

/*
 * Adds a line of data for the start or the end of a time interval of a run. Both lines have the
 * same values, which are means over the interval.
 */
static void add_interval_point(struct hm_text *out, double elapsed_s,
                               const struct compare_interval *interval)
{
    const double values[] = {
        elapsed_s,
        100 * interval->worker.compute,
        8e-6 * fmax(interval->worker.sent, interval->worker.received),
        8e-6 * fmax(interval->other.sent, interval->other.received),
        interval->worker.memory / 1048576,
    };

    for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
        hm__text_addf(out, isnan(values[v]) ? "%sNaN" : "%s%.9g", v ? " " : "", values[v]);
    hm__text_add(out, "\n");
}

static void add_intervals(struct hm_text *out, const struct compare_run *run, size_t number)
{
    hm__text_addf(out, "$r%zu << EOD\n", number);
    for (size_t k = 0; k < run->interval_count; k++) {
        add_interval_point(out, k ? run->intervals[k - 1].elapsed_s : 0, &run->intervals[k]);
        add_interval_point(out, run->intervals[k].elapsed_s, &run->intervals[k]);
    }
    hm__text_add(out, "EOD\n");
}

static bool is_measured(const struct compare_measured *m, size_t t, size_t w)
{
    return m->task == &compare_tasks[t] && m->way == &compare_ways[w];
}

static bool has_measured(const struct compare_result *r, size_t t, size_t w)
{
    for (size_t i = 0; i < r->measured.count; i++)
        if (is_measured(&r->measured.rows[i], t, w))
            return true;
    return false;
}

/*
 * Adds the gnuplot data blocks of a task: $sT_W holds the workers and samples per second of task T
 * and platform W, $pT_W the published speeds, $mT_W the measurements of other frameworks, and $rR
 * the time intervals of run R.
 */
static void add_task_data(struct hm_text *out, const struct compare_result *r, size_t t)
{
    for (size_t w = 0; w < COMPARE_WAYS; w++) {
        hm__text_addf(out, "$s%zu_%zu << EOD\n", t, w);
        for (size_t i = 0; i < r->count; i++)
            if (r->runs[i].task == &compare_tasks[t] && r->runs[i].way == &compare_ways[w])
                hm__text_addf(out, "%.17g %.17g\n", r->runs[i].n, r->runs[i].samples_per_s);
        hm__text_addf(out, "EOD\n$p%zu_%zu << EOD\n", t, w);
        for (const struct compare_published *p = compare_published; p->system; p++)
            if (strcmp(p->task, compare_tasks[t].name) == 0 &&
                strcmp(p->way, compare_ways[w].name) == 0)
                hm__text_addf(out, "%d %.17g\n", COMPARE_PUBLISHED_N, p->samples_per_s);
        hm__text_addf(out, "EOD\n$m%zu_%zu << EOD\n", t, w);
        for (size_t i = 0; i < r->measured.count; i++)
            if (is_measured(&r->measured.rows[i], t, w))
                hm__text_addf(out, "%.17g %.17g\n", r->measured.rows[i].n,
                              r->measured.rows[i].samples_per_s);
        hm__text_add(out, "EOD\n");
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task != &compare_tasks[t])
            continue;
        add_intervals(out, run, i);
    }
}

static bool has_runs(const struct compare_result *r, size_t t, size_t w)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].task == &compare_tasks[t] && r->runs[i].way == &compare_ways[w])
            return true;
    return false;
}

static bool is_published(size_t t, size_t w)
{
    for (const struct compare_published *p = compare_published; p->system; p++)
        if (strcmp(p->task, compare_tasks[t].name) == 0 &&
            strcmp(p->way, compare_ways[w].name) == 0)
            return true;
    return false;
}

/*
 * Plots samples per second of each platform. The ticks are at the numbers of workers for which
 * there are runs or published speeds.
 */
static void plot_speeds(struct hm_text *out, const struct compare_result *r, size_t t)
{
    size_t pieces = 0;

    hm__text_addf(out,
                  "set title '%s' noenhanced\nset xlabel 'workers'\nset ylabel 'samples/s'\n"
                  "set logscale y 10\nset format y '10^{%%T}'\nset xtics (%d",
                  compare_tasks[t].title, COMPARE_PUBLISHED_N);
    for (size_t i = 0; i < r->request->n.count; i++)
        hm__text_addf(out, ",%.0f", r->request->n.values[i]);
    hm__text_add(out, ")\nset offsets 0.3,0.3,0,0\nplot ");
    for (size_t w = 0; w < COMPARE_WAYS; w++) {
        if (!has_runs(r, t, w))
            continue;
        hm__text_addf(out, "%s$s%zu_%zu using 1:2 with linespoints ps 0.7 lt %zu notitle",
                      pieces++ ? ", \\\n  " : "", t, w, way_type(w));
        if (is_published(t, w))
            hm__text_addf(out,
                          ", \\\n  $p%zu_%zu using 1:2 with points pt 2 ps 1 lw 1.5 lt %zu notitle",
                          t, w, way_type(w));
        if (has_measured(r, t, w))
            hm__text_addf(out,
                          ", \\\n  $m%zu_%zu using 1:2 with points pt 6 ps 1 lw 1.5 lt %zu notitle",
                          t, w, way_type(w));
    }
    hm__text_add(out, "\nunset logscale y\nset format y '%h'\nset xtics auto\nset offsets\n");
}

/* Draws the legend in the last panel of a task. */
static void plot_key(struct hm_text *out, const struct compare_result *r, size_t t)
{
    size_t pieces = 0;
    bool published = false, measured = false;

    hm__text_add(out, "unset title\nset key inside left center vertical Left reverse samplen 3\n"
                      "unset border\nunset tics\nunset xlabel\nunset ylabel\nplot [0:1][0:1] ");
    for (size_t w = 0; w < COMPARE_WAYS; w++) {
        if (!has_runs(r, t, w))
            continue;
        published = published || is_published(t, w);
        measured = measured || has_measured(r, t, w);
        hm__text_addf(out, "%sNaN with linespoints ps 0.7 lt %zu title '%s'",
                      pieces++ ? ", \\\n  " : "", way_type(w), compare_ways[w].name);
    }
    if (published)
        hm__text_addf(out,
                      ", \\\n  NaN with points pt 2 lw 1.5 lc rgb '#444444' title "
                      "'published, %d workers'",
                      COMPARE_PUBLISHED_N);
    if (measured)
        hm__text_add(out, ", \\\n  NaN with points pt 6 lw 1.5 lc rgb '#444444' title "
                          "'measured frameworks'");
    /* The axes are set one by one, because `set tics` would also turn on the ticks of the top and
     * the right side. */
    hm__text_add(out, "\nset border 3\nset xtics nomirror out\nset ytics nomirror out\n"
                      "set nokey\n");
}

/* Plots one quantity over time, for the runs on the largest number of workers. */
static void plot_over_time(struct hm_text *out, const struct compare_result *r, size_t t,
                           const char *title, const char *unit, int column)
{
    const struct compare_run *best = compare_extreme(r, &compare_tasks[t], true);
    size_t pieces = 0;

    hm__text_addf(out,
                  "set title '%s, %.0f workers'\nset xlabel 'share of the run'\n"
                  "set ylabel '%s'\nset yrange [0:*]\nplot [0:1] ",
                  title, best->n, unit);
    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task != &compare_tasks[t] || run->n != best->n ||
            (column == 4 && run->others == 0))
            continue;
        hm__text_addf(out, "%s$r%zu using ($1/%.9g):%d with lines lt %zu notitle",
                      pieces++ ? ", \\\n  " : "", i, run->elapsed_s, column,
                      way_type((size_t)(run->way - compare_ways)));
    }
    hm__text_add(out, pieces ? "\n" : "[0:1] NaN notitle\n");
    hm__text_add(out, "set autoscale y\n");
}

int compare_output_plot(const struct compare_result *r, const char *file, struct hm_text *out,
                        struct hm_err *err)
{
    size_t rows = 0;

    for (size_t t = 0; t < COMPARE_TASKS; t++)
        rows += compare_extreme(r, &compare_tasks[t], true) ? ROWS : 0;
    int rc = hm__gnuplot_output(out, file, COLUMNS * PANEL_WIDTH, (double)rows * PANEL_HEIGHT, err);
    if (rc)
        return rc;
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        add_task_data(out, r, t);
    hm__text_addf(out, "set nokey\nset multiplot layout %zu,%d\n", rows, COLUMNS);
    for (size_t t = 0; t < COMPARE_TASKS; t++) {
        if (!compare_extreme(r, &compare_tasks[t], true))
            continue;
        plot_speeds(out, r, t);
        plot_over_time(out, r, t, "a worker computes", "% of the time", 2);
        plot_over_time(out, r, t, "network of a worker", "Mbit/s, busier direction", 3);
        plot_over_time(out, r, t, "network of a server", "Mbit/s, busier direction", 4);
        plot_over_time(out, r, t, "memory of a worker", "MiB", 5);
        plot_key(out, r, t);
    }
    hm__text_add(out, "unset multiplot\nunset output\n");
    return 0;
}
