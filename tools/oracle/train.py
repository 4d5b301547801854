#!/usr/bin/python3
"""What training must come to: optima, objectives, gradients and the first iterations of each algorithm.

    tools/oracle/train.py [SHARED-DATA] >tests/data/train.tsv

Small problems are made by a formula that tests/unit/train_problems.h has too, so that no file holds them. Lines:

    optimum problem loss P*                        least lambda/2 |w|^2 + mean loss, no bias
    point problem loss objective norm along        at w_k = value(seed + 9, k, 0): P, |P'|, P'.direction
    columns problem mean deviation                 of the columns, each times its direction, added up
    steps problem loss algorithm ranks iterations step batch passes norm along
                                                   |w| and w.direction after so many iterations
    file name loss lambda P*                       optimum on a file of the shared data

direction_k = value(seed + 10, k, 0). Optima: hinge by the dual quadratic programme (coordinate ascent, then the
linear system of the dual variables that are free; the gap is checked), logistic and softmax by Newton's method,
squares by their normal equations. Algorithms are written out plainly, a row at a time, in the order that the seeded
shuffle gives; Philox is written anew here.
"""
import gzip
import sys

import numpy as np
import scipy.sparse

MASK = (1 << 64) - 1

# name: seed, rows, features, fraction of the entries kept, classes, lambda
PROBLEMS = {
    "dense": (11, 61, 7, 1.0, 4, 0.01),
    "sparse": (22, 53, 40, 0.15, 3, 0.02),
    "single": (33, 9, 1, 1.0, 2, 0.1),
    "wide": (44, 12, 30, 1.0, 5, 0.05),
}


def value(seed, i, j):
    """Uniform in [-1, 1), a multiple of 2^-52."""
    x = (seed * 0x9E3779B97F4A7C15 + i * 0xBF58476D1CE4E5B9 + j * 0x94D049BB133111EB) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    x ^= x >> 31
    return (x >> 11) * 2.0 ** -52 - 1


def rows_of(name):
    seed, rows, features, keep, classes, _ = PROBLEMS[name]
    x = np.zeros((rows, features))
    planted = np.zeros(rows)
    for i in range(rows):
        s = 0.0
        for j in range(features):
            if keep < 1 and (i % 17 == 5 or (value(seed + 1, i, j) + 1) / 2 >= keep):
                continue
            x[i, j] = value(seed, i, j)
            s += x[i, j] * value(seed + 2, 0, j)
        planted[i] = s + 0.3 * value(seed + 3, i, 0)
    kinds = np.array([int((value(seed + 4, i, 0) + 1) / 2 * classes) for i in range(rows)])
    if keep < 1:
        kinds[kinds == 1] = 0  # a class that no row has
    return x, planted, kinds


def labels_of(loss, planted, kinds):
    return {"squares": 2 * planted + 0.5, "softmax": kinds}.get(loss, np.where(planted >= 0, 1.0, -1.0))


def vector(seed, count):
    return np.array([value(seed, k, 0) for k in range(count)])


# ---- objectives ---------------------------------------------------------------------------------


def losses(loss, z, y):
    """Values and derivatives in z."""
    if loss == "svm":
        return np.maximum(0, 1 - y * z), np.where(y * z < 1, -y, 0.0)
    if loss == "logistic":
        return np.logaddexp(0, -y * z), -y / (1 + np.exp(y * z))
    return (z - y) ** 2 / 2, z - y


def objective(loss, x, y, w, lam, classes):
    n = x.shape[0]
    if loss == "softmax":
        z = x @ w.reshape(-1, classes)
        top = z.max(axis=1, keepdims=True)
        p = np.exp(z - top)
        total = (np.log(p.sum(axis=1)) + top[:, 0] - z[np.arange(n), y]).sum()
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(n), y] -= 1
        return total / n + lam / 2 * w @ w, (x.T @ p).ravel() / n + lam * w
    v, s = losses(loss, x @ w, y)
    return v.sum() / n + lam / 2 * w @ w, x.T @ s / n + lam * w


