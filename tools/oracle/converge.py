#!/usr/bin/python3
"""Fits the loss curve g(i, m) to examples/mnist-traces.csv.gz with scikit-learn and scipy, and tests its predictions.

    python3 tools/oracle/converge.py >tests/data/converge.tsv

Needs numpy, scipy and scikit-learn (Debian: python3-scipy, python3-sklearn; made with 1.24.2, 1.10.1 and 1.2.1). It
takes a minute or two. Fits are of y = ln(P - P*), where P* is given in the traces. A trace of more than 60 points is
thinned to points that are evenly spaced in ln i: after each kept point, the next one is the first whose ln i is larger
by at least (ln last - ln first)/59; the last point is always kept. Each number of workers m has the weight 1, divided
evenly among its traces and their points. Lines of the output, with numbers in full precision:

    best P* depth count              the estimated P*. 90 depths below the least loss are tried, evenly spaced in the
                                     logarithm, from 1/20 of the last drop (in the last quarter of the trace with the
                                     least loss) to ten times the range of losses. The best depth minimises
                                     ln(sum of squares / sum of n-4)/2 + (n-4)-weighted mean of mean y, where each
                                     trace of n >= 20 points is fitted by 1, i, ln i, 1/i; count: number of such traces
    algorithm name traces points     numbers after thinning
    thinned m seed points sum_i sum_y
    penalties most chosen least      the largest of 60 penalties (the smallest is 1e-4 of it), and the indices of the
                                     penalty chosen by the rule of one standard error and of the one with the least mean
    mean/error values                for all penalties: the mean over m of the mean square error with m held out (never
                                     the least m), and its standard error
    terms error constant theta...    at the chosen penalty: root mean square error in log10 with m held out, and the
                                     coefficients in the order of the library
    form name error objective        weighted least squares plus 1e-6 |theta - start|^2, the best of several starts
    chosen form                      the form with the least error
    measured m spread apart          spread of y around g, and around a fit with that m held out
    left_out m form points median rms   errors of a fit without m on the traces of m
    inside median                    median error over all points of the m with neighbours on both sides
    ahead m points median rms        errors of predictions 10 iterations ahead from windows of 50
    ahead_median median

The Lasso is lasso_path on standardised rows, which are multiplied by the square roots of their weights. The signs of its
solution give linear equations, which numpy's lstsq solves on the rows; the result must meet the conditions of an optimum
to 1e-9.
"""
import csv
import gzip
import math
import os
import sys
import warnings
from collections import defaultdict

import numpy as np
from scipy.optimize import least_squares
from sklearn.linear_model import lasso_path

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LOG10 = math.log(10)

TERMS = {
    "i": lambda i, m: i,
    "sqrt(i)": lambda i, m: np.sqrt(i),
    "ln(i)": lambda i, m: np.log(i),
    "1/i": lambda i, m: 1 / i,
    "ln(i)^2": lambda i, m: np.log(i) ** 2,
    "ln(m)": lambda i, m: np.log(m),
    "ln(m)^2": lambda i, m: np.log(m) ** 2,
    "1/m": lambda i, m: 1 / m,
    "sqrt(m)": lambda i, m: np.sqrt(m),
    "i/m": lambda i, m: i / m,
    "i/sqrt(m)": lambda i, m: i / np.sqrt(m),
    "sqrt(i/m)": lambda i, m: np.sqrt(i / m),
    "i*ln(m)": lambda i, m: i * np.log(m),
    "ln(i)*ln(m)": lambda i, m: np.log(i) * np.log(m),
    "ln(i)/m": lambda i, m: np.log(i) / m,
    "ln(m)/i": lambda i, m: np.log(m) / i,
    "ln(i)/sqrt(m)": lambda i, m: np.log(i) / np.sqrt(m),
    "sqrt(i)/m^0.25": lambda i, m: np.sqrt(i) / m ** 0.25,
}


def numbers(*values):
    return " ".join(repr(float(v)) for v in values)


