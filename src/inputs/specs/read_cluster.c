/*
 * Reads a cluster: a map with the keys of a machine in the catalog, the fabric between the machines
 * and the number of machines. It may start from a machine in the catalog (`machine: NAME`) and
 * change some of its keys. read_kinds.c reads a cluster of several kinds of machines.
 * docs/reference/job.md describes the keys.
 */
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "readers.h"

#define AT(member) offsetof(struct hm_cluster, member)

/* Names for enum hm_generation, as written in a specification. */
static const char *const generations[] = {"unknown", "volta",     "ampere", "ada",
                                          "hopper",  "blackwell", NULL};

static const struct hm_field cluster_fields[] = {
    {.name = "machine", .kind = HM_FIELD_OTHER, .doc = "a machine from the catalog to start from"},
    {.name = "kinds",
     .kind = HM_FIELD_OTHER,
     .doc = "kinds of machines, each with its keys and its count"},
    {.name = "shares",
     .kind = HM_FIELD_OTHER,
     .doc = "with kinds: samples of each worker, by speed or equal"},
    {.name = "accelerator",
     .kind = HM_FIELD_OTHER,
     .doc = "an accelerator from the catalog; each worker is one"},
    {.name = "title", .kind = HM_FIELD_TEXT, .offset = AT(title), .doc = "what it is"},
    {.name = "aliases", .kind = HM_FIELD_OTHER, .doc = "other names of the entry"},
    {.name = "source", .kind = HM_FIELD_TEXT, .offset = AT(source), .doc = "source of the figures"},
    {.name = "assumed",
     .kind = HM_FIELD_TEXT,
     .offset = AT(assumed),
     .doc = "figures that are not from the source"},
    {.name = "date", .kind = HM_FIELD_TEXT, .offset = AT(date), .doc = "when they were valid"},
    {.name = "flops",
     .kind = HM_FIELD_OTHER,
     .doc = "peak speed of one worker, or a map of them by precision"},
    {.name = "efficiency",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.efficiency),
     .above = true,
     .max = 1,
     .doc = "fraction of the peak that is reached"},
    {.name = "processors",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.processors),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "multiprocessors of one worker"},
    {.name = "generation",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(node.generation),
     .choices = generations,
     .doc = "generation of a GPU"},
    {.name = "cores",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.cores),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "cores of one worker without accelerators"},
    {.name = "threads",
     .kind = HM_FIELD_OTHER,
     .doc = "threads that compute in one worker, by default its cores; or auto: plan chooses "
            "processes and threads"},
    {.name = "cache",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.cache_bytes),
     .above = true,
     .dim = {0, 1, 0, 0},
     .doc = "cache that the cores of one worker share"},
    {.name = "matrix_efficiency",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.matrix_efficiency),
     .above = true,
     .max = 1,
     .doc = "fraction of the peak that the largest matrix products reach"},
    {.name = "memory_bandwidth",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .offset = AT(node.memory_bandwidth_bytes_per_s),
     .dim = {-1, 1, 0, 0},
     .doc = "bytes per second one worker moves to and from its memory"},
    {.name = "kernel_overhead",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.kernel_overhead_s),
     .dim = {1, 0, 0, 0},
     .doc = "time to start one kernel"},
    {.name = "memory",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.memory_bytes),
     .above = true,
     .dim = {0, 1, 0, 0},
     .doc = "memory of one worker"},
    {.name = "accelerators",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.accelerators),
     .min = 1,
     .max = 1024,
     .whole = true,
     .doc = "workers in one node"},
    {.name = "host_memory",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.host_memory_bytes),
     .above = true,
     .dim = {0, 1, 0, 0},
     .doc = "memory of the host of one node, for offloaded states"},
    {.name = "link", .kind = HM_FIELD_OTHER, .doc = "bandwidth and latency inside a node"},
    {.name = "fabric",
     .kind = HM_FIELD_OTHER,
     .doc = "bandwidth and latency between nodes, or the name of a fabric"},
    {.name = "price",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(node.price_per_s),
     .dim = {-1, 0, 0, 1},
     .doc = "price of one node"},
    {.name = "max_nodes",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(max_nodes),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "how many nodes there are at most"},
    {.name = "roofline",
     .kind = HM_FIELD_BOOL,
     .offset = AT(roofline),
     .doc = "whether memory bandwidth and kernel overhead count"},
    {.name = "stragglers", .kind = HM_FIELD_OTHER, .doc = "how uneven and unsteady workers are"},
    {.name = "measured",
     .kind = HM_FIELD_OTHER,
     .doc = "figures of howmany calibrate, which replace those of data sheets"},
};

