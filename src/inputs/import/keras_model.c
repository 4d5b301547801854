/*
 * Reads descriptions of Keras models: the JSON of `model.to_json()` of Keras 1 to 3, and
 * config.json in a .keras archive. A model is a sequence of layers, or a graph of layers in which
 * each use of a layer names the layers whose outputs are its inputs. Models may contain other
 * models. Keras 3 writes the shapes of the inputs; otherwise they are inferred from the inputs of
 * the model.
 *
 * If a model has layers of unknown classes, the facts list these classes; the numbers of parameters
 * and multiply-adds are then unknown, and no network is written.
 */
#include <math.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "hash.h"
#include "importers.h"
#include "keras_parts.h"
#include "whole.h"

enum {
    LAYERS_MOST = 5000,
    INPUTS_MOST = 64,
    USES_MOST = 16,
    NESTING = 8,
    PASSES = 8,
    /*
     * Largest number of layers and tensors that are looked at. A model that is used 16 times by a
     * model that is used 16 times, and so on, is looked at 16^8 times.
     */
    VISITS_MAX = 1000000
};

/*
 * A layer of a graph, with the shapes of its outputs: one shape for each use of the layer that has
 * been processed.
 */
struct keras_vertex {
    const char *name;
    const struct hm_value *layer;
    struct keras_shape out[USES_MOST];
    size_t uses, done;
    size_t input; /* Position in the list of the model's inputs; SIZE_MAX if it is not there. */
};

struct keras_graph {
    struct keras *model;
    struct keras_vertex *vertices;
    size_t count;
    /*
     * Hash table that finds vertices by name; a slot holds the index of a vertex + 1, or 0 if it is
     * empty.
     */
    unsigned *slots;
    size_t slot_count; /* A power of 2 that is more than twice the number of vertices. */
    struct hm_hash_key key;
    int depth;
};

static int add_model(struct keras *k, const struct hm_value *model, const struct keras_shape *in,
                     size_t in_count, bool first, int depth, struct keras_shape *ret_shape,
                     struct hm_err *err);

static const char *class_of(const struct hm_value *layer)
{
    const char *name = hm__value_text(hm__value_get(layer, "class_name"));

    return name ? name : "";
}

static bool is_model(const char *name)
{
    return strcmp(name, "Sequential") == 0 || strcmp(name, "Functional") == 0 ||
           strcmp(name, "Model") == 0;
}

/* Reads the input shape in the settings of a layer, if there is one. */
static struct keras_shape stated_shape(const struct hm_value *layer)
{
    const struct hm_value *config = hm__value_get(layer, "config");
    const struct hm_value *shape = hm__value_get(config, "batch_shape");

    if (!shape)
        shape = hm__value_get(config, "batch_input_shape");
    if (!shape)
        shape = hm__value_get(hm__value_get(layer, "build_config"), "input_shape");
    /* Some versions of Keras write a list of shapes instead of one shape. */
    if (shape && shape->kind == HM_VALUE_LIST && shape->count == 1 &&
        shape->items[0].kind == HM_VALUE_LIST)
        shape = &shape->items[0];
    return hm__keras_read_shape(shape);
}

/* Counts values that are looked at; returns an error if there are too many. */
static int count_visits(struct keras *k, size_t count, struct hm_err *err)
{
    k->visits += count;
    if (k->visits > VISITS_MAX)
        return hm__fail(err, HM_E_LIMIT,
                        "uses the layers of nested models more than a million "
                        "times");
    return hm__budget_check(NULL, err);
}

/* Returns the number of keys of a map. */
static size_t key_count(const struct hm_value *map)
{
    return map && map->kind == HM_VALUE_MAP ? map->count : 0;
}

/* Counts one use of a layer, and infers the shape of its output. */
static int add_layer(struct keras *k, const struct hm_value *layer, const struct keras_shape *in,
                     size_t in_count, bool first, int depth, struct keras_shape *ret_shape,
                     struct hm_err *err)
{
    const char *name = class_of(layer);
    struct keras_use use = {.model = k,
                            .config = hm__value_get(layer, "config"),
                            .in = in,
                            .in_count = in_count,
                            .first = first};

