/* Loads a job and the machines that it runs on. */
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "files.h"
#include "load_import.h"
#include "readers.h"
#include "servers.h"

/*
 * Reads the file that a document names, if the request does not contain its contents; the caller
 * frees the text with hm_text_free.
 */
static int read_named(struct hm_call *call, const char *field, const char *name, char **ret_text,
                      size_t *ret_length, struct hm_err *err)
{
    if (call->context->files)
        return call->context->files->read(name, ret_text, ret_length, err);
    hm__request_fail(err, field, HM_E_NAME, "'%.100s': a request cannot name a file", name);
    hm__err_hint(err, "send its contents instead");
    return HM_E_NAME;
}

/* ---- the job -----------------------------------------------------------------------------------
 */

/* A field that sets one key of the job. */
struct short_field {
    const char *field, *key, *value;
};
enum { FABRIC_SHORT = 5, SHORTS };

/* Lists the fields that set one key each; their values are NULL if they are not given. The field
 * `fabric` is one of them if the cluster of the job is used. */
static void list_short_fields(const struct hm_job_fields *f, struct short_field ret[SHORTS])
{
    const struct short_field list[SHORTS] = {
        {"batch", "batch", f->batch},
        {"sequence", "sequence", f->sequence},
        {"tokens", "tokens", f->tokens},
        {"epochs", "epochs", f->epochs},
        {"iterations", "iterations", f->iterations},
        {"fabric", "cluster.fabric", f->on.count == 0 ? f->fabric : NULL}};

    memcpy(ret, list, sizeof(list));
}

/*
 * Collects the assignments that change the job: short fields and the field `set`, which may replace
 * the cluster and therefore comes before the fabric.
 */
static int job_overrides(struct hm_call *call, const struct hm_job_fields *f, struct hm_spec *spec,
                         struct hm_err *err)
{
    struct short_field shorts[SHORTS];
    struct hm_override *overrides =
        hm__arena_alloc(call->arena, f->set.count + SHORTS, sizeof(*overrides));
    size_t count = 0;

    if (!overrides)
        return hm__fail_nomem(err);
    list_short_fields(f, shorts);
    for (size_t i = 0; i < SHORTS; i++) {
        for (size_t k = 0; i == FABRIC_SHORT && k < f->set.count; k++)
            if (!hm__is_fact(f->set.items[k]))
                overrides[count++].text = f->set.items[k];
        if (shorts[i].value && !(overrides[count++].text = hm__arena_printf(
                                     call->arena, "%s=%s", shorts[i].key, shorts[i].value)))
            return hm__fail_nomem(err);
    }
    spec->overrides = overrides;
    spec->override_count = count;
    return 0;
}

/*
 * If a value from a field of its own, such as `tokens`, is wrong, makes the error name that field
 * instead of `set`.
 */
static void name_short_field(const struct hm_job_fields *f, struct hm_err *err)
{
    struct short_field shorts[SHORTS];

    list_short_fields(f, shorts);
    for (size_t i = 0; err && i < SHORTS; i++)
        if (shorts[i].value && strcmp(err->source, "set") == 0 &&
            strcmp(err->field, shorts[i].key) == 0) {
            snprintf(err->source, sizeof(err->source), "request");
            snprintf(err->field, sizeof(err->field), "%s", shorts[i].field);
            err->line = 0;
        }
}

/* Creates an empty job, all of whose keys come from the field `set`. */
static const struct hm_document *empty_job(struct hm_call *call)
{
    struct hm_document *document = hm__arena_alloc(call->arena, 1, sizeof(*document));

    if (!document || !(document->tree = hm__arena_alloc(call->arena, 1, sizeof(*document->tree))))
        return NULL;
    document->tree->kind = HM_VALUE_MAP;
    document->name = "set";
    return document;
}

static int load_only_job(struct hm_call *call, const struct hm_job_fields *f, bool timed,
                         struct hm_job **ret_job, struct hm_err *err)
{
    const struct hm_document *d = f->job.name ? &f->job : empty_job(call);
    const char *network = NULL, *note = NULL;
    char *file = NULL;

