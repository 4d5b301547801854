/*
 * Writes the graph of an ONNX model as layers of a job, so that its step is modelled by operations.
 * Each node that takes time becomes one layer, in the order of the file; a view before the layer
 * gives the shape of its input. Reshaping and slicing cost nothing; reshaping after a
 * transposition, joining, padding and resizing copy values. Unknown operators are treated as
 * element-wise, and a note lists them.
 *
 * Limits: convolutions in three dimensions, different strides in the two directions, quantised
 * weights, and weights that several convolutions share cannot be described; only the totals of such
 * a network are used.
 */
#include "onnx_layers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "onnx_emit.h"

enum { LAYERS_MOST = 10000 };

static void list_unknown(struct onnx_lister *l, const struct onnx_node *node)
{
    size_t used = strlen(l->unknown);

    if (!strstr(l->unknown, node->op) && used + strlen(node->op) + 3 < sizeof(l->unknown))
        snprintf(l->unknown + used, sizeof(l->unknown) - used, "%s%s", used ? ", " : "", node->op);
    if (l->o->values[node->outputs[0]].rank >= 1)
        hm__onnx_word(l, node, "elementwise");
}

static void list_plain(struct onnx_lister *l, const struct onnx_node *node)
{
    static const struct {
        const char *ops;
        void (*list)(struct onnx_lister *l, const struct onnx_node *node);
    } rules[] = {
        {"Conv ConvTranspose", hm__onnx_conv},
        {"Gemm MatMul", hm__onnx_product},
        {"MaxPool AveragePool LpPool", hm__onnx_pool},
        {"GlobalAveragePool GlobalMaxPool", hm__onnx_global_pool},
        {"BatchNormalization InstanceNormalization GroupNormalization", hm__onnx_batch_norm},
        {"LayerNormalization RMSNormalization", hm__onnx_layer_norm},
        {"LSTM GRU RNN", hm__onnx_recurrent},
        {"Gather", hm__onnx_gather},
        {"Add Sub Mul Div Sum Mean Max Min Pow PRelu", hm__onnx_pair},
        {"ReduceMean ReduceSum ReduceMax ReduceMin ReduceL2 ReduceL1", hm__onnx_reduce},
        {"Reshape", hm__onnx_reshape},
    };
    static const struct {
        const char *ops, *word;
    } words[] = {
        {"Relu", "relu"},
        {"Clip", "relu6"},
        {"Sigmoid", "sigmoid"},
        {"Tanh", "tanh"},
        {"Gelu", "gelu"},
        {"Swish", "swish"},
        {"Softmax LogSoftmax", "softmax"},
        {"Dropout", "dropout"},
        {"Concat Pad Resize Upsample Tile ScatterND ScatterElements GatherElements DepthToSpace "
         "SpaceToDepth",
         "copy"},
        {"LeakyRelu Elu Selu Celu HardSwish HardSigmoid Mish Softplus Softsign Erf Exp Log Sqrt "
         "Neg Abs Reciprocal LRN Sin Cos Floor Ceil Round Sign CumSum",
         "elementwise"},
    };
    static const char free_ops[] =
        "Constant ConstantOfShape Shape Size Flatten Transpose Squeeze Unsqueeze Identity Cast "
        "Slice Split Expand Range Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Not "
        "Where "
        "IsNaN IsInf Trilu NonZero RandomUniformLike RandomNormalLike Bernoulli";

    if (hm__onnx_is_op(node, free_ops))
        return;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (hm__onnx_is_op(node, rules[i].ops)) {
            rules[i].list(l, node);
            return;
        }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (hm__onnx_is_op(node, words[i].ops)) {
            hm__onnx_word(l, node, words[i].word);
            return;
        }
    list_unknown(l, node);
}

static void list_node(struct onnx_lister *l, size_t i)
{
    const struct onnx_node *node = &l->o->nodes[i];
    bool live = false;

    for (size_t k = 0; k < node->input_count; k++)
        live = live || hm__onnx_is_live(l, node, k);
    if (!live || node->output_count == 0 || node->outputs[0] == SIZE_MAX)
        return;
    switch (l->mark[i]) {
    case ONNX_PART:
        return;
    case ONNX_GELU:
        hm__onnx_word(l, node, "gelu");
        return;
    case ONNX_SWISH:
        hm__onnx_word(l, node, "swish");
        return;
    case ONNX_NORM:
        hm__onnx_written_norm(l, node);
        return;
    case ONNX_ATTENTION:
        hm__onnx_attention(l, node);
        return;
    default:
        list_plain(l, node);
    }
}

