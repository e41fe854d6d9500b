"""Fits that share parameters, with ties and priors, by lmfit: data/shared.txt.

    python shared.py > ../data/shared.txt        (lmfit 1.3, SciPy)

Each case is a formula with its data sets. The answers are those of `lmfit.minimize` (MINPACK, tight tolerances); where a parameter
ends on a limit it is held there, as Spotfit reports it; where MINPACK stops because its differences are rounding, some steps of Gauss and
Newton with central differences follow. Data sets that share nothing have residuals, and so errors, of their own. Of maximum likelihood the minimum is that of the deviance, and the errors are
those of Fisher's information.
"""

import lmfit
import numpy as np
from scipy.special import erf

random = np.random.default_rng(20261127)
SPACE = {name: getattr(np, name) for name in ("exp", "sin", "cos", "log", "sqrt", "where", "pi")} | {"erf": erf}


def value(formula, variables, values):
    text = formula.replace("^", "**")
    *helpers, text = text.split(";")
    names = dict(SPACE) | variables | values
    for helper in helpers:
        name, expression = helper.split("=", 1)
        names[name.strip()] = eval(expression.strip(), names)
    return eval(text.strip(), names)


def show(name, numbers):
    print(name, *(repr(float(number)) for number in np.ravel(numbers)))


