/*
 * Declares the state in which the graph of an ONNX model becomes a list of layers: the role of each
 * tensor, and the nodes that together are one operation of a training framework.
 */
#ifndef HM_ONNX_LISTER_H
#define HM_ONNX_LISTER_H

#include "howmany.h"
#include "onnx.h"

/*
 * Largest number of nodes in a row that are followed as parts of one operation. Operations of
 * frameworks have fewer; without a limit, many nodes could share one long chain.
 */
enum { ONNX_CHAIN = 32 };

/* How a node is written as a layer. */
enum onnx_mark {
    ONNX_PLAIN,     /* The node is a separate operation. */
    ONNX_PART,      /* The node is part of the operation of another node. */
    ONNX_GELU,      /* The node is a GELU: x times the cumulative normal distribution at x. */
    ONNX_SWISH,     /* The node is a swish: x times the sigmoid of x. */
    ONNX_NORM,      /* The node is a normalisation over the last dimension. */
    ONNX_ATTENTION, /* The node is attention: scores, softmax and the weighted sum. */
};

struct onnx_lister {
    struct onnx *o;
    struct hm_text text; /* The layers as YAML, one per line; owned. */
    double batch;        /* Number of samples in the tensors of the file. */
    /* Arrays with one element per tensor; owned. */
    /* Index of the node that computes the tensor, plus 1; 0 if no node computes it. */
    size_t *maker;
    /* Index of the only node that reads the tensor, plus 1; 0 if none or several nodes read it. */
    size_t *reader;
    bool *live;    /* True if the tensor depends on an input of the model. */
    bool *image;   /* True if the tensor is an image, whose second dimension is the channels. */
    bool *counted; /* True if the parameters in the tensor have been counted for a layer. */
    /* Arrays with one element per node; owned. */
    enum onnx_mark *mark;
    size_t *partner;     /* With ONNX_ATTENTION: index of the node that computes the scores. */
    struct hm_shape now; /* Shape of the output of the last layer. */
    double parameters;   /* Number of parameters of all layers so far. */
    /*
     * True if an export for inference merged batch normalisations with the convolutions before
     * them; `merged_count` is the number of normalisations that are listed again.
     */
    bool merged;
    size_t merged_count;
    /* Operator or property of the model that layers cannot describe; NULL if there is none. */
    const char *refused;
    /* Unknown operators, which are treated as element-wise; separated by commas. */
    char unknown[160];
};

/* Returns the index of input `i` of a node; SIZE_MAX if the node has no such input. */
size_t hm__onnx_input(const struct onnx_node *node, size_t i);
/* Returns whether input `i` of the node exists and depends on an input of the model. */
bool hm__onnx_is_live(const struct onnx_lister *l, const struct onnx_node *node, size_t i);
/*
 * Returns the index of the weight whose elements, possibly reordered, form a constant tensor;
 * SIZE_MAX if the tensor is not a weight.
 */
size_t hm__onnx_weight(const struct onnx_lister *l, size_t value);
/* Marks the nodes that are parts of GELU, swish, normalisations and attention. */
void hm__onnx_fuse(struct onnx_lister *l);

#endif
