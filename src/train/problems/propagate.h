/*
 * Loopy belief propagation on a pairwise Markov random field, shared out among ranks.
 *
 * All directed messages are updated at once from those of the iteration before (flooding):
 *     m_ij(y) = sum_x phi_i(x) psi_ij(x, y) prod_(k != j) m_ki(x)     sum-product
 * or max_x in its place (max-product), scaled so that sum_y m_ij(y) = 1; they begin uniform. With
 * damping d, a message becomes (1 - d) times what the rule gives plus d times what it was, both
 * scaled so. Beliefs are b_i(x) ~ phi_i(x) prod_k m_ki(x). On a tree both are exact after as many
 * iterations as its diameter; see Yedidia, Freeman, Weiss: Understanding belief propagation and its
 * generalizations, 2003.
 *
 * A message has the same bits whatever the number of ranks. Ranks hold every edge that touches
 * their vertices and compute both of its messages; what they exchange is the products
 * phi_i prod_k m_ki of the vertices that others need, once an iteration, with neighbours only.
 *
 * A contradiction, where the potentials leave a vertex no state at all, gives uniform messages and
 * beliefs, not NaN.
 */
#ifndef HM_PROPAGATE_H
#define HM_PROPAGATE_H

#include "comm.h"
#include "field.h"

struct hm_propagate_settings {
    bool max_product; /* else sum-product */
    bool general;     /* use the kernel for any number of states even where the binary one could */
    double damping;   /* [0, 1) */
};

struct hm_propagate;

/*
 * Uniform messages on a rank's part of a field, which is borrowed and must outlive the result. All
 * ranks must call it together; if one fails, all do.
 */
int hm__propagate_new(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings,
                      struct hm_comm *comm, struct hm_propagate **ret_propagate,
                      struct hm_err *err);
void hm__propagate_free(struct hm_propagate *propagate);

/*
 * One iteration: all messages once. Returns the largest change of an entry of a message of any
 * rank, 0..1. Together on all ranks, as all that takes a comm.
 *
 * Counted as work: additions, multiplications, divisions and maxima, each as one, of both messages
 * of every edge held. With two states that is 11 a message (5 the rule, 5 the change, 1 the
 * product), 2 more with tables, 9 more with damping; with S states, 2 S^2 with tables or 4 S with
 * weights, and 8 S.
 */
double hm__propagate_step(struct hm_propagate *propagate, struct hm_comm *comm);
/* Until the largest change is at most `tolerance`, or `most` iterations; returns how many. */
size_t hm__propagate_solve(struct hm_propagate *propagate, struct hm_comm *comm, size_t most,
                           double tolerance, double *ret_change);

/* Beliefs of own vertices, at mrf->places; each sums to 1. Max-product: max-marginals. */
void hm__propagate_beliefs(const struct hm_propagate *propagate, double *beliefs);
/* The state with the largest belief of each own vertex; the first of equals. */
void hm__propagate_decode(const struct hm_propagate *propagate, uint32_t *states);
/*
 * Bethe's approximation of log Z, minus the Bethe free energy of the beliefs, of the whole field;
 * exact on trees. With sum-product only: max-product's beliefs are no marginals.
 */
double hm__propagate_log_z(const struct hm_propagate *propagate, struct hm_comm *comm);
/* log of phi(x) psi(x) of given states of own vertices, over the whole field. */
double hm__propagate_score(struct hm_propagate *propagate, const uint32_t *states,
                           struct hm_comm *comm);

/* Whether the binary kernel is at work. */
bool hm__propagate_is_binary(const struct hm_propagate *propagate);

/*
 * Messages as doubles in an order of the whole field: by the vertex they go into, then by the
 * vertex they come from; a message has as many as its target has states, or one, the ratio of
 * state 1 to state 0, with the binary kernel. A rank's are contiguous, so that they can be stored
 * by some ranks and read by others.
 */
size_t hm__propagate_message_count(const struct hm_propagate *propagate);
/* Where a rank's messages begin among all, and how many there are in all. */
size_t hm__propagate_message_first(const struct hm_propagate *propagate);
size_t hm__propagate_message_total(const struct hm_propagate *propagate);
void hm__propagate_get(const struct hm_propagate *propagate, double *messages);
/* Go on from stored messages: the bits that follow are those that would have followed. */
int hm__propagate_put(struct hm_propagate *propagate, const double *messages, struct hm_comm *comm,
                      struct hm_err *err);

#endif
