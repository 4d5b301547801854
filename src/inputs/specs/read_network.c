/*
 * Reads a neural network: a name in the catalog, sizes joined by dashes ("784-2500-10"), totals, or
 * layers. docs/reference/job.md describes the keys.
 *
 * A layer is a word ("relu") or a map with one key ("conv: {filters: 64, kernel: 3}"). Layers that
 * contain layers (residual, concat, repeat) form a tree; src/model counts its parameters and flop.
 */
#include <stddef.h>
#include <string.h>

#include "err.h"
#include "readers.h"
#include "text.h"

#define AT(member) offsetof(struct hm_layer, member)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIZE(key, member)                                                                          \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_QUANTITY, .offset = AT(member), .min = 1, .max = 1e12,     \
        .whole = true, .doc = "a whole number from 1"                                              \
    }
#define NEED(key, member, most, text)                                                              \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_QUANTITY, .offset = AT(member), .min = 1, .max = (most),   \
        .whole = true, .required = true, .doc = (text)                                             \
    }
#define OTHER(key)                                                                                 \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_OTHER                                                      \
    }
#define FLAG(key, member)                                                                          \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_BOOL, .offset = AT(member)                                 \
    }

static int read_layers(struct hm_reader *reader, const struct hm_value *list,
                       struct hm_layer **ret_layers, size_t *ret_count);

/* Reads a size: one number for both directions, or [vertical, horizontal]. */
static int read_pair(struct hm_reader *reader, const struct hm_value *map, const char *key,
                     double min, double *ret_h, double *ret_w)
{
    const struct hm_field field = {
        .kind = HM_FIELD_QUANTITY, .min = min, .max = 1e6, .whole = true};
    const struct hm_value *value = hm__value_get(map, key);
    int rc;

    if (!value)
        return 0;
    size_t mark = hm__reader_enter(reader, key);
    if (value->kind == HM_VALUE_LIST && value->count == 2) {
        rc = hm__read_field(reader, &value->items[0], &field, ret_h);
        if (rc == 0)
            rc = hm__read_field(reader, &value->items[1], &field, ret_w);
    } else {
        rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a number or [vertical, horizontal]");
        if (rc == 0)
            rc = hm__read_field(reader, value, &field, ret_h);
        *ret_w = *ret_h;
    }
    hm__reader_leave(reader, mark);
    return rc;
}

/* Reads the padding of a layer: `padding` for each side, `border` for the sum of both sides, or
 * `padding: same`, which keeps the size. */
static int read_border(struct hm_reader *reader, const struct hm_value *map, struct hm_layer *layer)
{
    const struct hm_value *padding = hm__value_get(map, "padding");
    const struct hm_value *border = hm__value_get(map, "border");

    if (padding && border)
        return hm__reader_fail(reader, border, HM_E_CONFLICT, "both padding and border are given");
    if (border)
        return read_pair(reader, map, "border", 0, &layer->border_h, &layer->border_w);
    if (padding && padding->kind == HM_VALUE_SCALAR && strcmp(padding->text, "same") == 0) {
        layer->border_h = layer->kernel_h - 1;
        layer->border_w = layer->kernel_w - 1;
        return 0;
    }
    int rc = read_pair(reader, map, "padding", 0, &layer->border_h, &layer->border_w);
    layer->border_h *= 2;
    layer->border_w *= 2;
    return rc;
}

static int read_bias(struct hm_reader *reader, const struct hm_value *map, struct hm_layer *layer)
{
    static const char *const choices[] = {"false", "true", "position", "output", NULL};
    static const struct hm_field field = {
        .kind = HM_FIELD_CHOICE, .offset = AT(bias), .choices = choices};
    const struct hm_value *value = hm__value_get(map, "bias");

    if (!value)
        return 0;
    size_t mark = hm__reader_enter(reader, "bias");
    int rc = hm__read_field(reader, value, &field, layer);
    hm__reader_leave(reader, mark);
    return rc;
}

static int read_dense(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_layer *layer)
{
    static const struct hm_field fields[] = {NEED("units", units, 1e12, "number of outputs"),
                                             OTHER("bias"), FLAG("tied", tied)};

    if (value->kind == HM_VALUE_SCALAR)
        return hm__read_field(reader, value, &fields[0], layer);
    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);
    return rc ? rc : read_bias(reader, value, layer);
}

