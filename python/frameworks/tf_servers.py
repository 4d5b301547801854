"""A perceptron on MNIST with parameter servers of TensorFlow: asynchronous workers; launch.py --servers 1 starts it.

A round is one step of each worker on its share of the batch. Workers do not wait for each other within ten rounds, and
the seconds of a round are those of the ten, divided by ten.
"""
import json
import os
import time

from data import TASKS, limit, shares, task_parser
from tf_task import batches, cluster, set_threads
from tf_task import tensorflow as tf

parser = task_parser()
parser.set_defaults(steps=40)
options = parser.parse_args()

TOGETHER = 10  # number of rounds between two measured times
set_threads(2)
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
if resolver.task_type in ("worker", "ps"):
    server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type, task_index=resolver.task_id,
                                  protocol="grpc", start=True)
    while not os.path.exists(os.environ["HOWMANY_BEGIN"]):  # the coordinator makes this file after the first steps
        time.sleep(0.1)
    limit(os.environ["HOWMANY_NODE"])
    server.join()

n, _ = cluster()
share, _ = shares(options, n)
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
sizes = TASKS[options.task]
with strategy.scope():
    weights = [tf.Variable(tf.random.normal((i, o), stddev=i ** -0.5)) for i, o in zip(sizes, sizes[1:])]
    offsets = [tf.Variable(tf.zeros(o)) for o in sizes[1:]]


@tf.function
def step(iterator):
    images, labels = next(iterator)
    with tf.GradientTape() as tape:
        values = images
        for i, (weight, offset) in enumerate(zip(weights, offsets)):
            values = tf.matmul(values, weight) + offset
            values = tf.nn.relu(values) if i + 1 < len(weights) else values
        if sizes[-1] == 1:
            losses = tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(labels, tf.float32), values[:, 0])
        else:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, values)
        loss = tf.reduce_mean(losses)
    for variable, gradient in zip(weights + offsets, tape.gradient(loss, weights + offsets)):
        variable.assign_sub(0.05 * gradient)
    return loss


def rounds(count):
    values = [coordinator.schedule(step, args=(iterator,)) for _ in range(count * n)]
    coordinator.join()
    return values[-1].fetch()


iterator = iter(coordinator.create_per_worker_dataset(lambda: batches(options.task, share)))
rounds(3)
with open(os.environ["HOWMANY_BEGIN"], "w", encoding="ascii"):
    time.sleep(1)
for i in range(options.steps // TOGETHER):
    begin = time.perf_counter()
    loss = rounds(TOGETHER)
    print(json.dumps({"iteration": i + 1, "seconds": (time.perf_counter() - begin) / TOGETHER, "loss": float(loss)}), flush=True)
