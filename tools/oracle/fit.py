#!/usr/bin/python3
"""Non-negative least squares fits of run times, with diagnostics and prediction intervals.

Run i has the time y_i and the row x_i of terms evaluated at its n and size; in every case the constants are
batch = 512 and latency = 0.25. theta minimises sum_i w_i (y_i - x_i.theta)^2 subject to theta >= 0.
    equal:    w_i = 1
    relative: w_i = 1/fit_i^2, fit_i = x_i.theta, from w_i = 1/y_i^2 by refitting until no theta_j changes
              by more than 1e-13 of itself
On the k active columns (theta_j > 0), X the m rows, W = diag(w), C = (X'WX)^-1, e_i = y_i - fit_i:
    leverage h_i = w_i x_i'C x_i           sigma s, s^2 = sum w_i e_i^2/(m-k)
    loo      y_i - e_i/(1-h_i)             cook  e_i^2 w_i h_i/(k s^2 (1-h_i)^2)
    predict  value = x.theta, mean value -+ t s sqrt(x'C x), run value -+ t s sqrt(x'C x + v),
             t the 0.95 quantile of Student's t with m-k degrees of freedom, v = 1 (equal), value^2 (relative)

scipy.optimize.nnls finds the active columns; their least squares problem is solved in rational arithmetic on
the doubles x, y and w, so that printed results are exact up to rounding. lsq_linear (bvls), the
optimality conditions, and refits without each run must agree.
"""
from fractions import Fraction
from math import log, sqrt

import numpy as np
from scipy.optimize import lsq_linear, nnls

from student import t_quantile

BATCH, LATENCY = 512, 0.25
TERMS = {
    "1": lambda n, size: 1.0,
    "size/n": lambda n, size: size / n,
    "ln(n)": lambda n, size: log(n),
    "n": lambda n, size: float(n),
    "sqrt(n)": lambda n, size: sqrt(n),
    "n*ln(n)": lambda n, size: n * log(n),
    "size": lambda n, size: size,
    "batch/n": lambda n, size: BATCH / n,
    "latency*ln(n)": lambda n, size: LATENCY * log(n),
}


def row(terms, n, size):
    return [TERMS[term](n, size) for term in terms]


def exact(values):
    return [Fraction(v) for v in values]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def invert(matrix):
    """Gauss-Jordan elimination of a positive definite matrix of fractions."""
    k = len(matrix)
    work = [line + [Fraction(i == j) for j in range(k)] for i, line in enumerate(matrix)]
    for i in range(k):
        work[i] = [v / work[i][i] for v in work[i]]
        for j in range(k):
            if j != i:
                work[j] = [p - work[j][i] * q for p, q in zip(work[j], work[i])]
    return [line[k:] for line in work]


def least_squares(x, y, w):
    """(theta, (X'WX)^-1) in fractions."""
    columns = list(zip(*x))
    weighted = [[p * q for p, q in zip(w, column)] for column in columns]
    inverse = invert([[dot(a, b) for b in columns] for a in weighted])
    return [dot(line, [dot(a, y) for a in weighted]) for line in inverse], inverse


