/*
 * Finds operations of training frameworks that ONNX writes as several nodes:
 *
 *     GELU        Erf between a division by a constant and products
 *     swish       Sigmoid and a product with the same input
 *     norm        means, differences and a square root, then learned factors and offsets
 *     attention   a product of two tensors, scaling, mask, Softmax, and another product
 *
 * Attention that adds learned offsets to the scores, as in Swin Transformers, is not treated as one
 * operation.
 */
#include "onnx_lister.h"

size_t hm__onnx_input(const struct onnx_node *node, size_t i)
{
    return i < node->input_count ? node->inputs[i] : SIZE_MAX;
}

bool hm__onnx_is_live(const struct onnx_lister *l, const struct onnx_node *node, size_t i)
{
    size_t value = hm__onnx_input(node, i);

    return value != SIZE_MAX && l->live[value];
}

static struct onnx_node *maker_of(const struct onnx_lister *l, size_t value)
{
    return value == SIZE_MAX || l->maker[value] == 0 ? NULL : &l->o->nodes[l->maker[value] - 1];
}

/* Returns the only node that reads the first output of a node; NULL if none or several do. */
static struct onnx_node *reader_of(const struct onnx_lister *l, const struct onnx_node *node)
{
    size_t value = node->output_count > 0 ? node->outputs[0] : SIZE_MAX;

    return value == SIZE_MAX || l->reader[value] == 0 ? NULL : &l->o->nodes[l->reader[value] - 1];
}

static enum onnx_mark *mark_of(const struct onnx_lister *l, const struct onnx_node *node)
{
    return &l->mark[node - l->o->nodes];
}

size_t hm__onnx_weight(const struct onnx_lister *l, size_t value)
{
    for (int depth = 0; depth < 16 && value != SIZE_MAX && !l->live[value]; depth++) {
        const struct onnx_value *v = &l->o->values[value];
        if (v->initializer || v->filled)
            return value;
        const struct onnx_node *node = maker_of(l, value);
        if (!node || !hm__onnx_is_op(node, "Transpose Identity Cast Reshape Squeeze Unsqueeze "
                                           "DequantizeLinear Gather Slice"))
            return SIZE_MAX;
        value = hm__onnx_input(node, 0);
    }
    return SIZE_MAX;
}

/*
 * Returns whether exactly one input of the node is computed; *ret_live is this input, and
 * *ret_other is another input.
 */
static bool has_constant(const struct onnx_lister *l, const struct onnx_node *node,
                         size_t *ret_live, size_t *ret_other)
{
    bool first = hm__onnx_is_live(l, node, 0), second = hm__onnx_is_live(l, node, 1);

    if (node->input_count != 2 || first == second)
        return false;
    *ret_live = node->inputs[first ? 0 : 1];
    *ret_other = node->inputs[first ? 1 : 0];
    return *ret_other != SIZE_MAX;
}

/* Returns whether one input of the node is a constant number. */
static bool has_scalar(const struct onnx_lister *l, const struct onnx_node *node)
{
    size_t live, other;

    return has_constant(l, node, &live, &other) && hm__onnx_elements(&l->o->values[other]) == 1;
}

/*
 * Marks the nodes around Erf: the division x / sqrt(2) before it, and the sum with 1 and the
 * products with x and 1/2 after it.
 */
static void fuse_gelu(struct onnx_lister *l, struct onnx_node *erf)
{
    struct onnx_node *before = maker_of(l, hm__onnx_input(erf, 0)), *after = erf;
    int products = 0;

    for (int step = 0; step < 4; step++) {
        struct onnx_node *next = reader_of(l, after);
        bool both = next && next->input_count == 2 && hm__onnx_is_live(l, next, 0) &&
                    hm__onnx_is_live(l, next, 1);
        if (!next || !hm__onnx_is_op(next, "Add Mul Div") || !(has_scalar(l, next) || both))
            break;
        products += both;
        if (products > 1)
            break;
        *mark_of(l, after) = ONNX_PART;
        after = next;
    }
    if (products == 0)
        return;
    if (before && hm__onnx_is_op(before, "Div Mul") && has_scalar(l, before))
        *mark_of(l, before) = ONNX_PART;
    *mark_of(l, erf) = ONNX_PART;
    *mark_of(l, after) = ONNX_GELU;
}

static void fuse_swish(struct onnx_lister *l, struct onnx_node *sigmoid)
{
    struct onnx_node *next = reader_of(l, sigmoid);
    size_t x = hm__onnx_input(sigmoid, 0);

    if (!next || !hm__onnx_is_op(next, "Mul") || next->input_count != 2 ||
        (next->inputs[0] != x && next->inputs[1] != x))
        return;
    *mark_of(l, sigmoid) = ONNX_PART;
    *mark_of(l, next) = ONNX_SWISH;
}

/*
 * Marks a normalisation that is written as arithmetic: mean, difference, square, mean, sum with a
 * constant, square root, division, and products and sums with learned values.
 */
