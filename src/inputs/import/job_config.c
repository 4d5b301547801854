/*
 * Reads configurations of launchers: DeepSpeed (JSON) and accelerate (YAML). A value may be "auto",
 * which means that the launcher decides; such a value is reported as "auto". The batch is
 * micro-batch x accumulation x n, so n is known if the file states the other three numbers. The job
 * has no network, because these files do not name one; the user must specify it. Two files in the
 * same folder are also read: the configuration of DeepSpeed that a configuration of accelerate
 * names, and a hostfile.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "whole.h"

/* ---- the job ----------------------------------------------------------------------------------
 */

/*
 * The properties of a job that are found in a configuration. Unknown numbers are NaN, and unknown
 * strings are NULL.
 */
struct job_config {
    /*
     * Number of samples in one iteration of the whole job, and number of samples in one forward
     * pass of a worker.
     */
    double batch, micro;
    double workers;          /* Number of workers that follows from the batch. */
    double zero;             /* Stage of ZeRO (sharding of the training state), 0 to 3. */
    double tensor, pipeline; /* Degrees of tensor and pipeline parallelism. */
    /*
     * True if the training state is sharded over the workers of a node and every node has a
     * complete copy (hybrid sharding).
     */
    bool within_node;
    /*
     * Training state that is offloaded to host memory: "optimizer" or "all"; NULL if there is none.
     */
    const char *offload;
    const char *recompute;         /* Kind of recomputation of activations, such as "full". */
    const char *precision;         /* Number format of the training, such as "bf16". */
    const char *optimizer;         /* Name of the optimizer, as in PyTorch. */
    double accelerators, machines; /* Number of workers in a machine, and number of machines. */
};

/* Largest number of workers, samples or machines that is read. */
static const double COUNT_MOST = 999999999;

static bool is_count(double value)
{
    return value >= 1 && value == floor(value) && value <= COUNT_MOST;
}

static void add_degree(struct hm_text *map, const char *key, double value)
{
    if (value >= 0 && value == floor(value) && value <= COUNT_MOST)
        hm__text_addf(map, "%s%s: %.0f", map->length ? ", " : "", key, value);
}

static void add_word(struct hm_text *map, const char *key, const char *value)
{
    if (value)
        hm__text_addf(map, "%s%s: %s", map->length ? ", " : "", key, value);
}

/*
 * Writes a job with the batch, precision, optimizer, layout and cluster of the configuration, to
 * the extent that they are known.
 */
static void put_job(struct hm_imported *im, const struct job_config *c)
{
    struct hm_text *out = &im->document, map = {0};
    const char *name = c->optimizer ? c->optimizer : "";

    im->document_kind = "job";
    im->needs_network = true;
    if (is_count(c->batch))
        hm__text_addf(out, "batch: %.0f\n", c->batch);
    if (c->precision)
        hm__text_addf(out, "precision: %s\n", c->precision);
    if (strstr(name, "Adam"))
        hm__text_add(out, "optimizer: adam\n");
    else if (strcmp(name, "SGD") == 0)
        hm__text_add(out, "optimizer: sgd\n");
    add_degree(&map, "tensor", c->tensor);
    add_degree(&map, "pipeline", c->pipeline);
    add_degree(&map, "zero", c->zero <= 3 ? c->zero : NAN);
    add_degree(&map, "micro_batch", is_count(c->micro) ? c->micro : NAN);
    add_word(&map, "shard_within", c->within_node ? "node" : NULL);
    add_word(&map, "offload", c->offload);
    add_word(&map, "recompute", c->recompute);
    hm__text_addf(out, "parallel: {%s}\n", map.length ? map.data : "");
    if (is_count(c->accelerators) && is_count(c->machines))
        hm__text_addf(out, "cluster: {accelerators: %.0f, max_nodes: %.0f}\n", c->accelerators,
                      c->machines);
    im->failed |= map.failed;
    hm__text_release(&map);
}

/* ---- DeepSpeed --------------------------------------------------------------------------------
 */

/*
 * Returns the stage of ZeRO from DeepSpeed's key `zero_optimization`, whose value `true` means
 * stage 1; NaN if not given.
 */
