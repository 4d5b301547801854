#!/usr/bin/python3
"""Loopy belief propagation on 10 x 10 grids, from the equations of textbooks, as a reference.

Potentials phi_i(x), psi_ij(x, y). All directed messages are updated at once, starting from uniform ones:
    m_ij(y) = sum_x (or max_x) phi_i(x) psi_ij(x, y) prod_{k != j} m_ki(x), scaled to sum 1,
then m <- (1 - d) m_new + d m_old. Beliefs b_i ~ phi_i prod_k m_ki, b_ij ~ psi_ij times both
phi times all messages but the two of the edge. Bethe's log Z (Yedidia, Freeman, Weiss 2003):
    sum_ij sum b_ij log(psi_ij/b_ij) + sum_i sum b_i (log phi_i - (1 - d_i) log b_i),
where energy and entropy use the belief of their own factor. Before the messages have converged, beliefs
of vertices and of edges are not consistent, and equivalent formulas would give different numbers.
Every product is computed in full from its factors, without divisions and without stored products.

Rows, tab-separated: `model name rows columns`, `states` of all vertices, `unary` of all vertices one
after another, `edge a b` and its table row by row; then for each run `run sum|max damping iterations`,
`belief` of all vertices, `change` of the last iteration (the largest of any entry of any message),
and with sum `logz`. Inputs are printed with enough digits to be read back exactly.
"""
import numpy as np

SIZE = 10


def grid_edges():
    edges = []
    for v in range(SIZE * SIZE):
        if v % SIZE + 1 < SIZE:
            edges.append((v, v + 1))
        if v + SIZE < SIZE * SIZE:
            edges.append((v, v + SIZE))
    return edges


def ising(rng):
    """Couplings J ~ N(0, 0.7), fields h ~ N(0, 0.4): psi = e^(J s t), phi = e^(h s), s, t = -1, 1."""
    spin = np.array([-1.0, 1.0])
    unary = [np.exp(rng.normal(0, 0.4) * spin) for _ in range(SIZE * SIZE)]
    tables = {}
    for edge in grid_edges():
        same, other = np.exp([(j := rng.normal(0, 0.7)), -j])
        tables[edge] = np.array([[same, other], [other, same]])
    return unary, tables


def binary(rng):
    """Any positive tables of two states."""
    unary = [rng.uniform(0.2, 1, 2) for _ in range(SIZE * SIZE)]
    return unary, {edge: rng.uniform(0.1, 1, (2, 2)) for edge in grid_edges()}


def potts(rng):
    """Four states; psi has one value on its diagonal and another value elsewhere."""
    unary = [np.exp(rng.normal(0, 0.5, 4)) for _ in range(SIZE * SIZE)]
    tables = {}
    for edge in grid_edges():
        tables[edge] = np.full((4, 4), rng.uniform(0.5, 1))
        np.fill_diagonal(tables[edge], rng.uniform(0.3, 2))
    return unary, tables


def mixed(rng):
    """One to four states, a tenth of the entries of psi zero, though never all of a row or column."""
    states = rng.integers(1, 5, SIZE * SIZE)
    states[:SIZE] = 3
    unary = [rng.uniform(0.1, 1, s) for s in states]
    tables = {}
    for a, b in grid_edges():
        table = rng.uniform(0.05, 1, (states[a], states[b]))
        holes = rng.uniform(size=table.shape) < 0.1
        if holes.all(axis=0).any() or holes.all(axis=1).any():
            holes[:] = False
        table[holes] = 0
        tables[a, b] = table
    return unary, tables


class Propagation:
    def __init__(self, unary, tables, maximum, damping):
        self.unary, self.tables = unary, tables
        self.join = np.max if maximum else np.sum
        self.damping = damping
        self.neighbours = [[] for _ in unary]
        for a, b in tables:
            self.neighbours[a].append(b)
            self.neighbours[b].append(a)
        self.messages = {}
        for a, b in tables:
            for i, j in ((a, b), (b, a)):
                self.messages[i, j] = np.full(len(unary[j]), 1 / len(unary[j]))

    def psi(self, i, j):
        return self.tables[i, j] if (i, j) in self.tables else self.tables[j, i].T

    def product(self, i, without=None):
        value = self.unary[i].copy()
        for k in self.neighbours[i]:
            if k != without:
                value = value * self.messages[k, i]
        return value

    def step(self):
        new, change = {}, 0
        for i, j in self.messages:
            value = self.join(self.product(i, j)[:, None] * self.psi(i, j), axis=0)
            value = (1 - self.damping) * value / value.sum() + self.damping * self.messages[i, j]
            change = max(change, np.abs(value - self.messages[i, j]).max())
            new[i, j] = value
        self.messages = new
        return change

    def belief(self, i):
        value = self.product(i)
        return value / value.sum()

    def edge_belief(self, a, b):
        value = self.product(a, b)[:, None] * self.product(b, a)[None, :] * self.tables[a, b]
        return value / value.sum()

    def log_z(self):
        total = 0
        for (a, b), table in self.tables.items():
            belief = self.edge_belief(a, b)
            some = belief > 0
            total += (belief[some] * np.log(table[some] / belief[some])).sum()
        for i, phi in enumerate(self.unary):
            belief = self.belief(i)
            some = belief > 0
            entropy = 1 - len(self.neighbours[i])
            total += (belief[some] * (np.log(phi[some]) - entropy * np.log(belief[some]))).sum()
        return total


def row(*cells):
    print(*(repr(float(c)) if isinstance(c, float) else str(c) for c in cells), sep="\t")


def write(name, make, seed, runs):
    unary, tables = make(np.random.default_rng(seed))
    row("model", name, SIZE, SIZE)
    row("states", *(len(phi) for phi in unary))
    row("unary", *np.concatenate(unary))
    for (a, b), table in tables.items():
        row("edge", a, b, *table.ravel())
    for kind, damping, iterations in runs:
        run = Propagation(unary, tables, kind == "max", damping)
        for _ in range(iterations):
            change = run.step()
        row("run", kind, damping, iterations)
        row("belief", *np.concatenate([run.belief(i) for i in range(len(unary))]))
        row("change", float(change))
        if kind == "sum":
            row("logz", float(run.log_z()))


print("# made by tools/oracle/propagate.py with numpy", np.__version__)
RUNS = (("sum", 0.0, 3), ("sum", 0.0, 100), ("sum", 0.4, 60), ("max", 0.0, 20), ("max", 0.3, 50))
write("ising", ising, 1, RUNS)
write("binary", binary, 2, RUNS)
write("potts", potts, 3, RUNS)
write("mixed", mixed, 4, RUNS)
