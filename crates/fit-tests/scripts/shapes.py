"""Simulates windows of every shape and stores the minima that SciPy finds for them, for every estimator.

    pip install numpy==2.4.6 scipy==1.17.1
    python crates/fit-tests/scripts/shapes.py crates/fit-tests/data/shapes
    python crates/fit-tests/scripts/shapes.py --check

The README beside the data says what the files hold, `minima.py` how the minima are found. `--check` proves the
derivatives and formulas of `minima.py`.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

from minima import LeastSquares, Model, Poisson, check, decimals, minimum

SIDE = 9
COUNT = 240
SHAPES = ["circular", "elliptical", "rotated"]
PROFILES = ["sampled", "integrated"]


def camera():
    """Offset [ADU], gain [ADU/e-] and variance [ADU^2] of the pixels of an sCMOS camera, one of them hot."""
    random = np.random.default_rng(1400)
    offset = random.normal(100, 2, (SIDE, SIDE))
    gain = 2 * (1 + random.normal(0, 0.03, (SIDE, SIDE)))
    variance = (1.5 * gain) ** 2 * random.lognormal(0, 0.4, (SIDE, SIDE))
    variance[3, 5] = 200
    return {name: m.astype(np.float32) for name, m in dict(offset=offset, gain=gain, variance=variance).items()}


def weight_image():
    random = np.random.default_rng(1401)
    weights = random.uniform(0.2, 2, (SIDE, SIDE))
    weights.flat[random.choice(weights.size, 2, replace=False)] = 0
    return weights.astype(np.float32)


def draw(random, shape):
    """A spot: x, y, sigma_x, sigma_y, angle, amplitude, background."""
    x, y = (SIDE - 1) / 2 + random.uniform(-1, 1, 2)
    sx, sy = random.uniform(0.9, 2, 2)
    while shape == "rotated" and max(sx, sy) < 1.15 * min(sx, sy):
        sx, sy = random.uniform(0.9, 2, 2)
    sy = sx if shape == "circular" else sy
    angle = random.uniform(-np.pi / 4, np.pi / 4) if shape == "rotated" else 0.0
    photons = np.exp(random.uniform(np.log(300), np.log(20000)))
    return np.array([x, y, sx, sy, angle, photons / (2 * np.pi * sx * sy), random.uniform(2, 30)])


def simulate(shape, profile, maps):
    """The spots, their windows in photons, and windows of the same spots in ADU of the camera."""
    random = np.random.default_rng([1402, SHAPES.index(shape), PROFILES.index(profile)])
    truths = np.array([draw(random, shape) for _ in range(COUNT)])
    mu = Model(SIDE, "rotated", profile)(truths)[0].reshape(COUNT, SIDE, SIDE)
    windows = random.poisson(mu)
    noise = random.normal(0, np.sqrt(maps["variance"]), mu.shape)
    adu = np.rint(random.poisson(mu) * maps["gain"] + maps["offset"] + noise).clip(0, 65535)
    return truths, windows.astype(np.uint16), adu.astype(np.uint16)


def starts(truth, data, model):
    """Six starts around the truth."""
    background = max(np.median(data), 0.5)
    amplitude = data.max() - background
    around = [(1, 0, 0), (0.8, 0.3, 0.2), (1.25, -0.3, -0.2), (1.5, 0, 0.1), (0.7, 0, -0.1), (1, 0.5, 0)]
    for factor, shift, turn in around:
        shape = truth[:5] + [shift, -shift, 0, 0, turn]
        shape[2:4] *= factor
        yield np.r_[shape[: model.count], amplitude, background]


def table(path, rows):
    """Writes the minima, with as many digits as a test can use."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("x,y,sigma_x,sigma_y,angle,amplitude,background,cost,good".split(","))
        for best, good in rows:
            five = [decimals(value, 7, 17) for value in best.five]
            linear = [decimals(value, 7, 9) for value in best.p[-2:]]
            writer.writerow([*five, *linear, decimals(best.cost, 7, 10), int(good)])


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    folder = Path(sys.argv[1])
    maps, weights = camera(), weight_image()
    (folder / "camera").mkdir(parents=True, exist_ok=True)
    for name, values in maps.items():
        np.save(folder / "camera" / f"{name}.npy", values)
    np.save(folder / "weights.npy", weights)
    offset, gain, variance = (maps[name].astype(float).ravel() for name in ["offset", "gain", "variance"])
    weights = weights.astype(float).ravel()
    estimators = {
        "lse": lambda counts: LeastSquares(counts),
        "weighted": lambda counts: LeastSquares(counts, weights),
        "mle": lambda counts: Poisson(counts),
        "mle_map": lambda adu: Poisson((adu - offset) / gain, variance / gain**2),
    }
    for shape in SHAPES:
        for profile in PROFILES:
            name = f"{shape}_{profile}"
            truths, windows, adu = simulate(shape, profile, maps)
            np.save(folder / f"{name}.npy", windows)
            tasks = [("lse", False), ("weighted", False), ("mle", False)]
            if shape != "rotated":
                np.save(folder / f"{name}_scmos.npy", adu)
                tasks += [("mle_map", False), ("lse", True), ("mle", True)]
            for estimator, fixed in tasks:
                began, rows = time.perf_counter(), []
                for truth, window in zip(truths, adu if estimator == "mle_map" else windows):
                    model = Model(SIDE, shape, profile, np.round(truth[2:4], 2) if fixed else None)
                    objective = estimators[estimator](window.astype(float).ravel())
                    rows.append(minimum(model, objective, starts(truth, objective.data, model)))
                stem = f"{name}_{'fixed_' if fixed else ''}{estimator}"
                table(folder / f"{stem}.csv", rows)
                good = sum(good for _, good in rows)
                print(f"{stem}: {good} of {len(rows)} good, {time.perf_counter() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
