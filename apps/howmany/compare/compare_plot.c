/*
 * Writes a comparison as a gnuplot script with a row of panels for each task. The first panel shows
 * samples per second over the number of workers, with published figures as crosses. The other
 * panels show the runs on the largest number of workers over time: computation, network and memory
 * of a worker, and the network of a server.
 */
#include <math.h>
#include <string.h>

#include "compare_explain.h"
#include "compare_output.h"
#include "palette.h"
#include "render.h"

enum { PANELS = 5, PANEL_WIDTH = 380, PANEL_HEIGHT = 300 };

static size_t way_index(const struct compare_way *way)
{
    return (size_t)(way - compare_ways);
}

/* Add a line of data for the start or the end of an interval; its values are means over the
 * interval. */
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

/* Add the data blocks of a task: $sT_W has workers and samples per second of task T and platform W,
 * $pT_W has the published figures, and $rR has the intervals of run R. */
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
        hm__text_add(out, "EOD\n");
    }
    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task != &compare_tasks[t])
            continue;
        add_intervals(out, run, i);
    }
}

static void plot_speeds(struct hm_text *out, const struct compare_result *r, size_t t)
{
    size_t pieces = 0;

    hm__text_addf(out,
                  "set title '%s'\nset xlabel 'workers'\nset ylabel 'samples/s'\nset logscale y\n"
                  "set format y '10^{%%T}'\nset key below horizontal samplen 1\nset xtics (",
                  compare_tasks[t].title);
    for (size_t i = 0; i < r->request->n.count; i++)
        hm__text_addf(out, "%s%.0f", i ? "," : "", r->request->n.values[i]);
    hm__text_add(out, ")\nset offsets 0.3,0.3,0,0\nplot ");
    for (size_t w = 0; w < COMPARE_WAYS; w++) {
        bool any = false, known = false;
        for (size_t i = 0; i < r->count; i++)
            any =
                any || (r->runs[i].task == &compare_tasks[t] && r->runs[i].way == &compare_ways[w]);
        for (const struct compare_published *p = compare_published; p->system; p++)
            known = known || (strcmp(p->task, compare_tasks[t].name) == 0 &&
                              strcmp(p->way, compare_ways[w].name) == 0);
        if (any)
            hm__text_addf(out,
                          "%s$s%zu_%zu using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '%s' "
                          "title '%s'",
                          pieces++ ? ", \\\n  " : "", t, w, hm__palette(w), compare_ways[w].name);
        if (any && known)
            hm__text_addf(out,
                          ", \\\n  $p%zu_%zu using 1:2 with points pt 2 ps 1 lw 1.5 lc rgb '%s' "
                          "notitle",
                          t, w, hm__palette(w));
    }
    hm__text_add(out, "\nunset logscale y\nset format y\nset nokey\nset xtics auto\nset offsets\n");
}

/* Plot one quantity over time, for the runs on the largest number of workers. */
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
        hm__text_addf(out,
                      "%s$r%zu using ($1/%.9g):%d with lines lw 1.5 "
                      "lc rgb '%s' notitle",
                      pieces++ ? ", \\\n  " : "", i, run->elapsed_s, column,
                      hm__palette(way_index(run->way)));
    }
    hm__text_add(out, pieces ? "\n" : "NaN notitle\n");
    hm__text_add(out, "set autoscale y\n");
}

int compare_output_plot(const struct compare_result *r, const char *file, struct hm_text *out,
                        struct hm_err *err)
{
    size_t rows = 0;

    for (size_t t = 0; t < COMPARE_TASKS; t++)
        rows += compare_extreme(r, &compare_tasks[t], true) != NULL;
    int rc = hm__gnuplot_output(out, file, PANELS * PANEL_WIDTH, (double)rows * PANEL_HEIGHT, err);
    if (rc)
        return rc;
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        add_task_data(out, r, t);
    hm__text_addf(out,
                  "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
                  "set multiplot layout %zu,%d title 'crosses: published, 3 workers'\n",
                  rows, PANELS);
    for (size_t t = 0; t < COMPARE_TASKS; t++) {
        if (!compare_extreme(r, &compare_tasks[t], true))
            continue;
        plot_speeds(out, r, t);
        plot_over_time(out, r, t, "a worker computes", "% of the time", 2);
        plot_over_time(out, r, t, "network of a worker", "Mbit/s, busier direction", 3);
        plot_over_time(out, r, t, "network of a server", "Mbit/s, busier direction", 4);
        plot_over_time(out, r, t, "memory of a worker", "MiB", 5);
    }
    hm__text_add(out, "unset multiplot\nunset output\n");
    return 0;
}
