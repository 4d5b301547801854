/*
 * howmany: neural networks. A network is a list of layers with the shape of its input, or only its
 * totals. hm_counts_new counts the parameters and the operations of each layer.
 *
 * A program includes howmany.h, where the conventions are described.
 */
#ifndef HOWMANY_NETWORK_H
#define HOWMANY_NETWORK_H

#include "howmany_base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum hm_layer_kind {
    HM_LAYER_DENSE,      /* Fully connected layer. */
    HM_LAYER_CONV,       /* Two-dimensional convolution. */
    HM_LAYER_POOL,       /* Maximum or average pooling. */
    HM_LAYER_NORM,       /* Batch or layer normalisation. */
    HM_LAYER_ACTIVATION, /* A function applied to each element. */
    HM_LAYER_EMBEDDING,  /* A look-up in a table of vectors. */
    HM_LAYER_ATTENTION,  /* Multi-head attention with its four projections: within a sequence, among
                            the positions of an image, or to another sequence. */
    HM_LAYER_RECURRENT,  /* Recurrent layer: RNN, GRU or LSTM. */
    HM_LAYER_FLATTEN,    /* Layer that turns an image into a vector. */
    HM_LAYER_RESIDUAL,   /* Residual block: output = children(input) + shortcut(input). */
    HM_LAYER_CONCAT,     /* Parallel branches whose output channels are concatenated. */
    HM_LAYER_BRANCH,     /* A sequence of layers: one branch of a concat layer, or a shortcut. */
    HM_LAYER_REPEAT,     /* A sequence of layers that is repeated `times` times. */
    HM_LAYER_SCALE,      /* Multiplies each channel of the input by a factor from the children. */
    HM_LAYER_SIDE,       /* Layers that read a second input, a vector of `units` values. */
    HM_LAYER_CONDITION,  /* Adds a linear function of a vector of `units` values to the input, one
                            value for each channel. */
    HM_LAYER_INTERACT, /* The output is the vector of the side layers, followed by the dot products
                          of all pairs of that vector and the vectors of the sequence. */
    HM_LAYER_VIEW,     /* The next layer reads values of the shape `view`. */
    HM_LAYER_ADD,      /* Sum of two tensors; one may be learned. */
    HM_LAYER_MULTIPLY, /* Element-wise product of two tensors; one may be learned. */
    HM_LAYER_COPY,     /* Copy of the input, as for concatenation and padding. */
    HM_LAYER_PRODUCT,  /* Matrix products of two computed tensors. */
    HM_LAYER_KINDS
};

enum hm_bias {
    HM_BIAS_NONE,
    HM_BIAS_SHARED,   /* One bias per unit or output channel. */
    HM_BIAS_POSITION, /* One bias per output position, as in LeCun et al. 1989. */
    HM_BIAS_OUTPUT,   /* For attention: only the output projection has biases. */
};

enum hm_cell { HM_CELL_RNN, HM_CELL_GRU, HM_CELL_LSTM };

enum hm_shape_kind { HM_SHAPE_VECTOR, HM_SHAPE_IMAGE, HM_SHAPE_SEQUENCE };

/*
 * The shape of one sample: a vector of `channels` values, an image of height x width x channels
 * values, or a sequence of `height` steps with `channels` values each.
 */
struct hm_shape {
    enum hm_shape_kind kind;
    double height, width, channels;
};

/*
 * One layer. The comment on a field begins with the kinds of layers that read it; other kinds
 * ignore it.
 */
