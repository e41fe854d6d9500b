"""Compares the frames that Spotfit reads with those of independent readers, file by file.

    python3 -m pip install sif-parser astropy tifffile nd2 czifile imageio ndstorage
    cargo build --release -p spotfit-files --example frame_sums
    python3 benches/scripts/against_readers.py movie.sif cube.fits stack.tif ...

Of each frame the sum of its pixels and a sum weighted by their places are compared, to 1e-9; of FITS to 1e-6, because astropy scales
numbers in single precision. Of SIF files exposure, frame time and camera are compared, too, where the command is built. Files that the other reader refuses are told of. The command fails if a file differs.
"""

import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

FRAMES = Path(__file__).parents[2] / "target/release/examples/frame_sums"
COMMAND = FRAMES.parents[1] / "spotfit"


def read(path: str) -> np.ndarray:
    """The frames by the other reader, (t, h, w)."""
    ending = Path(path).suffix.lower()
    if ending == ".sif":
        import sif_parser

        return sif_parser.np_open(path, ignore_corrupt=True)[0]
    if ending in (".fits", ".fit", ".fts"):
        from astropy.io import fits

        with fits.open(path) as file:
            images = [part.data for part in file if part.is_image and part.data is not None and part.data.ndim >= 2]
        return images[0].reshape(-1, *images[0].shape[-2:])
    if ending == ".spe":
        import imageio.v3

        return np.asarray(imageio.v3.imread(path, plugin="SPE"))
    if ending == ".nd2":
        import nd2

        with nd2.ND2File(path) as file:
            return in_order(file.asarray(), "".join(file.sizes).replace("P", "S"))
    if ending == ".czi":
        import czifile

        with czifile.CziFile(path) as file:
            return in_order(file.asarray(), file.axes)
    if Path(path).name == "NDTiff.index":
        return ndtiff(str(Path(path).parent))
    import tifffile

    frames = tifffile.imread(path)
    return frames.reshape(-1, *frames.shape[-2:])


def ndtiff(folder: str) -> np.ndarray:
    """NDTiff's planes: positions, then channels, time points and slices; positions in the order of the numbers at their ends."""
    import itertools

    import ndstorage

    is_old = Path(folder).name == "Full resolution"
    try:
        data = ndstorage.NDTiffDataset(folder)
    except Exception:  # noqa: BLE001: version 2, which is named by the folder above
        data = ndstorage.Dataset(str(Path(folder).parent if is_old else folder))

    def key(value: object) -> tuple[bool, str, int]:
        if isinstance(value, int):
            return False, "", value
        stem = str(value).rstrip("0123456789")
        return True, stem, int(str(value)[len(stem) :] or -1)

    axes = {name: sorted(data.axes[name], key=key) for name in ("position", "row", "column", "channel", "time", "z") if name in data.axes}
    if any(isinstance(value, str) for value in axes.get("channel", [])):
        # Named channels have the order of the index.
        axes["channel"] = list(dict.fromkeys(dict(entry)["channel"] for entry in data.index))
    others = {name: next(iter(values)) for name, values in data.axes.items() if name not in axes}
    planes = [dict(zip(axes, values)) | others for values in itertools.product(*axes.values())]
    return np.stack([np.asarray(data.read_image(**plane)) for plane in planes if data.has_image(**plane)])


def in_order(frames: np.ndarray, axes: str) -> np.ndarray:
    """Planes one after the other: positions, then channels, time points and slices."""
    order = [axes.index(axis) for axis in "SCTZYX" if axis in axes]
    others = [at for at in range(frames.ndim) if at not in order]
    if any(frames.shape[at] > 1 for at in others):
        raise ValueError(f"axes {axes}, {frames.shape}")
    frames = frames.transpose(*others, *order)
    return frames.reshape(-1, *frames.shape[-2:])


def acquisition(path: str, command: str) -> str:
    """Whether exposure, frame time and camera of a SIF file are those of the other reader; empty for other formats."""
    if Path(path).suffix.lower() != ".sif":
        return ""
    import sif_parser

    theirs = sif_parser.np_open(path, ignore_corrupt=True)[1]
    ours = json.loads(subprocess.run([command, "info", path, "--json"], check=True, capture_output=True, text=True).stdout)["acquisition"] or {}
    pairs = [("exposure", "ExposureTime"), ("frame_time", "StackCycleTime")]
    same = all(ours.get(mine) == theirs[name] or (not theirs[name] > 0 and ours.get(mine) is None) for mine, name in pairs)
    camera = theirs["DetectorType"]
    same &= ours.get("camera") == ((camera.decode() if isinstance(camera, bytes) else camera) or None)
    return f", acquisition {'agrees' if same else f'DIFFERS: {ours}'}"


def sums(frame: np.ndarray) -> tuple[float, float]:
    pixels = frame.astype(np.float32).astype(np.float64).ravel()
    return float(pixels.sum()), float((np.arange(pixels.size) % 1009 * pixels).sum())


def tolerance(path: str) -> float:
    return 1e-6 if Path(path).suffix.lower().startswith(".f") else 1e-9


def main() -> int:
    warnings.simplefilter("ignore")
    wrong = 0
    lines = subprocess.run([FRAMES, *sys.argv[1:]], check=True, capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        path, *rest = line.split("\t")
        try:
            theirs = read(path)
        except Exception as error:  # noqa: BLE001: whatever the reader says
            print(f"{path}: the other reader says: {error}; ours: {rest}")
            continue
        if len(rest) < 4:
            print(f"{path}: REFUSED: {rest[0]}")
            wrong += 1
            continue
        shape = tuple(int(number) for number in rest[:3])
        ours = [tuple(float(part) for part in sum.split(",")) for sum in rest[3].split()]
        same = shape == theirs.shape and all(
            np.allclose(mine, sums(frame), rtol=tolerance(path), atol=1e-9, equal_nan=True) for mine, frame in zip(ours, theirs)
        )
        told = acquisition(path, str(COMMAND)) if COMMAND.exists() else ""
        wrong += not same or "DIFFERS" in told
        print(f"{path}: {shape} {'agrees' if same else f'DIFFERS from {theirs.shape}'}{told}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