    *ret_shape = hm__keras_no_shape();
    /* Layers with very many keys, or with long names, take longer. */
    size_t size = (key_count(layer) + key_count(use.config)) / 16 + strlen(name) / 64;
    int rc = count_visits(k, 1 + size, err);
    if (rc)
        return rc;
    if (is_model(name))
        return add_model(k, layer, in, in_count, first, depth + 1, ret_shape, err);
    k->layers += first;
    if (strcmp(name, "InputLayer") == 0)
        *ret_shape = in[0].rank >= 0 ? in[0] : stated_shape(layer);
    else if (!hm__keras_layer(name, &use, ret_shape))
        hm__keras_unknown(k, name[0] ? name : "(no class)");
    return 0;
}

/* ---- sequences --------------------------------------------------------------------------------
 */

static int add_sequence(struct keras *k, const struct hm_value *layers,
                        const struct keras_shape *in, bool first, int depth,
                        struct keras_shape *ret_shape, struct hm_err *err)
{
    struct keras_shape shape = in ? *in : hm__keras_no_shape();
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < layers->count; i++) {
        struct keras_shape before = shape.rank < 0 ? stated_shape(&layers->items[i]) : shape;
        rc = add_layer(k, &layers->items[i], &before, 1, first, depth, &shape, err);
    }
    *ret_shape = shape;
    return rc;
}

/* ---- graphs -----------------------------------------------------------------------------------
 */

/*
 * Returns the slot of the hash table that holds the vertex `name`, or the empty slot for this name.
 * If several vertices have this name, the first one is found.
 */
static unsigned *find_slot(struct keras_graph *g, const char *name)
{
    for (size_t hash = (size_t)hm__hash_text(&g->key, name);; hash++) {
        unsigned *slot = &g->slots[hash & (g->slot_count - 1)];
        if (*slot == 0 || strcmp(g->vertices[*slot - 1].name, name) == 0)
            return slot;
    }
}

static struct keras_vertex *find_vertex(struct keras_graph *g, const char *name)
{
    unsigned *slot = name ? find_slot(g, name) : NULL;

    return slot && *slot ? &g->vertices[*slot - 1] : NULL;
}

/* The input tensors of one use of a layer. */
struct inputs {
    struct keras_shape shapes[INPUTS_MOST];
    size_t count;
    /* True if the layers whose outputs are used as these inputs have all been processed. */
    bool ready;
};

/* Adds a tensor to the inputs: the output of use number `use` of the layer `name`. */
static void take_output(struct keras_graph *g, const char *name, double use,
                        const struct keras_shape *stated, struct inputs *in)
{
    if (in->count == INPUTS_MOST)
        return;
    struct keras_vertex *from = find_vertex(g, name);
    /* Long names take longer to look up. */
    g->model->visits += 1 + (name ? strlen(name) / 64 : 0);
    struct keras_shape *shape = &in->shapes[in->count++];
    *shape = stated ? *stated : hm__keras_no_shape();
    if (shape->rank >= 0 || !from)
        return;
    if (!(use >= 0) || use >= (double)from->done)
        in->ready = false;
    else
        *shape = from->out[(size_t)use];
}

/* Finds the input tensors in the arguments of a use of a layer, in the form of Keras 3. */
static void read_tensors(struct keras_graph *g, const struct hm_value *value, int depth,
                         struct inputs *in)
{
    const struct hm_value *config = hm__value_get(value, "config");
    const struct hm_value *history = hm__value_get(config, "keras_history");

    if (depth == NESTING)
        return;
    if (history && history->kind == HM_VALUE_LIST && history->count >= 2) {
        struct keras_shape stated = hm__keras_read_shape(hm__value_get(config, "shape"));
        double use = hm__keras_number(&history->items[1]);
        take_output(g, hm__value_text(&history->items[0]), use, &stated, in);
        return;
    }
    g->model->visits++;
    if (value->kind == HM_VALUE_LIST || value->kind == HM_VALUE_MAP)
        for (size_t i = 0; i < value->count && in->count < INPUTS_MOST; i++)
            read_tensors(g, &value->items[i], depth + 1, in);
}