/* Returns whether the channels of the first output of a node are in its second dimension. */
static bool keeps_image(const struct onnx_lister *l, const struct onnx_node *node)
{
    const struct onnx_value *out = &l->o->values[node->outputs[0]];
    bool image = false;

    if (hm__onnx_is_op(node, "Conv ConvTranspose MaxPool AveragePool LpPool GlobalAveragePool "
                             "GlobalMaxPool BatchNormalization InstanceNormalization "
                             "GroupNormalization"))
        return out->rank >= 3;
    if (hm__onnx_is_op(node, "MatMul Gemm LayerNormalization RMSNormalization"))
        return false;
    for (size_t i = 0; i < node->input_count; i++)
        image = image || (hm__onnx_is_live(l, node, i) && l->image[node->inputs[i]]);
    if (hm__onnx_is_op(node, "Transpose") && out->rank == 4) {
        if (hm__onnx_item(node, "perm", 1, 0) == 3)
            return true;
        return image && hm__onnx_item(node, "perm", 1, 0) == 1;
    }
    if (hm__onnx_is_op(node, "Reshape Flatten Squeeze Unsqueeze"))
        return image && out->rank >= 4;
    return image;
}

/*
 * For each tensor, finds the nodes that write and read it, and whether it depends on an input of
 * the model.
 */
static void trace_values(struct onnx_lister *l)
{
    struct onnx *o = l->o;

    for (size_t i = 0; i < o->input_count; i++) {
        const struct onnx_value *v = &o->values[o->inputs[i]];
        l->live[o->inputs[i]] = !v->initializer;
        l->image[o->inputs[i]] = !v->initializer && v->rank == 4;
    }
    for (size_t i = 0; i < o->node_count; i++) {
        const struct onnx_node *node = &o->nodes[i];
        bool live = false;
        for (size_t k = 0; k < node->input_count; k++) {
            size_t value = node->inputs[k];
            if (value == SIZE_MAX)
                continue;
            live = live || l->live[value];
            /* SIZE_MAX means that there are several readers; it is replaced by 0 below. */
            l->reader[value] = l->reader[value] == 0 ? i + 1 : SIZE_MAX;
        }
        live = live && !hm__onnx_is_op(node, "Shape Size");
        for (size_t k = 0; k < node->output_count; k++) {
            if (node->outputs[k] == SIZE_MAX)
                continue;
            l->maker[node->outputs[k]] = i + 1;
            l->live[node->outputs[k]] = live;
        }
        if (live && node->output_count > 0 && node->outputs[0] != SIZE_MAX)
            for (size_t k = 0; k < node->output_count; k++)
                if (node->outputs[k] != SIZE_MAX)
                    l->image[node->outputs[k]] = keeps_image(l, node);
    }
    for (size_t i = 0; i < o->value_count; i++)
        if (l->reader[i] == SIZE_MAX)
            l->reader[i] = 0;
}

/* Finds the shape of the first input of the model; returns false if there is none. */
static bool find_input(struct onnx_lister *l, struct hm_shape *ret)
{
    for (size_t i = 0; i < l->o->input_count; i++) {
        const struct onnx_value *v = &l->o->values[l->o->inputs[i]];
        if (v->initializer || v->rank < 2)
            continue;
        l->batch = v->dims[0];
        if (!(l->batch >= 1) || !hm__onnx_sample_shape(l, l->o->inputs[i], ret))
            return false;
        if (v->type == ONNX_INT64 || v->type == ONNX_INT32)
            *ret = (struct hm_shape){HM_SHAPE_SEQUENCE, hm__onnx_elements(v) / l->batch, 1, 1};
        return true;
    }
    return false;
}

