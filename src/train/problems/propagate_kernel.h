/*
 * Defines the interface of the two kernels of belief propagation: propagate_binary.c for two
 * states, and propagate_general.c for any number of states. A kernel holds the two messages of each
 * edge and, for each vertex, the product T_i = phi_i prod_k m_ki of this and of the next iteration.
 */
#ifndef HM_PROPAGATE_KERNEL_H
#define HM_PROPAGATE_KERNEL_H

#include "propagate.h"

struct hm_kernel_ops {
    /*
     * Creates a kernel with uniform messages; the products of the vertices must be computed
     * afterwards.
     */
    void *(*create)(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings);
    void (*destroy)(void *kernel);
    /*
     * Updates all messages, and computes the products of own vertices for the next iteration, which
     * then become the current products. Returns the largest change of an entry of a message.
     */
    double (*step)(void *kernel);
    /*
     * Computes the products of own vertices from the messages; the results have the same bits as
     * the results of `step`.
     */
    void (*collect)(void *kernel);
    /*
     * `bytes` is the size of the product of a vertex; `pack` and `unpack` copy the product to and
     * from a buffer that is exchanged with another rank.
     */
    size_t (*bytes)(const void *kernel, size_t vertex);
    void (*pack)(const void *kernel, size_t vertex, void *into);
    void (*unpack)(void *kernel, size_t vertex, const void *from);
    /*
     * Returns the message of an edge that goes to its first (end = 0) or second (end = 1) end;
     * *ret_length is the number of doubles in it.
     */
    double *(*message)(void *kernel, size_t edge, int end, size_t *ret_length);
    /*
     * `belief` computes the belief of a vertex, and `edge_belief` computes the belief of an edge,
     * which is a table of the same shape as psi. Each belief sums to 1.
     */
    void (*belief)(const void *kernel, size_t vertex, double *belief);
    void (*edge_belief)(const void *kernel, size_t edge, double *belief);
    /* Returns the number of floating-point operations that one step needs. */
    double (*flop)(const void *kernel);
};

extern const struct hm_kernel_ops hm__propagate_binary, hm__propagate_general;

/*
 * Returns whether this rank's part of the field has the value ranges that the binary kernel needs;
 * see propagate_binary.c.
 */
bool hm__propagate_binary_fits(const struct hm_mrf *mrf);
/* Returns the potential psi_ab(x, y) of an edge. */
double hm__mrf_psi(const struct hm_mrf *mrf, size_t edge, size_t x, size_t y);

#endif
