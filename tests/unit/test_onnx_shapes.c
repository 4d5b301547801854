/*
 * Tests the shapes of ONNX operators, from the specification of each operator: one node at a time,
 * with inputs given as shapes or constants. The expected shapes were computed by hand.
 */
#include "testing.h"

#include "onnx.h"

/*
 * A case: inputs separated by blanks. "2x3" is a value of this shape, "." a scalar, "?" a value of
 * unknown shape, "-" no input, "=1,2" a constant list and "=.5" a constant scalar. Attributes are
 * "axis:1" (an integer), "pads::1,2" (a list) or "auto_pad=SAME". The output is a shape, several of
 * them, "!" if it cannot be inferred, and after "=" the elements, if they are known.
 */
struct onnx_case {
    const char *op, *inputs, *attributes, *output;
    double macs;
};

enum { VALUES = 12 };

struct graph {
    struct onnx o;
    struct onnx_value values[VALUES];
    struct onnx_node node;
    struct onnx_attribute attributes[ONNX_ATTRIBUTES];
    size_t ends[VALUES];
    struct hm_imported im;
};

static void read_numbers(const char *text, char between, double *numbers, size_t *ret_count)
{
    char *end;

    for (*ret_count = 0; *text; text = *end == between ? end + 1 : end) {
        numbers[(*ret_count)++] = strtod(text, &end);
        if (end == text)
            fail_msg("'%s' is no number", text);
    }
}

static size_t add_value(struct graph *g, const char *text)
{
    struct onnx_value *v = &g->values[g->o.value_count];
    size_t count;

    if (strcmp(text, "-") == 0)
        return SIZE_MAX;
    *v = (struct onnx_value){.rank = -1, .type = ONNX_INT64, .made = true};
    if (text[0] == '=') {
        bool scalar = text[1] == '.';
        v->data = hm__arena_alloc(g->im.arena, 128, sizeof(double));
        read_numbers(text + 1 + scalar, ',', v->data, &v->count);
        v->rank = scalar ? 0 : 1;
        v->dims[0] = (double)v->count;
    } else if (strcmp(text, ".") == 0) {
        v->rank = 0;
    } else if (strcmp(text, "?") != 0) {
        read_numbers(text, 'x', v->dims, &count);
        v->rank = (int)count;
    }
    return g->o.value_count++;
}

static void add_attribute(struct graph *g, const char *text)
{
    struct onnx_attribute *a = &g->attributes[g->node.attribute_count++];
    size_t length = strcspn(text, ":=");

    *a = (struct onnx_attribute){.i = NAN};
    snprintf(a->name, sizeof(a->name), "%.*s", (int)length, text);
    if (text[length] == '=')
        snprintf(a->s, sizeof(a->s), "%s", text + length + 1);
    else if (text[length + 1] == ':')
        read_numbers(text + length + 2, ',', a->ints, &a->int_count);
    else
        a->i = strtod(text + length + 1, NULL);
}

