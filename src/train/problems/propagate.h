/*
 * Runs loopy belief propagation on a pairwise Markov random field, distributed over ranks.
 *
 * All directed messages are updated together from the messages of the previous iteration
 * (flooding):
 *     m_ij(y) = sum_x phi_i(x) psi_ij(x, y) prod_(k != j) m_ki(x)     sum-product
 * or with max_x instead of sum_x (max-product), normalised to sum_y m_ij(y) = 1. Messages start
 * uniform. With damping d, a message becomes (1 - d) times its new value plus d times its old
 * value, both normalised. Beliefs are b_i(x) ~ phi_i(x) prod_k m_ki(x). On a tree, messages and
 * beliefs are exact after as many iterations as the tree's diameter; see Yedidia, Freeman, Weiss:
 * Understanding belief propagation and its generalizations, 2003.
 *
 * A message has the same bits for any number of ranks. Ranks hold every edge that touches their
 * vertices and compute both messages of the edge. In each iteration, neighbouring ranks exchange
 * the products phi_i prod_k m_ki of the vertices on cut edges.
 *
 * If the potentials leave a vertex without a possible state (a contradiction), its messages and
 * beliefs are uniform, not NaN.
 */
#ifndef HM_PROPAGATE_H
#define HM_PROPAGATE_H

#include "comm.h"
#include "field.h"

struct hm_propagate_settings {
    bool max_product; /* True for max-product, false for sum-product messages. */
    /*
     * True if the general kernel is to be used even for fields that the faster kernel for two
     * states supports.
     */
    bool general;
    double damping; /* [0, 1) */
};

struct hm_propagate;

/*
 * Creates belief propagation with uniform messages on a rank's part of a field. The field is
 * borrowed and must outlive the result. All ranks must call this function; if one rank fails, all
 * ranks fail.
 */
int hm__propagate_new(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings,
                      struct hm_comm *comm, struct hm_propagate **ret_propagate,
                      struct hm_err *err);
void hm__propagate_free(struct hm_propagate *propagate);

/*
 * Performs one iteration, in which all messages are updated once. Returns the largest change of an
 * entry of a message on any rank, which is between 0 and 1. All ranks must call this function, like
 * all functions that have a parameter `comm`.
 *
 * The counted work is the number of additions, multiplications, divisions and maxima for both
 * messages of every edge that the rank holds. With two states, there are 11 operations per message
 * (5 for the update, 5 for the change, 1 for the product), 2 more with tables and 9 more with
 * damping. With S states, there are 2 S^2 operations per message with tables or 4 S with weights,
 * plus 8 S.
 */
double hm__propagate_step(struct hm_propagate *propagate, struct hm_comm *comm);

/*
 * Computes the beliefs of own vertices; mrf->places holds the offset of each vertex. The beliefs of
 * a vertex sum to 1. With max-product, they are max-marginals.
 */
void hm__propagate_beliefs(const struct hm_propagate *propagate, double *beliefs);
/*
 * Finds the most probable state (the state with the largest belief) of each own vertex; if several
 * states have the largest belief, finds the first of them.
 */
void hm__propagate_decode(const struct hm_propagate *propagate, uint32_t *states);
/*
 * Returns the Bethe approximation of log Z of the whole field, which is minus the Bethe free energy
 * of the beliefs; it is exact on trees. It is defined only for sum-product, since the beliefs of
 * max-product are not marginals.
 */
double hm__propagate_log_z(const struct hm_propagate *propagate, struct hm_comm *comm);
/*
 * Returns the logarithm of the product of all potentials phi and psi of the whole field, for given
 * states of the own vertices of each rank.
 */
double hm__propagate_score(struct hm_propagate *propagate, const uint32_t *states,
                           struct hm_comm *comm);

/*
 * Copies the messages to or from an array of doubles, ordered by the vertex to which they go, then
 * by the vertex from which they come. A message has one value per state of its target, or, with the
 * kernel for two states, one value: the ratio of state 1 to state 0. The messages of a rank are
 * contiguous in this order, so that they can be stored and loaded with different numbers of ranks.
 */
size_t hm__propagate_message_count(const struct hm_propagate *propagate);
void hm__propagate_get(const struct hm_propagate *propagate, double *messages);
/*
 * Continues from stored messages; the following iterations have the same bits as in the original
 * run.
 */
int hm__propagate_put(struct hm_propagate *propagate, const double *messages, struct hm_comm *comm,
                      struct hm_err *err);

#endif