/*
 * Reads the inputs of one use of a layer in the form of Keras 1 and 2: [[NAME, use, tensor, {…}],
 * …].
 */
static void read_pairs(struct keras_graph *g, const struct hm_value *node, struct inputs *in)
{
    bool single = node->count >= 3 && node->items[0].kind == HM_VALUE_SCALAR;
    size_t count = single ? 1 : node->count;

    for (size_t i = 0; i < count && in->count < INPUTS_MOST; i++) {
        const struct hm_value *pair = single ? node : &node->items[i];
        g->model->visits++;
        if (pair->kind != HM_VALUE_LIST || pair->count < 2)
            continue;
        take_output(g, hm__value_text(&pair->items[0]), hm__keras_number(&pair->items[1]), NULL,
                    in);
    }
}

/*
 * Counts the next use of a layer if all its inputs are known; if `force` is true, counts it even if
 * inputs are unknown. Returns 1 if the use was counted, 0 if not, or a negative error code.
 */
static int add_use(struct keras_graph *g, struct keras_vertex *v, bool force, struct hm_err *err)
{
    const struct hm_value *nodes = hm__value_get(v->layer, "inbound_nodes");
    const struct hm_value *node = &nodes->items[v->done];
    struct inputs in = {.ready = true};

    if (node->kind == HM_VALUE_LIST)
        read_pairs(g, node, &in);
    else
        read_tensors(g, node, 0, &in);
    int rc = count_visits(g->model, 1, err);
    if (rc)
        return rc;
    if (!in.ready && !force)
        return 0;
    if (in.count == 0) {
        in.shapes[0] = stated_shape(v->layer);
        in.count = 1;
    }
    rc = add_layer(g->model, v->layer, in.shapes, in.count, v->done == 0, g->depth,
                   &v->out[v->done], err);
    v->done++;
    return rc ? rc : 1;
}

/* Stores the positions of layers in the list of the model's inputs. */
static void number_inputs(struct keras_graph *g, const struct hm_value *config)
{
    const struct hm_value *list = hm__value_get(config, "input_layers");

    for (size_t i = 0; list && list->kind == HM_VALUE_LIST && i < list->count; i++) {
        const struct hm_value *item = &list->items[i];
        bool pair = item->kind == HM_VALUE_LIST && item->count > 0;
        const char *name = hm__value_text(pair ? &item->items[0] : item);
        struct keras_vertex *v = find_vertex(g, name);
        g->model->visits += 1 + (name ? strlen(name) / 64 : 0);
        if (v && v->input == SIZE_MAX)
            v->input = pair ? i : 0;
    }
}

/* Counts the layers that have no inputs, because they are the inputs of the model. */
static int start_graph(struct keras_graph *g, const struct keras_shape *in, size_t in_count,
                       bool first, struct hm_err *err)
{
    const struct keras_shape none = hm__keras_no_shape();
    size_t inputs = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < g->count; i++) {
        struct keras_vertex *v = &g->vertices[i];
        const struct hm_value *nodes = hm__value_get(v->layer, "inbound_nodes");
        v->uses = nodes && nodes->kind == HM_VALUE_LIST ? nodes->count : 0;
        v->uses = v->uses > USES_MOST ? USES_MOST : v->uses;
        if (v->uses > 0)
            continue;
        /* Layers with the same name share the place of the first one. */
        const struct keras_vertex *named = find_vertex(g, v->name);
        size_t at = named && named->input != SIZE_MAX ? named->input : inputs;
        inputs++;
        rc = add_layer(g->model, v->layer, at < in_count ? &in[at] : &none, 1, first, g->depth,
                       &v->out[0], err);
        v->done = 1;
    }
    return rc;
}