const struct hm_field *hm__cluster_fields(size_t *count)
{
    *count = sizeof(cluster_fields) / sizeof(cluster_fields[0]);
    return cluster_fields;
}

enum { CLUSTER_FIELDS = sizeof(cluster_fields) / sizeof(cluster_fields[0]) };

/* Number of leading elements of cluster_fields that catalog entries do not have: machine, kinds,
 * shares. */
enum { CLUSTER_ONLY = 3 };

static const struct hm_field link_fields[] = {
    {.name = "bandwidth",
     .kind = HM_FIELD_QUANTITY,
     .above = true,
     .offset = offsetof(struct hm_link, bandwidth_bytes_per_s),
     .dim = {-1, 1, 0, 0},
     .doc = "a rate such as 10 Gbit/s"},
    {.name = "latency",
     .kind = HM_FIELD_QUANTITY,
     .offset = offsetof(struct hm_link, latency_s),
     .dim = {1, 0, 0, 0},
     .doc = "a time such as 50 us"},
    {.name = "reduces",
     .kind = HM_FIELD_BOOL,
     .offset = offsetof(struct hm_link, reduces),
     .doc = "whether the switch adds up the messages of an all-reduce"},
    {.name = "mesh",
     .kind = HM_FIELD_BOOL,
     .offset = offsetof(struct hm_link, mesh),
     .doc = "whether each pair of workers has its own share of the bandwidth, without a switch"},
    {.name = "ports", .kind = HM_FIELD_OTHER, .doc = "ports of a node with this bandwidth each"},
    {.name = "name", .kind = HM_FIELD_OTHER, .doc = "a fabric from the catalog to start from"},
    {.name = "title", .kind = HM_FIELD_OTHER, .doc = "what it is"},
    {.name = "source", .kind = HM_FIELD_OTHER, .doc = "where the figures are from"},
    {.name = "date", .kind = HM_FIELD_OTHER, .doc = "when they were valid"},
};

/*
 * Reads the number of ports that connect a node to the fabric, and multiplies the bandwidth of one
 * port by this number.
 */
static int read_ports(struct hm_reader *reader, const struct hm_value *value, struct hm_link *link)
{
    static const struct hm_field field = {
        .name = "ports", .kind = HM_FIELD_QUANTITY, .min = 1, .max = 64, .whole = true};
    const struct hm_value *ports = hm__value_get(value, "ports");
    double count = 1;

    if (!ports)
        return 0;
    size_t mark = hm__reader_enter(reader, "ports");
    int rc = hm__read_field(reader, ports, &field, &count);
    if (rc == 0 && !hm__value_get(value, "bandwidth") && !hm__value_get(value, "name")) {
        rc = hm__reader_fail(reader, ports, HM_E_CONFLICT, "the bandwidth of one port is missing");
        hm__err_hint(reader->err, "give bandwidth or name, which are those of one port");
    }
    hm__reader_leave(reader, mark);
    link->bandwidth_bytes_per_s *= count;
    return rc;
}

int hm__read_link(struct hm_reader *reader, const struct hm_value *value, struct hm_link *link)
{
    int rc = hm__read_map(reader, value, link_fields, sizeof(link_fields) / sizeof(link_fields[0]),
                          link);

    if (rc == 0)
        rc = read_ports(reader, value, link);
    if (rc == 0 && !(link->bandwidth_bytes_per_s > 0)) {
        rc = hm__reader_fail(reader, value, HM_E_MISSING, "'bandwidth' is missing");
        hm__err_hint(reader->err, "bandwidth: a rate such as 10 Gbit/s");
    }
    return rc;
}

#define FLOPS(key, member)                                                                         \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_QUANTITY, .offset = offsetof(struct hm_node, member),      \
        .dim = {-1, 0, 1, 0}, .above = true                                                        \
    }