static double zero_stage(struct hm_imported *im, const struct hm_value *root)
{
    const struct hm_value *zero = hm__value_get(root, "zero_optimization");
    const char *text = hm__value_text(zero);

    if (text)
        return strcmp(text, "true") == 0 ? 1 : strcmp(text, "false") == 0 ? 0 : NAN;
    return hm__whole_count(im, zero, "stage", 0, 3);
}

/*
 * Returns the device to which a part of the training state is offloaded, such as "cpu"; NULL if it
 * is not offloaded.
 */
static const char *offload_device(const struct hm_value *root, const char *path)
{
    const char *device = hm__value_text(hm__value_path(root, path));

    return device && strcmp(device, "none") != 0 ? device : NULL;
}

static void put_precisions(struct hm_imported *im, const struct hm_value *root)
{
    static const char *const names[] = {"fp16", "bf16"};

    hm__json_open(&im->facts, "precision_sections_on", HM_JSON_LIST);
    for (int i = 0; i < 2; i++) {
        const char *on = hm__value_text(hm__value_get(hm__value_get(root, names[i]), "enabled"));
        if (on && strcmp(on, "true") == 0)
            hm__json_put_text(&im->facts, NULL, names[i]);
    }
    hm__json_close(&im->facts);
}

static const char *const batch_keys[] = {"gradient_accumulation_steps", "gradient_clipping",
                                         "train_batch_size", "train_micro_batch_size_per_gpu"};

static void put_autos(struct hm_imported *im, const struct hm_value *root)
{
    hm__json_open(&im->facts, "auto_values", HM_JSON_LIST);
    for (int i = 0; i < 4; i++) {
        const char *text = hm__value_text(hm__value_get(root, batch_keys[i]));
        if (text && strcmp(text, "auto") == 0)
            hm__json_put_text(&im->facts, NULL, batch_keys[i]);
    }
    hm__json_close(&im->facts);
}

static bool is_on(const struct hm_value *root, const char *path)
{
    const char *text = hm__value_text(hm__value_path(root, path));

    return text && strcmp(text, "true") == 0;
}

/*
 * Reads the settings of DeepSpeed for n workers, where n is NaN if unknown. The cluster stays
 * unknown. The samples in an iteration are the number in the configuration, or micro-batch x
 * accumulation x n; if the number of accumulated micro-batches is not given, 1 is assumed.
 */
static struct job_config deepspeed_config(struct hm_imported *im, const struct hm_value *root,
                                          double n)
{
    double tensor =
        hm__whole_count(im, hm__value_get(root, "tensor_parallel"), "autotp_size", 0, COUNT_MOST);
    double batch = hm__whole_count(im, root, "train_batch_size", 1, COUNT_MOST);
    double micro = hm__whole_count(im, root, "train_micro_batch_size_per_gpu", 1, COUNT_MOST);
    double steps = hm__whole_count(im, root, "gradient_accumulation_steps", 1, COUNT_MOST);
    double workers = batch / (micro * steps);

    /* The workers follow only from steps that are given, but samples are counted with one. */
    if (!hm__value_get(root, "gradient_accumulation_steps"))
        steps = 1;
    return (struct job_config){
        .batch = isnan(batch) ? micro * steps * n : batch,
        .micro = micro,
        .workers = workers,
        .zero = zero_stage(im, root),
        .tensor = tensor > 1 ? tensor : 1,
        .pipeline = 1,
        .precision = is_on(root, "bf16.enabled")   ? "bf16"
                     : is_on(root, "fp16.enabled") ? "fp16"
                                                   : NULL,
        .optimizer = hm__value_text(hm__value_path(root, "optimizer.type")),
        .offload = offload_device(root, "zero_optimization.offload_param.device") ? "all"
                   : offload_device(root, "zero_optimization.offload_optimizer.device")
                       ? "optimizer"
                       : NULL,
        .accelerators = NAN,
        .machines = NAN,
    };
}

/*
 * Reads the machines from a `hostfile` in the same folder, as the launcher of DeepSpeed and mpirun
 * do: a line NAME slots=NUMBER for each machine. All machines must have the same number of slots.
 */