static int read_conv(struct hm_reader *reader, const struct hm_value *value, struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("filters", units, 1e9, "number of feature maps"),
        {.name = "kernel", .kind = HM_FIELD_OTHER, .required = true, .doc = "size of the window"},
        SIZE("stride", stride),
        OTHER("padding"),
        OTHER("border"),
        SIZE("groups", groups),
        SIZE("depth", depth),
        FLAG("transposed", transposed),
        OTHER("bias")};

    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);
    if (rc == 0)
        rc = read_pair(reader, value, "kernel", 1, &layer->kernel_h, &layer->kernel_w);
    if (rc == 0)
        rc = read_border(reader, value, layer);
    return rc ? rc : read_bias(reader, value, layer);
}

static int read_pool(struct hm_reader *reader, const struct hm_value *value, struct hm_layer *layer)
{
    static const struct hm_field fields[] = {OTHER("kernel"),         SIZE("stride", stride),
                                             OTHER("padding"),        OTHER("border"),
                                             FLAG("ceil", ceil_mode), FLAG("global", global)};

    layer->stride = 0;
    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);
    if (rc == 0)
        rc = read_pair(reader, value, "kernel", 1, &layer->kernel_h, &layer->kernel_w);
    if (rc == 0)
        rc = read_border(reader, value, layer);
    if (rc == 0 && layer->kernel_h == 0 && !layer->global)
        return hm__reader_fail(reader, value, HM_E_MISSING, "'kernel' is missing");
    if (layer->stride == 0) /* By default, the windows of a pooling layer do not overlap. */
        layer->stride = layer->kernel_h > 0 ? layer->kernel_h : 1;
    return rc;
}

static int read_norm(struct hm_reader *reader, const struct hm_value *value, struct hm_layer *layer)
{
    static const char *const choices[] = {"batch", "layer", "group", NULL};
    static const struct hm_field kind = {.kind = HM_FIELD_CHOICE, .choices = choices};
    static const struct hm_field fields[] = {FLAG("affine", affine)};
    int unused;

    layer->affine = true;
    if (value->kind == HM_VALUE_SCALAR)
        return hm__read_field(reader, value, &kind, &unused);
    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

static int read_embedding(struct hm_reader *reader, const struct hm_value *value,
                          struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("vocabulary", vocabulary, 1e12, "number of rows of the table"),
        NEED("width", units, 1e9, "length of one row"), SIZE("positions", positions)};

    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

static int read_attention(struct hm_reader *reader, const struct hm_value *value,
                          struct hm_layer *layer)
{
    static const struct hm_field fields[] = {NEED("heads", heads, 1e6, "number of heads"),
                                             SIZE("context", context),
                                             SIZE("context_width", context_width),
                                             OTHER("bias"),
                                             FLAG("core", core),
                                             FLAG("scores", scores),
                                             SIZE("windows", groups)};

    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);
    if (rc == 0 && layer->groups > 1 && !layer->core)
        return hm__reader_fail(reader, value, HM_E_CONFLICT, "'windows' needs 'core: true'");
    if (rc == 0 && !layer->core && (layer->context > 0) != (layer->context_width > 0))
        return hm__reader_fail(reader, value, HM_E_MISSING,
                               "'context' and 'context_width' must be given together");
    return rc ? rc : read_bias(reader, value, layer);
}

static int read_side(struct hm_reader *reader, const struct hm_value *value, struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("input", units, 1e9, "number of values of the second input"),
        {.name = "layers", .kind = HM_FIELD_OTHER, .required = true, .doc = "a list of layers"}};
    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);

    return rc ? rc
              : read_layers(reader, hm__value_get(value, "layers"), &layer->children,
                            &layer->child_count);
}

static int read_condition(struct hm_reader *reader, const struct hm_value *value,
                          struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("width", units, 1e9, "number of values of the vector")};

    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

static int read_recurrent(struct hm_reader *reader, const struct hm_value *value,
                          struct hm_layer *layer)
{
    static const char *const cells[] = {"rnn", "gru", "lstm", NULL};
    static const struct hm_field fields[] = {{.name = "cell",
                                              .kind = HM_FIELD_CHOICE,
                                              .offset = AT(cell),
                                              .choices = cells,
                                              .required = true,
                                              .doc = "rnn, gru or lstm"},
                                             NEED("width", units, 1e9, "size of the state"),
                                             {.name = "biases",
                                              .kind = HM_FIELD_QUANTITY,
                                              .offset = AT(biases),
                                              .max = 2,
                                              .whole = true}};

