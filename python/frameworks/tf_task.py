"""What the programs with TensorFlow share: its settings, the number of this worker, and the rows of a task."""
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow

from data import task_rows


def set_threads(between):
    """One thread for an operation, and `between` for operations that do not depend on each other."""
    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(between)


def cluster():
    """The number of workers and the index of this process, from TF_CONFIG; 1 and 0 without it."""
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    return len(config.get("cluster", {}).get("worker", [0])), config.get("task", {}).get("index", 0)


def batches(task, rows):
    """Rows of a task, repeated, in batches."""
    return tensorflow.data.Dataset.from_tensor_slices(task_rows(task)).repeat().batch(rows, drop_remainder=True)
