"""Fits of splines in double precision by SciPy: data/splines.txt.

    python splines.py > ../data/splines.txt

A natural cubic spline through samples (scipy.interpolate.CubicSpline along each axis, one after the other) is fitted with an
amplitude, shifts and an offset to data with noise (scipy.optimize.least_squares, MINPACK's lmder with tight tolerances). The
file has for each case the samples, the data, the start and the minimum, with standard errors.
"""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares

random = np.random.default_rng(7)


def evaluate(samples, places, order):
    """The spline on the grid of `places`, differentiated as `order` says; beyond the ends the edge pieces go on."""
    values = samples
    for axis, (at, times) in enumerate(zip(places, order)):
        values = CubicSpline(np.arange(values.shape[axis]), values, axis, "natural")(at, times)
    return values


def shifted(p, samples, grid, order=None):
    shifts = p[1:-1]
    places = [at - shift for at, shift in zip(grid, shifts)]
    return evaluate(samples, places, order or [0] * len(shifts)).ravel()


def model(p, samples, grid):
    return p[0] * shifted(p, samples, grid) + p[-1]


def jacobian(p, samples, grid):
    count = len(p) - 2
    columns = [shifted(p, samples, grid)]
    for axis in range(count):
        columns.append(-p[0] * shifted(p, samples, grid, [int(k == axis) for k in range(count)]))
    return np.column_stack(columns + [np.ones(columns[0].size)])


def line(name, values):
    print(name, *(repr(float(value)) for value in np.ravel(values)))


for name, shape, grid, truth in [
    ("spline_1d", (13,), (18,), [5.0, 3.3, 1.0]),
    ("spline_2d", (13, 14), (9, 8), [5.0, -2.3, -3.1, 1.0]),
    ("spline_3d", (12, 13, 9), (8, 7, 2), [5.0, -2.3, -3.1, -3.6, 1.0]),
]:
    axes = np.meshgrid(*(np.arange(float(length)) for length in shape), indexing="ij")
    peak = sum(((axis - (length - 1) / 2 + 0.3) / (2.0 + 0.4 * number)) ** 2
               for number, (axis, length) in enumerate(zip(axes, shape)))
    samples = np.exp(-peak / 2) + 0.02 * random.standard_normal(shape)
    places = [np.arange(float(length)) for length in grid]
    truth = np.array(truth)
    clean = model(truth, samples, places)
    data = clean + 0.05 * random.standard_normal(clean.size)
    start = truth + 0.1
    found = least_squares(
        lambda p: model(p, samples, places) - data, start, lambda p: jacobian(p, samples, places),
        method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15,
    )
    chi2 = 2 * found.cost
    covariance = np.linalg.inv(found.jac.T @ found.jac) * chi2 / (data.size - len(truth))
    print(name)
    line("shape", shape)
    line("samples", samples)
    line("grid", grid)
    line("data", data)
    line("start", start)
    line("minimum", found.x)
    line("errors", np.sqrt(np.diag(covariance)))
    line("chi2", [chi2])
