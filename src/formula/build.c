/*
 * Builds the compiled form of a formula node by node, checks dimensions and folds constants.
 *
 * Rules for dimensions: the operands of +, -, comparisons, min and max and the two results of ?:
 * must have the same dimension, except that a literal 0 fits every dimension. Multiplication adds
 * the exponents of the units, and division subtracts them. Logarithms, exp, conditions and
 * exponents need plain numbers. A power of a quantity with a unit needs a constant whole exponent.
 */
#include "program.h"

#include <math.h>
#include <string.h>

#include "err.h"
#include "memory.h"

struct function {
    const char *name;
    enum hm__op op;
    int arity;
};

static const struct function functions[] = {
    {"log2", HM__OP_LOG2, 1},   {"ln", HM__OP_LN, 1},     {"log10", HM__OP_LOG10, 1},
    {"exp", HM__OP_EXP, 1},     {"sqrt", HM__OP_SQRT, 1}, {"ceil", HM__OP_CEIL, 1},
    {"floor", HM__OP_FLOOR, 1}, {"abs", HM__OP_ABS, 1},   {"min", HM__OP_MIN, 2},
    {"max", HM__OP_MAX, 2},     {"pow", HM__OP_POW, 2},
};

enum { FUNCTION_COUNT = sizeof(functions) / sizeof(functions[0]) };

int hm__function_find(const char *name, size_t length, int *ret_arity)
{
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0) {
            *ret_arity = functions[i].arity;
            return (int)functions[i].op;
        }
    }
    return -1;
}

const char *hm__function_name(const void *unused, size_t i)
{
    (void)unused;
    return i < FUNCTION_COUNT ? functions[i].name : NULL;
}

double hm__apply(enum hm__op op, double a, double b, double c)
{
    switch (op) {
    case HM__OP_CONST:
    case HM__OP_SYMBOL:
    case HM__OP_DEFINE:
        return a;
    case HM__OP_NEG:
        return -a;
    case HM__OP_NOT:
        return a == 0;
    case HM__OP_ADD:
        return a + b;
    case HM__OP_SUB:
        return a - b;
    case HM__OP_MUL:
        return a * b;
    case HM__OP_DIV:
        return a / b;
    case HM__OP_POW:
        return pow(a, b);
    case HM__OP_LT:
        return a < b;
    case HM__OP_LE:
        return a <= b;
    case HM__OP_GT:
        return a > b;
    case HM__OP_GE:
        return a >= b;
    case HM__OP_EQ:
        return a == b;
    case HM__OP_NE:
        return a != b;
    case HM__OP_AND:
        return a != 0 && b != 0;
    case HM__OP_OR:
        return a != 0 || b != 0;
    case HM__OP_SELECT:
        return a != 0 ? b : c;
    case HM__OP_LOG2:
        return log2(a);
    case HM__OP_LN:
        return log(a);
    case HM__OP_LOG10:
        return log10(a);
    case HM__OP_EXP:
        return exp(a);
    case HM__OP_SQRT:
        return sqrt(a);
    case HM__OP_CEIL:
        return ceil(a);
    case HM__OP_FLOOR:
        return floor(a);
    case HM__OP_ABS:
        return fabs(a);
    case HM__OP_MIN: /* The minimum and the maximum are NaN if either operand is NaN. */
        return isnan(a) || a < b ? a : b;
    case HM__OP_MAX:
        return isnan(a) || a > b ? a : b;
    }
    return NAN;
}

static int node_append(struct hm_formula *f, const struct hm__node *node, struct hm_err *err)
{
    if (f->node_count == HM__NODES_MAX)
        return hm__fail(err, HM_E_LIMIT, "the formula has more than %d operations", HM__NODES_MAX);
    struct hm__node *nodes = hm__grow(f->nodes, f->node_count, &f->node_room, sizeof(*nodes));
    if (!nodes)
        return hm__fail_nomem(err);
    f->nodes = nodes;
    f->nodes[f->node_count] = *node;
    return (int)f->node_count++;
}

int hm__build_const(struct hm_formula *f, double value, struct hm_dim dim, struct hm_err *err)
{
    struct hm__node node = {.op = HM__OP_CONST,
                            .operand = {-1, -1, -1},
                            .definition = -1,
                            .value = value,
                            .dim = dim,
                            .zero = value == 0 && hm__dim_plain(dim)};
    return node_append(f, &node, err);
}

int hm__build_symbol(struct hm_formula *f, int symbol, struct hm_dim dim, bool varies,
                     struct hm_err *err)
{
    struct hm__node node = {.op = HM__OP_SYMBOL,
                            .operand = {-1, -1, -1},
                            .symbol = symbol,
                            .definition = -1,
                            .dim = dim,
                            .varies = varies};
    return node_append(f, &node, err);
}

/*
 * Adds the unit exponents of `b`, multiplied by `times`, to the exponents of `a`; returns false if
 * an exponent is out of range.
 */
static bool dim_combine(struct hm_dim a, struct hm_dim b, int times, struct hm_dim *dim)
{
    const int e[4] = {a.time + times * b.time, a.bytes + times * b.bytes, a.flop + times * b.flop,
                      a.money + times * b.money};
    for (int i = 0; i < 4; i++)
        if (e[i] < -32 || e[i] > 32)
            return false;
    *dim =
        (struct hm_dim){(signed char)e[0], (signed char)e[1], (signed char)e[2], (signed char)e[3]};
    return true;
}

