/*
 * Evaluates a compiled formula for a vector of values of n.
 *
 * The vector is processed in blocks that fit into the first-level cache. Nodes that do not depend
 * on n are computed once. Each operation is a plain loop over a block, so the compiler can
 * vectorise it.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "formula.h"
#include "memory.h"
#include "program.h"

enum { BLOCK = 256 };

/* Returns the array of BLOCK values for a node in the workspace of an evaluation. */
static double *node_row(double *space, int node)
{
    return space + (size_t)node * BLOCK;
}

#define LOOP(expression)                                                                           \
    do {                                                                                           \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = (expression);                                                                 \
    } while (0)

/*
 * Evaluates a node for one block of values of n. Frequent operations have their own loop; the
 * others call hm__apply.
 */
static void run_node(const struct hm__node *node, double *space, double *out, size_t count)
{
    const double *a = node_row(space, node->operand[0]);
    const double *b = node->operand[1] < 0 ? a : node_row(space, node->operand[1]);
    const double *c = node->operand[2] < 0 ? a : node_row(space, node->operand[2]);

    switch (node->op) {
    case HM__OP_ADD:
        LOOP(a[i] + b[i]);
        break;
    case HM__OP_SUB:
        LOOP(a[i] - b[i]);
        break;
    case HM__OP_MUL:
        LOOP(a[i] * b[i]);
        break;
    case HM__OP_DIV:
        LOOP(a[i] / b[i]);
        break;
    case HM__OP_LOG2:
        LOOP(log2(a[i]));
        break;
    case HM__OP_SQRT:
        LOOP(sqrt(a[i]));
        break;
    case HM__OP_CEIL:
        LOOP(ceil(a[i]));
        break;
    default:
        LOOP(hm__apply(node->op, a[i], b[i], c[i]));
        break;
    }
}
#undef LOOP

static double scale_of(const struct hm_formula *f, const struct hm__node *node,
                       const struct hm_scaled *scaled)
{
    if (!scaled || !scaled->name || node->op != HM__OP_DEFINE ||
        strcmp(f->names[node->definition], scaled->name) != 0)
        return 1;
    return scaled->factor;
}

/*
 * Returns the value of a node that does not depend on n, so that a single evaluation suffices for
 * all n.
 */
static double node_constant(const struct hm_formula *f, const struct hm__node *node, double *space,
                            const double *symbols, const struct hm_scaled *scaled)
{
    double operand[3] = {0};

    if (node->op == HM__OP_CONST)
        return node->value;
    if (node->op == HM__OP_SYMBOL)
        return symbols[node->symbol];
    for (int k = 0; k < 3; k++)
        if (node->operand[k] >= 0)
            operand[k] = node_row(space, node->operand[k])[0];
    return hm__apply(node->op, operand[0], operand[1], operand[2]) * scale_of(f, node, scaled);
}

static void run_block(const struct hm_formula *f, const struct hm_scaled *scaled, double *space,
                      const double *const *columns, size_t start, size_t count)
{
    for (size_t k = 0; k < f->node_count; k++) {
        const struct hm__node *node = &f->nodes[k];
        double *out = node_row(space, (int)k);
        if (!node->varies)
            continue;
        if (node->op == HM__OP_SYMBOL) {
            memcpy(out, columns[node->symbol] + start, count * sizeof(*out));
            continue;
        }
        run_node(node, space, out, count);
        double factor = scale_of(f, node, scaled);
        for (size_t i = 0; factor != 1 && i < count; i++)
            out[i] *= factor;
    }
}

static int formula_eval(const struct hm_formula *f, const double *symbols,
                        const struct hm_scaled *scaled, const double *const *columns, size_t count,
                        double *values, struct hm_err *err)
{
    const size_t widest = count < BLOCK ? count : BLOCK;
    double *space = hm__calloc(f->node_count * BLOCK, sizeof(*space));
    if (!space)
        return hm__fail_nomem(err);
    for (size_t k = 0; k < f->node_count; k++) {
        if (f->nodes[k].varies)
            continue;
        double value = node_constant(f, &f->nodes[k], space, symbols, scaled);
        for (size_t i = 0; i < widest; i++)
            node_row(space, (int)k)[i] = value;
    }
    int rc = 0;
    for (size_t start = 0; start < count && (rc = hm__budget_check(NULL, err)) == 0;
         start += BLOCK) {
        size_t length = count - start < widest ? count - start : widest;
        run_block(f, scaled, space, columns, start, length);
        memcpy(values + start, node_row(space, f->result), length * sizeof(*values));
    }
    hm__free(space);
    return rc;
}

