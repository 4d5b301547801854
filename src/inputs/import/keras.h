/*
 * Counts the parameters and the multiply-adds of a Keras model from its description. Each class of
 * layers has a row in a table with a function that adds the parameters and multiply-adds of the
 * layer and infers the shape of its output.
 */
#ifndef HM_KERAS_H
#define HM_KERAS_H

#include "import.h"
#include "value.h"

enum { KERAS_RANK = 6, KERAS_UNKNOWN = 32 };

/* The shape of a tensor without its first dimension, which is the batch. */
struct keras_shape {
    int rank;                /* Number of dimensions of the tensor; -1 if unknown. */
    double dims[KERAS_RANK]; /* Sizes of the dimensions of the tensor; NaN if unknown. */
};

struct keras {
    struct hm_imported *im;
    /* Number of layers, number of trainable parameters, and number of frozen parameters. */
    double layers, trainable, frozen;
    double macs;
    double unknown_products; /* Number of matrix products whose shapes are unknown. */
    struct {
        const char *name;
        double count;
        /*
         * Classes of layers for which there is no rule to count parameters and multiply-adds, with
         * the number of occurrences of each.
         */
    } unknown[KERAS_UNKNOWN];
    size_t unknown_count;
    size_t visits; /* Number of layers and tensors that have been looked at. */
};

/* One use of a layer in a model; a layer may be used several times. */
struct keras_use {
    struct keras *model;
    const struct hm_value *config; /* Settings (config) of the layer. */
    const struct keras_shape *in;  /* Shapes of the inputs to this use of the layer. */
    size_t in_count;
    bool first; /* True if the layer is used for the first time, so that its parameters are counted.
                 */
};

/*
 * Counts a layer of the class `name` and infers the shape of its output; returns false if the class
 * is not known.
 */
bool hm__keras_layer(const char *name, struct keras_use *use, struct keras_shape *ret_shape);
/* Records that the model has a layer of an unknown class. */
void hm__keras_unknown(struct keras *model, const char *name);
/* Returns a shape whose number of dimensions is unknown. */
struct keras_shape hm__keras_no_shape(void);
/* Reads a shape from a list such as [null, 32, 32, 3], whose first element is the batch. */
struct keras_shape hm__keras_read_shape(const struct hm_value *list);

#endif
