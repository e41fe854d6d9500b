"""Makes crates/fit-tests/data/minos.txt: intervals by profile likelihood that MINOS finds, to compare with.

    pip install numpy==2.4.6 scipy==1.17.1 iminuit==2.33.0
    python crates/fit-tests/scripts/minos.py > crates/fit-tests/data/minos.txt

Each of the 20 cases has a formula, data, start values, how its cost is defined, a level, and the ends for each parameter. The cost may
exceed its minimum by the quantile of chi2 with one degree of freedom, or, where residuals scale the errors (`scaled`), by
chi2/degrees times that of F. An end is `-` where MINOS finds none.
"""

import numpy as np
from iminuit import Minuit
from scipy import stats

MODELS = {
    "decay": ("a*exp(-x/t) + c", lambda x, a, t, c: a * np.exp(-x / t) + c, np.linspace(0, 9, 15), (5.0, 2.0, 1.0)),
    "gauss": (
        "a*exp(-(x - m)^2/(2*s^2)) + b", lambda x, a, m, s, b: a * np.exp(-((x - m) ** 2) / (2 * s * s)) + b,
        np.linspace(0, 10, 21), (8.0, 4.5, 1.3, 2.0),
    ),
    "logistic_4": (
        "d + (a - d)/(1 + (x/c)^b)", lambda x, a, b, c, d: d + (a - d) / (1 + (x / c) ** b),
        np.geomspace(0.01, 100, 16), (1.0, 1.4, 1.0, 10.0),
    ),
    "saturation": ("v*x/(k + x)", lambda x, v, k: v * x / (k + x), np.array([0.3, 0.6, 1, 2, 4, 8.0]), (10.0, 1.7)),
    "power": ("a*x^b", lambda x, a, b: a * x**b, np.linspace(1, 12, 12), (3.0, 0.7)),
    "line": ("a*x + b", lambda x, a, b: a * x + b, np.linspace(0, 9, 10), (2.0, 3.0)),
}  # fmt: skip


def main() -> None:
    random = np.random.default_rng(20261127)
    print("# Profile likelihood by iminuit 2.33.0 (scripts/minos.py)")
    cases = [(name, "absolute", 0.68) for name in MODELS] + [(name, "scaled", 0.68) for name in MODELS]
    cases += [(name, "absolute", 0.95) for name in ("decay", "gauss", "saturation", "power")]
    cases += [(name, "counts", 0.68) for name in ("decay", "gauss", "saturation", "line")]
    for name, kind, level in cases:
        formula, function, x, truth = MODELS[name]
        if kind == "counts" and name == "decay":
            # Fewer counts do not determine a decay.
            truth = (50.0, 2.0, 10.0)
        expected = function(x, *truth)
        if kind == "counts":
            y, weight = random.poisson(expected).astype(float), np.ones_like(x)
        else:
            error = 0.05 * (1 + np.abs(expected))
            y = np.round(random.normal(expected, error), 6)
            weight = 1 / error**2 if kind == "absolute" else np.ones_like(x)
            weight = np.array([float(f"{w:.9g}") for w in weight])

        def cost(p, function=function, x=x, y=y, weight=weight, kind=kind):
            with np.errstate(all="ignore"):
                f = function(x, *p)
                if kind != "counts":
                    return float(np.sum(weight * (f - y) ** 2))
                if not np.all(f > 0):
                    return 1e30
                return float(2 * np.sum(f - y + np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / f), 0)))

        names = [f"p{number}" for number in range(len(truth))]
        minuit = Minuit(cost, np.array(truth), name=names)
        minuit.strategy, minuit.tol = 2, 1e-6
        minuit.errordef = 1
        minuit.migrad().migrad()
        degrees = len(x) - len(truth)
        above = stats.chi2.ppf(level, 1)
        if kind == "scaled":
            above = stats.f.ppf(level, 1, degrees) * minuit.fval / degrees
        minuit.errordef = above
        minuit.hesse()
        minuit.minos()
        print(f"case {name} {kind} {level}")
        print(f"formula {formula}")
        print("start", *truth)
        print("x", *map(repr, x.tolist()))
        print("y", *map(repr, y.tolist()))
        print("weights", *map(repr, weight.tolist()))
        for each in names:
            merror, value = minuit.merrors[each], minuit.values[each]
            low = repr(value + merror.lower) if merror.lower_valid else "-"
            high = repr(value + merror.upper) if merror.upper_valid else "-"
            print("interval", repr(value), low, high)


main()
