"""Start a program on n nodes: launch.py -n 3 [--servers 1] [--lab NAME] PROGRAM [ARGUMENT]…

Each worker is one process, on this machine or on a node of `howmany lab` of its own. It gets the variables of torchrun
(RANK, WORLD_SIZE, MASTER_ADDR, …) and TF_CONFIG of TensorFlow. With --servers there are parameter servers and a
coordinator too; servers are on the nodes after those of the workers, the coordinator is on the first node. The output is
that of rank 0, or of the coordinator. If one process fails, the others are ended.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("-n", type=int, required=True)
parser.add_argument("--servers", type=int, default=0)
parser.add_argument("--lab", help="name of a lab with a node for each worker and server")
parser.add_argument("program", nargs=argparse.REMAINDER)
options = parser.parse_args()
port = random.randrange(20000, 30000, 40)
begin = os.path.join(tempfile.mkdtemp(), "begin")  # a coordinator makes this file when it begins to measure times


def address(node):
    """Host of a node, counted from 0."""
    return f"10.87.0.{node + 1}" if options.lab else "127.0.0.1"


def start(role, index, node):
    """Start one process. Its role is worker, ps or chief; `node` counts the workers and servers."""
    cluster = {"worker": [f"{address(i)}:{port + i}" for i in range(options.n)]}
    if options.servers:
        cluster["ps"] = [f"{address(options.n + i)}:{port + options.n + i}" for i in range(options.servers)]
        cluster["chief"] = [f"{address(0)}:{port + 39}"]
    shown = role == "chief" or not options.servers and index == 0
    environment = {**os.environ, "RANK": str(index), "WORLD_SIZE": str(options.n), "LOCAL_RANK": "0", "NODE_RANK": str(index),
                   "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": address(0), "MASTER_PORT": str(port + 38),
                   "GLOO_SOCKET_IFNAME": "lab0" if options.lab else "lo", "HOWMANY_NODE": str(node), "HOWMANY_BEGIN": begin,
                   "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": role, "index": index}})}
    inside = ["howmany", "lab", "run", "--name", options.lab, "--on", str(node + 1), "--"] if options.lab else []
    return subprocess.Popen([*inside, *options.program], env=environment, stdin=subprocess.DEVNULL,
                            stdout=None if shown else sys.stderr)


workers = [start("worker", i, i) for i in range(options.n)]
servers = [start("ps", i, options.n + i) for i in range(options.servers)]
awaited = [start("chief", 0, 0)] if options.servers else workers
code = 0
try:
    while code == 0 and any(process.poll() is None for process in awaited):
        code = max((abs(process.returncode or 0) for process in workers + servers + awaited), default=0)
        time.sleep(0.05)
    code = code or max(abs(process.returncode or 0) for process in awaited)
finally:
    for process in workers + servers + awaited:
        if process.poll() is None:
            process.kill()
        process.wait()
    shutil.rmtree(os.path.dirname(begin))
sys.exit(code)
