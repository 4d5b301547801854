/* The facts and the network that are made of an ONNX graph. */
#ifndef HM_ONNX_FACTS_H
#define HM_ONNX_FACTS_H

#include "onnx.h"

/* Keep the sizes of an input as the file states them: numbers, or symbols where dims is NaN. False:
 * out of memory. */
bool hm__onnx_keep_stated(struct onnx *o, size_t input, int rank, const double *dims,
                          const char (*symbols)[48]);
/* Infer shapes, and write the facts and the network. */
void hm__onnx_facts(struct onnx *o);

#endif
