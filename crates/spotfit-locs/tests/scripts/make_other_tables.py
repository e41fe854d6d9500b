"""Writes the tables of other programs that the tests read, with h5py and PyTables, as these programs lay them out.

    pip install h5py tables
    python make_other_tables.py ../data

Row i, from 0, of each is in frame i // 4 (that of SMAP in i // 4 + 1) at x = 10 + i / 8 and y = 20 + i / 4 pixels of 100 nm; DECODE's
have 120 by 110 nm. z is 5 i nm, and there are 500 + i photons over a background of 2 + i / 16.
"""
import json
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import tables

ROWS = 40
folder = Path(sys.argv[1])
i = np.arange(ROWS)
frame, x, y, z = i // 4, 10 + i / 8, 20 + i / 4, 5.0 * i
photons, background = 500.0 + i, 2 + i / 16


def single(numbers):
    return np.asarray(numbers, "f4")


def decode(name, count, unit):
    scale = np.array([120.0, 110.0]) if unit == "nm" else 1.0
    with h5py.File(folder / name, "w") as file:
        meta = file.create_group("meta")
        meta.attrs["px_size"] = single([120, 110])
        meta.attrs["xy_unit"] = unit
        file.create_group("decode").attrs["version"] = "0.10.0"
        data = file.create_group("data")
        xyz = np.stack([x, y, z], 1)
        xyz[:, :2] *= scale
        data["xyz"] = single(xyz[:count])
        sigma = np.full((count, 3), 0.125)
        if count:
            data["xyz_sig"] = single(sigma)
        else:
            data["xyz_sig"] = h5py.Empty("f")
        data["xyz_cr"] = h5py.Empty("f")
        data["phot"], data["bg"] = single(photons[:count]), single(background[:count])
        data["frame_ix"], data["id"] = frame[:count], np.full(count, -1)


decode("decode.h5", ROWS, "px")
decode("decode_nm.h5", 1, "nm")
decode("decode_empty.h5", 0, "px")

with h5py.File(folder / "smap_sml.mat", "w", userblock_size=512) as file:
    locs = file.create_group("saveloc/loc")
    columns = {"frame": frame + 1.0, "xnm": single(100 * x), "ynm": single(100 * y), "znm": single(z)}
    columns |= {"phot": single(photons), "bg": background, "locprecnm": single(0 * x + 12.5), "channel": single(0 * x)}
    for name, column in columns.items():
        locs.create_dataset(name, data=column[None], chunks=(1, 16), compression="gzip")
    locs["comment"] = np.frombuffer("a text".encode("utf-16-le"), "u2")[:, None]
    info = file.create_group("saveloc/file/info")
    info["cam_pixelsize_um"], info["Width"] = np.full((2, 1), 0.1), np.full((1, 1), 64.0)
with open(folder / "smap_sml.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")

with h5py.File(folder / "storm_analysis.hdf5", "w") as file:
    for name, value in {"movie_x": 64, "movie_y": 48, "movie_l": 12, "pixel_size": 100.0}.items():
        file.attrs[name] = value
    file.attrs["sa_type"] = "test"
    # Not in the order of their numbers, and with frames that have none.
    for number in [11, 10, *range(10)]:
        group, rows = file.create_group(f"fr_{number}"), frame == number
        group.attrs["n_locs"] = np.sum(rows)
        if rows.any():
            group["x"], group["y"], group["z"], group["sum"] = x[rows], y[rows], z[rows] / 1e3, photons[rows]

position = [("A", "<f4"), ("x0", "<f4"), ("y0", "<f4"), ("z0", "<f4"), ("sigma", "<f4")]
axis = [("start", "<i4"), ("stop", "<i4"), ("step", "<i4")]
kinds = [("tIndex", "<i4"), ("fitResults", position), ("fitError", position), ("resultCode", "<i4")]
results = np.zeros(ROWS, kinds + [("slicesUsed", [("x", axis), ("y", axis)])])
results["tIndex"], results["fitError"]["x0"] = frame, 12.5
for name, column in {"x0": 100 * x, "y0": 100 * y, "z0": z, "sigma": 0 * x + 130}.items():
    results["fitResults"][name] = column
with tables.open_file(str(folder / "pyme.h5r"), "w") as file:
    file.create_table("/", "FitResults", results, filters=tables.Filters(5, "zlib", shuffle=True))
    file.create_group("/MetaData", "voxelsize", createparents=True)._v_attrs.x = 0.1
    file.root.MetaData.voxelsize._v_attrs.y = 0.1

flat = [("fitResults_x0", "<f4"), ("x", "<f4"), ("y", "<f4"), ("t", "<f4"), ("nPhotons", "<f4")]
localizations = np.zeros(ROWS, flat)
for name, column in {"x": 100 * x, "y": 100 * y, "t": frame, "nPhotons": photons}.items():
    localizations[name] = column
with tables.open_file(str(folder / "pyme.hdf"), "w") as file:
    file.create_table("/", "Localizations", localizations, filters=tables.Filters(5, "zlib"))

headers = ["frame", "x", "y", "patch", "intensity"]
table = {"name": "smlm-table(binary)", "type": "table", "mode": "binary", "columns": 5, "headers": headers}
table |= {"dtype": ["uint32", "float32", "float32", "uint16", "float32"], "shape": [1, 1, 1, [2, 2], "1"]}
table |= {"units": ["frame", "nm", "nm", "photon", "photon"]}
row = np.dtype([("frame", "<u4"), ("x", "<f4"), ("y", "<f4"), ("patch", "<u2", (2, 2)), ("intensity", "<f4")])
halves = [np.zeros(ROWS // 2, row), np.zeros(ROWS // 2, row)]
for half, rows in zip(halves, [i < ROWS // 2, i >= ROWS // 2]):
    half["frame"], half["x"], half["y"], half["intensity"] = frame[rows], 100 * x[rows], 100 * y[rows], photons[rows]
halves[1]["x"] -= 1000
entry = {"type": "table", "format": "smlm-table(binary)", "rows": ROWS // 2}
files = [{"name": "a.bin", "channel": "red", "offset": {}} | entry]
files += [{"name": "b.bin", "channel": "far red", "offset": {"x": 1000}} | entry]
files += [{"name": "wide.png", "type": "image", "format": "png", "channel": "red"}]
manifest = {"format_version": "0.2", "formats": {"smlm-table(binary)": table}, "files": files}
with zipfile.ZipFile(folder / "shareloc.smlm", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("manifest.json", json.dumps(manifest))
    archive.writestr("a.bin", halves[0].tobytes())
    archive.writestr("b.bin", halves[1].tobytes(), zipfile.ZIP_STORED)
