#!/usr/bin/python3
"""Counts and sums over files of training data, computed independently of src/inputs/data.

Each line: where (shared: the shared data, source: this repository), file, test (1: t10k of a folder), rows,
features, entries that are not zero, most entries of a row, sum of the values, a checksum, and the labels as
label:count:line. The checksum is the sum of value * (column % 97 + 1) * (row % 89 + 1), both from 0; it is printed
with 17 digits and compared with a relative tolerance, as sums depend on their order.

    tools/oracle/data.py SHARED-DATA >tests/data/data.tsv
"""
import csv
import gzip
import math
import os
import struct
import sys

import numpy

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def contents(path):
    data = open(path, "rb").read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def idx(folder, test):
    name = "t10k" if test else "train"
    images = contents(f"{folder}/{name}-images-idx3-ubyte.gz")
    labels = contents(f"{folder}/{name}-labels-idx1-ubyte.gz")
    magic, count, height, width = struct.unpack(">4I", images[:16])
    assert magic == 0x803 and struct.unpack(">2I", labels[:8]) == (0x801, count)
    pixels = numpy.frombuffer(images, numpy.uint8, offset=16).reshape(count, height * width)
    for i in range(count):
        columns = numpy.flatnonzero(pixels[i])
        yield i + 1, float(labels[8 + i]), columns, pixels[i][columns].astype(float), height * width


def libsvm(path):
    for number, line in enumerate(contents(path).decode("ascii").split("\n"), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        pairs = [word.split(":") for word in words[1:]]
        columns = numpy.array([int(index) - 1 for index, _ in pairs], dtype=int)
        values = numpy.array([float(value) for _, value in pairs])
        yield number, float(words[0]), columns, values, int(columns[-1]) + 1 if len(pairs) else 0


def table(path):
    lines = contents(path).decode("ascii").split("\n")
    numbered = [(i, line) for i, line in enumerate(lines, 1) if line and not line.startswith("#")]
    names = next(csv.reader([numbered[0][1]]))
    for number, line in numbered[1:]:
        values = [float(field) for field in next(csv.reader([line]))]
        label = values.pop(names.index("label"))
        yield number, label, numpy.arange(len(values)), numpy.array(values), len(values)


def describe(rows):
    count = features = entries = most = 0
    sums, checks, labels = [], [], {}
    for line, label, columns, values, width in rows:
        here = int(numpy.count_nonzero(values))
        features, entries, most = max(features, width), entries + here, max(most, here)
        sums.append(math.fsum(values))
        checks.append(math.fsum(values * (columns % 97 + 1)) * (count % 89 + 1))
        labels.setdefault(label, [0, line])[0] += 1
        count += 1
    told = ",".join(f"{label:.17g}:{n}:{line}" for label, (n, line) in sorted(labels.items()))
    return f"{count}\t{features}\t{entries}\t{most}\t{math.fsum(sums):.17g}\t{math.fsum(checks):.17g}\t{told}"


def main():
    shared = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "..", "shared", "data")
    print("# made by data.py: where, file, test, rows, features, entries, most, sum, checksum, labels")
    for test in (0, 1):
        print(f"shared\tmnist\t{test}\t{describe(idx(shared + '/mnist', test))}")
    for name in ("libsvm/a9a.gz", "libsvm/a9a.t.gz", "libsvm/w8a.gz", "cocoa/small_train.dat.gz"):
        print(f"shared\t{name}\t0\t{describe(libsvm(f'{shared}/{name}'))}")
    print(f"source\ttests/data/data-small.libsvm\t0\t{describe(libsvm(SOURCE + '/tests/data/data-small.libsvm'))}")
    print(f"source\ttests/data/data-small.csv\t0\t{describe(table(SOURCE + '/tests/data/data-small.csv'))}")


if __name__ == "__main__":
    main()
