#!/usr/bin/python3
"""The latency and the bandwidth of a link by weighted least squares, for tests/unit/test_calibration.c.

The time of a message is t = a + b * bytes; each row has the weight 1 / t. Solved with exact fractions, which share no
code with src/hardware/calibration_links.c.
"""
from fractions import Fraction

ROWS = [("8", "2.1e-6"), ("1024", "2.3e-6"), ("65536", "8.4e-6"), ("1048576", "9.1e-5"), ("16777216", "1.42e-3")]


def fit(rows):
    # Minimise the sum of ((a + b x) / t - 1)^2: two normal equations.
    points = [(Fraction(x), Fraction(t)) for x, t in rows]
    aa = sum(1 / t**2 for x, t in points)
    ab = sum(x / t**2 for x, t in points)
    bb = sum(x**2 / t**2 for x, t in points)
    ya = sum(1 / t for x, t in points)
    yb = sum(x / t for x, t in points)
    determinant = aa * bb - ab * ab
    return (ya * bb - yb * ab) / determinant, (aa * yb - ab * ya) / determinant


latency, per_byte = fit(ROWS)
print("latency_s", float(latency))
print("bandwidth_bytes_per_s", float(1 / per_byte))
