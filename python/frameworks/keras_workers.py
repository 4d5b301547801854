"""A perceptron on MNIST with Keras and MultiWorkerMirroredStrategy (gRPC); launch.py starts one process a worker.

With --plain, Keras prints its own lines, which `howmany bench` reads; otherwise the callback records. Under this strategy
it uses tf_keras, the Keras 2 that is kept up with TensorFlow, because fit of Keras 3.15 fails with "Attempt to convert a value
(PerReplica…". Without launch.py it uses Keras 3.
"""
import os

import howmany
from data import TASKS, limit, shares, task_parser
from tf_task import batches, cluster, set_threads, tensorflow

parser = task_parser()
parser.add_argument("--plain", action="store_true")
options = parser.parse_args()

set_threads(1)
n, rank = cluster()
share, batch = shares(options, n)
several = "TF_CONFIG" in os.environ
if several:
    import tf_keras as keras
else:
    import keras
strategy = tensorflow.distribute.MultiWorkerMirroredStrategy() if several else tensorflow.distribute.get_strategy()


class Limit(keras.callbacks.Callback):
    """Moves this process to the control group of its node after the first steps."""

    def on_train_batch_end(self, batch, logs=None):
        if batch == 2:
            limit(rank)


settings = tensorflow.data.Options()
settings.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.DATA
with strategy.scope():
    first, *hidden, last = TASKS[options.task]
    model = keras.Sequential([keras.layers.Input((first,)), *(keras.layers.Dense(width, activation="relu") for width in hidden),
                              keras.layers.Dense(last)])
    loss = keras.losses.BinaryCrossentropy if last == 1 else keras.losses.SparseCategoricalCrossentropy
    model.compile(optimizer=keras.optimizers.SGD(0.05), loss=loss(from_logits=True))
recorder = [] if options.plain else [howmany.callbacks.Keras(n=n, rank=rank, batch=batch, to=options.to)]
model.fit(batches(options.task, batch).with_options(settings), steps_per_epoch=options.steps, epochs=1, callbacks=[*recorder, Limit()],
          verbose=2 if options.plain and rank == 0 else 0)
