/* Defines the compiled form of a formula, which the parser, the builder and the evaluator share. */
#ifndef HM_PROGRAM_H
#define HM_PROGRAM_H

#include "howmany.h"
#include "unit.h"

enum hm__op {
    HM__OP_CONST,
    HM__OP_SYMBOL,
    /*
     * Value of a named definition: the value of operand 0, multiplied by a factor if the evaluation
     * has one for this name.
     */
    HM__OP_DEFINE,
    HM__OP_NEG,
    HM__OP_NOT,
    HM__OP_ADD,
    HM__OP_SUB,
    HM__OP_MUL,
    HM__OP_DIV,
    HM__OP_POW,
    HM__OP_LT,
    HM__OP_LE,
    HM__OP_GT,
    HM__OP_GE,
    HM__OP_EQ,
    HM__OP_NE,
    HM__OP_AND,
    HM__OP_OR,
    HM__OP_SELECT,
    HM__OP_LOG2,
    HM__OP_LN,
    HM__OP_LOG10,
    HM__OP_EXP,
    HM__OP_SQRT,
    HM__OP_CEIL,
    HM__OP_FLOOR,
    HM__OP_ABS,
    HM__OP_MIN,
    HM__OP_MAX,
};

/* One operation of the compiled formula. Its operands are nodes with smaller indices. */
struct hm__node {
    enum hm__op op;
    int operand[3]; /* Indices of the nodes that are the operands of this node; -1 if unused. */
    int symbol;     /* For HM__OP_SYMBOL: index of the symbol in the scope. */
    int definition; /* For HM__OP_DEFINE: index of the definition in `names`; otherwise -1. */
    double value;   /* For HM__OP_CONST: value of the constant. */
    struct hm_dim dim;
    bool varies; /* True if the value of the node depends on n. */
    bool zero;   /* True if the node is the literal 0, which is accepted for every dimension. */
};

enum { HM__NODES_MAX = 4096 };

struct hm_formula {
    struct hm__node *nodes;
    size_t node_count, node_room;
    int result;
    char **names; /* Names of the definitions; owned by the formula. */
    size_t name_count;
    char **symbols; /* Names of the symbols of the scope; owned by the formula. */
    size_t symbol_count;
    /*
     * True if every symbol may have a different value at each point of an evaluation; false if only
     * n varies.
     */
    bool columns;
};

/*
 * Appends a node, folds constants and checks dimensions; returns the index of the node or a
 * negative code.
 */
int hm__build(struct hm_formula *formula, enum hm__op op, int a, int b, int c, struct hm_err *err);
int hm__build_const(struct hm_formula *formula, double value, struct hm_dim dim,
                    struct hm_err *err);
int hm__build_symbol(struct hm_formula *formula, int symbol, struct hm_dim dim, bool varies,
                     struct hm_err *err);

/*
 * Finds a function by name; returns its operation, and its number of arguments in *ret_arity; -1 if
 * the name is unknown.
 */
int hm__function_find(const char *name, size_t length, int *ret_arity);
/* Returns the name of function `i`; NULL after the last function. */
const char *hm__function_name(const void *unused, size_t i);

/* Returns the result of one operation of a formula. */
double hm__apply(enum hm__op op, double a, double b, double c);

#endif
