/*
 * Declares the functions that infer the shapes of one ONNX node: access to its inputs, outputs and
 * attributes, and the operators that rearrange tensors.
 */
#ifndef HM_ONNX_STEP_H
#define HM_ONNX_STEP_H

#include "onnx.h"

/* The node whose output shapes are being inferred. */
struct onnx_step {
    struct onnx *o;
    const struct onnx_node *node;
};

/* Returns the tensor with the given index; NULL if the index is SIZE_MAX. */
struct onnx_value *hm__onnx_value_at(const struct onnx_step *s, size_t index);
/* These functions return input or output `i` of the node; NULL if it is missing. */
struct onnx_value *hm__onnx_step_input(const struct onnx_step *s, size_t i);
struct onnx_value *hm__onnx_step_output(const struct onnx_step *s, size_t i);
/* Returns an attribute that is an integer; `fallback` if the node does not have it. */
double hm__onnx_step_int(const struct onnx_step *s, const char *name, double fallback);
/*
 * Returns element `i` of an attribute that is a list of integers; `fallback` if there is no such
 * element.
 */
double hm__onnx_list_item(const struct onnx_attribute *a, size_t i, double fallback);
/*
 * Returns element `i` of a list that is an input of the node or, in old versions of ONNX, an
 * attribute; NaN if there is no such element.
 */
double hm__onnx_axis_item(const struct onnx_step *s, size_t input, const char *name, size_t i);
/*
 * Returns whether the list `axes` of the node contains the given axis of a tensor with `rank`
 * dimensions.
 */
bool hm__onnx_is_named(const struct onnx_step *s, int axis, int rank);

/* Sets the shape of a tensor; returns false if a size or the rank is not possible. */
bool hm__onnx_set_shape(struct onnx_value *v, const double *dims, size_t rank);
/* Allocates the elements of a tensor in the arena; returns NULL if there are too many. */
double *hm__onnx_new_data(const struct onnx_step *s, struct onnx_value *v, size_t count);
/* Gives the first output the type, the shape and the elements of input `i`. */
bool hm__onnx_same_as(const struct onnx_step *s, size_t i);

/*
 * Each of these functions infers the output of one operator, and its elements if they are known and
 * few; returns false if the inputs do not determine the shape. `add` is true for Unsqueeze.
 */
bool hm__onnx_infer_flatten(const struct onnx_step *s);
bool hm__onnx_infer_reshape(const struct onnx_step *s);
bool hm__onnx_infer_transpose(const struct onnx_step *s);
bool hm__onnx_infer_concat(const struct onnx_step *s);
bool hm__onnx_infer_slice(const struct onnx_step *s);
bool hm__onnx_infer_squeeze(const struct onnx_step *s, bool add);
bool hm__onnx_infer_gather(const struct onnx_step *s);
bool hm__onnx_infer_shape(const struct onnx_step *s);
bool hm__onnx_infer_constant(const struct onnx_step *s);
bool hm__onnx_infer_filled(const struct onnx_step *s);
bool hm__onnx_infer_range(const struct onnx_step *s);
bool hm__onnx_infer_expand(const struct onnx_step *s);

#endif
