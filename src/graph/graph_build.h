/* Builds a graph from a list of edges or from degrees. */
#ifndef HM_GRAPH_BUILD_H
#define HM_GRAPH_BUILD_H

#include "howmany.h"

/*
 * A list of edges, with the vertex ids of the input. Zero-initialise it; release it even after an
 * error.
 */
struct hm_edge_list {
    uint64_t *ids; /* Two vertex ids for each edge. */
    size_t count, room;
};

int hm__edge_list_add(struct hm_edge_list *list, uint64_t a, uint64_t b, struct hm_err *err);
void hm__edge_list_release(struct hm_edge_list *list);

/*
 * Builds a graph from a list: renumbers the vertices in the order of their ids and removes
 * self-loops and repeated edges. With dense > 0, the ids are already 0..dense-1, and vertices
 * without an edge are kept.
 */
int hm__graph_from_edges(struct hm_edge_list *list, double dense, const char *name,
                         struct hm_graph **ret_graph, struct hm_err *err);
/*
 * Builds a graph whose edges are unknown and whose degrees are known. The array is copied and
 * sorted; entries with equal degrees are merged.
 */
int hm__graph_from_degrees(const struct hm_degree *degrees, size_t count, const char *name,
                           struct hm_graph **ret_graph, struct hm_err *err);

#endif
