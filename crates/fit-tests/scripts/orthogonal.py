"""Curves whose points have errors along x, by ODRPACK: data/orthogonal.txt.

    python orthogonal.py > ../data/orthogonal.txt

Orthogonal distance regression by scipy.odr from the start that a case has: thirty cubics, sines and peaks each, whose errors of x are large beside
how the curves bend, and eight surfaces over x and y of which one parameter is held. Each case has its formula, the points, data and errors, the
start, and what ODRPACK finds: parameters, standard errors, and the sum of the squares of all errors.
"""

import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
import scipy  # noqa: E402
from scipy import odr  # noqa: E402

random = np.random.default_rng(20261128)


def numbers(values):
    return " ".join(repr(float(value)) for value in np.ravel(values))


def case(kind, formula, names, model, truth, x, sx, sy, start, held=None):
    x, start, variables = np.atleast_2d(x), np.array(start), ["x", "y"]
    errors = np.broadcast_to(np.reshape(sx, (-1, 1)), x.shape)
    y = np.round(model(truth, x) + random.normal(0, sy, x.shape[1]), 3)
    x = np.round(x + random.normal(0, 1, x.shape) * errors, 3)
    data = odr.RealData(x.squeeze(), y, sx=errors.squeeze(), sy=np.full(y.size, sy))
    free = None if held is None else [int(j != held) for j in range(len(start))]
    found = odr.ODR(data, odr.Model(lambda p, x: model(p, np.atleast_2d(x))), beta0=start, ifixb=free, maxit=1000).run()
    print(kind)
    print("formula", formula)
    print("variables", *variables[: len(x)])
    print("parameters", names)
    lines = {"x": x, "data": y, "sx": np.reshape(sx, -1), "sy": [sy], "start": start, "found": found.beta, "errors": found.sd_beta}
    for name, values in (lines | {"sum": [found.sum_square]} | ({} if held is None else {"held": [held]})).items():
        print(name, numbers(values))
    print()


for number in range(30):
    truth = [3 * random.normal(), 10 * random.normal(), -4 + random.normal()]
    case(
        "cubic", "a + b*x + c*x^3", "a b c", lambda p, x: p[0] + p[1] * x[0] + p[2] * x[0] ** 3, truth, np.linspace(-5, 5, 60), 0.3, 2.0,
        [1.0, 0.0, 0.0],
    )  # fmt: skip
for number in range(30):
    w, phi = 1.5 + 0.3 * random.normal(), random.uniform(-1, 1)
    case(
        "sine", "a*sin(w*x + phi) + c", "a w phi c", lambda p, x: p[0] * np.sin(p[1] * x[0] + p[2]) + p[3], [5, w, phi, 1],
        np.linspace(0, 10, 60), 0.2, 0.1, [4.0, round(1.03 * w, 3), round(phi + 0.2, 3), 0.0],
    )  # fmt: skip
for number in range(30):
    x0 = 10 + random.normal()
    case(
        "peak", "a*exp(-(x - x0)^2/(2*s^2)) + b", "a x0 s b", lambda p, x: p[0] * np.exp(-((x[0] - p[1]) ** 2) / (2 * p[2] ** 2)) + p[3],
        [10, x0, 2, 1], np.linspace(0, 20, 60), 0.3, 0.1, [8.0, round(x0 + 0.7, 3), 2.5, 0.0],
    )  # fmt: skip
for number in range(8):
    x = np.stack([np.repeat(np.arange(6.0), 6), np.tile(np.arange(6.0), 6)])
    case(
        "surface", "a*exp(-x/t) + b*y + c*x*y", "a t b c", lambda p, x: p[0] * np.exp(-x[0] / p[1]) + p[2] * x[1] + p[3] * x[0] * x[1],
        [20, 2, 3, 0.5], x, [0.1, 0.2], 0.3, [15.0, 2.0, 1.0, 0.0], 1,
    )  # fmt: skip
print("SciPy", scipy.__version__, file=sys.stderr)
