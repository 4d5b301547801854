/* The graph of an ONNX model: values with their shapes, and nodes with their attributes. */
#ifndef HM_ONNX_H
#define HM_ONNX_H

#include "import.h"

/* Most dimensions of a value, elements of a constant that are kept, and values of an attribute. */
enum { ONNX_RANK = 8, ONNX_DATA = 64, ONNX_INTS = 16 };
/* Most values and nodes of a graph. */
enum { ONNX_VALUES = 2000000, ONNX_NODES = 1000000 };

/* Types of elements that are of interest, as ONNX numbers them. */
enum onnx_type { ONNX_FLOAT = 1, ONNX_UINT8 = 2, ONNX_INT8 = 3, ONNX_INT32 = 6, ONNX_INT64 = 7 };

struct onnx_value {
    const char *name; /* In the arena. */
    int rank;         /* -1: the shape is not known. */
    double dims[ONNX_RANK];
    int type;     /* Type of the elements; 0: not known. */
    double *data; /* Elements of a small constant, in the arena; NULL: not known. */
    size_t count; /* Number of elements in `data`. */
    bool initializer, external, used;
    bool made;       /* A node made the value already. */
    bool filled;     /* A weight that ConstantOfShape makes of a constant shape. */
    bool statistics; /* A running mean or variance of a batch normalisation. */
};

struct onnx_attribute {
    char name[20];
    double ints[ONNX_INTS];
    size_t int_count;
    double i; /* NaN: not given. */
    char s[16];
};

enum { ONNX_ATTRIBUTES = 10 };

struct onnx_node {
    const char *op;  /* In the arena. */
    size_t *inputs;  /* Indices of values, in the arena; SIZE_MAX: left out. */
    size_t *outputs; /* Behind the inputs. */
    size_t input_count, output_count;
    struct onnx_attribute *attributes; /* In the arena. */
    size_t attribute_count;
    size_t tensor; /* Value of the attribute `value`; SIZE_MAX: none. */
    bool done;     /* The shapes of its outputs were inferred, or cannot be. */
    bool inferred;
};

struct onnx {
    struct hm_imported *im;
    char producer[64];
    double ir, opset, subgraphs, external, damaged;
    struct onnx_value *values; /* Owned. */
    size_t value_count, value_room;
    size_t *slots; /* Hash table of values by name, of slot_count entries; owned. */
    size_t slot_count;
    struct onnx_node *nodes; /* Owned. */
    size_t node_count, node_room;
    size_t *inputs, *outputs; /* Values of the main graph, 256 each; in the arena. */
    size_t input_count, output_count;
    const char **stated; /* Sizes of each input as JSON, in the arena. */
    struct {             /* Symbolic sizes, and the sizes that are assumed for them. */
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
/* Infer the shapes of all values; returns whether each node follows those that it needs. */
bool hm__onnx_infer(struct onnx *o);
/* Multiply-adds of a node; NaN if they are not known, 0 for an operator without products. */
double hm__onnx_macs(const struct onnx *o, const struct onnx_node *node);

/* Keep the sizes of an input as the file states them: numbers, or symbols where dims is NaN. False:
 * out of memory. */
bool hm__onnx_keep_stated(struct onnx *o, size_t input, int rank, const double *dims,
                          const char (*symbols)[48]);
/* Infer shapes, and write the facts and the network. */
void hm__onnx_facts(struct onnx *o);

#endif