    layer->biases = 1;
    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

/* Reads the branches of a concat layer: a list of lists of layers. */
static int read_concat(struct hm_reader *reader, const struct hm_value *value,
                       struct hm_layer *layer)
{
    int rc = hm__expect_kind(reader, value, HM_VALUE_LIST, "a list of lists of layers");

    if (rc)
        return rc;
    if (value->count == 0)
        return hm__reader_fail(reader, value, HM_E_MISSING, "the list of branches is empty");
    layer->children = hm__arena_alloc(reader->arena, value->count, sizeof(*layer->children));
    if (!layer->children)
        return hm__fail_nomem(reader->err);
    layer->child_count = value->count;
    for (size_t i = 0; rc == 0 && i < value->count; i++) {
        struct hm_layer *branch = &layer->children[i];
        *branch = (struct hm_layer){
            .kind = HM_LAYER_BRANCH, .line = value->items[i].line, .name = "branch"};
        rc = read_layers(reader, &value->items[i], &branch->children, &branch->child_count);
    }
    return rc;
}

static int read_residual(struct hm_reader *reader, const struct hm_value *value,
                         struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        {.name = "layers", .kind = HM_FIELD_OTHER, .required = true, .doc = "a list of layers"},
        OTHER("shortcut")};
    const struct hm_value *body = value, *shortcut = NULL;
    int rc = 0;

    if (value->kind != HM_VALUE_LIST) {
        if ((rc = hm__read_map(reader, value, fields, COUNT(fields), layer)))
            return rc;
        body = hm__value_get(value, "layers");
        shortcut = hm__value_get(value, "shortcut");
    }
    layer->has_shortcut = shortcut != NULL;
    layer->child_count = shortcut ? 2 : 1;
    layer->children = hm__arena_alloc(reader->arena, 2, sizeof(*layer->children));
    if (!layer->children)
        return hm__fail_nomem(reader->err);
    for (size_t i = 0; rc == 0 && i < layer->child_count; i++) {
        struct hm_layer *branch = &layer->children[i];
        const struct hm_value *list = i == 0 ? body : shortcut;
        *branch = (struct hm_layer){.kind = HM_LAYER_BRANCH, .line = list->line, .name = "branch"};
        rc = read_layers(reader, list, &branch->children, &branch->child_count);
    }
    return rc;
}

static int read_repeat(struct hm_reader *reader, const struct hm_value *value,
                       struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("times", times, 1000, "how often"),
        {.name = "layers", .kind = HM_FIELD_OTHER, .required = true, .doc = "a list of layers"}};
    int rc = hm__read_map(reader, value, fields, COUNT(fields), layer);

    return rc ? rc
              : read_layers(reader, hm__value_get(value, "layers"), &layer->children,
                            &layer->child_count);
}

/* Reads the layers that compute the factors of a scale layer. */
static int read_scale(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_layer *layer)
{
    return read_layers(reader, value, &layer->children, &layer->child_count);
}

/* Reads a sum or product of two tensors, one of which is learned. */
static int read_learned(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("parameters", units, 1e12, "number of learned values")};

    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

static int read_product(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_layer *layer)
{
    static const struct hm_field fields[] = {
        NEED("count", times, 1e9, "number of products"), NEED("rows", positions, 1e9, "rows"),
        NEED("depth", depth, 1e9, "terms of each sum"), NEED("columns", units, 1e9, "columns")};

    return hm__read_map(reader, value, fields, COUNT(fields), layer);
}

static int read_shape(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_shape *shape);

static int read_view(struct hm_reader *reader, const struct hm_value *value, struct hm_layer *layer)
{
    return read_shape(reader, value, &layer->view);
}

struct layer_kind {
    const char *name;
    enum hm_layer_kind kind;
    int (*read)(struct hm_reader *, const struct hm_value *, struct hm_layer *);
};

