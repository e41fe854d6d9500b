#!/usr/bin/env python3
"""A real STORM movie of overlapping spots: what one emitter a window, all emitters together, and 3D-DAOSTORM make of it.

    cargo build --release -p spotfit-cli
    python3.11 -m venv daostorm && daostorm/bin/pip install sdt-python==20.1.4 numba scipy matplotlib
    daostorm/bin/python benches/scripts/crowds_real.py ../shared/data/zhuang_storm_emccd/movie.npy --spotfit target/release/spotfit

There is no truth, so the numbers are counts and residuals: the spots that were found are drawn as Gaussians and taken from the frames,
what is left is smoothed (a median of 21×21 pixels, then a Gaussian of 5) to be the background, and the mean of residual² over the
variance is that of all pixels within 3 of a spot that any of them found. The variance of a pixel is found in the movie by its
Laplacian: that of counts² by mean counts is nearly a line, whose slope and offset are also the camera that Spotfit is told of.
"""

import argparse
import csv
import math
import pathlib
import sys
import tempfile

from common import call, head, row, timed

try:
    import numpy as np
    from matplotlib import pyplot
    from scipy import ndimage
    from sdt.loc import daostorm_3d
except ImportError as error:
    sys.exit(f"{error}. This needs an environment with the peer, see --help")

BASELINE = 100.0
ONE, JOINT, PEER = "one emitter a window", "all emitters together", "3D-DAOSTORM"


def noise(movie):
    """Slope and offset of the variance of a pixel by its mean, both without the baseline."""
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]]) / 6
    laplacian = np.array([ndimage.convolve(frame, kernel) for frame in movie])
    mean = np.array([ndimage.uniform_filter(frame, 5) for frame in movie])
    edges = np.quantile(mean, [0.05, 0.25, 0.5, 0.75, 0.9])
    points = []
    for low, high in zip(edges, edges[1:]):
        inside = (mean >= low) & (mean < high)
        points.append((mean[inside].mean(), (1.4826 * np.median(np.abs(laplacian[inside]))) ** 2))
    slope, offset = np.polyfit(*zip(*points), 1)
    return slope, max(offset, 0.0)


