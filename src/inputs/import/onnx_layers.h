/*
 * Describes the graph of an ONNX model as layers: what each tensor is, and which nodes are parts of
 * one operation of a training framework.
 */
#ifndef HM_ONNX_LAYERS_H
#define HM_ONNX_LAYERS_H

#include "howmany.h"
#include "onnx.h"

/* What becomes of a node. */
enum onnx_mark {
    ONNX_PLAIN,     /* The node is an operation of its own. */
    ONNX_PART,      /* The node is a part of the operation of another node. */
    ONNX_GELU,      /* The node is x times the distribution function of the normal law. */
    ONNX_SWISH,     /* The node is x times its sigmoid. */
    ONNX_NORM,      /* The node is a normalisation over the last dimension. */
    ONNX_ATTENTION, /* The node is scores, softmax and the weighted sum. */
};

struct onnx_lister {
    struct onnx *o;
    struct hm_text text; /* The layers as YAML, one per line; owned. */
    double batch;        /* Samples in the tensors of the file. */
    /* Arrays with one element per tensor; owned. */
    size_t *maker;  /* Index of the node that computes the tensor, plus 1; 0 if no node does. */
    size_t *reader; /* Index of the only node that reads the tensor, plus 1; 0 if none or several
                       nodes do. */
    bool *live;     /* True if the tensor depends on an input of the model. */
    bool *image;    /* True if the second dimension of the tensor has the channels. */
    bool *counted;  /* True if the parameters in the tensor belong to a layer. */
    /* Arrays with one element per node; owned. */
    enum onnx_mark *mark;
    size_t *partner;     /* With ONNX_ATTENTION: index of the node that computes the scores. */
    struct hm_shape now; /* Shape of the output of the last layer. */
    double parameters;   /* Parameters of all layers so far. */
    /*
     * True if an export for inference merged batch normalisations with the convolutions before
     * them; `merged_count` is the number of normalisations that are listed again.
     */
    bool merged;
    size_t merged_count;
    const char *refused; /* Operator that layers cannot describe, and why; NULL if there is none. */
    char unknown[160];   /* Operators that are taken for element-wise ones, separated by commas. */
};

/* Returns the index of input `i` of a node; SIZE_MAX if the node has no such input. */
size_t hm__onnx_input(const struct onnx_node *node, size_t i);
/* Returns whether input `i` of the node exists and depends on an input of the model. */
bool hm__onnx_is_live(const struct onnx_lister *l, const struct onnx_node *node, size_t i);
/*
 * Returns the index of the weight from which a constant tensor is made by reordering; SIZE_MAX if
 * the tensor is not made from a weight.
 */
size_t hm__onnx_weight(const struct onnx_lister *l, size_t value);
/* Mark the nodes that are parts of GELU, swish, normalisations and attention. */
void hm__onnx_fuse(struct onnx_lister *l);

/*
 * Write the network as layers into the document of the import. Returns false if layers cannot
 * describe it; a note then says why. `parameters` is the number of trained parameters.
 */
bool hm__onnx_layers(struct onnx *o, double parameters, bool in_order);

#endif
