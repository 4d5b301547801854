/*
 * Reads a job: the work of one iteration (formulas, a network, a graph or a mixture), how it
 * scales, the number of iterations, and the cluster. docs/reference/job.md describes the keys.
 */
#include <stddef.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "names.h"
#include "read_large_job.h"
#include "readers.h"
#include "symbols.h"
#include "text.h"

#define AT(member) offsetof(struct hm_job, member)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const optimizers[] = {"sgd", "momentum", "adam", "adamw", NULL};
static const char *const overlaps[] = {"none", "norm", "layers", "buckets", "auto", NULL};

static const struct hm_field job_fields[] = {
    {.name = "name", .kind = HM_FIELD_TEXT, .offset = AT(name), .doc = "name of the job"},
    {.name = "description", .kind = HM_FIELD_TEXT, .offset = AT(description)},
    {.name = "where", .kind = HM_FIELD_OTHER, .doc = "named quantities for the formulas"},
    {.name = "compute", .kind = HM_FIELD_OTHER, .doc = "seconds of computing, a formula over n"},
    {.name = "communicate", .kind = HM_FIELD_OTHER, .doc = "a formula, or a list of steps"},
    {.name = "memory", .kind = HM_FIELD_OTHER, .doc = "bytes one worker needs, a formula"},
    {.name = "network", .kind = HM_FIELD_OTHER, .doc = "the network to train"},
    {.name = "graph", .kind = HM_FIELD_OTHER, .doc = "the graph to pass messages on"},
    {.name = "batch",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(batch),
     .min = 1,
     .max = 1e15,
     .whole = true,
     .doc = "samples of an iteration: of all workers, or of each with weak scaling"},
    {.name = "micro_batch",
     .kind = HM_FIELD_OTHER,
     .doc = "samples of one forward pass of a worker, or auto: as many as fit in memory"},
    {.name = "dataflow",
     .kind = HM_FIELD_OTHER,
     .doc = "partitions and tasks of a platform with a driver"},
    {.name = "scaling",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(scaling),
     .choices = hm__scaling_names},
    {.name = "reference",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(reference),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "the n that speedups are relative to"},
    {.name = "iterations",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(iterations),
     .min = 1,
     .max = 1e15,
     .whole = true},
    {.name = "epochs",
     .kind = HM_FIELD_OTHER,
     .doc = "passes over the data set, or BATCH: EPOCHS for each batch that was measured"},
    {.name = "critical_batch",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(critical_batch),
     .above = true,
     .max = 1e15,
     .doc = "batch that needs twice the epochs of a small batch"},
    {.name = "dataset",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(dataset),
     .min = 1,
     .max = 1e15,
     .whole = true,
     .doc = "samples in the data set"},
    {.name = "tokens",
     .kind = HM_FIELD_OTHER,
     .doc = "tokens of the whole job, such as 300B, for a network whose samples are sequences"},
    {.name = "precision",
     .kind = HM_FIELD_OTHER,
     .doc = "fp64, fp32, tf32, bf16, fp16 or fp8, or the bits of a parameter"},
    {.name = "weights", .kind = HM_FIELD_OTHER, .doc = "format that parameters are kept in"},
    {.name = "software",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(software),
     .choices = hm__software_names,
     .doc = "how the framework runs a step: eager, compiled or tuned"},
    {.name = "channels_last",
     .kind = HM_FIELD_BOOL,
     .offset = AT(channels_last),
     .doc = "images are stored position by position (NHWC), as PyTorch's channels_last"},
    {.name = "framework",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(framework),
     .choices = hm__framework_names,
     .doc = "framework whose costs are added: none, spark, tensorflow, mxnet or pmls"},
    {.name = "input",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(input),
     .choices = hm__input_names,
     .doc = "form of the samples: memory, or text that the framework converts"},
    {.name = "bucket",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(bucket_bytes),
     .dim = {0, 1, 0, 0},
     .above = true,
     .max = 1e15,
     .doc = "bytes of gradients that are sent together, such as 25 MB"},
    {.name = "optimizer", .kind = HM_FIELD_CHOICE, .offset = AT(optimizer), .choices = optimizers},
    {.name = "overlap", .kind = HM_FIELD_OTHER, .doc = "none, layers, buckets, or {norm: p}"},
    {.name = "cluster", .kind = HM_FIELD_OTHER, .doc = "the name of a machine, or its keys"},
    {.name = "measured", .kind = HM_FIELD_OTHER, .doc = "published speedups by n"},
    {.name = "expect", .kind = HM_FIELD_OTHER, .doc = "figures that must be reproduced"},
};

