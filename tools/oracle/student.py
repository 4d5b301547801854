#!/usr/bin/python3
"""Quantiles of Student's t distribution and the upper tail of the F distribution.

`df p quantile`: P(T <= quantile) = p, where P(T > t) = I(df/(df+t^2); df/2, 1/2)/2 for t >= 0.
`f d1 d2 x sf`:  sf = P(F > x) = I(d2/(d2+d1 x); d2/2, d1/2).

I(x; a, b) is the regularised incomplete beta function, summed here in 50-digit decimals:
I(x; a, b) = x^a (1-x)^b / (a B(a, b)) * sum_k (a+b)_k/(a+1)_k x^k, or 1 - I(1-x; b, a) for x past the mean.
A quantile starts from scipy.stats.t.ppf and takes Newton steps; inputs are the exact values of the printed
doubles, results are rounded once. scipy must agree: ppf, itself a search to about 1e-9, to 1e-8, and the tail
at the printed quantile to 1e-12.
"""
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

from scipy import stats

getcontext().prec = 50
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494")


def bernoulli(count):
    numbers = [Fraction(1)]
    for m in range(1, count):
        numbers.append(-sum(comb(m + 1, k) * numbers[k] for k in range(m)) / (m + 1))
    return numbers


STIRLING = [Decimal(b.numerator) / b.denominator / (k * (k - 1))
            for k, b in enumerate(bernoulli(42)) if k >= 2 and k % 2 == 0]


def log_gamma(z):
    """Stirling's series, after shifting z above 60."""
    shift = Decimal(1)
    while z < 60:
        shift *= z
        z += 1
    series = sum(c / z ** (2 * k + 1) for k, c in enumerate(STIRLING))
    return (z - Decimal("0.5")) * z.ln() - z + (2 * PI).ln() / 2 + series - shift.ln()


def log_beta(a, b):
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def beta_tail(x, y, a, b):
    """I(x; a, b); y = 1 - x is given separately to keep its precision."""
    if x * (a + b + 2) > a + 1:
        return 1 - beta_tail(y, x, b, a)
    term = total = Decimal(1)
    k = 0
    while term > total * Decimal("1e-50"):
        term *= (a + b + k) / (a + 1 + k) * x
        total += term
        k += 1
    return (a * x.ln() + b * y.ln() - log_beta(a, b)).exp() / a * total


def t_sf(t, df):
    return beta_tail(df / (df + t * t), t * t / (df + t * t), df / 2, Decimal("0.5")) / 2


def t_pdf(t, df):
    return (-(df + 1) / 2 * (1 + t * t / df).ln() - df.ln() / 2 - log_beta(df / 2, Decimal("0.5"))).exp()


def t_quantile(p, df):
    """The quantile of Student's t for 0.5 < p < 1, by Newton's method."""
    t, p, df = Decimal(float(stats.t.ppf(p, df))), Decimal(p), Decimal(df)
    for _ in range(3):
        t += (t_sf(t, df) - (1 - p)) / t_pdf(t, df)
    return float(t)


def f_sf(x, d1, d2):
    x, d1, d2 = Decimal(x), Decimal(d1), Decimal(d2)
    return float(beta_tail(d2 / (d2 + d1 * x), d1 * x / (d2 + d1 * x), d2 / 2, d1 / 2))


def close(a, b, tolerance):
    return abs(a - b) <= tolerance * abs(b)


DFS = (1, 1.5, 2, 3, 5, 10, 30, 100, 1000)
PS = (0.501, 0.55, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9999)
F_DEGREES = ((1, 1), (1, 4), (1, 30), (2, 3), (2, 10), (3, 3), (4, 17), (5, 100), (10, 10), (1.5, 7))
F_XS = (0.1, 1.0, 4.5, 20.0)


def main():
    print("# made by student.py")
    worst = 0
    for df in DFS:
        for p in PS:
            quantile = t_quantile(p, df)
            library = float(stats.t.ppf(p, df))
            assert close(library, quantile, 1e-8), (df, p, library, quantile)
            assert close(float(stats.t.sf(quantile, df)), 1 - p, 1e-12), (df, p, quantile)
            worst = max(worst, abs(library / quantile - 1))
            print(f"{df:.17g} {p:.17g} {quantile:.17g}")
    print(f"# largest relative difference of scipy.stats.t.ppf: {worst:.1e}")
    worst = 0
    for d1, d2 in F_DEGREES:
        for x in F_XS:
            tail = f_sf(x, d1, d2)
            library = float(stats.f.sf(x, d1, d2))
            assert close(library, tail, 1e-12), (d1, d2, x, library, tail)
            worst = max(worst, abs(library / tail - 1))
            print(f"f {d1:.17g} {d2:.17g} {x:.17g} {tail:.17g}")
    print(f"# largest relative difference of scipy.stats.f.sf: {worst:.1e}")
    # closed forms: df = 2 gives t = (2p-1)/sqrt(2p(1-p)), d1 = 2 gives sf = (1+2x/d2)^(-d2/2)
    for p in PS:
        exact = Decimal(p)
        assert close(t_quantile(p, 2), float((2 * exact - 1) / (2 * exact * (1 - exact)).sqrt()), 3e-16), p
    for x in F_XS:
        assert close(f_sf(x, 2, 10), float((1 + Decimal(x) / 5) ** -5), 3e-16), x


if __name__ == "__main__":
    main()
