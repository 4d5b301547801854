/*
 * Completes jobs that were read from configurations of launchers (DeepSpeed, accelerate). These
 * configurations do not name a network, so the user sets it, as in network=llama-3-8b, and the
 * catalog contains its usual batch, sequence and data set. The layout in the configuration is used
 * only for transformers.
 */
#include <string.h>

#include "err.h"
#include "load.h"
#include "load_import.h"
#include "read_large_job.h"

/*
 * Applies the assignments that concern the network to an empty job, to find out which network they
 * set.
 */
static int probe_network(struct hm_call *call, const struct hm_spec *spec,
                         struct hm_value *ret_root, struct hm_err *err)
{
    int rc = 0;

    *ret_root = (struct hm_value){.kind = HM_VALUE_MAP, .source = spec->source};
    for (size_t i = 0; rc == 0 && i < spec->override_count; i++)
        if (strncmp(spec->overrides[i].text, "network", 7) == 0)
            rc = hm__value_override(call->arena, ret_root, spec->overrides[i].text, err);
    return rc;
}

/* Returns whether a job has a value for a key, either in its tree or from an assignment. */
static bool has_key(const struct hm_spec *spec, const char *key)
{
    return hm__value_get(spec->tree, key) != NULL || hm__spec_sets(spec, key);
}

/* Adds the usual values of a network in the catalog, for keys that the job does not have. */
static int add_usual(struct hm_value_builder *b, const struct hm_spec *spec, const char *network,
                     const struct hm_value *usual, struct hm_text *note, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && usual && usual->kind == HM_VALUE_MAP && i < usual->count; i++) {
        if (has_key(spec, usual->keys[i]) || usual->items[i].kind != HM_VALUE_SCALAR)
            continue;
        if (note->length == 0)
            hm__text_addf(note, "assumed as usual for %s: ", network);
        else
            hm__text_add(note, ", ");
        hm__text_addf(note, "%s %s", usual->keys[i], usual->items[i].text);
        rc = hm__value_append(b, usual->keys[i], &usual->items[i], err);
    }
    return rc;
}

/*
 * Creates the tree of the job from the keys of the configuration that apply to the network and, if
 * the network is in the catalog, from its usual values.
 */
static int complete_tree(struct hm_call *call, struct hm_spec *spec, bool large, const char *name,
                         struct hm_text *note, struct hm_err *err)
{
    const struct hm_catalog *catalog;
    struct hm_value *root = hm__arena_alloc(call->arena, 1, sizeof(*root));
    struct hm_value_builder b = {0};
    const struct hm_value *from = spec->tree;
    int rc = root ? hm__call_catalog(call, &catalog, err) : hm__fail_nomem(err);

    for (size_t i = 0; rc == 0 && i < from->count; i++)
        if (large || strcmp(from->keys[i], "parallel") != 0)
            rc = hm__value_append(&b, from->keys[i], &from->items[i], err);
    if (rc == 0)
        rc = add_usual(
            &b, spec, name,
            name ? hm__value_get(hm__catalog_find(catalog, HM_CATALOG_NETWORK, name), "usual")
                 : NULL,
            note, err);
    if (rc == 0) {
        *root = (struct hm_value){.kind = HM_VALUE_MAP, .source = spec->source};
        rc = hm__value_seal(&b, call->arena, root, err);
    }
    if (rc == 0)
        spec->tree = root;
    hm__value_builder_release(&b);
    return rc;
}

/* Returns whether a YAML document has a line that begins with a key. */
static bool document_has(const struct hm_text *document, const char *key)
{
    const size_t length = strlen(key);

    for (const char *line = document->data; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ':')
            return true;
    }
    return false;
}

/* Removes the layout from a YAML document, because only jobs of transformers have this key. */
static void document_drop_layout(struct hm_text *document)
{
    char *line = document->data ? strstr(document->data, "parallel: {") : NULL;
    const char *end = line ? strchr(line, '\n') : NULL;

    if (!end || (line > document->data && line[-1] != '\n'))
        return;
    memmove(line, end + 1, strlen(end + 1) + 1);
    document->length = strlen(document->data);
}

/*
 * Checks the network that the user gave for a configuration: a name in the catalog, sizes such as
 * 784-10, a file with the settings of a transformer, or a map. `text` is the value as it was
 * written.
 */
