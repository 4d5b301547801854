"""Recorders for training frameworks. A framework is imported only when its recorder is used.

    trainer = transformers.Trainer(…, callbacks=[howmany.callbacks.HuggingFace(to="runs.db")])
    trainer = lightning.Trainer(…, callbacks=[howmany.callbacks.Lightning(to="runs.db")])
    model.fit(…, callbacks=[howmany.callbacks.Keras(n=4, batch=256)])
    for batch in howmany.callbacks.accelerate(accelerator, loader): …
    run = howmany.callbacks.deepspeed(engine);  engine.step(); run.step(loss=loss)
    run = howmany.callbacks.torch(model)              # a loop of your own, with DDP or FSDP
    howmany.callbacks.spark("eventlogs/app-1", to="runs.db")   # after the application, from its event log

They record n, the batch, the layout (data, tensor and pipeline parallel sizes, sharding, micro-batch, accumulation),
the precision and the number of parameters. `sheet(model)`, or `run.sheet()` of a recorder, makes the job that
`howmany.plan` takes.
"""
from __future__ import annotations

import json
import math
import os
import sys
import warnings
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple, Union

from ._library import Error
from ._record import Recorder, record
from ._verbs import import_

__all__ = ["HuggingFace", "Keras", "Lightning", "accelerate", "deepspeed", "layout", "sheet", "spark", "torch"]

#: Names by which configurations of models give the longest sequence.
CONTEXTS = ("max_position_embeddings", "n_positions", "n_ctx", "seq_length")


# ---- what a model is ------------------------------------------------------------------------------


def unwrapped(model: Any) -> Any:
    """The model inside DDP, FSDP, DeepSpeed or torch.compile."""
    for name in ("module", "_orig_mod", "_fsdp_wrapped_module"):
        inner = getattr(model, name, None)
        if inner is not None and inner is not model and hasattr(inner, "parameters"):
            return unwrapped(inner)
    return model


def count_of(parameter: Any) -> int:
    """Numbers in a parameter. FSDP (version 1) shows only this rank's shard, and keeps the whole size beside it."""
    whole = getattr(parameter, "_unpadded_unsharded_size", None)
    return int(math.prod(whole)) if whole is not None else int(parameter.numel())


def count_parameters(model: Any) -> Optional[int]:
    """Trained parameters of a model of PyTorch, Keras or Lightning."""
    if callable(getattr(model, "parameters", None)):
        return sum(count_of(p) for p in model.parameters() if p.requires_grad) or None
    if hasattr(model, "count_params"):
        return int(model.count_params()) or None
    return None


def description(model: Any, example: Any) -> Optional[Tuple[str, str]]:
    """A text that describes the shape of a model, and its format: the configuration of a model of transformers, the
    layers of a model of Keras, or the program that torch.export makes from an example input."""
    to_json: Any = getattr(getattr(model, "config", None), "to_json_string", None)
    if callable(to_json):
        keys = json.loads(to_json(use_diff=False))
        # A configuration that was not loaded from a file does not name the class of the model.
        return json.dumps({**keys, "architectures": keys.get("architectures") or [type(model).__name__]}), "hf-config"
    if callable(getattr(model, "count_params", None)) and callable(getattr(model, "to_json", None)):
        return str(model.to_json()), "keras"
    if example is None:
        return None
    module = __import__("torch.export", fromlist=["export"])
    inputs = example if isinstance(example, tuple) else (example,)
    return str(module.export(model, inputs)), "torch-fx"


def parsed(value: str) -> Any:
    """A value of a document that the library wrote: a number, a truth value, a text, or a flat map. A comment may follow."""
    if not value.startswith('"'):
        value = value.split(" #", 1)[0]
    if value.startswith("{"):
        pairs = (pair.split(": ", 1) for pair in value.strip("{}").split(", "))
        return {name: parsed(inner) for name, inner in pairs}
    try:
        return json.loads(value)
    except ValueError:
        return value


