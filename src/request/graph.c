/*
 * Implements the verb graph, which shows how a graph is split among workers, and how the split
 * limits the speedup.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "files.h"
#include "graph_read.h"
#include "graph_render.h"
#include "split.h"
#include "verbs.h"

struct hm_graph_request {
    struct hm_document graph;
    struct hm_numbers parts;
    struct hm_choices split;
    double trials, seed, vertices, edges, max_degree;
    int format, generate;
    bool degrees_only, json;
    const char *plot;
};

#define T struct hm_graph_request

static const struct hm_request_field fields[] = {
    HM_ROW_DOCUMENT(T, graph, "graph", "graph", "FILE",
                    "degrees, edges (SNAP) or METIS, plain or gzip"),
    {.name = "format",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, format),
     .fallback = "auto",
     .group = "graph",
     .argument = "NAME",
     .choices = "auto degrees edges metis",
     .help = "degrees, edges or metis (default: by the file's name)"},
    HM_ROW_FLAG(T, degrees_only, "degrees_only", 0, "graph",
                "do not keep the edges: little memory, but cuts are not known"),
    {.name = "generate",
     .kind = HM_REQUEST_CHOICE,
     .offset = offsetof(T, generate),
     .group = "graph",
     .argument = "KIND",
     .choices = "power-law random grid",
     .help = "generate a graph instead of reading one: power-law, random or grid"},
    HM_ROW_WHOLE(T, vertices, "vertices", 0, 0, 1e15, "graph", "N",
                 "vertices of the generated graph"),
    HM_ROW_WHOLE(T, edges, "edges", 0, 0, 1e15, "graph", "N", "edges of the generated graph"),
    HM_ROW_WHOLE(T, max_degree, "max_degree", 0, 0, 1e15, "graph", "N",
                 "largest degree of the generated power law"),
    {.name = "parts",
     .kind = HM_REQUEST_NUMBERS,
     .offset = offsetof(T, parts),
     .group = "question",
     .argument = "LIST",
     .help = "numbers of workers, such as 2..32 or 2,4,8 (default 2..32)"},
    {.name = "split",
     .kind = HM_REQUEST_CHOICES,
     .offset = offsetof(T, split),
     .flags = HM_REQUEST_ALL,
     .group = "question",
     .argument = "NAME[,…]",
     .choices = "dealt random greedy hash metis edge-random hdrf all",
     .help =
         "how to split: dealt (default), random, greedy, hash, metis, edge-random, hdrf; 'all'"},
    {.name = "trials",
     .kind = HM_REQUEST_WHOLE,
     .offset = offsetof(T, trials),
     .most = 1e15,
     .fallback = "20",
     .group = "question",
     .argument = "N",
     .help = "random splits to try for each number of workers (default 20)"},
    HM_ROW_SEED(T, seed, "1"),
    HM_ROW_PLOT(T, plot,
                "edges of the most loaded worker and speedup as a picture: .svg, .png or .pdf"),
    HM_ROW_JSON(T, json),
};

#undef T

static double given_or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static int check_recipe(const struct hm_graph_request *r, struct hm_err *err)
{
    bool grid = r->generate == HM_RECIPE_GRID;

    if (!(r->vertices > 0))
        return hm__request_fail(err, "vertices", HM_E_MISSING, "a generated graph needs vertices");
    if (!grid && !(r->edges > 0))
        return hm__request_fail(err, "edges", HM_E_MISSING, "a generated graph needs edges");
    if (r->generate == HM_RECIPE_POWER_LAW && !(r->max_degree > 0))
        return hm__request_fail(err, "max_degree", HM_E_MISSING, "a power law needs max_degree");
    return 0;
}

static int get_graph(const struct hm_graph_request *r, struct hm_call *call,
                     struct hm_graph **ret_graph, struct hm_err *err)
{
    const struct hm_recipe recipe = {.kind = (enum hm_recipe_kind)r->generate,
                                     .vertices = given_or_zero(r->vertices),
                                     .edges = given_or_zero(r->edges),
                                     .max_degree = given_or_zero(r->max_degree),
                                     .seed = r->seed};
    const char *made = r->vertices > 0     ? "vertices"
                       : r->edges > 0      ? "edges"
                       : r->max_degree > 0 ? "max_degree"
                                           : NULL;

    if ((r->graph.name != NULL) == (r->generate >= 0))
        return hm__request_fail(err, "graph", HM_E_MISSING,
                                "either a graph or a kind to generate is needed");
    if (r->generate >= 0) {
        int rc = check_recipe(r, err);
        return rc ? rc : hm_graph_make(&recipe, ret_graph, err);
    }
    if (made)
        return hm__request_fail(err, made, HM_E_CONFLICT, "this needs generate");
    if (r->graph.text)
        return hm__graph_parse(r->graph.text, r->graph.length, r->graph.name,
                               (enum hm_graph_format)r->format, r->degrees_only, ret_graph, err);
    if (!call->context->files)
        return hm__request_fail(err, "graph", HM_E_UNSUPPORTED, "a request cannot name a file");
    return call->context->files->graph(r->graph.name, (enum hm_graph_format)r->format,
                                       r->degrees_only, ret_graph, err);
}

/* Splits the graph for one number of workers after another, so that progress can be shown. */
static int split_each(const struct hm_graph_request *r, const struct hm_graph *g,
                      enum hm_split split, const struct hm_numbers *n, struct hm_parts *parts,
                      struct hm_call *call, struct hm_err *err)
{
    const struct hm_context *c = call->context;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n->count; i++) {
        rc = hm_graph_split(g, split, r->trials, r->seed, &n->values[i], 1, &parts[i], err);
        if (c->progress)
            c->progress(c->progress_data, hm_split_name(split), i + 1, n->count);
    }
    return rc;
}

