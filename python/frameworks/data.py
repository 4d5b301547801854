"""What the programs of this folder share: the tasks with their rows and options, and the processor time of a worker."""
import argparse
import gzip
import os
import sys

import numpy

BATCH = 4608  # rows of an iteration of the whole job
#: Rows of an iteration of the task `logistic`, whose rows are long; and the rows of Spark, which uses all of them in each iteration.
LOGISTIC_BATCH = 1500
SPARK_ROWS = {"logistic": 600, "softmax": 30000, "one-layer": 36000, "two-layers": 36000}
#: Tasks of `howmany compare`, and `wide`: the widths of the layers, from the features to the classes; one output means two classes.
TASKS = {"logistic": [10000, 1], "softmax": [784, 10], "one-layer": [784, 128, 10], "two-layers": [784, 128, 64, 10],
         "wide": [784, 1024, 1024, 10]}


def read_idx(folder, name):
    for path in (os.path.join(folder, name), os.path.join(folder, name + ".gz")):
        if os.path.exists(path):
            with (gzip.open if path.endswith(".gz") else open)(path, "rb") as stream:
                data = stream.read()
            count = data[3]
            shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(count)]
            return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * count).reshape(shape)
    return None


def mnist(rows=60000):
    """Images as rows of 784 numbers from 0 to 1, and labels. Without the files, random rows of the same shape
    are used: times are then the same as with MNIST, but losses are not."""
    folder = os.path.join(os.environ.get("HOWMANY_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data")), "mnist")
    images, labels = read_idx(folder, "train-images-idx3-ubyte"), read_idx(folder, "train-labels-idx1-ubyte")
    if images is None or labels is None:
        print("MNIST is not there; random images are used", file=sys.stderr)
        random = numpy.random.default_rng(1)
        images, labels = random.integers(0, 256, (rows, 28, 28), numpy.uint8), random.integers(0, 10, rows, numpy.uint8)
    return images[:rows].reshape(-1, 784).astype(numpy.float32) / 255, labels[:rows].astype(numpy.int64)


def task_rows(task, rows=12288):
    """Features and labels of a task: images of MNIST, or for `logistic` random rows, as many as its batch."""
    if task != "logistic":
        return mnist(rows)
    random = numpy.random.default_rng(1)
    features = random.standard_normal((LOGISTIC_BATCH, TASKS[task][0]), numpy.float32)
    return features, (features[:, :8].sum(1) > 0).astype(numpy.int64)


def batch_of(task):
    """Rows of an iteration of a task, of the whole job."""
    return LOGISTIC_BATCH if task == "logistic" else BATCH


def task_parser():
    """A parser of the options that all programs with tasks have; batch_of gives the batch if --batch is absent."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=TASKS, default="one-layer")
    parser.add_argument("--batch", type=int, help="rows of an iteration of the whole job")
    parser.add_argument("--weak", action="store_true", help="the batch is that of each worker")
    parser.add_argument("--steps", type=int, default=25, help="iterations to make")
    parser.add_argument("--to", default="-", help="where the recorder writes (howmany.record)")
    return parser


def shares(options, n):
    """Rows of an iteration of one worker, and of all n workers."""
    batch = options.batch or batch_of(options.task)
    share = batch if options.weak else batch // n
    return share, share * n


def limit(node, process=0):
    """Give a process (0: this one) the processor time of a node: a part of a core that no other program takes.

    HOWMANY_NODES is the folder of control groups that tools/run-frameworks makes; without it nothing happens. Programs
    call this after their start, so that importing a framework takes no longer than elsewhere.
    """
    folder = os.environ.get("HOWMANY_NODES")
    if folder:
        with open(os.path.join(folder, str(node), "cgroup.procs"), "w", encoding="ascii") as stream:
            stream.write(str(process or os.getpid()))
