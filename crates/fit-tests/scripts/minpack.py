"""Makes the stored windows and the minima that SciPy's MINPACK finds for them.

    pip install numpy==2.4.6 scipy==1.17.1
    cargo build --release -p spotfit
    python crates/fit-tests/scripts/minpack.py target/release/spotfit crates/fit-tests/data

Each set is simulated by `spotfit simulate`; each window is fitted with all five parameters of
g = A exp(-((X-x)^2 + (Y-y)^2) / (2 s^2)) + B by scipy.optimize.least_squares(method="lm"), which is
MINPACK's lmder, in double precision with tolerances of 1e-15, from five starts around the truth. The
lowest minimum is stored. It is `good` if it is a spot (A > 0, centre inside the window,
0.3 < s < the longer side), at least two starts ended there, and its gradient is zero to rounding.
"""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

SETS = {
    "faint_7x7": dict(width=7, height=7, signal=250, background=49, seed=11),
    "paper_9x9": dict(width=9, height=9, signal=400, background=40, seed=12),
    "wide_13x9": dict(width=13, height=9, signal=1600, background=1170, seed=13),
    "bright_11x11": dict(width=11, height=11, signal=100000, background=1210, seed=14),
}
COUNT = 150


def minimum(window, truth):
    height, width = window.shape
    rows, columns = np.mgrid[0:height, 0:width].astype(float)
    data = window.astype(float)

    def model(p):
        amplitude, x, y, sigma, background = p
        dx, dy = (columns - x) / sigma, (rows - y) / sigma
        profile = np.exp(-0.5 * (dx * dx + dy * dy))
        return profile, dx, dy, amplitude * profile + background

    def residuals(p):
        return (model(p)[3] - data).ravel()

    def jacobian(p):
        profile, dx, dy, _ = model(p)
        slope = p[0] * profile / p[3]
        parts = [profile, slope * dx, slope * dy, slope * (dx * dx + dy * dy), np.ones_like(profile)]
        return np.stack([part.ravel() for part in parts], axis=1)

    background = np.median(data)
    amplitude = data.max() - background
    ends = []
    for factor, shift in [(1.0, 0.0), (0.8, 0.3), (1.25, -0.3), (1.5, 0.0), (0.7, 0.0)]:
        start = [amplitude, truth["x"] + shift, truth["y"] - shift, truth["sigma"] * factor, background]
        end = least_squares(
            residuals, start, jac=jacobian, method="lm", x_scale="jac",
            ftol=1e-15, xtol=1e-15, gtol=1e-15, max_nfev=2000,
        )
        ends.append((2 * end.cost, end.x))
    chi2, best = min(ends, key=lambda end: end[0])
    best = best.copy()
    best[3] = abs(best[3])
    same = sum(abs(end[0] - chi2) <= 1e-9 * chi2 for end in ends)
    slopes, left = jacobian(best), residuals(best)
    cosine = np.abs(slopes.T @ left) / (np.linalg.norm(slopes, axis=0) * np.linalg.norm(left))
    good = (
        best[0] > 0 and -0.5 <= best[1] <= width - 0.5 and -0.5 <= best[2] <= height - 0.5
        and 0.3 < best[3] < max(width, height) and same >= 2 and cosine.max() < 1e-7
    )
    return [best[1], best[2], best[3], best[0], best[4], chi2, int(good)]


def main():
    spotfit, folder = sys.argv[1], Path(sys.argv[2])
    for name, case in SETS.items():
        truth_file = folder / f"{name}.truth.csv"
        arguments = [f"--{key}={value}" for key, value in case.items()]
        subprocess.run(
            [spotfit, "simulate", f"--count={COUNT}", "--dtype=u16", *arguments,
             "-o", folder / f"{name}.npy", "--truth", truth_file],
            check=True,
        )
        spots = np.load(folder / f"{name}.npy")
        with open(truth_file) as file:
            truths = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        truth_file.unlink()
        with open(folder / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow("spot,x,y,sigma,amplitude,background,chi2,good".split(","))
            rows = [minimum(window, truth) for window, truth in zip(spots, truths)]
            writer.writerows([[i, *(repr(float(v)) for v in row[:-1]), row[-1]] for i, row in enumerate(rows)])
        print(name, len(rows), "good:", sum(row[-1] for row in rows))


if __name__ == "__main__":
    main()