def ours(spotfit, file, camera, *words):
    """Frame, x, y, counts and sigma of each localization, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "locs.csv"
        _, seconds = call(spotfit, "localize", file, "-o", table, "--threads", 1, *camera, *words)
        with open(table) as lines:
            rows = list(csv.DictReader(lines))
    names = {name.split(" ")[0]: name for name in rows[0]}
    width = names.get("sigma", names.get("sigma1"))
    columns = [names["frame"], names["x"], names["y"], names["intensity"], width]
    found = np.array([[float(row[name]) for name in columns] for row in rows])
    found[:, 0] -= 1
    return found, seconds


def theirs(movie, sigma, threshold):
    rows = []

    def locate(frames):
        for number, frame in enumerate(frames):
            table = daostorm_3d.locate(frame, radius=sigma, model="2dfixed", threshold=threshold, engine="numba")
            rows.extend([number, x, y, mass, sigma] for x, y, mass in table[["x", "y", "mass"]].to_numpy())

    # The first frame is compiled for.
    locate(movie[:1])
    rows.clear()
    seconds = timed(lambda: locate(movie))
    return np.array(rows), seconds


def drawn(found, shape):
    """The spots as they would be seen, in counts."""
    light = np.zeros(shape)
    for frame, x, y, counts, sigma in found:
        reach = math.ceil(5 * sigma)
        left, right = max(int(x) - reach, 0), min(int(x) + reach + 1, shape[2])
        top, bottom = max(int(y) - reach, 0), min(int(y) + reach + 1, shape[1])
        row = np.exp(-((np.arange(left, right) - x) ** 2) / (2 * sigma**2))
        column = np.exp(-((np.arange(top, bottom) - y) ** 2) / (2 * sigma**2))
        light[int(frame), top:bottom, left:right] += counts / (2 * math.pi * sigma**2) * np.outer(column, row)
    return light


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("movie", help="an .npy file of frames whose baseline is 100")
    parser.add_argument("--spotfit", default="spotfit", help="the command")
    parser.add_argument("--picture", help="where to draw a part of the first frame, with what each of them found")
    arguments = parser.parse_args()
    movie = np.load(arguments.movie).astype(float) - BASELINE
    slope, offset = noise(movie)
    camera = ["--baseline", BASELINE, "--sensitivity", 1 / slope, "--read-noise", math.sqrt(offset) / slope]
    print(f"variance of a pixel in counts²: {offset:.1f} + {slope:.2f} times its mean\n")
    results = {ONE: ours(arguments.spotfit, arguments.movie, camera, "--estimator", "mle")}
    results[JOINT] = ours(arguments.spotfit, arguments.movie, camera, "--emitters", "auto", "--sigma", "shared")
    for name in results:
        results[name][0][:, 3] *= slope
    sigma = float(np.median(results[JOINT][0][:, 4]))
    faint = np.quantile(results[JOINT][0][:, 3], 0.1) / (2 * math.pi * sigma**2)
    results[PEER] = theirs(movie, sigma, faint)
    near = np.zeros(movie.shape, bool)
    for found, _ in results.values():
        frames, rows, columns = (np.rint(found[:, at]).astype(int) for at in (0, 2, 1))
        inside = (rows >= 0) & (columns >= 0) & (rows < movie.shape[1]) & (columns < movie.shape[2])
        near[frames[inside], rows[inside], columns[inside]] = True
    disc = np.hypot(*np.mgrid[-3:4, -3:4]) <= 3
    near = np.array([ndimage.binary_dilation(frame, disc) for frame in near])
    print(f"sigma {sigma:.2f} pixels; threshold of the peer {faint:.1f} counts, the peak of the faintest tenth of ours\n")
    head("method | spots a frame | residual χ² a pixel | ms a frame")
    for name, (found, seconds) in results.items():
        light = drawn(found, movie.shape)
        ground = np.array([ndimage.gaussian_filter(ndimage.median_filter(rest, 21), 5) for rest in movie - light])
        variance = offset + slope * np.maximum(light + ground, 1)
        chi2 = ((movie - light - ground) ** 2 / variance)[near].mean()
        row(name, f"{len(found) / len(movie):.0f}", f"{chi2:.2f}", f"{1e3 * seconds / len(movie):.0f}")
    if arguments.picture:
        draw(movie[0], results, arguments.picture)


def draw(frame, results, file):
    """A part of the frame with many spots."""
    found = results[JOINT][0]
    first = found[found[:, 0] == 0]
    crowd, rows, columns = np.histogram2d(first[:, 2], first[:, 1], bins=8, range=[[0, frame.shape[0]], [0, frame.shape[1]]])
    row, column = np.unravel_index(crowd.argmax(), crowd.shape)
    side = 40
    top = int(min(max(rows[row] - 4, 0), frame.shape[0] - side))
    left = int(min(max(columns[column] - 4, 0), frame.shape[1] - side))
    figure, axes = pyplot.subplots(1, len(results), figsize=(3.2 * len(results), 3.4), layout="constrained")
    for axis, (name, (found, _)) in zip(axes, results.items()):
        axis.imshow(frame, cmap="gray", vmin=np.quantile(frame, 0.02), vmax=frame[top : top + side, left : left + side].max())
        own = found[found[:, 0] == 0]
        axis.plot(own[:, 1], own[:, 2], "+", color="#ff5f4f", markersize=7, markeredgewidth=1.2)
        axis.set(xlim=(left - 0.5, left + side - 0.5), ylim=(top + side - 0.5, top - 0.5), xticks=[], yticks=[])
        inside = (abs(own[:, 1] - left - side / 2) < side / 2) & (abs(own[:, 2] - top - side / 2) < side / 2)
        axis.set_title(f"{name}: {inside.sum()}", fontsize=10)
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    main()