class Fit:
    def __init__(self, rows, times, errors):
        self.rows, self.times, self.errors = rows, times, errors
        if errors == "equal":
            self.weigh([1.0] * len(times))
            return
        self.weigh([1 / y ** 2 for y in times])
        for _ in range(50):
            before = self.theta
            self.weigh([1 / float(fit) ** 2 for fit in self.fits])
            if all(abs(a - b) <= 1e-13 * abs(a) for a, b in zip(self.theta, before)):
                return
        raise AssertionError("the weights do not settle")

    def weigh(self, weights):
        """Fit with these weights."""
        root = np.sqrt(weights)
        matrix, right = root[:, None] * np.array(self.rows), root * self.times
        scale = np.linalg.norm(matrix, axis=0)
        guess = nnls(matrix / scale, right)[0]
        other = lsq_linear(matrix / scale, right, (0, np.inf), method="bvls", tol=1e-15).x
        self.columns = [j for j in range(len(scale)) if guess[j] > 0]
        self.condition = np.linalg.cond((matrix / scale)[:, self.columns])
        self.x = [exact(line[j] for j in self.columns) for line in self.rows]
        self.y, self.w = exact(self.times), exact(weights)
        self.active, self.inverse = least_squares(self.x, self.y, self.w)
        self.fits = [dot(line, self.active) for line in self.x]
        self.theta = np.zeros(len(scale))
        self.theta[self.columns] = [float(v) for v in self.active]
        for solution in (guess, other):
            assert np.allclose(solution, self.theta * scale, rtol=1e-9, atol=1e-12 * np.abs(guess).max())
        assert all(v > 0 for v in self.active)
        residual = right - matrix @ self.theta
        slopes = (matrix / scale).T @ residual / np.linalg.norm(residual)
        dropped = [s for j, s in enumerate(slopes) if j not in self.columns]
        assert all(s < -1e-3 for s in dropped), dropped
        self.slope = max(dropped, default=None)

    def diagnose(self):
        m, k = len(self.y), len(self.active)
        self.df = m - k
        self.residuals = [y - fit for y, fit in zip(self.y, self.fits)]
        self.variance = sum(w * e ** 2 for w, e in zip(self.w, self.residuals)) / self.df
        self.leverage = [w * self.spread(x) for w, x in zip(self.w, self.x)]
        self.loo = [y - e / (1 - h) for y, e, h in zip(self.y, self.residuals, self.leverage)]
        self.cook = [e ** 2 * w * h / (k * self.variance * (1 - h) ** 2)
                     for e, w, h in zip(self.residuals, self.w, self.leverage)]
        for i in range(m):
            kept = [values[:i] + values[i + 1:] for values in (self.x, self.y, self.w)]
            theta = least_squares(*kept)[0]
            assert dot(self.x[i], theta) == self.loo[i], i
            moved = [dot(x, theta) - fit for x, fit in zip(self.x, self.fits)]
            assert sum(w * d ** 2 for w, d in zip(self.w, moved)) == k * self.variance * self.cook[i], i

    def spread(self, x):
        return dot(x, [dot(line, x) for line in self.inverse])

    def predict(self, features):
        x = exact(features[j] for j in self.columns)
        value, spread = dot(x, self.active), self.spread(x)
        own = value ** 2 if self.errors == "relative" else 1
        t = Fraction(t_quantile(0.95, self.df))
        ends = [value]
        for variance in (spread, spread + own):
            half = t * Fraction(sqrt(self.variance * variance))
            ends += [value - half, value + half]
        return ends


def synthetic(seed, points, terms, theta, noise, errors):
    """Times at the points according to theta, with normal noise whose deviation is in seconds or relative."""
    z = np.random.Generator(np.random.PCG64(seed)).standard_normal(len(points))
    truth = [float(dot(row(terms, *point), theta)) for point in points]
    times = [v + noise * e if errors == "equal" else v * (1 + noise * e) for v, e in zip(truth, z)]
    return [(n, size, float(f"{time:.9g}")) for (n, size), time in zip(points, times)]


def slowed(runs, index, seconds):
    """The runs, with `seconds` added to the run at `index`."""
    return [(n, size, y + seconds * (i == index)) for i, (n, size, y) in enumerate(runs)]


def pairs(ns, sizes, repeats=1):
    return [(n, size) for n in ns for size in sizes for _ in range(repeats)]


ERNEST = [(32, 0.125, 7.94516801834), (4, 0.015625, 4.72029209137), (4, 0.021382, 4.87661099434),
          (12, 0.050164, 6.71376490593), (12, 0.055921, 6.71519398689), (12, 0.061678, 6.6739718914),
          (16, 0.061678, 6.83566999435)]
FOUR = ("1", "size/n", "ln(n)", "n")
SMALL = pairs((1, 2, 4, 8, 16), (0.5,))
POWERS = pairs((1, 4, 16, 64, 256, 1024, 4096, 10000), (1.0, 8.0, 64.0))
NEAR = ((64, 1.0), (128, 1.0), (8, 0.25))
FAR = ((20000, 64.0), (3, 2.0), (512, 100.0))