static void read_hostfile(struct hm_imported *im, struct job_config *c)
{
    const char *text = hm__sibling_text(im, "hostfile");
    double machines = 0, slots = NAN;

    for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
        size_t name, blank = strspn(text, " \t\r"), number = 0;
        double value = NAN;
        /*
         * strchr also finds the NUL at the end of the text, so an empty last line is also skipped.
         */
        if (strchr("#\n", text[blank]))
            continue;
        name = blank + strcspn(text + blank, " \t\r\n");
        name += strspn(text + name, " \t");
        if (strncmp(text + name, "slots=", 6) == 0)
            number = hm__number_read(text + name + 6, &value);
        if (number == 0 || !is_count(value) || (machines > 0 && value != slots)) {
            hm__import_left(im, NAN, "the hostfile: its machines are not all of one kind");
            return;
        }
        slots = value;
        machines++;
    }
    if (machines > 0) {
        c->machines = machines;
        c->accelerators = slots;
        hm__import_note(im, "the cluster is that of the hostfile in the same folder: %.0f x %.0f",
                        machines, slots);
    }
}

/* Reads the settings of DeepSpeed, and the cluster of a hostfile. */
static struct job_config deepspeed_job(struct hm_imported *im, const struct hm_value *root)
{
    struct job_config hosts = {.accelerators = NAN, .machines = NAN};
    double n = hm__import_given(im, "n");

    read_hostfile(im, &hosts);
    struct job_config c =
        deepspeed_config(im, root, isnan(n) ? hosts.machines * hosts.accelerators : n);
    c.accelerators = hosts.accelerators;
    c.machines = hosts.machines;
    return c;
}

static void deepspeed_facts(struct hm_imported *im, const struct hm_value *root)
{
    struct hm_json *j = &im->facts;
    const char *optimizer = hm__value_text(hm__value_path(root, "optimizer.type"));
    struct job_config c = deepspeed_job(im, root);

    hm__fact_value(im, "train_batch_size", hm__value_get(root, "train_batch_size"));
    hm__fact_value(im, "train_micro_batch_size_per_gpu",
                   hm__value_get(root, "train_micro_batch_size_per_gpu"));
    hm__fact_value(im, "gradient_accumulation_steps",
                   hm__value_get(root, "gradient_accumulation_steps"));
    hm__fact_value(im, "gradient_clipping", hm__value_get(root, "gradient_clipping"));
    hm__json_put_number(j, "zero_stage", c.zero);
    hm__json_put_text(j, "offload_optimizer",
                      offload_device(root, "zero_optimization.offload_optimizer.device"));
    hm__json_put_text(j, "offload_param",
                      offload_device(root, "zero_optimization.offload_param.device"));
    hm__fact_value(im, "overlap_comm", hm__value_path(root, "zero_optimization.overlap_comm"));
    hm__fact_value(im, "reduce_bucket_size",
                   hm__value_path(root, "zero_optimization.reduce_bucket_size"));
    hm__fact_value(im, "allgather_bucket_size",
                   hm__value_path(root, "zero_optimization.allgather_bucket_size"));
    put_precisions(im, root);
    hm__json_put_text(j, "optimizer", optimizer);
    put_autos(im, root);
    hm__fact_value(im, "wall_clock_breakdown", hm__value_get(root, "wall_clock_breakdown"));
    hm__json_put_number(j, "n", c.workers);
    hm__import_took(im, (double)root->count, "settings");
    put_job(im, &c);
}

static int deepspeed_read(struct hm_imported *im, struct hm_err *err)
{
    struct hm_value *root;
    int rc;

    hm__json_put_text(&im->facts, "format", "deepspeed config");
    rc = hm__whole_json(im, &root, err);
    if (rc == 0 && root && root->kind == HM_VALUE_MAP)
        deepspeed_facts(im, root);
    return rc;
}

static int deepspeed_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    if (*p != '{' || hm__find(head->text, head->length, "\"log_history\""))
        return 0;
    if (hm__find(head->text, head->length, "\"zero_optimization\"") ||
        hm__find(head->text, head->length, "\"train_micro_batch_size_per_gpu\""))
        return 90;
    return hm__find(head->text, head->length, "\"train_batch_size\"") ? 60 : 0;
}

const struct hm_importer hm__importer_deepspeed = {
    .name = "deepspeed",
    .title = "configuration of DeepSpeed",
    .becomes = "a job, with the cluster of a hostfile",
    .recognise = deepspeed_recognise,
    .read = deepspeed_read,
};