/* Reads `flops`: one speed for all precisions, or a map of speeds by precision. */
static int read_flops(struct hm_reader *reader, const struct hm_value *value, struct hm_node *node)
{
    static const struct hm_field fields[] = {
        FLOPS("16", flops_16),     FLOPS("32", flops_32),     FLOPS("64", flops_64),
        FLOPS("fp16", flops_16),   FLOPS("fp32", flops_32),   FLOPS("fp64", flops_64),
        FLOPS("bf16", flops_bf16), FLOPS("tf32", flops_tf32), FLOPS("fp8", flops_fp8),
        FLOPS("fp4", flops_fp4),
    };
    node->flops_16 = node->flops_32 = node->flops_64 = NAN;
    node->flops_bf16 = node->flops_tf32 = node->flops_fp8 = node->flops_fp4 = NAN;
    if (value->kind == HM_VALUE_MAP) {
        int rc = hm__read_map(reader, value, fields, sizeof(fields) / sizeof(fields[0]), node);
        if (hm__value_get(value, "16") && !hm__value_get(value, "bf16"))
            node->flops_bf16 = node->flops_16; /* The key 16 sets the rates of fp16 and bf16. */
        return rc;
    }
    int rc = hm__read_field(reader, value, &fields[0], node);
    /* A single number is the rate in all precisions. */
    node->flops_32 = node->flops_64 = node->flops_bf16 = node->flops_16;
    return rc;
}

/* Reads `fabric` of a cluster: the name of a fabric, or keys that change the fabric of the
 * machine or of the catalog. */
static int read_fabric(struct hm_reader *reader, const struct hm_value *value,
                       struct hm_cluster *cluster)
{
    const struct hm_value *name =
        value->kind == HM_VALUE_SCALAR ? value : hm__value_get(value, "name");
    const struct hm_catalog *catalog;

    cluster->fabric_name = NULL;
    /* If only a rate is given, such as 3200 Gbit/s, the latency of the machine is kept. */
    if (value->kind == HM_VALUE_SCALAR && strchr(value->text, '/'))
        return hm__read_field(reader, value, &link_fields[0], &cluster->fabric);
    if (name) {
        int rc = hm__expect_kind(reader, name, HM_VALUE_SCALAR, "the name of a fabric");
        if (rc == 0)
            rc = hm__reader_catalog(reader, &catalog);
        if (rc == 0)
            rc = hm_catalog_fabric(catalog, name->text, &cluster->fabric, reader->err);
        if (rc)
            return hm__reader_place(reader, name, rc);
        cluster->fabric_name = hm__arena_strdup(reader->arena, name->text);
        if (!cluster->fabric_name)
            return hm__fail_nomem(reader->err);
    }
    return name == value ? 0 : hm__read_link(reader, value, &cluster->fabric);
}

/* Reads `threads`: a number, or auto. */
static int read_threads(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_cluster *cluster)
{
    static const struct hm_field field = {
        .kind = HM_FIELD_QUANTITY, .offset = AT(node.threads), .min = 1, .max = 1e6, .whole = true};

    cluster->threads_auto = value->kind == HM_VALUE_SCALAR && strcmp(value->text, "auto") == 0;
    cluster->node.threads = NAN;
    if (cluster->threads_auto)
        return 0;
    if (value->kind == HM_VALUE_SCALAR && isalpha((unsigned char)value->text[0])) {
        hm__reader_fail(reader, value, HM_E_TYPE, "'%.60s' is not a number of threads",
                        value->text);
        hm__err_hint(reader->err, "write a whole number, or auto: plan then chooses");
        return HM_E_TYPE;
    }
    return hm__read_field(reader, value, &field, cluster);
}

