/*
 * Reads settings of Megatron-LM from command lines in scripts, and from YAML files of Megatron or
 * NeMo, in which keys may be nested at any depth.
 */
#include <string.h>

#include "importers.h"
#include "launch.h"
#include "whole.h"

/* ---- command lines ----------------------------------------------------------------------------
 */

static int args_read(struct hm_imported *im, struct hm_err *err)
{
    struct launch launch;
    char *text;
    size_t length;
    int rc = hm__whole_text(im, &text, &length, err);

    hm__json_put_text(&im->facts, "format", "megatron command line");
    if (rc)
        return rc;
    hm__launch_init(&launch);
    hm__launch_shell(&launch, text);
    hm__launch_finish(im, &launch);
    return 0;
}

static int args_recognise(const struct hm_import_head *head)
{
    bool layers = hm__find(head->text, head->length, "-num-layers") != NULL;

    /* Readers of logs return higher scores, because a log may also contain this command line. */
    if (layers && hm__find(head->text, head->length, "-hidden-size"))
        return 62;
    return layers || hm__find(head->text, head->length, "-tensor-model-parallel-size") ? 55 : 0;
}

const struct hm_importer hm__importer_megatron_args = {
    .name = "megatron-args",
    .title = "command line of Megatron-LM",
    .becomes = "a job",
    .recognise = args_recognise,
    .read = args_read,
};

/* ---- YAML -------------------------------------------------------------------------------------
 */

/*
 * Sets an option for each scalar of the YAML tree; the key of the scalar is the name of the option.
 */
static void set_tree(struct launch *launch, const struct hm_value *tree)
{
    for (size_t i = 0; tree->kind == HM_VALUE_MAP && i < tree->count; i++) {
        const struct hm_value *item = &tree->items[i];
        if (item->kind == HM_VALUE_MAP)
            set_tree(launch, item);
        else if (item->kind == HM_VALUE_SCALAR && item->text && item->text[0])
            hm__launch_set(launch, tree->keys[i], item->text);
    }
}

static int yaml_read(struct hm_imported *im, struct hm_err *err)
{
    struct launch launch;
    struct hm_value *root;
    int rc = hm__whole_yaml(im, &root, err);

    hm__json_put_text(&im->facts, "format", "megatron yaml");
    if (rc || !root)
        return rc;
    hm__launch_init(&launch);
    set_tree(&launch, root);
    const char *precision = hm__value_text(hm__value_path(root, "trainer.precision"));
    if (precision && strncmp(precision, "bf16", 4) == 0)
        hm__launch_set(&launch, "bf16", NULL);
    hm__launch_finish(im, &launch);
    return 0;
}

static int yaml_recognise(const struct hm_import_head *head)
{
    if (!hm__find(head->text, head->length, "num_layers:") ||
        !hm__find(head->text, head->length, "hidden_size:"))
        return 0;
    return hm__find(head->text, head->length, "model_parallel_size:") ? 80 : 55;
}

const struct hm_importer hm__importer_megatron_yaml = {
    .name = "megatron-yaml",
    .title = "configuration of Megatron-LM or NeMo",
    .becomes = "a job",
    .recognise = yaml_recognise,
    .read = yaml_read,
};
