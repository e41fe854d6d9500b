"""Makes the data of docs/curves.md: simulated measurements with the noise that each kind has.

    python3 benches/scripts/curve_recipes.py docs/curves
"""

import sys
from pathlib import Path

import numpy as np


def write(folder: Path, name: str, header: str, columns: list[np.ndarray], digits: int = 3) -> None:
    rows = zip(*columns)
    text = lambda value: "" if np.isnan(value) else f"{round(float(value), digits):.{digits + 6}g}"  # noqa: E731
    lines = [",".join(map(text, row)) for row in rows]
    (folder / name).write_text("\n".join([header, *lines]) + "\n")


def main() -> None:
    folder = Path(sys.argv[1])
    rng = np.random.default_rng(45)
    normal = rng.normal

    x = np.arange(0, 30, 1.5)
    decays = [a * np.exp(-x / t) + 1 + normal(0, 0.25, x.size) for a, t in ((10, 7), (8, 4.5), (12, 6))]
    decays[1][-4:] = np.nan
    write(folder, "decay.csv", "time (min),control,drug A,drug B", [x, *decays])

    x = np.linspace(500, 620, 121)
    lorentz = lambda x0, g: 1 / (1 + ((x - x0) / g) ** 2)  # noqa: E731
    mean = 900 * lorentz(548, 6) + 400 * lorentz(571, 8) + 150 + 1.1 * (x - 500)
    write(folder, "spectrum.csv", "wavelength (nm),counts", [x, rng.poisson(mean).astype(float)], 0)

    x = np.repeat(np.geomspace(0.01, 100, 9), 2)
    compounds = [d + (100 - d) / (1 + (x / c) ** b) + normal(0, 4, x.size) for c, b, d in ((0.8, 1.1, 4), (6, 1.6, 8))]
    write(folder, "dose.csv", "dose (uM),compound 1,compound 2", [x, *compounds], 4)

    x = np.array([0.5, 1, 2, 4, 8, 16, 32])
    rates = [v * x / (3.5 + x) + normal(0, 0.3, x.size) for v in (10, 22, 41)]
    write(folder, "rates.csv", "substrate (mM),1 nM,2 nM,4 nM", [x, *rates])

    x = np.concatenate([np.arange(0.5, 10, 0.5), np.arange(10, 61, 2)])
    frap = [0.15 + b * (1 - 2 ** (-x / t)) + normal(0, 0.02, x.size) for b, t in ((0.6, 6), (0.45, 11))]
    write(folder, "frap.csv", "time (s),cell 1,cell 2", [x, *frap], 4)

    x = np.array([0, 1, 2, 5, 10, 20, 50.0])
    sd = 0.02 + 0.03 * x
    write(folder, "calibration.csv", "concentration,signal,signal_sd", [x, 0.5 + 2.1 * x + normal(0, sd), sd])

    x = np.arange(0, 50, 0.5)
    mean = [500 * np.exp(-x / 9) + 5, 320 * np.exp(-x / 3) + 260 * np.exp(-x / 12) + 5]
    write(folder, "lifetime.csv", "time (ns),dye,mixture", [x, *(rng.poisson(one).astype(float) for one in mean)], 1)

    x = np.geomspace(1e-3, 1e3, 60)
    mean = 1 / 4 / (1 + x / 0.9) / np.sqrt(1 + x / (25 * 0.9))
    write(folder, "fcs.csv", "lag (ms),correlation", [x, mean + normal(0, 0.004, x.size)], 5)

    x = np.arange(0, 24, 1.0)
    lines = ["strain,time (h),OD"]
    for strain, (c, m, w) in {"wild type": (1.4, 8, 1.3), "mutant": (1.1, 11, 1.9)}.items():
        od = 0.04 + c / (1 + np.exp(-(x - m) / w)) + normal(0, 0.015, x.size)
        lines += [f"{strain},{time:g},{value:.3f}" for time, value in zip(x, od) if strain == "wild type" or time % 2 == 0]
    (folder / "growth.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