    if (!d)
        return hm__fail_nomem(err);
    struct hm_spec spec = {.text = d->text,
                           .length = d->length,
                           .source = d->name,
                           .tree = d->tree,
                           .closed = !call->context->files,
                           .timed = timed};
    int rc = job_overrides(call, f, &spec, err);
    if (rc == 0)
        rc = hm__find_network(call, d, &network, err);
    bool foreign =
        rc == 0 && !network && (hm__is_foreign(call, d) || hm__is_import_folder(call, d));
    if (network) {
        rc = hm__load_network_job(call, network, &spec, &note, err);
    } else if (foreign) {
        rc = hm__load_foreign_job(call, d, &spec, &note, err);
    } else if (rc == 0 && !d->text && !d->tree) {
        rc = read_named(call, "job", d->name, &file, &spec.length, err);
        spec.text = file;
        if (rc)
            hm__hint_network(call, d, err);
    }
    const struct hm_catalog *catalog = call->context->catalog ? call->context->catalog : call->made;
    if (rc == 0)
        rc = hm__job_read(catalog, &spec, ret_job, err);
    if (rc == 0)
        (*ret_job)->note = note;
    else
        name_short_field(f, err);
    hm_text_free(file);
    return rc;
}

/* ---- machines ----------------------------------------------------------------------------------
 */

bool hm__is_cluster_file(const char *name)
{
    return hm__text_ends(name, ".yaml") || hm__text_ends(name, ".yml") ||
           hm__text_ends(name, ".json") || strchr(name, '/') != NULL;
}

/*
 * Creates the tree {machine: name}, so that assignments in the field `set` can change properties of
 * the machine.
 */
static struct hm_value *machine_tree(struct hm_arena *arena, const char *name)
{
    struct hm_value *map = hm__arena_alloc(arena, 1, sizeof(*map));
    struct hm_value *item = hm__arena_alloc(arena, 1, sizeof(*item));
    const char **keys = hm__arena_alloc(arena, 1, sizeof(*keys));

    if (!map || !item || !keys)
        return NULL;
    *item = (struct hm_value){.kind = HM_VALUE_SCALAR, .source = "on", .text = name};
    keys[0] = "machine";
    *map = (struct hm_value){
        .kind = HM_VALUE_MAP, .source = "on", .items = item, .keys = keys, .count = 1};
    return map;
}

/*
 * Collects the assignments that change a machine: the keys of the field `set` that begin with
 * "cluster.", and the field `fabric`.
 */
static int machine_overrides(struct hm_call *call, const struct hm_job_fields *f,
                             struct hm_spec *spec, struct hm_err *err)
{
    struct hm_override *overrides =
        hm__arena_alloc(call->arena, f->set.count + 1, sizeof(*overrides));
    size_t count = 0;

    if (!overrides)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < f->set.count; i++)
        if (strncmp(f->set.items[i], "cluster.", 8) == 0)
            overrides[count++].text = f->set.items[i] + 8;
    if (f->fabric) {
        overrides[count].text = hm__arena_printf(call->arena, "fabric=%s", f->fabric);
        if (!overrides[count++].text)
            return hm__fail_nomem(err);
    }
    spec->overrides = overrides;
    spec->override_count = count;
    return 0;
}

int hm__load_machine(struct hm_call *call, const struct hm_job_fields *f,
                     const struct hm_document *machine, struct hm_cluster **ret_cluster,
                     struct hm_err *err)
{
    bool contents = machine->text || machine->tree,
         named = !contents && call->context->files && call->context->files->exists(machine->name),
         foreign = (contents || named) && hm__is_foreign(call, machine),
         file = !contents && (foreign || hm__is_cluster_file(machine->name));
    struct hm_spec spec = {.text = machine->text,
                           .length = machine->length,
                           .source = contents || file ? machine->name : "on",
                           .tree = machine->tree,
                           .closed = !call->context->files};
    const struct hm_catalog *catalog;
    char *text = NULL;
    int rc = hm__call_catalog(call, &catalog, err);

