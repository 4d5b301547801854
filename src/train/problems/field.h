/*
 * One rank's part of a pairwise Markov random field,
 *     p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b) psi_ab(x_a, x_b),
 * where x_i is one of a few states. Ranks own contiguous blocks of vertices, rank r of n the
 * vertices floor(V r/n) to floor(V (r+1)/n) - 1 (none, when there are more ranks than vertices),
 * and hold every edge that touches their block. The other ends of cut edges are ghosts: known by
 * number and number of states, not by potential.
 *
 * Edges stand in rising order of (smaller end, larger end) on every rank, so that whatever is
 * added or multiplied along them comes in the same order whatever the number of ranks.
 */
#ifndef HM_TRAIN_FIELD_H
#define HM_TRAIN_FIELD_H

#include "howmany.h"
#include "markov.h"

enum { HM_MRF_AHEAD = 16 }; /* edges that may be looked at beyond the last: zeros */

/* Every pointer is owned. Local numbers: own vertices 0..count-1, then ghosts. */
struct hm_mrf {
    size_t vertices, edges; /* of the whole field */
    int rank, size;
    size_t first, count;  /* own vertices: first..first + count - 1 */
    size_t ghosts;        /* neighbours that other ranks own */
    uint32_t *ghost_ids;  /* their numbers in the whole field, rising */
    size_t *places;       /* count + ghosts + 1: where the states of a local vertex begin */
    double *unary;        /* phi of own vertices, at places; the largest of each is 1 */
    size_t edge_count;    /* edges that touch own vertices */
    uint32_t *ends;       /* local numbers, two for each edge, then HM_MRF_AHEAD edges of zeros */
    double *weights;      /* psi(x, y) = weight > 0 if x = y, else 1; NULL: tables */
    double *tables;       /* psi(x_a, x_b), row by row, the largest 1; NULL: weights */
    size_t *table_places; /* edge_count + 1, with tables */
    double log_scale;     /* logarithm of what was divided out of the phi of own vertices and the
                             psi of edges whose first end is own */
};

enum hm_mrf_shape {
    HM_MRF_GRID,   /* rows x columns, neighbours beside and below */
    HM_MRF_TREE,   /* vertex v > 0 hangs on one of 0..v-1, each as likely */
    HM_MRF_RANDOM, /* `edges` of all pairs, each as likely */
};

/*
 * A field to make. Edges: psi(x, y) = e^J if x = y, else e^-J, with J = coupling * N(0, 1), or J =
 * coupling if `fixed`. Vertices of two states: phi = e^-h, e^h with h = field * N(0, 1) (with two
 * states this is Ising's model); of more, phi(x) = e^h_x. Potentials depend on the seed and the
 * number of the vertex or edge alone.
 */
struct hm_mrf_recipe {
    enum hm_mrf_shape shape;
    double rows, columns; /* grid */
    double vertices;      /* tree and random: 1..2^32 - 1; random: at least 2 */
    double edges;         /* random: 1..vertices (vertices - 1)/2 */
    double states;        /* 2..HM_MARKOV_STATES */
    double coupling;      /* -30..30 */
    double field;         /* 0..30 */
    bool fixed;
    uint64_t seed;
};

/* The part of rank `rank` of `size`. None of these talks to other ranks. */
int hm__mrf_make(const struct hm_mrf_recipe *recipe, int rank, int size, struct hm_mrf **ret_mrf,
                 struct hm_err *err);
/* Potentials as in a recipe on a graph whose edges are known; its shape and sizes do not matter. */
int hm__mrf_from_graph(const struct hm_graph *graph, const struct hm_mrf_recipe *recipe, int rank,
                       int size, struct hm_mrf **ret_mrf, struct hm_err *err);
/* Tables that are all psi(x, y) = s w if x = y, else s, s > 0, become weights. */
int hm__mrf_from_markov(const struct hm_markov *markov, int rank, int size, struct hm_mrf **ret_mrf,
                        struct hm_err *err);
void hm__mrf_free(struct hm_mrf *mrf);

/* The first vertex of a rank's block; of `size` itself, the number of vertices. */
size_t hm__mrf_block(size_t vertices, int rank, int size);
/* Who owns a vertex. */
int hm__mrf_owner(size_t vertices, size_t vertex, int size);

/* ---- for the files that build fields ----------------------------------------------------------
 */

/* Edges of a rank as they are found. Zero-initialise; release on every way out. */
struct hm_mrf_edge {
    uint32_t a, b;   /* in the whole field, a < b */
    uint64_t number; /* of the edge in its source, for its potential */
};

struct hm_mrf_edges {
    struct hm_mrf_edge *list;
    size_t count, room;
};

/* An empty part with its block; the arrays come with hm__mrf_connect. */
struct hm_mrf *hm__mrf_new(size_t vertices, size_t edges, int rank, int size);
/* Keep an edge if it touches the block. */
int hm__mrf_add(const struct hm_mrf *mrf, struct hm_mrf_edges *edges, uint32_t a, uint32_t b,
                uint64_t number, struct hm_err *err);
/* Sort the edges, find the ghosts and fill ends and ghost_ids. */
int hm__mrf_connect(struct hm_mrf *mrf, struct hm_mrf_edges *edges, struct hm_err *err);

#endif
