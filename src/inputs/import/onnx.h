/*
 * Represents the graph of an ONNX model: values (tensors) with their shapes, and nodes with their
 * attributes.
 */
#ifndef HM_ONNX_H
#define HM_ONNX_H

#include "hash.h"
#include "import.h"

/*
 * Largest numbers of dimensions of a tensor, of stored elements of a constant, and of integers in
 * an attribute.
 */
enum { ONNX_RANK = 8, ONNX_DATA = 64, ONNX_INTS = 16 };
/* Largest numbers of values (tensors) and of nodes in a graph. */
enum { ONNX_VALUES = 2000000, ONNX_NODES = 1000000 };

/* Element types that are handled differently, with their numbers in ONNX. */
enum onnx_type { ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT8 = 3, ONNX_INT32 = 6, ONNX_INT64 = 7 };

struct onnx_value {
    const char *name; /* Name of the tensor, in the arena. */
    int rank;         /* Number of dimensions of the tensor; -1 if its shape is not known. */
    double dims[ONNX_RANK];
    int type; /* Number of the element type in ONNX; 0 if not known. */
    /*
     * Elements of the tensor if it is a constant with few elements, in the arena; otherwise NULL.
     */
    double *data;
    size_t count; /* Number of elements in the array `data`. */
    bool initializer, external, used;
    /*
     * True if the shape is final: the tensor is an input or a constant, or the node that computes
     * it has been processed.
     */
    bool made;
    /* True if the tensor is a weight that a ConstantOfShape node creates from a constant shape. */
    bool filled;
    /* True if the tensor is the running mean or variance of a batch normalisation. */
    bool statistics;
};

struct onnx_attribute {
    char name[20];
    double ints[ONNX_INTS];
    size_t int_count;
    double i; /* Value of an integer attribute; NaN if not given. */
    char s[16];
};

enum { ONNX_ATTRIBUTES = 10 };

struct onnx_node {
    const char *op; /* Name of the operator, in the arena. */
    /*
     * Indices of the tensors that are inputs of the node, in the arena; SIZE_MAX if the optional
     * input is missing.
     */
    size_t *inputs;
    /*
     * Indices of the tensors that are outputs of the node, stored in the same array after the
     * inputs.
     */
    size_t *outputs;
    size_t input_count, output_count;
    struct onnx_attribute *attributes; /* Attributes of the node, in the arena. */
    size_t attribute_count;
    /* Index of the tensor in the attribute `value` of the node; SIZE_MAX if the node has none. */
    size_t tensor;
    bool done; /* True if the shapes of the node's outputs have been inferred or cannot be inferred.
                */
    bool inferred;
};

struct onnx {
    struct hm_imported *im;
    char producer[64];
    double ir, opset, subgraphs, external, damaged;
    double repeated; /* Number of nodes with an output that is already computed or given. */
    struct onnx_value *values; /* All values (tensors) of the graph; owned. */
    size_t value_count, value_room;
    size_t *slots; /* Hash table that finds values by name, with slot_count elements; owned. */
    size_t slot_count;
    struct hm_hash_key key;  /* Key of that hash table. */
    struct onnx_node *nodes; /* All nodes of the graph; owned. */
    size_t node_count, node_room;
    /*
     * Indices of the tensors that are inputs and outputs of the main graph, at most 256 each; in
     * the arena.
     */
    size_t *inputs, *outputs;
    size_t input_count, output_count;
    /* Shape of each input as it is written in the file, with symbols, as JSON; in the arena. */
    const char **stated;
    struct { /* Names of symbolic dimensions, and the sizes that are assumed for them. */
        char name[48];
        double size;
    } symbols[64];
    size_t symbol_count;
    bool failed;
};

enum { ONNX_ENDS = 256 };

const struct onnx_attribute *hm__onnx_attribute(const struct onnx_node *node, const char *name);
/* Returns whether the space-separated list contains the name of the node's operator. */
bool hm__onnx_is_op(const struct onnx_node *node, const char *list);
/* Returns the number of elements in a tensor; NaN if its shape is not known. */
double hm__onnx_elements(const struct onnx_value *value);
/*
 * Infers the shapes of all tensors. Returns true if each node in the file comes after the nodes
 * whose outputs it uses. Outputs of a node that are already computed or given are not changed;
 * such nodes are counted in `repeated`.
 */
bool hm__onnx_infer(struct onnx *o);
/*
 * Returns the number of multiply-adds of a node; NaN if it is not known, 0 for an operator without
 * matrix products.
 */
double hm__onnx_macs(const struct onnx *o, const struct onnx_node *node);

/*
 * Stores the shape of an input as it is written in the file: dims[i], or the symbol if dims[i] is
 * NaN. Returns false if memory runs out.
 */
bool hm__onnx_keep_stated(struct onnx *o, size_t input, int rank, const double *dims,
                          const char (*symbols)[48]);
/*
 * Infers all shapes; then writes the network, and the numbers of parameters and multiply-adds as
 * JSON members (facts).
 */
void hm__onnx_facts(struct onnx *o);

#endif