const struct hm_field *hm__job_fields(size_t *count)
{
    *count = COUNT(job_fields);
    return job_fields;
}

struct job_reader {
    struct hm_reader base;
    struct hm_job *job;
    struct hm_scope scope;
};

static void release_formula(void *formula)
{
    hm__formula_free(formula);
}

static int read_formula(struct job_reader *r, const struct hm_value *value, struct hm_dim dim,
                        struct hm_formula **ret_formula)
{
    struct hm_formula *formula;
    int rc = hm__expect_kind(&r->base, value, HM_VALUE_SCALAR, "a formula");

    if (rc)
        return rc;
    rc = hm__formula_new(value->text, &r->scope, dim, &formula, r->base.err);
    if (rc)
        return hm__reader_place(&r->base, value, rc);
    rc = hm__arena_own(r->base.arena, formula, release_formula);
    if (rc) {
        hm__formula_free(formula);
        return hm__fail_nomem(r->base.err);
    }
    *ret_formula = formula;
    return 0;
}

/* Returns the line of a value in the job file, for later messages; 0 if an override set the
 * value. */
static int line_in_file(const struct hm_value *value)
{
    return strcmp(value->source, "set") == 0 ? 0 : value->line;
}

/* Reads `where`, the definitions that all formulas can use. Unused definitions are also checked. */
static int read_where(struct job_reader *r, const struct hm_value *where)
{
    int rc = hm__expect_kind(&r->base, where, HM_VALUE_MAP, "names and their values");

    if (rc)
        return rc;
    struct hm_definition *definitions =
        hm__arena_alloc(r->base.arena, where->count, sizeof(*definitions));
    if (!definitions)
        return hm__fail_nomem(r->base.err);
    for (size_t i = 0; i < where->count; i++) {
        const struct hm_value *value = &where->items[i];
        size_t mark = hm__reader_enter(&r->base, where->keys[i]);
        if (!hm__formula_is_name(where->keys[i]) || strcmp(where->keys[i], "n") == 0) {
            hm__reader_fail(&r->base, value, HM_E_NAME, "'%.60s' cannot be a name", where->keys[i]);
            hm__err_hint(r->base.err,
                         "a name has letters, digits and _; n is the number of workers");
            return HM_E_NAME;
        }
        if ((rc = hm__expect_kind(&r->base, value, HM_VALUE_SCALAR, "a number or a formula")))
            return rc;
        definitions[i] = (struct hm_definition){where->keys[i], value->text, value->line};
        hm__reader_leave(&r->base, mark);
    }
    r->scope.source = where->source;
    r->scope.definitions = definitions;
    r->scope.definition_count = where->count;
    return hm__scope_check(&r->scope, r->base.err);
}

