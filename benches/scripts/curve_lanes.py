"""Times `spotfit curve` in double precision number by number and with points in lanes: seconds of whole commands, medians in turn.

cargo build --release --bin spotfit && python3 benches/scripts/curve_lanes.py [ROUNDS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from common import call, in_turn, median

COMMAND = Path("target/release/spotfit")
BACKENDS = ("reference", "cpu")
ASKED = {
    "share": ["--share", "t"],
    "intervals": ["--intervals", "0.68"],
    "prior": ["--prior", "t=7+-1", "--absolute", "--weights", "25"],
}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        data, fits = Path(folder, "decays.npy"), Path(folder, "fits.csv")
        for sets, points in ((40_000, 40), (5_000, 400)):
            x = np.arange(float(points))
            decay = 10 * np.exp(-6 * x / points) + 1
            np.save(data, decay + 0.2 * random.normal(size=(sets, points)))
            for name, words in ASKED.items():
                asked = [COMMAND, "curve", data, "-m", "exponential", *words, "-o", fits, "--overwrite", "--backend"]
                works = {backend: lambda backend=backend: call(*asked, backend)[1] for backend in BACKENDS}
                seconds = in_turn(rounds, works)
                told = ", ".join(f"{backend} {median(of):.2f} s" for backend, of in seconds.items())
                print(f"{sets} of {points} points, {name}: {told}", flush=True)


if __name__ == "__main__":
    main()
