/*
 * Tests how graphs of ONNX become layers. Each graph is written as text; the expected layers were
 * written by hand from the meaning of the operators.
 */
#include "testing.h"

#include "onnx_layers.h"

/*
 * A graph has one statement per line: "in NAME SHAPE" is an input of the model, "int NAME SHAPE"
 * one of integers, "w NAME SHAPE" a learned tensor, "c NAME NUMBER" a constant number, "list NAME
 * 1,2" a constant list, and "OP A,B > Y,Z ATTRIBUTES" a node, whose attributes are written as
 * "axis:1" (an integer) or "pads::1,2" (a list). A missing input or output is "-".
 */
struct layers_case {
    const char *name, *graph, *layers;
};

enum { VALUES = 64, NODES = 32 };

struct model {
    struct onnx o;
    struct onnx_value values[VALUES];
    struct onnx_node nodes[NODES];
    size_t ends[NODES][8], inputs[4];
    struct onnx_attribute attributes[NODES][4];
    struct hm_imported im;
    double parameters;
};

static size_t find_name(struct model *m, const char *name)
{
    if (strcmp(name, "-") == 0)
        return SIZE_MAX;
    for (size_t i = 0; i < m->o.value_count; i++)
        if (strcmp(m->values[i].name, name) == 0)
            return i;
    assert_true(m->o.value_count < VALUES);
    m->values[m->o.value_count] =
        (struct onnx_value){.name = hm__arena_strdup(m->im.arena, name), .rank = -1};
    return m->o.value_count++;
}

static size_t read_list(const char *text, char between, double *numbers)
{
    size_t count = 0;

    for (char *end; *text; text = *end == between ? end + 1 : end)
        numbers[count++] = strtod(text, &end);
    return count;
}

static void add_tensor(struct model *m, const char *kind, const char *name, const char *shape)
{
    struct onnx_value *v = &m->values[find_name(m, name)];
    bool given = strcmp(kind, "in") == 0 || strcmp(kind, "int") == 0;

    v->type = strcmp(kind, "in") == 0 || strcmp(kind, "w") == 0 ? ONNX_FLOAT : ONNX_INT64;
    v->made = v->used = true;
    if (strcmp(kind, "c") == 0 || strcmp(kind, "list") == 0) {
        v->data = hm__arena_alloc(m->im.arena, 16, sizeof(double));
        v->count = read_list(shape, ',', v->data);
        v->rank = kind[0] == 'c' ? 0 : 1;
        v->dims[0] = (double)v->count;
        return;
    }
    v->rank = (int)read_list(shape, 'x', v->dims);
    v->initializer = !given;
    if (given)
        m->inputs[m->o.input_count++] = (size_t)(v - m->values);
    else
        m->parameters += hm__onnx_elements(v);
}

static void add_node(struct model *m, const char *op, char *inputs, char *outputs, char *rest)
{
    size_t at = m->o.node_count++;
    struct onnx_node *node = &m->nodes[at];
    char *word;

    assert_true(at < NODES);
    *node = (struct onnx_node){
        .op = hm__arena_strdup(m->im.arena, op), .inputs = m->ends[at], .tensor = SIZE_MAX};
    while (strcmp(op, "Constant") != 0 && (word = strsep(&inputs, ",")))
        node->inputs[node->input_count++] = find_name(m, word);
    node->outputs = node->inputs + node->input_count;
    while ((word = strsep(&outputs, ",")))
        node->outputs[node->output_count++] = find_name(m, word);
    node->attributes = m->attributes[at];
    while (rest && (word = strsep(&rest, " "))) {
        struct onnx_attribute *a = &node->attributes[node->attribute_count++];
        size_t length = strcspn(word, ":");
        *a = (struct onnx_attribute){.i = NAN};
        snprintf(a->name, sizeof(a->name), "%.*s", (int)length, word);
        if (word[length + 1] == ':')
            a->int_count = read_list(word + length + 2, ',', a->ints);
        else
            a->i = strtod(word + length + 1, NULL);
    }
}

static void read_model(struct model *m, const char *text)
{
    char *copy = strdup(text), *lines = copy, *line;

    *m = (struct model){0};
    m->im.arena = hm__arena_new();
    m->o = (struct onnx){.im = &m->im, .values = m->values, .nodes = m->nodes, .inputs = m->inputs};
    while ((line = strsep(&lines, "\n"))) {
        char *first = strsep(&line, " "), *second = strsep(&line, " "), *third;
        if (strspn(first, "abcdefghijklmnopqrstuvwxyz") == strlen(first)) {
            add_tensor(m, first, second, line);
            continue;
        }
        strsep(&line, " ");
        third = strsep(&line, " ");
        add_node(m, first, second, third, line);
    }
    free(copy);
}

static void release_model(struct model *m)
{
    hm__text_release(&m->im.document);
    hm__arena_free(m->im.arena);
}

