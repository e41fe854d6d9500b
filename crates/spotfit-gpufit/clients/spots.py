"""Fits Gaussian spots through ctypes, with nothing but Python: python3 spots.py libGpufit.so"""

import ctypes
import math
import sys

FITS, SIDE, PARAMETERS = 50, 7, 5
POINTS = SIDE * SIDE

library = ctypes.CDLL(sys.argv[1])
library.gpufit.restype = ctypes.c_int
library.gpufit_get_last_error.restype = ctypes.c_char_p
size, real, whole = ctypes.c_size_t, ctypes.c_float, ctypes.c_int
reals, wholes = ctypes.POINTER(real), ctypes.POINTER(whole)
library.gpufit.argtypes = [
    size, size, reals, reals, whole, reals, real, whole, wholes, whole, size, ctypes.c_char_p, reals, wholes, reals, wholes,
]  # fmt: skip


def spot(number):
    centre = 2.6 + 0.015 * number
    for point in range(POINTS):
        x, y = point % SIDE - centre, point // SIDE - 3
        yield 40 * math.exp(-(x * x + y * y) / (2 * 1.1**2)) + 6


def fit(model):
    data = (real * (FITS * POINTS))(*(pixel for number in range(FITS) for pixel in spot(number)))
    initial = (real * (FITS * PARAMETERS))(*([30, 3, 3, 1.3, 5] * FITS))
    found, chi2 = (real * (FITS * PARAMETERS))(), (real * FITS)()
    states, iterations = (whole * FITS)(), (whole * FITS)()
    everything = (whole * PARAMETERS)(*[1] * PARAMETERS)
    code = library.gpufit(
        FITS, POINTS, data, None, model, initial, 1e-5, 25, everything, 1, 0, None, found, states, chi2, iterations
    )  # fmt: skip
    return code, found, states


code, found, states = fit(1)
assert code == 0, library.gpufit_get_last_error()
assert set(states) == {0}, list(states)
off = max(abs(found[number * PARAMETERS + 1] - (2.6 + 0.015 * number)) for number in range(FITS))
assert off < 1e-3, off
assert fit(99)[0] == -1 and library.gpufit_get_last_error() == b"unknown model ID"
print(f"{FITS} spots by maximum likelihood; centres within {off:.5f} px")
