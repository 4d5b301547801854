#!/usr/bin/env python3
"""Time of one superstep and its speedup for the cases of Ulanov et al. 2016.

Strong scaling: speedup(n) = t(1)/t(n). Weak scaling (fig3): the speedup of the time per instance,
relative to 50 workers: (t(50)/50) / (t(n)/n).
"""
from math import isqrt, log2


def ceil_sqrt(n):
    root = isqrt(n)
    return root if root * root == n else root + 1


def fig1(n):
    return 10 / n + 0.5 * log2(n)


def generic_linear(n):
    return 10 / n + 0.5 * n


def fig2(n):
    """Fully connected network on Spark: torrent broadcast, two-wave aggregation, 64-bit parameters."""
    W, S, F, B = 12e6, 60000, 0.8 * 105.6e9, 1e9
    return 6 * W * S / (F * n) + 64 * W / B * log2(n) + 2 * (64 * W / B) * ceil_sqrt(n)


def two_trees(W, B, n):
    """A broadcast and an aggregation of W 32-bit parameters over a link of B bit/s."""
    return 2 * (32 * W / B) * log2(n)


def fig3(n):
    """Inception v3, batch 128 per worker."""
    return 2 * 3 * 5e9 * 128 / (0.5 * 4.29e12) + two_trees(25e6, 1e9, n)


def ctr(n):
    """Logistic regression, click-through."""
    return 2 * 125 * 2.3e9 / (0.8 * 200e9 * n) + two_trees(16e6, 1e9, n)


def speech(n):
    """Fully connected network."""
    return 6 * 45.1e6 * 1024 / (0.5 * 4e12 * n) + two_trees(45.1e6, 8 * 16e9, n)


def alexnet(n):
    """With the values of the table: s(25) = 6.07576. See the note at the end of the output."""
    return 6 * 832e6 * 1024 / (0.5 * 4e12 * n) + two_trees(60e6, 56e9, n)


def strong(time):
    return lambda n: time(1) / time(n)


def weak(time, reference):
    return lambda n: (time(reference) / reference) / (time(n) / n)


def mape(speedup, measured):
    """Mean absolute percentage error; measured is {workers: speedup}."""
    return 100 * sum(abs(speedup(n) - m) / m for n, m in measured.items()) / len(measured)


CASES = [
    ("fig1", fig1, strong(fig1), range(1, 65)),
    ("generic-linear", generic_linear, strong(generic_linear), range(1, 65)),
    ("fig2", fig2, strong(fig2), range(1, 65)),
    ("fig3", fig3, weak(fig3, 50), (25, 50, 100, 200)),
    ("ctr", ctr, strong(ctr), range(1, 65)),
    ("speech", speech, strong(speech), range(1, 65)),
    ("alexnet", alexnet, strong(alexnet), range(1, 65)),
]

MEASURED_FIG2 = dict(enumerate(
    [1, 1.88, 2.46, 2.91, 3.2, 3.2, 3.2, 3.2, 3.56, 3.1, 3, 3.2, 3.31], start=1))
STEP_FIG3 = {50: 2.58, 100: 2.97, 200: 3.45}
MEASURED_FIG3 = {n: (STEP_FIG3[50] / 50) / (t / n) for n, t in STEP_FIG3.items()}

print("# made by superstep.py")
print("case,n,time_s,speedup")
for name, time, speedup, workers in CASES:
    for n in workers:
        print(f"{name},{n},{time(n)!r},{speedup(n)!r}")
for name, speedup, measured, reference in (("fig2", strong(fig2), MEASURED_FIG2, 1),
                                           ("fig3", weak(fig3, 50), MEASURED_FIG3, 50)):
    others = {n: m for n, m in measured.items() if n != reference}
    print(f"# MAPE {name}: {mape(speedup, measured)!r} % over {len(measured)} points, "
          f"{mape(speedup, others)!r} % without the reference point n={reference}")



def alexnet_as_printed(n):
    """The assumptions that give s(25) = 19.7921 of the literature: a multiply-add is one flop, and the CPU is that of fig2."""
    return 3 * 832e6 * 1024 / (0.8 * 105.6e9 * n) + two_trees(60e6, 56e9, n)


print(f"# alexnet: the inputs 6*832e6*1024 flop, F=0.5*4e12 give s(25)={strong(alexnet)(25)!r}, not the 19.7921 "
      f"of the source; 3*832e6*1024 and F=0.8*105.6e9 give {strong(alexnet_as_printed)(25)!r}")

# the printed figures that these formulas must give
for speedup, n, want in ((strong(fig1), 10, "3.75804"), (strong(fig1), 15, "3.81663"),
                         (strong(fig2), 9, "4.13950"), (strong(fig2), 13, "4.07696"),
                         (weak(fig3, 50), 100, "1.74236"), (weak(fig3, 50), 200, "3.08704"),
                         (strong(ctr), 2, "1.27398"), (strong(speech), 4, "1.73756")):
    assert f"{speedup(n):.5f}" == want, (n, speedup(n), want)
assert f"{strong(alexnet_as_printed)(25):.4f}" == "19.7921"
assert f"{fig1(10):.5f} {fig1(15):.5f}" == "2.66096 2.62011"
assert f"{mape(strong(fig2), MEASURED_FIG2):.4f} {mape(weak(fig3, 50), MEASURED_FIG3):.4f}" == "13.6808 1.1625"
# fig2 peaks at 9 among the 13 measured sizes only: 16 workers are faster still
for time, most, optimum in ((fig1, 64, 14), (fig2, 13, 9), (fig2, 64, 16), (ctr, 64, 2), (speech, 64, 4)):
    assert min(range(1, most + 1), key=time) == optimum, (time, most, optimum)