/* A kind of layer without a reading function is written as a single word, such as "relu". */
static const struct layer_kind kinds[] = {
    {"dense", HM_LAYER_DENSE, read_dense},
    {"conv", HM_LAYER_CONV, read_conv},
    {"pool", HM_LAYER_POOL, read_pool},
    {"norm", HM_LAYER_NORM, read_norm},
    {"embedding", HM_LAYER_EMBEDDING, read_embedding},
    {"attention", HM_LAYER_ATTENTION, read_attention},
    {"recurrent", HM_LAYER_RECURRENT, read_recurrent},
    {"residual", HM_LAYER_RESIDUAL, read_residual},
    {"concat", HM_LAYER_CONCAT, read_concat},
    {"repeat", HM_LAYER_REPEAT, read_repeat},
    {"scale", HM_LAYER_SCALE, read_scale},
    {"side", HM_LAYER_SIDE, read_side},
    {"condition", HM_LAYER_CONDITION, read_condition},
    {"interact", HM_LAYER_INTERACT, NULL},
    {"view", HM_LAYER_VIEW, read_view},
    {"add", HM_LAYER_ADD, read_learned},
    {"multiply", HM_LAYER_MULTIPLY, read_learned},
    {"copy", HM_LAYER_COPY, NULL},
    {"product", HM_LAYER_PRODUCT, read_product},
    {"elementwise", HM_LAYER_ACTIVATION, NULL},
    {"relu", HM_LAYER_ACTIVATION, NULL},
    {"relu6", HM_LAYER_ACTIVATION, NULL},
    {"sigmoid", HM_LAYER_ACTIVATION, NULL},
    {"tanh", HM_LAYER_ACTIVATION, NULL},
    {"gelu", HM_LAYER_ACTIVATION, NULL},
    {"gelu-tanh", HM_LAYER_ACTIVATION, NULL},
    {"swish", HM_LAYER_ACTIVATION, NULL},
    {"geglu", HM_LAYER_ACTIVATION, NULL},
    {"upsample", HM_LAYER_ACTIVATION, NULL},
    {"softmax", HM_LAYER_ACTIVATION, NULL},
    {"dropout", HM_LAYER_ACTIVATION, NULL},
    {"flatten", HM_LAYER_FLATTEN, NULL},
    {"global-pool", HM_LAYER_POOL, NULL},
};

static const char *kind_name(const void *unused, size_t i)
{
    (void)unused;
    return i < COUNT(kinds) ? kinds[i].name : NULL;
}

static int read_layer(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_layer *layer)
{
    bool map = value->kind == HM_VALUE_MAP && value->count == 1;

    if (!map && value->kind != HM_VALUE_SCALAR)
        return hm__expect_kind(reader, value, HM_VALUE_SCALAR,
                               "a layer: a word such as relu, or one key such as dense: 10");
    const char *name = map ? value->keys[0] : value->text;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        *layer = (struct hm_layer){.kind = kinds[i].kind,
                                   .line = value->line,
                                   .stride = 1,
                                   .groups = 1,
                                   .bias = HM_BIAS_SHARED,
                                   .name = kinds[i].name};
        layer->global = strcmp(name, "global-pool") == 0;
        /* A sum or product may have no learned operand, and then no values. */
        bool bare = !map && (kinds[i].read == NULL || kinds[i].read == read_learned);
        if (map != (kinds[i].read != NULL) && !bare) {
            hm__reader_fail(reader, value, HM_E_TYPE,
                            map ? "'%s' takes no values" : "'%s' needs values", name);
            hm__err_hint(reader->err, map ? "write - %s" : "write - %s: and its values, in a map",
                         name);
            return HM_E_TYPE;
        }
        if (!map)
            return 0;
        size_t mark = hm__reader_enter(reader, name);
        int rc = kinds[i].read(reader, &value->items[0], layer);
        hm__reader_leave(reader, mark);
        return rc;
    }
    hm__reader_fail(reader, value, HM_E_NAME, "unknown layer '%.60s'", name);
    const char *near = hm__suggest(name, kind_name, NULL);
    if (near)
        hm__err_hint(reader->err, "did you mean %s?", near);
    return HM_E_NAME;
}

static int read_layers(struct hm_reader *reader, const struct hm_value *list,
                       struct hm_layer **ret_layers, size_t *ret_count)
{
    int rc = hm__expect_kind(reader, list, HM_VALUE_LIST, "a list of layers");

    if (rc)
        return rc;
    struct hm_layer *layers = hm__arena_alloc(reader->arena, list->count, sizeof(*layers));
    if (!layers)
        return hm__fail_nomem(reader->err);
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        size_t mark = hm__reader_enter_index(reader, i);
        rc = read_layer(reader, &list->items[i], &layers[i]);
        hm__reader_leave(reader, mark);
    }
    *ret_layers = layers;
    *ret_count = list->count;
    return rc;
}

