"""Outcomes of fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import IntEnum
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, SupportsIndex, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from . import _spotfit
from ._frozen import frozen, rows
from ._plots import table
from ._warnings import NO_CAMERA, tell

if TYPE_CHECKING:
    import pandas
    import polars
    from typing_extensions import Self

T = TypeVar("T")
Floats = npt.NDArray[np.floating[Any]]

#: The rows of a covariance.
_PARAMETERS = ("x", "y", "sigma_x", "sigma_y", "angle", "amplitude", "background")


class Status(IntEnum):
    """How a fit ended. The first four have converged."""

    max_error = 1
    """Chi² fell below the bound in the criteria."""
    min_delta = 2
    """The last step reduced chi² by less than the share in the criteria."""
    min_step = 3
    """The last step was shorter than the limit in the criteria."""
    stalled = 4
    """No step finds a smaller chi²: this is the minimum."""
    at_limit = 5
    """A parameter is on a limit."""
    max_iterations = 6
    """The iterations allowed were used up."""
    not_converged = 7
    """No step reduced chi², though one should."""
    invalid = 8
    """There is nothing to fit: a pixel or a start value is not finite, or all pixels are the same."""


#: The names of the statuses, by their numbers.
NAMES = np.array(["", *(status.name for status in Status)])
#: The last status of a fit that converged.
CONVERGED = 4


class Field(property, Generic[T]):
    """A column of outcomes, which is called like the attribute."""

    def __init__(self, doc: str) -> None:
        super().__init__(doc=doc)

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, of: None, owner: type | None = None, /) -> Self: ...
    @overload
    def __get__(self, of: Any, owner: type | None = None, /) -> T: ...
    def __get__(self, of: Any, owner: type | None = None, /) -> Any:
        return self if of is None else of._column(self._name)


class Fitting(NamedTuple):
    """How a fitter fits."""

    shape: str
    #: The known width, or those along x and y.
    sigma: list[float] | None
    estimator: str
    background: str | None
    #: Whether numbers have the digits of single precision.
    single: bool
    #: What computed.
    about: str
    #: The limits that were set: how far outside the window the centre may be, the smallest and the largest sigma.
    limits: tuple[float | None, float | None, float | None]


#: How fits were made: by what, whether counts are called photons and nobody said so, width and height of the windows.
Made = tuple[Fitting, bool, tuple[int, int]]


class Errors:
    """Standard errors of fits, in the units of the fits.

    They are what the noise of photons and camera makes of the estimator: the Cramér–Rao bound for maximum likelihood,
    the sandwich for least squares, with EM gain twice the variance. A parameter that is not fitted has an error of 0;
    one that the pixels say nothing about has an infinite one.

    Attributes
    ----------
    array : structured array (n,)
        What the other attributes are taken from: ``covariance`` (the upper half of the 7×7 matrix, row after row),
        ``photons``, ``goodness``, ``excess``, ``exploding``. It cannot be written to; a copy can.
    """

    __slots__ = ("_fits", "array")

    def __init__(self, array: npt.NDArray[np.void], fits: npt.NDArray[np.void] | None = None) -> None:
        self.array = frozen(array)
        # Of which fits these are the errors: that of sigma depends on both widths.
        self._fits = fits

    def __reduce__(self) -> Any:
        return Errors, (self.array, self._fits)

    def _column(self, name: str) -> Any:
        return self.of(name) if name in _PARAMETERS else self.array[name]

    def of(self, parameter: str) -> Floats:
        """The standard error (n,) of a parameter: x, y, sigma_x, sigma_y, angle, amplitude or background."""
        return cast(Floats, np.sqrt(self.covariance(parameter, parameter)))

    def covariance(self, first: str, second: str) -> Floats:
        """The covariance (n,) of two parameters."""
        for name in (first, second):
            if name not in _PARAMETERS:
                raise ValueError(f"'{name}' is not one of {', '.join(_PARAMETERS)}")
        row, column = sorted((_PARAMETERS.index(first), _PARAMETERS.index(second)))
        return cast(Floats, self.array["covariance"][:, row * (13 - row) // 2 + column])

    x = Field[Floats]("Standard error of x in pixels.")
    y = Field[Floats]("Standard error of y in pixels.")

    @property
    def sigma(self) -> Floats:
        """Standard error of sigma in pixels: of √(sigma_x·sigma_y) where the two differ."""
        if self._fits is None:
            return self.of("sigma_x")
        x, y = (self._fits[name].astype(float) for name in ("sigma_x", "sigma_y"))
        own = [self.covariance(*pair) for pair in (("sigma_x",) * 2, ("sigma_y",) * 2, ("sigma_x", "sigma_y"))]
        with np.errstate(invalid="ignore", divide="ignore"):
            variance = (own[0] * y / x + own[1] * x / y + 2 * own[2]) / 4
        known = np.isfinite(own[0]) & np.isfinite(own[1]) & np.isfinite(variance)
        return np.sqrt(np.where(known, np.maximum(variance, 0), np.inf)).astype(self.array["photons"].dtype)

    sigma_x = Field[Floats]("Standard error of sigma_x in pixels.")
    sigma_y = Field[Floats]("Standard error of sigma_y in pixels.")
    angle = Field[Floats]("Standard error of the angle in radians.")
    amplitude = Field[Floats]("Standard error of the amplitude.")
    background = Field[Floats]("Standard error of the background.")
    photons = Field[Floats]("Standard error of the photons.")
    goodness = Field[Floats]("Pearson's chi² per degree of freedom: about 1 where the model fits and the noise is that of the camera.")
    exploding = Field[npt.NDArray[np.bool_]]("Whether the fit does not know where the spot is: its errors are infinite, or larger than the spot.")

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: slice | npt.NDArray[Any] | list[Any]) -> Errors:
        part = rows(self.array, index, "errors")
        return Errors(part, None if self._fits is None else rows(self._fits, index, "errors"))

    def __repr__(self) -> str:
        if not len(self):
            return "Errors of 0 fits"
        return f"Errors of {len(self):,} fits, medians: x {np.median(self.x):.3g} px, y {np.median(self.y):.3g} px"


class Ended(ABC):
    """Fits that have ended, each with its status."""

    __slots__ = ()
    status: Any

    @property
    def converged(self) -> npt.NDArray[np.bool_]:
        """Which fits met a criterion, or cannot be improved."""
        found: npt.NDArray[np.bool_] = self.status <= CONVERGED
        return found

    def counts(self) -> dict[str, int]:
        """How many fits ended in which way, by the name of the status."""
        counts = np.bincount(self.status, minlength=len(NAMES))
        return {status.name: int(counts[status]) for status in Status if counts[status]}

    @abstractmethod
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name."""

    def to_polars(self) -> polars.DataFrame:
        """The columns as a data frame of Polars."""
        import polars

        columns = {name: np.ascontiguousarray(values) for name, values in self.columns().items()}
        return polars.DataFrame(columns)


