#!/usr/bin/env python3
"""Compares Spotfit with Picasso's own fitter: the same simulated windows, maximum likelihood, the same machine, in turn.

    python3 -m venv venv && venv/bin/pip install picassosr==0.11.3
    cargo build --release -p benches --bin fit-stack
    venv/bin/python benches/scripts/against_picasso.py target/release/fit-stack

Picasso is `picasso.fitting.gaussfit.fit_spots` on one thread and `fit_spots_async` on more. Its start values are made
beforehand and not timed; Spotfit's time includes its estimate and the least-squares fit that it starts with. Both
fitted everything once before anything is timed, so that nothing is compiled or paged in while the clock runs.

Picasso ends a fit when an iteration changes the deviance by less than tolerance × deviance; its own default for maximum
likelihood on the CPU is 1e-5, of a deviance of about 76 for 9×9 windows: 0.0008. Spotfit's `default` ends a fit when a
step is below 0.03 standard errors, which changes the deviance by 0.03² = 0.0009. So both defaults are the same
tolerance. What it is worth is printed: how far the centres are from those of fits with `tight`, in units of the
centre's standard deviation σ/√photons. `--tolerance 1e-5 1e-9` adds Picasso's fits that are as exact as Spotfit's.
"""

import argparse
import os
import sys
import tempfile
import time

from common import Asked, head, in_turn, median, row

try:
    import numpy as np
    from picasso.fitting import gaussfit, seeds
    from picasso.localize import gauss_schedule
except ImportError as error:
    sys.exit(f"{error}. This needs Picasso: pip install picassosr==0.11.3")

SIDE = 9


class Spotfit(Asked):
    """The process that fits when it is asked to."""

    def __init__(self, command, shape, threads, arguments, folder):
        self.folder = folder
        numbers = ["--count", arguments.count, "--side", SIDE, "--photons", arguments.photons, "--background", arguments.background]
        super().__init__(command, folder, "--shape", shape, "--threads", threads, *numbers, ready="ready")

    def fit(self, criteria):
        """The seconds, what else it says, and the fits."""
        seconds, *more = self.ask(criteria)
        return seconds, more, self.read("fits.f64").reshape(-1, 4)

    def read(self, name, kind="<f8"):
        return np.fromfile(os.path.join(self.folder, name), dtype=kind)


def picasso(model, windows, start, tolerance, threads):
    """The seconds, what else it says, and the fits."""
    begin = time.perf_counter()
    tolerance, most = gauss_schedule(mle=True, use_gpu=False, tolerance=tolerance)
    schedule = {"mle": True, "tolerance": tolerance, "max_iterations": most}
    if threads == 1:
        theta, _, states, iterations = gaussfit.fit_spots(model, windows, start, **schedule)
    else:
        job = gaussfit.fit_spots_async(model, windows, start, n_threads=threads, **schedule)
        while not job.finished():
            time.sleep(0.001)
        job.raise_errors()
        theta, _, states, iterations = job.results()
    seconds = time.perf_counter() - begin
    return seconds, (np.mean(iterations), np.mean(states == 0)), theta[:, 1:3]


def off(fits, best, unit):
    """The median and the 99th percentile of the distance of x and of y, in standard deviations."""
    distance = np.abs(fits[:, :2] - best[:, :2]) / unit[:, None]
    return np.nanpercentile(distance, [50, 99])


def compare(shape, threads, arguments):
    with tempfile.TemporaryDirectory() as folder:
        spotfit = Spotfit(arguments.fit_stack, shape, threads, arguments, folder)
        windows = spotfit.read("windows.f32", "<f4").reshape(-1, SIDE, SIDE)
        spherical = shape == "circular"
        model = gaussfit.SPHERICAL if spherical else gaussfit.ELLIPTIC
        start = seeds.initial_parameters_gauss(windows, SIDE, spherical=spherical)
        tight = spotfit.fit("tight")[2]
        unit = np.sqrt(tight[:, 2] * tight[:, 3] / arguments.photons)
        contestants = {"Spotfit": lambda: spotfit.fit("default")}
        for tolerance in arguments.tolerance:
            contestants[f"Picasso, {tolerance:g}"] = lambda tolerance=tolerance: picasso(model, windows, start, tolerance, threads)
        found = {name: runs[1:] for name, runs in in_turn(arguments.runs + 1, contestants).items()}
        spotfit.end()
    times = {name: [run[0] for run in runs] for name, runs in found.items()}
    first = times["Spotfit"]
    for name, seconds in times.items():
        middle = median(seconds)
        _, (steps, converged), fits = found[name][-1]
        near, worst = off(fits, tight, unit)
        rates = f"{arguments.count / middle:,.0f}", f"{middle / median(first):.1f}", f"{min(seconds) / min(first):.1f}"
        spread = f"{(max(seconds) - min(seconds)) / middle:.0%}"
        row(shape, threads, name, *rates, spread, f"{steps:.1f}", f"{converged:.4f}", f"{near:.1e}", f"{worst:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fit_stack", help="target/release/fit-stack")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--photons", type=float, default=1000)
    parser.add_argument("--background", type=float, default=10, help="photons in a pixel")
    own = gauss_schedule(mle=True, use_gpu=False)[0]
    parser.add_argument("--tolerance", type=float, nargs="+", default=[own], help="Picasso's tolerances; its own is the default")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    print(
        f"{arguments.count} windows of {SIDE}×{SIDE}, {arguments.photons:g} photons over {arguments.background:g} a "
        f"pixel, medians of {arguments.runs} runs in turn; how much slower than Spotfit, by medians and by the fastest runs; "
        "spread of the runs; steps are evaluations (Spotfit) and iterations (Picasso); distance of centres from `tight` in "
        "standard deviations\n"
    )
    head("shape | threads | fitter | fits/s | slower | fastest | spread | steps | converged | median | 99 %")
    for shape in ("circular", "elliptical"):
        for threads in arguments.threads:
            compare(shape, threads, arguments)


if __name__ == "__main__":
    main()
