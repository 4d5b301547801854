/* Internal interface of the methods that split a graph among workers. */
#ifndef HM_SPLIT_H
#define HM_SPLIT_H

#include "howmany.h"

/* Adjacency rows: the neighbours of vertex v are rows[starts[v]] to rows[starts[v + 1] - 1]. */
struct hm_adjacency {
    uint64_t *starts;
    uint32_t *rows;
};

int hm__adjacency_init(struct hm_adjacency *rows, const struct hm_graph *graph, struct hm_err *err);
void hm__adjacency_release(struct hm_adjacency *rows);

/* Assigns each vertex to a worker; owner has graph->vertices entries. */
int hm__assign_vertices(const struct hm_graph *graph, const struct hm_adjacency *rows,
                        enum hm_split split, double seed, uint32_t trial, uint32_t n,
                        uint32_t *owner, struct hm_err *err);
/*
 * Computes exact counts for an assignment of vertices: sets edges_max, edges_mean, cut and
 * replicas.
 */
int hm__measure_vertices(const struct hm_graph *graph, const struct hm_adjacency *rows,
                         const uint32_t *owner, uint32_t n, struct hm_parts *parts,
                         struct hm_err *err);
/*
 * Splits the edges among workers (edge-random, hdrf) and sets edges_max, edges_mean and replicas.
 */
int hm__split_edges(const struct hm_graph *graph, enum hm_split split, double seed, uint32_t trial,
                    uint32_t n, struct hm_parts *parts, struct hm_err *err);
/*
 * Checks that METIS can split the graph into n parts; returns HM_E_UNSUPPORTED in a build without
 * METIS.
 */
int hm__metis_check(const struct hm_graph *graph, uint32_t n, struct hm_err *err);
/*
 * Assigns each vertex to the worker owner[vertex] with METIS k-way; returns HM_E_UNSUPPORTED in a
 * build without METIS.
 */
int hm__metis(const struct hm_graph *graph, const struct hm_adjacency *rows, uint32_t n,
              double seed, uint32_t *owner, struct hm_err *err);

/* Names of the request's fields on which the work of a split depends. */
struct hm_split_fields {
    const char *n, *trials, *graph;
};

/*
 * Estimates the work of splitting a graph for `splits` numbers of workers above 1, whose mean is
 * mean_n, and fails if it cannot be done within the limits of the request (admit.h). If the edges
 * are known (`ends` is not NULL), only the numbers of vertices and edges are used, so that a graph
 * that has yet to be generated can be estimated.
 */
int hm__split_admit(const struct hm_graph *graph, enum hm_split split, double trials, double splits,
                    double mean_n, const struct hm_split_fields *fields, struct hm_err *err);

/*
 * Returns how often METIS handles each vertex and each edge if it splits a graph among n > 1
 * workers, at least: once while it coarsens and refines the graph, and several times for each
 * bisection of the coarse graph, which has up to 30 vertices for each worker.
 */
double hm__metis_passes(double vertices, double n);

/* A weighted edge between two vertices. */
struct hm_weighted_edge {
    uint32_t from, to;
    double weight;
};

/*
 * Assigns each of `count` vertices to one of n parts of about equal weight with few edges between
 * them, using METIS. Returns HM_E_UNSUPPORTED in a build without METIS, and HM_E_LIMIT if there are
 * fewer than ten vertices for each part.
 */
int hm__metis_weighted(size_t count, const double *weights, const struct hm_weighted_edge *edges,
                       size_t edge_count, uint32_t n, uint32_t *owner, struct hm_err *err);

#endif
