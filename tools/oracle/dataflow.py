#!/usr/bin/env python3
"""Times of the tasks of a stage on slots, by simulating every order.

    tools/oracle/dataflow.py >tests/data/dataflow.tsv

P tasks have the mean length 1; one of them has the length `skew`, the others are equal. Each free slot takes the next
task of the list. The time until the last task ends is averaged over all places of the large task in the list. Lines:

    tasks slots skew seconds

A second part has the expected share of time that lost workers add, by simulating failures: exponential times between
failures, recovery by lineage (the restart and the repeated iterations of the lost partitions), and by checkpoints at the
best interval. Lines beginning with "loss":

    loss n mtbf restart lineage checkpoint compute lineage_share checkpoint_share
"""
import heapq
import math
import random


def makespan(lengths, slots):
    free = [0.0] * min(slots, len(lengths))
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def mean_makespan(tasks, slots, skew):
    large = min(skew, tasks)
    if tasks == 1 or large <= 1:
        return makespan([1.0] * tasks, slots)
    equal = (tasks - large) / (tasks - 1)
    total = 0
    for place in range(tasks):
        lengths = [equal] * tasks
        lengths[place] = large
        total += makespan(lengths, slots)
    return total / tasks


def simulated(rate, restart, lost, every, write, seed):
    """Share of time that failures and checkpoints add to a long run; `lost` None: back to the last checkpoint."""
    rng = random.Random(seed)
    work = 20000 / rate  # 20,000 failures
    spent = 0.0
    done = 0.0
    while done < work:
        until = rng.expovariate(rate)
        spent += until * (1 + (write / every if lost is None else 0)) + restart
        spent += lost if lost is not None else rng.random() * every
        done += until
    return spent / done - 1


def main():
    print("# made by dataflow.py")
    for tasks, slots in ((1, 1), (1, 4), (4, 4), (5, 4), (7, 4), (8, 4), (9, 4), (16, 4), (30, 7), (64, 16), (65, 16),
                         (100, 16), (200, 64), (300, 8), (63, 1), (500, 3)):
        for skew in (1, 1.5, 2, 3, 4.7, 10, 1000):
            print(tasks, slots, skew, repr(mean_makespan(tasks, slots, skew)))
    for n, mtbf, restart, lineage, write, compute in ((10, 8.64e5, 30, 1, 20, 10), (100, 8.64e5, 60, 20, 5, 40),
                                                      (2, 3600, 5, 3, 1, 100)):
        rate = n / mtbf
        every = math.sqrt(2 * write / rate)
        print("loss", n, mtbf, restart, lineage, write, compute,
              simulated(rate, restart, lineage * compute / max(n - 1, 1), every, write, 1),
              simulated(rate, restart, None, every, write, 2))


main()