static int read_step_map(struct job_reader *r, const struct hm_value *value,
                         struct hm_transfer *transfer)
{
    static const char *const schemes[] = {
#define HM_SCHEME_CHOICE(name, text, allreduce) text,
        HM_SCHEME_MAP(HM_SCHEME_CHOICE)
#undef HM_SCHEME_CHOICE
            "best",
        NULL};
    static const struct hm_field fields[] = {
        {.name = "what",
         .kind = HM_FIELD_CHOICE,
         .offset = offsetof(struct hm_transfer, what),
         .choices = hm__payload_names,
         .doc = "parameters, gradients or vertices"},
        {.name = "bytes", .kind = HM_FIELD_OTHER, .doc = "size of the message, a formula"},
        {.name = "scheme",
         .kind = HM_FIELD_CHOICE,
         .offset = offsetof(struct hm_transfer, scheme),
         .choices = schemes,
         .doc = "how it moves, such as ring"},
        {.name = "servers",
         .kind = HM_FIELD_QUANTITY,
         .min = 1,
         .max = 1e6,
         .whole = true,
         .offset = offsetof(struct hm_transfer, servers)},
        {.name = "times",
         .kind = HM_FIELD_QUANTITY,
         .above = true,
         .max = 1e9,
         .offset = offsetof(struct hm_transfer, times)},
        {.name = "time", .kind = HM_FIELD_OTHER, .doc = "the seconds themselves, a formula"},
    };
    const struct hm_value *bytes = hm__value_get(value, "bytes");
    const struct hm_value *time = hm__value_get(value, "time");
    const struct hm_value *what = hm__value_get(value, "what");
    int rc = hm__read_map(&r->base, value, fields, COUNT(fields), transfer);

    if (rc)
        return rc;
    if ((bytes != NULL) + (time != NULL) + (what != NULL) != 1) {
        hm__reader_fail(&r->base, value, HM_E_CONFLICT, "one of what, bytes and time is needed");
        hm__err_hint(r->base.err, "write what: gradients, or bytes: a formula, or time: a formula");
        return HM_E_CONFLICT;
    }
    if (!time && !hm__value_get(value, "scheme")) {
        hm__reader_fail(&r->base, value, HM_E_MISSING, "'scheme' is missing");
        hm__err_hint(r->base.err, "scheme: how it moves, such as ring, or best");
        return HM_E_MISSING;
    }
    if (bytes) {
        size_t mark = hm__reader_enter(&r->base, "bytes");
        transfer->what = HM_PAYLOAD_BYTES;
        rc = read_formula(r, bytes, HM_DIM_BYTES, &transfer->bytes);
        hm__reader_leave(&r->base, mark);
    }
    if (time) {
        size_t mark = hm__reader_enter(&r->base, "time");
        rc = read_formula(r, time, HM_DIM_TIME, &transfer->time);
        hm__reader_leave(&r->base, mark);
    }
    return rc;
}

/* Reads `communicate`: a formula, "none", one step, or a list of steps. */
static int read_communicate(struct job_reader *r, const struct hm_value *value)
{
    struct hm_job *job = r->job;
    bool list = value->kind == HM_VALUE_LIST;
    size_t count = list ? value->count : 1;
    int rc = 0;

    if (value->kind == HM_VALUE_SCALAR && strcmp(value->text, "none") == 0)
        return 0;
    job->communicate = hm__arena_alloc(r->base.arena, count, sizeof(*job->communicate));
    if (!job->communicate)
        return hm__fail_nomem(r->base.err);
    job->communicate_count = count;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct hm_value *step = list ? &value->items[i] : value;
        struct hm_transfer *transfer = &job->communicate[i];
        *transfer = (struct hm_transfer){.servers = 1, .times = 1, .line = line_in_file(step)};
        size_t mark = list ? hm__reader_enter_index(&r->base, i) : strlen(r->base.path);
        if (step->kind == HM_VALUE_SCALAR)
            rc = read_formula(r, step, HM_DIM_TIME, &transfer->time);
        else
            rc = read_step_map(r, step, transfer);
        hm__reader_leave(&r->base, mark);
    }
    return rc;
}

/* Reads `overlap`: a word, or {norm: p}. */
static int read_overlap(struct job_reader *r, const struct hm_value *value)
{
    static const struct hm_field word = {
        .kind = HM_FIELD_CHOICE, .offset = AT(overlap), .choices = overlaps};
    static const struct hm_field norm = {.name = "norm",
                                         .kind = HM_FIELD_QUANTITY,
                                         .min = 1,
                                         .max = 1e6,
                                         .offset = AT(overlap_p),
                                         .required = true,
                                         .doc = "1 is no overlap, large is full overlap"};
    int rc;

    if (value->kind == HM_VALUE_MAP) {
        r->job->overlap = HM_OVERLAP_NORM;
        return hm__read_map(&r->base, value, &norm, 1, r->job);
    }
    if ((rc = hm__read_field(&r->base, value, &word, r->job)))
        return rc;
    if (r->job->overlap == HM_OVERLAP_NORM) {
        hm__reader_fail(&r->base, value, HM_E_MISSING, "norm needs its p");
        hm__err_hint(r->base.err, "write overlap: {norm: 2}");
        return HM_E_MISSING;
    }
    return 0;
}

