/*
 * Represents one rank's part of a pairwise Markov random field,
 *     p(x) = 1/Z prod_i phi_i(x_i) prod_(a,b) psi_ab(x_a, x_b),
 * where x_i is one of a few states. Each rank owns a contiguous block of the V vertices: rank r of
 * n owns the vertices floor(V r/n) to floor(V (r+1)/n) - 1 (possibly none, if there are more ranks
 * than vertices), and stores every edge that touches its block. A vertex of such an edge that
 * another rank owns is a ghost: this rank knows its index and its number of states, but not its
 * potential.
 *
 * On every rank, the edges are sorted by (smaller end, larger end), so that sums and products along
 * them have the same order, and the same bits, for any number of ranks.
 */
#ifndef HM_TRAIN_FIELD_H
#define HM_TRAIN_FIELD_H

#include "comm.h"
#include "howmany.h"
#include "markov.h"

/*
 * Number of dummy edges (0, 0) that are stored after the last edge, because prefetching reads
 * beyond it.
 */
enum { HM_MRF_AHEAD = 16 };

/*
 * One rank's part of a field. The struct owns all its arrays. Local indices are 0 to count - 1 for
 * the vertices of this rank (own vertices), and then continue with the ghosts.
 */
struct hm_mrf {
    size_t vertices, edges; /* Numbers of vertices and edges of the whole field. */
    int rank, size;
    /* Indices of own vertices in the whole field: first to first + count - 1. */
    size_t first, count;
    size_t ghosts; /* Number of ghosts: neighbouring vertices that other ranks own. */
    /* Indices of the ghosts in the whole field, ascending; `ghosts` elements. */
    uint32_t *ghost_ids;
    /* Offset of the first state of each local vertex; count + ghosts + 1 elements. */
    size_t *places;
    /*
     * Potentials phi of own vertices; `places` holds the offset of each vertex. They are scaled so
     * that the largest value of each vertex is 1.
     */
    double *unary;
    size_t edge_count; /* Number of edges that touch at least one own vertex. */
    /* Local indices of the two ends of each edge, followed by HM_MRF_AHEAD dummy edges. */
    uint32_t *ends;
    /*
     * Weight of each edge, above 0: psi(x, y) is the weight if x = y, and 1 otherwise. It is NULL
     * if the field has tables instead.
     */
    double *weights;
    /*
     * Table of psi(x_a, x_b) for each edge, row by row, scaled so that its largest value is 1. It
     * is NULL if the field has weights instead.
     */
    double *tables;
    size_t *table_places; /* Offset of each edge in `tables`; edge_count + 1 elements. */
    /*
     * Sum of the logarithms of the factors by which potentials were divided to make their largest
     * value 1. It includes the potentials phi of own vertices, and the potentials psi of edges
     * whose first end this rank owns.
     */
    double log_scale;
};

enum hm_mrf_shape {
    /*
     * A grid of rows x columns vertices; each vertex has edges to its right and lower neighbours.
     */
    HM_MRF_GRID,
    /*
     * A tree in which each vertex v > 0 is connected to a vertex chosen uniformly among 0 to v - 1.
     */
    HM_MRF_TREE,
    HM_MRF_RANDOM, /* A graph of `edges` distinct pairs of vertices, chosen uniformly. */
};

/*
 * Description of a generated field. An edge has psi(x, y) = e^J if x = y, and e^-J otherwise, with
 * J = coupling * N(0, 1), or J = coupling if `fixed` is true. A vertex with two states has the
 * potentials e^-h and e^h with h = field * N(0, 1) (this is the Ising model); with more states, it
 * has phi(x) = e^h_x. Potentials depend only on the seed and on the index of the vertex or edge.
 */
struct hm_mrf_recipe {
    enum hm_mrf_shape shape;
    double rows, columns; /* Numbers of rows and columns of a grid; unused for other shapes. */
    /* Number of vertices in a tree (at least 1) or a random graph (at least 2), below 2^32. */
    double vertices;
    double edges;    /* Number of edges of a random graph: 1 to vertices (vertices - 1)/2. */
    double states;   /* 2..HM_MARKOV_STATES */
    double coupling; /* -30..30 */
    double field;    /* 0..30 */
    bool fixed;
    uint64_t seed;
};

/*
 * Builds the part of a generated field for rank `rank` of `size` ranks. Like the next two
 * functions, it does not communicate.
 */
int hm__mrf_make(const struct hm_mrf_recipe *recipe, int rank, int size, struct hm_mrf **ret_mrf,
                 struct hm_err *err);
/*
 * Builds a rank's part of a field on a given graph, with potentials as in `recipe`; the recipe's
 * shape and sizes are ignored.
 */
int hm__mrf_from_graph(const struct hm_graph *graph, const struct hm_mrf_recipe *recipe, int rank,
                       int size, struct hm_mrf **ret_mrf, struct hm_err *err);
/*
 * Builds a rank's part of a field with given tables. The tables are stored as weights w if each has
 * the form psi(x, y) = s w for x = y and psi(x, y) = s otherwise, with s > 0.
 */
int hm__mrf_from_markov(const struct hm_markov *markov, int rank, int size, struct hm_mrf **ret_mrf,
                        struct hm_err *err);
void hm__mrf_free(struct hm_mrf *mrf);

/*
 * Returns a fingerprint of the field for checkpoints: it changes if an edge or a potential of any
 * rank changes (except by a factor), and does not depend on how the vertices are distributed.
 */
double hm__mrf_fingerprint(struct hm_comm *comm, const struct hm_mrf *mrf);

/*
 * Returns the index of the first vertex of a rank's block; for rank `size`, returns the number of
 * all vertices.
 */
size_t hm__mrf_block(size_t vertices, int rank, int size);
/* Returns the rank that owns a vertex. */
int hm__mrf_owner(size_t vertices, size_t vertex, int size);

/* ---- for the files that build fields -------------------------------------------------------- */

/*
 * An edge in the list of edges that a rank collects (struct hm_mrf_edges). Zero-initialise the
 * list; the caller frees its member `list`.
 */
struct hm_mrf_edge {
    uint32_t a, b; /* Indices of the two vertices of the edge in the whole field, a < b. */
    /*
     * Number of the edge in the file or in the generated graph, which determines the potential that
     * is copied or drawn.
     */
    uint64_t number;
};

struct hm_mrf_edges {
    struct hm_mrf_edge *list;
    size_t count, room;
};

/*
 * Creates a rank's part of a field that has vertices but no edges yet; hm__mrf_connect allocates
 * the arrays.
 */
struct hm_mrf *hm__mrf_new(size_t vertices, size_t edges, int rank, int size);
/* Adds an edge to the list if it touches the rank's block of vertices. */
int hm__mrf_add(const struct hm_mrf *mrf, struct hm_mrf_edges *edges, uint32_t a, uint32_t b,
                uint64_t number, struct hm_err *err);
/* Sorts the edges, finds the ghosts, and sets the arrays `ends` and `ghost_ids`. */
int hm__mrf_connect(struct hm_mrf *mrf, struct hm_mrf_edges *edges, struct hm_err *err);

#endif
