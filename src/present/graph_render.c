/*
 * Renders a graph and its splits among workers: the number of edges on the most loaded worker, the
 * imbalance, the cut edges and the copies of vertices.
 */
#include "graph_render.h"

#include <math.h>

#include "json.h"
#include "notes.h"
#include "palette.h"
#include "plot_style.h"
#include "render.h"

/* ---- text --------------------------------------------------------------------------------------
 */

static void graph_head_text(struct hm_text *out, const struct hm_graph *g)
{
    hm__text_addf(out, "%s: %.0f vertices, %.0f edges, mean degree %.2f, largest %.0f\n", g->name,
                  g->vertices, g->edges, 2 * g->edges / g->vertices, g->max_degree);
    if (g->lines > 0) {
        hm__text_addf(out, "  %.0f edges named, %.0f of them self-loops", g->lines, g->self_loops);
        if (g->repeated >= 0)
            hm__text_addf(out, ", %.0f repeated (in either direction)", g->repeated);
        hm__text_add(out, "\n");
    }
    if (!g->ends)
        hm__text_add(out, "  only degrees are known: edges inside a part are estimated\n");
    if (g->may_be_cut)
        hm__text_addf(out, "  %s " HM_NOTE_CUT "\n", g->name);
}

static void split_table_text(struct hm_text *out, const struct hm_graph *g,
                             const struct hm_split_table *t)
{
    bool random = hm_split_is_random(t->split);

    hm__text_addf(out, "\nsplit: %s\n%6s %14s %14s %9s", hm_split_name(t->split), "n",
                  "edges, most", "edges, mean", "imbalance");
    hm__text_addf(out, " %8s %14s %7s%s", "speedup", "cut edges", "copies",
                  random ? "   most of 90 % of trials, and worst" : "");
    hm__text_end_line(out);
    for (size_t i = 0; i < t->count; i++) {
        const struct hm_parts *p = &t->parts[i];
        hm__text_addf(out, "%6.0f %14.0f %14.0f %9.3f %8.2f", p->n, p->edges_max, p->edges_mean,
                      p->imbalance, g->edges / p->edges_max);
        if (p->cut >= 0)
            hm__text_addf(out, " %14.0f", p->cut);
        else
            hm__text_addf(out, " %14s", "");
        hm__text_addf(out, " %7.2f", p->replicas);
        if (random)
            hm__text_addf(out, "   %.0f to %.0f, %.0f", p->low, p->high, p->worst);
        hm__text_end_line(out);
    }
}

void hm__render_graph_text(struct hm_text *out, const struct hm_graph *graph,
                           const struct hm_split_table *tables, size_t count)
{
    graph_head_text(out, graph);
    for (size_t k = 0; k < count; k++)
        split_table_text(out, graph, &tables[k]);
}

/* ---- JSON --------------------------------------------------------------------------------------
 */

/* Writes a count as JSON, or null if it is unknown (negative or NaN). */
static void put_count(struct hm_json *json, const char *key, double value)
{
    hm__json_put_number(json, key, value >= 0 ? value : NAN);
}

static void split_table_json(struct hm_json *json, const struct hm_graph *g,
                             const struct hm_split_table *t)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "split", hm_split_name(t->split));
    hm__json_open(json, "parts", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < t->count; i++) {
        const struct hm_parts *p = &t->parts[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        put_count(json, "n", p->n);
        put_count(json, "edges_max", p->edges_max);
        put_count(json, "edges_mean", p->edges_mean);
        put_count(json, "imbalance", p->imbalance);
        put_count(json, "low", p->low);
        put_count(json, "high", p->high);
        put_count(json, "worst", p->worst);
        put_count(json, "cut", p->cut);
        put_count(json, "replicas", p->replicas);
        put_count(json, "speedup", g->edges / p->edges_max);
        hm__json_close(json);
    }
    hm__json_close(json);
    hm__json_close(json);
}

void hm__render_graph_json(struct hm_text *out, const struct hm_graph *g,
                           const struct hm_split_table *tables, size_t count)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(&json, "howmany", HM_VERSION);
    hm__json_put_text(&json, "graph", g->name);
    put_count(&json, "vertices", g->vertices);
    put_count(&json, "edges", g->edges);
    put_count(&json, "max_degree", g->max_degree);
    put_count(&json, "lines", g->lines);
    put_count(&json, "self_loops", g->self_loops);
    put_count(&json, "repeated", g->repeated);
    hm__json_put_bool(&json, "edges_known", g->ends != NULL);
    hm__json_put_bool(&json, "may_be_cut", g->may_be_cut);
    hm__json_open(&json, "splits", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        split_table_json(&json, g, &tables[i]);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

/* ---- pictures ----------------------------------------------------------------------------------
 */

int hm__render_graph_plot(struct hm_text *out, const struct hm_graph *g,
                          const struct hm_split_table *tables, size_t count, const char *file,
                          struct hm_err *err)
{
    struct hm_plot_span workers = {0}, edges = {0};
    int rc = hm__gnuplot_output(out, file, 1000, 460, err);

    if (rc)
        return rc;
    for (size_t k = 0; k < count; k++) {
        hm__text_addf(out, "$split%zu << EOD\n", k);
        for (size_t i = 0; i < tables[k].count; i++) {
            const struct hm_parts *p = &tables[k].parts[i];
            hm__span_add(&workers, p->n);
            hm__span_add(&edges, p->edges_max);
            hm__text_addf(out, "%.17g %.17g %.17g %.17g %.17g\n", p->n, p->edges_max,
                          g->edges / p->edges_max, p->low, p->high);
        }
        hm__text_add(out, "EOD\n");
    }
    hm__gnuplot_workers(out, &workers);
    hm__gnuplot_values(out, &edges);
    hm__text_add(out, "set multiplot layout 1,2 title ");
    hm__gnuplot_quote(out, g->name);
    hm__text_add(out, " noenhanced\n");
    for (int panel = 0; panel < 2; panel++) {
        hm__text_addf(out, "set ylabel '%s'\nplot ",
                      panel ? "speedup" : "edges of the fullest worker");
        if (panel && hm__span_is_wide(&workers))
            hm__text_addf(out, "x with lines dt 2 lw 1 lt %d title 'ideal', ", HM_PLOT_GREY);
        for (size_t k = 0; k < count; k++)
            hm__text_addf(out, "%s$split%zu using 1:%d with linespoints ps 0.5 lt %zu title '%s'",
                          k ? ", " : "", k, panel ? 3 : 2, k % HM_PALETTE_SIZE + 1,
                          hm_split_name(tables[k].split));
        hm__text_add(out, "\n");
    }
    hm__text_add(out, "unset multiplot\nunset output\n");
    return 0;
}
