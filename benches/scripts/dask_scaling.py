#!/usr/bin/env python3
"""How much faster four dask workers of four threads fit than one worker of four threads.

    python3 benches/scripts/dask_scaling.py [--windows N] [--runs N]

Needs the Python package, dask with its arrays and distributed, and 16 processors. The workers make the windows themselves
and return a number for each chunk, so that little travels; both clusters stand all the time, and take turns. What is printed:
the medians, and their ratio. Making the windows is timed by itself in the same way, and told beside; and what 16 threads of
one process gain over four.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time

#: Windows of a chunk: tenths of a second of work, far more than dask needs to hand it out.
CHUNK = 100_000


def made(block_info=None):
    """The windows of a chunk: others for each."""
    import numpy as np
    import spotfit

    (number, *_) = block_info[None]["chunk-location"]
    few = spotfit.simulate(1000, size=9, photons=500, background=3, seed=1 + number).spots
    return np.tile(few, (CHUNK // 1000, 1, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=16_000_000, help="default: 16 million, 160 chunks")
    parser.add_argument("--runs", type=int, default=3, help="of each; default: 3")
    parser.add_argument("--anyway", action="store_true", help="also with fewer processors, where the ratio says nothing")
    options = parser.parse_args()
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if processors < 16 and not options.anyway:
        print(f"skipped: {processors} processors, and 16 are needed")
        return
    import dask.array as da
    import numpy as np
    import spotfit
    import spotfit.dask
    from distributed import Client, LocalCluster

    count = max(options.windows // CHUNK, 1)
    spots = da.map_blocks(made, chunks=((CHUNK,) * count, 9, 9), dtype=np.float32, meta=np.empty((0, 0, 0), np.float32))

    def seconds(client, fit):
        rows = spotfit.dask.fit(spots, shape="elliptical", estimator="mle")["x"] if fit else spots[:, 0, 0]
        sums = rows.map_blocks(lambda part: part.sum(keepdims=True), chunks=((1,) * count,), dtype=np.float32)
        begin = time.perf_counter()
        found = client.gather(client.compute(sums))
        taken = time.perf_counter() - begin
        if not np.isfinite(found).all():
            sys.exit("not all windows were fitted")
        return taken

    words = {"threads_per_worker": 4, "processes": True, "dashboard_address": ":0", "silence_logs": 50, "memory_limit": 0}
    with (
        LocalCluster(n_workers=1, **words) as small,
        LocalCluster(n_workers=4, **words) as large,
        Client(small, set_as_default=False) as one,
        Client(large, set_as_default=False) as four,
    ):
        for client in one, four:
            # Imports, threads and the first chunks.
            seconds(client, True)
        times = {(name, fit): [] for name in ("one", "four") for fit in (True, False)}
        for _ in range(options.runs):
            for (name, fit), taken in times.items():
                taken.append(seconds(one if name == "one" else four, fit))
    median = {key: statistics.median(taken) for key, taken in times.items()}
    print(f"Spotfit {spotfit.__version__}, Python {platform.python_version()}, {processors} processors, {count * CHUNK:,} windows of 9×9")
    for name, words in ("one", "1 worker of 4 threads "), ("four", "4 workers of 4 threads"):
        spread = ", ".join(f"{taken:.2f}" for taken in times[name, True])
        print(f"{words}: {median[name, True]:.2f} s ({spread}), of which making the windows {median[name, False]:.2f} s")
    print(f"ratio: {median['one', True] / median['four', True]:.2f} (median of {options.runs} in turns)")

    # What the processors give without dask.
    windows = np.concatenate([made({None: {"chunk-location": (number,)}}) for number in range(16)])
    fitters = {threads: spotfit.Fitter(shape="elliptical", estimator="mle", threads=threads) for threads in (4, 16)}
    alone = {threads: [] for threads in fitters}
    for _ in range(options.runs + 1):
        for threads, fitter in fitters.items():
            begin = time.perf_counter()
            fitter.fit(windows)
            alone[threads].append(time.perf_counter() - begin)
    few, many = (statistics.median(taken[1:]) for taken in alone.values())
    print(f"without dask, one process: 4 threads {few:.3f} s, 16 threads {many:.3f} s for {len(windows):,} windows: {few / many:.2f}")


if __name__ == "__main__":
    main()
