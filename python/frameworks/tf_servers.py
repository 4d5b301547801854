"""A perceptron on MNIST with parameter servers of TensorFlow: asynchronous workers; launch.py --servers 1 starts it.

A round is one step of each worker on its share of the batch. Workers do not wait for each other within ten rounds, and
the seconds of a round are those of the ten, divided by ten.
"""
import argparse
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf

from data import BATCH, TASKS, limit, mnist, widths

parser = argparse.ArgumentParser()
parser.add_argument("--task", choices=TASKS, default="one-layer")
parser.add_argument("--batch", type=int, default=BATCH)
parser.add_argument("--weak", action="store_true")
parser.add_argument("--rounds", type=int, default=40)
options = parser.parse_args()

TOGETHER = 10  # number of rounds between two measured times
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(2)
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if resolver.task_type in ("worker", "ps"):
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                                  protocol="grpc", start=True)
    while not os.path.exists(os.environ["HOWMANY_BEGIN"]):  # the coordinator makes this file after the first steps
        time.sleep(0.1)
    limit(os.environ["HOWMANY_NODE"])
    server.join()

n = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])
share = options.batch if options.weak else options.batch // n
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
sizes = widths(options.task)
with strategy.scope():
    weights = [tf.Variable(tf.random.normal((i, o), stddev=i ** -0.5)) for i, o in zip(sizes, sizes[1:])]
    offsets = [tf.Variable(tf.zeros(o)) for o in sizes[1:]]


def batches():
    images, labels = mnist(6144)
    return tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(share, drop_remainder=True)


@tf.function
def step(iterator):
    images, labels = next(iterator)
    with tf.GradientTape() as tape:
        values = images
        for i, (weight, offset) in enumerate(zip(weights, offsets)):
            values = tf.matmul(values, weight) + offset
            values = tf.nn.relu(values) if i + 1 < len(weights) else values
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, values))
    for variable, gradient in zip(weights + offsets, tape.gradient(loss, weights + offsets)):
        variable.assign_sub(0.05 * gradient)
    return loss


def rounds(count):
    values = [coordinator.schedule(step, args=(iterator,)) for _ in range(count * n)]
    coordinator.join()
    return values[-1].fetch()


iterator = iter(coordinator.create_per_worker_dataset(batches))
rounds(3)
with open(os.environ["HOWMANY_BEGIN"], "w", encoding="ascii"):
    time.sleep(1)
for i in range(options.rounds // TOGETHER):
    begin = time.perf_counter()
    loss = rounds(TOGETHER)
    print(json.dumps({"iteration": i + 1, "seconds": (time.perf_counter() - begin) / TOGETHER, "loss": float(loss)}), flush=True)