class Outcomes(Ended):
    """Outcomes of fits, a row for each."""

    __slots__ = ("array",)
    array: npt.NDArray[np.void]

    x = Field[Floats]("Centre in pixels, 0 at the centre of the first pixel of a row.")
    y = Field[Floats]("Centre in pixels, 0 at the centre of the first row.")
    status = Field[npt.NDArray[np.uint8]]("How each fit ended: a number, see `Status`.")

    def _column(self, name: str) -> Any:
        return self.array[name]

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a data frame of pandas."""
        import pandas

        frame = pandas.DataFrame(self.columns())
        frame["status"] = frame["status"].astype("category")
        return frame

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: str | SupportsIndex | slice | npt.NDArray[Any] | list[Any]) -> Any:
        """A field of `array` by its name; one outcome as a row of it; with a slice, a mask or numbers, the fits of those."""
        if isinstance(index, str):
            names = self.array.dtype.names or ()
            if index not in names:
                raise KeyError(f"there is no field '{index}' ({', '.join(names)})")
            return self.array[index]
        part = self.array[index]
        if not isinstance(part, np.ndarray):
            return part
        if part.dtype != self.array.dtype or part.ndim != 1:
            raise TypeError("fits are chosen by a slice, a mask or numbers (n,), fields one by one by their name")
        return self._chosen(part, cast(slice, index))

    @abstractmethod
    def _chosen(self, part: npt.NDArray[np.void], index: slice) -> Any:
        """The fits of a part of the array, which an index has chosen."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)

    @abstractmethod
    def _with_error(self, name: str) -> tuple[Any, Any]:
        """A column, and its errors if they are known."""

    def _medians(self) -> list[tuple[str, str, float, float | None]]:
        """Name, unit, median and that of the error of what is shown of fits that converged."""
        good = self[self.converged]
        shown = ("x", " px"), ("y", " px"), ("sigma", " px"), ("photons", ""), ("background", "")
        both = [(name, unit, *good._with_error(name)) for name, unit in shown if len(good)]
        return [(name, unit, np.median(of), None if error is None else np.median(error)) for name, unit, of, error in both]

    def _told_medians(self) -> list[str]:
        lines = [f"  {name:<10} {of:>9.4g}{'' if error is None else f' ± {error:.3g}'}{unit}" for name, unit, of, error in self._medians()]
        return ["  medians of those that converged:", *lines] if lines else []


