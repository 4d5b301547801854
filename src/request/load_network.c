/*
 * Loads a job if the user gives the name of a network in the catalog instead of a job file, as in
 * "plan resnet-50". The catalog contains the usual batch, data set and sequence of a network under
 * the key `usual`; the note of the job lists the values that the request does not override.
 */
#include <string.h>

#include "err.h"
#include "files.h"
#include "load.h"
#include "load_import.h"
#include "readers.h"

/* Returns whether a document is a single name that is not the name of a file. */
static bool is_bare_name(const struct hm_call *call, const struct hm_document *d)
{
    if (d->tree || !d->name)
        return false;
    if (d->text)
        return !memchr(d->text, '\n', d->length) && !memchr(d->text, ':', d->length);
    return strcmp(d->name, "-") != 0 && !strchr(d->name, '/') &&
           !(call->context->files && call->context->files->exists(d->name));
}

int hm__find_network(struct hm_call *call, const struct hm_document *d, const char **ret_name,
                     struct hm_err *err)
{
    const char *name = d->text ? d->text : d->name;
    const struct hm_catalog *catalog;
    int rc = 0;

    *ret_name = NULL;
    if (is_bare_name(call, d) && (rc = hm__call_catalog(call, &catalog, err)) == 0 &&
        hm__catalog_find(catalog, HM_CATALOG_NETWORK, name))
        *ret_name = name;
    return rc;
}

void hm__hint_network(struct hm_call *call, const struct hm_document *d, struct hm_err *err)
{
    const struct hm_catalog *catalog;
    struct hm_err unknown = {0};

    if (!err || !is_bare_name(call, d) || strchr(d->name, '.') ||
        hm__call_catalog(call, &catalog, NULL))
        return;
    hm__catalog_unknown(catalog, HM_CATALOG_NETWORK, d->name, &unknown);
    hm__err_hint(err, "%s; %s", unknown.message, unknown.hint);
}

/*
 * Adds a key with a copy of its usual value to the tree of a job, and mentions it in the note
 * unless the user overrides it.
 */
static int add_usual(struct hm_value_builder *b, const struct hm_spec *spec, const char *key,
                     const struct hm_value *value, struct hm_text *note, struct hm_err *err)
{
    if (!hm__spec_sets(spec, key))
        hm__text_addf(note, "%s%s %s", note->length ? ", " : "", key,
                      value->kind == HM_VALUE_SCALAR ? value->text : "");
    return hm__value_append(b, key, value, err);
}

int hm__load_network_job(struct hm_call *call, const char *name, struct hm_spec *spec,
                         const char **ret_note, struct hm_err *err)
{
    const struct hm_catalog *catalog;
    struct hm_value *root = hm__arena_alloc(call->arena, 1, sizeof(*root));
    struct hm_value network = {.kind = HM_VALUE_SCALAR, .source = name, .text = name};
    struct hm_value_builder b = {0};
    struct hm_text note = {0};
    int rc = root ? hm__call_catalog(call, &catalog, err) : hm__fail_nomem(err);

    if (rc)
        return rc;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_NETWORK, name);
    const struct hm_value *usual = hm__value_get(entry, "usual");
    if (usual && usual->kind != HM_VALUE_MAP)
        rc = hm__request_fail(err, "job", HM_E_TYPE,
                              "the key usual of the network %.60s is not a map", name);
    if (rc == 0) {
        *root = (struct hm_value){.kind = HM_VALUE_MAP, .source = name};
        rc = hm__value_append(&b, "network", &network, err);
    }
    for (size_t i = 0; rc == 0 && usual && i < usual->count; i++)
        rc = add_usual(&b, spec, usual->keys[i], &usual->items[i], &note, err);
    if (rc == 0)
        rc = hm__value_seal(&b, call->arena, root, err);
    if (rc == 0 && note.length) {
        *ret_note = hm__arena_printf(call->arena, "assumed as usual for %s: %s", name, note.data);
        rc = *ret_note && !note.failed ? 0 : hm__fail_nomem(err);
    }
    hm__value_builder_release(&b);
    hm__text_release(&note);
    spec->tree = root;
    spec->source = name;
    return rc;
}