static void fuse_norm(struct onnx_lister *l, struct onnx_node *root)
{
    struct onnx_node *sum = maker_of(l, hm__onnx_input(root, 0));
    struct onnx_node *mean =
        sum && hm__onnx_is_op(sum, "Add") && has_scalar(l, sum)
            ? maker_of(l, hm__onnx_input(sum, hm__onnx_is_live(l, sum, 0) ? 0 : 1))
            : NULL;
    struct onnx_node *square =
        mean && hm__onnx_is_op(mean, "ReduceMean") ? maker_of(l, hm__onnx_input(mean, 0)) : NULL;
    struct onnx_node *last = reader_of(l, root);
    size_t live, other;

    if (!square || !hm__onnx_is_op(square, "Pow Mul") || !last)
        return;
    if (hm__onnx_is_op(last, "Reciprocal")) {
        *mark_of(l, last) = ONNX_PART;
        last = reader_of(l, last);
    }
    if (!last || !hm__onnx_is_op(last, "Div Mul"))
        return;
    struct onnx_node *difference = maker_of(l, hm__onnx_input(square, 0));
    if (difference && hm__onnx_is_op(difference, "Sub")) {
        struct onnx_node *first = maker_of(l, hm__onnx_input(difference, 1));
        *mark_of(l, difference) = ONNX_PART;
        if (first && hm__onnx_is_op(first, "ReduceMean"))
            *mark_of(l, first) = ONNX_PART;
    }
    int steps = 0;
    for (struct onnx_node *next = reader_of(l, last);
         next && steps++ < ONNX_CHAIN && hm__onnx_is_op(next, "Cast Mul Add") &&
         (hm__onnx_is_op(next, "Cast") ||
          (has_constant(l, next, &live, &other) && hm__onnx_weight(l, other) != SIZE_MAX));
         next = reader_of(l, last)) {
        *mark_of(l, last) = ONNX_PART;
        last = next;
    }
    *mark_of(l, root) = *mark_of(l, sum) = *mark_of(l, mean) = *mark_of(l, square) = ONNX_PART;
    *mark_of(l, last) = ONNX_NORM;
}

static bool is_product(const struct onnx_lister *l, const struct onnx_node *node)
{
    return node && hm__onnx_is_op(node, "MatMul") && hm__onnx_is_live(l, node, 0) &&
           hm__onnx_is_live(l, node, 1) && node->output_count > 0 && node->outputs[0] != SIZE_MAX;
}

/*
 * Follows the scores from Softmax back to their matrix product. Returns NULL if there is no such
 * product, or if learned values are added to the scores. `marked` receives the nodes between the
 * two.
 */
static struct onnx_node *find_scores(const struct onnx_lister *l, const struct onnx_node *softmax,
                                     struct onnx_node **marked, size_t *ret_count)
{
    size_t value = hm__onnx_input(softmax, 0), live, other;

    *ret_count = 0;
    for (int depth = 0; depth < 8; depth++) {
        struct onnx_node *node = maker_of(l, value);
        if (!node || is_product(l, node))
            return node;
        if (!hm__onnx_is_op(node, "Mul Div Add Where Cast Reshape Identity"))
            return NULL;
        if (hm__onnx_is_op(node, "Add") && has_constant(l, node, &live, &other) &&
            hm__onnx_weight(l, other) != SIZE_MAX)
            return NULL;
        marked[(*ret_count)++] = node;
        size_t from = 0;
        /* The scores are the largest input, because masks are smaller and are broadcast. */
        for (size_t i = 1; i < node->input_count; i++)
            if (hm__onnx_is_live(l, node, i) && l->o->values[node->inputs[i]].type != 9 &&
                (!hm__onnx_is_live(l, node, from) ||
                 hm__onnx_elements(&l->o->values[node->inputs[i]]) >
                     hm__onnx_elements(&l->o->values[node->inputs[from]])))
                from = i;
        value = hm__onnx_input(node, from);
    }
    return NULL;
}

static void fuse_attention(struct onnx_lister *l, struct onnx_node *softmax)
{
    struct onnx_node *marked[8], *next = softmax;
    size_t count;
    struct onnx_node *scores = find_scores(l, softmax, marked, &count);
    int steps = 0;

    do {
        next = reader_of(l, next);
    } while (next && steps++ < ONNX_CHAIN && hm__onnx_is_op(next, "Dropout Cast Identity"));
    if (!scores || !is_product(l, next))
        return;
    for (struct onnx_node *node = softmax; node != next; node = reader_of(l, node))
        *mark_of(l, node) = ONNX_PART;
    for (size_t i = 0; i < count; i++)
        *mark_of(l, marked[i]) = ONNX_PART;
    *mark_of(l, scores) = ONNX_PART;
    *mark_of(l, next) = ONNX_ATTENTION;
    l->partner[next - l->o->nodes] = (size_t)(scores - l->o->nodes);
}

void hm__onnx_fuse(struct onnx_lister *l)
{
    for (size_t i = 0; i < l->o->node_count; i++) {
        struct onnx_node *node = &l->o->nodes[i];
        if (!hm__onnx_is_live(l, node, 0))
            continue;
        if (hm__onnx_is_op(node, "Erf"))
            fuse_gelu(l, node);
        else if (hm__onnx_is_op(node, "Sigmoid"))
            fuse_swish(l, node);
        else if (hm__onnx_is_op(node, "Sqrt"))
            fuse_norm(l, node);
        else if (hm__onnx_is_op(node, "Softmax"))
            fuse_attention(l, node);
    }
}