    if (rc == 0)
        rc = machine_overrides(call, f, &spec, err);
    if (rc == 0 && foreign) {
        rc = hm__load_foreign_cluster(call, machine, &spec, err);
    } else if (rc == 0 && file) {
        rc = read_named(call, "on", machine->name, &text, &spec.length, err);
        spec.text = text;
    }
    if (rc == 0 && !contents && !file && !(spec.tree = machine_tree(call->arena, machine->name)))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = hm__cluster_read(catalog, &spec, ret_cluster, err);
    hm_text_free(text);
    if (rc == 0 && file)
        /*
         * The ranking of machines shows the name of the cluster file, so that several clusters can
         * be distinguished.
         */
        (*ret_cluster)->name = machine->name;
    return rc;
}

/* A property that a machine in the field `on` may inherit from the cluster of the job. */
struct kept_key {
    const char *name;
    enum hm_cluster_key key;
    bool has; /* True if the machine has its own value for the property. */
};

/*
 * Writes the names of the properties that are set in the job's cluster, such as "price and fabric".
 * If `has` is true, only the properties that the machine also has are listed; otherwise, only the
 * properties that the machine lacks.
 */
static void list_keys(const struct kept_key *keys, size_t count, unsigned given, bool has,
                      char *text, size_t room)
{
    const char *names[8];
    size_t listed = 0, used = 0;

    for (size_t i = 0; i < count; i++)
        if ((given & (unsigned)keys[i].key) && keys[i].has == has)
            names[listed++] = keys[i].name;
    text[0] = '\0';
    for (size_t i = 0; i < listed && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s%s",
                                 i == 0           ? ""
                                 : i + 1 < listed ? ", "
                                                  : " and ",
                                 names[i]);
}

/*
 * Copies properties that do not describe the machine itself, such as the price, from the cluster of
 * the job to the machine that replaces it, unless the machine has its own value. A note lists the
 * copied and the replaced properties.
 */
static int keep_job_keys(struct hm_call *call, const struct hm_cluster *job, struct hm_cluster *c,
                         struct hm_err *err)
{
    const struct hm_slowness *slow = &c->slowness;
    /*
     * A single accelerator is limited to one node only because it has no fabric. Therefore, it is
     * given the fabric of the job's cluster, even if that fabric is only a default.
     */
    const bool alone = hm__cluster_is_alone(c);
    const bool joined = alone && job->fabric.bandwidth_bytes_per_s > 0;
    const struct kept_key keys[] = {
        {"max_nodes", HM_CLUSTER_MAX_NODES, c->max_nodes > 0 && !joined},
        {"price", HM_CLUSTER_PRICE, c->node.price_per_s >= 0},
        {"fabric", HM_CLUSTER_FABRIC, c->fabric.bandwidth_bytes_per_s > 0},
        {"efficiency", HM_CLUSTER_EFFICIENCY, c->node.efficiency > 0},
        {"stragglers", HM_CLUSTER_STRAGGLERS,
         slow->spread > 0 || slow->chance > 0 || slow->slow_nodes > 0 || slow->speed_count > 0},
    };
    enum { KEYS = sizeof(keys) / sizeof(keys[0]) };
    char kept[128], replaced[128];