/*
 * Counts all uses of all layers. Several passes are needed if a layer comes before a layer whose
 * output it uses. Uses that depend on each other in a cycle are counted last, with unknown inputs.
 */
static int finish_graph(struct keras_graph *g, struct hm_err *err)
{
    bool more = true;
    int rc = 0;

    for (int pass = 0; rc >= 0 && more && pass <= PASSES; pass++) {
        more = false;
        for (size_t i = 0; rc >= 0 && i < g->count; i++) {
            struct keras_vertex *v = &g->vertices[i];
            rc = 1;
            while (rc > 0 && v->done < v->uses)
                rc = add_use(g, v, pass == PASSES, err);
            more |= v->done < v->uses;
        }
    }
    return rc < 0 ? rc : 0;
}

static struct keras_shape output_shape(struct keras_graph *g, const struct hm_value *config)
{
    const struct hm_value *list = hm__value_get(config, "output_layers");

    while (list && list->kind == HM_VALUE_LIST && list->count > 0 &&
           list->items[0].kind == HM_VALUE_LIST)
        list = &list->items[0];
    const char *name = list && list->kind == HM_VALUE_LIST && list->count > 0
                           ? hm__value_text(&list->items[0])
                           : NULL;
    struct keras_vertex *v = find_vertex(g, name);
    return v && v->done > 0 ? v->out[0] : hm__keras_no_shape();
}

static int add_graph(struct keras *k, const struct hm_value *config, const struct keras_shape *in,
                     size_t in_count, bool first, int depth, struct keras_shape *ret_shape,
                     struct hm_err *err)
{
    const struct hm_value *layers = hm__value_get(config, "layers");
    struct keras_graph g = {.model = k, .depth = depth, .slot_count = 16};
    double before = k->trainable, frozen = k->frozen;

    if (layers->count > LAYERS_MOST)
        return hm__fail(err, HM_E_LIMIT, "has more than %d layers", LAYERS_MOST);
    while (g.slot_count <= 2 * layers->count)
        g.slot_count *= 2;
    hm__hash_begin(&g.key);
    g.vertices = hm__calloc(layers->count + 1, sizeof(*g.vertices));
    g.slots = hm__calloc(g.slot_count, sizeof(*g.slots));
    if (!g.vertices || !g.slots) {
        hm__free(g.vertices);
        hm__free(g.slots);
        return hm__fail_nomem(err);
    }
    for (size_t i = 0; i < layers->count; i++) {
        const struct hm_value *layer = &layers->items[i];
        const char *name = hm__value_text(hm__value_get(layer, "name"));
        if (!name)
            name = hm__value_text(hm__value_path(layer, "config.name"));
        g.vertices[g.count++] =
            (struct keras_vertex){.name = name ? name : "", .layer = layer, .input = SIZE_MAX};
        unsigned *slot = find_slot(&g, g.vertices[i].name);
        *slot = *slot ? *slot : (unsigned)g.count;
    }
    number_inputs(&g, config);
    int rc = count_visits(k, layers->count, err);
    if (rc == 0)
        rc = start_graph(&g, in, in_count, first, err);
    if (rc == 0)
        rc = finish_graph(&g, err);
    *ret_shape = output_shape(&g, config);
    hm__free(g.vertices);
    hm__free(g.slots);
    /*
     * Parameters were already counted at the first use of the model, so they are not counted again.
     */
    if (!first) {
        k->trainable = before;
        k->frozen = frozen;
    }
    return rc;
}

static int add_model(struct keras *k, const struct hm_value *model, const struct keras_shape *in,
                     size_t in_count, bool first, int depth, struct keras_shape *ret_shape,
                     struct hm_err *err)
{
    const struct hm_value *config = hm__value_get(model, "config");
    bool sequence = strcmp(class_of(model), "Sequential") == 0;
    /* In Keras 1, `config` of a Sequential model is the list of its layers. */
    const struct hm_value *layers = sequence && config && config->kind == HM_VALUE_LIST
                                        ? config
                                        : hm__value_get(config, "layers");

