"""Simulates spots on planes of light and stores the minima that SciPy finds for them, for every shape and estimator.

    pip install numpy==2.4.6 scipy==1.17.1
    python crates/fit-tests/scripts/planes.py crates/fit-tests/data/planes

`<shape>_<profile>.npy` are windows of 11x9 pixels (u16, photons), `weights.npy` the weights of their pixels, and
`<shape>_<profile>_<estimator>.csv` the minima: centre, widths, angle, amplitude, background at the centre, its slopes, and what was
minimized. `good` is 1 where every start leads to the same minimum, and the plane is above 0 in the window.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from scipy.special import ndtr

WIDTH, HEIGHT = 11, 9
COUNT = 80
SETS = [("circular", "sampled"), ("circular", "integrated"), ("elliptical", "integrated"), ("rotated", "sampled")]
X, Y = (axis.ravel().astype(float) for axis in np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT)))


def profile_of(shape, profile, p):
    """f at each pixel: p are x, y and sigma, or both sigmas, or both and the angle."""
    x, y, sx = p[:3]
    sy = sx if shape == "circular" else p[3]
    if profile == "integrated":
        axis = lambda place, centre, s: ndtr((place + 0.5 - centre) / s) - ndtr((place - 0.5 - centre) / s)
        return 2 * np.pi * sx * sy * axis(X, x, sx) * axis(Y, y, sy)
    angle = p[4] if shape == "rotated" else 0.0
    dx, dy = X - x, Y - y
    u, v = np.cos(angle) * dx + np.sin(angle) * dy, np.cos(angle) * dy - np.sin(angle) * dx
    return np.exp(-0.5 * ((u / sx) ** 2 + (v / sy) ** 2))


def light(shape, profile, p):
    """The model; after the shape come amplitude, background at the centre and slopes."""
    amplitude, background, by_x, by_y = p[-4:]
    return amplitude * profile_of(shape, profile, p[:-4]) + background + by_x * (X - p[0]) + by_y * (Y - p[1])


def draw(random, shape):
    x, y = (WIDTH - 1) / 2 + random.uniform(-1.5, 1.5), (HEIGHT - 1) / 2 + random.uniform(-1, 1)
    sx, sy = random.uniform(0.9, 1.8, 2)
    while shape == "rotated" and max(sx, sy) < 1.2 * min(sx, sy):
        sx, sy = random.uniform(0.9, 1.8, 2)
    widths = {"circular": [sx], "elliptical": [sx, sy], "rotated": [sx, sy, random.uniform(-0.7, 0.7)]}[shape]
    area = 2 * np.pi * sx * (sx if shape == "circular" else sy)
    photons = np.exp(random.uniform(np.log(1000), np.log(20000)))
    return np.array([x, y, *widths, photons / area, random.uniform(70, 100), *random.uniform(-5, 5, 2)])


def residuals(estimator, data, weights, mu):
    """Their squares sum up to what is minimized."""
    if estimator == "lse":
        return mu - data
    if estimator == "weighted":
        return np.sqrt(weights) * (mu - data)
    mu = np.maximum(mu, 1e-9)
    logs = np.where(data > 0, data * np.log(np.maximum(data, 1e-9) / mu), 0.0)
    return np.sign(mu - data) * np.sqrt(np.maximum(2 * (mu - data + logs), 0.0))


def minimum(shape, profile, estimator, data, weights, truth):
    found = []
    for factor, shift in [(1.0, 0.0), (1.2, 0.4), (0.85, -0.3)]:
        start = truth.copy()
        start[:2] += shift, -shift
        start[2] *= factor
        start[-4] /= factor
        of = lambda p: residuals(estimator, data, weights, light(shape, profile, p))
        found.append(least_squares(of, start, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=20000))
    best = min(found, key=lambda one: one.cost)
    same = all(np.abs(one.x[:3] - best.x[:3]).max() < 1e-6 for one in found)
    corners = [best.x[-3] + best.x[-2] * (x - best.x[0]) + best.x[-1] * (y - best.x[1])
               for x in (0, WIDTH - 1) for y in (0, HEIGHT - 1)]
    return best.x, 2 * best.cost, same and min(corners) > 1


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1410)
    weights = random.uniform(0.2, 2, WIDTH * HEIGHT)
    weights[random.choice(weights.size, 3, replace=False)] = 0
    weights = weights.astype(np.float32)
    np.save(folder / "weights.npy", weights.reshape(HEIGHT, WIDTH))
    for number, (shape, profile) in enumerate(SETS):
        random = np.random.default_rng([1411, number])
        truths = [draw(random, shape) for _ in range(COUNT)]
        windows = np.array([random.poisson(light(shape, profile, truth)) for truth in truths])
        np.save(folder / f"{shape}_{profile}.npy", windows.reshape(COUNT, HEIGHT, WIDTH).astype(np.uint16))
        for estimator in ["lse", "weighted", "mle"]:
            good = 0
            with open(folder / f"{shape}_{profile}_{estimator}.csv", "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                names = "x,y,sigma_x,sigma_y,angle,amplitude,background,offset_x,offset_y,cost,good"
                writer.writerow(names.split(","))
                for truth, window in zip(truths, windows):
                    p, cost, sure = minimum(shape, profile, estimator, window.astype(float), weights.astype(float), truth)
                    widths = [p[2], p[2] if shape == "circular" else p[3], p[4] if shape == "rotated" else 0.0]
                    good += sure
                    writer.writerow([f"{value:.9g}" for value in [*p[:2], *widths, *p[-4:], cost]] + [int(sure)])
            print(f"{shape}_{profile}_{estimator}: {good} of {COUNT} good", flush=True)


if __name__ == "__main__":
    main()
