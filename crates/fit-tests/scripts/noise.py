"""Fits with noise of other kinds, by SciPy and statsmodels: data/noise.txt.

    python noise.py > ../data/noise.txt

Losses at a fixed scale (scipy.optimize.least_squares; Tukey's by statsmodels' RLM, with its errors H1), successes among trials (statsmodels'
GLM), and errors of x (scipy.odr). Each case has its formula, data and points, the start, the minimum, and where the judge has them
standard errors and the cost.
"""

import sys
import warnings

import numpy as np
from scipy.optimize import least_squares

warnings.simplefilter("ignore")
random = np.random.default_rng(20261127)


def numbers(values):
    return " ".join(repr(float(value)) for value in np.ravel(values))


def say(kind, formula, parameters, **lines):
    print(kind)
    print("formula", formula)
    print("parameters", parameters)
    for name, values in lines.items():
        print(name, numbers(values))
    print()


def decay(p, x):
    return p[0] * np.exp(-x / p[1]) + p[2]


def peak(p, x):
    return p[0] * np.exp(-((x - p[1]) ** 2) / (2 * p[2] ** 2)) + p[3]


def line(p, x):
    return p[0] + p[1] * x


def step(p, x):
    return p[0] / (1 + np.exp(-(x - p[1]) / p[2])) + p[3]


MODELS = [
    (decay, "a*exp(-x/t) + c", "a t c", [10.0, 7.0, 1.0]),
    (peak, "a*exp(-(x - x0)^2/(2*s^2)) + b", "a x0 s b", [5.0, 12.0, 3.0, 1.0]),
    (line, "a + b*x", "a b", [1.0, 0.5]),
    (step, "a/(1 + exp(-(x - x0)/w)) + b", "a x0 w b", [4.0, 15.0, 2.0, 0.5]),
]
CONSTANTS = {"huber": 1.345, "soft_l1": 1.2871, "cauchy": 2.385}

for model, formula, names, truth in MODELS:
    x = np.arange(30.0)
    for loss, constant in CONSTANTS.items():
        scale = 0.2
        y = model(truth, x) + random.normal(0, scale, x.size)
        y[random.choice(x.size, 5, False)] += random.choice([-1, 1], 5) * random.uniform(1, 4, 5)
        start = least_squares(lambda p: model(p, x) - y, truth, x_scale="jac").x
        found = start
        for _ in range(20):
            tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "x_scale": "jac", "max_nfev": 2000}
            # Derivatives by complex steps are exact.
            jac = lambda p: np.column_stack([np.imag(model(p + 1e-30j * np.eye(p.size)[k], x)) / 1e-30 for k in range(p.size)])
            result = least_squares(lambda p: model(p, x) - y, found, jac, loss=loss, f_scale=constant * scale, **tight)
            if np.array_equal(result.x, found):
                break
            found = result.x
        say(loss, formula, names, x=x, y=y, scale=[scale], start=truth, found=found, cost=[2 * result.cost])

import statsmodels.api as sm  # noqa: E402

for case in range(4):
    x = np.arange(25.0) if case % 2 == 0 else np.sort(random.uniform(-3, 3, 40))
    scale = 0.3
    y = 1 + 0.5 * x + random.normal(0, scale, x.size)
    y[random.choice(x.size, 4, False)] += random.choice([-1, 1], 4) * random.uniform(0.8, 6, 4)
    fit = sm.RLM(y, sm.add_constant(x), M=sm.robust.norms.TukeyBiweight(4.685))
    fit = fit.fit(maxiter=1000, tol=1e-15, start_scale=scale, update_scale=False, cov="H1", conv="coefs")
    say("tukey", "a + b*x", "a b", x=x, y=y, scale=[scale], start=[1, 0.5], found=fit.params, errors=fit.bse)

for case in range(4):
    x = np.linspace(-3, 3, 13)
    trials = np.full(x.size, 20.0) if case % 2 == 0 else random.integers(1, 40, x.size).astype(float)
    p = 1 / (1 + np.exp(-(x - 0.3) / 0.7))
    successes = random.binomial(trials.astype(int), p).astype(float)
    table = np.column_stack([successes, trials - successes])
    fit = sm.GLM(table, sm.add_constant(x), family=sm.families.Binomial()).fit(tol=1e-15, maxiter=500)
    say(
        "binomial", "1/(1 + exp(-(b0 + b1*x)))", "b0 b1", x=x, y=successes, trials=trials, start=[0, 1],
        found=fit.params, errors=fit.bse, cost=[fit.deviance],
    )

from scipy import odr  # noqa: E402

for model, formula, names, truth in MODELS:
    for case in range(2):
        x = np.linspace(0, 30, 25)
        sx = np.full(x.size, 0.3) if case == 0 else random.uniform(0.05, 0.5, x.size)
        sy = np.full(x.size, 0.15) if case == 0 else random.uniform(0.05, 0.3, x.size)
        y = model(truth, x) + random.normal(0, sy)
        x = x + random.normal(0, sx)
        data = odr.RealData(x, y, sx=sx, sy=sy)
        found = np.array(truth)
        for _ in range(10):
            fit = odr.ODR(data, odr.Model(model), beta0=found, maxit=1000, sstol=1e-16, partol=1e-16)
            fit.set_job(deriv=1)
            result = fit.run()
            found = result.beta
        say(
            "x_errors", formula, names, x=x, y=y, sx=sx, sy=sy, start=truth, found=found, errors=result.sd_beta,
            cost=[result.sum_square],
        )
print("statsmodels", sm.__version__, file=sys.stderr)