    unsigned given = job->given | (joined ? (unsigned)HM_CLUSTER_FABRIC : 0);
    /*
     * An assignment such as cluster.max_nodes=4 sets the value of both the job's cluster and the
     * machine; such equal values are not mentioned in the note.
     */
    if (keys[0].has && c->max_nodes == job->max_nodes)
        given &= ~(unsigned)HM_CLUSTER_MAX_NODES;
    if (keys[1].has && c->node.price_per_s == job->node.price_per_s)
        given &= ~(unsigned)HM_CLUSTER_PRICE;
    if (!keys[0].has && ((given & HM_CLUSTER_MAX_NODES) || joined))
        c->max_nodes = job->max_nodes;
    if (!keys[1].has && (job->given & HM_CLUSTER_PRICE))
        c->node.price_per_s = job->node.price_per_s;
    if (!keys[2].has && (given & HM_CLUSTER_FABRIC)) {
        c->fabric = job->fabric;
        c->fabric_name = job->fabric_name;
    }
    if (!keys[3].has && (job->given & HM_CLUSTER_EFFICIENCY))
        c->node.efficiency = job->node.efficiency;
    if (!keys[4].has && (job->given & HM_CLUSTER_STRAGGLERS)) {
        c->slowness = job->slowness;
        c->slowness.per_node = c->node.accelerators;
    }
    list_keys(keys, KEYS, given, false, kept, sizeof(kept));
    list_keys(keys, KEYS, given, true, replaced, sizeof(replaced));
    if (!kept[0] && !replaced[0])
        return 0;
    c->note = hm__arena_printf(call->arena, "%s%s%s%s%s%s%s", c->note ? c->note : "",
                               c->note ? "; " : "", kept[0] ? "kept from the job: " : "", kept,
                               kept[0] && replaced[0] ? "; " : "",
                               replaced[0] ? "replaced by the machine's own: " : "", replaced);
    return c->note ? 0 : hm__fail_nomem(err);
}

/*
 * Adds a note that says that nothing connects several of these accelerators, so that the field
 * `fabric` is needed.
 */
static void note_alone(struct hm_cluster *c)
{
    c->note = "nothing connects several of these: fabric names a connection, such as 100gbe";
}

/*
 * Returns whether a document in the field `on` is only a name: it has no contents, and there is no
 * such file.
 */
static bool is_plain_name(struct hm_call *call, const struct hm_document *d)
{
    return !d->text && !d->tree && !hm__is_cluster_file(d->name) &&
           !(call->context->files && call->context->files->exists(d->name));
}

/*
 * If the job specifies the number of accelerators per machine, sets the same number in `server`,
 * names the server after its accelerator, and marks its price as unknown. Returns whether the job
 * specifies this number.
 */
static bool keep_accelerators(const struct hm_job *job, const char *named,
                              struct hm_cluster *server)
{
    if (!job->has_cluster || !(job->cluster.given & HM_CLUSTER_ACCELERATORS) ||
        job->cluster.node.accelerators == server->node.accelerators)
        return false;
    server->node.accelerators = job->cluster.node.accelerators;
    server->node.price_per_s = NAN;
    server->name = named;
    return true;
}

/* Writes the note that names the servers in the catalog that contain the accelerator. */
static int note_servers(struct hm_call *call, const char *named, const struct hm_servers *servers,
                        bool kept, struct hm_cluster *server, struct hm_err *err)
{
    const char *priced = servers->owned && !kept ? servers->rented : NULL;

    server->note = hm__arena_printf(
        call->arena, "%s is an accelerator: nodes of %g %s%s%s%s%s", named,
        server->node.accelerators,
        kept ? "are assumed, as in the job, with the links of " : "are assumed, as in ",
        servers->owned ? servers->owned : servers->rented, priced ? " (with a price: " : "",
        priced ? priced : "", priced ? ")" : "");
    return server->note ? 0 : hm__fail_nomem(err);
}

/*
 * If the user names an accelerator without a fabric, replaces it with a server in the catalog that
 * has several of these accelerators. A server without a price (the vendor's design) is preferred to
 * one that can be rented. The accelerator is not replaced if the job's cluster has a fabric, or if
 * the assignments put several accelerators into one node.
 */
static int place_in_servers(struct hm_call *call, const struct hm_job_fields *f,
                            const struct hm_document *named, const struct hm_job *job,
                            struct hm_cluster **cluster, struct hm_err *err)
{
    const bool joined = job->has_cluster && job->cluster.fabric.bandwidth_bytes_per_s > 0;
    const struct hm_catalog *catalog;
    struct hm_servers servers = {0};
    struct hm_cluster *server = NULL;
    int rc = hm__call_catalog(call, &catalog, err);