/* Reads the shape of one sample: 784, [height, width, channels], or {sequence: 1024}. */
static int read_shape(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_shape *shape)
{
    const struct hm_field size = {.kind = HM_FIELD_QUANTITY, .min = 1, .max = 1e12, .whole = true};
    double sides[3] = {1, 1, 1};
    int rc = 0;

    if (value->kind == HM_VALUE_SCALAR) {
        rc = hm__read_field(reader, value, &size, &sides[2]);
        *shape = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, sides[2]};
        return rc;
    }
    if (value->kind == HM_VALUE_MAP) {
        static const struct hm_field fields[] = {{.name = "sequence",
                                                  .kind = HM_FIELD_QUANTITY,
                                                  .min = 1,
                                                  .max = 1e9,
                                                  .whole = true,
                                                  .offset = offsetof(struct hm_shape, height),
                                                  .required = true,
                                                  .doc = "steps"},
                                                 {.name = "width",
                                                  .kind = HM_FIELD_QUANTITY,
                                                  .min = 1,
                                                  .max = 1e9,
                                                  .whole = true,
                                                  .offset = offsetof(struct hm_shape, channels)}};
        *shape = (struct hm_shape){HM_SHAPE_SEQUENCE, 1, 1, 1};
        return hm__read_map(reader, value, fields, COUNT(fields), shape);
    }
    if (value->kind != HM_VALUE_LIST || value->count != 3) {
        hm__reader_fail(reader, value, HM_E_TYPE, "the shape has an unknown form");
        hm__err_hint(reader->err, "write 784, [224, 224, 3] or {sequence: 1024}");
        return HM_E_TYPE;
    }
    for (size_t i = 0; rc == 0 && i < 3; i++)
        rc = hm__read_field(reader, &value->items[i], &size, &sides[i]);
    *shape = (struct hm_shape){HM_SHAPE_IMAGE, sides[0], sides[1], sides[2]};
    return rc;
}

/* Returns whether a string lists sizes such as "784-2500-10", which describe a fully connected
 * network with sigmoids between its layers. */
static bool is_sizes(const char *text)
{
    size_t digits = strspn(text, "0123456789-");
    return text[digits] == '\0' && strchr(text, '-') && text[0] != '-' && text[digits - 1] != '-' &&
           !strstr(text, "--");
}

static int read_sizes(struct hm_reader *reader, const struct hm_value *value,
                      struct hm_network *network)
{
    size_t count = 0;
    double size;

    for (const char *p = value->text; *p; p++)
        count += *p == '-';
    struct hm_layer *layers = hm__arena_alloc(reader->arena, 2 * count, sizeof(*layers));
    if (!layers)
        return hm__fail_nomem(reader->err);
    const char *p = value->text;
    for (size_t i = 0; i <= count; i++) {
        p += hm__number_read(p, &size) + 1;
        if (size < 1 || size > 1e9)
            return hm__reader_fail(reader, value, HM_E_RANGE,
                                   "a layer of %g units; 1 to 1e9 are allowed", size);
        if (i == 0)
            network->input = (struct hm_shape){HM_SHAPE_VECTOR, 1, 1, size};
        else
            layers[network->layer_count++] = (struct hm_layer){.kind = HM_LAYER_DENSE,
                                                               .line = value->line,
                                                               .name = "dense",
                                                               .units = size,
                                                               .bias = HM_BIAS_SHARED};
        if (i > 0 && i < count)
            layers[network->layer_count++] = (struct hm_layer){
                .kind = HM_LAYER_ACTIVATION, .line = value->line, .name = "sigmoid"};
    }
    network->layers = layers;
    return 0;
}

static const struct hm_field network_fields[] = {
    {.name = "name", .kind = HM_FIELD_OTHER, .doc = "a network from the catalog to start from"},
    {.name = "title", .kind = HM_FIELD_OTHER},
    {.name = "aliases", .kind = HM_FIELD_OTHER},
    {.name = "source", .kind = HM_FIELD_OTHER},
    {.name = "date", .kind = HM_FIELD_OTHER},
    {.name = "published", .kind = HM_FIELD_OTHER, .doc = "counts from the literature"},
    {.name = "usual", .kind = HM_FIELD_OTHER, .doc = "keys of a job that only names the network"},
    {.name = "input", .kind = HM_FIELD_OTHER, .doc = "784, [224, 224, 3] or {sequence: 1024}"},
    {.name = "layers", .kind = HM_FIELD_OTHER, .doc = "a list of layers"},
    {.name = "parameters",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .max = 1e15,
     .offset = offsetof(struct hm_network, parameters),
     .doc = "number of parameters"},
    {.name = "forward",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .dim = {0, 0, 1, 0},
     .offset = offsetof(struct hm_network, forward_flop),
     .doc = "flop of one sample forward"},
};

