"""Logistic regression (the tasks `softmax` and `logistic`) or a multilayer perceptron of Spark MLlib on n executors in
local-cluster mode, or on the standalone cluster that --master names.

The seconds of an iteration come from Spark's own event log: each iteration of L-BFGS is a job that sums gradients. A short
fit before the measured one gives the JVMs time to compile. The lines that are printed are those that `howmany bench` reads.
"""
import argparse
import glob
import os
import shutil
import subprocess
import tempfile

from pyspark.ml.classification import LogisticRegression, MultilayerPerceptronClassifier
from pyspark.sql import SparkSession

import howmany
from data import SPARK_ROWS, TASKS, limit, task_rows

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=1)
parser.add_argument("--rows", type=int, default=0)
parser.add_argument("--iterations", type=int, default=8)
parser.add_argument("--task", choices=SPARK_ROWS, default="softmax")
parser.add_argument("--master", help="spark://… (default: local-cluster)")
parser.add_argument("--keep-log", help="copy the event log to this file")
parser.add_argument("--to", default="-")
parser.add_argument("--plain", action="store_true", help="do not record: howmany bench reads Spark's own messages (of spark-submit)")
options = parser.parse_args()
rows_used = options.rows or SPARK_ROWS[options.task]
sizes = TASKS[options.task]


def executors():
    """Process ids of the executors of this application."""
    found = subprocess.run(["pgrep", "-f", f"CoarseGrainedExecutorBackend.*{session.sparkContext.applicationId}"],
                           stdout=subprocess.PIPE, check=False).stdout.split()
    return [int(pid) for pid in found if os.path.realpath(f"/proc/{int(pid)}/exe").endswith("java")]


def write_rows(path):
    """Write the rows of the task for Spark, under another name until they are complete. With HOWMANY_ROWS they are kept for
    later runs, because formatting them takes longer than training."""
    features, labels = task_rows(options.task, rows_used)
    with open(path + ".part", "w", encoding="utf-8") as stream:
        for row, label in zip(features[:rows_used], labels):
            stream.write(f"{label} " + " ".join(f"{i + 1}:{row[i]:.4g}" for i in row.nonzero()[0]) + "\n")
    os.rename(path + ".part", path)


logs = tempfile.mkdtemp()
session = (SparkSession.builder.master(options.master or f"local-cluster[{options.n},1,1024]").appName(f"howmany {options.task}")
           .config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", "file://" + logs)
           .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
           .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # starts with half the work
           .config("spark.executor.memory", "1g").config("spark.cores.max", str(options.n)).config("spark.executor.cores", "1")
           .config("spark.driver.bindAddress", os.environ["SPARK_LOCAL_IP"]).config("spark.driver.host", os.environ["SPARK_LOCAL_IP"])
           .config("spark.scheduler.minRegisteredResourcesRatio", "1").config("spark.locality.wait", "0")
           .config("spark.scheduler.maxRegisteredResourcesWaitingTime", "300s")
           .config("spark.default.parallelism", str(options.n)).getOrCreate())
session.sparkContext.setLogLevel("INFO" if options.plain else "ERROR")
folder = tempfile.mkdtemp()
path = os.path.join(os.environ.get("HOWMANY_ROWS", folder), f"{options.task}-{rows_used}.libsvm")
if not os.path.exists(path):
    write_rows(path)
rows = session.read.format("libsvm").option("numFeatures", str(sizes[0])).load(path).repartition(options.n).cache()
rows.count()


def fit(iterations):
    if len(sizes) == 2:
        LogisticRegression(maxIter=iterations, regParam=0.01, tol=0).fit(rows)
    else:
        MultilayerPerceptronClassifier(layers=sizes, maxIter=iterations, seed=1, tol=1e-12, blockSize=128).fit(rows)


fit(5)
for node, process in enumerate(executors()):
    limit(node, process)
fit(options.iterations)
session.stop()
log = glob.glob(logs + "/*")[0]
if not options.plain:
    howmany.callbacks.spark(log, to=options.to, last=options.iterations, batch=rows_used, job=options.task)
if options.keep_log:
    shutil.move(log, options.keep_log)
shutil.rmtree(logs)
shutil.rmtree(folder)
