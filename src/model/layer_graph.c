/*
 * Builds the graph of a network's layers. The layers are visited in the order in which counts.c
 * lists them, so each visited layer is the next row of the counts. Residual blocks and scale layers
 * read their input twice, and concat layers read all their branches. Flattening has no row.
 */
#include "layer_graph.h"

#include <assert.h>
#include <string.h>

#include "err.h"
#include "memory.h"

struct visitor {
    struct hm_layer_graph *graph;
    size_t room, row;
    int rc;
};

static void visitor_add(struct visitor *v, size_t from, size_t to)
{
    struct hm_layer_graph *g = v->graph;
    struct hm_layer_edge *edges = hm__grow(g->edges, g->edge_count, &v->room, sizeof(*edges));

    if (!edges) {
        v->rc = HM_E_NOMEM;
        return;
    }
    g->edges = edges;
    g->edges[g->edge_count++] = (struct hm_layer_edge){from, to};
}

static size_t visit_layers(struct visitor *v, const struct hm_layer *layers, size_t count,
                           size_t input);

/* Adds the next row of the counts, which joins the outputs of two earlier rows; returns its
 * index. */
static size_t visit_join(struct visitor *v, size_t one, size_t other)
{
    visitor_add(v, one, v->row);
    if (other != one)
        visitor_add(v, other, v->row);
    return v->row++;
}

static size_t visit_concat(struct visitor *v, const struct hm_layer *l, size_t input)
{
    enum { BRANCHES_MAX = 64 };
    size_t outputs[BRANCHES_MAX], count = 0;

    for (size_t i = 0; i < l->child_count; i++) {
        size_t out = visit_layers(v, l->children[i].children, l->children[i].child_count, input);
        if (count < BRANCHES_MAX)
            outputs[count++] = out;
    }
    for (size_t i = 0; i < count; i++)
        visitor_add(v, outputs[i], v->row);
    return v->row++;
}

/* Visits one layer, which reads the outputs of row `input` of the counts; returns the row of its
 * own outputs. */
static size_t visit_layer(struct visitor *v, const struct hm_layer *l, size_t input)
{
    size_t out = input;

    switch (l->kind) {
    case HM_LAYER_FLATTEN:
    case HM_LAYER_VIEW: /* A list of layers with views is treated as a chain. */
        return input;
    case HM_LAYER_BRANCH:
        return visit_layers(v, l->children, l->child_count, input);
    case HM_LAYER_REPEAT:
        for (double i = 0; i < l->times; i++)
            out = visit_layers(v, l->children, l->child_count, out);
        return out;
    case HM_LAYER_RESIDUAL:
        out = visit_layers(v, l->children[0].children, l->children[0].child_count, input);
        if (l->has_shortcut)
            input = visit_layers(v, l->children[1].children, l->children[1].child_count, input);
        return visit_join(v, out, input);
    case HM_LAYER_SCALE:
        out = visit_layers(v, l->children, l->child_count, input);
        return visit_join(v, out, input);
    case HM_LAYER_CONCAT:
        return visit_concat(v, l, input);
    case HM_LAYER_SIDE: /* No other layer reads the output of side layers. */
        visit_layers(v, l->children, l->child_count, HM_NONE);
        return input;
    default:
        visitor_add(v, input, v->row);
        return v->row++;
    }
}

static size_t visit_layers(struct visitor *v, const struct hm_layer *layers, size_t count,
                           size_t input)
{
    for (size_t i = 0; i < count; i++)
        input = visit_layer(v, &layers[i], input);
    return input;
}

/* Divides the rows of the counts into units. A unit ends after row r if no later row reads the
 * output of a row before r. */
static int graph_set_units(struct hm_layer_graph *g, struct hm_err *err)
{
    size_t *far = hm__calloc(g->row_count + 1, sizeof(*far));
    size_t reach = 0;

    g->ends = hm__calloc(g->row_count + 1, sizeof(*g->ends));
    if (!far || !g->ends) {
        hm__free(far);
        return hm__fail_nomem(err);
    }
    /* A row is a layer of the network. far[r + 1] is the last row whose input is the output of row
     * r; far[0] is the last row that reads the input of the network. */
    for (size_t i = 0; i < g->edge_count; i++) {
        size_t from = g->edges[i].from == HM_NONE ? 0 : g->edges[i].from + 1;
        far[from] = g->edges[i].to > far[from] ? g->edges[i].to : far[from];
    }
    for (size_t r = 0; r < g->row_count; r++) {
        reach = far[r] > reach ? far[r] : reach; /* Last row that uses the output of a row before
                                                    row r. */
        if (reach <= r || r + 1 == g->row_count)
            g->ends[g->unit_count++] = r + 1;
    }
    hm__free(far);
    return 0;
}

int hm__layer_graph_init(struct hm_layer_graph *g, const struct hm_network *network,
                         const struct hm_counts *counts, struct hm_err *err)
{
    struct visitor v = {.graph = g};

    *g = (struct hm_layer_graph){.row_count = counts->layer_count};
    visit_layers(&v, network->layers, network->layer_count, HM_NONE);
    int rc = v.rc ? hm__fail_nomem(err) : 0;
    assert(rc || v.row == counts->layer_count);
    if (rc == 0)
        rc = graph_set_units(g, err);
    if (rc)
        hm__layer_graph_release(g);
    return rc;
}

void hm__layer_graph_release(struct hm_layer_graph *g)
{
    hm__free(g->edges);
    hm__free(g->ends);
    *g = (struct hm_layer_graph){0};
}