/* Begins a loop over the words of a text. */
#define EACH_WORD(word, text)                                                                      \
    char word##_copy[200], *word##_rest = word##_copy, *word;                                      \
    snprintf(word##_copy, sizeof(word##_copy), "%s", text);                                        \
    while ((word = strtok_r(word##_rest, " ", &word##_rest)))

static void check_output(const struct onnx_case *c, const struct onnx_value *v, const char *wanted)
{
    char shape[200] = "", text[400];
    const char *data = strchr(wanted, '=');

    for (int k = 0; k < v->rank; k++)
        snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%s%g", k ? "x" : "",
                 v->dims[k]);
    if (v->rank == 0)
        snprintf(shape, sizeof(shape), ".");
    snprintf(text, sizeof(text), "%s", shape);
    for (size_t i = 0; data && v->data && i < v->count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%g", i ? "," : "=",
                 v->data[i]);
    if (data && data[1] == '\0') { /* The elements of this value must not be known. */
        assert_null(v->data);
        snprintf(text, sizeof(text), "%s=", shape);
    }
    if (v->rank < 0 || strcmp(text, wanted) != 0)
        fail_msg("%s of %s (%s): '%s' instead of '%s'", c->op, c->inputs, c->attributes,
                 v->rank < 0 ? "unknown" : text, wanted);
}

static void check_case(const struct onnx_case *c)
{
    static struct graph g;
    size_t outputs = 0;

    g = (struct graph){.o = {.im = &g.im, .values = g.values, .nodes = &g.node, .node_count = 1},
                       .node = {.op = c->op, .tensor = SIZE_MAX}};
    g.im.arena = hm__arena_new();
    {
        EACH_WORD(word, c->inputs)
        g.ends[g.node.input_count++] = add_value(&g, word);
    }
    {
        EACH_WORD(word, c->attributes)
        add_attribute(&g, word);
    }
    g.node.attributes = g.attributes;
    g.node.inputs = g.ends;
    g.node.outputs = g.ends + g.node.input_count;
    bool known = c->output[0] != '!';
    const char *first = known ? c->output : "?";
    size_t begin = g.o.value_count;
    {
        EACH_WORD(word, first)
        {
            (void)word;
            g.node.outputs[outputs++] = add_value(&g, "?");
        }
    }
    g.node.output_count = outputs;
    for (size_t i = 0; i < outputs; i++)
        g.values[begin + i].made = false;
    assert_true(hm__onnx_infer(&g.o));
    assert_true(g.node.done);
    if (g.node.inferred != known)
        fail_msg("%s of %s (%s): inferred is %d", c->op, c->inputs, c->attributes,
                 (int)g.node.inferred);
    if (known) {
        size_t i = 0;
        EACH_WORD(word, c->output)
        check_output(c, &g.values[begin + i++], word);
    }
    double macs = hm__onnx_macs(&g.o, &g.node);
    if (c->macs > 0 && !(macs == c->macs))
        fail_msg("%s of %s (%s): %g multiply-adds instead of %g", c->op, c->inputs, c->attributes,
                 macs, c->macs);
    if (c->macs == 0 && known)
        assert_true(macs == 0);
    hm__arena_free(g.im.arena);
}

static const struct onnx_case operators[] = {
    /* Element-wise operators: shapes are broadcast, and small constants are computed. */
    {"Relu", "2x3", "", "2x3", 0},
    {"Cast", "=3,4", "", "2=3,4", 0},
    {"Relu", "?", "", "!", 0},
    {"Relu", "-", "", "!", 0},
    {"Nothing", "2x3", "", "!", 0},
    {"Add", "2x3 3", "", "2x3", 0},
    {"Add", "2x1x4 3x1", "", "2x3x4", 0},
    {"Mul", ". 5", "", "5", 0},
    {"Sum", "2x1 1x3 .", "", "2x3", 0},
    {"Add", "2x3 ?", "", "!", 0},
    {"Add", "=1,2 =10,20", "", "2=11,22", 0},
    {"Sub", "=5,7 =.2", "", "2=3,5", 0},
    {"Mul", "=.3 =4,5", "", "2=12,15", 0},
    {"Div", "=7,-7 =.2", "", "2=3,-3", 0}, /* The quotient is rounded towards zero. */
    {"Div", "=7 =0", "", "1=nan", 0},
    {"Mod", "=7,-7 =.3", "", "2=1,2", 0}, /* The result has the sign of the divisor. */
    {"Equal", "=1,2 =1,3", "", "2=1,0", 0},
    {"Less", "=1,2 =1,3", "", "2=", 0},
    {"Add", "=1,2,3 3", "", "3=", 0},
    {"Where", "=1,0,1 =1,2,3 =7,8,9", "", "3=1,8,3", 0},
    {"Where", "=.0 =1,2 =7,8", "", "2=7,8", 0},
    {"Where", "=1,0 =.5 =.6", "", "2=5,6", 0},
    {"Where", "2 3x2 2", "", "3x2", 0},
    {"Where", "- =1,2 =7,8", "", "2", 0},
    {"Where", "=1,0 =1,2,3,4 =7,8,9,10", "", "4=1,8,3,10", 0},
    {"Gather", "2x3 4", "axis:2", "!", 0},
    {"Gather", "2x3 4", "axis:-3", "!", 0},
    {"Gather", "2x3 4", "axis:-4611686018427387904", "!", 0},
    {"ReduceMean", "2x3", "axes::4611686018427387904 keepdims:0", "2x3", 0},
    /* Convolutions: the output size is (size + pads - dilation (kernel - 1) - 1) / stride + 1. */
    {"Conv", "1x3x8x8 16x3x3x3", "", "1x16x6x6", 36 * 16 * 27.},
    {"Conv", "1x3x8x8 16x3x3x3", "pads::1,1,1,1", "1x16x8x8", 64 * 16 * 27.},
    {"Conv", "1x3x8x9 16x3x3x3", "pads::1,0,1,2 strides::2,3", "1x16x4x3", 12 * 16 * 27.},
    {"Conv", "1x4x8x8 8x2x3x3", "group:2 dilations::2,1", "1x8x4x6", 24 * 8 * 18.},
    {"Conv", "1x3x9x9 4x3x3x3", "auto_pad=SAME_UPPER strides::2,2", "1x4x5x5", 25 * 4 * 27.},
    {"Conv", "1x3x9x9 4x3x3x3", "auto_pad=VALID strides::2,2", "1x4x4x4", 16 * 4 * 27.},
    {"Conv", "2x3x10 4x3x5", "", "2x4x6", 2 * 6 * 4 * 15.},
    {"Conv", "3x8 4x3", "", "!", 0},
    {"Conv", "1x3x8x8 16x3x3", "", "!", 0},
    {"Conv", "1x3x8x8 -", "", "!", 0},
    {"Conv", "1x3x8x8 16x3x3x3", "strides::0,1", "!", 0},
    {"ConvTranspose", "1x16x4x4 16x8x3x3", "strides::2,2", "1x8x9x9", 16 * 16 * 8 * 9.},
    {"ConvTranspose", "1x16x4x4 16x8x3x3", "strides::2,2 pads::1,1,1,1 output_padding::1,1",
     "1x8x8x8", 16 * 16 * 8 * 9.},
    {"ConvTranspose", "1x16x4x4 16x4x2x2", "group:2", "1x8x5x5", 16 * 16 * 4 * 4.},
    {"MaxPool", "1x8x9x9", "kernel_shape::3,3 strides::2,2", "1x8x4x4", 0},
    {"MaxPool", "1x8x10x10", "kernel_shape::3,3 strides::2,2", "1x8x4x4", 0},
    {"MaxPool", "1x8x10x10", "kernel_shape::3,3 strides::2,2 ceil_mode:1", "1x8x5x5", 0},
    {"AveragePool", "1x8x10", "kernel_shape::4", "1x8x7", 0},
    {"MaxPool", "1x8x10x10", "", "!", 0},
    {"MaxPool", "8x10", "kernel_shape::3", "!", 0},
    {"GlobalAveragePool", "2x8x7x5", "", "2x8x1x1", 0},
    {"GlobalMaxPool", "2x8", "", "2x8", 0},
    {"GlobalMaxPool", "8", "", "!", 0},
    /* Operators with matrix products. */
    {"Gemm", "2x3 3x5", "", "2x5", 2 * 3 * 5.},
    {"Gemm", "3x2 3x5", "transA:1", "2x5", 2 * 3 * 5.},
    {"Gemm", "2x3 5x3", "transB:1", "2x5", 2 * 3 * 5.},
    {"Gemm", "1x2x3 3x5", "", "!", 0},
    {"MatMul", "2x3 3x5", "", "2x5", 30},
    {"MatMul", "4x1x2x3 6x3x5", "", "4x6x2x5", 24 * 30.},
    {"MatMul", "2x3 7x3x5", "", "7x2x5", 7 * 30.},
    {"MatMul", "7x2x3 3x5", "", "7x2x5", 7 * 30.},
    {"MatMul", "3 3x5", "", "!", 0},
    {"LSTM", "6x2x4 1x20x4 1x20x5", "hidden_size:5", "6x1x2x5 1x2x5 1x2x5", 12 * (80 + 100.)},
    {"GRU", "6x2x4 2x15x4 2x15x5", "hidden_size:5", "6x2x2x5 2x2x5", 12 * (120 + 150.)},
    {"RNN", "6x2x4 1x5x4 1x5x5", "", "!", 0},
    {"RNN", "6x2 1x5x4 1x5x5", "hidden_size:5", "!", 0},
    /* Operators that change the shape of a value. */
    {"Flatten", "2x3x4", "", "2x12", 0},
    {"Flatten", "2x3x4", "axis:2", "6x4", 0},
    {"Flatten", "2x3x4", "axis:0", "1x24", 0},
    {"Flatten", "2x3x4", "axis:-1", "6x4", 0},
    {"Flatten", "?", "", "!", 0},
    {"Reshape", "2x3x4 =6,4", "", "6x4", 0},
    {"Reshape", "2x3x4 =-1,4", "", "6x4", 0},
    {"Reshape", "2x3x4 =0,-1", "", "2x12", 0},
    {"Reshape", "2x3x4 =0,0,2,2", "", "2x3x2x2", 0},
    {"Reshape", "=1,2,3,4 =2,2", "", "2x2=1,2,3,4", 0},
    {"Reshape", "2x3x4 3", "", "!", 0},
    {"Reshape", "? =6,4", "", "!", 0},
    {"Transpose", "2x3x4", "", "4x3x2", 0},
    {"Transpose", "2x3x4", "perm::1,0,2", "3x2x4", 0},
    {"Transpose", "=1,2,3", "", "3=1,2,3", 0},
    {"Transpose", "2x3x4", "perm::1,0,3", "!", 0},
    {"Transpose", "2x3x4", "perm::1,0,-1", "!", 0},
    {"Concat", "2x3 2x5", "axis:1", "2x8", 0},
    {"Concat", "2x3 4x3", "axis:0", "6x3", 0},
    {"Concat", "2x3 2x5", "axis:-1", "2x8", 0},
    {"Concat", "2x3 2x5", "axis:2", "!", 0},
    {"Concat", "2x3 2", "axis:0", "!", 0},
    {"Concat", ".", "axis:0", "!", 0},
    {"Concat", "=1,2 =3 =4,5", "axis:0", "5=1,2,3,4,5", 0},
    {"Concat", "=1,2 1", "axis:0", "3=", 0},
    {"Shape", "2x3x4", "", "3=2,3,4", 0},
    {"Shape", "2x3x4", "start:1", "2=3,4", 0},
    {"Shape", "2x3x4", "end:2", "2=2,3", 0},
    {"Shape", "2x3x4", "end:9", "3=2,3,4", 0},
    {"Shape", "2x3x4", "start:-2 end:-1", "1=3", 0},
    {"Shape", ".", "", "0", 0},
    {"Shape", "?", "", "!", 0},
    {"Slice", "2x9 =1 =5 =1", "", "2x4", 0},
    {"Slice", "2x9 =1 =5 =-1", "", "2x4", 0},
    {"Slice", "2x9 =1 =100 =1 =3", "", "2x3", 0},
    {"Slice", "2x9 =-3 =-1 =1", "", "2x2", 0},
    {"Slice", "2x9 =8 =-100 =1 =-2", "", "2x5", 0},
    {"Slice", "2x9 =5 =2 =1", "", "2x0", 0},
    {"Slice", "4x9 =1,2 =3,9", "", "2x7", 0},
    {"Slice", "2x9 =1 =5 =2", "", "!", 0},
    {"Slice", "2x9 =1 =5 =1 =0", "", "!", 0},
    {"Slice", "2x9", "starts::1 ends::4 axes::1", "2x3", 0},
    {"Slice", "2x9", "starts::1,2 ends::2,9", "1x7", 0},
    {"Slice", "2x9", "", "!", 0},
    {"Slice", "=1,2,3,4,5 =1 =4", "", "3=2,3,4", 0},
    {"Slice", "=1,2,3,4,5 =4 =-100 =0 =-2", "", "3=5,3,1", 0},
    {"Squeeze", "1x3x1x4", "", "3x4", 0},
    {"Squeeze", "1x3x1x4 =0", "", "3x1x4", 0},
    {"Squeeze", "1x3x1x4 =-2", "", "1x3x4", 0},
    {"Squeeze", "1x3x1x4", "axes::0,2", "3x4", 0},
    {"Squeeze", "=7 =0", "", ".=7", 0},
    {"Unsqueeze", "3x4 =0", "", "1x3x4", 0},
    {"Unsqueeze", "3x4 =1,3", "", "3x1x4x1", 0},
    {"Unsqueeze", "3x4 =-1", "", "3x4x1", 0},
    {"Unsqueeze", "3x4", "axes::0", "1x3x4", 0},
    {"Unsqueeze", "=.7 =0", "", "1=7", 0},
    {"Gather", "5x6 2x3", "", "2x3x6", 0},
    {"Gather", "5x6 .", "axis:1", "5", 0},
    {"Gather", "5x6 4", "axis:-1", "5x4", 0},
    {"Gather", "=5,6,7 =2,0", "", "2=7,5", 0},
    {"Gather", "=5,6,7 =.-1", "", ".=7", 0},
    {"Gather", "=5,6,7 =3", "", "1=nan", 0},
    {"Gather", ". 2", "", "!", 0},
    {"Gather", "5x6 ?", "", "!", 0},
    /* Operators that make constants. */
    {"Constant", "", "value_int:7", ".=7", 0},
    {"Constant", "", "value_ints::7,8", "2=7,8", 0},
    {"Constant", "", "", ".", 0},
    {"ConstantOfShape", "=2,3", "", "2x3", 0},
    {"ConstantOfShape", "2", "", "!", 0},
    {"Range", "=.2 =.11 =.3", "", "3", 0},
    {"Range", "=.5 =.0 =.-2", "", "3", 0},
    {"Range", "=.5 =.0 =.1", "", "0", 0},
    {"Range", "=.5 =.0 =.0", "", "!", 0},
    {"Range", ". =.0 =.1", "", "!", 0},
    {"Expand", "3x1 =2,3,4", "", "2x3x4", 0},
    {"Expand", "3x4 =1,1", "", "3x4", 0},
    {"Expand", "2x3x4 =4", "", "!", 0},
    {"Expand", "3x1 2", "", "!", 0},
    /* All other operators. */
    {"Split", "2x9", "axis:1", "2x3 2x3 2x3", 0},
    {"Split", "2x9 =4,5", "axis:1", "2x4 2x5", 0},
    {"Split", "2x9", "axis:-1 split::2,7", "2x2 2x7", 0},
    {"Split", "4x9", "", "2x9 2x9", 0},
    {"Split", "4x9", "axis:2", "!", 0},
    {"Pad", "2x3 =1,2,3,4", "", "6x9", 0},
    {"Pad", "2x3", "pads::0,1,0,1", "2x5", 0},
    {"Pad", "2x3", "", "!", 0},
    {"ReduceMean", "2x3x4", "", "1x1x1", 0},
    {"ReduceMean", "2x3x4", "keepdims:0", ".", 0},
    {"ReduceMean", "2x3x4 =1", "", "2x1x4", 0},
    {"ReduceMean", "2x3x4 =-1", "keepdims:0", "2x3", 0},
    {"ReduceSum", "2x3x4", "axes::0,2 keepdims:0", "3", 0},
    {"ReduceSum", "?", "", "!", 0},
};

static void operators_have_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
        check_case(&operators[i]);
}

/* Ranks above 8, sizes of 1e15 and constants of more than 64 elements exceed the limits of the
 * reader. */
static void sizes_have_limits(void **state)
{
    static const struct onnx_case cases[] = {
        {"Unsqueeze", "2x2x2x2x2x2x2 =0", "", "1x2x2x2x2x2x2x2", 0},
        {"Unsqueeze", "2x2x2x2x2x2x2 =0,1", "", "!", 0},
        {"Gather", "2x2x2x2x2 2x2x2x2", "", "2x2x2x2x2x2x2x2", 0},
        {"Gather", "2x2x2x2x2 2x2x2x2x2", "", "!", 0},
        {"Concat", "999999999999998 1", "axis:0", "1e+15", 0},
        {"Concat", "999999999999999 1", "axis:0", "!", 0},
        {"Reshape", "2x3 =1,1,1,1,1,1,2,3", "", "1x1x1x1x1x1x2x3", 0},
        {"Reshape", "2x3 =1,1,1,1,1,1,1,2,3", "", "!", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_case(&cases[i]);
}

/* Nodes in any order are inferred; a cycle is left out. */
static void nodes_may_be_in_any_order(void **state)
{
    static struct onnx_value values[4];
    static struct onnx_node nodes[3];
    size_t ends[3][2] = {{1, 2}, {0, 1}, {3, 3}};
    struct hm_imported im = {.arena = hm__arena_new()};
    struct onnx o = {.im = &im, .values = values, .value_count = 4, .nodes = nodes};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        values[i] = (struct onnx_value){.rank = i == 0 ? 2 : -1, .dims = {2, 3}, .made = i == 0};
    for (size_t i = 0; i < 3; i++)
        nodes[i] = (struct onnx_node){.op = "Relu",
                                      .inputs = &ends[i][0],
                                      .outputs = &ends[i][1],
                                      .input_count = 1,
                                      .output_count = 1,
                                      .tensor = SIZE_MAX};
    o.node_count = 3;
    assert_false(hm__onnx_infer(&o));
    assert_true(nodes[0].inferred && nodes[1].inferred);
    assert_false(nodes[2].done || nodes[2].inferred);
    assert_int_equal(values[2].rank, 2);
    assert_true(values[2].dims[0] == 2 && values[2].dims[1] == 3);
    assert_true(isnan(hm__onnx_elements(&values[3])));
    assert_true(hm__onnx_elements(&values[2]) == 6);
    hm__arena_free(im.arena);
}

/* A node that writes a constant which it also reads does not change the constant. */
static void given_values_are_kept(void **state)
{
    double data[] = {3, 4};
    struct onnx_value value = {
        .rank = 1, .dims = {2}, .data = data, .count = 2, .initializer = true, .made = true};
    size_t ends[3] = {0};
    struct onnx_node node = {.op = "Concat",
                             .inputs = ends,
                             .outputs = ends + 2,
                             .input_count = 2,
                             .output_count = 1,
                             .tensor = SIZE_MAX};
    struct hm_imported im = {.arena = hm__arena_new()};
    struct onnx o = {
        .im = &im, .values = &value, .value_count = 1, .nodes = &node, .node_count = 1};

    (void)state;
    assert_true(hm__onnx_infer(&o));
    assert_true(o.repeated == 1);
    assert_false(node.inferred);
    assert_true(value.count == 2 && value.dims[0] == 2 && value.data == data);
    hm__arena_free(im.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_shapes),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(nodes_may_be_in_any_order),
        cmocka_unit_test(given_values_are_kept),
    };
    return cmocka_run_group_tests_name("onnx_shapes", tests, NULL, NULL);
}