def network_of(model: Any, example: Any) -> Optional[Dict[str, Any]]:
    """The network that the library finds in the description of a model; None if there is no description, or if the
    library does not know the model."""
    text = description(model, example)
    if not text:
        return None
    try:
        file = import_(text[0].encode(), as_=text[1]).files[0]
    except Error:
        return None
    lines = (file.document or "").splitlines()
    pairs = (line.strip().split(": ", 1) for line in lines if line.startswith("  "))
    return {name: parsed(value) for name, value in pairs} or None


def sheet(model: Any, *, tokens: Optional[int] = None, forward: Optional[float] = None, example: Any = None,
          **keys: Any) -> Dict[str, Any]:
    """The job that describes training a model, for howmany.plan.

    The shape is found in the configuration of a model of transformers, in the layers of a model of Keras, or in the
    program that torch.export makes from an example input. Otherwise the forward pass of a sample counts 2 flop for a
    parameter, which is right for fully connected networks and too little for convolutions; with tokens, 2 flop for
    a parameter and a token, plus 4 · layers · hidden · tokens² for attention.

    Args:
        model: a model of PyTorch, transformers, Lightning or Keras; it may be wrapped by DDP or DeepSpeed
        tokens: tokens of a sample (default: the longest sequence of the model's configuration)
        forward: flop of the forward pass of a sample, if you know it
        example: an input of one sample (a tensor or a tuple of tensors), from which torch.export finds the layers
        keys: other keys of the job: batch, cluster, precision, …
    """
    inner = unwrapped(model)
    parameters = count_parameters(inner)
    if not parameters:
        raise ValueError("the model has no trained parameters")
    config = getattr(inner, "config", None)
    for name in CONTEXTS:
        tokens = tokens or getattr(config, name, None)
    head = {"name": type(inner).__name__}
    network = network_of(inner, example) if forward is None else None
    if network and network.get("kind") == "transformer":
        if isinstance(keys.get("batch"), (int, float)):
            keys["batch"] = f"{keys['batch']:.15g} sequences"
        return {**head, "network": network, **({"sequence": tokens} if tokens else {}), **keys}
    if network:
        return {**head, "network": network, **keys}
    if forward is None:
        if not tokens and hasattr(config, "vocab_size"):
            warn(f"the configuration of {head['name']} does not say how long a sequence is, so one token is counted; give tokens")
        if not tokens and any(len(getattr(p, "shape", ())) > 2 for p in model_parameters(inner)):
            warn(f"{head['name']} has convolutions, whose work is not seen in the number of parameters; give example, an input of one sample")
        forward = 2.0 * parameters * (tokens or 1)
        layers, hidden = getattr(config, "num_hidden_layers", None), getattr(config, "hidden_size", None)
        if tokens and layers and hidden:
            forward += 4.0 * layers * hidden * tokens * tokens
    return {**head, "network": {"parameters": parameters, "forward": f"{forward:.15g} flop"}, **keys}


def warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def model_parameters(model: Any) -> Iterable[Any]:
    """The parameters of a model of PyTorch; none of another model."""
    return model.parameters() if callable(getattr(model, "parameters", None)) else ()


def precision_of(model: Any) -> Optional[str]:
    parameter = next(iter(model_parameters(model)), None)
    return str(parameter.dtype).replace("torch.", "") if parameter is not None else None


def world() -> Dict[str, int]:
    """Rank and number of processes of torch.distributed, if it is in use."""
    module = sys.modules.get("torch.distributed")
    if module and module.is_available() and module.is_initialized():
        return {"rank": int(module.get_rank()), "n": int(module.get_world_size())}
    return {}


#: Columns of the sizes of a layout, by the names that meshes of devices use for their dimensions.
DIMENSIONS = {"tensor_parallel": ("tp", "tensor", "tensor_parallel"), "pipeline_parallel": ("pp", "pipeline", "pipe"),
              "context_parallel": ("cp", "sp", "context"), "expert_parallel": ("ep", "expert"),
              "data_parallel": ("dp", "data", "data_parallel", "dp_replicate", "dp_shard", "fsdp", "replicate", "shard")}


