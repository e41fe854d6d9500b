"""Writes the movies beside this file, whose pixels follow from a formula: `pip install numpy tifffile imagecodecs`.

They were made with tifffile 2026.3.3 and imagecodecs 2026.3.6.
"""

from pathlib import Path

import numpy
import tifffile

T, Y, X = numpy.meshgrid(numpy.arange(3), numpy.arange(23), numpy.arange(37), indexing="ij")
PIXELS = 1000 * T + 37 * Y + 3 * X + X * Y % 7


def write(name, frames, order="<", predictor=False, tile=None, rows=None):
    path = Path(__file__).with_name(name).with_suffix(".tif")
    with tifffile.TiffWriter(path, byteorder=order, bigtiff="bigtiff" in name) as file:
        for frame in frames:
            file.write(
                frame.astype(frame.dtype.newbyteorder(order)),
                compression="zstd",
                predictor=predictor,
                tile=tile,
                rowsperstrip=rows,
                photometric="minisblack",
                metadata=None,
                contiguous=False,
            )


write("u8-horizontal", (PIXELS % 251).astype("u1"), predictor=True, rows=5)
write("u16-plain", PIXELS.astype("u2"), rows=23)
write("u16-horizontal-tiles-big-endian", PIXELS.astype("u2"), ">", predictor=True, tile=(16, 16))
write("i16-horizontal", (PIXELS - 1500).astype("i2"), predictor=True, rows=7)
write("u32-horizontal-bigtiff", (PIXELS * 1000).astype("u4"), predictor=True, rows=4)
write("f32-floating", (PIXELS * 0.125 - 7).astype("f4"), predictor=3, rows=6)
write("f32-floating-tiles-big-endian", (PIXELS * 0.125 - 7).astype("f4"), ">", predictor=3, tile=(16, 32))
write("f64-plain", (PIXELS * 0.125 - 7).astype("f8"), rows=23)