struct hm_layer {
    enum hm_layer_kind kind;
    int line; /* Line of the layer in the file, used in error messages; 0 if there is no file. */
    const char *name; /* Name used in messages and tables, such as "conv" or "gelu"; may be NULL. */
    double units;     /* Size of the output, >= 1. dense: number of outputs; conv: output channels;
                         embedding, recurrent: width. side, condition: size of the vector. add,
                         multiply: number of learned values, 0 if both operands are computed.
                         product: columns of the result. */
    double kernel_h;  /* conv, pool: height of the window, >= 1. */
    double kernel_w;  /* conv, pool: width of the window, >= 1. */
    double stride;    /* conv, pool: step of the window, >= 1. */
    double border_h;  /* conv, pool: total rows of padding at the top and the bottom, >= 0. */
    double border_w;  /* conv, pool: total columns of padding on the left and the right, >= 0. */
    double groups;    /* conv: number of groups, >= 1. attention: number of windows, each of which
                         attends only to itself; 0 means one. */
    double depth; /* conv: number of input channels that each filter reads; 0 means all channels of
                     its group. product: number of terms in each sum. */
    double vocabulary; /* embedding: number of rows in the table, >= 1. */
    double positions;  /* embedding: number of rows in a learned position table, >= 0. product:
                          rows of the result. */
    double heads;      /* attention: number of heads, >= 1. */
    double context;    /* attention: length of the key and value sequence; 0 means the length of the
                          input. */
    double context_width; /* attention: width of the key and value sequence, >= 1. */
    double times;         /* repeat: number of repetitions, >= 1. product: number of products. */
    double biases;        /* recurrent: number of bias vectors per gate, 0 to 2. */
    enum hm_bias bias;    /* dense, conv, attention: kind of bias. */
    enum hm_cell cell;    /* recurrent: kind of cell. */
    bool tied;            /* dense: true if the layer shares the weights of the embedding. */
    bool affine;          /* norm: true if the layer has two parameters per channel. */
    bool ceil_mode;  /* pool: true if windows that extend beyond the border are also used, so that
                        the output size is rounded up. */
    bool global;     /* pool: true if one window covers the whole image. */
    bool transposed; /* conv: true for a transposed convolution, which enlarges the image. */
    struct hm_layer *children; /* residual, concat, branch, repeat, scale, side: inner layers. */
    size_t child_count;
    bool has_shortcut;    /* residual: true if the last child is the shortcut branch. */
    bool core;            /* attention: true if the layer computes only the scores and the
                             weighted sum, without projections. */
    bool scores;          /* attention: true if the scores are written to memory, as before fused
                             kernels. */
    struct hm_shape view; /* view: shape of the values that the next layer reads. */
};

/* A neural network: either layers with an input shape, or only the total parameters and flop. */
struct hm_network {
    const char *name;      /* Name of the network; may be NULL. */
    struct hm_shape input; /* Shape of one sample; read only when there are layers. */
    struct hm_layer *layers;
    size_t layer_count;  /* Number of layers; 0 if only the totals are known. */
    double parameters;   /* Total number of trained parameters; 0 or NaN if there are layers. */
    double forward_flop; /* Total flop in the forward pass of one sample; 0 or NaN if there are
                            layers. */
    double published_parameters;   /* Published number of parameters; 0 or NaN if not given. */
    double published_forward_flop; /* Published flop in the forward pass of one sample; 0 or NaN if
                                      not given. */
};

/* The sizes of one layer in the forward pass of one sample. */
struct hm_count {
    const char *name;     /* Name of the layer, borrowed from the network. */
    struct hm_shape out;  /* Shape of the output. */
    double parameters;    /* Number of trained parameters. */
    double multiply_adds; /* Number of multiply-adds in matrix products and convolutions, for one
                             sample; 0 for other layers. */
    double inputs;        /* Number of values that the layer reads. */
    double outputs; /* Number of values that the layer writes and keeps for the backward pass. */
    struct hm_shape in;           /* Shape of the input. */
    const struct hm_layer *layer; /* The layer of this row, borrowed from the network. For the sum
                                     or the concatenation of branches: the residual or concat
                                     layer. */
};

/* The sizes of all layers, and their sums. Repeated layers are listed once per repetition. */
struct hm_counts {
    struct hm_count *layers; /* Sizes of each layer; NULL if only the totals of the network are
                                known. */
    size_t layer_count;
    double parameters, multiply_adds, outputs; /* Sums of the counts over all layers. */
    double forward_flop; /* Flop of the forward pass: two per multiply-add, or the total that was
                            given. */
};

/*
 * A training step costs as much as three forward passes, because the backward pass costs as much as
 * two.
 */
#define HM_TRAINING_PASSES 3

/*
 * Counts the parameters and operations of a network. Error messages name `source`, which may be
 * NULL. The counts borrow the names of the layers, so the network must outlive them.
 */
HM_API int hm_counts_new(const struct hm_network *network, const char *source,
                         struct hm_counts **ret_counts, struct hm_err *err);
HM_API void hm_counts_free(struct hm_counts *counts);

#ifdef __cplusplus
}
#endif

#endif