static int check_network(struct hm_reader *reader, struct hm_value *job, const char *text)
{
    const struct hm_value *network = hm__value_get(job, "network");
    int rc = 0;

    if (network->kind != HM_VALUE_SCALAR && network->kind != HM_VALUE_MAP) {
        hm__fail(reader->err, HM_E_TYPE, "'%.80s' is not the name of a network", text);
        rc = HM_E_TYPE;
    } else if (network->kind == HM_VALUE_MAP && (*text != '{' || strchr(text, '\n'))) {
        hm__fail(reader->err, HM_E_SYNTAX, "a network with keys must be in braces, on one line");
        rc = HM_E_SYNTAX;
    }
    if (rc) {
        hm__err_hint(reader->err, "set network=llama-3-8b, or another network");
        hm__err_field(reader->err, "network");
        return rc;
    }
    rc = hm__read_network_file(reader, job);
    return rc ? rc : hm__check_network_name(reader, hm__value_get(job, "network"));
}

int hm__import_network(struct hm_call *call, struct hm_imported *im, struct hm_err *err)
{
    const char *name = im->needs_network ? hm__import_given_text(im, "network") : NULL;
    struct hm_reader reader = {.arena = call->arena, .closed = !call->context->files, .err = err};
    struct hm_value probe = {.kind = HM_VALUE_MAP, .source = im->name};
    int rc = name ? hm__call_catalog(call, &reader.catalog, err) : 0;

    if (rc || !name)
        return rc;
    /* The pair begins with the key, before its value. */
    if ((rc = hm__value_override(call->arena, &probe, name - strlen("network="), err)) ||
        (rc = check_network(&reader, &probe, name)))
        return rc;
    if (!hm__is_large_job(&reader, &probe)) {
        hm__import_note(im, "the layout of the file is used only for transformers");
        document_drop_layout(&im->document);
    }
    const struct hm_value *usual =
        hm__value_get(hm__catalog_find(reader.catalog, HM_CATALOG_NETWORK, name), "usual");
    hm__text_add(&im->document, "network: ");
    if (*name == '{')
        hm__text_add(&im->document, name);
    else
        hm__json_text(&im->document, name);
    hm__text_add(&im->document, "\n");
    for (size_t i = 0; usual && usual->kind == HM_VALUE_MAP && i < usual->count; i++)
        if (usual->items[i].kind == HM_VALUE_SCALAR && !document_has(&im->document, usual->keys[i]))
            hm__text_addf(&im->document, "%s: %s # as usual for %s\n", usual->keys[i],
                          usual->items[i].text, name);
    im->needs_network = false;
    return im->document.failed ? hm__fail_nomem(err) : 0;
}

int hm__complete_launch(struct hm_call *call, const char *title, struct hm_spec *spec,
                        const char **ret_note, struct hm_err *err)
{
    struct hm_reader reader = {.arena = call->arena, .closed = !call->context->files, .err = err};
    struct hm_value probe;
    struct hm_text note = {0};
    int rc = hm__call_catalog(call, &reader.catalog, err);

    if (rc == 0)
        rc = probe_network(call, spec, &probe, err);
    if (rc == 0)
        rc = hm__read_network_file(&reader, &probe);
    if (rc)
        return rc;
    const struct hm_value *network = hm__value_get(&probe, "network");
    if (!network) {
        hm__fail(err, HM_E_MISSING, "a %s does not name the network", title);
        hm__err_hint(err, "set network=llama-3-8b, or another network");
        hm__err_field(err, "network");
        hm__err_at(err, spec->source, 0);
        return HM_E_MISSING;
    }
    const bool large = hm__is_large_job(&reader, &probe);
    const char *name = network->kind == HM_VALUE_SCALAR ? network->text : NULL;
    rc = complete_tree(call, spec, large, name, &note, err);
    if (!large)
        hm__text_addf(&note, "%sthe layout of the file is used only for transformers",
                      note.length ? "; " : "");
    if (rc == 0 && note.length) {
        *ret_note = hm__arena_printf(call->arena, "%s", note.data);
        rc = *ret_note && !note.failed ? 0 : hm__fail_nomem(err);
    }
    hm__text_release(&note);
    return rc;
}
