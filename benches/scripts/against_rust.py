#!/usr/bin/env python3
"""What Python adds to fits in Rust: the same simulated windows, maximum likelihood, in turn.

    pip install ./crates/spotfit-python
    cargo build --release -p benches --bin fit-stack
    python3 benches/scripts/against_rust.py target/release/fit-stack [--threads 0] [--count 1000000] [--runs 15]

Both make room for the outcomes each time: Rust by `spotfit::Fitter::fit`. How long Rust takes in memory that it has already is told beside.
"""

import argparse
import os
import sys
import tempfile

import numpy as np
import spotfit
from common import Asked, in_turn, median, timed

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("fit_stack")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--count", type=int, default=1_000_000)
parser.add_argument("--runs", type=int, default=15)
arguments = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    windows = ["--shape", "circular", "--count", arguments.count, "--photons", 1000, "--background", 5]
    rust = Asked(arguments.fit_stack, folder, "--threads", arguments.threads, *windows, ready="ready")
    windows = np.fromfile(os.path.join(folder, "windows.f32"), "<f4").reshape(-1, 9, 9)
    fitter = spotfit.Fitter(estimator="mle", threads=arguments.threads)
    fits = []
    works = {"ready": lambda: rust.ask("default")[0], "Rust": lambda: rust.ask("anew")[0]}
    works["Python"] = lambda: timed(lambda: fits.append(fitter.fit(windows)))

    def compared() -> None:
        found = np.fromfile(os.path.join(folder, "fits.f64"), "<f8").reshape(-1, 4)
        if not np.array_equal(fits.pop().x, found[:, 0].astype(np.float32), equal_nan=True):
            sys.exit("Python and Rust have found different fits")

    times = {name: runs[1:] for name, runs in in_turn(arguments.runs + 1, works | {"": compared}).items()}
    rust.end()
ratio = median([mine / theirs for mine, theirs in zip(times["Python"], times["Rust"])])
ready, own, mine = (median(times[name]) * 1e3 for name in ("ready", "Rust", "Python"))
print(
    f"{arguments.count:,} windows of 9×9, {fitter.threads} threads: Rust {own:.1f} ms, Python {mine:.1f} ms; ratio {ratio:.3f} (median of "
    f"{arguments.runs} pairs); Rust in memory that it has already {ready:.1f} ms"
)
ten = windows[:10].copy()
few = [timed(lambda: [fitter.fit(ten) for _ in range(1000)]) / 1000 for _ in range(arguments.runs)]
print(f"ten windows: {median(few) * 1e6:.1f} µs a call, the fits among them")
