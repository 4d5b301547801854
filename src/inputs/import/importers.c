/*
 * Lists the readers of all formats. A file is read by the reader that returns the highest score for
 * it, regardless of the reader's position in the list.
 */
#include "importers.h"

const struct hm_importer *const hm__importers[] = {
    &hm__importer_hf_config,     &hm__importer_safetensors,
    &hm__importer_weight_index,  &hm__importer_tensorboard,
    &hm__importer_megatron,      &hm__importer_hf_log,
    &hm__importer_torchtitan,    &hm__importer_nanotron,
    &hm__importer_nanogpt,       &hm__importer_collectives,
    &hm__importer_trainer_state, &hm__importer_lightning,
    &hm__importer_keras_csv,     &hm__importer_wandb,
    &hm__importer_torch_trace,   &hm__importer_spark,
    &hm__importer_deepspeed,     &hm__importer_accelerate,
    &hm__importer_sky_task,      &hm__importer_mllog,
    &hm__importer_slurm,         &hm__importer_onnx,
    &hm__importer_mlflow,        &hm__importer_seff,
    &hm__importer_sbatch,        &hm__importer_megatron_args,
    &hm__importer_megatron_yaml, &hm__importer_torchtitan_config,
    &hm__importer_simgrid,       &hm__importer_astra_network,
    &hm__importer_astra_system,  &hm__importer_keras_model,
    &hm__importer_torchinfo,     &hm__importer_torch_fx,
    &hm__importer_chakra,        NULL};
