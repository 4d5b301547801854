#!/usr/bin/python3
"""Fits the cost of staleness to examples/stale-traces.csv.gz with scipy, as a reference that shares no code with howmany.

    howmany converge examples/stale-traces.csv.gz --save fit.json >/dev/null
    python3 tools/oracle/stale.py fit.json >tests/data/stale.tsv

Needs numpy and scipy (Debian: python3-scipy; made with 1.24.2 and 1.10.1). The loss curve g
comes from the stored fit, because converge.py is the reference for it; Python evaluates its terms and forms. A fresh trace
is one without staleness. With y = ln(P - P*), the shape of y on m workers is the sum of g; of a line over ln i, fitted to
the deviations of the fresh traces of m from g (10 is added to the sum of squares, which shrinks the slope); and of the
remaining deviations, smoothed by a Gaussian kernel of width 0.2 in ln i that ends at four widths, with 0.02 points of
value 0 added. Before the first iteration of all fresh traces the shape is constant. A stale trace is the shape at
ln i - ln c,

    ln c = level + growth s^exponent + power ln m,

Each pair of staleness and m has the weight 1, divided evenly among its traces and their points, and 1e-6 theta^2 is
added. Lines of the output:

    fit algorithm ssp|async traces level growth power exponent error without held_out
    way algorithm ssp|async uses exponent held_out          each model that is considered; `uses` has a letter for each
                                                            coefficient (level, growth, power) or "-", such as "lg-"
"""
import csv
import gzip
import json
import math
import os
import sys

import numpy as np
from scipy.optimize import least_squares

root = os.path.join(os.path.dirname(__file__), "..", "..")
LEAST, MOST = -2.8, 5.5


def terms(text, i, m):
    return eval(text.replace("^", "**"), {"i": i, "m": m, "ln": np.log, "sqrt": np.sqrt})  # the formulas come from a file that howmany wrote


def g_of(a):
    theta = [p["value"] for p in a["parameters"]]
    texts = [p["text"] for p in a["parameters"]]

    def value(i, m):
        if a["form"] == "terms":
            return sum(t * terms(x, i, m) for t, x in zip(theta, texts)) + 0 * i
        if a["form"] == "power":
            return theta[0] + theta[1] * math.log(m) - (theta[2] + theta[3] * math.log(m)) * np.log(i)
        raise SystemExit("not needed so far: " + a["form"])

    return value


class Shape:
    def __init__(self, g, m, fresh, first):
        self.g, self.m, self.first = g, m, first
        self.x = np.concatenate([t["x"] for t in fresh])
        y = np.concatenate([t["y"] for t in fresh])
        off = y - g(np.exp(self.x), m)
        mx, my = self.x.mean(), off.mean()
        self.slope = ((self.x - mx) * off).sum() / (((self.x - mx) ** 2).sum() + 10)
        self.level = my - self.slope * mx
        self.rest = off - self.level - self.slope * self.x

    def __call__(self, x):
        x = np.maximum(x, self.first)
        apart = (x[:, None] - self.x[None, :]) / 0.2
        near = np.where(np.abs(apart) <= 4, np.exp(-apart**2 / 2), 0)
        return (
            self.g(np.exp(x), self.m) + self.level + self.slope * x + (near @ self.rest) / (near.sum(axis=1) + 0.02)
        )


def features(exponent, s, m):
    return np.array([1.0, 0.0 if math.isinf(s) else s**exponent, math.log(m)])


def residuals(theta, uses, exponent, traces, shapes):
    full = np.zeros(3)
    full[uses] = theta
    rows = [1e-3 * theta]
    for t in traces:
        cost = min(max(full @ features(exponent, t["s"], t["m"]), LEAST), MOST)
        rows.append(math.sqrt(t["weight"] / len(t["x"])) * (t["y"] - shapes[t["m"]](t["x"] - cost)))
    return np.concatenate(rows)


def fit(uses, exponent, traces, shapes):
    best = None
    for start in (0, 0.3, 0.8, 1.5, -0.4):
        theta = np.zeros(len(uses))
        theta[0] = start / max(1, max(features(exponent, t["s"], t["m"])[uses[0]] for t in traces))
        scale = [1, 0.1, 1]
        found = least_squares(
            residuals, theta, args=(uses, exponent, traces, shapes), x_scale=[scale[u] for u in uses], xtol=1e-14, ftol=1e-14, gtol=1e-14
        )
        if best is None or found.cost < best.cost:
            best = found
    full = np.zeros(3)
    full[uses] = best.x
    return full


def error(theta, exponent, traces, shapes):
    r = residuals(theta, [0, 1, 2], exponent, traces, shapes)[3:]
    return math.sqrt((r**2).sum() / sum(t["weight"] for t in traces)) / math.log(10)


def held_out(uses, exponent, traces, shapes):
    squares = []
    for s in sorted({t["s"] for t in traces}):
        theta = fit(uses, exponent, [t for t in traces if t["s"] != s], shapes)
        squares.append(error(theta, exponent, [t for t in traces if t["s"] == s], shapes) ** 2)
    return math.sqrt(np.mean(squares))


def describe(name, kind, traces, shapes):
    for t in traces:
        t["weight"] = 1 / sum(u["s"] == t["s"] and u["m"] == t["m"] for u in traces)
    several = len({t["m"] for t in traces}) > 1
    power = [2] if several else []
    ways = ([([], 1)] if several else []) + [([0], 1), ([1], 1), ([1], 2), ([0, 1], 1), ([0, 1], 2)]
    values = len({t["s"] for t in traces})
    best = ([0] + power, 1, float("nan"))
    if values >= 2:
        for k, (own, exponent) in enumerate(ways):
            if values < 3 and len(own) == 2:
                continue
            off = held_out(own + power, exponent, traces, shapes)
            uses = "".join(c if n in own + power else "-" for n, c in enumerate("lgp"))
            print("way", name, kind, uses, exponent, repr(off), sep="\t")
            if k == 0 or off < 0.98 * best[2]:
                best = (own + power, exponent, off)
    uses, exponent, off = best
    theta = fit(uses, exponent, traces, shapes)
    print("fit", name, kind, len(traces), *(repr(float(t)) for t in theta), exponent,
          repr(error(theta, exponent, traces, shapes)), repr(error(np.zeros(3), exponent, traces, shapes)), repr(off), sep="\t")


def main():
    stored = json.load(open(sys.argv[1]))
    runs = {}
    with gzip.open(os.path.join(root, "examples", "stale-traces.csv.gz"), "rt") as f:
        for row in csv.DictReader(f):
            s = math.inf if row["staleness"] == "async" else float(row["staleness"])
            key = (row["algorithm"], float(row["m"]), s, row["seed"])
            runs.setdefault(key, []).append((float(row["iteration"]), float(row["objective"]) - stored["best_loss"]))
    for a in stored["algorithms"]:
        traces = []
        for (name, m, s, _), points in runs.items():
            assert len(points) <= 60  # all points are used, as in howmany
            if name == a["algorithm"]:
                i, p = np.array(points).T
                traces.append({"m": m, "s": s, "x": np.log(i), "y": np.log(p)})
        fresh = [t for t in traces if t["s"] == 0]
        first = min(t["x"][0] for t in fresh)
        g = g_of(a)
        shapes = {m: Shape(g, m, [t for t in fresh if t["m"] == m], first) for m in {t["m"] for t in fresh}}
        for kind, own in (
            ("ssp", [t for t in traces if 0 < t["s"] < math.inf]),
            ("async", [t for t in traces if math.isinf(t["s"])]),
        ):
            if own:
                describe(a["algorithm"], kind, own, shapes)


main()
