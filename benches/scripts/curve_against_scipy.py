"""One decay of a million points: spotfit in turn with scipy.optimize.curve_fit, from the same start.

cargo build --release -p fit-cpu --example curve_long
pip install scipy
python benches/scripts/curve_against_scipy.py [POINTS] [THREADS]

SciPy's is its default, `curve_fit(f, x, y, p0)`: MINPACK's lm with numeric derivatives of a NumPy function.
"""

import pathlib
import sys
import tempfile

import numpy as np
import scipy
from common import Asked, in_turn, median, timed
from scipy.optimize import curve_fit

RUNS = 15
PROGRAM = pathlib.Path(__file__).parents[2] / "target/release/examples/curve_long"


def decay(x, a, t, c):
    return a * np.exp(-x / t) + c


def main() -> None:
    points = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    threads = sys.argv[2] if len(sys.argv) > 2 else "0"
    x = np.linspace(0, 30, points, endpoint=False)
    y = decay(x, 10.3, 7.2, 1.0) + 0.1 * np.random.default_rng(1).standard_normal(points)
    answers = []
    with tempfile.NamedTemporaryFile() as file:
        np.concatenate([x, y]).tofile(file.name)
        program = Asked(PROGRAM, file.name, threads)
        fit = lambda: timed(lambda: answers.append(curve_fit(decay, x, y, [8.0, 5.0, 0.5])))  # noqa: E731
        runs = in_turn(RUNS, {"theirs": fit, "ours": program.ask})
        program.end()
    (wanted, covariance), (_, *found, evaluations) = answers[-1], runs["ours"][-1]
    theirs, ours = runs["theirs"], [answer[0] for answer in runs["ours"]]
    off = np.max(np.abs(found - wanted) / np.sqrt(np.diag(covariance)))
    a, b = median(theirs), median(ours)
    print(f"{points} points, medians of {RUNS} in turn, SciPy {scipy.__version__}, NumPy {np.__version__}")
    print(f"SciPy {1e3 * a:.1f} ms, spotfit {1e3 * b:.2f} ms ({evaluations:.0f} looks at the points): {a / b:.1f} times")
    print(f"best of each {1e3 * min(theirs):.1f} and {1e3 * min(ours):.2f} ms; within {off:.1e} standard errors")


main()