def case(name, formula, truth, sets, x, shared, *, start=None, noise=0.02, estimator="lse", absolute=False, weighted=False,
         groups=None, bounds=None, fixed=(), ties=None, priors=None, at_limit=None, missing=0):
    """`truth` has a number or one for each set of each parameter; `shared` names; `groups` (name -> numbers)."""
    names = [n for n in truth if n not in (ties or {})]
    groups, bounds, ties, priors = groups or {}, bounds or {}, ties or {}, priors or {}
    full = {n: np.broadcast_to(np.asarray(v, float), sets).copy() for n, v in truth.items()}
    x = np.broadcast_to(np.asarray(x, float), (sets, np.shape(x)[-1])).copy()
    clean = np.array([value(formula, {"x": x[i]}, {n: full[n][i] for n in truth}) for i in range(sets)])
    if estimator == "mle":
        data = random.poisson(clean).astype(float)
        weights = np.ones_like(data)
    else:
        scale = noise * np.abs(clean).max()
        sigma = scale * (random.uniform(0.5, 2, clean.shape) if weighted else np.ones_like(clean))
        data = clean + sigma * random.normal(size=clean.shape)
        weights = 1 / sigma**2 if weighted or absolute else np.ones_like(data)
    if missing:
        weights[random.permutation(weights.size).reshape(weights.shape) < missing] = 0
    start = {n: np.broadcast_to(np.asarray((start or {}).get(n, full[n] * 1.1 + 0.05), float), sets).copy() for n in names}
    for n in fixed:
        start[n] = full[n]

    def group(n, i):
        return groups.get(n, np.zeros(sets, int))[i] if n in shared else i

    # Own values of a set are shared by nobody else.
    def key(n, i):
        return f"{n}_{'s' if n in shared else 'o'}{group(n, i)}"

    given = lmfit.Parameters()
    for n in names:
        for i in range(sets):
            if key(n, i) in given:
                continue
            low, high = bounds.get(n, (-np.inf, np.inf))
            vary = n not in fixed and not (at_limit and n in at_limit and group(n, i) in at_limit[n])
            begin = start[n][i] if n not in shared else np.median([start[n][k] for k in range(sets) if group(n, k) == group(n, i)])
            if at_limit and not vary and n not in fixed:
                begin = at_limit[n][group(n, i)]
                low, high = -np.inf, np.inf
            given.add(key(n, i), begin, vary=vary, min=low, max=high)

    def models(p):
        rows = []
        for i in range(sets):
            values = {n: p[key(n, i)].value for n in names}
            for tied, expression in ties.items():
                values[tied] = eval(expression, dict(SPACE) | values)
            rows.append(value(formula, {"x": x[i]}, values) + 0 * x[i])
        return np.array(rows)

    def residual(p):
        f = models(p)
        seen = weights > 0
        if estimator == "mle":
            f = np.maximum(f, 1e-30)
            deviance = 2 * (f - data + np.where(data > 0, data * np.log(np.where(data > 0, data, 1) / f), 0))
            found = (np.sign(f - data) * np.sqrt(np.maximum(deviance, 0)))[seen]
        else:
            found = (np.sqrt(weights) * (f - data))[seen]
        own = [(p[key(n, i)].value - m) / s for n, (m, s) in priors.items()
               for i in range(sets) if n not in shared or list(map(lambda k: group(n, k), range(sets))).index(group(n, i)) == i]
        return np.concatenate([found, own])

    for free in (True, False):
        out = lmfit.minimize(residual, given, method="leastsq", scale_covar=not (absolute or estimator == "mle"),
                             xtol=1e-15, ftol=1e-15, gtol=0, max_nfev=200000)
        given = out.params
        if not free:
            break
        # Without limits that are not reached, which lmfit's transformation would blur.
        for p in given.values():
            if np.isfinite(p.min) or np.isfinite(p.max):
                p.min, p.max = -np.inf, np.inf
    error = {k: (p.stderr or 0.0) if p.vary else 0.0 for k, p in out.params.items()}
    # Derivatives by central differences tell errors, and the minimum, better than MINPACK's.
    free = [k for k, p in out.params.items() if p.vary]
    owners = [(n, i) for n in priors for i in range(sets) if [group(n, k) for k in range(sets)].index(group(n, i)) == i or n not in shared]

    def whole():
        f = models(out.params)
        seen = weights > 0
        w = (1 / np.maximum(f, 1e-30) if estimator == "mle" else weights)[seen]
        values = np.concatenate([f[seen], [out.params[key(n, i)].value for n, i in owners]])
        wanted = np.concatenate([data[seen], [priors[n][0] for n, i in owners]])
        return values, wanted, np.concatenate([w, [1 / priors[n][1] ** 2 for n, i in owners]])

    def derivatives():
        columns = []
        for k in free:
            at = out.params[k].value
            step = 1e-5 * max(abs(at), 1e-3)
            sides = []
            for sign in (1, -1):
                out.params[k].value = at + sign * step
                sides.append(whole()[0])
            out.params[k].value = at
            columns.append((sides[0] - sides[1]) / (2 * step))
        return np.array(columns).T

    for _ in range(30):
        values, wanted, w = whole()
        jacobian = derivatives()
        move = np.linalg.lstsq(np.sqrt(w)[:, None] * jacobian, np.sqrt(w) * (wanted - values), rcond=None)[0]
        for k, by in zip(free, move):
            out.params[k].value += by
    jacobian, w = derivatives(), whole()[2]
    best = models(out.params)
    covariance = np.linalg.inv(jacobian.T @ (w[:, None] * jacobian))
    chi2 = float((residual(out.params) ** 2).sum())
    degrees = len(residual(out.params)) - len(free)
    # Data sets that depend on each other by what they share.
    part = list(range(sets))
    for n in shared:
        for i in range(sets):
            for k in range(i):
                if group(n, i) == group(n, k) and part[i] != part[k]:
                    part = [part[k] if p == part[i] else p for p in part]
    scale = np.ones(len(free))
    if not (absolute or estimator == "mle"):
        square = weights * (best - data) ** 2
        for p in set(part):
            of = [i for i in range(sets) if part[i] == p]
            own = [at for at, k in enumerate(free) if any(k == key(n, i) for n in names for i in of)]
            points = sum((weights[i] > 0).sum() for i in of)
            scale[own] = sum(square[i].sum() for i in of) / (points - len(own))
    covariance *= np.sqrt(scale[:, None] * scale)
    exact = dict(zip(free, np.sqrt(np.diag(covariance))))
    if estimator != "mle" and len(set(part)) == 1:
        for k in free:
            assert abs(exact[k] / error[k] - 1) < 0.01, (name, k, exact[k], error[k])
    error |= exact

    print("case", name)
    print("formula", formula)
    print("parameters", *names)
    print("shared", *shared)
    print("fixed", *fixed)
    print("ties", "|".join(f"{n}={e}" for n, e in ties.items()))
    print("estimator", estimator, "absolute" if absolute else "relative")
    show("sets", [sets])
    show("x", x)
    show("data", data)
    show("weights", weights)
    show("groups", [[groups.get(n, np.zeros(sets, int))[i] for i in range(sets)] for n in shared])
    show("bounds", [bounds.get(n, (-np.inf, np.inf)) for n in names])
    show("priors", [(names.index(n), m, s) for n, (m, s) in priors.items()])
    show("start", [[start[n][i] for n in names] for i in range(sets)])
    show("values", [[out.params[key(n, i)].value for n in names] for i in range(sets)])
    show("errors", [[error[key(n, i)] for n in names] for i in range(sets)])
    show("chi2", [chi2])
    show("degrees", [degrees])