static int read_job_epochs(struct job_reader *r, const struct hm_value *value)
{
    return hm__read_epochs(&r->base, value, r->job);
}

/* Reads `micro_batch`: a whole number, or the word "auto". */
static int read_micro_batch(struct job_reader *r, const struct hm_value *value)
{
    static const struct hm_field number = {.name = "micro_batch",
                                           .kind = HM_FIELD_QUANTITY,
                                           .offset = AT(micro_batch),
                                           .min = 1,
                                           .max = 1e15,
                                           .whole = true};

    if (value->kind == HM_VALUE_SCALAR && strcmp(value->text, "auto") == 0)
        return 0;
    return hm__read_field(&r->base, value, &number, r->job);
}

static int read_speedups(struct job_reader *r, const struct hm_value *map)
{
    static const struct hm_field size = {.kind = HM_FIELD_QUANTITY, .above = true};
    struct hm_job *job = r->job;
    int rc = hm__expect_kind(&r->base, map, HM_VALUE_MAP, "n: speedup, for each n");

    if (rc)
        return rc;
    job->measured = hm__arena_alloc(r->base.arena, map->count, sizeof(*job->measured));
    if (!job->measured)
        return hm__fail_nomem(r->base.err);
    for (size_t i = 0; rc == 0 && i < map->count; i++) {
        size_t mark = hm__reader_enter(&r->base, map->keys[i]);
        struct hm_value key = map->items[i];
        key.kind = HM_VALUE_SCALAR;
        key.text = map->keys[i];
        rc = hm__read_field(&r->base, &key, &size, &job->measured[i].n);
        if (rc == 0)
            rc = hm__read_field(&r->base, &map->items[i], &size, &job->measured[i].speedup);
        hm__reader_leave(&r->base, mark);
        job->measured_count = i + 1;
    }
    return rc;
}

static int read_measured(struct job_reader *r, const struct hm_value *value)
{
    static const struct hm_field fields[] = {
        {.name = "source", .kind = HM_FIELD_TEXT, .offset = AT(measured_source)},
        {.name = "speedup", .kind = HM_FIELD_OTHER, .required = true, .doc = "n: speedup"},
    };
    int rc = hm__read_map(&r->base, value, fields, COUNT(fields), r->job);

    if (rc)
        return rc;
    size_t mark = hm__reader_enter(&r->base, "speedup");
    rc = read_speedups(r, hm__value_get(value, "speedup"));
    hm__reader_leave(&r->base, mark);
    return rc;
}

static int read_expect(struct job_reader *r, const struct hm_value *list)
{
    static const char *const whats[] = {"time",        "speedup",
                                        "best_n",      "best_speedup",
                                        "mape",        "mape_without_reference",
                                        "mape_random", "mape_random_spread",
                                        NULL};
    static const struct hm_field fields[] = {
        {.name = "what", .kind = HM_FIELD_OTHER, .required = true, .doc = "time, speedup, mape…"},
        {.name = "n", .kind = HM_FIELD_QUANTITY, .offset = offsetof(struct hm_expect, n), .min = 1},
        {.name = "value",
         .kind = HM_FIELD_QUANTITY,
         .offset = offsetof(struct hm_expect, value),
         .required = true,
         .doc = "the published figure"},
        {.name = "digits",
         .kind = HM_FIELD_QUANTITY,
         .offset = offsetof(struct hm_expect, digits),
         .min = 1,
         .max = 15,
         .whole = true},
        {.name = "within",
         .kind = HM_FIELD_QUANTITY,
         .offset = offsetof(struct hm_expect, within),
         .above = true},
    };
    static const struct hm_field what = {.kind = HM_FIELD_CHOICE, .choices = whats};
    struct hm_job *job = r->job;
    int rc = hm__expect_kind(&r->base, list, HM_VALUE_LIST, "a list of figures"), index;

    if (rc)
        return rc;
    job->expect = hm__arena_alloc(r->base.arena, list->count, sizeof(*job->expect));
    if (!job->expect)
        return hm__fail_nomem(r->base.err);
    job->expect_count = list->count;
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        size_t mark = hm__reader_enter_index(&r->base, i);
        job->expect[i].digits = 6;
        rc = hm__read_map(&r->base, &list->items[i], fields, COUNT(fields), &job->expect[i]);
        hm__reader_enter(&r->base, "what");
        if (rc == 0)
            rc = hm__read_field(&r->base, hm__value_get(&list->items[i], "what"), &what, &index);
        if (rc == 0)
            job->expect[i].what = whats[index];
        hm__reader_leave(&r->base, mark);
    }
    return rc;
}