def newton(fun, hessian, w):
    """Newton's method with halving; until the gradient is rounding."""
    p, g = fun(w)
    for _ in range(100):
        d = -np.linalg.solve(hessian(w), g)
        size = 1.0
        while np.abs(g).max() > 1e-5 and fun(w + size * d)[0] > p + 1e-4 * size * (g @ d):
            size /= 2
        w = w + size * d
        p, g = fun(w)
        if np.abs(g).max() < 1e-13:
            break
    assert np.abs(g).max() < 1e-12, np.abs(g).max()
    return p


def softmax_hessian(x, w, lam, classes):
    n, d = x.shape
    z = x @ w.reshape(-1, classes)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    h = lam * np.eye(d * classes)
    for i in range(n):
        h += np.kron(np.outer(x[i], x[i]), np.diag(p[i]) - np.outer(p[i], p[i])) / n
    return h


def svm_optimum(x, y, lam):
    n, _ = x.shape
    q = (x * y[:, None]) @ (x * y[:, None]).T / (lam * n)  # max sum b - b'Qb/2 on [0, 1]
    b = np.zeros(n)
    for _ in range(3000):
        for i in range(n):
            b[i] = min(1, max(0, b[i] + (1 - q[i] @ b) / q[i, i])) if q[i, i] > 0 else 1
    free = (b > 1e-9) & (b < 1 - 1e-9)
    b[b <= 1e-9], b[b >= 1 - 1e-9] = 0, 1
    b[free] = np.linalg.lstsq(q[np.ix_(free, free)], 1 - q[np.ix_(free, ~free)] @ b[~free], rcond=None)[0]
    assert b.min() >= 0 and b.max() <= 1
    w = x.T @ (y * b) / (lam * n)
    primal, dual = objective("svm", x, y, w, lam, 1)[0], b.sum() / n - lam / 2 * w @ w
    assert abs(primal - dual) < 1e-12, primal - dual
    return primal


def optimum(loss, x, y, lam, classes):
    n, d = x.shape
    if loss == "svm":
        return svm_optimum(x, y, lam)
    if loss == "squares":
        w = np.linalg.solve(x.T @ x / n + lam * np.eye(d), x.T @ y / n)
        return objective(loss, x, y, w, lam, 1)[0]
    if loss == "softmax":
        return newton(lambda w: objective(loss, x, y, w, lam, classes),
                      lambda w: softmax_hessian(x, w, lam, classes), np.zeros(d * classes))

    def hessian(w):
        m = 1 / (1 + np.exp(-y * (x @ w)))
        scaled = x.multiply((m * (1 - m))[:, None]) if scipy.sparse.issparse(x) else x * (m * (1 - m))[:, None]
        h = x.T @ scaled
        return (h.toarray() if scipy.sparse.issparse(x) else h) / n + lam * np.eye(d)
    return newton(lambda w: objective(loss, x, y, w, lam, 1), hessian, np.zeros(d))


# ---- random numbers -----------------------------------------------------------------------------


class Random:
    def __init__(self, seed, stream):
        self.key, self.counter, self.left = (seed & 0xFFFFFFFF, seed >> 32), [0, stream], []

    def word(self):
        if not self.left:
            low, stream = self.counter
            x = [low & 0xFFFFFFFF, low >> 32, stream & 0xFFFFFFFF, stream >> 32]
            k = list(self.key)
            for _ in range(10):
                a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
                x = [(b >> 32) ^ x[1] ^ k[0], b & 0xFFFFFFFF, (a >> 32) ^ x[3] ^ k[1], a & 0xFFFFFFFF]
                k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
            self.left, self.counter[0] = x, low + 1
        return self.left.pop(0)

    def below(self, n):
        while True:
            product = self.word() * n
            if product & 0xFFFFFFFF >= (1 << 32) % n:
                return product >> 32

    def uniform(self):
        high = self.word() >> 5
        return (high * 67108864 + (self.word() >> 6) + 0.5) / 2.0 ** 53

    def shuffled(self, count):
        order = list(range(count))
        for i in range(count, 1, -1):
            j = self.below(i)
            order[i - 1], order[j] = order[j], order[i - 1]
        return order


# ---- algorithms ---------------------------------------------------------------------------------

SEED = 7