static void check_layers(const struct layers_case *c)
{
    static struct model m;

    read_model(&m, c->graph);
    assert_true(hm__onnx_infer(&m.o));
    bool listed = hm__onnx_layers(&m.o, m.parameters, true);
    if (listed != (c->layers != NULL))
        fail_msg("%s: layers are %slisted", c->name, listed ? "" : "not ");
    if (listed && strcmp(m.im.document.data, c->layers) != 0)
        fail_msg("%s:\n%s instead of\n%s", c->name, m.im.document.data, c->layers);
    release_model(&m);
}

#define NETWORK(input, layers) "network:\n  input: " input "\n  layers:\n" layers

static const struct layers_case cases[] = {
    {"a residual block",
     "in x 2x16x8x8\nw k 16x16x3x3\nw g 16\nw b 16\nw m 16\nw v 16\n"
     "Conv x,k > c pads::1,1,1,1\nBatchNormalization c,g,b > n\nRelu n > r\nAdd r,x > y",
     NETWORK(
         "[8, 8, 16]",
         "    - conv: {filters: 16, kernel: [3, 3], stride: 1, border: [2, 2], groups: 1, bias: "
         "false}\n    - norm: batch\n    - relu\n    - add\n    - add: {parameters: 32}\n")},
    {"strides, groups and pools",
     "in x 1x8x9x9\nw k 8x1x3x3\nw b 8\n"
     "Conv x,k,b > c strides::2,2 group:8\nMaxPool c > p kernel_shape::2,2 strides::2,2\n"
     "GlobalAveragePool p > g",
     NETWORK("[9, 9, 8]",
             "    - conv: {filters: 8, kernel: [3, 3], stride: 2, border: [0, 0], groups: 8, bias: "
             "false}\n    - norm: batch\n"
             "    - pool: {kernel: [2, 2], stride: 2, border: [0, 0]}\n    - global-pool\n")},
    {"a bias that no normalisation was merged into",
     "in x 1x3x8x8\nw k 4x3x3x3\nw b 4\nConv x,k,b > c\nRelu c > y",
     NETWORK("[8, 8, 3]",
             "    - conv: {filters: 4, kernel: [3, 3], stride: 1, border: [0, 0], groups: 1, bias: "
             "true}\n    - relu\n")},
    {"a transposed convolution", "in x 1x8x4x4\nw k 8x6x2x2\nConvTranspose x,k > y strides::2,2",
     NETWORK("[4, 4, 8]",
             "    - conv: {filters: 6, kernel: [2, 2], stride: 2, border: [0, 0], groups: 1, "
             "transposed: true, bias: false}\n")},
    {"a sequence: table, bias in a sum, GELU, factors",
     "int x 2x5\nw t 100x8\nw k 8x32\nw b 32\nw s 32\nc root 1.41\nc one 1\nc half .5\n"
     "Gather t,x > e\nMatMul e,k > m\nAdd m,b > h\nDiv h,root > d\nErf d > f\nAdd f,one > a\n"
     "Mul h,a > p\nMul p,half > u\nMul u,s > y",
     NETWORK("{sequence: 5}",
             "    - embedding: {vocabulary: 100, width: 8}\n    - dense: {units: 32, bias: true}\n"
             "    - gelu\n    - multiply: {parameters: 32}\n")},
    {"swish, gates and a factor for each channel",
     "in x 1x4x6x6\nw k 4x4x1x1\nSigmoid x > s\nMul x,s > w1\nGlobalAveragePool w1 > g\n"
     "Conv g,k > e\nSigmoid e > f\nMul w1,f > y",
     NETWORK("[6, 6, 4]",
             "    - swish\n    - global-pool\n    - view: [1, 1, 4]\n"
             "    - conv: {filters: 4, kernel: [1, 1], stride: 1, border: [0, 0], groups: 1, bias: "
             "false}\n    - sigmoid\n    - view: [6, 6, 4]\n    - scale: [view: 4]\n")},
    {"attention",
     "in q 1x2x7x4\nin k 1x2x4x7\nin v 1x2x7x4\nin mask 1x1x7x7\nc root 2\n"
     "MatMul q,k > s\nDiv s,root > d\nAdd d,mask > a\nSoftmax a > p\nMatMul p,v > o\n"
     "Transpose o > t perm::0,2,1,3\nlist shape 1,7,8\nReshape t,shape > y",
     NETWORK("[7, 4, 2]", "    - view: {sequence: 7, width: 8}\n"
                          "    - attention: {heads: 2, core: true, windows: 1}\n")},
    {"learned offsets of scores keep attention apart",
     "in q 4x2x7x4\nin k 4x2x4x7\nin v 4x2x7x4\nw bias 1x2x7x7\n"
     "MatMul q,k > s\nAdd s,bias > a\nSoftmax a > p\nMatMul p,v > y",
     NETWORK("[7, 4, 2]", "    - product: {count: 2, rows: 7, depth: 4, columns: 7}\n"
                          "    - add: {parameters: 98}\n    - softmax\n"
                          "    - product: {count: 2, rows: 7, depth: 7, columns: 4}\n")},
    {"a normalisation that is written as arithmetic",
     "in x 2x5x8\nw g 8\nw b 8\nc two 2\nc tiny 1e-5\n"
     "ReduceMean x > m axes::-1\nSub x,m > d\nPow d,two > s\nReduceMean s > v axes::-1\n"
     "Add v,tiny > e\nSqrt e > r\nDiv d,r > n\nMul n,g > f\nAdd f,b > y",
     NETWORK("{sequence: 5, width: 8}", "    - norm: layer\n")},
    {"LayerNormalization, copies and operators that are not known",
     "in x 2x5x8\nw g 8\nw b 8\nLayerNormalization x,g,b > n axis:-1\n"
     "Transpose n > t perm::0,2,1\nlist shape 2,40\nReshape t,shape > r\nConcat r,r > y axis:1",
     NETWORK("{sequence: 5, width: 8}", "    - norm: layer\n    - view: 40\n    - copy\n"
                                        "    - view: 80\n    - copy\n")},
    {"a recurrent layer in two directions",
     "in x 1x1x6\nw w 2x32x6\nw r 2x32x8\nw b 2x64\nLSTM x,w,r,b > y hidden_size:8",
     NETWORK("6", "    - view: {sequence: 1, width: 6}\n"
                  "    - recurrent: {cell: lstm, width: 8, biases: 2}\n"
                  "    - view: {sequence: 1, width: 6}\n"
                  "    - recurrent: {cell: lstm, width: 8, biases: 2}\n")},
    {"weights that two layers share are counted once",
     "int x 1x5\nw t 100x8\nGather t,x > e\nTranspose t > u\nMatMul e,u > y",
     NETWORK("{sequence: 5}", "    - embedding: {vocabulary: 100, width: 8}\n"
                              "    - dense: {units: 100, bias: false, tied: true}\n")},
    {"a tensor that is divided by a number",
     "in x 1x6\nc two 2\nw k 6x3\nDiv x,two > h\nGemm h,k > y",
     NETWORK("6", "    - elementwise\n    - dense: {units: 3, bias: false}\n")},
    {"convolutions in three dimensions", "in x 1x3x8x8x8\nw k 4x3x3x3x3\nConv x,k > y", NULL},
    {"strides that differ", "in x 1x3x8x8\nw k 4x3x3x3\nConv x,k > y strides::1,2", NULL},
    {"two convolutions with one weight", "in x 1x4x8x8\nw k 4x4x1x1\nConv x,k > c\nConv c,k > y",
     NULL},
    {"a model without inputs", "w k 4x4\nRelu k > y", NULL},
    {"a tensor that is computed from itself", "in x 1x4\nSoftmax x > q\nCast q > q", NULL},
    {"a normalisation that is computed from itself",
     "in x 4x4\nw k 4x4\nc two 2\nc tiny 1e-5\nGemm x,k > y\nReduceMean y > m\nSub y,m > d\n"
     "Pow d,two > p\nReduceMean p > v\nAdd v,tiny > a\nSqrt a > r\nDiv d,r > q\nCast q > q",
     NULL},
    {"an input of the model that a node computes", "in x 1x4\nRelu x > x", NULL},
    {"a constant that is written twice",
     "in x 1x4\nConstant - > c value_int:2\nMul x,c > y\nConstant - > c value_int:2\nRelu y > z",
     NETWORK("4", "    - elementwise\n    - relu\n")},
    {"an output that a node has twice", "in x 1x4\nSplit x > y,y", NULL},
    {"a recurrent layer in two directions",
     "in x 5x5x4\nw k 2x12x4\nw r 2x12x3\nLSTM x,k,r > y hidden_size:3",
     NETWORK("{sequence: 5, width: 4}", "    - recurrent: {cell: lstm, width: 3, biases: 0}\n"
                                        "    - view: {sequence: 5, width: 4}\n"
                                        "    - recurrent: {cell: lstm, width: 3, biases: 0}\n")},
    {"a recurrent layer in very many directions",
     "in x 1x1x4\nw k 1000000000000x1x1\nLSTM x,k,k > y hidden_size:1", NULL},
    {"a sum of images without an output", "in x 1x4x8x8\nAdd x,x > -\nRelu x > y",
     NETWORK("[8, 8, 4]", "    - relu\n")},
    {"attention whose first product has only a second output",
     "in q 1x2x7x4\nin k 1x2x4x7\nin v 1x2x7x4\nMatMul q,k > -,s\nSoftmax s > p\nMatMul p,v > y",
     NULL},
};

static void graphs_become_layers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_layers(&cases[i]);
}

/* Shapes that the file states are used for operators that are not known. */
static void stated_shapes_are_used(void **state)
{
    static struct model m;

    (void)state;
    read_model(&m, "in x 1x4\nFancy x > y\nRelu y > z");
    struct onnx_value *y = &m.values[m.nodes[0].outputs[0]], *z = &m.values[m.nodes[1].outputs[0]];
    y->rank = 2;
    y->dims[0] = 1;
    y->dims[1] = 9;
    assert_true(hm__onnx_infer(&m.o));
    assert_int_equal(z->rank, 2);
    assert_true(z->dims[1] == 9);
    release_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_become_layers),
        cmocka_unit_test(stated_shapes_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
