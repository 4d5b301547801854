#!/usr/bin/python3
"""The Lasso by scikit-learn: solutions along a path of penalties, and cross-validation.

    python3 tools/oracle/lasso.py >tests/data/lasso.tsv

Needs numpy and scikit-learn (Debian: python3-sklearn; made with 1.2.1). Lines:

    problem name rows terms folds
    row fold weight y x...                 values before standardising; folds count from 0
    path penalty objective b...            the objective is 1/2 sum w (y - a - z b)^2 / sum w + penalty |b|_1 with
                                           terms z standardised by StandardScaler; b is 0 for a term that does not vary
    cv which penalties least               a cross-validation, from penalty_max down to penalty_max * least
    held h...                              for each fold: whether it is held out in turn, or always used for the fit
    fold f mse...                          mean square error on fold f at each penalty
    choice penalty_least penalty_chosen    penalty of the least mean error, and by the rule of one standard error

Paths come from lasso_path or, with weights, from Lasso, on rows that this script standardises. Two checks are made on
each solution: its duality gap, computed from sums over the rows, must be below 1e-10 of the variance of y; and when the
equations of its support and signs are solved by least squares on the rows (numpy's lstsq, without a Gram matrix), no
coefficient may change by more than 1e-8 standard deviations of y.

The cross-validation `folds` runs lasso_path for each fold. It standardises the rows that are not held out, and applies the
same means and deviations to the rows that are held out. LassoCV itself does not standardise. In the problem `plain`, each
term has mean 0 and variance 1 in every fold and, because folds have equal sizes, in every union of folds. There the
cross-validation `lassocv` is LassoCV on the rows without changes: its mse_path_, its penalties and its alpha_.
"""
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LassoCV, lasso_path
from sklearn.preprocessing import StandardScaler

# A smaller tolerance would never be reached, and rounding errors would grow with each further iteration.
TIGHT = {"tol": 1e-12, "max_iter": 1000000}
warnings.simplefilter("error", ConvergenceWarning)


def numbers(values):
    return " ".join(repr(float(v)) for v in values)


def rounded(values):
    """Rounds to nine digits, so that the file is small but contains exactly the values that were used."""
    return np.vectorize(lambda v: float(f"{v:.9g}"))(values)


# ---------------------------------------------------------------- problems: x, y, weights, folds

def independent(rng):
    x = rng.normal(rng.normal(0, 5, 8), rng.uniform(0.1, 20, 8), (40, 8))
    return x, x @ (rng.normal(0, 1, 8) * (rng.uniform(size=8) < 0.5)) + rng.normal(0, 3, 40), None, None


def correlated(rng):
    """Terms with correlations of at least 0.99, whose means are large compared with their deviations."""
    x = 1000 + rng.normal(0, 1, (60, 1)) + 0.1 * rng.normal(0, 1, (60, 10))
    return x, x[:, 0] - 2 * x[:, 3] + x[:, 7] + rng.normal(0, 0.1, 60), None, np.arange(60) % 5


def convergence(rng):
    """Terms of the iteration i and the number of workers m."""
    m, i = (v.ravel() for v in np.meshgrid(2.0 ** np.arange(7), np.arange(1.0, 61, 3), indexing="ij"))
    x = np.array([i, np.sqrt(i), np.log(i), 1 / i, i * i, m, np.sqrt(m), np.log(m), 1 / m, i / m, i / np.sqrt(m),
                  i * np.log(m), np.log(i) * np.log(m), np.log(i) / m, np.sqrt(i / m), m / i, 1 / (i * m)]).T
    y = 2 - 1.1 * np.log(i) - 0.03 * i / np.sqrt(m) + 0.25 * np.log(m) + rng.normal(0, 0.05, len(i))
    return x, y, None, np.log2(m).astype(int)


def weighted(rng):
    x = rng.normal(3, 1, (50, 8))
    x[:, 1] = x[:, 0] + 0.2 * x[:, 1]
    return x, x[:, 1] - x[:, 4] + rng.normal(0, 1, 50), rng.uniform(0.01, 4, 50), None


def wide(rng):
    """A problem with more terms than rows; one term is constant."""
    x = rng.normal(0, 1, (15, 24))
    x[:, 5] = 7.3
    return x, x[:, 0] * 3 - x[:, 1] * 2 + x[:, 8] + rng.normal(0, 0.3, 15), None, None


def plain(rng):
    folds, rows, terms = 6, 15, 7
    x = rng.normal(0, 1, (folds, rows, terms))
    x[:, :, 1] += 3 * x[:, :, 0]
    for _ in range(3):  # repeated, to remove the rounding errors of the first pass
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    x = x.reshape(-1, terms)
    return x, 5 + x[:, 1] - 0.5 * x[:, 3] + rng.normal(0, 1, len(x)), None, np.repeat(np.arange(folds), rows)


# ---------------------------------------------------------------- paths