def ascend(loss, z, y, old, q):
    """The alpha that maximises -l*(-alpha) - z (alpha - old) - q/2 (alpha - old)^2."""
    if loss == "squares":
        return old + (y - old - z) / (1 + q)
    if loss == "svm":
        b = (1.0 if y * z < 1 else 0.0) if q == 0 else y * old + (1 - y * z) / q
        return y * min(1, max(0, b))
    low, high = -abs(z) - q - 1, abs(z) + q + 1  # of ln(b/(1-b)); the derivative falls in it
    for _ in range(200):
        t = (low + high) / 2
        if -t - y * z - q * (1 / (1 + np.exp(-t)) - y * old) > 0:
            low = t
        else:
            high = t
    return y / (1 + np.exp(-low))


class Run:
    def __init__(self, loss, x, y, lam, ranks, step, batch, passes):
        self.loss, self.x, self.y, self.lam, self.ranks = loss, x, y, lam, ranks
        self.step, self.batch, self.passes = step, batch, passes
        self.n, self.d = x.shape
        self.first = [self.n * r // ranks for r in range(ranks + 1)]
        self.w, self.alpha = np.zeros(self.d), np.zeros(self.n)
        self.mean, self.square = np.zeros(self.d), np.zeros(self.d)
        curvature = 0.25 if loss == "logistic" else 1
        self.size = step or 1 / (curvature * (x ** 2).sum() / self.n)

    def random(self, t, rank):
        return Random(SEED, (t << 24) ^ (rank << 4))

    def cocoa(self, t, plus):
        gamma, sigma = (1, self.ranks) if plus else (1 / self.ranks, 1)
        change, alpha = np.zeros(self.d), self.alpha.copy()
        scale = 1 / (self.lam * self.n)
        for r in range(self.ranks):
            first, count = self.first[r], self.first[r + 1] - self.first[r]
            random, w = self.random(t, r), self.w.copy()
            for _ in range(self.passes):
                for i in random.shuffled(count):
                    i += first
                    x = self.x[i]
                    new = ascend(self.loss, x @ w, self.y[i], alpha[i], sigma * scale * (x @ x))
                    w += sigma * scale * (new - alpha[i]) * x
                    alpha[i] = new
            change += (w - self.w) / sigma
        self.w = self.w + gamma * change
        self.alpha += gamma * (alpha - self.alpha)

    def batch_rows(self, t):
        per = max(1, -(-self.n // self.batch))
        epoch, place = divmod(t, per)
        out = []
        for r in range(self.ranks):
            count = self.first[r + 1] - self.first[r]
            order = Random(SEED, (epoch << 24) ^ (r << 4) ^ 15).shuffled(count)
            ends = [int(count * p / per + r / self.ranks) for p in (place, place + 1)]
            out += [self.first[r] + i for i in order[ends[0]:ends[1]]]
        return out

    def beta(self):
        norms = (self.x ** 2).sum(axis=1)
        unit = self.x[norms > 0] / np.sqrt(norms[norms > 0])[:, None]
        random = Random(SEED, MASK)
        v = np.array([random.uniform() for _ in range(self.d)])
        v /= np.sqrt(v @ v)
        for _ in range(30):
            u = unit.T @ (unit @ v)
            v = u / np.sqrt(u @ u)
        batch = min(self.batch, self.n)
        return 1 + (batch - 1) * (max(1, 1.05 * np.sqrt(u @ u)) - 1) / max(1, self.n - 1)

    def mini_sdca(self, t):
        beta, scale, change = self.beta(), 1 / (self.lam * self.n), np.zeros(self.d)
        for i in self.batch_rows(t):
            x = self.x[i]
            new = ascend(self.loss, x @ self.w, self.y[i], self.alpha[i], beta * scale * (x @ x))
            change += scale * (new - self.alpha[i]) * x
            self.alpha[i] = new
        self.w = self.w + change

    def gradient(self, t):
        rows = self.batch_rows(t)
        return self.x[rows].T @ losses(self.loss, self.x[rows] @ self.w, self.y[rows])[1] / len(rows) + \
            self.lam * self.w

    def sgd(self, t):
        self.w = self.w - self.size / (1 + self.lam * self.size * t) * self.gradient(t)

    def momentum(self, t):
        size = self.step or 0.1 * self.size
        self.mean = 0.9 * self.mean + self.gradient(t)
        self.w = self.w - size / (1 + self.lam * size * t) * self.mean

    def adam(self, t):
        g = self.gradient(t)
        self.mean = 0.9 * self.mean + 0.1 * g
        self.square = 0.999 * self.square + 0.001 * g * g
        size = (self.step or 0.001) * np.sqrt(1 - 0.999 ** (t + 1)) / (1 - 0.9 ** (t + 1))
        self.w = self.w - size * self.mean / (np.sqrt(self.square) + 1e-8)

    def local(self, t, weight):
        new = np.zeros(self.d)
        for r in range(self.ranks):
            first, count = self.first[r], self.first[r + 1] - self.first[r]
            random, w = self.random(t, r), self.w.copy()
            seen = t * self.passes * self.n
            for _ in range(self.passes):
                for i in random.shuffled(count):
                    x, y = self.x[first + i], self.y[first + i]
                    pull = weight * self.size / (1 + self.lam * self.size * seen)
                    alpha = ascend(self.loss, x @ w, y, 0, pull * (x @ x))
                    w = w / (1 + pull * self.lam) + pull * alpha * x
                    seen += self.ranks
            new += count / self.n * w
        self.w = new

    def iterate(self, algorithm, iterations):
        steps = {"cocoa": lambda t: self.cocoa(t, False), "cocoa+": lambda t: self.cocoa(t, True),
                 "mini-sdca": self.mini_sdca, "sgd": self.sgd, "momentum": self.momentum, "adam": self.adam,
                 "local-sgd": lambda t: self.local(t, 1), "splash": lambda t: self.local(t, self.ranks)}
        for t in range(iterations):
            steps[algorithm](t)
        return self.w


# algorithm, iterations, step (0: its own), batch, passes
STEPS = [("cocoa", 3, 0, 128, 1), ("cocoa", 2, 0, 128, 3), ("cocoa+", 3, 0, 128, 2), ("mini-sdca", 9, 0, 8, 1),
         ("sgd", 9, 0, 10, 1), ("sgd", 3, 0.25, 1000, 1), ("momentum", 4, 0, 1000, 1), ("momentum", 9, 0.125, 16, 1),
         ("adam", 5, 0, 1000, 1), ("adam", 9, 0.0625, 16, 1), ("local-sgd", 2, 0, 32, 2), ("local-sgd", 3, 0.5, 32, 1),
         ("splash", 2, 0, 32, 2)]


def libsvm(path, features):
    y, columns, values, starts = [], [], [], [0]
    for line in gzip.open(path, "rt"):
        words = line.split()
        if not words:
            continue
        y.append(float(words[0]))
        for word in words[1:]:
            column, entry = word.split(":")
            columns.append(int(column) - 1)
            values.append(float(entry))
        starts.append(len(values))
    return scipy.sparse.csr_matrix((values, columns, starts), shape=(len(y), features)), np.array(y)


def main():
    print("# made by train.py")
    for name, (seed, _, features, _, classes, lam) in PROBLEMS.items():
        x, planted, kinds = rows_of(name)
        direction = vector(seed + 10, features)
        print(f"columns {name} {x.mean(axis=0) @ direction:.17g} {x.std(axis=0) @ direction:.17g}")
        for loss in ("svm", "logistic", "squares", "softmax"):
            y = labels_of(loss, planted, kinds)
            unknowns = features * (classes if loss == "softmax" else 1)
            p, g = objective(loss, x, y, vector(seed + 9, unknowns), lam, classes)
            print(f"optimum {name} {loss} {optimum(loss, x, y, lam, classes):.17g}")
            print(f"point {name} {loss} {p:.17g} {np.sqrt(g @ g):.17g} {g @ vector(seed + 10, unknowns):.17g}")
        for loss in ("svm", "logistic", "squares"):
            y = labels_of(loss, planted, kinds)
            for algorithm, iterations, step, batch, passes in STEPS if name in ("dense", "sparse") else []:
                for ranks in (1, 3):
                    w = Run(loss, x, y, lam, ranks, step, batch, passes).iterate(algorithm, iterations)
                    print("steps", name, loss, algorithm, ranks, iterations, step, batch, passes,
                          f"{np.sqrt(w @ w):.17g} {w @ direction:.17g}")
    for name, features in (("a9a", 123), ("w8a", 300)) if len(sys.argv) > 1 else ():
        x, y = libsvm(f"{sys.argv[1]}/libsvm/{name}.gz", features)
        print(f"file {name} logistic 0.0001 {optimum('logistic', x, y, 1e-4, 1):.17g}")


main()