def mesh_sizes(mesh: Any) -> Dict[str, int]:
    """Sizes of the dimensions of a DeviceMesh of PyTorch that have a name."""
    sizes: Dict[str, int] = {}
    for name, size in zip(getattr(mesh, "mesh_dim_names", None) or (), getattr(mesh, "shape", ())):
        for column, names in DIMENSIONS.items():
            if name in names:
                sizes[column] = sizes.get(column, 1) * int(size)
    return sizes


def mesh_of(model: Any) -> Any:
    """The largest mesh over which parameters of a model are spread (DTensor); None without one."""
    meshes = [getattr(p, "device_mesh", None) for p in model_parameters(model)]
    known = [getattr(mesh, "_root_mesh", None) or mesh for mesh in meshes if mesh is not None]
    return max(known, key=lambda mesh: len(getattr(mesh, "shape", ())), default=None)


def accelerate_sizes(config: Any) -> Dict[str, int]:
    """Sizes of a ParallelismConfig of Accelerate; empty without one."""
    if config is None:
        return {}
    data = int(getattr(config, "dp_replicate_size", 1) or 1) * int(getattr(config, "dp_shard_size", 1) or 1)
    return {"data_parallel": data, "tensor_parallel": int(getattr(config, "tp_size", 1) or 1),
            "context_parallel": int(getattr(config, "cp_size", 1) or 1)}


def layout(model: Any) -> Dict[str, Any]:
    """What can be seen of a model of PyTorch: sharding, sizes of its mesh, precision, parameters, and its class."""
    wrapper, inner = type(model).__name__, unwrapped(model)
    sharded = wrapper == "FullyShardedDataParallel" or wrapper.startswith("FSDP")
    return {"framework": "torch", "job": type(inner).__name__.replace("FSDP", "", 1) if sharded else type(inner).__name__,
            "sharding": "full" if sharded else "none", "precision": precision_of(inner),
            "parameters": count_parameters(inner), **mesh_sizes(mesh_of(inner))}


# ---- loops of your own ----------------------------------------------------------------------------


def torch(model: Any, *, iterable: Optional[Iterable[Any]] = None, to: Any = None, **columns: Any) -> Recorder:
    """A recorder for a loop of your own with PyTorch: plain, DDP or FSDP. Use it as howmany.record."""
    return record(iterable, to=to, **{**layout(model), **world(), **columns}).of(model)


