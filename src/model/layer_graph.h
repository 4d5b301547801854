/*
 * Represents the graph of a network's layers: for each row of the counts (struct hm_counts, one row
 * per layer), the rows whose outputs it reads.
 */
#ifndef HM_LAYER_GRAPH_H
#define HM_LAYER_GRAPH_H

#include "howmany.h"

/* The outputs of row `from` are an input of row `to`; HM_NONE means the input of the network. */
struct hm_layer_edge {
    size_t from, to;
};

struct hm_layer_graph {
    struct hm_layer_edge *edges; /* Edges in ascending order of `to`; owned. */
    size_t edge_count, row_count;
    /* Index after the last row of each unit, owned. A unit passes one tensor to the next unit. */
    size_t *ends;
    size_t unit_count;
};

/* Builds the graph of a network that has layers; its rows are the rows of the network's counts. */
int hm__layer_graph_init(struct hm_layer_graph *graph, const struct hm_network *network,
                         const struct hm_counts *counts, struct hm_err *err);
void hm__layer_graph_release(struct hm_layer_graph *graph);

#endif
