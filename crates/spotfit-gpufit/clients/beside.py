"""Compares two libraries with Gpufit's interface on the same simulated data: parameters, states, iterations, time.

SPOTFIT_THREADS=1 python3 beside.py libGpufit.so cpufit libCpufit.so cpufit [FITS...] [TOLERANCE...]
python3 beside.py libGpufit.so gpufit libGpufit-of-Gpufit.so gpufit 10 1000 100000 1000000 1e-4

It needs NumPy. Of each model 20,000 data sets with Poisson noise (or FITS of them; 100,000 different ones at most) are fitted from start values that are 15 % off,
with tolerances of 1e-4 and 1e-6 (or TOLERANCE), by each library in turns: once, which does not count, and then 31 times if there are 1000 or fewer, 15 times up to
100,000, and 7 times beyond. Times are medians. With SCALED=1 in the environment data are no whole numbers.
"""

import ctypes
import os
import sys
import time

import numpy

REALS, WHOLES = ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_int)


class Library:
    def __init__(self, path, name):
        self.call = getattr(ctypes.CDLL(path), name)
        size, whole = ctypes.c_size_t, ctypes.c_int
        self.call.argtypes = [size, size, REALS, REALS, whole, REALS, ctypes.c_float, whole, WHOLES, whole, size, REALS]
        self.call.argtypes += [REALS, WHOLES, REALS, WHOLES]

    def fit(self, model, data, initial, estimator, tolerance, places):
        fits, points = data.shape
        parameters = initial.shape[1]
        found = numpy.ones((fits, parameters), numpy.float32)
        states, iterations = numpy.ones((2, fits), numpy.int32)
        chi2 = numpy.ones(fits, numpy.float32)
        free = numpy.ones(parameters, numpy.int32)
        real, whole = lambda a: a.ctypes.data_as(REALS), lambda a: a.ctypes.data_as(WHOLES)
        arguments = [
            fits, points, real(data), None, model, real(initial), tolerance, 25, whole(free), estimator, places.nbytes,
            real(places) if places.size else None, real(found), whole(states), real(chi2), whole(iterations),
        ]  # fmt: skip
        begin = time.perf_counter()
        code = self.call(*arguments)
        seconds = time.perf_counter() - begin
        assert code == 0
        return seconds, found, states, chi2, iterations


def gauss(x, a, x0, s):
    return a * numpy.exp(-((x - x0) ** 2) / (2 * s**2))


X = numpy.arange(30.0)
U, V = (axis.ravel().astype(float) for axis in numpy.meshgrid(numpy.arange(9), numpy.arange(9)))


def rotated(a, x0, y0, sx, sy, b, r):
    u, v = (U - x0) * numpy.cos(r) - (V - y0) * numpy.sin(r), (U - x0) * numpy.sin(r) + (V - y0) * numpy.cos(r)
    return a * numpy.exp(-(u**2) / (2 * sx**2) - v**2 / (2 * sy**2)) + b


AMPLITUDE, CENTRE, SIGMA, BACKGROUND = (50, 200), (3, 5), (1, 2), (5, 15)
SPOT = [AMPLITUDE, CENTRE, CENTRE, SIGMA, SIGMA, BACKGROUND]
MODELS = [
    (0, "GAUSS_1D", lambda a, x0, s, b: gauss(X, a, x0, s) + b, [AMPLITUDE, (12, 18), (2, 4), BACKGROUND]),
    (1, "GAUSS_2D", lambda a, x0, y0, s, b: gauss(U, a, x0, s) * gauss(V, 1, y0, s) + b, SPOT[:4] + [BACKGROUND]),
    (2, "GAUSS_2D_ELLIPTIC", lambda a, x0, y0, s, t, b: gauss(U, a, x0, s) * gauss(V, 1, y0, t) + b, SPOT),
    (3, "GAUSS_2D_ROTATED", rotated, SPOT[:3] + [(1, 1.3), (1.7, 2.2), BACKGROUND, (0.2, 0.6)]),
    (4, "CAUCHY_2D_ELLIPTIC",
     lambda a, x0, y0, s, t, b: a / (((U - x0) / s) ** 2 + 1) / (((V - y0) / t) ** 2 + 1) + b, SPOT),
    (5, "LINEAR_1D", lambda a, b: a + b * X, [AMPLITUDE, (1, 2)]),
]  # fmt: skip

ours, theirs = Library(*sys.argv[1:3]), Library(*sys.argv[3:5])
numbers = sys.argv[5:]
counts = [int(number) for number in numbers if "e" not in number] or [20_000]
tolerances = [float(number) for number in numbers if "e" in number] or [1e-4, 1e-6]
random = numpy.random.default_rng(1)


def compared(fits, tolerance, number, model, ranges, estimator):
    some = min(fits, 100_000)
    truth = [random.uniform(low, high, some)[:, None] for low, high in ranges]
    data = random.poisson(model(*truth)).astype(numpy.float32)
    if os.environ.get("SCALED") == "1":
        data = data * numpy.float32(0.9375)
    initial = numpy.hstack([t * random.uniform(0.85, 1.15, t.shape) for t in truth]).astype(numpy.float32)
    data, initial, truth = (numpy.tile(a, (-(-fits // some), 1))[:fits] for a in (data, initial, numpy.hstack(truth)))
    places = X.astype(numpy.float32) if number in (0, 5) else numpy.zeros(0, numpy.float32)
    both = lambda: [library.fit(number, data, initial, estimator, tolerance, places) for library in (ours, theirs)]
    (_, found, states, chi2, steps), (_, other, other_states, other_chi2, other_steps) = both()
    turns = 31 if fits <= 1000 else 15 if fits <= 100_000 else 7
    seconds = numpy.median([[run[0] for run in both()] for _ in range(turns)], axis=0)
    converged = (states == 0) & (other_states == 0)
    error = numpy.std((other - truth)[converged], axis=0)
    near = numpy.mean((numpy.abs(found - other)[converged] < 0.01 * error).all(axis=1))
    alike = [f"{100 * numpy.mean(a == b):.2f} %" for a, b in ((states, other_states), (steps, other_steps))]
    rate = fits / seconds[0] / 1e6
    return f"{', '.join(alike)} | {100 * near:.2f} % | {seconds[1] / seconds[0]:.1f} | {1e6 * seconds[0]:.0f} | {rate:.2f}"


print("model, estimator, tolerance, fits | same state, same iterations | parameters within 1 % of a standard error "
      "| times as fast | us | million fits/s")  # fmt: skip
for tolerance in tolerances:
    for number, name, model, ranges in MODELS:
        for estimator in 0, 1:
            for fits in counts:
                line = compared(fits, tolerance, number, model, ranges, estimator)
                print(f"{name}, {['LSE', 'MLE'][estimator]}, {tolerance:.0e}, {fits} | {line}", flush=True)
