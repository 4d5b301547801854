#!/usr/bin/python3
"""Times of n workers with different and varying speeds. Columns: `kind n late staleness seconds extra spread chance factor
pause slow slow_factor speeds value within`.

order: the expected (n - late)-th smallest of n draws, by adaptive quadrature of the Poisson-binomial
       distribution of the number of unfinished workers.
stale: the mean time of an iteration with x_i(c) = max(x_i(c-1), max_j x_j(c-1-s)) + d_i(c) + extra, from long
       runs with numpy's generator; `within` is the tolerance: four standard errors of eight runs, plus 1 % for the
       simulation of howmany.

A worker takes seconds * F * exp(spread Z) * (factor if slow) + (pause if slow); F is 1 over its speed, times
slow_factor on the last `slow` workers.
"""
import numpy as np
from scipy.integrate import quad
from scipy.special import erfc


def factors(n, slow, slow_factor, speeds):
    f = np.ones(n)
    for i, speed in enumerate(speeds[:n]):
        f[i] /= speed
    if slow:
        f[max(n - slow, 0):] *= slow_factor
    return f


def tail(t, f, seconds, spread, chance, factor, pause):
    """P(T > t) of each worker."""
    def above(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(x > 0, np.log(np.maximum(x, 1e-300)) / spread, -np.inf)
        return erfc(z / np.sqrt(2)) / 2
    q = (1 - chance) * above(t / (f * seconds))
    return q + chance * above((t - pause) / (f * seconds * (factor or 1)))


def order(n, late, seconds, spread, chance, factor, pause, f):
    def more_late(t):
        count = np.zeros(late + 1)
        count[0] = 1
        for q in tail(t, f, seconds, spread, chance, factor, pause):
            count[1:] = count[1:] * (1 - q) + count[:-1] * q
            count[0] *= 1 - q
        return 1 - count.sum()

    steps = sorted({seconds * x * g + p for x in f for g, p in ((1, 0), (factor or 1, pause))})
    edges = sorted({0.0} | {s * np.exp(spread * z) for s in steps for z in np.linspace(-9, 9, 25)})
    return sum(quad(more_late, a, b, epsabs=1e-12, epsrel=1e-11, limit=200)[0]
               for a, b in zip(edges, edges[1:]))


def exact_order(n, late, seconds, chance, factor, pause, f):
    """The expected time without spread, from all combinations of slow and normal workers."""
    total = 0.0
    for mask in range(2 ** n):
        bits = np.array([(mask >> i) & 1 for i in range(n)], bool)
        p = np.where(bits, chance, 1 - chance).prod()
        times = np.sort(seconds * f * np.where(bits, factor or 1, 1) + np.where(bits, pause, 0))
        total += p * times[n - late - 1]
    return total


def stale(n, staleness, seconds, extra, spread, chance, factor, pause, f):
    means = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rounds, skip = 60000, 2000
        ends, front = np.zeros(n), np.zeros(staleness + 1)
        for c in range(rounds):
            slow = rng.random(n) < chance
            d = seconds * f * np.exp(spread * rng.standard_normal(n))
            d = np.where(slow, d * (factor or 1) + pause, d) + extra
            ends = np.maximum(ends, front[c % (staleness + 1)]) + d
            front[c % (staleness + 1)] = ends.max()
            if c + 1 == skip:
                began = ends.max()
        means.append((ends.max() - began) / (rounds - skip))
    return np.mean(means), 4 * np.std(means, ddof=1) / np.sqrt(8) / np.mean(means)


def main():
    # n, late, staleness, seconds, extra, spread, chance, factor, pause, slow, slow_factor, speeds
    orders = [
        (1, 0, 0.5, 0.2, 0, 0, 0, 0, 0, []),
        (8, 0, 0.5, 0.2, 0, 0, 0, 0, 0, []),
        (64, 0, 2, 0.05, 0, 0, 0, 0, 0, []),
        (200, 0, 1, 1, 0, 0, 0, 0, 0, []),
        (8, 0, 1, 0.1, 0.05, 4, 0, 0, 0, []),
        (8, 1, 1, 0.1, 0.05, 4, 0, 0, 0, []),
        (8, 7, 1, 0.3, 0.05, 4, 0, 0, 0, []),
        (16, 3, 0.25, 0.2, 0.1, 0, 1.5, 0, 0, []),
        (16, 2, 0.25, 0.2, 0.1, 3, 0.5, 2, 2.5, []),
        (8, 1, 1, 0.1, 0.2, 3, 0.1, 1, 4, [1, 2, 0.5]),
        (6, 0, 1, 0.02, 0, 0, 0, 2, 1.05, [1, 0.9, 0.8]),
    ]
    exact = [
        (8, 0, 1, 0, 0.05, 4, 0, 0, 0, []),
        (8, 1, 1, 0, 0.05, 4, 0, 0, 0, []),
        (8, 0, 1, 0, 0, 0, 0, 1, 4, []),
        (8, 1, 1, 0, 0, 0, 0, 1, 4, []),
        (10, 2, 0.5, 0, 0.2, 3, 0.25, 3, 2, [1, 2, 0.5, 1]),
        (10, 9, 0.5, 0, 0.2, 0, 0.25, 3, 2, [1, 2, 0.5, 1]),
    ]
    stales = [
        (8, 1, 1, 0, 0, 0.05, 4, 0, 0, 0, []),
        (8, 3, 1, 0, 0, 0.05, 4, 0, 0, 0, []),
        (8, 10, 1, 0, 0, 0.05, 4, 0, 0, 0, []),
        (8, 3, 1, 0, 0, 0.05, 4, 0, 1, 4, []),
        (64, 3, 0.5, 0.1, 0.3, 0, 0, 0, 0, 0, []),
        (32, 2, 1, 0.5, 0.2, 0.1, 0, 1.5, 0, 0, [1, 0.8, 1.25]),
    ]
    print("# made by tools/oracle/slowness.py")
    print("# kind n late staleness seconds extra spread chance factor pause slow slow_factor speeds value within")
    for n, late, seconds, spread, chance, factor, pause, slow, slow_factor, speeds in orders + exact:
        f = factors(n, slow, slow_factor, speeds)
        value = (order(n, late, seconds, spread, chance, factor, pause, f) if spread
                 else exact_order(n, late, seconds, chance, factor, pause, f))
        within = 1e-8 if spread else 1e-13
        print("order", n, late, 0, seconds, 0, spread, chance, factor, pause, slow, slow_factor,
              ",".join(map(str, speeds)) or "-", repr(float(value)), within)
    for n, s, seconds, extra, spread, chance, factor, pause, slow, slow_factor, speeds in stales:
        f = factors(n, slow, slow_factor, speeds)
        value, error = stale(n, s, seconds, extra, spread, chance, factor, pause, f)
        print("stale", n, 0, s, seconds, extra, spread, chance, factor, pause, slow, slow_factor,
              ",".join(map(str, speeds)) or "-", f"{value:.6f}", f"{error + 0.01:.4f}")


if __name__ == "__main__":
    main()