static int read_compute(struct job_reader *r, const struct hm_value *value)
{
    r->job->compute_line = line_in_file(value);
    return read_formula(r, value, HM_DIM_TIME, &r->job->compute);
}

static int read_memory(struct job_reader *r, const struct hm_value *value)
{
    r->job->memory_line = line_in_file(value);
    return read_formula(r, value, HM_DIM_BYTES, &r->job->memory_needed);
}

static int read_job_network(struct job_reader *r, const struct hm_value *value)
{
    r->job->network = hm__arena_alloc(r->base.arena, 1, sizeof(*r->job->network));
    if (!r->job->network)
        return hm__fail_nomem(r->base.err);
    return hm__read_network(&r->base, value, r->job->network);
}

static int read_graph(struct job_reader *r, const struct hm_value *value)
{
    const struct hm_value *per_edge = hm__value_get(value, "per_edge");
    int rc = hm__read_graph(&r->base, value, r->job);

    if (rc || !per_edge)
        return rc;
    size_t mark = hm__reader_enter(&r->base, "per_edge");
    rc = read_formula(r, per_edge, HM_DIM_FLOP, &r->job->per_edge);
    hm__reader_leave(&r->base, mark);
    return rc;
}

static int read_job_cluster(struct job_reader *r, const struct hm_value *value)
{
    r->job->has_cluster = true;
    return hm__read_cluster(&r->base, value, &r->job->cluster);
}

static int read_job_dataflow(struct job_reader *r, const struct hm_value *value)
{
    return hm__read_dataflow(&r->base, value, r->job);
}

static int read_job_precision(struct job_reader *r, const struct hm_value *value)
{
    return hm__read_precision(&r->base, value, r->job);
}

static int read_job_weights(struct job_reader *r, const struct hm_value *value)
{
    return hm__read_weights(&r->base, value, r->job);
}

/* Sets the number of samples in the whole job from a number of tokens. */
static int read_job_tokens(struct job_reader *r, const struct hm_value *value)
{
    const struct hm_network *network = r->job->network;
    const bool sequences = network && network->input.kind == HM_SHAPE_SEQUENCE;
    enum hm_amount_unit unit;
    double tokens;
    int rc = hm__read_amount(&r->base, value, "300B tokens", &tokens, &unit);

    if (rc)
        return rc;
    if (!sequences || unit == HM_AMOUNT_SEQUENCES || hm__is_given(r->job->iterations) ||
        hm__is_given(r->job->epochs)) {
        hm__reader_fail(&r->base, value, HM_E_CONFLICT, "%s",
                        !sequences ? "the samples of the job are not sequences of tokens"
                        : unit == HM_AMOUNT_SEQUENCES
                            ? "this counts tokens, not sequences"
                            : "tokens, iterations and epochs are not given alone");
        hm__err_hint(r->base.err, sequences ? "give one of them" : "give epochs and dataset");
        return HM_E_CONFLICT;
    }
    r->job->dataset = ceil(tokens / network->input.height);
    r->job->epochs = 1;
    return 0;
}

/* Reads the keys that need their own reading function, such as `network`. `where` is read first,
 * because formulas use its names. */
