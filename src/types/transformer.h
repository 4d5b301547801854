/*
 * Computes derived sizes and counts of a transformer (struct hm_transformer in howmany_layouts.h),
 * and checks the struct.
 */
#ifndef HM_TRANSFORMER_H
#define HM_TRANSFORMER_H

#include "howmany_layouts.h"

/*
 * Sets sizes that are not given (NaN or 0) to values derived from others: kv_heads = heads,
 * head_dim = hidden / heads.
 */
void hm__transformer_complete(struct hm_transformer *network);
/* Checks every field. The error names the field, its value and the allowed values. */
int hm__transformer_check(const struct hm_transformer *network, struct hm_err *err);

/*
 * Returns the number of attention blocks per layer; it is above 1 if layers also attend to an
 * encoder.
 */
double hm__transformer_blocks(const struct hm_transformer *network);
/*
 * Returns the fraction of the attention matrix that a layer computes, summed over its attention
 * blocks and averaged over all layers: 0.5 for a causal network, 1 for an encoder.
 */
double hm__transformer_core_share(const struct hm_transformer *network);
/* Returns the number of layers with experts; 0 for a dense network. */
double hm__transformer_expert_layers(const struct hm_transformer *network);

#endif
