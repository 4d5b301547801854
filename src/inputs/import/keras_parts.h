/*
 * Declares the functions that rules for Keras layers share, and the rules for layers that only
 * change the shape.
 */
#ifndef HM_KERAS_PARTS_H
#define HM_KERAS_PARTS_H

#include "keras.h"
#include "whole.h"

/* Returns the number that a value contains; NaN if it is not a number. */
double hm__keras_number(const struct hm_value *value);
/* Returns a setting that is a number; `fallback` if it is missing. */
double hm__keras_setting(const struct keras_use *u, const char *key, double fallback);
/* Returns a setting that is true or false; `fallback` if it is missing. */
bool hm__keras_flag(const struct keras_use *u, const char *key, bool fallback);
/* Returns whether a setting has the given text as its value. */
bool hm__keras_is_setting(const struct keras_use *u, const char *key, const char *wanted);
/*
 * Returns element `i` of a setting that is a list, or the setting itself if it is one number for
 * all dimensions.
 */
double hm__keras_element(const struct keras_use *u, const char *key, int i, double fallback);
/* Counts parameters of a layer as trainable or, if the layer is frozen, as frozen. */
void hm__keras_add_weights(struct keras_use *u, double count);
/* Counts parameters that are never trained, such as moving averages. */
void hm__keras_add_frozen(struct keras_use *u, double count);
/*
 * Adds multiply-adds to the model. If the number is NaN, counts a matrix product whose shape is
 * unknown.
 */
void hm__keras_add_macs(struct keras_use *u, double macs);
/*
 * Returns the product of the sizes of dimensions `from` to `to` - 1; NaN if one of them is unknown.
 */
double hm__keras_shape_product(const struct keras_shape *s, int from, int to);
/* Returns the size of the last dimension; NaN if it is unknown. */
double hm__keras_last_dim(const struct keras_shape *s);
/* Returns whether the channels are the first dimension (NCHW) instead of the last. */
bool hm__keras_channels_first(const struct keras_use *u);

/* Each of these functions returns the output shape of one kind of layer. */
struct keras_shape hm__keras_same(struct keras_use *u);
struct keras_shape hm__keras_flatten(struct keras_use *u);
struct keras_shape hm__keras_reshape(struct keras_use *u);
struct keras_shape hm__keras_permute(struct keras_use *u);
struct keras_shape hm__keras_repeat(struct keras_use *u);
struct keras_shape hm__keras_pad(struct keras_use *u);
struct keras_shape hm__keras_upsample(struct keras_use *u);
struct keras_shape hm__keras_resize(struct keras_use *u);
struct keras_shape hm__keras_merge(struct keras_use *u);
struct keras_shape hm__keras_concatenate(struct keras_use *u);
struct keras_shape hm__keras_opaque(struct keras_use *u);

#endif