x = np.linspace(0, 10, 21)
dose = np.logspace(-2, 2, 13)
DECAY = "a*exp(-x/t) + c"
case("decays share a time", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"])
case("decays share time and offset", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": 1}, 4, x, ["t", "c"])
case("decays share all but nothing", DECAY, {"a": 5, "t": 3, "c": 1}, 3, x, ["a", "t", "c"])
case("weights", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], weighted=True)
case("absolute weights", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], weighted=True, absolute=True)
case("missing points", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], weighted=True, missing=25)
case("groups", DECAY, {"a": [5, 8, 3, 6, 4, 7], "t": [3, 3, 5, 5, 3, 5], "c": 1}, 6, x, ["t"], groups={"t": np.array([0, 0, 1, 1, 0, 1])})
case("a group and all", DECAY, {"a": [5, 8, 3, 6, 4, 7], "t": [3, 3, 5, 5, 3, 5], "c": 1}, 6, x, ["t", "c"],
     groups={"t": np.array([0, 0, 1, 1, 0, 1])})
case("crossed groups", DECAY, {"a": [5, 8, 3, 6, 4, 7], "t": [3, 3, 5, 5, 4, 4], "c": [1, 2, 1, 2, 1, 2]}, 6, x, ["t", "c"],
     groups={"t": np.array([7, 7, 1, 1, 4, 4]), "c": np.array([0, 1, 0, 1, 0, 1])})
case("michaelis menten", "v*x/(k + x)", {"v": [10, 14, 6], "k": 2.5}, 3, x[1:], ["k"])
case("competitive inhibition", "v*x/(k + x)", {"v": 10, "k": [1.0, 2.5, 6.0]}, 3, x[1:], ["v"])
case("dose response", "bottom + (top - bottom)/(1 + (x/k)^n)", {"bottom": 0.2, "top": 10, "k": [0.3, 1.0, 5.0], "n": [1.0, 1.2, 0.8]}, 3,
     dose, ["top", "bottom"])
case("peaks share a width", "a*exp(-(x - x0)^2/(2*s^2)) + b", {"a": [5, 9, 7], "x0": [4, 5, 6.2], "s": 1.1, "b": [1, 0, 2]}, 3, x, ["s"])
case("peaks share a place", "a*exp(-(x - x0)^2/(2*s^2)) + b", {"a": [5, 9, 7], "x0": 4.7, "s": [0.8, 1.1, 1.6], "b": 1}, 3, x, ["x0", "b"])
case("two decays", "a*(f*exp(-x/t1) + (1 - f)*exp(-x/t2))", {"a": [10, 20, 15, 12, 18], "f": [0.2, 0.4, 0.6, 0.8, 0.5], "t1": 0.8, "t2": 5}, 5,
     np.linspace(0, 12, 40), ["t1", "t2"], noise=0.005)
