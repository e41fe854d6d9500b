#!/usr/bin/env python3
"""What Python adds to fits in Rust: the same simulated windows, maximum likelihood, in turn.

    pip install ./crates/spotfit-python
    cargo build --release -p benches --bin fit-stack
    python3 benches/scripts/against_rust.py target/release/fit-stack [--threads 0] [--count 1000000] [--runs 15]

Both make room for the outcomes each time: Rust by `spotfit::Fitter::fit`. How long Rust takes in memory that it has already is told beside.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import spotfit

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("fit_stack")
parser.add_argument("--threads", type=int, default=0)
parser.add_argument("--count", type=int, default=1_000_000)
parser.add_argument("--runs", type=int, default=15)
arguments = parser.parse_args()

with tempfile.TemporaryDirectory() as folder:
    words = [arguments.fit_stack, folder, "--shape", "circular", "--threads", str(arguments.threads)]
    words += ["--count", str(arguments.count), "--photons", "1000", "--background", "5"]
    rust = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if rust.stdout.readline().strip() != "ready":
        sys.exit("fit-stack did not start")
    windows = np.fromfile(os.path.join(folder, "windows.f32"), "<f4").reshape(-1, 9, 9)
    fitter = spotfit.Fitter(estimator="mle", threads=arguments.threads)
    own, other, ready = [], [], []

    def asked(how):
        rust.stdin.write(f"{how}\n")
        rust.stdin.flush()
        return float(rust.stdout.readline().split()[0])

    for run in range(arguments.runs + 1):
        again = asked("default")
        seconds = asked("anew")
        begin = time.perf_counter()
        fits = fitter.fit(windows)
        taken = time.perf_counter() - begin
        found = np.fromfile(os.path.join(folder, "fits.f64"), "<f8").reshape(-1, 4)
        if not np.array_equal(fits.x, found[:, 0].astype(np.float32), equal_nan=True):
            sys.exit("Python and Rust have found different fits")
        if run:
            own.append(taken)
            other.append(seconds)
            ready.append(again)
    rust.stdin.close()
    rust.wait()
ratios = [mine / theirs for mine, theirs in zip(own, other)]
print(
    f"{arguments.count:,} windows of 9×9, {fitter.threads} threads: Rust {statistics.median(other) * 1e3:.1f} ms, Python "
    f"{statistics.median(own) * 1e3:.1f} ms; ratio {statistics.median(ratios):.3f} (median of {arguments.runs} pairs); Rust in memory "
    f"that it has already {statistics.median(ready) * 1e3:.1f} ms"
)
ten, few = windows[:10].copy(), []
for _ in range(arguments.runs):
    begin = time.perf_counter()
    for _ in range(1000):
        fitter.fit(ten)
    few.append((time.perf_counter() - begin) / 1000)
print(f"ten windows: {statistics.median(few) * 1e6:.1f} µs a call, the fits among them")
