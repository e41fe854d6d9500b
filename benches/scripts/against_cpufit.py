"""Fits the same simulated data with `spotfit curve` and with Cpufit (Gpufit's own reference), and compares.

    python against_cpufit.py libCpufit.so spotfit [fits]

Needs NumPy. Both get one thread, the same data in single precision and the same start values; Cpufit gets a tolerance of
1e-9, so that it ends at its minimum. Rates are medians of three runs, one after the other. χ² of both answers is computed here, in double precision. Prints the table of
docs/models.md.
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

library, command = ctypes.CDLL(os.path.abspath(sys.argv[1])), sys.argv[2]
count = int(sys.argv[3]) if len(sys.argv) > 3 else 100_000
random = np.random.default_rng(1)
line = np.arange(30.0)
x, y = (axis.ravel() for axis in np.meshgrid(np.arange(9.0), np.arange(9.0)))


def uniform(*ranges):
    return np.column_stack([random.uniform(low, high, count) for low, high in ranges])


def parts(p):
    return [p[:, j : j + 1] for j in range(p.shape[1])]


def gauss_1d(p):
    a, x0, s, b = parts(p)
    return a * np.exp(-((line - x0) ** 2) / 2 / s**2) + b


def gauss_2d(p):
    a, x0, y0, s, b = parts(p)
    return a * np.exp(-((x - x0) ** 2 + (y - y0) ** 2) / 2 / s**2) + b


def elliptic(p):
    a, x0, y0, sx, sy, b = parts(p)
    return a * np.exp(-((x - x0) ** 2) / 2 / sx**2 - (y - y0) ** 2 / 2 / sy**2) + b


def rotated(p):
    a, x0, y0, sx, sy, b, r = parts(p)
    u = (x - x0) * np.cos(r) - (y - y0) * np.sin(r)
    v = (x - x0) * np.sin(r) + (y - y0) * np.cos(r)
    return a * np.exp(-(u**2) / 2 / sx**2 - v**2 / 2 / sy**2) + b


def cauchy(p):
    a, x0, y0, sx, sy, b = parts(p)
    return a / (((x - x0) / sx) ** 2 + 1) / (((y - y0) / sy) ** 2 + 1) + b


def straight(p):
    return p[:, :1] + p[:, 1:] * line


SPOT = [(10, 30), (3, 5), (3, 5)]
# Name, Gpufit's number, the model, the ranges of its parameters, noise.
CASES = [
    ("gauss_1d", 0, gauss_1d, [(5, 20), (10, 20), (2, 4), (1, 3)], 0.5),
    ("gauss_2d", 1, gauss_2d, [*SPOT, (1, 1.8), (1, 3)], 1.0),
    ("gauss_2d_elliptic", 2, elliptic, [*SPOT, (1, 1.8), (1, 1.8), (1, 3)], 1.0),
    ("gauss_2d_rotated", 3, rotated, [*SPOT, (0.9, 1.2), (1.6, 2.2), (1, 3), (-0.5, 0.5)], 1.0),
    ("cauchy_2d_elliptic", 4, cauchy, [*SPOT, (0.8, 1.5), (0.8, 1.5), (1, 3)], 0.7),
    ("linear", 5, straight, [(1, 5), (-1, 1)], 0.5),
]


def cpufit(data, model, initial):
    fits, points = data.shape
    parameters = np.zeros(initial.shape, np.float32)
    states, iterations = np.zeros(fits, np.int32), np.zeros(fits, np.int32)
    chi2, wanted = np.zeros(fits, np.float32), np.ones(initial.shape[1], np.int32)
    at = lambda array: array.ctypes.data_as(ctypes.c_void_p)
    begin = time.perf_counter()
    status = library.cpufit(
        ctypes.c_size_t(fits), ctypes.c_size_t(points), at(data), None, ctypes.c_int(model), at(initial),
        ctypes.c_float(1e-9), ctypes.c_int(100), at(wanted), ctypes.c_int(0), ctypes.c_size_t(0), None,
        at(parameters), at(states), at(chi2), at(iterations),
    )
    assert status == 0, "cpufit failed"
    return parameters.astype(float), states, time.perf_counter() - begin


def spotfit(paths, name, backend):
    """What was found, and million fits a second."""
    words = [command, "curve", paths[0], "-m", name, "--start", paths[1], "-o", paths[2], "--threads", "1"]
    said = subprocess.run([*words, "--backend", backend], capture_output=True, text=True, check=True).stderr
    rate, million = re.search(r"\(([\d.]+)( million)? fits/s\)", said).groups()
    return np.load(paths[2]), float(rate) * (1 if million else 1e-6)


RUNS = 3
print("| model | backend | equal within 1 % of a standard error | of the others, χ² lower with spotfit | not converged: spotfit, Cpufit | million fits a second: spotfit, Cpufit | times |")
print("|---|---|---|---|---|---|---|")
with tempfile.TemporaryDirectory() as folder:
    paths = [os.path.join(folder, name) for name in ("data.npy", "start.npy", "fits.npy")]
    for name, number, model, ranges, noise in CASES:
        truth = uniform(*ranges)
        clean = model(truth)
        data = (clean + noise * random.normal(size=clean.shape)).astype(np.float32)
        initial = truth * random.uniform(0.8, 1.2, truth.shape)
        if name == "gauss_2d_rotated":
            initial[:, 6] = truth[:, 6] + random.uniform(-0.2, 0.2, count)
        initial = np.ascontiguousarray(initial, np.float32)
        np.save(paths[0], data if data.shape[1] == 30 else data.reshape(count, 9, 9))
        np.save(paths[1], initial.astype(float))
        found, rates = {}, {"reference": [], "cpu": [], "cpufit": []}
        for _ in range(RUNS):
            theirs, states, seconds = cpufit(data, number, initial)
            rates["cpufit"].append(count / seconds * 1e-6)
            for backend in ("reference", "cpu"):
                found[backend], rate = spotfit(paths, name, backend)
                rates[backend].append(rate)
        for backend, fits in found.items():
            names = fits.dtype.names[1:]
            columns = truth.shape[1]
            ours = np.column_stack([fits[column] for column in names[:columns]])
            errors = np.column_stack([fits[column] for column in names[columns : 2 * columns]])
            lost = ~np.isin(fits["status"], ["min_step", "stalled"])
            other = ~np.all(np.abs(ours - theirs) <= 0.01 * errors, axis=1)
            chi2 = [((model(p) - data) ** 2).sum(axis=1)[other] for p in (ours, theirs)]
            lower = (chi2[0] <= chi2[1] * (1 + 1e-9)).sum()
            rate, peer = np.median(rates[backend]), np.median(rates["cpufit"])
            print(
                f"| `{name}` | {backend} | {100 * (1 - other.mean()):.2f} % | {lower} of {other.sum()} "
                f"| {lost.sum()}, {(states != 0).sum()} | {rate:.3f}, {peer:.3f} | {rate / peer:.1f} |",
                flush=True,
            )