/* Reads the keys that need their own reading function, such as `flops` and `fabric`. */
static int read_parts(struct hm_reader *reader, const struct hm_value *map,
                      struct hm_cluster *cluster)
{
    static const char *const keys[] = {"flops",      "link",     "fabric",
                                       "stragglers", "measured", "threads"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct hm_value *value = hm__value_get(map, keys[i]);
        if (!value)
            continue;
        size_t mark = hm__reader_enter(reader, keys[i]);
        rc = i == 0   ? read_flops(reader, value, &cluster->node)
             : i == 1 ? hm__read_link(reader, value, &cluster->node.link)
             : i == 2 ? read_fabric(reader, value, cluster)
             : i == 3 ? hm__read_stragglers(reader, value, &cluster->slowness)
             : i == 4 ? hm__read_calibration(reader, value, &cluster->node.measured)
                      : read_threads(reader, value, cluster);
        hm__reader_leave(reader, mark);
    }
    cluster->slowness.per_node = cluster->node.accelerators;
    return rc;
}

/* Fills the cluster with the values of a machine in the catalog. */
static int read_base(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_cluster *cluster)
{
    const struct hm_catalog *catalog;
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "the name of a machine");

    if (rc || (rc = hm__reader_catalog(reader, &catalog)))
        return rc;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_MACHINE, value->text);
    if (!entry)
        entry = hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, value->text);
    if (!entry)
        return hm__reader_place(reader, value,
                                hm__catalog_unknown_machine(catalog, value->text, reader->err));
    rc = hm__read_machine(reader, entry, value->text, cluster);
    /* An accelerator that is not part of a machine has no fabric: it is one node until a fabric is
     * given. */
    if (rc == 0 && !(cluster->fabric.bandwidth_bytes_per_s > 0) &&
        entry == hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, value->text))
        cluster->max_nodes = 1;
    return rc;
}

/*
 * Fills the node with the values of an accelerator in the catalog, before the machine's own keys
 * are read.
 */
static int read_accelerator(struct hm_reader *reader, const struct hm_value *value,
                            struct hm_cluster *cluster)
{
    const struct hm_catalog *catalog;
    struct hm_cluster card;
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "the name of an accelerator");

    if (rc || (rc = hm__reader_catalog(reader, &catalog)))
        return rc;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, value->text);
    if (!entry)
        return hm__reader_place(
            reader, value,
            hm__catalog_unknown(catalog, HM_CATALOG_ACCELERATOR, value->text, reader->err));
    hm__cluster_init(&card);
    rc = hm__read_map(reader, entry, cluster_fields + CLUSTER_ONLY, CLUSTER_FIELDS - CLUSTER_ONLY,
                      &card);
    if (rc == 0)
        rc = read_parts(reader, entry, &card);
    card.node.accelerators = cluster->node.accelerators;
    card.node.price_per_s = cluster->node.price_per_s;
    card.node.host_memory_bytes = cluster->node.host_memory_bytes;
    cluster->node = card.node;
    cluster->assumed = card.assumed;
    return rc;
}

/* Reads the key `accelerator` of a machine, if it has one. */
static int read_card(struct hm_reader *reader, const struct hm_value *map,
                     struct hm_cluster *cluster)
{
    const struct hm_value *value = hm__value_get(map, "accelerator");

    if (!value)
        return 0;
    size_t mark = hm__reader_enter(reader, "accelerator");
    int rc = read_accelerator(reader, value, cluster);
    hm__reader_leave(reader, mark);
    return rc;
}

/* A machine that was measured alone has no network: it is one node until a network is given. */
static void limit_alone(const struct hm_value *map, struct hm_cluster *cluster)
{
    if (hm__value_get(map, "measured") && isnan(cluster->max_nodes) &&
        !(cluster->fabric.bandwidth_bytes_per_s > 0))
        cluster->max_nodes = 1;
}

int hm__read_machine(struct hm_reader *reader, const struct hm_value *value, const char *name,
                     struct hm_cluster *cluster)
{
    hm__cluster_init(cluster);
    cluster->name = hm__arena_strdup(reader->arena, name);
    if (!cluster->name)
        return hm__fail_nomem(reader->err);
    int rc = read_card(reader, value, cluster);
    if (rc)
        return rc;
    /* An entry in the catalog cannot start from another machine, so the leading fields are
     * omitted. */
    rc = hm__read_map(reader, value, cluster_fields + CLUSTER_ONLY, CLUSTER_FIELDS - CLUSTER_ONLY,
                      cluster);
    if (rc == 0)
        rc = read_parts(reader, value, cluster);
    limit_alone(value, cluster);
    return rc;
}