class Fits(Outcomes):
    """Outcomes of fits, one for each window, in the order of the windows.

    Every number is finite, unless ``status`` is ``Status.invalid``; then all of them are NaN. Numbers of single
    precision where the backend computes in it, else double.

    Attributes
    ----------
    array : structured array (n,)
        What Rust wrote: the fields ``x``, ``y``, ``sigma``, ``sigma_x``, ``sigma_y``, ``angle``, ``amplitude``,
        ``background``, ``offset_x``, ``offset_y``, ``chi2``, ``iterations``, ``evaluations`` and ``status``. Each is an attribute too. None of them can
        be written to: they are views of this array, and so are the fits that are chosen of others. Copies can.

    Examples
    --------
    >>> import spotfit
    >>> camera = spotfit.Camera()
    >>> fits = spotfit.fit(spotfit.simulate(100, photons=1000, sigma=1.3).spots, camera=camera, errors=True)
    >>> good = fits[fits.converged & (fits.errors.x < 0.1)]
    >>> len(good), bool(abs(good.photons.mean() - 1000) < 20)
    (100, True)
    """

    __slots__ = ("_errors", "_made")

    def __init__(self, array: npt.NDArray[np.void], errors: Errors | None = None, made: Made | None = None) -> None:
        self.array = frozen(array)
        self._errors = errors
        self._made = made

    def __reduce__(self) -> Any:
        return Fits, (self.array, self._errors, self._made)

    sigma = Field[Floats]("Standard deviation in pixels; of a spot that is not circular √(sigma_x·sigma_y).")
    sigma_x = Field[Floats]("Standard deviation in pixels, along the axis of the spot that is nearer to x.")
    sigma_y = Field[Floats]("Standard deviation in pixels, along the axis of the spot that is nearer to y.")
    angle = Field[Floats]("Angle from x, towards y, to the axis of sigma_x, in radians: above -π/4, up to π/4.")
    amplitude = Field[Floats]("Height above the background, in photo-electrons if there is a camera, else in counts.")
    background = Field[Floats]("Background of a pixel, in photo-electrons if there is a camera, else in counts. Of a plane at the spot's centre.")
    offset_x = Field[Floats]('Slope of the background by x, in its unit per pixel: 0 unless ``background = "plane"``.')
    offset_y = Field[Floats]("Slope of the background by y, in its unit per pixel.")

    @property
    def photons(self) -> Floats:
        """The whole light of the spot, 2π·amplitude·sigma_x·sigma_y, in the unit of the amplitude: without a camera these are
        counts, with a warning."""
        if self._made is not None and self._made[1]:
            # Once is enough.
            self._made = self._made[0], False, self._made[2]
            tell(NO_CAMERA)
        return self._light()

    def _light(self) -> Floats:
        return cast(Floats, self.amplitude * self.sigma_x * self.sigma_y * self.x.dtype.type(2 * np.pi))

    chi2 = Field[Floats]("What was minimized: Σ(data - model)², with weights if there are any; or the deviance.")
    iterations = Field[npt.NDArray[np.uint32]]("Steps taken.")
    evaluations = Field[npt.NDArray[np.uint32]]("Visits to the pixels.")

    @property
    def errors(self) -> Errors:
        """Standard errors. They exist if the fit was asked for them, with ``errors=True``."""
        if self._errors is None:
            raise AttributeError("there are no errors: fit with errors=True")
        return self._errors

    @property
    def report(self) -> dict[str, Any]:
        """What came of the fits, as ``spotfit fit --json`` prints it: ``spots``, ``statuses``, ``converged``, ``at_limit`` (fits that
        ended on a limit that was set) and ``backend``. Times are the command's, and so are counts of masked pixels; empty for
        fits that do not know how they were made."""
        if self._made is None:
            return {}
        by, _, size = self._made
        return reported(_spotfit.report_fits(self.array, size, list(by.limits), by.about))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the table of ``spotfit fit``: ``.csv`` or ``.npy``. A file of this name is replaced when the table is complete.

        Raises
        ------
        ValueError
            If the name has another ending, or the fits do not know how they were made.
        OSError
            If the file cannot be written; one of this name is as it was then.

        Examples
        --------
        >>> import tempfile, numpy as np, spotfit
        >>> fits = spotfit.fit(spotfit.simulate(3, photons=1000).spots)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fits.save(f"{folder}/fits.npy")
        ...     np.load(f"{folder}/fits.npy")["status"].shape
        (3,)
        """
        if self._made is None:
            raise ValueError("these fits do not know how they were made: to_pandas() has their columns")
        by, errors = self._made[0], None
        if self._errors is not None:
            of = self._errors
            errors = [np.stack([of.of(name) for name in _PARAMETERS], axis=1), of.photons, of.goodness]
        _spotfit.save_fits(
            fspath(path), self.array, errors,
            shape=by.shape, sigma=by.sigma, estimator=by.estimator, background=by.background, single=by.single,
        )  # fmt: skip

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name: what was fitted, photons, errors if there are any, and how it ended."""
        names = ("x", "y", "sigma", "sigma_x", "sigma_y", "angle", "amplitude", "background", "photons")
        columns: dict[str, npt.NDArray[Any]] = {name: getattr(self, name) for name in names}
        if self._made is not None and self._made[0].background == "plane":
            columns |= {"offset_x": self.offset_x, "offset_y": self.offset_y}
        columns |= {"chi2": self.chi2, "iterations": self.iterations, "status": NAMES[self.status]}
        if self._errors is not None:
            of = self._errors
            columns |= {f"{name}_error": of.of(name) for name in _PARAMETERS}
            columns |= {"photons_error": of.photons, "goodness": of.goodness}
        return columns

    def _chosen(self, part: npt.NDArray[np.void], index: slice) -> Fits:
        return Fits(part, None if self._errors is None else self._errors[index], self._made)

    def _with_error(self, name: str) -> tuple[Any, Any]:
        values = self._light() if name == "photons" else getattr(self, name)
        return values, None if self._errors is None else getattr(self._errors, name)

    def _repr_html_(self) -> str:
        rows = [(name, f"{value:.4g}{unit}", "" if error is None else f"{error:.3g}{unit}") for name, unit, value, error in self._medians()]
        return table(f"{len(self):,} spots: {told(self.counts()) or 'nothing to do'}", ("", "median", "its error"), rows)

    def __repr__(self) -> str:
        return "\n".join([f"Fits of {len(self):,} spots: " + (told(self.counts()) or "nothing to do"), *self._told_medians()])


def told(counts: dict[str, int]) -> str:
    """Statuses in words."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def reported(report: str) -> dict[str, Any]:
    """The report of the command, without times and without counts of what only the command masks."""
    import json

    return {name: value for name, value in json.loads(report).items() if name not in ("fitting", "time", "masked")}