# name, terms, errors, seed, points, theta to generate with (a negative one makes its bound active), noise, targets
SYNTHETIC = [
    ("five", ("1", "size/n", "ln(n)"), "equal", 1, SMALL, (3, 40, 0.8), 0.1, NEAR),
    ("five-relative", ("1", "size/n", "ln(n)"), "relative", 2, SMALL, (3, 40, 0.8), 0.02, NEAR),
    ("one-term", ("size/n",), "relative", 3, pairs((1, 2, 3, 5, 8), (1.0, 2.0)), (12,), 0.05, NEAR),
    ("all-positive", FOUR, "equal", 4, pairs((1, 2, 4, 8, 16, 32), (0.1, 0.3, 1.0)), (2, 50, 1.5, 0.2), 0.1, NEAR),
    ("repeats", FOUR, "equal", 5, pairs((2, 4, 8, 16, 32), (0.25, 1.0), 4), (5, 30, 2, 0.05), 0.3, NEAR),
    ("two-at-bound", ("1", "size/n", "ln(n)", "n", "sqrt(n)"), "equal", 6,
     pairs((1, 2, 4, 8, 16, 32), (0.5, 2.0)), (6, 20, 2, -0.02, -0.3), 0.05, NEAR),
    ("large-n", FOUR, "equal", 7, POWERS, (5, 2, 0.7, 0.003), 0.05, FAR),
    ("large-n-relative", FOUR, "relative", 8, POWERS, (5, 2, 0.7, 0.003), 0.03, FAR),
    ("crowded", ("1", "size/n", "ln(n)", "sqrt(n)", "n", "n*ln(n)"), "equal", 9, POWERS,
     (4, 1.5, 0.6, 0.25, 0.002, 0.0004), 0.002, FAR),
    ("crowded-relative", ("1", "size/n", "ln(n)", "sqrt(n)", "n", "n*ln(n)"), "relative", 10, POWERS,
     (4, 1.5, 0.6, 0.25, 0.002, -0.0001), 0.01, FAR),
    ("constants", ("batch/n", "latency*ln(n)", "size"), "relative", 11,
     pairs((1, 2, 4, 8, 16, 32, 64), (0.5, 1.0), 2), (0.02, 1.2, 0.4), 0.04, NEAR),
    ("no-intercept", ("size", "size/n", "n*ln(n)"), "equal", 12, pairs((1, 10, 100, 1000), (1.0, 5.0, 20.0)),
     (0.2, 3, 0.001), 0.2, FAR),
    ("narrow", ("1", "ln(n)", "n"), "equal", 14, pairs(range(900, 1101, 10), (1.0,)), (5, 0.7, 0.003), 1e-6, FAR),
    ("size-at-bound", ("1", "size", "size/n", "ln(n)"), "relative", 13,
     pairs((1, 2, 4, 8, 16), (0.5, 1.0, 2.0, 4.0), 2), (3, -0.1, 10, 0.5), 0.03, NEAR),
]
CASES = [("ernest", FOUR, "equal", ERNEST, NEAR), ("ernest-relative", FOUR, "relative", ERNEST, NEAR)] + [
    (name, terms, errors, synthetic(seed, points, terms, theta, noise, errors), targets)
    for name, terms, errors, seed, points, theta, noise, targets in SYNTHETIC]
CASES += [("outlier", terms, errors, slowed(runs, 7, 3), targets)
          for name, terms, errors, runs, targets in CASES if name == "all-positive"]


def table(values):
    return " ".join(f"{float(v):.17g}" for v in values)


def main():
    print("# made by fit.py")
    print(f"# batch = {BATCH}, latency = {LATENCY}")
    notes = []
    for name, terms, errors, runs, targets in CASES:
        fit = Fit([row(terms, n, size) for n, size, _ in runs], [seconds for _, _, seconds in runs], errors)
        fit.diagnose()
        print(f"case {name} {len(runs)} {','.join(terms)} {errors}")
        for run in runs:
            print("run", table(run))
        print("theta", table(fit.theta))
        print("residuals", table(fit.residuals))
        print("leverage", table(fit.leverage))
        print("loo", table(fit.loo))
        print("cook", table(fit.cook))
        print("sigma", table([sqrt(fit.variance)]))
        for n, size in targets:
            print("predict", table([n, size] + fit.predict(row(terms, n, size))))
        margin = "" if fit.slope is None else f", nearest dropped column {fit.slope:.1e}"
        notes.append(f"{name} {fit.condition:.1e}{margin}")
        if name == "ernest":
            assert " ".join(f"{v:.10g}" for v in fit.theta) == "1.90012687 162.1982123 1.588323622 0", fit.theta
    print("# condition of the weighted active columns at unit length; cosine of the residual with a dropped column:")
    for note in notes:
        print("#", note)


if __name__ == "__main__":
    main()
