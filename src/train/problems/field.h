/*
 * One rank's part of a pairwise Markov random field,
 *     p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b) psi_ab(x_a, x_b),
 * where x_i is one of a few states. Ranks own contiguous blocks of vertices: rank r of n owns the
 * vertices floor(V r/n) to floor(V (r+1)/n) - 1 (none, when there are more ranks than vertices),
 * and holds every edge that touches its block. The other ends of cut edges are ghosts, whose number
 * and number of states are known here, but not their potential.
 *
 * On every rank the edges are sorted by (smaller end, larger end), so that sums and products along
 * them have the same order, and the same bits, for any number of ranks.
 */
#ifndef HM_TRAIN_FIELD_H
#define HM_TRAIN_FIELD_H

#include "howmany.h"
#include "markov.h"

/* Padding: zero edges after the last one, which prefetching may read. */
enum { HM_MRF_AHEAD = 16 };

/* Every pointer is owned. Local indices: own vertices 0..count-1, then ghosts. */
struct hm_mrf {
    size_t vertices, edges; /* Of the whole field. */
    int rank, size;
    size_t first, count; /* Own vertices: first..first + count - 1. */
    size_t ghosts;       /* Number of neighbouring vertices that other ranks own. */
    uint32_t *ghost_ids; /* Their indices in the whole field, ascending. */
    size_t *places;      /* [count + ghosts + 1]: offset of the states of each local vertex. */
    /* phi of own vertices, at `places`; the largest value of each vertex is 1. */
    double *unary;
    size_t edge_count; /* Number of edges that touch own vertices. */
    /* Local indices of the two ends of each edge, then HM_MRF_AHEAD edges of zeros. */
    uint32_t *ends;
    double *weights; /* psi(x, y) = weight > 0 if x = y, else 1; NULL: the field has tables. */
    /* psi(x_a, x_b), row by row, with largest value 1; NULL: the field has weights. */
    double *tables;
    size_t *table_places; /* [edge_count + 1]: offsets in `tables`. */
    /*
     * Logarithm of the factors divided out of phi of own vertices and of psi of edges whose first
     * end is own.
     */
    double log_scale;
};

enum hm_mrf_shape {
    HM_MRF_GRID,   /* rows x columns; edges to the right and lower neighbours. */
    HM_MRF_TREE,   /* Vertex v > 0 is connected to a uniformly chosen vertex of 0..v-1. */
    HM_MRF_RANDOM, /* `edges` distinct pairs, chosen uniformly. */
};

/*
 * Description of a generated field. Edges: psi(x, y) = e^J if x = y, else e^-J, with J = coupling *
 * N(0, 1), or J = coupling if `fixed`. Vertices with two states: phi = e^-h, e^h with h = field *
 * N(0, 1) (this is the Ising model); with more states phi(x) = e^h_x. Potentials depend only on the
 * seed and on the index of the vertex or edge.
 */
struct hm_mrf_recipe {
    enum hm_mrf_shape shape;
    double rows, columns; /* Grid only. */
    double vertices;      /* Tree and random: 1..2^32 - 1; random: at least 2. */
    double edges;         /* Random only: 1..vertices (vertices - 1)/2. */
    double states;        /* 2..HM_MARKOV_STATES */
    double coupling;      /* -30..30 */
    double field;         /* 0..30 */
    bool fixed;
    uint64_t seed;
};

/* Build the part of rank `rank` of `size`. These functions do not communicate. */
int hm__mrf_make(const struct hm_mrf_recipe *recipe, int rank, int size, struct hm_mrf **ret_mrf,
                 struct hm_err *err);
/* Potentials as in `recipe` on a given graph; the recipe's shape and sizes are ignored. */
int hm__mrf_from_graph(const struct hm_graph *graph, const struct hm_mrf_recipe *recipe, int rank,
                       int size, struct hm_mrf **ret_mrf, struct hm_err *err);
/* If all tables have the form psi(x, y) = s w if x = y, else s, with s > 0, they become weights. */
int hm__mrf_from_markov(const struct hm_markov *markov, int rank, int size, struct hm_mrf **ret_mrf,
                        struct hm_err *err);
void hm__mrf_free(struct hm_mrf *mrf);

/* First vertex of a rank's block; the number of vertices for rank == size. */
size_t hm__mrf_block(size_t vertices, int rank, int size);
/* The rank that owns a vertex. */
int hm__mrf_owner(size_t vertices, size_t vertex, int size);

/* ---- for the files that build fields -------------------------------------------------------- */

/* Edges of a rank while they are collected. Zero-initialise; the caller frees `list`. */
struct hm_mrf_edge {
    uint32_t a, b; /* Indices in the whole field, a < b. */
    /* Index of the edge in its source, from which its potential is drawn or copied. */
    uint64_t number;
};

struct hm_mrf_edges {
    struct hm_mrf_edge *list;
    size_t count, room;
};

/* An empty part with its block of vertices; hm__mrf_connect allocates the arrays. */
struct hm_mrf *hm__mrf_new(size_t vertices, size_t edges, int rank, int size);
/* Add an edge if it touches the block. */
int hm__mrf_add(const struct hm_mrf *mrf, struct hm_mrf_edges *edges, uint32_t a, uint32_t b,
                uint64_t number, struct hm_err *err);
/* Sort the edges, find the ghosts and fill ends and ghost_ids. */
int hm__mrf_connect(struct hm_mrf *mrf, struct hm_mrf_edges *edges, struct hm_err *err);

#endif
