/* Inside of splitting a graph, shared by the methods. */
#ifndef HM_SPLIT_H
#define HM_SPLIT_H

#include "howmany.h"

/* Neighbours of each vertex: rows[starts[v]] to rows[starts[v + 1]]. */
struct hm_adjacency {
    uint64_t *starts;
    uint32_t *rows;
};

int hm__adjacency_init(struct hm_adjacency *rows, const struct hm_graph *graph, struct hm_err *err);
void hm__adjacency_release(struct hm_adjacency *rows);

/* Which worker each vertex goes to; owner has graph->vertices entries. */
int hm__assign_vertices(const struct hm_graph *graph, const struct hm_adjacency *rows,
                        enum hm_split split, double seed, uint32_t trial, uint32_t n,
                        uint32_t *owner, struct hm_err *err);
/* Exact figures of an assignment of vertices: fills edges_max, edges_mean, cut, replicas. */
int hm__measure_vertices(const struct hm_graph *graph, const struct hm_adjacency *rows,
                         const uint32_t *owner, uint32_t n, struct hm_parts *parts,
                         struct hm_err *err);
/* A split of the edges (edge-random, hdrf): likewise. */
int hm__split_edges(const struct hm_graph *graph, enum hm_split split, double seed, uint32_t trial,
                    uint32_t n, struct hm_parts *parts, struct hm_err *err);
/* Whether METIS can split the graph into n parts; HM_E_UNSUPPORTED in a build without METIS. */
int hm__metis_check(const struct hm_graph *graph, uint32_t n, struct hm_err *err);
/* METIS k-way into owner; HM_E_UNSUPPORTED in a build without METIS. */
int hm__metis(const struct hm_graph *graph, const struct hm_adjacency *rows, uint32_t n,
              double seed, uint32_t *owner, struct hm_err *err);

#endif
