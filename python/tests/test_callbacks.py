"""Callbacks with stand-ins for the frameworks: what they record. python/frameworks uses the frameworks themselves."""
import json
import os
import sys
import types
import unittest
import warnings
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


def constant_cost():
    """Inside, lists of all iterations must not be made, since a step of a long training would then take long."""
    def refuse(_):
        raise AssertionError("a list of all iterations is made in a step")

    return mock.patch.object(howmany.Recorder, "seconds", property(refuse))


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
            with constant_cost():
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
            with constant_cost():
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
            with constant_cost():
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

    def test_accelerate_and_its_parallel_sizes(self):
        sizes = types.SimpleNamespace(dp_replicate_size=2, dp_shard_size=3, tp_size=4, cp_size=1)
        accelerator = types.SimpleNamespace(num_processes=24, process_index=0, mixed_precision="bf16", gradient_accumulation_steps=1,
                                            distributed_type="DistributedType.FSDP", parallelism_config=sizes, _models=[Wrapper(Model())])
        list(howmany.callbacks.accelerate(accelerator, [1, 2], to=self.store))
        run = self.stored()
        self.assertEqual((run.n, run["data_parallel"], run["tensor_parallel"], run["parameters"]), (24, 6, 4, 1024))

    def test_the_mesh_of_parameters_is_the_layout(self):
        mesh = types.SimpleNamespace(mesh_dim_names=("dp", "pp", "tp"), shape=(2, 3, 4))
        model = Model()
        parameters = [Parameter(1000), Parameter(24)]
        parameters[0].device_mesh = mesh
        model.parameters = lambda: iter(parameters)
        seen = howmany.callbacks.layout(model)
        self.assertEqual((seen["data_parallel"], seen["pipeline_parallel"], seen["tensor_parallel"]), (2, 3, 4))
        self.assertNotIn("tensor_parallel", howmany.callbacks.layout(Model()))

    def test_parameters_that_fsdp_shards_are_counted_whole(self):
        class FullyShardedDataParallel(Model):
            def parameters(self):
                flat = Parameter(256)  # this rank's shard
                flat._unpadded_unsharded_size = (1024,)
                return iter([flat])

        seen = howmany.callbacks.layout(FullyShardedDataParallel())
        self.assertEqual((seen["sharding"], seen["parameters"]), ("full", 1024))

    def test_deepspeed_with_groups_and_stages(self):
        groups = types.SimpleNamespace(get_model_parallel_world_size=lambda: 2)
        engine = types.SimpleNamespace(dp_world_size=8, module=Model(), train_batch_size=lambda: 128, zero_optimization_stage=lambda: 1,
                                       train_micro_batch_size_per_gpu=lambda: 4, gradient_accumulation_steps=lambda: 4, mpu=groups,
                                       num_stages=4)
        run = howmany.callbacks.deepspeed(engine, to=self.store)
        run.step()
        run.close()
        run = self.stored()
        self.assertEqual((run.n, run["data_parallel"], run["tensor_parallel"], run["pipeline_parallel"]), (64, 8, 2, 4))

    def test_keras_2_is_used_where_it_is_imported(self):
        with modules(tf_keras__callbacks="Callback"), mock.patch.dict(sys.modules, {"tf_keras": types.ModuleType("tf_keras")}):
            callback = howmany.callbacks.Keras(n=2, to=self.store)
            self.assertIsInstance(callback, sys.modules["tf_keras.callbacks"].Callback)

    def test_a_framework_that_is_missing(self):
        with mock.patch.dict(sys.modules, {"transformers": None}), self.assertRaises(ImportError):
            howmany.callbacks.HuggingFace()

    def test_the_sheet_of_a_model_can_be_planned(self):
        config = types.SimpleNamespace(num_hidden_layers=2, hidden_size=64, max_position_embeddings=128)
        job = howmany.callbacks.sheet(Wrapper(Model(config)), batch=512, cluster={"machine": "p3.2xlarge"})
        # 2 flop for a parameter and a token, and 4 · layers · hidden · tokens² for attention.
        self.assertEqual(job["network"], {"parameters": 1024, "forward": f"{2 * 1024 * 128 + 4 * 2 * 64 * 128 ** 2:.15g} flop"})
        self.assertEqual(howmany.plan(job).job, "Model")

    def test_the_sheet_of_a_transformer_is_its_shape(self):
        config = types.SimpleNamespace(
            max_position_embeddings=256, to_json_string=lambda use_diff: json.dumps({
                "model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 512,
                "num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": False, "max_position_embeddings": 256}))
        model = type("LlamaForCausalLM", (Model,), {})(config)
        job = howmany.callbacks.sheet(Wrapper(model), batch=16, cluster={"machine": "p4d.24xlarge"})
        network = job["network"]
        self.assertEqual((network["kind"], network["layers"], network["hidden"], network["kv_heads"]), ("transformer", 2, 64, 2))
        # Embeddings, and in each layer the projections of attention, the three matrices of a gated layer, and two norms.
        layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64
        self.assertEqual(network["published"], {"parameters": 2 * 512 * 64 + 2 * layer + 64})
        self.assertEqual((job["sequence"], job["batch"]), (256, "16 sequences"))
        self.assertEqual(howmany.plan(job).job, "LlamaForCausalLM")

    def test_the_sheet_of_a_mixture_of_experts(self):
        keys = {"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "vocab_size": 1000,
                "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2,
                "tie_word_embeddings": False}
        config = types.SimpleNamespace(max_position_embeddings=256, to_json_string=lambda use_diff: json.dumps(keys))
        job = howmany.callbacks.sheet(type("MixtralForCausalLM", (Model,), {})(config), batch=16, cluster={"machine": "p4d.24xlarge"})
        # As in a dense transformer, with four experts and the weights that choose between them.
        layer = 2 * 64 * 64 + 2 * 64 * 32 + 4 * 3 * 64 * 128 + 4 * 64 + 2 * 64
        self.assertEqual(job["network"]["published"], {"parameters": 2 * 1000 * 64 + 2 * layer + 64})
        self.assertEqual((job["network"]["experts"], job["network"]["experts_per_token"]), (4, 2))
        self.assertEqual(howmany.plan(job).job, "MixtralForCausalLM")

    def test_a_sheet_that_counts_too_little_warns(self):
        with self.assertWarnsRegex(RuntimeWarning, "give tokens"):
            howmany.callbacks.sheet(Model(types.SimpleNamespace(vocab_size=100)))
        filters = Parameter(9 * 64)
        filters.shape = (8, 8, 3, 3)
        model = types.SimpleNamespace(parameters=lambda: iter([filters]))
        with self.assertWarnsRegex(RuntimeWarning, "give example"):
            howmany.callbacks.sheet(model)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            howmany.callbacks.sheet(model, forward=1e9)
            howmany.callbacks.sheet(Model())

    def test_the_sheet_of_a_model_of_keras_has_its_layers(self):
        layers = [{"class_name": "InputLayer", "config": {"batch_shape": [None, 28, 28, 1], "name": "in"}},
                  {"class_name": "Conv2D", "config": {"name": "c", "filters": 8, "kernel_size": [3, 3], "strides": [1, 1],
                                                      "padding": "valid", "use_bias": True, "groups": 1, "dilation_rate": [1, 1],
                                                      "data_format": "channels_last"}}]
        text = json.dumps({"class_name": "Sequential", "config": {"name": "net", "layers": layers}, "keras_version": "3.15.1"})
        model = types.SimpleNamespace(count_params=lambda: 80, to_json=lambda: text)
        network = howmany.callbacks.sheet(model)["network"]
        # 26 x 26 positions, 8 filters of 3 x 3 weights, 2 flop each.
        self.assertEqual((network["parameters"], network["forward"]), (80, f"{2 * 26 * 26 * 8 * 9} flop"))

    def test_a_recorder_knows_the_sheet_of_its_model(self):
        run = howmany.callbacks.torch(Wrapper(Model()), to=self.store, batch=64)
        self.assertEqual(run.sheet(epochs=2), {"name": "Model", "network": {"parameters": 1024, "forward": "2048 flop"},
                                               "batch": 64, "epochs": 2})
        with self.assertRaisesRegex(ValueError, "does not know the model"):
            howmany.record(to=self.store).sheet()


