/*
 * Loopy belief propagation on a pairwise Markov random field, distributed over ranks.
 *
 * All directed messages are updated at once from those of the previous iteration (flooding):
 *     m_ij(y) = sum_x phi_i(x) psi_ij(x, y) prod_(k != j) m_ki(x)     sum-product
 * or with max_x instead of sum_x (max-product), normalised to sum_y m_ij(y) = 1; they start
 * uniform. With damping d, a message becomes (1 - d) times its new value plus d times its old
 * value, both normalised. Beliefs are b_i(x) ~ phi_i(x) prod_k m_ki(x). On a tree both are exact
 * after as many iterations as its diameter; see Yedidia, Freeman, Weiss: Understanding belief
 * propagation and its generalizations, 2003.
 *
 * A message has the same bits for any number of ranks. Ranks hold every edge that touches their
 * vertices and compute both of its messages. In each iteration, neighbouring ranks exchange the
 * products phi_i prod_k m_ki of the vertices on cut edges.
 *
 * If the potentials leave a vertex without a possible state (a contradiction), its messages and
 * beliefs are uniform, not NaN.
 */
#ifndef HM_PROPAGATE_H
#define HM_PROPAGATE_H

#include "comm.h"
#include "field.h"

struct hm_propagate_settings {
    bool max_product; /* False: sum-product. */
    bool general;     /* Use the general kernel even where the kernel for two states applies. */
    double damping;   /* [0, 1) */
};

struct hm_propagate;

/*
 * Start with uniform messages on a rank's part of a field, which is borrowed and must outlive the
 * result. Collective; if one rank fails, all do.
 */
int hm__propagate_new(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings,
                      struct hm_comm *comm, struct hm_propagate **ret_propagate,
                      struct hm_err *err);
void hm__propagate_free(struct hm_propagate *propagate);

/*
 * One iteration: update all messages once. Returns the largest change of an entry of a message on
 * any rank, 0..1. Collective, like all functions with a comm.
 *
 * The counted work is additions, multiplications, divisions and maxima, one each, for both messages
 * of every edge held. With two states that is 11 per message (5 for the update, 5 for the change, 1
 * for the product), 2 more with tables, 9 more with damping; with S states, 2 S^2 with tables or 4
 * S with weights, and 8 S.
 */
double hm__propagate_step(struct hm_propagate *propagate, struct hm_comm *comm);

/* Beliefs of own vertices, at mrf->places; each sums to 1. Max-product: max-marginals. */
void hm__propagate_beliefs(const struct hm_propagate *propagate, double *beliefs);
/* The state with the largest belief of each own vertex; the first one of equal beliefs. */
void hm__propagate_decode(const struct hm_propagate *propagate, uint32_t *states);
/*
 * The Bethe approximation of log Z (minus the Bethe free energy of the beliefs) of the whole field;
 * exact on trees. Sum-product only: beliefs of max-product are not marginals.
 */
double hm__propagate_log_z(const struct hm_propagate *propagate, struct hm_comm *comm);
/*
 * Logarithm of the product of all phi and psi of the whole field for given states of own vertices.
 */
double hm__propagate_score(struct hm_propagate *propagate, const uint32_t *states,
                           struct hm_comm *comm);

/*
 * Messages as doubles, ordered by the vertex they go to, then by the vertex they come from. A
 * message has one value per state of its target, or, with the kernel for two states, one value: the
 * ratio of state 1 to state 0. The messages of a rank are contiguous in this order, so that they
 * can be stored and loaded with different numbers of ranks.
 */
size_t hm__propagate_message_count(const struct hm_propagate *propagate);
void hm__propagate_get(const struct hm_propagate *propagate, double *messages);
/*
 * Continue from stored messages; the iterations that follow have the same bits as in the original
 * run.
 */
int hm__propagate_put(struct hm_propagate *propagate, const double *messages, struct hm_comm *comm,
                      struct hm_err *err);

#endif
