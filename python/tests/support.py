"""Helpers that several tests use: paths, the command line, and a server."""
import os
import re
import subprocess
import tempfile
import unittest
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "howmany")


def example(name):
    return os.path.join("examples", name)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def command(*words, code=0):
    """The output of the command line for these arguments."""
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode != code:
        raise AssertionError(f"howmany {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


class Server:
    """`howmany serve` on a port that it chooses, with a store and further options."""

    def __init__(self, store, *options):
        # The limit of time is long, because a busy machine must not fail a test.
        self.process = subprocess.Popen([PROGRAM, "serve", "--quiet", "--listen", "127.0.0.1:0", "--time-limit", "60s", "--record",
                                         store, *options],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.address = ""
        for line in self.process.stdout:
            found = re.search(r"http://[^\s/]+", line)
            if found:
                self.address = found.group(0)
                break

    def post(self, path, body, kind="application/json"):
        data = body if isinstance(body, bytes) else body.encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": kind}, method="POST")
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.read().decode()

    def get(self, path):
        with urllib.request.urlopen(self.address + path, timeout=60) as response:
            return response.read().decode()

    def close(self):
        self.process.terminate()
        self.process.stdout.close()
        self.process.wait()


class Case(unittest.TestCase):
    """A test in the root of the project, with a folder and a store of its own."""

    def setUp(self):
        os.chdir(ROOT)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.store = os.path.join(self.folder, "runs.db")
        before = os.environ.get("HOWMANY_DB")
        os.environ["HOWMANY_DB"] = os.path.join(self.folder, "own.db")
        self.addCleanup(lambda: os.environ.update(HOWMANY_DB=before) if before else os.environ.pop("HOWMANY_DB", None))
