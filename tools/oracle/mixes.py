#!/usr/bin/env python3
"""Best mixes of three kinds of machines, by trying all mixes.

    tools/oracle/mixes.py >tests/data/mixes.tsv

The job computes 3e10 flop in an iteration, divided among the workers, and reduces 100 MB by a ring; it has 1000
iterations. A worker with an equal share of the work takes t_k = 3e10 / (n r_k) seconds. With shares by speed, a
worker of kind k has the share v_k / sum_j w_j v_j of the work, with v_k = 1 / t_k. The ring takes 2 (n - 1) (a + M b /
n) seconds with the largest latency a and the smallest bandwidth 1 / b of the machines in use. The step takes as long as
its slowest worker, and costs the sum of all prices. Lines:

    shares goal deadline budget machines_1 machines_2 machines_3 seconds money

goal is time, cost, or the weights alpha:beta; deadline and budget are 0 if there is none. The mix is the best one;
among equal ones, that with the fewest machines.
"""
from itertools import product

FLOP, BYTES, ITERATIONS = 3e10, 100e6, 1000
RATE = (10e9, 4e9, 2.5e9)
BANDWIDTH = (1e9, 0.9e9, 2e9)
LATENCY = (50e-6, 100e-6, 20e-6)
PRICE = (1 / 3600, 0.33 / 3600, 0.2 / 3600)
COUNT = (4, 6, 9)
CASES = (("time", 0, 0), ("cost", 0, 0), ("time", 0, 0.9), ("time", 0, 1), ("time", 0, 1.2), ("cost", 2000, 0),
         ("cost", 1000, 0), ("cost", 800, 0), ("1e-3:1", 0, 0), ("1e-3:3", 0, 0))


def step(mix, shares):
    n = sum(mix)
    used = [k for k in range(3) if mix[k]]
    if shares == "equal":
        compute = max(FLOP / n / RATE[k] for k in used)
    else:
        rate = {k: 1 / (FLOP / n / RATE[k]) for k in used}
        total = sum(mix[k] * rate[k] for k in used)
        compute = max(FLOP * rate[k] / total / RATE[k] for k in used)
    latency = max(LATENCY[k] for k in used)
    bandwidth = min(BANDWIDTH[k] for k in used)
    return compute + 2 * (n - 1) * (latency + BYTES / n / bandwidth)


def main():
    print("# made by mixes.py")
    mixes = [m for m in product(*(range(c + 1) for c in COUNT)) if sum(m)]
    for shares in ("speed", "equal"):
        for goal, deadline, budget in CASES:
            best = None
            for mix in mixes:
                seconds = step(mix, shares) * ITERATIONS
                money = seconds * sum(m * p for m, p in zip(mix, PRICE))
                if (deadline and seconds > deadline) or (budget and money > budget):
                    continue
                weights = {"time": (1, 0), "cost": (0, 1)}.get(goal) or tuple(map(float, goal.split(":")))
                value = weights[0] * seconds + weights[1] * money
                key = (value, sum(mix), seconds)
                if best is None or key < best[0]:
                    best = (key, mix, seconds, money)
            if best is None:
                continue
            print(shares, goal, deadline, budget, *best[1], repr(best[2]), repr(best[3]))


main()
