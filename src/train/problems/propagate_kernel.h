/*
 * What the two kernels of belief propagation share: propagate_binary.c for two states,
 * propagate_general.c for any. A kernel keeps the two messages of each edge and, for each vertex,
 * the product T_i = phi_i prod_k m_ki, now and next.
 */
#ifndef HM_PROPAGATE_KERNEL_H
#define HM_PROPAGATE_KERNEL_H

#include "propagate.h"

struct hm_kernel_ops {
    /* Uniform messages; products are not made yet. */
    void *(*create)(const struct hm_mrf *mrf, const struct hm_propagate_settings *settings);
    void (*destroy)(void *kernel);
    /* Update all messages held; returns the largest change. Makes the next products of own
     * vertices and turns to them. */
    double (*step)(void *kernel);
    /* The products of own vertices anew from the messages: the same bits as step made. */
    void (*collect)(void *kernel);
    /* Products on their way to another rank: of one vertex, `bytes` long. */
    size_t (*bytes)(const void *kernel, size_t vertex);
    void (*pack)(const void *kernel, size_t vertex, void *into);
    void (*unpack)(void *kernel, size_t vertex, const void *from);
    /* The message of an edge into its first (0) or second (1) end, and how many doubles it has. */
    double *(*message)(void *kernel, size_t edge, int end, size_t *ret_length);
    /* Belief of a vertex; of an edge, a table like psi. Both sum to 1. */
    void (*belief)(const void *kernel, size_t vertex, double *belief);
    void (*edge_belief)(const void *kernel, size_t edge, double *belief);
    double (*flop)(const void *kernel); /* of a step */
};

extern const struct hm_kernel_ops hm__propagate_binary, hm__propagate_general;

/* Whether the binary kernel's bounds hold for this rank's part; see propagate_binary.c. */
bool hm__propagate_binary_fits(const struct hm_mrf *mrf);
/* psi_ab(x, y) of an edge. */
double hm__mrf_psi(const struct hm_mrf *mrf, size_t edge, size_t x, size_t y);

#endif
