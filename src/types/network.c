/* Checks networks and graphs that a caller created in memory. */
#include <math.h>
#include <stdio.h>

#include "checks.h"
#include "err.h"

/*
 * Largest depth of nested layers (no real network is deeper), and number of bytes for the name of a
 * field.
 */
enum { DEPTH_MOST = 64, NETWORK_FIELD_TEXT = 128 };

static const double SIZE_MOST = 1e12;

/* Adds the name of a layer and its line number to an error. */
static int name_layer(const struct hm_layer *l, const char *source, int code, struct hm_err *err)
{
    if (err && l->name)
        hm__err_hint(err, "in the layer '%.60s'", l->name);
    hm__err_at(err, source, l->line);
    return code;
}

/* Checks the sizes that a kind of layer uses: they must be whole numbers of at least 1. */
static int check_sizes(const struct hm_layer *l, struct hm_err *err)
{
    bool window = l->kind == HM_LAYER_CONV || (l->kind == HM_LAYER_POOL && !l->global);
    bool units = l->kind == HM_LAYER_DENSE || l->kind == HM_LAYER_CONV ||
                 l->kind == HM_LAYER_EMBEDDING || l->kind == HM_LAYER_RECURRENT ||
                 l->kind == HM_LAYER_SIDE || l->kind == HM_LAYER_CONDITION;
    bool cross = l->kind == HM_LAYER_ATTENTION && l->context != 0;
    bool learned = l->kind == HM_LAYER_ADD || l->kind == HM_LAYER_MULTIPLY;
    bool product = l->kind == HM_LAYER_PRODUCT;
    const struct {
        const char *name;
        double value, min, max;
        bool read;
    } sizes[] = {
        {"layer.units", l->units, 1, SIZE_MOST, units || product},
        {"layer.units", l->units, 0, SIZE_MOST, learned},
        {"layer.kernel_h", l->kernel_h, 1, SIZE_MOST, window},
        {"layer.kernel_w", l->kernel_w, 1, SIZE_MOST, window},
        {"layer.stride", l->stride, 1, SIZE_MOST, window},
        {"layer.border_h", l->border_h, 0, SIZE_MOST, window},
        {"layer.border_w", l->border_w, 0, SIZE_MOST, window},
        {"layer.groups", l->groups, 1, SIZE_MOST, l->kind == HM_LAYER_CONV},
        {"layer.groups", l->groups, 0, SIZE_MOST, l->kind == HM_LAYER_ATTENTION},
        {"layer.depth", l->depth, 0, SIZE_MOST, l->kind == HM_LAYER_CONV},
        {"layer.depth", l->depth, 1, SIZE_MOST, product},
        {"layer.vocabulary", l->vocabulary, 1, SIZE_MOST, l->kind == HM_LAYER_EMBEDDING},
        {"layer.positions", l->positions, 0, SIZE_MOST, l->kind == HM_LAYER_EMBEDDING},
        {"layer.positions", l->positions, 1, SIZE_MOST, product},
        {"layer.heads", l->heads, 1, SIZE_MOST, l->kind == HM_LAYER_ATTENTION},
        {"layer.context", l->context, 1, SIZE_MOST, cross},
        {"layer.context_width", l->context_width, 1, SIZE_MOST, cross && !l->core},
        {"layer.times", l->times, 1, SIZE_MOST, l->kind == HM_LAYER_REPEAT || product},
        {"layer.biases", l->biases, 0, 2, l->kind == HM_LAYER_RECURRENT},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].read)
            rc = hm__check_whole(sizes[i].name, sizes[i].value, sizes[i].min, sizes[i].max, err);
    return rc;
}

/*
 * A residual layer has one branch, or two branches if it has a shortcut; a concat layer has at
 * least one branch.
 */
static int check_branches(const struct hm_layer *l, struct hm_err *err)
{
    size_t needed = l->kind == HM_LAYER_CONCAT     ? 1
                    : l->kind != HM_LAYER_RESIDUAL ? 0
                    : l->has_shortcut              ? 2
                                                   : 1;

    if (l->child_count >= needed)
        return 0;
    hm__fail(err, HM_E_MISSING, "the layer has %zu branches and needs at least %zu", l->child_count,
             needed);
    hm__err_field(err, "layer.children");
    return HM_E_MISSING;
}

