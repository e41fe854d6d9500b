#!/usr/bin/env python3
"""Localizes a movie, or fits windows, with a program of others: what `cargo xtask bench --figures end-to-end` runs.

    python end_to_end.py picasso|smappy|sdt-python fit|localize INPUT OUTPUT

Says the version of the peer in a line, or why there is none. Then, for each line on standard input, it does everything from the file to the table
once, and says how many seconds that took and how many spots it found. What is imported and compiled is so before the first time that counts, if
whoever asks leaves the first answer out.

    pip install picassosr==0.11.3
    pip install sdt-python==20.1.4 numba scipy tables
    pip install smappy-smlm==0.4.1

Each finds spots with thresholds of its own, chosen so that it finds about as many in a movie of `spotfit simulate movie` as there are, and fits
windows of 9×9 pixels by least squares where it can, on all processors where it can.
"""

import importlib.metadata
import os
import pathlib
import sys
import time
import warnings

warnings.simplefilter("ignore")

#: The simulated camera, and the width of a spot.
BASELINE, SIGMA, BOX = 100, 1.3, 9


def picasso(verb):
    import numpy as np
    from picasso import io, lib, localize
    from picasso.fitting import gaussfit, seeds

    # All processors instead of four of five, and the user's settings stay as they are.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    lib.n_workers = lambda *_: processors
    io.save_user_settings = lambda *_: None
    camera = {"Baseline": BASELINE, "Sensitivity": 1.0, "Gain": 1, "Pixelsize": 100}
    finding = {"Min. Net Gradient": 500, "Box Size": BOX}

    def movie(source, out):
        frames, info = io.load_movie(source)
        words = {"camera_info": camera, "identification_parameters": finding, "movie_info": info}
        found, told = localize.localize(frames, **words, fitting_method="gausslq-spherical")
        io.save_locs(str(out.with_suffix(".hdf5")), found, told)
        return len(found)

    def windows(source, out):
        spots = np.load(source).astype(np.float32)
        start = seeds.initial_parameters_gauss(spots, BOX, spherical=True)
        tolerance, most = localize.gauss_schedule(mle=False, use_gpu=False)
        job = gaussfit.fit_spots_async(gaussfit.SPHERICAL, spots, start, mle=False, tolerance=tolerance, max_iterations=most)
        while not job.finished():
            time.sleep(0.001)
        job.raise_errors()
        np.save(out.with_suffix(".npy"), job.results()[0])
        return len(spots)

    return {"fit": windows, "localize": movie}[verb]


def smappy(verb):
    import smappy

    camera = {"conversion": 1.0, "offset": BASELINE, "pixelsize_um": (0.1, 0.1), "emgain": 1.0, "em_on": False}

    def movie(source, out):
        found = smappy.fit(source, out=out.with_suffix(".h5"), camera=camera, sigma=SIGMA, roisize=BOX, raw_frames=0)
        return len(found)

    return {"localize": movie}[verb]


def sdt(verb):
    import tifffile
    from sdt import io
    from sdt.loc import daostorm_3d

    def movie(source, out):
        found = daostorm_3d.batch(tifffile.imread(source), SIGMA, "2dfixed", 20.0, engine="numba")
        io.save(out.with_suffix(".h5"), found)
        return len(found)

    return {"localize": movie}[verb]


PEERS = {"picasso": (picasso, "picassosr"), "smappy": (smappy, "smappy-smlm"), "sdt-python": (sdt, "sdt-python")}


def main():
    name, verb, source, out = sys.argv[1:]
    make, package = PEERS[name]
    try:
        work = make(verb)
    except KeyError:
        print(f"- it has no {verb}")
        return
    except Exception as error:
        print(f"- {type(error).__name__}: {error}".splitlines()[0])
        return
    print("version", importlib.metadata.version(package), flush=True)
    answers, sys.stdout = sys.stdout, sys.stderr
    for _ in sys.stdin:
        begin = time.perf_counter()
        found = work(source, pathlib.Path(out))
        print("took", time.perf_counter() - begin, found, file=answers, flush=True)


if __name__ == "__main__":
    main()
