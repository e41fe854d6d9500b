"""Outcomes of fits in the memory of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._fits import Errors, Fits, Made

if TYPE_CHECKING:
    from ._spotfit import DeviceArray, DeviceOutcomes


class DeviceErrors:
    """Standard errors of fits, in the memory of a GPU. See `Errors` for what they are.

    Each attribute is a `DeviceArray`: ``torch.from_dlpack(fits.errors.photons)``.
    """

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: DeviceOutcomes) -> None:
        self._outcomes = outcomes

    @property
    def covariance(self) -> DeviceArray:
        """The upper half (n, 28) of the covariance of x, y, sigma_x, sigma_y, angle, amplitude, background, row after row:
        the variances are the columns 0, 7, 13, 18, 22, 25 and 27."""
        return self._outcomes.column("covariance", True)

    @property
    def photons(self) -> DeviceArray:
        """Standard error of the photons."""
        return self._outcomes.column("photons", True)

    @property
    def goodness(self) -> DeviceArray:
        """Pearson's chi² per degree of freedom."""
        return self._outcomes.column("goodness", True)

    @property
    def exploding(self) -> DeviceArray:
        """Whether the fit does not know where the spot is."""
        return self._outcomes.column("exploding", True)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __repr__(self) -> str:
        return f"DeviceErrors of {len(self):,} fits on GPU {self._outcomes.device}"


class DeviceFits:
    """Outcomes of fits in the memory of the GPU on which the windows were, in their order.

    Each attribute is a `DeviceArray`, a column of what the kernel wrote, without a copy: ``torch.from_dlpack(fits.x)``,
    ``cupy.asarray(fits.x)``. Whoever takes one keeps all outcomes in memory. The fits are done: nobody has to wait for them.

    When all of that is gone, the memory serves the next fit on this GPU: at most that of the outcomes and the errors of one call is
    kept.
    """

    __slots__ = ("_made", "_outcomes")

    def __init__(self, outcomes: DeviceOutcomes, made: Made | None = None) -> None:
        self._outcomes = outcomes
        self._made = made

    @property
    def device(self) -> int:
        """The number of the GPU."""
        return self._outcomes.device

    @property
    def x(self) -> DeviceArray:
        """Centre in pixels, 0 at the centre of the first pixel of a row; float32, as all but the last three."""
        return self._column("x")

    @property
    def y(self) -> DeviceArray:
        """Centre in pixels, 0 at the centre of the first row."""
        return self._column("y")

    @property
    def sigma(self) -> DeviceArray:
        """Standard deviation in pixels; of a spot that is not circular √(sigma_x·sigma_y)."""
        return self._column("sigma")

    @property
    def sigma_x(self) -> DeviceArray:
        """Standard deviation in pixels, along the axis of the spot that is nearer to x."""
        return self._column("sigma_x")

    @property
    def sigma_y(self) -> DeviceArray:
        """Standard deviation in pixels, along the axis of the spot that is nearer to y."""
        return self._column("sigma_y")

    @property
    def angle(self) -> DeviceArray:
        """Angle from x, towards y, to the axis of sigma_x, in radians."""
        return self._column("angle")

    @property
    def amplitude(self) -> DeviceArray:
        """Height above the background, in photo-electrons if there is a camera, else in counts. The photons are
        2π·amplitude·sigma_x·sigma_y."""
        return self._column("amplitude")

    @property
    def background(self) -> DeviceArray:
        """Background of a pixel, in photo-electrons if there is a camera, else in counts. Of a plane at the spot's centre."""
        return self._column("background")

    @property
    def offset_x(self) -> DeviceArray:
        """Slope of the background by x, in its unit per pixel: 0 unless ``background = "plane"``."""
        return self._column("offset_x")

    @property
    def offset_y(self) -> DeviceArray:
        """Slope of the background by y, in its unit per pixel."""
        return self._column("offset_y")

    @property
    def chi2(self) -> DeviceArray:
        """What was minimized: Σ(data - model)², with weights if there are any; or the deviance."""
        return self._column("chi2")

    @property
    def iterations(self) -> DeviceArray:
        """Steps taken; int32."""
        return self._column("iterations")

    @property
    def evaluations(self) -> DeviceArray:
        """Visits to the pixels; int32."""
        return self._column("evaluations")

    @property
    def status(self) -> DeviceArray:
        """How each fit ended: a number, see `Status`; uint8. Those of fits that converged are 1 to 4."""
        return self._column("status")

    @property
    def errors(self) -> DeviceErrors:
        """Standard errors. They exist if the fit was asked for them, with ``errors=True``."""
        if not self._outcomes.has_errors:
            raise AttributeError("there are no errors: fit with errors=True")
        return DeviceErrors(self._outcomes)

    def to_host(self) -> Fits:
        """A copy in the host's memory, with all that `Fits` can do."""
        rows, errors = self._outcomes.fetch()
        return Fits(rows, None if errors is None else Errors(errors, rows), self._made)

    def _column(self, name: str) -> DeviceArray:
        return self._outcomes.column(name, False)

    def __len__(self) -> int:
        return len(self._outcomes)

    def __repr__(self) -> str:
        return f"DeviceFits of {len(self):,} spots on GPU {self.device}; to_host() copies them"
