"""Rings of frames in shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit

DType = Literal["uint8", "uint16", "float32", "float64"]


class RingFrame(NamedTuple):
    """A frame of a ring."""

    #: The camera's number of it, from 0.
    number: int
    #: When it was there, in nanoseconds of ``time.monotonic_ns()``.
    timestamp: int
    #: Its pixels, an array (height, width) of its own.
    pixels: npt.NDArray[Any]


class RingCounts(NamedTuple):
    """What was counted of a ring."""

    #: Frames that were read.
    frames: int
    #: Frames that were lost, by the camera or because the reader was too slow.
    missed: int
    #: Slots that changed while they were read.
    torn: int
    #: Frames whose number is not above that of the frame before.
    disorder: int


class RingWriter:
    """Makes a ring of frames in shared memory and writes into it, for ``spotfit track ring:NAME`` and others.

    It waits for nobody: a reader that is too slow loses frames. Leaving the ``with`` block, or `close`, ends the ring.

    Parameters
    ----------
    name : str
        The ring's name: ``"camera"`` is ``/dev/shm/camera``; a name with a slash is a path. The ring of another program that is alive
        stays (`OSError`).
    width, height : int
        The size of a frame in pixels.
    dtype : {"uint16", "uint8", "float32", "float64"}
        The type of the pixels.
    slots : int
        How many frames it holds, 2 to 65536.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, spotfit
    >>> name = tempfile.mkdtemp() + "/ring"
    >>> with spotfit.RingWriter(name, width=4, height=3) as ring:
    ...     reader = spotfit.RingReader(name)
    ...     ring.write(np.full((3, 4), 7))
    >>> [(frame.number, int(frame.pixels.sum())) for frame in reader]
    [(0, 84)]
    """

    def __init__(self, name: str, *, width: int, height: int, dtype: DType = "uint16", slots: int = 64) -> None:
        most = 2**32 - 1
        sizes = arguments.whole("width", width, most), arguments.whole("height", height, most)
        self._dtype = np.dtype(dtype)
        self._shape = sizes[::-1]
        self._writer = _spotfit.RingWriter(name, *sizes, self._dtype.name, arguments.whole("slots", slots, most))

    def write(self, frame: npt.ArrayLike, number: int | None = None, timestamp: int | None = None) -> None:
        """Writes the next frame.

        Parameters
        ----------
        frame : array_like (height, width)
            Its pixels, which the type of the ring must hold.
        number : int, optional
            The camera's number of it, from 0; numbers that are left out are frames that were lost. Default: how many were written.
        timestamp : int, optional
            When it was there, in nanoseconds of ``time.monotonic_ns()``. Default: now.
        """
        pixels = np.asarray(arguments.unmasked("frame", frame))
        if pixels.shape != self._shape:
            raise ValueError(f"frame must be of shape {self._shape}, not {pixels.shape}")
        if pixels.dtype != self._dtype:
            own = pixels.astype(self._dtype)
            if self._dtype.kind == "u" and not np.array_equal(own, pixels):
                raise ValueError(f"frame has pixels that {self._dtype.name} does not hold")
            pixels = own
        self._writer.write(
            np.ascontiguousarray(pixels).ravel(),
            None if number is None else arguments.whole("number", number),
            None if timestamp is None else arguments.whole("timestamp", timestamp),
        )

    def alive(self) -> None:
        """Tells readers that the writer is alive although it has no frame: to be called at least every second then."""
        self._writer.alive()

    @property
    def written(self) -> int:
        """How many frames were written."""
        return self._writer.written

    def close(self) -> None:
        """Ends the ring: its readers read what is in it, and its name is free again."""
        self._writer.close()

    def __enter__(self) -> RingWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class RingReader(Iterator[RingFrame]):
    """The frames of a ring in shared memory: an iterator of `RingFrame`, which ends with the ring.

    A frame that it gives is whole. If it was overtaken it goes on with the newest frame, and `counts` has what was missed.

    Parameters
    ----------
    name : str
        The ring's name, as `RingWriter` takes it.
    timeout : float
        Seconds after which a writer that shows no sign of life is dead.

    Raises
    ------
    FileNotFoundError
        If there is no such ring.
    OSError
        If it is no ring; while frames are read: if it was replaced, changed or made shorter.
    TimeoutError
        While frames are read: if the writer shows no sign of life.
    """

    def __init__(self, name: str, *, timeout: float = 10.0) -> None:
        self._reader = _spotfit.RingReader(name, arguments.number("timeout", timeout))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the frames."""
        width, height, _, _ = self._reader.layout
        return height, width

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the pixels."""
        return np.dtype(self._reader.layout[2])

    @property
    def slots(self) -> int:
        """How many frames the ring holds."""
        return self._reader.layout[3]

    @property
    def counts(self) -> RingCounts:
        """What was counted so far."""
        return RingCounts(*self._reader.counts)

    def __next__(self) -> RingFrame:
        read = self._reader.read()
        if read is None:
            raise StopIteration
        number, timestamp, pixels = read
        return RingFrame(number, timestamp, pixels.reshape(self.shape))