def accelerate(accelerator: Any, loader: Iterable[Any], *, to: Any = None, **columns: Any) -> Iterator[Any]:
    """Iterate over a loader that Accelerate prepared, and record the loop."""
    seen = {"framework": "accelerate", "n": int(accelerator.num_processes), "rank": int(accelerator.process_index),
            "precision": str(accelerator.mixed_precision), "accumulation": int(accelerator.gradient_accumulation_steps),
            "sharding": str(accelerator.distributed_type).rsplit(".", 1)[-1].lower(),
            **accelerate_sizes(getattr(accelerator, "parallelism_config", None))}
    models = [model for model in getattr(accelerator, "_models", []) if model is not None]
    if models:
        seen.update(job=type(unwrapped(models[0])).__name__, parameters=count_parameters(unwrapped(models[0])))
    whole = getattr(loader, "total_batch_size", None)
    if whole:
        seen.update(batch=int(whole), micro_batch=int(whole) // int(accelerator.num_processes))
    return iter(record(loader, to=to, **{**seen, **columns}))


def deepspeed(engine: Any, *, to: Any = None, **columns: Any) -> Recorder:
    """A recorder for an engine of DeepSpeed: call step() of the recorder after step() of the engine."""
    data = int(engine.dp_world_size)
    seen: Dict[str, Any] = {
            "framework": "deepspeed", "data_parallel": data, "batch": int(engine.train_batch_size()),
            "micro_batch": int(engine.train_micro_batch_size_per_gpu()),
            "accumulation": int(engine.gradient_accumulation_steps()), "zero_stage": int(engine.zero_optimization_stage()),
            "job": type(unwrapped(engine.module)).__name__, "parameters": count_parameters(engine.module),
            "precision": precision_of(engine.module)}
    groups = getattr(engine, "mpu", None)
    for column, function in (("tensor_parallel", "get_model_parallel_world_size"),
                             ("pipeline_parallel", "get_pipe_parallel_world_size")):
        if callable(getattr(groups, function, None)):
            seen[column] = int(getattr(groups, function)())
    if getattr(engine, "num_stages", None):  # of its pipeline engine
        seen["pipeline_parallel"] = int(engine.num_stages)
    n = data * seen.get("tensor_parallel", 1) * seen.get("pipeline_parallel", 1)
    return record(to=to, **{"n": n, **world(), **seen, **columns}).of(engine.module)


# ---- Spark ----------------------------------------------------------------------------------------


def spark(log: Union[str, "os.PathLike[str]"], *, to: Any = None, last: Optional[int] = None, **columns: Any) -> Recorder:
    """Record the iterations of a Spark application from its event log (spark.eventLog.enabled), plain, compressed or
    rolling.

    Jobs with the same stages that repeat at least three times are iterations; of several groups the one that took
    most time counts. n is the number of executors.

    Args:
        log: the event log: a file, or the folder of a rolling log
        to: as in howmany.record
        last: use only the last so many iterations, if the first ones belong to preparations
        columns: as in howmany.record: batch, machine, …
    """
    groups: Dict[str, List[Any]] = {}
    file = import_(os.fspath(log), as_="spark").files[0]
    for row in file.runs:
        groups.setdefault(str(row["job"]), []).append(row)
    if not groups:
        raise ValueError(f"{os.fspath(log)}: no job repeats three times, so there are no iterations")
    name, rows = max(groups.items(), key=lambda group: sum(row["seconds"] for row in group[1]))
    rows = rows[-last:] if last else rows
    facts = file.facts["app"]
    seen = {"framework": "spark", "version": facts["spark_version"], "job": name, "rank": 0, "key": facts["id"],
            "device": None, "host": None,  # those of this machine, which reads the log, say nothing
            "n": int(max(row["n"] for row in rows)), "total_cores": rows[-1]["total_cores"], "tasks": rows[-1]["tasks"]}
    run = record(to=to, **{**seen, **columns})
    run.take([row["seconds"] for row in rows])
    run.close()
    return run


# ---- callbacks ------------------------------------------------------------------------------------


class _HuggingFace:
    """Callback for transformers.Trainer."""

    def __init__(self, *, to: Any = None, **columns: Any) -> None:
        self.to, self.columns = to, columns
        self.run: Optional[Recorder] = None

    def on_train_begin(self, args: Any, state: Any, control: Any, model: Any = None, **_: Any) -> None:
        workers = max(int(args.world_size), 1)
        micro = int(args.per_device_train_batch_size) * max(int(getattr(args, "n_gpu", 1) or 1), 1)
        accumulation = int(args.gradient_accumulation_steps)
        precision = "bf16" if args.bf16 else "fp16" if args.fp16 else precision_of(model) if model is not None else None
        seen = {"framework": "transformers", "n": workers, "rank": int(args.process_index), "micro_batch": micro,
                "accumulation": accumulation, "batch": micro * accumulation * workers, "precision": precision,
                "sharding": "full" if getattr(args, "fsdp", None) else "zero" if getattr(args, "deepspeed", None) else "none"}
        seen.update(accelerate_sizes(getattr(args, "parallelism_config", None)))
        if model is not None:
            seen.update(job=type(unwrapped(model)).__name__, parameters=count_parameters(unwrapped(model)))
        self.run = record(to=self.to, **{**seen, **self.columns}).of(model)
        self.run.start()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.run:
            self.run.step()

    def on_log(self, args: Any, state: Any, control: Any, logs: Optional[Dict[str, Any]] = None, **_: Any) -> None:
        """The Trainer reports losses every logging_steps steps, after the step has ended."""
        if self.run and logs and "loss" in logs:
            self.run.note_last(logs["loss"])

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self.run:
            self.run.close()


class _Lightning:
    """Callback for lightning.Trainer."""

    def __init__(self, *, to: Any = None, **columns: Any) -> None:
        super().__init__()
        self.to, self.columns = to, columns
        self.run: Optional[Recorder] = None

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        accumulation = int(trainer.accumulate_grad_batches)
        seen = {"framework": "lightning", "n": int(trainer.world_size), "rank": int(trainer.global_rank),
                "accumulation": accumulation, "precision": str(trainer.precision), "job": type(pl_module).__name__,
                "parameters": count_parameters(pl_module), "sharding": type(trainer.strategy).__name__}
        micro = getattr(trainer.train_dataloader, "batch_size", None)
        if micro:
            seen.update(micro_batch=int(micro), batch=int(micro) * accumulation * int(trainer.world_size))
        for column in ("data_parallel", "tensor_parallel"):  # of ModelParallelStrategy
            size = getattr(trainer.strategy, column + "_size", None)
            if isinstance(size, int):
                seen[column] = size
        self.run = record(to=self.to, **{**seen, **self.columns}).of(pl_module)
        self.run.start()
        self._step = int(trainer.global_step)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        if not self.run or int(trainer.global_step) == self._step:
            return  # The gradients of several batches are accumulated.
        self._step = int(trainer.global_step)
        self.run.step(loss=outputs.get("loss") if isinstance(outputs, dict) else outputs)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        if self.run:
            self.run.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        if self.run:
            self.run.__exit__(type(exception), exception, None)


class _Keras:
    """Callback for keras.Model.fit. Give n and the batch of the whole job, because Keras does not pass them to callbacks."""

    def __init__(self, *, to: Any = None, **columns: Any) -> None:
        super().__init__()
        self.to, self.columns = to, columns
        self.recorder: Optional[Recorder] = None

    def on_train_begin(self, logs: Optional[Dict[str, Any]] = None) -> None:
        model = getattr(self, "model", None)
        seen = {"framework": "keras", "job": getattr(model, "name", None), "parameters": count_parameters(model)}
        policy = getattr(getattr(model, "dtype_policy", None), "name", None)
        if policy:
            seen["precision"] = str(policy)
        self.recorder = record(to=self.to, **{**seen, **self.columns}).of(model)

    def on_train_batch_begin(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        if self.recorder and not self.recorder.iterations:
            self.recorder.start()

    def on_train_batch_end(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        if self.recorder:
            self.recorder.step(loss=(logs or {}).get("loss"))

    def on_train_end(self, logs: Optional[Dict[str, Any]] = None) -> None:
        if self.recorder:
            self.recorder.close()


def _base(module: str, name: str) -> Any:
    return getattr(__import__(module, fromlist=[name]), name)


def _lightning_base() -> Any:
    try:
        return _base("lightning.pytorch", "Callback")
    except ImportError:
        return _base("pytorch_lightning", "Callback")


def _keras_base() -> Any:
    """The Callback of Keras 3, or that of tf_keras (Keras 2) if the program has imported it; TensorFlow itself imports
    only Keras 3."""
    return _base("tf_keras.callbacks" if "tf_keras" in sys.modules else "keras.callbacks", "Callback")


_BASES: Dict[str, Tuple[type, Callable[[], Any]]] = {
    "HuggingFace": (_HuggingFace, lambda: _base("transformers", "TrainerCallback")),
    "Lightning": (_Lightning, _lightning_base),
    "Keras": (_Keras, _keras_base)}


def __getattr__(name: str) -> Any:
    """Make the class of a callback, which derives from the framework's, when it is first used."""
    if name not in _BASES:
        raise AttributeError(f"howmany.callbacks has no {name}")
    own, base = _BASES[name]
    made = type(name, (own, base()), {"__doc__": own.__doc__, "__module__": __name__})
    globals()[name] = made
    return made