/* Returns the set of keys of enum hm_cluster_key that a map contains. */
static unsigned given_keys(const struct hm_value *map)
{
    static const struct {
        const char *name;
        enum hm_cluster_key key;
    } keys[] = {{"max_nodes", HM_CLUSTER_MAX_NODES},   {"price", HM_CLUSTER_PRICE},
                {"fabric", HM_CLUSTER_FABRIC},         {"efficiency", HM_CLUSTER_EFFICIENCY},
                {"stragglers", HM_CLUSTER_STRAGGLERS}, {"accelerators", HM_CLUSTER_ACCELERATORS}};
    unsigned given = 0;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (hm__value_get(map, keys[i].name))
            given |= (unsigned)keys[i].key;
    return given;
}

int hm__read_cluster(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_cluster *cluster)
{
    hm__cluster_init(cluster);
    if (value->kind == HM_VALUE_SCALAR)
        return read_base(reader, value, cluster);
    if (value->kind == HM_VALUE_LIST || hm__value_get(value, "kinds"))
        return hm__read_kinds(reader, value, cluster);
    int rc = hm__expect_kind(reader, value, HM_VALUE_MAP, "the name of a machine or its keys");
    if (rc == 0 && hm__value_get(value, "shares"))
        return hm__reader_fail(reader, hm__value_get(value, "shares"), HM_E_CONFLICT,
                               "shares applies only to a cluster with kinds");
    const struct hm_value *machine = hm__value_get(value, "machine");
    if (rc == 0 && machine) {
        size_t mark = hm__reader_enter(reader, "machine");
        rc = read_base(reader, machine, cluster);
        hm__reader_leave(reader, mark);
        if (hm__value_get(value, "fabric") && !(cluster->fabric.bandwidth_bytes_per_s > 0))
            cluster->max_nodes = NAN;
    }
    if (rc == 0)
        rc = read_card(reader, value, cluster);
    if (rc == 0)
        rc = hm__read_map(reader, value, cluster_fields, CLUSTER_FIELDS, cluster);
    if (rc == 0)
        cluster->given = given_keys(value);
    /*
     * If a job specifies a rate, this rate determines the times, instead of a model of the
     * accelerator.
     */
    if ((hm__value_get(value, "flops") || hm__value_get(value, "efficiency")) &&
        !hm__value_get(value, "processors"))
        cluster->node.processors = NAN;
    if ((hm__value_get(value, "flops") || hm__value_get(value, "efficiency")) &&
        !hm__value_get(value, "cores"))
        cluster->node.cores = NAN;
    if (rc == 0)
        rc = read_parts(reader, value, cluster);
    limit_alone(value, cluster);
    return rc;
}

int hm__cluster_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                     struct hm_cluster **ret_cluster, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_cluster *cluster = arena ? hm__arena_alloc(arena, 1, sizeof(*cluster)) : NULL;
    struct hm_reader reader = {
        .arena = arena, .catalog = catalog, .err = err, .closed = spec->closed};
    struct hm_spec cluster_spec = *spec;
    struct hm_value *root;
    bool old = false;
    int rc = cluster ? 0 : hm__fail_nomem(err);

    cluster_spec.is_cluster = true;
    if (rc == 0)
        rc = hm__read_tree(arena, &cluster_spec, &root, &old, err);
    if (rc == 0)
        rc = hm__read_cluster(&reader, root, cluster);
    hm__reader_release(&reader);
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    cluster->memory = arena;
    cluster->note = old ? HM_OLD_FABRIC : NULL;
    *ret_cluster = cluster;
    return 0;
}

int hm_cluster_parse(const struct hm_catalog *catalog, const char *text, size_t length,
                     const char *source, const struct hm_override *overrides, size_t count,
                     struct hm_cluster **ret_cluster, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_cluster", ret_cluster, NULL);
    if (bad == 0)
        bad = hm__check_array(text, length, "text", err);
    if (bad == 0)
        bad = hm__check_array(overrides, count, "overrides", err);
    if (bad)
        return bad;
    const struct hm_spec spec = {.text = text,
                                 .length = length,
                                 .source = source,
                                 .overrides = overrides,
                                 .override_count = count};

    return hm__cluster_read(catalog, &spec, ret_cluster, err);
}