/*
 * Splits the graph by each method that the request names. If the request names "all", methods that
 * cannot be used on this machine or for this graph are omitted.
 */
static int split_all(const struct hm_graph_request *r, const struct hm_graph *g,
                     const struct hm_choices *splits, const struct hm_numbers *n,
                     struct hm_split_table *tables, size_t *ret_count, struct hm_call *call,
                     struct hm_err *err)
{
    size_t used = 0;

    for (size_t k = 0; k < splits->count; k++) {
        enum hm_split split = (enum hm_split)splits->items[k];
        struct hm_parts *parts = hm__arena_alloc(call->arena, n->count, sizeof(*parts));
        struct hm_err why = {0};
        int rc = parts ? split_each(r, g, split, n, parts, call, &why) : hm__fail_nomem(&why);
        if (rc == 0) {
            tables[used++] = (struct hm_split_table){split, parts, n->count};
        } else if (!splits->all ||
                   (rc != HM_E_MISSING && rc != HM_E_UNSUPPORTED && rc != HM_E_LIMIT)) {
            if (err)
                *err = why;
            return rc;
        }
    }
    *ret_count = used;
    return 0;
}

static int show_graph(const struct hm_graph_request *r, const struct hm_graph *g,
                      const struct hm_split_table *tables, size_t count, struct hm_call *call,
                      struct hm_err *err)
{
    struct hm_text script = {0};
    int rc = 0;

    if (r->json)
        hm__render_graph_json(&call->out, g, tables, count);
    else
        hm__render_graph_text(&call->out, g, tables, count);
    call->type = r->json ? "application/json" : NULL;
    if (r->plot)
        rc = hm__render_graph_plot(&script, g, tables, count, r->plot, err);
    if (rc == 0 && r->plot)
        rc = script.failed ? hm__fail_nomem(err)
                           : hm__call_file(call, r->plot, "gnuplot", script.data, err);
    hm__text_release(&script);
    return rc == 0 && call->out.failed ? hm__fail_nomem(err) : rc;
}

/*
 * Refuses splits that cannot be made within the time limit. A graph that has yet to be generated is
 * NULL; its size is that of the recipe.
 */
static int admit_splits(const struct hm_graph_request *r, const struct hm_graph *graph,
                        const struct hm_choices *splits, const struct hm_numbers *n,
                        struct hm_err *err)
{
    uint32_t some = 0;
    const struct hm_graph recipe = {.vertices = given_or_zero(r->vertices),
                                    .edges = r->generate == HM_RECIPE_GRID
                                                 ? 2 * given_or_zero(r->vertices)
                                                 : given_or_zero(r->edges),
                                    .ends = &some},
                          *g = graph ? graph : &recipe;
    const struct hm_split_fields names = {.n = "parts",
                                          .trials = "trials",
                                          .graph = r->generate < 0          ? "graph"
                                                   : r->edges > r->vertices ? "edges"
                                                                            : "vertices"};
    double count = 0, sum = 0;
    int rc = 0;

    for (size_t i = 0; i < n->count; i++) {
        count += n->values[i] > 1;
        sum += n->values[i] > 1 ? n->values[i] : 0;
    }
    for (size_t k = 0; rc == 0 && k < splits->count; k++)
        if (g->ends || !hm_split_needs_edges((enum hm_split)splits->items[k]))
            rc = hm__split_admit(g, (enum hm_split)splits->items[k], r->trials, count, sum / count,
                                 &names, err);
    return rc;
}

static int graph_run(const void *values, struct hm_call *call, struct hm_err *err)
{
    const struct hm_graph_request *r = values;
    struct hm_split_table tables[HM_SPLIT_COUNT];
    struct hm_numbers n = r->parts;
    struct hm_choices splits = r->split;
    struct hm_graph *g = NULL;
    size_t count = 0;
    int rc = n.count ? 0 : hm__numbers_parse(call->arena, &n, "2..32", false, err);

    if (splits.count == 0)
        splits.items[splits.count++] = HM_SPLIT_DEALT;
    if (rc == 0 && r->generate >= 0)
        rc = admit_splits(r, NULL, &splits, &n, err);
    if (rc == 0)
        rc = get_graph(r, call, &g, err);
    while (rc == 0 && r->parts.count == 0 && n.count > 1 && n.values[n.count - 1] > g->vertices)
        n.count--;
    if (rc == 0 && r->generate < 0)
        rc = admit_splits(r, g, &splits, &n, err);
    if (rc == 0)
        rc = split_all(r, g, &splits, &n, tables, &count, call, err);
    if (rc == 0)
        rc = show_graph(r, g, tables, count, call, err);
    hm_graph_free(g);
    return rc;
}

const struct hm_verb hm__verb_graph = {
    .name = "graph",
    .summary = "how a graph is split among workers, and how this limits the speedup",
    .description =
        "Reads a degree distribution, an edge list (SNAP) or a METIS graph, plain or gzip, or "
        "makes one, and splits it among workers in one or several ways. For each number of workers "
        "it shows the edges of the fullest worker and of the mean, the edges between workers, the "
        "copies of a vertex, and the speedup if every edge costs the same.",
    HM_VERB_FIELDS(fields),
    .size = sizeof(struct hm_graph_request),
    .operand = "graph",
    .answer = "graph",
    .run = graph_run,
};
