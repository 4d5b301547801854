#!/usr/bin/env python3
"""Exact times of n workers that queue at the links of s parameter servers, without approximations.

    tools/oracle/queue.py >tests/data/queue.tsv

The closed network has a delay (computing, latency) and two stations, the incoming and the outgoing links. With k
workers at a station, it serves min(k, s) / (M b) of them per second: each worker is limited by its own link, all
together by the s servers. Its states have the product-form probabilities of Baskett, Chandy, Muntz and Palacios; the
normalising constants come from Buzen's convolution, in exact rational arithmetic. Lines:

    n servers compute seconds load

compute is the delay and seconds the time of an iteration, both in units of M b; load is the share of the time in which
the servers' links are busy.
"""
from fractions import Fraction as Q


def constants(n, servers, delay):
    """G(0..n): sums over the ways to place k workers at the delay and the two stations."""
    think, station = [Q(1)], [Q(1)]
    for k in range(1, n + 1):
        think.append(think[-1] * delay / k)
        station.append(station[-1] / min(k, servers))
    total = think
    for _ in range(2):
        total = [sum(total[j] * station[k - j] for j in range(k + 1)) for k in range(n + 1)]
    return total


def main():
    print("# made by queue.py")
    for servers in (1, 2, 4, 8):
        for n in (1, 2, 3, 4, 8, 16, 32, 64):
            for delay in (Q(0), Q(1, 10), Q(1), Q(3), Q(10), Q(30), Q(100)):
                g = constants(n, servers, delay)
                seconds = n * g[n] / g[n - 1]
                print(n, servers, float(delay), float(seconds), float(n / (servers * seconds)))


main()