static int read_parts(struct job_reader *r, const struct hm_value *root)
{
    static const struct {
        const char *key;
        int (*read)(struct job_reader *, const struct hm_value *);
    } parts[] = {{"where", read_where},
                 {"compute", read_compute},
                 {"memory", read_memory},
                 {"communicate", read_communicate},
                 {"network", read_job_network},
                 {"epochs", read_job_epochs},
                 {"tokens", read_job_tokens},
                 {"graph", read_graph},
                 {"overlap", read_overlap},
                 {"cluster", read_job_cluster},
                 {"measured", read_measured},
                 {"expect", read_expect},
                 {"micro_batch", read_micro_batch},
                 {"dataflow", read_job_dataflow},
                 {"precision", read_job_precision},
                 {"weights", read_job_weights}};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT(parts); i++) {
        const struct hm_value *value = hm__value_get(root, parts[i].key);
        if (!value)
            continue;
        size_t mark = hm__reader_enter(&r->base, parts[i].key);
        rc = parts[i].read(r, value);
        hm__reader_leave(&r->base, mark);
    }
    return rc;
}

static int fail_missing(struct job_reader *r, const struct hm_value *root, const char *field,
                        const char *message, const char *hint)
{
    hm__reader_enter(&r->base, field);
    hm__reader_fail(&r->base, root, HM_E_MISSING, "%s", message);
    hm__err_hint(r->base.err, "%s", hint);
    hm__reader_leave(&r->base, 0);
    return HM_E_MISSING;
}

/* Reports an error at the line of a field that the job contains. */
static int fail_conflict(struct job_reader *r, const struct hm_value *root, const char *field,
                         int code, const char *message, const char *hint)
{
    hm__reader_enter(&r->base, field);
    hm__reader_fail(&r->base, hm__value_get(root, field), code, "%s", message);
    hm__err_hint(r->base.err, "%s", hint);
    hm__reader_leave(&r->base, 0);
    return code;
}

/* Checks that the keys of the job are compatible. */
static int check_job(struct job_reader *r, const struct hm_value *root)
{
    struct hm_job *job = r->job;

    if (!job->compute && !job->network && !job->graph)
        return fail_missing(r, root, "compute", "the work of an iteration is not given",
                            "give compute: a formula over n, network: a name or layers, or graph:");
    if (job->graph && job->batch > 0)
        return fail_conflict(r, root, "batch", HM_E_CONFLICT, "batch and graph are both given",
                             "an iteration processes all edges of a graph: leave batch out");
    if (job->graph && (job->network || job->compute))
        return fail_conflict(r, root, "graph", HM_E_CONFLICT,
                             "graph is given together with network or compute",
                             "keep one of them: a graph determines the compute time");
    if (job->network && !job->compute && !(job->batch > 0))
        return fail_missing(r, root, "batch", "'batch' is missing",
                            "batch: the samples of one iteration, such as 256");
    if (job->network && !job->compute && job->network->layer_count == 0 &&
        !(job->network->forward_flop > 0))
        return fail_missing(r, root, "network.forward", "'forward' is missing",
                            "forward: flop of one sample forward, such as 24 Mflop");
    if (job->epochs > 0 && (!(job->dataset > 0) || !(job->batch > 0)))
        return fail_missing(r, root, !(job->dataset > 0) ? "dataset" : "batch",
                            "epochs need dataset and batch", "dataset: samples in the data set");
    if (job->epochs > 0 && job->iterations > 0)
        return fail_conflict(r, root, "epochs", HM_E_CONFLICT,
                             "both epochs and iterations are given", "keep one of them");
    if (job->overlap == HM_OVERLAP_LAYERS && (!job->network || job->network->layer_count == 0))
        return fail_missing(r, root, "network", "overlap: layers needs a network with layers",
                            "use overlap: {norm: 2} where only totals are known");
    if (job->overlap == HM_OVERLAP_LAYERS && job->compute)
        return fail_conflict(r, root, "overlap", HM_E_CONFLICT,
                             "layers needs the times of layers, but compute is a formula",
                             "use overlap: {norm: 2}, or leave compute out");
    for (size_t i = 0; i < job->communicate_count; i++) {
        const struct hm_transfer *t = &job->communicate[i];
        if (t->time || t->bytes)
            continue;
        if (t->what == HM_PAYLOAD_VERTICES && !job->graph)
            return fail_missing(r, root, "graph", "vertices need a graph",
                                "give bytes: a formula, or graph:");
        if (t->what != HM_PAYLOAD_VERTICES && !job->network)
            return fail_missing(r, root, "network", "parameters and gradients need a network",
                                "give bytes: a formula, or network:");
    }
    if (hm__value_get(root, "communicate"))
        return 0;
    if (!job->network)
        return fail_missing(r, root, "communicate", "'communicate' is missing",
                            "a formula over n in seconds, or none");
    return hm__job_assume_allreduce(job, r->base.err);
}

