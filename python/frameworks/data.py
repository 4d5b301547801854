"""What the programs of this folder share: MNIST, the tasks, and the processor time of a worker."""
import gzip
import os
import sys

import numpy

BATCH = 4608  # rows of an iteration of the whole job
SPARK_ROWS = {"logistic": 30000, "perceptron": 36000}  # Spark uses all rows in each iteration
#: Tasks of `howmany compare` on MNIST, and `wide`: the widths of the hidden layers.
TASKS = {"softmax": [], "one-layer": [128], "two-layers": [128, 64], "wide": [1024, 1024]}


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


def widths(task):
    """Widths of all layers of a task, from the pixels to the classes."""
    return [784, *TASKS[task], 10]


def limit(node, process=0):
    """Give a process (0: this one) the processor time of a node: a part of a core that no other program takes.

    HOWMANY_NODES is the folder of control groups that tools/run-frameworks makes; without it nothing happens. Programs
    call this after their start, so that importing a framework takes no longer than elsewhere.
    """
    folder = os.environ.get("HOWMANY_NODES")
    if folder:
        with open(os.path.join(folder, str(node), "cgroup.procs"), "w", encoding="ascii") as stream:
            stream.write(str(process or os.getpid()))