/* ---- accelerate -------------------------------------------------------------------------------
 */

/*
 * Returns the stage of ZeRO that a sharding strategy of FSDP corresponds to; NaN if unknown.
 * Version 2 of FSDP only says whether weights stay sharded between the forward and the backward
 * pass.
 */
static double fsdp_stage(struct hm_imported *im, const struct hm_value *root)
{
    static const struct {
        const char *strategy;
        double stage;
    } stages[] = {{"FULL_SHARD", 3},         {"1", 3}, {"SHARD_GRAD_OP", 2}, {"2", 2},
                  {"NO_SHARD", 0},           {"3", 0}, {"HYBRID_SHARD", 3},  {"4", 3},
                  {"HYBRID_SHARD_ZERO2", 2}, {"5", 2}};
    const char *strategy =
        hm__value_text(hm__value_path(root, "fsdp_config.fsdp_sharding_strategy"));
    const char *reshard =
        hm__value_text(hm__value_path(root, "fsdp_config.fsdp_reshard_after_forward"));

    for (size_t i = 0; strategy && i < sizeof(stages) / sizeof(stages[0]); i++)
        if (strcmp(strategy, stages[i].strategy) == 0)
            return stages[i].stage;
    if (strategy)
        hm__import_left(im, NAN, "fsdp_sharding_strategy: '%.40s' is not known", strategy);
    return reshard && strcmp(reshard, "true") == 0    ? 3
           : reshard && strcmp(reshard, "false") == 0 ? 2
                                                      : NAN;
}

/*
 * Returns whether FSDP shards the training state over the workers of a node and keeps a complete
 * copy in every node (hybrid sharding).
 */
static bool is_hybrid(const struct hm_value *root)
{
    const char *strategy =
        hm__value_text(hm__value_path(root, "fsdp_config.fsdp_sharding_strategy"));

    return strategy && (strncmp(strategy, "HYBRID", 6) == 0 || strcmp(strategy, "4") == 0 ||
                        strcmp(strategy, "5") == 0);
}

/*
 * Returns the stage of ZeRO that accelerate's file describes; data-parallel training without
 * sharding is stage 0.
 */
static double accelerate_stage(struct hm_imported *im, const struct hm_value *root)
{
    const char *type = hm__value_text(hm__value_get(root, "distributed_type"));

    if (type && strcmp(type, "DEEPSPEED") == 0)
        return hm__whole_count(im, hm__value_get(root, "deepspeed_config"), "zero_stage", 0, 3);
    if (type && strcmp(type, "FSDP") == 0)
        return fsdp_stage(im, root);
    if (type && strncmp(type, "MULTI_", 6) == 0)
        return 0;
    return is_on(root, "megatron_lm_config.megatron_lm_use_distributed_optimizer") ? 1 : NAN;
}

/*
 * Returns a degree of parallelism in accelerate's settings for Megatron: 1 if Megatron is not used,
 * NaN if the degree is not given.
 */
static double megatron_degree(struct hm_imported *im, const struct hm_value *root, const char *key)
{
    const struct hm_value *megatron = hm__value_get(root, "megatron_lm_config");

    return megatron ? hm__whole_count(im, megatron, key, 1, COUNT_MOST) : 1;
}

/* Reads the layout from accelerate's own file, which has no batch, precision or cluster. */
static struct job_config accelerate_config(struct hm_imported *im, const struct hm_value *root)
{
    return (struct job_config){
        .batch = NAN,
        .micro = NAN,
        .zero = accelerate_stage(im, root),
        .tensor = megatron_degree(im, root, "megatron_lm_tp_degree"),
        .pipeline = megatron_degree(im, root, "megatron_lm_pp_degree"),
        .within_node = is_hybrid(root),
        .offload = is_on(root, "fsdp_config.fsdp_offload_params") ||
                           offload_device(root, "deepspeed_config.offload_param_device")
                       ? "all"
                   : offload_device(root, "deepspeed_config.offload_optimizer_device") ? "optimizer"
                                                                                       : NULL,
        .recompute = is_on(root, "fsdp_config.fsdp_activation_checkpointing") ? "full"
                     : is_on(root, "megatron_lm_config.megatron_lm_recompute_activations")
                         ? "selective"
                         : NULL,
    };
}

