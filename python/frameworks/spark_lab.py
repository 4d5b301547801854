"""spark_mllib.py on a standalone cluster of Spark in a lab: spark_lab.py --lab NAME --n 3 [OPTION OF spark_mllib.py]…

The master and the driver are on the first node, and a worker with one executor is on each of the first n nodes.
"""
import argparse
import os
import subprocess
import sys

import pyspark

parser = argparse.ArgumentParser()
parser.add_argument("--lab", required=True)
parser.add_argument("--n", type=int, required=True)
options, rest = parser.parse_known_args()
spark_class = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
master = "spark://10.87.0.1:7077"


def start(node, *command):
    """Start a command on a node, counted from 1; its output is not that of the training."""
    environment = {**os.environ, "SPARK_LOCAL_IP": f"10.87.0.{node}", "SPARK_DAEMON_MEMORY": "256m",
                   "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
    shown = {} if command[0] == "python" else {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(["howmany", "lab", "run", "--name", options.lab, "--on", str(node), "--", *command], env=environment,
                            stdin=subprocess.DEVNULL, **shown)


package = "org.apache.spark.deploy"
services = [start(1, spark_class, f"{package}.master.Master", "--host", "10.87.0.1", "--port", "7077", "--webui-port", "0")]
services += [start(i, spark_class, f"{package}.worker.Worker", "--host", f"10.87.0.{i}", "--cores", "1", "--memory", "1g",
                   "--webui-port", "0", master) for i in range(1, options.n + 1)]
try:
    program = os.path.join(os.path.dirname(__file__), "spark_mllib.py")
    code = start(1, "python", program, "--master", master, "--n", str(options.n), *rest).wait()
finally:
    for service in services:
        service.terminate()
        service.wait()
sys.exit(code)
