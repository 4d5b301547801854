/*
 * Represents the graph of an ONNX model: values with their shapes, and nodes with their attributes.
 */
#ifndef HM_ONNX_H
#define HM_ONNX_H

#include "import.h"

/* Largest number of dimensions of a value, of elements that are kept of a constant, and of values
 * of an attribute. */
enum { ONNX_RANK = 8, ONNX_DATA = 64, ONNX_INTS = 16 };
/* Largest number of values and of nodes of a graph. */
enum { ONNX_VALUES = 2000000, ONNX_NODES = 1000000 };

/* Element types that the code distinguishes, with the numbers of ONNX. */
enum onnx_type { ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT8 = 3, ONNX_INT32 = 6, ONNX_INT64 = 7 };

struct onnx_value {
    const char *name; /* Name of the value, in the arena. */
    int rank;         /* Number of dimensions; -1: the shape is not known. */
    double dims[ONNX_RANK];
    int type;     /* Type of the elements; 0: not known. */
    double *data; /* Elements of a small constant, in the arena; NULL: unknown. */
    size_t count; /* Number of elements in `data`. */
    bool initializer, external, used;
    bool made; /* True if the value is an input or a constant, or if its node has been processed. */
    bool filled; /* True if the value is a weight that ConstantOfShape makes from a constant shape.
                  */
    bool statistics; /* True if the value is a running mean or variance of a batch normalisation. */
};

struct onnx_attribute {
    char name[20];
    double ints[ONNX_INTS];
    size_t int_count;
    double i; /* Value of an integer attribute; NaN: not given. */
    char s[16];
};

enum { ONNX_ATTRIBUTES = 10 };

struct onnx_node {
    const char *op;  /* Name of the operator, in the arena. */
    size_t *inputs;  /* Indices of the input values, in the arena; SIZE_MAX: not given. */
    size_t *outputs; /* Indices of the output values, stored after the inputs. */
    size_t input_count, output_count;
    struct onnx_attribute *attributes; /* Attributes of the node, in the arena. */
    size_t attribute_count;
    size_t tensor; /* Index of the value in the attribute `value`; SIZE_MAX: none. */
    bool done;     /* True if the shapes of the outputs were inferred or cannot be inferred. */
    bool inferred;
};

struct onnx {
    struct hm_imported *im;
    char producer[64];
    double ir, opset, subgraphs, external, damaged;
    struct onnx_value *values; /* Array of values; owned. */
    size_t value_count, value_room;
    size_t *slots; /* Hash table of values by name, of slot_count entries; owned. */
    size_t slot_count;
    struct onnx_node *nodes; /* Array of nodes; owned. */
    size_t node_count, node_room;
    /* Indices of the inputs and outputs of the main graph, at most 256 each; in the arena. */
    size_t *inputs, *outputs;
    size_t input_count, output_count;
    const char **stated; /* Shape of each input as the file gives it, as JSON; in the arena. */
    struct {             /* Symbolic dimensions, and the sizes that are assumed for them. */
        char name[48];
        double size;
    } symbols[64];
    size_t symbol_count;
    bool failed;
};

enum { ONNX_ENDS = 256 };

const struct onnx_attribute *hm__onnx_attribute(const struct onnx_node *node, const char *name);
/* Returns the number of elements of a value; NaN if its shape is not known. */
double hm__onnx_elements(const struct onnx_value *value);
/* Infer the shapes of all values; returns whether each node comes after the nodes whose outputs it
 * uses. */
bool hm__onnx_infer(struct onnx *o);
/* Returns the multiply-adds of a node; NaN if they are not known, 0 for an operator without matrix
 * products. */
double hm__onnx_macs(const struct onnx *o, const struct onnx_node *node);

/* Store the shape of an input as the file gives it: numbers, or the symbol if the element of dims
 * is NaN. Returns false when out of memory. */
bool hm__onnx_keep_stated(struct onnx *o, size_t input, int rank, const double *dims,
                          const char (*symbols)[48]);
/* Infer all shapes, and write the counts (facts) and the network. */
void hm__onnx_facts(struct onnx *o);

#endif
