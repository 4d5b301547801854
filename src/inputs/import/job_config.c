/*
 * Configurations of launchers: DeepSpeed (JSON) and accelerate (YAML). A value may be "auto", which
 * means that the launcher decides; such a value is kept as "auto". The batch is micro-batch x
 * accumulation x n, so n is known if the file states the other three numbers.
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "whole.h"

/* ---- DeepSpeed --------------------------------------------------------------------------------
 */

/* Returns the stage of ZeRO; the value `true` means stage 1. NaN: not given. */
static double zero_stage(const struct hm_value *root)
{
    const struct hm_value *zero = hm__value_get(root, "zero_optimization");
    const char *text = hm__value_text(zero);

    if (text)
        return strcmp(text, "true") == 0 ? 1 : strcmp(text, "false") == 0 ? 0 : NAN;
    return hm__value_number(zero, "stage");
}

/* Returns the device to which a part of the training state is offloaded; NULL: none. */
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

/* Writes a job with the batch, the precision and the optimizer; users must add the network. */
static void put_job(struct hm_imported *im, double batch, const char *optimizer, bool half)
{
    struct hm_text *out = &im->document;

    if (!(batch >= 1))
        return;
    im->document_kind = "job";
    hm__text_addf(out, "batch: %.0f\n", batch);
    if (half)
        hm__text_add(out, "precision: 16\n");
    if (optimizer && strncmp(optimizer, "Adam", 4) == 0)
        hm__text_add(out, "optimizer: adam\n");
    hm__import_note(im, "the job has no network: add it to the document");
}

static bool is_on(const struct hm_value *root, const char *path)
{
    const char *text = hm__value_text(hm__value_path(root, path));

    return text && strcmp(text, "true") == 0;
}

static void deepspeed_facts(struct hm_imported *im, const struct hm_value *root)
{
    struct hm_json *j = &im->facts;
    const char *optimizer = hm__value_text(hm__value_path(root, "optimizer.type"));
    double batch = hm__value_number(root, "train_batch_size");
    double micro = hm__value_number(root, "train_micro_batch_size_per_gpu");
    double steps = hm__value_number(root, "gradient_accumulation_steps");

    hm__fact_value(im, "train_batch_size", hm__value_get(root, "train_batch_size"));
    hm__fact_value(im, "train_micro_batch_size_per_gpu",
                   hm__value_get(root, "train_micro_batch_size_per_gpu"));
    hm__fact_value(im, "gradient_accumulation_steps",
                   hm__value_get(root, "gradient_accumulation_steps"));
    hm__fact_value(im, "gradient_clipping", hm__value_get(root, "gradient_clipping"));
    hm__json_put_number(j, "zero_stage", zero_stage(root));
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
    hm__json_put_number(j, "n", batch / (micro * steps));
    hm__import_took(im, (double)root->count, "settings");
    put_job(im, batch, optimizer, is_on(root, "fp16.enabled") || is_on(root, "bf16.enabled"));
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
    .becomes = "a job",
    .recognise = deepspeed_recognise,
    .read = deepspeed_read,
};

/* ---- accelerate -------------------------------------------------------------------------------
 */

static void accelerate_facts(struct hm_imported *im, const struct hm_value *root)
{
    double machines = hm__value_number(root, "num_machines");
    double processes = hm__value_number(root, "num_processes");

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
    .becomes = "a number of processes",
    .recognise = accelerate_recognise,
    .read = accelerate_read,
};
