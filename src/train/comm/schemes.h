/* The ways of an all-reduce, and what they are made of. For comm.c; others see comm.h. */
#ifndef HM_SCHEMES_H
#define HM_SCHEMES_H

#include "comm.h"

/* A message each way at once; the bytes sent are counted, and without any nothing moves. */
void hm__comm_exchange(struct hm_comm *comm, int to, const void *data, size_t bytes, int from,
                       void *into, size_t into_bytes);
void hm__tree_broadcast(struct hm_comm *comm, int root, void *data, size_t bytes);

/* Bring what another rank has into what we have: into[i] = into[i] with from[i]. */
typedef void hm_combine_fn(struct hm_comm *comm, double *into, const double *from, size_t count);
/* Sum; counted as work, and its time is not talking. */
hm_combine_fn hm__comm_add;

/* All-reduce in place; scratch holds count values. comm->size > 1 and count > 0. */
typedef void hm_reduce_fn(struct hm_comm *comm, double *values, size_t count, double *scratch);
hm_reduce_fn hm__reduce_auto, hm__reduce_tree, hm__reduce_ring, hm__reduce_doubling,
    hm__reduce_two_wave, hm__reduce_master;
void hm__combine_doubling(struct hm_comm *comm, double *values, size_t count, double *scratch,
                          hm_combine_fn *combine);

/* Sum of the ranks before `root` to it, by groups of ceil(sqrt n); the others' values are spoilt.
 */
void hm__two_waves_to(struct hm_comm *comm, int root, double *values, size_t count,
                      double *scratch);

#endif
