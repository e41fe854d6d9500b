"""Writes data/nist-strd.txt: the nonlinear problems of NIST's Statistical Reference Datasets, and how MINPACK fares.

python nist_strd.py FOLDER-WITH-THE-DAT-FILES > ../data/nist-strd.txt

NIST offers the files at https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml; works of NIST are in the public domain.
The digits of MINPACK are those of scipy.optimize.leastsq with derivatives by differences, to its limits of precision.
"""

import pathlib
import re
import sys

import numpy as np
import scipy
from scipy.optimize import leastsq

EXP, COS, PI, ATAN, LOG = np.exp, np.cos, np.pi, np.arctan, np.log
MODELS = {
    "Bennett5": lambda x, b: b[0] * (b[1] + x[0]) ** (-1 / b[2]),
    "BoxBOD": lambda x, b: b[0] * (1 - EXP(-b[1] * x[0])),
    "Chwirut1": lambda x, b: EXP(-b[0] * x[0]) / (b[1] + b[2] * x[0]),
    "Chwirut2": lambda x, b: EXP(-b[0] * x[0]) / (b[1] + b[2] * x[0]),
    "DanWood": lambda x, b: b[0] * x[0] ** b[1],
    "ENSO": lambda x, b: b[0]
    + b[1] * COS(2 * PI * x[0] / 12)
    + b[2] * np.sin(2 * PI * x[0] / 12)
    + b[4] * COS(2 * PI * x[0] / b[3])
    + b[5] * np.sin(2 * PI * x[0] / b[3])
    + b[7] * COS(2 * PI * x[0] / b[6])
    + b[8] * np.sin(2 * PI * x[0] / b[6]),
    "Eckerle4": lambda x, b: b[0] / b[1] * EXP(-0.5 * ((x[0] - b[2]) / b[1]) ** 2),
    "Gauss1": lambda x, b: b[0] * EXP(-b[1] * x[0])
    + b[2] * EXP(-((x[0] - b[3]) ** 2) / b[4] ** 2)
    + b[5] * EXP(-((x[0] - b[6]) ** 2) / b[7] ** 2),
    "Hahn1": lambda x, b: (b[0] + b[1] * x[0] + b[2] * x[0] ** 2 + b[3] * x[0] ** 3)
    / (1 + b[4] * x[0] + b[5] * x[0] ** 2 + b[6] * x[0] ** 3),
    "Kirby2": lambda x, b: (b[0] + b[1] * x[0] + b[2] * x[0] ** 2) / (1 + b[3] * x[0] + b[4] * x[0] ** 2),
    "Lanczos1": lambda x, b: b[0] * EXP(-b[1] * x[0]) + b[2] * EXP(-b[3] * x[0]) + b[4] * EXP(-b[5] * x[0]),
    "MGH09": lambda x, b: b[0] * (x[0] ** 2 + x[0] * b[1]) / (x[0] ** 2 + x[0] * b[2] + b[3]),
    "MGH10": lambda x, b: b[0] * EXP(b[1] / (x[0] + b[2])),
    "MGH17": lambda x, b: b[0] + b[1] * EXP(-x[0] * b[3]) + b[2] * EXP(-x[0] * b[4]),
    "Misra1a": lambda x, b: b[0] * (1 - EXP(-b[1] * x[0])),
    "Misra1b": lambda x, b: b[0] * (1 - (1 + b[1] * x[0] / 2) ** -2),
    "Misra1c": lambda x, b: b[0] * (1 - (1 + 2 * b[1] * x[0]) ** -0.5),
    "Misra1d": lambda x, b: b[0] * b[1] * x[0] / (1 + b[1] * x[0]),
    "Nelson": lambda x, b: b[0] - b[1] * x[0] * EXP(-b[2] * x[1]),
    "Rat42": lambda x, b: b[0] / (1 + EXP(b[1] - b[2] * x[0])),
    "Rat43": lambda x, b: b[0] / (1 + EXP(b[1] - b[2] * x[0])) ** (1 / b[3]),
    "Roszman1": lambda x, b: b[0] - b[1] * x[0] - ATAN(b[2] / (x[0] - b[3])) / PI,
    "Thurber": lambda x, b: (b[0] + b[1] * x[0] + b[2] * x[0] ** 2 + b[3] * x[0] ** 3)
    / (1 + b[4] * x[0] + b[5] * x[0] ** 2 + b[6] * x[0] ** 3),
}
for copy, of in [("Gauss2", "Gauss1"), ("Gauss3", "Gauss1"), ("Lanczos2", "Lanczos1"), ("Lanczos3", "Lanczos1")]:
    MODELS[copy] = MODELS[of]


def digits(found, certified):
    """Of the least precise parameter."""
    with np.errstate(all="ignore"):
        errors = np.abs(found / certified - 1)
        return float(np.min(np.clip(-np.log10(np.maximum(errors, 1e-11)), 0, 11))) if np.all(np.isfinite(errors)) else 0.0


print(f"# NIST StRD, nonlinear regression; digits of MINPACK by SciPy {scipy.__version__} (scripts/nist_strd.py)")
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.dat")):
    name, text = path.stem, path.read_text()
    number = r"[-+.\dEe]+"
    rows = re.findall(rf"^\s*b\d\s*=\s*({number})\s+({number})\s+({number})\s+({number})\s*$", text, re.M)
    parameters = np.array(rows, float)
    chi2 = float(re.search(rf"Residual Sum of Squares:\s*({number})", text)[1])
    body = text[text.rindex("Data:") :].split("\n", 1)[1]
    data = np.array([line.split() for line in body.splitlines() if line.strip()], float)
    y, x = data[:, 0], data[:, 1:].T
    if name == "Nelson":
        y = LOG(y)
    print(f"problem {name}")
    for row in rows:
        print("parameter", *row)
    print("chi2", repr(chi2))
    reached = []
    for start in parameters.T[:2]:
        with np.errstate(all="ignore"):
            residuals = lambda b: MODELS[name](x, b) - y
            found = leastsq(residuals, start, xtol=1e-15, ftol=1e-15, gtol=0, maxfev=100000)[0]
        reached.append(digits(found, parameters[:, 2]))
    print("minpack", *(f"{value:.1f}" for value in reached))
    for line in np.vstack([x, data[:, 0]]).T:
        print(*(repr(float(value)) for value in line))
