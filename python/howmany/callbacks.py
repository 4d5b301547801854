"""Recorders for training frameworks. A framework is imported only when its recorder is used.

    trainer = transformers.Trainer(…, callbacks=[howmany.callbacks.HuggingFace(to="runs.db")])
    trainer = lightning.Trainer(…, callbacks=[howmany.callbacks.Lightning(to="runs.db")])
    model.fit(…, callbacks=[howmany.callbacks.Keras(n=4, batch=256)])
    for batch in howmany.callbacks.accelerate(accelerator, loader): …
    run = howmany.callbacks.deepspeed(engine);  engine.step(); run.step(loss=loss)
    run = howmany.callbacks.torch(model, optimizer)   # a loop of your own, with DDP or FSDP

They record n, the batch, the layout (data, tensor and pipeline parallel sizes, sharding, micro-batch, accumulation),
the precision and the number of parameters. `sheet(model)` makes the job that `howmany.plan` takes.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, Iterable, Iterator, Optional, Tuple

from ._record import Recorder, record

__all__ = ["HuggingFace", "Keras", "Lightning", "accelerate", "deepspeed", "layout", "sheet", "torch"]

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


def count_parameters(model: Any) -> Optional[int]:
    """Trained parameters of a model of PyTorch, Keras or Lightning. Under FSDP they are those of this rank's shards."""
    if callable(getattr(model, "parameters", None)):
        return sum(int(p.numel()) for p in model.parameters() if p.requires_grad) or None
    if hasattr(model, "count_params"):
        return int(model.count_params()) or None
    return None


def sheet(model: Any, *, tokens: Optional[int] = None, forward: Optional[float] = None, **keys: Any) -> Dict[str, Any]:
    """The job that describes training a model, for howmany.plan.

    Args:
        model: a model of PyTorch, transformers, Lightning or Keras
        tokens: tokens of a sample. With it (or the longest sequence of the model's configuration) the forward
            pass of a sample counts 2 flop for a parameter and a token, plus 4 · layers · hidden · tokens² for
            attention; without tokens it counts 2 flop for a parameter, which is right for fully connected
            networks and too little for convolutions
        forward: flop of the forward pass of a sample, if you know it
        keys: other keys of the job: batch, cluster, precision, …
    """
    inner = unwrapped(model)
    parameters = count_parameters(inner)
    if not parameters:
        raise ValueError("the model has no trained parameters")
    config = getattr(inner, "config", None)
    for name in CONTEXTS:
        tokens = tokens or getattr(config, name, None)
    if forward is None:
        forward = 2.0 * parameters * (tokens or 1)
        layers, hidden = getattr(config, "num_hidden_layers", None), getattr(config, "hidden_size", None)
        if tokens and layers and hidden:
            forward += 4.0 * layers * hidden * tokens * tokens
    return {"name": type(inner).__name__, "network": {"parameters": parameters, "forward": f"{forward:.15g} flop"}, **keys}


def precision_of(model: Any) -> Optional[str]:
    parameter = next(iter(model.parameters()), None) if callable(getattr(model, "parameters", None)) else None
    return str(parameter.dtype).replace("torch.", "") if parameter is not None else None


def world() -> Dict[str, int]:
    """Rank and number of processes of torch.distributed, if it is in use."""
    module = sys.modules.get("torch.distributed")
    if module and module.is_available() and module.is_initialized():
        return {"rank": int(module.get_rank()), "n": int(module.get_world_size())}
    return {}


def layout(model: Any) -> Dict[str, Any]:
    """What can be seen of a model of PyTorch: sharding, precision, parameters, and the class of the model."""
    wrapper, inner = type(model).__name__, unwrapped(model)
    sharded = wrapper in ("FullyShardedDataParallel", "FSDPModule") or wrapper.startswith("FSDP")
    return {"framework": "torch", "job": type(inner).__name__, "sharding": "full" if sharded else "none",
            "precision": precision_of(inner), "parameters": count_parameters(inner)}


# ---- loops of your own ----------------------------------------------------------------------------


def torch(model: Any, *, iterable: Optional[Iterable[Any]] = None, to: Any = None, **columns: Any) -> Recorder:
    """A recorder for a loop of your own with PyTorch: plain, DDP or FSDP. Use it as howmany.record."""
    return record(iterable, to=to, **{**layout(model), **world(), **columns})


def accelerate(accelerator: Any, loader: Iterable[Any], *, to: Any = None, **columns: Any) -> Iterator[Any]:
    """Iterate over a loader that Accelerate prepared, and record the loop."""
    seen = {"framework": "accelerate", "n": int(accelerator.num_processes), "rank": int(accelerator.process_index),
            "precision": str(accelerator.mixed_precision), "accumulation": int(accelerator.gradient_accumulation_steps),
            "sharding": str(accelerator.distributed_type).rsplit(".", 1)[-1].lower()}
    per_worker = getattr(loader, "total_batch_size", None)
    if per_worker:
        seen["batch"] = int(per_worker)
    return iter(record(loader, to=to, **{**seen, **columns}))


def deepspeed(engine: Any, *, to: Any = None, **columns: Any) -> Recorder:
    """A recorder for an engine of DeepSpeed: call step() of the recorder after step() of the engine."""
    data = int(engine.dp_world_size)
    seen = {"framework": "deepspeed", "data_parallel": data, "batch": int(engine.train_batch_size()),
            "micro_batch": int(engine.train_micro_batch_size_per_gpu()),
            "accumulation": int(engine.gradient_accumulation_steps()), "zero_stage": int(engine.zero_optimization_stage()),
            "parameters": count_parameters(engine.module), "precision": precision_of(engine.module)}
    return record(to=to, **{"n": data, **world(), **seen, **columns})


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
        if model is not None:
            seen.update(job=type(unwrapped(model)).__name__, parameters=count_parameters(unwrapped(model)))
        self.run = record(to=self.to, **{**seen, **self.columns})
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
        self.run = record(to=self.to, **{**seen, **self.columns})
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
        self.recorder = record(to=self.to, **{**seen, **self.columns})

    def on_train_batch_begin(self, batch: int, logs: Optional[Dict[str, Any]] = None) -> None:
        if self.recorder and not self.recorder.seconds:
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


_BASES: Dict[str, Tuple[type, Callable[[], Any]]] = {
    "HuggingFace": (_HuggingFace, lambda: _base("transformers", "TrainerCallback")),
    "Lightning": (_Lightning, _lightning_base),
    "Keras": (_Keras, lambda: _base("keras.callbacks", "Callback"))}


def __getattr__(name: str) -> Any:
    """Make the class of a callback, which derives from the framework's, when it is first used."""
    if name not in _BASES:
        raise AttributeError(f"howmany.callbacks has no {name}")
    own, base = _BASES[name]
    made = type(name, (own, base()), {"__doc__": own.__doc__, "__module__": __name__})
    globals()[name] = made
    return made
