"""Writes the small HDF5 files that the tests read: h5py's own output, so that the reader meets what h5py does.

    python make_h5_fixtures.py FOLDER

Every file has the same 40 rows, so that the tests can state the values by a formula: member number m of row r is
r * (m + 1), minus 20 for signed integers, divided by 8 for floats; the last member of row 7 is NaN if it is a float.
The files are compressed with gzip, since most of their bytes are zero.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

ROWS = 40
METADATA = [{"Width": 32, "Height": 24, "Frames": 100, "Camera": "ÅΩ 1"}, {"Pixelsize": 130, "Box Size": 7}]


def rows(members, aligned=False):
    """The rows, with the given (name, type) members."""
    table = np.zeros(ROWS, np.dtype(members, align=aligned))
    for number, (name, kind) in enumerate(members):
        values = np.arange(ROWS) * (number + 1.0)
        kind = np.dtype(kind)
        values = {"i": values - 20, "u": values, "f": values / 8}[kind.kind]
        table[name] = values.astype(kind)
    if kind.kind == "f":
        table[members[-1][0]][7] = np.nan
    return table


ALL = [(f"{kind}{size}", f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)] + [("f4", "f4"), ("f8", "f8")]
BIG = [(name, ">" + kind) for name, kind in ALL]
LOCS = [("frame", "u4"), ("x", "f4"), ("y", "f4"), ("iterations", "i4"), ("photons", "f4")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        for path in sorted(Path(folder).iterdir()):
            target = Path(sys.argv[1]) / f"{path.name}.gz"
            target.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def write(folder):
    """Writes the files to a folder."""
    text = json.dumps(METADATA, ensure_ascii=False)

    # As Picasso writes: all defaults, a variable-length string beside the table.
    with h5py.File(folder / "earliest.hdf5", "w") as file:
        file.create_dataset("locs", data=rows(LOCS))
        file.create_dataset("metadata", data=text)

    with h5py.File(folder / "latest.hdf5", "w", libver="latest") as file:
        file.create_dataset("locs", data=rows(ALL))
        file.create_dataset("metadata", data=text)
        file["locs"].attrs["metadata"] = text
        file.attrs["metadata"] = np.bytes_("fixed text")

    # Chunks under a version 1 B-tree, with all filters; the last chunk is not full.
    with h5py.File(folder / "chunked.hdf5", "w") as file:
        file.create_dataset(
            "locs", data=rows(ALL), chunks=(16,), compression="gzip", shuffle=True, fletcher32=True, maxshape=(None,)
        )

    # The chunk indexes of the newer layout: fixed array, extensible array, implicit, single chunk; dense links.
    with h5py.File(folder / "indexes.hdf5", "w", libver="latest") as file:
        table = rows(LOCS)
        file.create_dataset("fixed", data=table, chunks=(16,), compression="gzip", shuffle=True)
        file.create_dataset("plain", data=table, chunks=(16,))
        file.create_dataset("extensible", data=table, chunks=(3,), maxshape=(None,), fletcher32=True)
        file.create_dataset("single", data=table, chunks=(40,), compression="gzip")
        file.create_dataset("whole", data=table, chunks=(40,))

    # Camera maps, big-endian and compact members, strings of every sort.
    with h5py.File(folder / "maps.hdf5", "w") as file:
        offset = file.create_dataset("offset", data=np.arange(12, dtype="f4").reshape(3, 4) / 4)
        offset.attrs["metadata"] = text
        file.create_dataset("gain", data=np.arange(24, dtype=">i2").reshape(2, 3, 4), chunks=(2, 2, 3), compression=4)
        file.create_dataset("big", data=rows(BIG))
        compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        compact.set_layout(h5py.h5d.COMPACT)
        table = rows(LOCS[:2] + [("flag", "u1"), ("z", "f8")], aligned=True)
        space, kind = h5py.h5s.create_simple(table.shape), h5py.h5t.py_create(table.dtype)
        h5py.h5d.create(file.id, b"compact", kind, space, dcpl=compact).write(h5py.h5s.ALL, h5py.h5s.ALL, table)
        file.attrs["metadata"] = ["first", "", "third µ"]
        file.create_dataset("fixed", data=np.array([b"one", b"three"], dtype="S8"))
        file.create_dataset("padded", data="blank", dtype=h5py.string_dtype("utf-8", 9))

    # More links than fit into a header or into one node of a group.
    for name, libver in (("many_earliest", "earliest"), ("many_latest", "latest")):
        with h5py.File(folder / f"{name}.hdf5", "w", libver=libver) as file:
            for number in range(20):
                file.create_group(f"group {number:02}")
            file["table"] = np.arange(3.0)


main()