static bool lister_init(struct onnx_lister *l, struct onnx *o)
{
    size_t values = o->value_count + 1, nodes = o->node_count + 1;

    *l = (struct onnx_lister){.o = o};
    l->maker = hm__calloc(values, sizeof(*l->maker));
    l->reader = hm__calloc(values, sizeof(*l->reader));
    l->live = hm__calloc(values, sizeof(*l->live));
    l->image = hm__calloc(values, sizeof(*l->image));
    l->counted = hm__calloc(values, sizeof(*l->counted));
    l->mark = hm__calloc(nodes, sizeof(*l->mark));
    l->partner = hm__calloc(nodes, sizeof(*l->partner));
    return l->maker && l->reader && l->live && l->image && l->counted && l->mark && l->partner;
}

static void lister_release(struct onnx_lister *l)
{
    hm__free(l->maker);
    hm__free(l->reader);
    hm__free(l->live);
    hm__free(l->image);
    hm__free(l->counted);
    hm__free(l->mark);
    hm__free(l->partner);
    hm__text_release(&l->text);
}

/*
 * Returns whether batch normalisations were merged with convolutions: all convolutions have a bias,
 * no layer is a normalisation, and the network has sums of images or depthwise convolutions, which
 * cannot be trained without normalisation.
 */
static bool is_merged(const struct onnx_lister *l)
{
    bool modern = false;

    for (size_t i = 0; i < l->o->node_count; i++) {
        const struct onnx_node *node = &l->o->nodes[i];
        const struct onnx_attribute *group = hm__onnx_attribute(node, "group");
        const struct onnx_value *w = hm__onnx_value(l, node, 1);
        if (l->mark[i] == ONNX_NORM || strstr(node->op, "Normalization"))
            return false;
        if (hm__onnx_is_op(node, "Conv") && hm__onnx_input(node, 2) == SIZE_MAX)
            return false;
        bool depthwise = hm__onnx_is_op(node, "Conv") && group && group->i > 2 && w &&
                         w->rank > 1 && w->dims[1] == 1;
        bool writes = node->output_count > 0 && node->outputs[0] != SIZE_MAX;
        modern = modern || depthwise ||
                 (writes && hm__onnx_is_op(node, "Add") && hm__onnx_is_live(l, node, 0) &&
                  hm__onnx_is_live(l, node, 1) && l->image[node->outputs[0]]);
    }
    return modern;
}

/* Lists all layers; returns false if that is not possible. */
static bool list_graph(struct onnx_lister *l, double parameters, struct hm_shape *ret_input)
{
    trace_values(l);
    if (!find_input(l, ret_input)) {
        l->refused = "its input";
        return false;
    }
    l->now = *ret_input;
    hm__onnx_fuse(l);
    l->merged = is_merged(l);
    for (size_t i = 0; i < l->o->node_count && !l->refused; i++)
        list_node(l, i);
    if (!l->refused && l->parameters > parameters)
        l->refused = "weights that are used several times";
    if (!l->refused && l->parameters < parameters)
        hm__text_addf(&l->text, "    - add: {parameters: %.0f}\n", parameters - l->parameters);
    return !l->refused;
}

bool hm__onnx_layers(struct onnx *o, double parameters, bool in_order)
{
    struct onnx_lister l;
    struct hm_shape input;
    bool done = false;

    if (!in_order || o->repeated > 0 || o->node_count > LAYERS_MOST || o->subgraphs > 0)
        return false;
    if (!lister_init(&l, o)) {
        o->im->failed = true;
    } else if (list_graph(&l, parameters, &input)) {
        hm__text_add(&o->im->document, "network:\n  input: ");
        hm__onnx_write_shape(&o->im->document, &input);
        hm__text_addf(&o->im->document, "\n  layers:\n%s", l.text.data ? l.text.data : "");
        o->im->failed |= l.text.failed;
        done = true;
        if (l.unknown[0])
            hm__import_note(o->im, "operators treated as element-wise: %s", l.unknown);
        if (l.merged_count > 0)
            hm__import_note(o->im,
                            "batch normalisations were merged with %zu convolutions for inference; "
                            "they are listed again, as for training",
                            l.merged_count);
    } else {
        hm__import_note(o->im, "only the totals of the network are used: layers cannot describe %s",
                        l.refused);
    }
    lister_release(&l);
    return done;
}