int hm__formula_eval(const struct hm_formula *f, const double *symbols,
                     const struct hm_scaled *scaled, const double *n, size_t count, double *values,
                     struct hm_err *err)
{
    return formula_eval(f, symbols, scaled, &n, count, values, err);
}

int hm__formula_eval_columns(const struct hm_formula *f, const double *const *columns, size_t count,
                             double *values, struct hm_err *err)
{
    return formula_eval(f, NULL, NULL, columns, count, values, err);
}

/*
 * Returns the derivative of an operation, computed from its operands `x`, their derivatives `d` and
 * its value `v`.
 */
static double op_derivative(enum hm__op op, const double *x, const double *d, double v)
{
    switch (op) {
    case HM__OP_DEFINE:
        return d[0];
    case HM__OP_NEG:
        return -d[0];
    case HM__OP_ADD:
        return d[0] + d[1];
    case HM__OP_SUB:
        return d[0] - d[1];
    case HM__OP_MUL:
        return d[0] * x[1] + x[0] * d[1];
    case HM__OP_DIV:
        return (d[0] - v * d[1]) / x[1];
    case HM__OP_POW:
        return (d[0] == 0 ? 0 : x[1] * pow(x[0], x[1] - 1) * d[0]) +
               (d[1] == 0 ? 0 : v * log(x[0]) * d[1]);
    case HM__OP_SELECT:
        return x[0] != 0 ? d[1] : d[2];
    case HM__OP_LOG2:
        return d[0] / (x[0] * log(2));
    case HM__OP_LN:
        return d[0] / x[0];
    case HM__OP_LOG10:
        return d[0] / (x[0] * log(10));
    case HM__OP_EXP:
        return v * d[0];
    case HM__OP_SQRT:
        return d[0] == 0 ? 0 : d[0] / (2 * v);
    case HM__OP_ABS:
        return x[0] < 0 ? -d[0] : d[0];
    case HM__OP_MIN:
        return x[0] < x[1] ? d[0] : d[1];
    case HM__OP_MAX:
        return x[0] > x[1] ? d[0] : d[1];
    default:
        /* Constants, step functions (ceil, floor) and comparisons have the derivative 0. */
        return 0;
    }
}

int hm__formula_derive(const struct hm_formula *f, const double *symbols, double n,
                       const char *name, bool relative, double *ret_value, double *ret_derivative,
                       struct hm_err *err)
{
    double *values = hm__calloc(f->node_count * 2, sizeof(*values));
    if (!values)
        return hm__fail_nomem(err);
    double *slopes = values + f->node_count;
    for (size_t k = 0; k < f->node_count; k++) {
        const struct hm__node *node = &f->nodes[k];
        double x[3] = {0}, d[3] = {0};
        for (int j = 0; j < 3; j++) {
            if (node->operand[j] >= 0) {
                x[j] = values[node->operand[j]];
                d[j] = slopes[node->operand[j]];
            }
        }
        if (node->op == HM__OP_CONST)
            x[0] = node->value;
        else if (node->op == HM__OP_SYMBOL)
            x[0] = node->varies ? n : symbols[node->symbol];
        values[k] = hm__apply(node->op, x[0], x[1], x[2]);
        slopes[k] = op_derivative(node->op, x, d, values[k]);
        if ((node->op == HM__OP_SYMBOL && strcmp(f->symbols[node->symbol], name) == 0) ||
            (node->op == HM__OP_DEFINE && strcmp(f->names[node->definition], name) == 0))
            slopes[k] = relative ? values[k] : 1;
    }
    *ret_value = values[f->result];
    *ret_derivative = slopes[f->result];
    hm__free(values);
    return 0;
}

bool hm__formula_uses(const struct hm_formula *f, size_t symbol)
{
    for (size_t k = 0; k < f->node_count; k++)
        if (f->nodes[k].op == HM__OP_SYMBOL && f->nodes[k].symbol == (int)symbol)
            return true;
    return false;
}

/*
 * Returns the index of the node of a definition that does not depend on n, or -1 if there are no
 * more such definitions; `quantity` counts them from 0.
 */
static int quantity_node(const struct hm_formula *f, size_t quantity)
{
    for (size_t k = 0; k < f->node_count; k++)
        if (f->nodes[k].op == HM__OP_DEFINE && !f->nodes[k].varies && quantity-- == 0)
            return (int)k;
    return -1;
}

size_t hm__formula_quantity_count(const struct hm_formula *f)
{
    size_t count = 0;
    while (quantity_node(f, count) >= 0)
        count++;
    return count;
}

const char *hm__formula_quantity_name(const struct hm_formula *f, size_t quantity)
{
    int node = quantity_node(f, quantity);
    return node < 0 ? NULL : f->names[f->nodes[node].definition];
}