class SparkLogs(Case):
    """The iterations of an event log: jobs of the same stages."""

    def log(self, jobs):
        """Write a log of two executors with a job for each (stage, seconds)."""
        events = [{"Event": "SparkListenerLogStart", "Spark Version": "4.3.0"},
                  {"Event": "SparkListenerApplicationStart", "App Name": "mllib", "App ID": "app-1", "Timestamp": 1000}]
        events += [{"Event": "SparkListenerExecutorAdded", "Timestamp": 1100, "Executor ID": str(i),
                    "Executor Info": {"Host": "h", "Total Cores": 1}} for i in range(2)]
        now = 2000
        for i, (name, seconds) in enumerate(jobs):
            stage = {"Stage ID": i, "Stage Attempt ID": 0, "Stage Name": f"{name} at L.scala:1", "Number of Tasks": 2}
            events.append({"Event": "SparkListenerJobStart", "Job ID": i, "Submission Time": now, "Stage Infos": [stage], "Stage IDs": [i]})
            now += int(1000 * seconds)
            events.append({"Event": "SparkListenerJobEnd", "Job ID": i, "Completion Time": now, "Job Result": {"Result": "JobSucceeded"}})
        events.append({"Event": "SparkListenerApplicationEnd", "Timestamp": now})
        path = os.path.join(os.path.dirname(self.store), "app-1")
        with open(path, "w", encoding="utf-8") as stream:
            stream.writelines(json.dumps(event) + "\n" for event in events)
        return path

    def test_the_group_that_took_most_time_is_recorded(self):
        log = self.log([("count", 0.1)] * 4 + [("treeAggregate", s) for s in (3, 2, 1, 1, 1)])
        howmany.callbacks.spark(log, to=self.store, batch=6000)
        run = list(howmany.Store(self.store).runs())[0]
        self.assertEqual((run.n, run.batch, run.iterations, run.job, run["framework"]), (2, 6000, 5, "treeAggregate", "spark"))
        self.assertAlmostEqual(run.seconds, 1)
        howmany.callbacks.spark(log, to=self.store, batch=6000)
        self.assertEqual(len(list(howmany.Store(self.store).runs())), 1, "a log is recorded once")

    def test_only_the_last_iterations(self):
        log = self.log([("treeAggregate", s) for s in (9, 9, 9, 9, 1, 2)])
        self.assertEqual([round(s, 6) for s in howmany.callbacks.spark(log, to=self.store, last=2).seconds], [1, 2])

    def test_a_log_without_iterations(self):
        with self.assertRaisesRegex(ValueError, "no job repeats three times"):
            howmany.callbacks.spark(self.log([("count", 1)] * 2), to=self.store)


if __name__ == "__main__":
    unittest.main()