static const struct hm_field published_fields[] = {
    {.name = "parameters",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .offset = offsetof(struct hm_network, published_parameters)},
    {.name = "forward",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .dim = {0, 0, 1, 0},
     .offset = offsetof(struct hm_network, published_forward_flop)},
};

static int read_network_map(struct hm_reader *reader, const struct hm_value *value,
                            struct hm_network *network)
{
    int rc = hm__read_map(reader, value, network_fields, COUNT(network_fields), network);
    const struct hm_value *input = hm__value_get(value, "input");
    const struct hm_value *layers = hm__value_get(value, "layers");
    const struct hm_value *published = hm__value_get(value, "published");

    if (rc == 0 && input) {
        size_t mark = hm__reader_enter(reader, "input");
        rc = read_shape(reader, input, &network->input);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && published) {
        size_t mark = hm__reader_enter(reader, "published");
        rc = hm__read_map(reader, published, published_fields, COUNT(published_fields), network);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && layers) {
        size_t mark = hm__reader_enter(reader, "layers");
        rc = read_layers(reader, layers, &network->layers, &network->layer_count);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0 && network->layer_count > 0 &&
        (network->parameters > 0 || network->forward_flop > 0))
        return hm__reader_fail(reader, value, HM_E_CONFLICT,
                               "layers and totals (parameters, forward) are both given");
    return rc;
}

/* Finds a network in the catalog. If there is none, the error suggests a similar name. */
static int find_network(struct hm_reader *reader, const struct hm_value *name,
                        const struct hm_value **ret_entry)
{
    const struct hm_catalog *catalog;
    int rc = hm__reader_catalog(reader, &catalog);

    if (rc)
        return rc;
    *ret_entry = hm__catalog_find(catalog, HM_CATALOG_NETWORK, name->text);
    if (*ret_entry)
        return 0;
    return hm__reader_place(
        reader, name, hm__catalog_unknown(catalog, HM_CATALOG_NETWORK, name->text, reader->err));
}

int hm__check_network_name(struct hm_reader *reader, const struct hm_value *value)
{
    const struct hm_value *name = value, *entry;

    if (value && value->kind == HM_VALUE_MAP)
        name = hm__value_get(value, "name");
    if (!name || name->kind != HM_VALUE_SCALAR || is_sizes(name->text))
        return 0;
    size_t mark = hm__reader_enter(reader, "network");
    int rc = find_network(reader, name, &entry);
    hm__reader_leave(reader, mark);
    return rc;
}

static int read_named_network(struct hm_reader *reader, const struct hm_value *name,
                              struct hm_network *network)
{
    const struct hm_value *entry;
    int rc = hm__expect_kind(reader, name, HM_VALUE_SCALAR, "the name of a network");

    if (rc)
        return rc;
    network->name = hm__arena_strdup(reader->arena, name->text);
    if (!network->name)
        return hm__fail_nomem(reader->err);
    if (is_sizes(name->text))
        return read_sizes(reader, name, network);
    rc = find_network(reader, name, &entry);
    return rc ? rc : read_network_map(reader, entry, network);
}

/* Fails unless the network has layers and an input, or totals. */
static int check_network(struct hm_reader *reader, const struct hm_value *value,
                         const struct hm_network *network)
{
    if (network->layer_count == 0 && !(network->parameters > 0)) {
        hm__reader_fail(reader, value, HM_E_MISSING, "neither layers nor totals are given");
        hm__err_hint(reader->err, "give layers, or both parameters and forward");
        return HM_E_MISSING;
    }
    if (network->layer_count > 0 && network->input.channels == 0) {
        hm__reader_fail(reader, value, HM_E_MISSING, "'input' is missing");
        hm__err_hint(reader->err, "write 784, [224, 224, 3] or {sequence: 1024}");
        return HM_E_MISSING;
    }
    return 0;
}

int hm__read_network(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_network *network)
{
    const struct hm_value *name = hm__value_get(value, "name");
    int rc = 0;

    *network = (struct hm_network){.parameters = NAN,
                                   .forward_flop = NAN,
                                   .published_parameters = NAN,
                                   .published_forward_flop = NAN};
    if (value->kind == HM_VALUE_SCALAR) {
        rc = read_named_network(reader, value, network);
    } else {
        if (name)
            rc = read_named_network(reader, name, network);
        if (rc == 0)
            rc = read_network_map(reader, value, network);
    }
    return rc ? rc : check_network(reader, value, network);
}