static int check_shape(const struct hm_shape *shape, const char *field, struct hm_err *err);

static int check_layers(const struct hm_layer *layers, size_t count, int depth, const char *source,
                        struct hm_err *err)
{
    int rc = hm__check_array(layers, count, "layers", err);

    if (rc == 0 && depth > DEPTH_MOST)
        rc = hm__fail(err, HM_E_LIMIT, "layers are nested more than %d deep", DEPTH_MOST);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct hm_layer *l = &layers[i];
        rc = hm__check_enum("layer.kind", (int)l->kind, HM_LAYER_KINDS, err);
        if (rc == 0)
            rc = hm__check_enum("layer.bias", (int)l->bias, HM_BIAS_OUTPUT + 1, err);
        if (rc == 0)
            rc = hm__check_enum("layer.cell", (int)l->cell, HM_CELL_LSTM + 1, err);
        if (rc == 0)
            rc = check_sizes(l, err);
        if (rc == 0)
            rc = check_branches(l, err);
        if (rc == 0 && l->kind == HM_LAYER_VIEW)
            rc = check_shape(&l->view, "layer.view", err);
        if (rc == 0)
            rc = check_layers(l->children, l->child_count, depth + 1, source, err);
        if (rc)
            return name_layer(l, source, rc, err);
    }
    return rc;
}

/* Checks a shape; `field` is the name of its field in error messages. */
static int check_shape(const struct hm_shape *shape, const char *field, struct hm_err *err)
{
    const struct {
        const char *name;
        double value;
        bool read;
    } sizes[] = {
        {"channels", shape->channels, true},
        {"height", shape->height, shape->kind != HM_SHAPE_VECTOR},
        {"width", shape->width, shape->kind == HM_SHAPE_IMAGE},
    };
    char name[NETWORK_FIELD_TEXT];

    snprintf(name, sizeof(name), "%s.kind", field);
    int rc = hm__check_enum(name, (int)shape->kind, HM_SHAPE_SEQUENCE + 1, err);
    for (size_t i = 0; rc == 0 && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        snprintf(name, sizeof(name), "%s.%s", field, sizes[i].name);
        if (sizes[i].read)
            rc = hm__check_whole(name, sizes[i].value, 1, SIZE_MOST, err);
    }
    return rc;
}

int hm__network_check(const struct hm_network *n, const char *source, struct hm_err *err)
{
    int rc = hm__check_pointer(n, "network", err);

    if (rc)
        return rc;
    if (n->layer_count > 0) {
        rc = check_shape(&n->input, "input", err);
        return rc ? rc : check_layers(n->layers, n->layer_count, 0, source, err);
    }
    if (!hm__is_given(n->parameters)) {
        hm__fail(err, HM_E_MISSING, "the network has neither layers nor totals");
        hm__err_hint(err, "give layers with an input, or parameters and forward_flop");
        hm__err_field(err, "network.parameters");
        return HM_E_MISSING;
    }
    rc = hm__check_above("network.parameters", n->parameters, 0, 1e18, err);
    if (rc == 0 && hm__is_given(n->forward_flop))
        rc = hm__check_above("network.forward_flop", n->forward_flop, 0, 1e30, err);
    return rc;
}

int hm__graph_check(const struct hm_graph *g, struct hm_err *err)
{
    int rc = hm__check_pointer(g, "graph", err);

    if (rc == 0)
        rc = hm__check_whole("graph.vertices", g->vertices, 1, 4294967295.0, err);
    if (rc == 0)
        rc = hm__check_range("graph.edges", g->edges, 0, 1e15, err);
    if (rc == 0 && g->degree_count == 0)
        rc = hm__fail(err, HM_E_MISSING, "the graph has no degrees");
    return rc ? rc : hm__check_array(g->degrees, g->degree_count, "graph.degrees", err);
}
