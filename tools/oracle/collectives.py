#!/usr/bin/env python3
"""Time of a collective on n workers: the closed formulas, in exact rational arithmetic.

Every rational quantity is a Fraction and is rounded once, when printed; only log2 n is a double.
alpha: latency of a link (s); beta: seconds per byte; M: bytes.
"""
from fractions import Fraction as Q
from math import isqrt, log2

INNER_ALPHA = Q("3e-6")          # link between the workers of one node: latency, s
INNER_BETA = 1 / Q("300e9")      # and seconds per byte

WORKERS = [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 32, 64, 100, 1000, 1024]
BYTES = [0, 1000, 4_000_000, 1_000_000_000]
LINKS = [("0", "125e6"), ("50e-6", "1.25e9"), ("0.02", "12.5e6")]   # latency s, bytes/s


def ceil_log2(n):
    steps = 0
    while 2 ** steps < n:
        steps += 1
    return steps


def ceil_sqrt(n):
    root = isqrt(n)
    return root if root * root == n else root + 1


def hierarchical(n, M, alpha, beta, group):
    """Ring reduce-scatter and all-gather inside each node; between them a ring all-reduce among the
    nodes, where the workers of a node (M/g bytes each) share the node's one link."""
    inside = min(n, group)
    nodes = 1 if n <= group else n // group
    half_inside = (inside - 1) * INNER_ALPHA + Q(inside - 1, inside) * M * INNER_BETA
    between = 2 * (nodes - 1) * alpha + Q(2 * (nodes - 1), nodes) * M * beta
    return 2 * half_inside + between


SCHEMES = {
    "linear": lambda n, M, a, b: (n - 1) * (a + M * b),
    "tree": lambda n, M, a, b: ceil_log2(n) * (a + M * b),
    "tree-smooth": lambda n, M, a, b: Q(log2(n)) * (a + M * b),
    "torrent": lambda n, M, a, b: Q(log2(n)) * M * b,
    "two-wave": lambda n, M, a, b: 2 * ceil_sqrt(n) * M * b,
    "recursive-doubling": lambda n, M, a, b: ceil_log2(n) * (a + M * b),
    "rabenseifner": lambda n, M, a, b: 2 * ceil_log2(n) * a + Q(2 * (n - 1), n) * M * b,
    "ring": lambda n, M, a, b: 2 * (n - 1) * a + Q(2 * (n - 1), n) * M * b,
    "shuffle": lambda n, M, a, b: (n - 1) * a + Q(n - 1, n) * M * b,
    "gossip-ring": lambda n, M, a, b: {1: 0, 2: 1}.get(n, 2) * (a + M * b),   # one message to each neighbour
    "gossip-exp": lambda n, M, a, b: (a + M * b) if n > 1 else 0,             # one message to one neighbour
}


def parameter_server(n, M, alpha, beta, servers):
    return 2 * (alpha + max(M * beta, n * M * beta / servers))


def row(scheme, n, M, latency, bandwidth, group, servers, seconds):
    print(f"{scheme},{n},{M},{float(latency)!r},{float(bandwidth)!r},{group},{servers},{float(seconds)!r}")


def main():
    print("# made by collectives.py; hierarchical: inner latency 3e-6 s, inner bandwidth 300e9 bytes/s")
    print("scheme,n,bytes,latency_s,bandwidth_bytes_per_s,group,servers,seconds")
    for latency, bandwidth in LINKS:
        alpha, beta = Q(latency), 1 / Q(bandwidth)
        for M in BYTES:
            for n in WORKERS:
                for name, seconds in SCHEMES.items():
                    row(name, n, M, latency, bandwidth, 1, 0, seconds(n, M, alpha, beta))
                for group in (4, 8):
                    if n <= group or n % group == 0:
                        row("hierarchical", n, M, latency, bandwidth, group, 0,
                            hierarchical(n, M, alpha, beta, group))
                for servers in (1, 4):
                    row("parameter-server", n, M, latency, bandwidth, 1, servers,
                        parameter_server(n, M, alpha, beta, servers))


main()
