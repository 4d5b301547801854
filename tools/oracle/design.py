#!/usr/bin/python3
"""The runs worth making: a relaxed optimal design.

Candidates j = (n_j, size_j) have the features (1, size/n, ln n, n), each divided by its mean over the
candidates: f_j. A candidate costs c_j = (size_j/smallest size)/n_j and gets a share 0 <= l_j <= 1 with
sum_j c_j l_j <= budget. With M(l) = M0 + sum_j l_j f_j f_j', minimise
    A: trace(M^-1)        D: -log det M        I: g'M^-1 g, g the features of the target n = 64, size = 1
(the target and the measured runs in M0 are divided by the same means).

Certificate: the criteria are convex, so the objective is above the optimum by at most
gap = max over feasible z of gradient.(l - z); z solves a linear programme over the box and the budget,
greedily by gradient/cost. The gap is printed in the units of the objective and is at most 1e-12 of it.

Method: a log-barrier Newton method to a relative gap of 1e-10, then Newton steps on the shares strictly
between their bounds, the others put on their bound and the budget spent exactly.

Candidates: `ernest`: n = 1..8, 20 sizes evenly from 4/256 to 32/256, those with round(256 size) >= 4 n.
`grid`: n = 1..20, sizes 0.1, 0.2, ... 1.0 (k/10). `ernest-more` has M0 from the measured runs (n, size) =
(1, 1/64), (2, 1/64), (8, 1/8), otherwise M0 = 0.
"""
import numpy as np

TARGET = (64, 1.0)
MEASURED = ((1, 1 / 64), (2, 1 / 64), (8, 1 / 8))
BARRIER_GAP, FINAL_GAP = 1e-10, 1e-12
AT_BOUND = 1e-4


def features(runs):
    n, size = np.array(runs, float).T
    return np.column_stack([np.ones_like(n), size / n, np.log(n), n])


def ernest():
    sizes = [(4 + 28 * k / 19) / 256 for k in range(20)]
    return [(n, size) for n in range(1, 9) for size in sizes if round(256 * size) >= 4 * n]


def grid():
    return [(n, k / 10) for n in range(1, 21) for k in range(1, 11)]


class Problem:
    def __init__(self, criterion, candidates, budget, measured=()):
        self.criterion, self.candidates, self.budget = criterion, candidates, budget
        n, size = np.array(candidates, float).T
        self.cost = size / size.min() / n
        scale = features(candidates).mean(axis=0)
        self.f = features(candidates) / scale
        self.g = (features([TARGET]) / scale)[0]
        known = features(measured) / scale if measured else np.zeros((0, 4))
        self.known = known.T @ known

    def information(self, share):
        return self.known + self.f.T @ (share[:, None] * self.f)

    def value(self, share):
        m = self.information(share)
        if self.criterion == "D":
            return -np.linalg.slogdet(m)[1]
        if self.criterion == "A":
            return np.trace(np.linalg.inv(m))
        return self.g @ np.linalg.solve(m, self.g)

    def gradient_hessian(self, share):
        v = np.linalg.solve(self.information(share), self.f.T)
        k = self.f @ v
        if self.criterion == "D":
            return -np.diag(k), k * k
        q = v.T @ v if self.criterion == "A" else np.outer(self.g @ v, self.g @ v)
        return -np.diag(q), 2 * k * q

    def gap(self, share):
        gradient = self.gradient_hessian(share)[0]
        best, left = np.zeros_like(share), self.budget
        for j in np.argsort(gradient / self.cost):
            best[j] = min(1, left / self.cost[j])
            left -= best[j] * self.cost[j]
        return gradient @ (share - best)

    def slack(self, share):
        return self.budget - self.cost @ share

    def barrier(self, share, mu):
        slacks = np.concatenate([share, 1 - share, [self.slack(share)]])
        return self.value(share) - mu * np.log(slacks).sum() if slacks.min() > 0 else np.inf

    def centre(self, share, mu):
        """Damped Newton steps on objective - mu sum log(slacks)."""
        for _ in range(60):
            gradient, hessian = self.gradient_hessian(share)
            slack = self.slack(share)
            gradient = gradient - mu / share + mu / (1 - share) + mu / slack * self.cost
            hessian = hessian + mu / slack ** 2 * np.outer(self.cost, self.cost)
            curvature = mu / share ** 2 + mu / (1 - share) ** 2
            root = 1 / np.sqrt(curvature)
            scaled = np.eye(len(share)) + root[:, None] * hessian * root
            step = -root * np.linalg.solve(scaled, root * gradient)
            decrease = -gradient @ step
            if decrease < 1e-6 * mu:
                break
            here, length = self.barrier(share, mu), 1.0
            while length > 1e-12 and not self.barrier(share + length * step, mu) <= here - 0.1 * length * decrease:
                length /= 2
            if length <= 1e-12:
                break
            share = share + length * step
        return share

    def polish(self, share):
        share = np.where(share < AT_BOUND, 0, np.where(share > 1 - AT_BOUND, 1, share))
        free = (share > 0) & (share < 1)
        count = free.sum()
        for _ in range(5 if count else 0):
            gradient, hessian = self.gradient_hessian(share)
            cost = self.cost[free]
            system = np.block([[hessian[np.ix_(free, free)], cost[:, None]], [cost, np.zeros((1, 1))]])
            right = np.append(-gradient[free], self.slack(share))
            share[free] += np.linalg.solve(system, right)[:count]
        return share

    def solve(self):
        share = np.full(len(self.cost), 0.5 * min(1, self.budget / self.cost.sum()))
        mu = 1.0
        while self.gap(share) > BARRIER_GAP * abs(self.value(share)):
            share = self.centre(share, mu)
            mu /= 5
        share = self.polish(share)
        assert share.min() >= 0 and share.max() <= 1 and self.slack(share) > -1e-13 * self.budget
        assert self.gap(share) <= FINAL_GAP * abs(self.value(share)), self.gap(share)
        return share


CASES = [
    ("ernest", Problem("A", ernest(), 10)),
    ("ernest", Problem("D", ernest(), 10)),
    ("ernest", Problem("I", ernest(), 10)),
    ("ernest-more", Problem("A", ernest(), 10, MEASURED)),
    ("ernest-all", Problem("A", ernest(), 1000)),
    ("grid", Problem("A", grid(), 5)),
    ("grid", Problem("D", grid(), 5)),
    ("grid", Problem("I", grid(), 5)),
]

print("# made by design.py")
for name, problem in CASES:
    share = problem.solve()
    print(f"case {name} {problem.criterion} {problem.budget:.17g} {problem.value(share):.17g} "
          f"{max(problem.gap(share), 0):.17g}")
    for (n, size), cost, part in zip(problem.candidates, problem.cost, share):
        if part > AT_BOUND:
            print(f"share {n:.17g} {size:.17g} {cost:.17g} {part:.17g}")

assert len(ernest()) == 83 and len(grid()) == 200
ernest_a = CASES[0][1]
assert f"{ernest_a.value(ernest_a.solve()):.8f}" == "5.61727309"
