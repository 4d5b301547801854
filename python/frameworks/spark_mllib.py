"""Logistic regression or a multilayer perceptron of Spark MLlib on MNIST, on n executors in local-cluster mode.

The seconds of an iteration come from Spark's own event log: each iteration of L-BFGS is one job that sums gradients
(treeAggregate), from its start to its end. They are printed as lines that `howmany bench` reads.
"""
import argparse
import glob
import json
import os
import tempfile

from pyspark.ml.classification import LogisticRegression, MultilayerPerceptronClassifier
from pyspark.sql import SparkSession

from data import mnist

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=1)
parser.add_argument("--rows", type=int, default=6000)
parser.add_argument("--iterations", type=int, default=15)
parser.add_argument("--model", choices=["logistic", "perceptron"], default="logistic")
parser.add_argument("--keep-log", help="copy the event log to this file")
options = parser.parse_args()


def iterations_of(path):
    """Seconds of the jobs of an event log that sum gradients."""
    begun, seconds = {}, []
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                stages = " ".join(stage["Stage Name"] for stage in event["Stage Infos"])
                if "treeAggregate" in stages:
                    begun[event["Job ID"]] = event["Submission Time"]
            elif event["Event"] == "SparkListenerJobEnd" and event["Job ID"] in begun:
                seconds.append((event["Completion Time"] - begun[event["Job ID"]]) / 1000)
    return seconds


logs = tempfile.mkdtemp()
session = (SparkSession.builder.master(f"local-cluster[{options.n},1,1024]").appName(f"howmany {options.model}")
           .config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", "file://" + logs)
           .config("spark.eventLog.compress", "false").config("spark.eventLog.rolling.enabled", "false")
           .config("spark.ui.enabled", "false").config("spark.driver.memory", "1g")
           .config("spark.executor.memory", "1g").config("spark.driver.bindAddress", "127.0.0.1")
           .config("spark.driver.host", "127.0.0.1").config("spark.default.parallelism", str(options.n)).getOrCreate())
session.sparkContext.setLogLevel("ERROR")
images, labels = mnist(options.rows)
data = os.path.join(logs, "mnist.libsvm")
with open(data, "w", encoding="utf-8") as stream:
    for image, label in zip(images, labels):
        stream.write(f"{label} " + " ".join(f"{i + 1}:{value:.4g}" for i, value in enumerate(image) if value > 0) + "\n")
rows = session.read.format("libsvm").option("numFeatures", "784").load(data).repartition(options.n).cache()
rows.count()
if options.model == "logistic":
    LogisticRegression(maxIter=options.iterations, regParam=0.01, tol=0).fit(rows)
else:
    MultilayerPerceptronClassifier(layers=[784, 128, 10], maxIter=options.iterations, seed=1, tol=1e-12,
                                   blockSize=128).fit(rows)
session.stop()
log = [path for path in glob.glob(logs + "/*") if not path.endswith(".libsvm")][0]
if os.path.isdir(log):
    log = sorted(glob.glob(log + "/events_*"))[0]
for i, seconds in enumerate(iterations_of(log), 1):
    print(json.dumps({"iteration": i, "seconds": seconds}))
if options.keep_log:
    os.replace(log, options.keep_log)