/*
 * Replaces all settings except recomputation with the settings of the DeepSpeed configuration that
 * accelerate's file names.
 */
static void join_deepspeed(struct hm_imported *im, struct job_config *c,
                           const struct hm_value *deepspeed, double processes)
{
    const char *recompute = c->recompute;

    *c = deepspeed_config(im, deepspeed, processes);
    c->recompute = recompute;
}

static void accelerate_job(struct hm_imported *im, const struct hm_value *root, double machines,
                           double processes)
{
    const char *file =
        hm__value_text(hm__value_path(root, "deepspeed_config.deepspeed_config_file"));
    const struct hm_value *deepspeed = file ? hm__sibling_json(im, file) : NULL;
    const char *precision = hm__value_text(hm__value_get(root, "mixed_precision"));
    bool known = precision && (strcmp(precision, "bf16") == 0 || strcmp(precision, "fp16") == 0 ||
                               strcmp(precision, "fp8") == 0);

    if (hm__value_is_open(hm__value_get(root, "num_machines")) && is_count(processes)) {
        machines = 1;
        hm__import_note(im, "the file does not give num_machines: 1, the default of accelerate");
    }
    struct job_config c = accelerate_config(im, root);
    if (file && deepspeed) {
        join_deepspeed(im, &c, deepspeed, processes);
        hm__import_note(im, "the settings of DeepSpeed are those of %.200s", file);
    } else if (file)
        hm__import_note(
            im, "the settings of DeepSpeed are in another file, which was not found: %.200s", file);
    if (known)
        c.precision = precision;
    c.accelerators = processes / machines;
    c.machines = machines;
    put_job(im, &c);
    if (precision && !known)
        hm__import_note(im, "mixed_precision '%.20s' is left to the plan", precision);
}

static void accelerate_facts(struct hm_imported *im, const struct hm_value *root)
{
    double machines = hm__whole_count(im, root, "num_machines", 1, COUNT_MOST);
    double processes = hm__whole_count(im, root, "num_processes", 1, COUNT_MOST);

    hm__fact_value(im, "distributed_type", hm__value_get(root, "distributed_type"));
    hm__json_put_number(&im->facts, "num_machines", machines);
    hm__json_put_number(&im->facts, "num_processes", processes);
    hm__json_put_number(&im->facts, "processes_per_machine", processes / machines);
    hm__fact_value(im, "mixed_precision", hm__value_get(root, "mixed_precision"));
    hm__json_put_number(&im->facts, "zero_stage",
                        hm__value_number(hm__value_get(root, "deepspeed_config"), "zero_stage"));
    hm__fact_value(im, "gradient_accumulation_steps",
                   hm__value_path(root, "deepspeed_config.gradient_accumulation_steps"));
    hm__json_put_text(&im->facts, "offload_optimizer",
                      offload_device(root, "deepspeed_config.offload_optimizer_device"));
    hm__fact_value(im, "fsdp_sharding", hm__value_path(root, "fsdp_config.fsdp_sharding_strategy"));
    hm__fact_value(im, "use_cpu", hm__value_get(root, "use_cpu"));
    hm__import_took(im, (double)root->count, "settings");
    if (!isnan(processes))
        hm__import_took(im, processes, "processes: this is n");
    else
        hm__import_note(im, "the file does not give the number of processes");
    accelerate_job(im, root, machines, processes);
}

static int accelerate_read(struct hm_imported *im, struct hm_err *err)
{
    struct hm_value *root;
    int rc;

    hm__json_put_text(&im->facts, "format", "accelerate config");
    rc = hm__whole_yaml(im, &root, err);
    if (rc == 0 && root)
        accelerate_facts(im, root);
    return rc;
}

static int accelerate_recognise(const struct hm_import_head *head)
{
    const char *at = hm__find(head->text, head->length, "distributed_type:");

    return at && (at == head->text || at[-1] == '\n') ? 85 : 0;
}

const struct hm_importer hm__importer_accelerate = {
    .name = "accelerate",
    .title = "configuration of accelerate",
    .becomes = "a job and its cluster",
    .recognise = accelerate_recognise,
    .read = accelerate_read,
};