    *ret_shape = hm__keras_no_shape();
    if (depth == NESTING)
        return hm__fail(err, HM_E_LIMIT, "has models nested more than %d deep", NESTING);
    if (!layers || layers->kind != HM_VALUE_LIST) {
        hm__keras_unknown(k, "a model without layers");
        return 0;
    }
    if (sequence)
        return add_sequence(k, layers, in_count > 0 ? in : NULL, first, depth, ret_shape, err);
    return add_graph(k, config, in, in_count, first, depth, ret_shape, err);
}

/* ---- results ----------------------------------------------------------------------------------
 */

static void put_results(struct keras *k, const struct hm_value *root)
{
    struct hm_imported *im = k->im;
    struct hm_json *j = &im->facts;
    bool known = k->unknown_count == 0;
    double macs = known && k->unknown_products == 0 ? k->macs : NAN;

    hm__json_put_text(j, "class", class_of(root));
    hm__json_put_text(j, "keras_version", hm__value_text(hm__value_get(root, "keras_version")));
    hm__json_put_number(j, "layers", k->layers);
    hm__json_put_number(j, "parameters", known ? k->trainable + k->frozen : NAN);
    hm__json_put_number(j, "trainable_parameters", known ? k->trainable : NAN);
    hm__json_put_number(j, "non_trainable_parameters", known ? k->frozen : NAN);
    hm__json_put_number(j, "forward_macs", macs);
    hm__json_put_number(j, "unknown_products", k->unknown_products);
    hm__json_open(j, "unknown_layers", HM_JSON_OBJECT);
    for (size_t i = 0; i < k->unknown_count; i++) {
        hm__json_put_number(j, k->unknown[i].name, k->unknown[i].count);
        hm__import_left(im, k->unknown[i].count, "layers of the unknown class %.60s",
                        k->unknown[i].name);
    }
    hm__json_close(j);
    hm__import_took(im, k->layers, "layers");
    if (!known) {
        hm__import_note(im, "the parameters of unknown layers are not known: there is no network");
        return;
    }
    if (!isnan(k->trainable))
        hm__import_took(im, k->trainable, "trainable parameters of the network");
    if (!isnan(macs))
        hm__import_took(im, macs, "multiply-adds of one forward pass");
    else
        hm__import_note(im, "%.0f products have unknown shapes", k->unknown_products);
    if (!(k->trainable > 0) || !(macs > 0) || k->trainable > 9e15 || macs > 9e17)
        return;
    im->document_kind = "network";
    hm__text_addf(&im->document, "network:\n  parameters: %.0f\n  forward: %.0f flop\n",
                  k->trainable, 2 * macs);
    hm__import_assume(im, "batch", "256");
}

static int keras_read(struct hm_imported *im, struct hm_err *err)
{
    struct keras k = {.im = im};
    struct keras_shape out;
    struct hm_value *root;
    int rc = hm__whole_json(im, &root, err);

    hm__json_put_text(&im->facts, "format", "keras model");
    if (rc || !root)
        return rc;
    if (!is_model(class_of(root)))
        return hm__fail(err, HM_E_TYPE, "describes '%.40s', not a model of layers", class_of(root));
    rc = add_model(&k, root, NULL, 0, true, 0, &out, err);
    if (rc == 0)
        put_results(&k, root);
    return rc;
}

static int keras_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");
    size_t near = head->length < 400 ? head->length : 400;

    if (*p != '{' || !hm__find(head->text, near, "\"class_name\""))
        return 0;
    return hm__find(head->text, near, "\"Sequential\"") ||
                   hm__find(head->text, near, "\"Functional\"") ||
                   hm__find(head->text, near, "\"Model\"")
               ? 90
               : 0;
}

const struct hm_importer hm__importer_keras_model = {
    .name = "keras",
    .title = "Keras model",
    .becomes = "a network",
    .recognise = keras_recognise,
    .read = keras_read,
};
