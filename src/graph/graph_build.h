/* Putting a graph together from edges as they come, or from degrees. */
#ifndef HM_GRAPH_BUILD_H
#define HM_GRAPH_BUILD_H

#include "howmany.h"

/* Edges as they were named. Zero-initialise; release on every way out. */
struct hm_edge_list {
    uint64_t *ids; /* two for each edge */
    size_t count, room;
};

int hm__edge_list_add(struct hm_edge_list *list, uint64_t a, uint64_t b, struct hm_err *err);
void hm__edge_list_release(struct hm_edge_list *list);

/*
 * A graph from a list: vertices numbered anew in the order of their ids, self-loops and repeats
 * taken out. With dense set, ids are 0..vertices-1 already and vertices without an edge count.
 */
int hm__graph_from_edges(struct hm_edge_list *list, double dense, const char *name,
                         struct hm_graph **ret_graph, struct hm_err *err);
/* A graph of which only degrees are known. The array is copied and sorted; equal degrees joined. */
int hm__graph_from_degrees(const struct hm_degree *degrees, size_t count, const char *name,
                           struct hm_graph **ret_graph, struct hm_err *err);

#endif
