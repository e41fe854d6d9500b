"""Stores the minima that SciPy finds for the spots of real images, for shapes that the images' own reference fits lack.

    pip install numpy==2.4.6 scipy==1.17.1
    python crates/fit-tests/scripts/real.py "$SPOTFIT_DATA" crates/fit-tests/data/real

The images stay where they are; their README describes their files. Rows are the spots whose reference fit
`oracle_ls_ell` is certain. In `<set>_elliptical_integrated_<estimator>.csv` both widths are searched; in
`<set>_circular_fixed_<estimator>.csv`, sampled, sigma is fixed to the median sigma_x of those reference fits, rounded
to 0.01, as the table says. `lse` is sum (mu - d)^2, `mle` Poisson's deviance with d = max(d, 0), the background free
wherever mu > 0 in all pixels. x and y count from the window's first pixel. The lowest minimum that is a spot is stored;
it is `good` if at least two starts ended there. `minima.py` says how minima are found.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np

from minima import LeastSquares, Model, Poisson, decimals, minimum

SETS = ["picasso", "sdt_beads", "spotiflow_telomeres", "zhuang_storm_emccd"]
ORACLES = ["ls_ell", "mle_ell", "ls_sym", "mle_sym"]
ESTIMATORS = {"lse": LeastSquares, "mle": Poisson}


def read(path):
    """The columns of a table, by name."""
    with open(path) as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def starts(found, window, model):
    """The ends of the reference fits, the best of them moved, and the middle of the window."""
    middle, background = (model.side - 1) / 2, np.median(window)
    moved = [found[0] + [0.3, -0.3, 0, 0, 0, 0], found[0] + [-0.3, 0.3, 0, 0, 0, 0]]
    moved[0][2:4] *= 0.8
    moved[1][2:4] *= 1.25
    around = np.array([middle, middle, 1, 1, window.max() - background, background])
    for x, y, sx, sy, amplitude, background in [*found, *moved, around]:
        # mu > 0, without which the deviance is not defined.
        background = max(background, 1e-3 * max(window.mean(), 1))
        yield np.r_[np.array([x, y, sx, sy])[: model.count], amplitude, background]


def main():
    images, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in SETS:
        spots = np.load(images / name / "spots.npy").astype(float)
        side = spots.shape[1]
        corners = read(images / name / "identifications.csv")
        oracles = [read(images / name / f"oracle_{oracle}.csv") for oracle in ORACLES]
        trusted = [(o["sane"] == 1) & (o["pd"] == 1) & (o["newton_px"] < 1e-6) for o in oracles]
        sigma = round(float(np.median(oracles[0]["sx"][trusted[0]])), 2)
        kinds = {
            "elliptical_integrated": Model(side, "elliptical", "integrated"),
            "circular_fixed": Model(side, "circular", "sampled", [sigma, sigma]),
        }
        for kind, model in kinds.items():
            for estimator, objective in ESTIMATORS.items():
                began, rows = time.perf_counter(), []
                for spot in np.flatnonzero(trusted[0]):
                    shift = [corners[axis][spot] - side // 2 for axis in "xy"]
                    values = [[o[c][spot] for c in ["x", "y", "sx", "sy", "amp", "bg"]] for o in oracles]
                    found = [np.array(v) - [*shift, 0, 0, 0, 0] for v, t in zip(values, trusted) if t[spot]]
                    window = spots[spot].ravel()
                    rows.append((spot, *minimum(model, objective(window), starts(found, window, model))))
                with open(folder / f"{name}_{kind}_{estimator}.csv", "w", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerow("spot_id,x,y,sigma_x,sigma_y,amplitude,background,good".split(","))
                    for spot, best, good in rows:
                        shape = [decimals(value, 5, 17) for value in best.five[:4]]
                        linear = [decimals(value, 4, 6) for value in best.p[-2:]]
                        writer.writerow([spot, *shape, *linear, int(good)])
                good = sum(good for *_, good in rows)
                took = time.perf_counter() - began
                print(f"{name}_{kind}_{estimator}: {good} of {len(rows)} good, {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
