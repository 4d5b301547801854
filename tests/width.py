#!/usr/bin/env python3
"""Runs commands on terminals of 80 and 60 columns, and prints every line of an answer that is wider. Commands that are
shown for copying (lines that begin with "howmany") and messages on standard error are not wrapped.
Usage: width.py PROGRAM"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

COMMANDS = """plan resnet-50 --epochs 90 --on p4d.24xlarge --table
plan resnet-50 --epochs 90 --on p4d.24xlarge,p5.48xlarge,g5.12xlarge --deadline 2h
plan llama-3-8b --tokens 1T --on p5.48xlarge --table
plan llama-3-8b --tokens 1T --on p5.48xlarge --explain-layout
fit examples/runs.csv --target 64
advise examples/mnist-traces.csv.gz --loss 1e-4
converge examples/runs.csv --help
recommend examples/anwar.csv --batch 64000 --latency 20ms
design --n 1,2,4,8 --size 0.1,0.5,1 --budget 2
graph --generate grid --vertices 1000 --parts 2..8 --split dealt,greedy
catalog list machines
catalog list networks
catalog show p5.48xlarge
validate
validate --papers
import examples/nccl-tests.txt
calibrate --replay examples/h200-timings.json -o /dev/null
train -d digits:50 -i 3 --text
help""".split("\n")
SUBCOMMANDS = "plan bench design advise runs import serve fit converge recommend graph catalog train study steer compare lab validate calibrate init completion man".split()


def lines(program, arguments, width, progress=False):
    """The lines that a command writes to a terminal of this width, without colours: its answer, or its progress."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    streams = {"stdout": subprocess.DEVNULL, "stderr": theirs} if progress else {"stdout": theirs, "stderr": subprocess.DEVNULL}
    child = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, env=environment, **streams)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # The command has ended.
            break
        text += piece
    child.wait()
    os.close(ours)
    if not text:
        sys.exit(f"{' '.join(arguments)}: no output")
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", text.decode("utf-8"))
    return re.split(r"[\r\n]+", plain) if progress else plain.replace("\r", "").split("\n")


wide = 0
for width in (80, 60):
    for command in COMMANDS + ([f"{name} --help" for name in SUBCOMMANDS] if width == 80 else []):
        for line in lines(sys.argv[1], command.split(), width):
            if len(line) > width and (width == 80 or not re.match(r"\s*howmany |A first answer", line)):
                print(f"{width} columns, howmany {command}: {line}")
                wide = 1
shown = [line for line in lines(sys.argv[1], ["bench", "sleep 0.{n}", "-n", "3,4", "--repeat", "2"], 16, progress=True) if line.startswith("bench: ")]
if not shown or max(map(len, shown)) != 15:  # It is cut before the last column.
    print(f"progress on 16 columns: {shown}")
    wide = 1
sys.exit(wide)