/* Returns an assignment, with the key `network` of a cluster replaced by its new name `fabric`. */
static const char *renamed_path(struct hm_arena *arena, bool is_cluster, const char *assignment)
{
    const char *old_path = is_cluster ? "network" : "cluster.network";
    size_t length = strlen(old_path);

    if (strncmp(assignment, old_path, length) != 0 ||
        (assignment[length] != '.' && assignment[length] != '='))
        return assignment;
    return hm__arena_printf(arena, "%sfabric%s", is_cluster ? "" : "cluster.", assignment + length);
}

int hm__read_tree(struct hm_arena *arena, const struct hm_spec *spec, struct hm_value **ret_root,
                  bool *ret_old, struct hm_err *err)
{
    struct hm_value *root = spec->tree;
    const char *source = spec->source;
    int rc = root ? 0 : hm__value_parse(arena, spec->text, spec->length, source, &root, err);

    if (rc == 0 && root->kind == HM_VALUE_NULL) {
        hm__fail(err, HM_E_MISSING, "the file is empty");
        hm__err_at(err, source, 0);
        return HM_E_MISSING;
    }
    if (rc == 0 && root->kind == HM_VALUE_LIST && !spec->is_cluster) {
        hm__fail(err, HM_E_TYPE, "a list is not allowed here");
        hm__err_hint(err, "write keys and values");
        hm__err_at(err, source, root->line);
        return HM_E_TYPE;
    }
    if (rc == 0 && spec->override_count > 0 && root->kind == HM_VALUE_SCALAR &&
        strchr(root->text, ' ')) {
        hm__fail(err, HM_E_TYPE, "'%.60s' is neither keys and values nor a name", root->text);
        hm__err_at(err, source, root->line);
        return HM_E_TYPE;
    }
    if (rc == 0)
        *ret_old = hm__value_rename(spec->is_cluster ? root : hm__value_get(root, "cluster"),
                                    "network", "fabric");
    for (size_t i = 0; rc == 0 && i < spec->override_count; i++) {
        const char *given = spec->overrides[i].text;
        const char *text = renamed_path(arena, spec->is_cluster, given);
        rc = text ? hm__value_override(arena, root, text, err) : hm__fail_nomem(err);
        *ret_old |= text != given;
        if (rc == 0 && !spec->is_cluster) /* An override may replace the whole cluster. */
            *ret_old |= hm__value_rename(hm__value_get(root, "cluster"), "network", "fabric");
    }
    if (rc == 0)
        *ret_root = root;
    return rc;
}

/* If runs provide the times, keys about computation and communication may be missing. Each
 * iteration is then assumed to take one second, which the fit replaces. */
static int assume_timed(struct hm_arena *arena, struct hm_value *root, struct hm_err *err)
{
    int rc = 0;

    if (!hm__value_get(root, "compute") && !hm__value_get(root, "network") &&
        !hm__value_get(root, "graph"))
        rc = hm__value_override(arena, root, "compute=1 s", err);
    if (rc == 0 && !hm__value_get(root, "communicate") && !hm__value_get(root, "network"))
        rc = hm__value_override(arena, root, "communicate=none", err);
    return rc;
}

