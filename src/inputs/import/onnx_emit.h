/*
 * Writes layers of an ONNX model as text: functions that the operators share, and one function for
 * each family of operators.
 */
#ifndef HM_ONNX_EMIT_H
#define HM_ONNX_EMIT_H

#include "onnx_lister.h"

/* Returns the tensor that is input `i` of a node; NULL if the node has no such input. */
const struct onnx_value *hm__onnx_value(const struct onnx_lister *l, const struct onnx_node *node,
                                        size_t i);
/* Returns element `i` of a list of integers; `fallback` if the attribute has no such element. */
double hm__onnx_item(const struct onnx_node *node, const char *name, size_t i, double fallback);

/* Finds the shape of one sample of a tensor; returns false if it is not known. */
bool hm__onnx_sample_shape(const struct onnx_lister *l, size_t value, struct hm_shape *ret);
/* Appends a shape as the value of a YAML key. */
void hm__onnx_write_shape(struct hm_text *text, const struct hm_shape *s);
/* Writes a view with the given shape, unless the last layer already has this shape. */
void hm__onnx_view(struct onnx_lister *l, const struct hm_shape *s);
/*
 * Writes a view of a tensor. If the shape of the tensor is unknown, stores the operator of the node
 * in `refused` and returns false.
 */
bool hm__onnx_view_of(struct onnx_lister *l, const struct onnx_node *node, size_t value);
/* Writes a layer without settings, such as "relu", that has the shape of the node's output. */
void hm__onnx_word(struct onnx_lister *l, const struct onnx_node *node, const char *word);
/* Sets the current shape to that of the first output of a node. */
void hm__onnx_set_output(struct onnx_lister *l, const struct onnx_node *node);
/* Adds the parameters of a weight to the total; returns false if they were added before. */
bool hm__onnx_count_weight(struct onnx_lister *l, size_t value);

/* Each of these functions writes the layer for one node of a family of operators. */
void hm__onnx_conv(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_pool(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_global_pool(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_product(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_attention(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_batch_norm(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_layer_norm(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_written_norm(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_recurrent(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_gather(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_pair(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_reduce(struct onnx_lister *l, const struct onnx_node *node);
void hm__onnx_reshape(struct onnx_lister *l, const struct onnx_node *node);

#endif
