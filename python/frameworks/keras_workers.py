"""A perceptron on MNIST with Keras and MultiWorkerMirroredStrategy (gRPC); launch.py starts one process a worker.

With --plain, Keras prints its own lines, which `howmany bench` reads; otherwise the callback records. Under this strategy
it uses tf_keras, the Keras 2 that is kept up with TensorFlow, because fit of Keras 3.15 fails with "Attempt to convert a value
(PerReplica…". Without launch.py it uses Keras 3.
"""
import argparse
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow

import howmany
from data import BATCH, TASKS, limit, mnist, widths

parser = argparse.ArgumentParser()
parser.add_argument("--task", choices=TASKS, default="one-layer")
parser.add_argument("--batch", type=int, default=BATCH)
parser.add_argument("--weak", action="store_true")
parser.add_argument("--steps", type=int, default=25)
parser.add_argument("--to", default="-")
parser.add_argument("--plain", action="store_true")
options = parser.parse_args()

tensorflow.config.threading.set_intra_op_parallelism_threads(1)
tensorflow.config.threading.set_inter_op_parallelism_threads(1)
config = json.loads(os.environ.get("TF_CONFIG", "{}"))
n, rank = len(config.get("cluster", {}).get("worker", [0])), config.get("task", {}).get("index", 0)
batch = options.batch * n if options.weak else options.batch
if config:
    import tf_keras as keras
else:
    import keras
strategy = tensorflow.distribute.MultiWorkerMirroredStrategy() if config else tensorflow.distribute.get_strategy()


class Limit(keras.callbacks.Callback):
    """Moves this process to the control group of its node after the first steps."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            limit(rank)


images, labels = mnist(12288)
batches = tensorflow.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(batch, drop_remainder=True)
settings = tensorflow.data.Options()
settings.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.DATA
with strategy.scope():
    model = keras.Sequential([keras.layers.Input((784,)),
                              *(keras.layers.Dense(width, activation="relu") for width in TASKS[options.task]),
                              keras.layers.Dense(widths(options.task)[-1])])
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
recorder = [] if options.plain else [howmany.callbacks.Keras(n=n, rank=rank, batch=batch, to=options.to)]
model.fit(batches.with_options(settings), steps_per_epoch=options.steps, epochs=1, callbacks=[*recorder, Limit()],
          verbose=2 if options.plain and rank == 0 else 0)
