"""Callbacks with stand-ins for the frameworks: what they record. python/frameworks uses the frameworks themselves."""
import sys
import types
import unittest
from unittest import mock

import howmany
from support import Case


class Parameter:
    requires_grad, dtype = True, "torch.bfloat16"

    def __init__(self, count):
        self.count = count

    def numel(self):
        return self.count


class Model:
    def __init__(self, config=None):
        self.config = config

    def parameters(self):
        return iter([Parameter(1000), Parameter(24)])


class Wrapper(Model):
    """As DistributedDataParallel: the model is the member `module`."""

    def __init__(self, module):
        super().__init__()
        self.module = module


def modules(**classes):
    """Modules by name that hold one class each: modules(transformers="TrainerCallback")."""
    made = {}
    for path, name in classes.items():
        module = types.ModuleType(path)
        setattr(module, name, type(name, (), {}))
        made[path.replace("__", ".")] = module
    return mock.patch.dict(sys.modules, made)


class Callbacks(Case):
    def setUp(self):
        super().setUp()
        for name in ("HuggingFace", "Lightning", "Keras"):
            vars(howmany.callbacks).pop(name, None)

    def stored(self):
        runs = list(howmany.Store(self.store).runs())
        self.assertEqual(len(runs), 1)
        return runs[0]

    def test_hugging_face(self):
        args = types.SimpleNamespace(world_size=4, process_index=0, per_device_train_batch_size=8, n_gpu=1,
                                     gradient_accumulation_steps=2, bf16=True, fp16=False)
        with modules(transformers="TrainerCallback"):
            callback = howmany.callbacks.HuggingFace(to=self.store)
            self.assertIsInstance(callback, sys.modules["transformers"].TrainerCallback)
        callback.on_train_begin(args, None, None, model=Wrapper(Model()))
        for i in range(3):
            callback.on_step_end(args, None, None)
            callback.on_log(args, None, None, logs={"loss": 3.0 - i})
        callback.on_train_end(args, None, None)
        run = self.stored()
        self.assertEqual((run.n, run.batch, run.iterations, run.loss, run.job), (4, 64, 3, 1.0, "Model"))
        self.assertEqual((run["micro_batch"], run["accumulation"], run["precision"], run["parameters"]), (8, 2, "bf16", 1024))

    def test_lightning_counts_optimizer_steps(self):
        trainer = types.SimpleNamespace(world_size=2, global_rank=0, accumulate_grad_batches=2, precision="32-true", strategy=None,
                                        train_dataloader=types.SimpleNamespace(batch_size=16), global_step=0)
        with modules(lightning__pytorch="Callback"), mock.patch.dict(sys.modules, {"lightning": types.ModuleType("lightning")}):
            callback = howmany.callbacks.Lightning(to=self.store)
        callback.on_train_start(trainer, Model())
        for batch in range(6):
            trainer.global_step = (batch + 1) // 2
            callback.on_train_batch_end(trainer, None, {"loss": 1.0}, None, batch)
        callback.on_train_end(trainer, None)
        run = self.stored()
        self.assertEqual((run.n, run.batch, run.iterations), (2, 64, 3))

    def test_keras(self):
        with modules(keras__callbacks="Callback"), mock.patch.dict(sys.modules, {"keras": types.ModuleType("keras")}):
            callback = howmany.callbacks.Keras(n=4, batch=256, to=self.store)
        callback.model = types.SimpleNamespace(name="net", count_params=lambda: 77)
        callback.on_train_begin()
        for batch in range(4):
            callback.on_train_batch_begin(batch)
            callback.on_train_batch_end(batch, {"loss": 0.5})
        callback.on_train_end()
        run = self.stored()
        self.assertEqual((run.n, run.batch, run.iterations, run.job, run["parameters"]), (4, 256, 4, "net", 77))

    def test_deepspeed(self):
        engine = types.SimpleNamespace(dp_world_size=8, module=Model(), train_batch_size=lambda: 128, zero_optimization_stage=lambda: 3,
                                       train_micro_batch_size_per_gpu=lambda: 4, gradient_accumulation_steps=lambda: 4)
        run = howmany.callbacks.deepspeed(engine, to=self.store)
        run.step(loss=1.0)
        run.close()
        self.assertEqual((self.stored().n, self.stored().batch, self.stored()["zero_stage"]), (8, 128, 3))

    def test_accelerate(self):
        accelerator = types.SimpleNamespace(num_processes=2, process_index=0, mixed_precision="no", gradient_accumulation_steps=1,
                                            distributed_type="DistributedType.MULTI_CPU")

        class Loader(list):
            total_batch_size = 32

        self.assertEqual(list(howmany.callbacks.accelerate(accelerator, Loader([1, 2, 3]), to=self.store)), [1, 2, 3])
        self.assertEqual((self.stored().n, self.stored().batch, self.stored().iterations), (2, 32, 3))

    def test_a_framework_that_is_missing(self):
        with mock.patch.dict(sys.modules, {"transformers": None}), self.assertRaises(ImportError):
            howmany.callbacks.HuggingFace()

    def test_the_sheet_of_a_model_can_be_planned(self):
        config = types.SimpleNamespace(num_hidden_layers=2, hidden_size=64, max_position_embeddings=128)
        job = howmany.callbacks.sheet(Wrapper(Model(config)), batch=512, cluster={"machine": "p3.2xlarge"})
        # 2 flop for a parameter and a token, and 4 · layers · hidden · tokens² for attention.
        self.assertEqual(job["network"], {"parameters": 1024, "forward": f"{2 * 1024 * 128 + 4 * 2 * 64 * 128 ** 2:.15g} flop"})
        self.assertEqual(howmany.plan(job).job, "Model")


if __name__ == "__main__":
    unittest.main()