static int read_ordinary(struct job_reader *r, const struct hm_value *root)
{
    /* A job for an unknown transformer has keys that ordinary jobs do not have; the error must name
     * the unknown transformer. */
    const bool transformer = hm__value_get(root, "sequence") || hm__value_get(root, "parallel");
    int rc = transformer ? hm__check_network_name(&r->base, hm__value_get(root, "network")) : 0;

    if (rc == 0)
        rc = hm__read_map(&r->base, root, job_fields, COUNT(job_fields), r->job);
    if (rc == 0 && r->job->optimizer > HM_OPTIMIZER_ADAM)
        r->job->optimizer = HM_OPTIMIZER_ADAM; /* "adamw" costs the same as "adam". */
    if (rc == 0)
        rc = read_parts(r, root);
    return rc ? rc : check_job(r, root);
}

/* Reads a job that trains a transformer; it shares only the cluster with ordinary jobs. */
static int read_large(struct job_reader *r, const struct hm_value *root)
{
    const struct hm_value *cluster = hm__value_get(root, "cluster");
    int rc = hm__read_large_job(&r->base, root, r->job);

    if (rc == 0 && cluster) {
        size_t mark = hm__reader_enter(&r->base, "cluster");
        rc = read_job_cluster(r, cluster);
        if (rc == 0 && r->job->cluster.kind_count > 0)
            rc = hm__reader_fail(&r->base, cluster, HM_E_CONFLICT,
                                 "a transformer is planned on machines of one kind");
        hm__reader_leave(&r->base, mark);
    }
    return rc;
}

int hm__job_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                 struct hm_job **ret_job, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct job_reader r = {.base = {.catalog = catalog, .err = err, .closed = spec->closed}};
    struct hm_value *root;
    size_t operations = HM_OPERATIONS_MAX;
    bool old = false;
    int rc = 0;

    r.base.arena = arena;
    r.job = arena ? hm__arena_alloc(arena, 1, sizeof(*r.job)) : NULL;
    if (!r.job) {
        hm__arena_free(arena);
        return hm__fail_nomem(err);
    }
    hm__job_init(r.job, arena);
    r.scope = (struct hm_scope){
        .symbols = hm__job_symbols, .symbol_count = HM_SYMBOL_COUNT, .left = &operations};
    rc = hm__read_tree(arena, spec, &root, &old, err);
    if (rc == 0 && spec->timed)
        rc = assume_timed(arena, root, err);
    if (rc == 0)
        rc = hm__read_network_file(&r.base, root);
    if (rc == 0)
        rc = hm__is_large_job(&r.base, root) ? read_large(&r, root) : read_ordinary(&r, root);
    if (rc == 0 && old)
        r.job->cluster.note = HM_OLD_FABRIC;
    if (rc == 0 && spec->source && !(r.job->source = hm__arena_strdup(arena, spec->source)))
        rc = hm__fail_nomem(err);
    hm__reader_release(&r.base);
    if (rc == 0)
        *ret_job = r.job;
    else
        hm__arena_free(arena);
    return rc;
}

int hm_job_parse_with(const struct hm_catalog *catalog, const char *text, size_t length,
                      const char *source, const struct hm_override *overrides, size_t count,
                      struct hm_job **ret_job, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "ret_job", ret_job, NULL);
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

    return hm__job_read(catalog, &spec, ret_job, err);
}

int hm_job_parse(const char *text, size_t length, const char *source,
                 const struct hm_override *overrides, size_t count, struct hm_job **ret_job,
                 struct hm_err *err)
{
    return hm_job_parse_with(NULL, text, length, source, overrides, count, ret_job, err);
}

int hm_job_load(const char *path, const struct hm_override *overrides, size_t count,
                struct hm_job **ret_job, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "path", path, "ret_job", ret_job, NULL);
    if (bad == 0)
        bad = hm__check_array(overrides, count, "overrides", err);
    if (bad)
        return bad;
    char *text;
    size_t length;
    int rc = hm__read_file(path, &text, &length, err);

    if (rc)
        return rc;
    rc = hm_job_parse_with(NULL, text, length, path, overrides, count, ret_job, err);
    hm_text_free(text);
    return rc;
}