    if (rc == 0 && !joined && is_plain_name(call, named) && hm__cluster_is_alone(*cluster) &&
        (*cluster)->node.accelerators <= 1)
        hm__catalog_servers(catalog, named->name, &servers);
    const struct hm_document d = {.name = servers.owned ? servers.owned : servers.rented};
    if (rc || !d.name)
        return rc;
    rc = hm__load_machine(call, f, &d, &server, err);
    if (rc == 0)
        rc = note_servers(call, named->name, &servers, keep_accelerators(job, named->name, server),
                          server, err);
    if (rc) {
        hm_cluster_free(server);
        return rc;
    }
    hm_cluster_free(*cluster);
    *cluster = server;
    return 0;
}

/*
 * Appends the note about a single accelerator to the note of the job, because plans for
 * transformers show only the note of the job.
 */
static int note_transformer(struct hm_call *call, struct hm_job *job, const char *note,
                            struct hm_err *err)
{
    job->note = job->note ? hm__arena_printf(call->arena, "%s; %s", job->note, note) : note;
    return job->note ? 0 : hm__fail_nomem(err);
}

int hm__load_job(struct hm_call *call, const struct hm_job_fields *f, bool timed,
                 struct hm_loaded_job *job, struct hm_err *err)
{
    const struct hm_catalog *catalog;
    int rc = f->on.count > 0 ? hm__call_catalog(call, &catalog, err) : 0;

    if (rc == 0 && f->on.count > HM_MACHINES_MAX)
        rc = hm__request_fail(err, "on", HM_E_LIMIT, "more than %d machines", HM_MACHINES_MAX);
    if (rc == 0)
        rc = load_only_job(call, f, timed, &job->job, err);
    for (size_t i = 0; rc == 0 && i < f->on.count; i++) {
        rc = hm__load_machine(call, f, &f->on.items[i], &job->clusters[i], err);
        job->cluster_count += rc == 0;
        const struct hm_cluster *named = job->clusters[i];
        if (rc == 0)
            rc = place_in_servers(call, f, &f->on.items[i], job->job, &job->clusters[i], err);
        const bool single = rc == 0 && (job->clusters[i] != named || hm__cluster_is_alone(named));
        if (rc == 0 && job->job->has_cluster)
            rc = keep_job_keys(call, &job->job->cluster, job->clusters[i], err);
        if (rc == 0 && hm__cluster_is_alone(job->clusters[i]) && !job->clusters[i]->note)
            note_alone(job->clusters[i]);
        if (rc == 0 && job->job->large && i == 0 && single && job->clusters[i]->note)
            rc = note_transformer(call, job->job, job->clusters[i]->note, err);
    }
    return rc;
}

void hm__loaded_job_release(struct hm_loaded_job *job)
{
    for (size_t i = 0; i < job->cluster_count; i++)
        hm_cluster_free(job->clusters[i]);
    hm_job_free(job->job);
    *job = (struct hm_loaded_job){0};
}

const struct hm_cluster *hm__loaded_cluster(const struct hm_loaded_job *job)
{
    if (job->cluster_count > 0)
        return job->clusters[0];
    return job->job && job->job->has_cluster ? &job->job->cluster : NULL;
}

bool hm__sets_job(const struct hm_texts *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (!hm__is_fact(set->items[i]))
            return true;
    return false;
}

int hm__check_job_fields(const struct hm_job_fields *f, bool one_machine, struct hm_err *err)
{
    const char *given = f->on.count             ? "on"
                        : f->fabric             ? "fabric"
                        : hm__sets_job(&f->set) ? "set"
                                                : NULL;

    if (!f->job.name && given)
        return hm__request_fail(err, given, HM_E_CONFLICT, "this needs a job");
    if (one_machine && f->on.count > 1)
        return hm__request_fail(err, "on", HM_E_CONFLICT, "only one machine can be named here");
    return 0;
}
