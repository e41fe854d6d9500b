#!/usr/bin/env python3
"""How much faster four dask workers of four threads fit than one worker of four threads.

    python3 benches/scripts/dask_scaling.py [--windows N] [--runs N]

Needs the Python package, dask with its arrays and distributed, and 16 processors. The workers make the windows themselves
and return a number for each chunk, so that little travels; both clusters stand all the time, and take turns. What is printed:
the medians, and their ratio. Making the windows is timed by itself in the same way, and told beside; and what as many threads
of as many processes do with the same chunks without dask.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import sys
import threading
import time

from common import PROCESSORS, in_turn, median

#: Windows of a chunk: tenths of a second of work, far more than dask needs to hand it out.
CHUNK = 100_000


def made(block_info=None):
    """The windows of a chunk: others for each."""
    import numpy as np
    import spotfit

    (number, *_) = block_info[None]["chunk-location"]
    few = spotfit.simulate(1000, size=9, photons=500, background=3, seed=1 + number).spots
    return repeat(few)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--windows", type=int, default=16_000_000, help="default: 16 million, 160 chunks")
    parser.add_argument("--runs", type=int, default=3, help="of each; default: 3")
    parser.add_argument("--anyway", action="store_true", help="also with fewer processors, where the ratio says nothing")
    options = parser.parse_args()
    if PROCESSORS < 16 and not options.anyway:
        print(f"skipped: {PROCESSORS} processors, and 16 are needed")
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
        clusters = {"1 worker of 4 threads ": one, "4 workers of 4 threads": four}
        works = {(name, fit): lambda of=of, fit=fit: seconds(of, fit) for name, of in clusters.items() for fit in (True, False)}
        times = in_turn(options.runs, works)
    medians = {key: median(taken) for key, taken in times.items()}
    print(f"Spotfit {spotfit.__version__}, Python {platform.python_version()}, {PROCESSORS} processors, {count * CHUNK:,} windows of 9×9")
    for name in clusters:
        spread = ", ".join(f"{taken:.2f}" for taken in times[name, True])
        print(f"{name}: {medians[name, True]:.2f} s ({spread}), of which making the windows {medians[name, False]:.2f} s")
    few, many = (medians[name, True] for name in clusters)
    print(f"ratio: {few / many:.2f} (median of {options.runs} in turns)")

    # What the processors give without dask: the same chunks in the threads of as many processes.
    works = {(n, anew): lambda n=n, anew=anew: without_dask(n, anew) for n in (1, 4) for anew in (True, False)}
    rates = in_turn(options.runs, works)
    for anew, words in (True, "made for each fit"), (False, "that stay where they are"):
        few, many = (median(rates[workers, anew]) for workers in (1, 4))
        print(f"without dask, windows {words}: {few:.1f} and {many:.1f} chunks a second: {many / few:.2f}")


def fit_chunks(made_anew, barrier, found):
    """Fits ten chunks in each of four threads, and tells how long that took."""
    import spotfit
    from spotfit._fit import fit_quietly

    few = spotfit.simulate(1000, size=9, photons=500, background=3, seed=1).spots
    kept = repeat(few)

    def work(chunks):
        for _ in range(chunks):
            fit_quietly(repeat(few) if made_anew else kept, shape="elliptical", estimator="mle", threads=1).array["x"].sum()

    work(1)
    threads = [threading.Thread(target=work, args=(10,)) for _ in range(4)]
    barrier.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.put(time.perf_counter() - begin)


def repeat(few):
    import numpy as np

    return np.tile(few, (CHUNK // len(few), 1, 1))


def without_dask(workers, made_anew):
    """Chunks a second of so many processes of four threads."""
    context = multiprocessing.get_context("spawn")
    barrier, found = context.Barrier(workers), context.Queue()
    processes = [context.Process(target=fit_chunks, args=(made_anew, barrier, found)) for _ in range(workers)]
    for process in processes:
        process.start()
    longest = max(found.get(timeout=300) for _ in processes)
    for process in processes:
        process.join()
    return workers * 40 / longest


if __name__ == "__main__":
    main()