static int need_plain(const struct hm__node *x, const char *what, struct hm_err *err)
{
    char name[HM_DIM_TEXT];

    if (hm__dim_plain(x->dim))
        return 0;
    hm__fail(err, HM_E_UNIT, "%s needs a plain number, not %s", what, hm__dim_name(x->dim, name));
    hm__err_hint(err, "divide by a quantity of the same unit first");
    return HM_E_UNIT;
}

static int need_same(const struct hm__node *x, const struct hm__node *y, const char *what,
                     struct hm_dim *dim, struct hm_err *err)
{
    char left[HM_DIM_TEXT], right[HM_DIM_TEXT];

    *dim = x->zero ? y->dim : x->dim;
    if (x->zero || y->zero || hm__dim_equal(x->dim, y->dim))
        return 0;
    return hm__fail(err, HM_E_UNIT, "%s: %s and %s have different dimensions", what,
                    hm__dim_name(x->dim, left), hm__dim_name(y->dim, right));
}

static int power_dim(const struct hm__node *base, const struct hm__node *exponent,
                     struct hm_dim *dim, struct hm_err *err)
{
    int rc = need_plain(exponent, "an exponent", err);
    if (rc)
        return rc;
    if (hm__dim_plain(base->dim))
        return 0;
    double e = exponent->value;
    if (exponent->op != HM__OP_CONST || e != floor(e) || fabs(e) > 8 ||
        !dim_combine(HM_DIM_NONE, base->dim, (int)e, dim))
        return hm__fail(err, HM_E_UNIT,
                        "a quantity with a unit can only be raised to a small "
                        "whole power");
    return 0;
}

static int sqrt_dim(const struct hm__node *x, struct hm_dim *dim, struct hm_err *err)
{
    char name[HM_DIM_TEXT];
    struct hm_dim d = x->dim;

    if (d.time % 2 || d.bytes % 2 || d.flop % 2 || d.money % 2)
        return hm__fail(err, HM_E_UNIT, "sqrt of %s has no unit", hm__dim_name(d, name));
    *dim = (struct hm_dim){(signed char)(d.time / 2), (signed char)(d.bytes / 2),
                           (signed char)(d.flop / 2), (signed char)(d.money / 2)};
    return 0;
}

/*
 * Computes the dimension of the result of an operation; fails if the dimensions of the operands are
 * incompatible, as in seconds + bytes.
 */
static int result_dim(enum hm__op op, const struct hm__node *a, const struct hm__node *b,
                      const struct hm__node *c, struct hm_dim *dim, struct hm_err *err)
{
    struct hm_dim unused;
    int rc;

    *dim = HM_DIM_NONE;
    switch (op) {
    case HM__OP_NEG:
    case HM__OP_DEFINE:
    case HM__OP_ABS:
        *dim = a->dim;
        return 0;
    case HM__OP_CEIL:
    case HM__OP_FLOOR:
        return need_plain(a, op == HM__OP_CEIL ? "ceil" : "floor", err);
    case HM__OP_ADD:
    case HM__OP_SUB:
        return need_same(a, b, op == HM__OP_ADD ? "+" : "-", dim, err);
    case HM__OP_MIN:
    case HM__OP_MAX:
        return need_same(a, b, op == HM__OP_MIN ? "min" : "max", dim, err);
    case HM__OP_MUL:
    case HM__OP_DIV:
        if (!dim_combine(a->dim, b->dim, op == HM__OP_MUL ? 1 : -1, dim))
            return hm__fail(err, HM_E_UNIT, "the exponent of a unit is above 32");
        return 0;
    case HM__OP_POW:
        return power_dim(a, b, dim, err);
    case HM__OP_SQRT:
        return sqrt_dim(a, dim, err);
    case HM__OP_LT:
    case HM__OP_LE:
    case HM__OP_GT:
    case HM__OP_GE:
    case HM__OP_EQ:
    case HM__OP_NE:
        return need_same(a, b, "a comparison", &unused, err);
    case HM__OP_SELECT:
        rc = need_plain(a, "a condition", err);
        return rc ? rc : need_same(b, c, "?:", dim, err);
    case HM__OP_AND:
    case HM__OP_OR:
        rc = need_plain(a, "a condition", err);
        return rc ? rc : need_plain(b, "a condition", err);
    case HM__OP_NOT:
        return need_plain(a, "a condition", err);
    default:
        return need_plain(a, op == HM__OP_EXP ? "exp" : "a logarithm", err);
    }
}

int hm__build(struct hm_formula *f, enum hm__op op, int a, int b, int c, struct hm_err *err)
{
    const struct hm__node none = {.op = HM__OP_CONST};
    struct hm__node x = f->nodes[a], y = b < 0 ? none : f->nodes[b], z = c < 0 ? none : f->nodes[c];
    struct hm__node node = {.op = op, .operand = {a, b, c}, .definition = -1};

    int rc = result_dim(op, &x, &y, &z, &node.dim, err);
    if (rc)
        return rc;
    node.varies = x.varies || y.varies || z.varies;
    if (op != HM__OP_DEFINE && x.op == HM__OP_CONST && y.op == HM__OP_CONST && z.op == HM__OP_CONST)
        return hm__build_const(f, hm__apply(op, x.value, y.value, z.value), node.dim, err);
    return node_append(f, &node, err);
}