def quantile_half(values):
    """The median of the values; the larger of the two middle ones if their number is even."""
    ordered = np.sort(values)
    return ordered[len(ordered) // 2]


def rms(values):
    return math.sqrt(np.mean(np.square(values)))


# ---------------------------------------------------------------- traces

class Trace:
    def __init__(self, algorithm, m, seed, i, loss):
        self.algorithm, self.m, self.seed = algorithm, m, seed
        self.i, self.loss = np.array(i), np.array(loss)


def read():
    rows = defaultdict(list)
    with gzip.open(os.path.join(ROOT, "examples", "mnist-traces.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            key = row["algorithm"], float(row["m"]), float(row["seed"])
            rows[key].append((float(row["iteration"]), float(row["objective"])))
            best = float(row["best"])
    traces = [Trace(*key, *zip(*points)) for key, points in rows.items()]
    return traces, best


def thinned(i):
    """Indices of the points that are kept."""
    if len(i) <= 60:
        return np.arange(len(i))
    apart = (math.log(i[-1]) - math.log(i[0])) / 59
    kept = [0]
    while kept[-1] < len(i) - 1:
        further = np.flatnonzero(np.log(i) >= math.log(i[kept[-1]]) + apart - 1e-9)
        further = further[further > kept[-1]]
        kept.append(further[0] if len(further) else len(i) - 1)
    return np.array(kept)


class Points:
    """Thinned traces of one algorithm, one row for each point."""

    def __init__(self, traces, best):
        self.traces = sorted(traces, key=lambda t: t.m)
        self.ms = sorted({t.m for t in traces})
        runs = {m: sum(t.m == m for t in traces) for m in self.ms}
        i, m, y, w, curve = [], [], [], [], []
        for k, t in enumerate(self.traces):
            keep = thinned(t.i)
            i += list(t.i[keep])
            m += [t.m] * len(keep)
            y += list(np.log(t.loss[keep] - best))
            w += [1 / len(keep) / runs[t.m]] * len(keep)
            curve += [k] * len(keep)
        self.i, self.m, self.y, self.w = (np.array(v) for v in (i, m, y, w))
        self.curve = np.array(curve)
        self.x = np.array([term(self.i, self.m) for term in TERMS.values()]).T

    def rows_of(self, k):
        return self.curve == k


# ---------------------------------------------------------------- Lasso

class Lasso:
    """The weighted Lasso on standardised terms; solutions are converted back to the original terms."""

    def __init__(self, x, y, w):
        self.share = w / w.sum()
        self.mean, self.y_mean = self.share @ x, self.share @ y
        centred = x - self.mean
        self.scale = np.sqrt(self.share @ centred ** 2)
        varies = self.scale > 1e-13 * np.abs(self.mean)
        self.z = np.where(varies, centred / np.where(varies, self.scale, 1), 0)
        self.varies = varies
        self.y = y - self.y_mean
        root = np.sqrt(self.share)[:, None]
        self.rows, self.right = self.z * root, self.y * root[:, 0]
        self.most = np.max(np.abs(self.rows.T @ self.right))

    def off(self, b, penalty):
        """The largest violation of the conditions of an optimum, relative to the penalty."""
        slopes = self.rows.T @ (self.right - self.rows @ b)
        off = np.where(b != 0, np.abs(slopes - penalty * np.sign(b)), np.maximum(np.abs(slopes) - penalty, 0))
        return np.max(off) / self.most

    def exact(self, b, penalty):
        """Solves the equations for the signs of b; drops terms whose sign changes and adds terms that violate the optimum."""
        signs = np.sign(b)
        for _ in range(200):
            active = signs != 0
            a = self.rows[:, active]
            new = np.zeros(len(b))
            if active.any():
                _, triangle = np.linalg.qr(a)
                shift = np.linalg.solve(triangle, np.linalg.solve(triangle.T, penalty * signs[active]))
                new[active] = np.linalg.lstsq(a, self.right, rcond=None)[0] - shift
            wrong = active & (np.sign(new) != signs)
            if wrong.any():
                signs[np.flatnonzero(wrong)[np.argmin((new * signs)[wrong])]] = 0
                continue
            slopes = self.rows.T @ (self.right - self.rows @ new)
            over = np.where(active, 0, np.abs(slopes) - penalty)
            if over.max() <= 1e-10 * self.most:
                return new
            signs[np.argmax(over)] = np.sign(slopes[np.argmax(over)])
        return b

    def solve(self, penalties):
        count = len(self.right)
        rows, right = self.rows * math.sqrt(count), self.right * math.sqrt(count)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = lasso_path(rows, right, alphas=penalties, precompute=True, tol=1e-9, max_iter=20000)[1].T
        solutions = []
        for penalty, b in zip(penalties, found):
            better = self.exact(np.where(self.varies, b, 0), penalty)
            if self.off(better, penalty) > 1e-9:
                better = self.insist(b, penalty)
            solutions.append(better)
        return np.array(solutions)

    def insist(self, b, penalty):
        count = len(self.right)
        rows, right = self.rows * math.sqrt(count), self.right * math.sqrt(count)
        for tolerance in [1e-12, 1e-14, 1e-16]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                b = lasso_path(rows, right, alphas=[penalty], precompute=True, tol=tolerance, max_iter=3000000,
                               coef_init=b)[1].T[0]
            better = self.exact(b, penalty)
            if self.off(better, penalty) <= 1e-9:
                return better
        sys.exit(f"penalty {penalty}: off by {self.off(b, penalty)}")

    def unscaled(self, b):
        theta = np.where(self.varies, b / np.where(self.varies, self.scale, 1), 0)
        return self.y_mean - theta @ self.mean, theta


class TermsFit:
    form = "terms"

    def __init__(self, p):
        whole = Lasso(p.x, p.y, p.w)
        self.penalties = np.geomspace(whole.most, whole.most * 1e-4, 60)
        errors, self.without = [], {}
        paths = {}
        for m in p.ms[1:]:
            out = p.m == m
            own = Lasso(p.x[~out], p.y[~out], p.w[~out])
            paths[m] = [own.unscaled(b) for b in own.solve(self.penalties)]
            rest = [p.y[out] - a - p.x[out] @ t for a, t in paths[m]]
            errors.append([np.average(r ** 2, weights=p.w[out]) for r in rest])
        errors = np.array(errors)
        self.mean = errors.mean(axis=0)
        self.se = errors.std(axis=0, ddof=1) / math.sqrt(len(errors))
        self.least = int(np.argmin(self.mean))
        self.at = int(np.flatnonzero(self.mean <= self.mean[self.least] + self.se[self.least])[0])
        self.error = math.sqrt(self.mean[self.at]) / LOG10
        self.theta = whole.unscaled(whole.solve(self.penalties[self.at:self.at + 1])[0])
        self.without = {m: paths[m][self.at] for m in paths}

    @staticmethod
    def value(theta, i, m):
        return theta[0] + np.array([term(i, m) * np.ones_like(i) for term in TERMS.values()]).T @ theta[1]


# ---------------------------------------------------------------- forms

def rate(t, i, m):
    return t[0] + t[1] * np.log(m) + i * np.log1p(-np.minimum(np.exp(t[2] - t[3] * np.log(m)), 0.999))


def inverse(t, i, m):
    return np.log(1 / (np.exp(t[0]) * m ** -t[1] * i + np.exp(t[2])) + np.exp(np.minimum(t[3] + t[4] * np.log(m), 100)))


def power(t, i, m):
    return t[0] + t[1] * np.log(m) - (t[2] + t[3] * np.log(m)) * np.log(i)


FORMS = {"rate": (rate, [0, 0, -1, 0.5]), "inverse": (inverse, [0, 0.5, 0, -5, 0.5]), "power": (power, [0, 0, 1, 0])}


class FormFit:
    def __init__(self, p, name):
        self.form = name
        self.value, start = FORMS[name]
        self.start = np.array(start, dtype=float)
        if name == "inverse":
            self.start[0] = self.start[2] = -p.y.max()
            self.start[3] = p.y.min() - 2
        else:
            self.start[0] = p.y.max()
        rng = np.random.default_rng(1)
        starts = [self.start] + [self.start + rng.normal(0, 0.5, len(start)) for _ in range(4)]
        self.theta, self.objective = self.fit(p, np.ones(len(p.y), bool), starts)
        self.without, errors = {}, []
        for m in p.ms[1:]:
            out = p.m == m
            self.without[m] = self.fit(p, ~out, [self.theta])[0]
            r = p.y[out] - self.value(self.without[m], p.i[out], p.m[out])
            errors.append(np.average(r ** 2, weights=p.w[out]))
        self.error = math.sqrt(np.mean(errors)) / LOG10

    def fit(self, p, rows, starts):
        root = np.sqrt(p.w[rows])

        def residuals(t):
            with np.errstate(all="ignore"):
                r = root * (p.y[rows] - self.value(t, p.i[rows], p.m[rows]))
            return np.append(np.nan_to_num(r, nan=1e3, posinf=1e3, neginf=-1e3), 1e-3 * (t - self.start))

        best = None
        for start in starts:
            found = least_squares(residuals, start, x_scale="jac", xtol=1e-12, ftol=1e-13, gtol=1e-13, max_nfev=500)
            if best is None or found.cost < best.cost:
                best = found
        return best.x, 2 * best.cost


# ---------------------------------------------------------------- bends, spreads

def line_of(p, fit, theta, m):
    """Level and slope over ln i of the deviation of the traces of m from g; the slope is shrunk."""
    x, off = [], []
    for k, t in enumerate(p.traces):
        if t.m == m:
            rows = p.rows_of(k)
            x += list(np.log(p.i[rows]))
            off += list(p.y[rows] - fit.value(theta, p.i[rows], p.m[rows]))
    x, off = np.array(x), np.array(off)
    slope = np.sum((x - x.mean()) * (off - off.mean())) / (np.sum((x - x.mean()) ** 2) + 10)
    return off.mean() - slope * x.mean(), slope


def bend(p, fit, theta, m, without=None):
    """The deviation line of m, interpolated between its neighbours and 0 outside; the traces of `without` are not used."""
    ms = [v for v in p.ms if v != without]
    if m in ms:
        return line_of(p, fit, theta, m)
    below, above = [v for v in ms if v < m], [v for v in ms if v > m]
    if not below or not above:
        return 0, 0
    left, right = line_of(p, fit, theta, below[-1]), line_of(p, fit, theta, above[0])
    at = math.log(m / below[-1]) / math.log(above[0] / below[-1])
    return tuple((1 - at) * a + at * b for a, b in zip(left, right))


def predicted(p, fit, theta, i, m, without=None):
    level, slope = bend(p, fit, theta, m, without)
    return fit.value(theta, i, np.full_like(i, m)) + level + slope * np.log(i)


def spread(p, fit, m):
    rows = p.m == m
    return math.sqrt(np.average((p.y[rows] - fit.value(fit.theta, p.i[rows], p.m[rows])) ** 2, weights=p.w[rows]))


def apart(p, fit, m):
    squares = []
    for k, t in enumerate(p.traces):
        if t.m == m:
            rows = p.rows_of(k)
            off = p.y[rows] - predicted(p, fit, fit.without[m], p.i[rows], m, without=m)
            squares.append(np.mean(off ** 2))
    return math.sqrt(np.mean(squares))


def fit_all(p):
    fits = [TermsFit(p)] + [FormFit(p, name) for name in FORMS]
    return fits, min(fits, key=lambda f: f.error)


# ---------------------------------------------------------------- looking ahead

def shapes(i, last, g):
    one = np.ones_like(i)
    return [np.array(columns).T for columns in
            ([one, i], [one, np.sqrt(i)], [one, np.log(i)], [one, i / last, np.log(i)], [one, g])]


def ahead_of(t, y, g, window=50, ahead=10):
    """Errors of log10(P - P*) of the predictions `ahead` iterations after each window."""
    errors = []
    designs = shapes(t.i, t.i[-1], g)
    for to in range(window, len(t.i)):
        then = t.i[to - 1] + ahead
        if then > t.i[-1]:
            continue
        target = int(np.searchsorted(t.i, then))
        assert t.i[target] == then
        tail = min(ahead, window // 3)
        best = None
        for design in designs:
            rows = slice(to - window, to - tail)
            theta, _, rank, _ = np.linalg.lstsq(design[rows], y[rows], rcond=None)
            if rank < design.shape[1]:
                continue
            off = np.sum((y[to - tail:to] - design[to - tail:to] @ theta) ** 2)
            if best is None or off < best[0]:
                best = off, design
        theta = np.linalg.lstsq(best[1][to - window:to], y[to - window:to], rcond=None)[0]
        errors.append(abs(best[1][target] @ theta - y[target]) / LOG10)
    return errors


# ---------------------------------------------------------------- P*

def estimate_best(traces):
    least_trace = min(traces, key=lambda t: t.loss.min())
    least = least_trace.loss.min()
    spread_of_losses = max(t.loss.max() for t in traces) - least
    quarter = math.ceil(len(least_trace.loss) / 4)
    drop = max(least_trace.loss[-quarter - 1] - least_trace.loss[-1], 0)
    depths = np.geomspace(max(1e-9 * spread_of_losses, drop / 20), 10 * spread_of_losses, 90)
    curves = [(t.i[k], t.loss[k]) for t in traces for k in [thinned(t.i)] if len(k) >= 20]
    costs = []
    for depth in depths:
        squares = over = level = 0
        for i, loss in curves:
            y = np.log(loss - (least - depth))
            x = np.array([np.ones_like(i), i / i[-1], np.log(i), 1 / i]).T
            rest = y - x @ np.linalg.lstsq(x, y, rcond=None)[0]
            squares += rest @ rest
            over += len(i) - 4
            level += (len(i) - 4) * y.mean()
        costs.append(math.log(squares / over) / 2 + level / over)
    k = int(np.argmin(costs))
    print("best", numbers(least - depths[k], depths[k], len(curves)))


# ---------------------------------------------------------------- all

def describe(p, best):
    print("algorithm", p.traces[0].algorithm, len(p.traces), len(p.y))
    for k, t in enumerate(p.traces):
        rows = p.rows_of(k)
        print("thinned", numbers(t.m, t.seed, rows.sum(), p.i[rows].sum(), p.y[rows].sum()))
    fits, chosen = fit_all(p)
    terms = fits[0]
    print("penalties", numbers(terms.penalties[0], terms.at, terms.least))
    print("mean", numbers(*terms.mean))
    print("error", numbers(*terms.se))
    print("terms", numbers(terms.error, terms.theta[0], *terms.theta[1]))
    for f in fits[1:]:
        print("form", f.form, numbers(f.error, f.objective))
    print("chosen", chosen.form)
    for m in p.ms:
        print("measured", numbers(m, spread(p, chosen, m), apart(p, chosen, m) if m in chosen.without else math.nan))


def hold_out(traces, best):
    ms = sorted({t.m for t in traces})
    inside, forward = [], {}
    for m in ms:
        p = Points([t for t in traces if t.m != m], best)
        _, fit = fit_all(p)
        errors, forward[m] = [], []
        for t in traces:
            if t.m == m:
                y = np.log(t.loss - best)
                errors += list(np.abs(predicted(p, fit, fit.theta, t.i, m) - y) / LOG10)
                forward[m] += ahead_of(t, y, fit.value(fit.theta, t.i, np.full_like(t.i, m)))
        print("left_out", repr(m), fit.form, numbers(len(errors), quantile_half(errors), rms(errors)), flush=True)
        if m not in (ms[0], ms[-1]):
            inside += errors
    print("inside", numbers(quantile_half(inside)))
    for m in ms:
        if forward[m]:
            print("ahead", numbers(m, len(forward[m]), quantile_half(forward[m]), rms(forward[m])))
    every = [e for m in ms for e in forward[m]]
    if every:
        print("ahead_median", numbers(quantile_half(every)))


def main():
    traces, best = read()
    only = sys.argv[1:]
    print("# made by converge.py")
    estimate_best(traces)
    for name in dict.fromkeys(t.algorithm for t in traces):
        if only and name not in only:
            continue
        own = [t for t in traces if t.algorithm == name]
        describe(Points(own, best), best)
        hold_out(own, best)


main()