case("sines share a frequency", "a*sin(w*x + p) + c", {"a": [2, 3, 4], "w": 1.3, "p": [0.2, 1.0, 2.0], "c": [0, 1, 2]}, 3, x, ["w"],
     start={"w": 1.25, "p": [0.3, 1.1, 2.1]})
case("lines share a slope", "o + m*x", {"o": [1, 5, -3, 8], "m": 2}, 4, x, ["m"])
case("an inner limit", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], bounds={"t": (0, 50), "c": (0, 10)})
case("a shared limit", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], bounds={"t": (0, 2.5)}, start={"t": 2},
     at_limit={"t": {0: 2.5}})
case("an own limit", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [-0.4, 0.5, 2, 1.2]}, 4, x, ["t"], bounds={"c": (0, np.inf)},
     start={"c": 0.5}, at_limit={"c": {0: 0.0}})
case("a fixed offset", DECAY, {"a": [5, 8, 3, 6], "t": 3, "c": [1, 0.5, 2, 1.2]}, 4, x, ["t"], fixed=["c"])
case("counts", DECAY, {"a": [50, 80, 30, 60], "t": 3, "c": [4, 2, 5, 3]}, 4, x, ["t"], estimator="mle")
case("few counts in groups", DECAY, {"a": [15, 18, 13, 16], "t": [3, 3, 6, 6], "c": 2}, 4, x, ["t", "c"], estimator="mle",
     groups={"t": np.array([0, 0, 1, 1])})
case("points of their own", DECAY, {"a": [5, 8, 3], "t": 3, "c": [1, 0.5, 2]}, 3,
     np.array([x, x * 1.2 + 0.3, x * 0.8 + 0.1]), ["t"])
# Ties and priors.
case("a tie", "a1*exp(-x/t1) + a2*exp(-x/t2)", {"a1": 0.7, "t1": 1.0, "a2": 0.3, "t2": 6.0}, 3, np.linspace(0, 12, 40), [],
     ties={"a2": "1 - a1"}, noise=0.005)
case("ties of ties", "a1*exp(-x/t1) + a2*exp(-x/t2) + c", {"a1": 8.0, "t1": 2.0, "a2": 4.0, "t2": 6.0, "c": 1.0}, 3, np.linspace(0, 20, 40),
     [], ties={"a2": "a1/2", "t2": "3*t1"}, noise=0.005)
case("a tie and a shared time", "a1*exp(-x/t1) + a2*exp(-x/t2)", {"a1": [0.7, 0.4, 0.5], "t1": 1.0, "a2": [0.3, 0.6, 0.5], "t2": 6.0}, 3,
     np.linspace(0, 12, 40), ["t1", "t2"], ties={"a2": "1 - a1"}, noise=0.005)
case("a prior", DECAY, {"a": [5, 8, 3], "t": 3, "c": [1, 0.5, 2]}, 3, x, [], absolute=True, priors={"t": (2.8, 0.1)})
case("two priors of counts", DECAY, {"a": [15, 18, 13], "t": 3, "c": 2}, 3, x, [], estimator="mle", priors={"t": (2.7, 0.2), "c": (2.5, 0.5)})
case("a prior of a shared time", DECAY, {"a": [5, 8, 3], "t": 3, "c": [1, 0.5, 2]}, 3, x, ["t"], absolute=True, priors={"t": (2.9, 0.03)})
case("priors of groups", DECAY, {"a": [5, 8, 3, 6], "t": [3, 3, 5, 5], "c": 1}, 4, x, ["t"], absolute=True, weighted=True,
     groups={"t": np.array([2, 2, 9, 9])}, priors={"t": (4, 0.2), "c": (1.1, 0.1)})