def standardised(x, weights):
    scaler = StandardScaler().fit(x, sample_weight=weights)
    z = scaler.transform(x)
    z[:, scaler.var_ == 0] = 0
    return z, scaler


def penalties_of(z, y, weights, count, least):
    most = np.max(np.abs(z.T @ (weights * (y - np.average(y, weights=weights))))) / weights.sum()
    return np.geomspace(most, most * least, count)


def gap_of(z, r, y, b, weights, penalty):
    """Primal and dual objective, from the rows."""
    def mean(v):
        return np.average(v, weights=weights)
    primal = mean(r * r) / 2 + penalty * np.abs(b).sum()
    slopes = np.abs(z.T @ (weights * r)) / weights.sum()
    u = r * min(1, penalty / slopes.max())
    return primal, primal - mean(y * y) / 2 + mean((y - u) ** 2) / 2


def settled(z, y, b, weights, penalty):
    """Checks that the equations of the signs of b, solved on the rows, have the solution b."""
    active = b != 0
    if not active.any():
        return True
    root = np.sqrt(weights / weights.sum())[:, None]
    a = z[:, active] * root
    q, triangle = np.linalg.qr(a)
    if np.min(np.abs(np.diag(triangle))) < 1e-9:
        return False
    shift = np.linalg.solve(triangle, np.linalg.solve(triangle.T, penalty * np.sign(b[active])))
    exact = np.linalg.lstsq(a, y * root[:, 0], rcond=None)[0] - shift
    return np.max(np.abs(exact - b[active])) <= 1e-8 * np.sqrt(np.average(y * y, weights=weights))


def path(x, y, given, count, least):
    weights = np.ones(len(y)) if given is None else given
    z, _ = standardised(x, given)
    centred = y - np.average(y, weights=weights)
    penalties = penalties_of(z, y, weights, count, least)
    if given is None:
        solutions = lasso_path(z, centred, alphas=penalties, **TIGHT)[1].T
    else:
        solutions = [Lasso(alpha=p, **TIGHT).fit(z, y, sample_weight=given).coef_ for p in penalties]
    for penalty, b in zip(penalties, solutions):
        objective, gap = gap_of(z, centred - z @ b, centred, b, weights, penalty)
        assert abs(gap) <= 1e-10 * np.average(centred ** 2, weights=weights), (penalty, gap)
        assert settled(z, centred, b, weights, penalty), penalty
        print("path", numbers([penalty, objective, *(b + 0.0)]))


# ---------------------------------------------------------------- cross-validation

def print_choice(penalties, errors):
    mean, error = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    least = np.argmin(mean)
    chosen = np.flatnonzero(mean <= mean[least] + error[least])[0]
    print("choice", numbers([penalties[least], penalties[chosen]]))


def cross_validate(x, y, folds, stay, count, least):
    z, _ = standardised(x, None)
    penalties = penalties_of(z, y, np.ones(len(y)), count, least)
    names = sorted(set(folds))
    print(f"cv folds {count} {least!r}")
    print("held", *[int(f not in stay) for f in names])
    errors = []
    for f in names:
        if f in stay:
            continue
        train, test = folds != f, folds == f
        z, scaler = standardised(x[train], None)
        coefficients = lasso_path(z, y[train] - y[train].mean(), alphas=penalties, **TIGHT)[1]
        rest = (y[test] - y[train].mean())[:, None] - scaler.transform(x[test]) @ coefficients
        errors.append((rest ** 2).mean(axis=0))
        print("fold", f, numbers(errors[-1]))
    print_choice(penalties, np.array(errors))


def plain_lassocv(x, y, folds, count, least):
    cv = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in sorted(set(folds))]
    model = LassoCV(eps=least, n_alphas=count, cv=cv, **TIGHT).fit(x, y)
    print(f"cv lassocv {count} {least!r}")
    print("held", *[1] * len(cv))
    for f in range(len(cv)):
        print("fold", f, numbers(model.mse_path_[:, f]))
    assert model.alpha_ == model.alphas_[np.argmin(model.mse_path_.mean(axis=1))]
    print_choice(model.alphas_, model.mse_path_.T)


def main():
    print("# made by lasso.py")
    for seed, make in enumerate([independent, correlated, convergence, weighted, wide, plain]):
        x, y, weights, folds = make(np.random.default_rng(seed + 1))
        x, y = x if make is plain else rounded(x), rounded(y)
        weights = weights if weights is None else rounded(weights)
        print("problem", make.__name__, *x.shape, 1 if folds is None else len(set(folds)))
        for k in range(len(y)):
            print("row", 0 if folds is None else folds[k], 1 if weights is None else float(weights[k]),
                  numbers([y[k], *x[k]]))
        path(x, y, weights, 12, 1e-5 if make is convergence else 1e-3)
        if folds is not None:
            cross_validate(x, y, folds, {0} if make is convergence else set(), 40, 1e-3)
        if make is plain:
            plain_lassocv(x, y, folds, 40, 1e-3)


main()
