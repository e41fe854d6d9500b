"""Outcomes of fits in the memory of a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._fits import Errors, Field, Fits, Made
from ._spotfit import DeviceArray

if TYPE_CHECKING:
    from ._spotfit import DeviceOutcomes


class DeviceErrors:
    """Standard errors of fits, in the memory of a GPU. See `Errors` for what they are.

    Each attribute is a `DeviceArray`: ``torch.from_dlpack(fits.errors.photons)``.
    """

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: DeviceOutcomes) -> None:
        self._outcomes = outcomes

    def _column(self, name: str) -> DeviceArray:
        return self._outcomes.column(name, True)

    covariance = Field[DeviceArray]("The upper half (n, 28) of the covariance of x, y, sigma_x, sigma_y, angle, amplitude, background, row after row: the variances are the columns 0, 7, 13, 18, 22, 25 and 27.")
    photons = Field[DeviceArray]("Standard error of the photons.")
    goodness = Field[DeviceArray]("Pearson's chi² per degree of freedom.")
    exploding = Field[DeviceArray]("Whether the fit does not know where the spot is.")

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

    x = Field[DeviceArray]("Centre in pixels, 0 at the centre of the first pixel of a row; float32, as all but the last three.")
    y = Field[DeviceArray]("Centre in pixels, 0 at the centre of the first row.")
    sigma = Field[DeviceArray]("Standard deviation in pixels; of a spot that is not circular √(sigma_x·sigma_y).")
    sigma_x = Field[DeviceArray]("Standard deviation in pixels, along the axis of the spot that is nearer to x.")
    sigma_y = Field[DeviceArray]("Standard deviation in pixels, along the axis of the spot that is nearer to y.")
    angle = Field[DeviceArray]("Angle from x, towards y, to the axis of sigma_x, in radians.")
    amplitude = Field[DeviceArray]("Height above the background, in photo-electrons if there is a camera, else in counts. The photons are 2π·amplitude·sigma_x·sigma_y.")
    background = Field[DeviceArray]("Background of a pixel, in photo-electrons if there is a camera, else in counts. Of a plane at the spot's centre.")
    offset_x = Field[DeviceArray]('Slope of the background by x, in its unit per pixel: 0 unless ``background = "plane"``.')
    offset_y = Field[DeviceArray]("Slope of the background by y, in its unit per pixel.")
    chi2 = Field[DeviceArray]("What was minimized: Σ(data - model)², with weights if there are any; or the deviance.")
    iterations = Field[DeviceArray]("Steps taken; int32.")
    evaluations = Field[DeviceArray]("Visits to the pixels; int32.")
    status = Field[DeviceArray]("How each fit ended: a number, see `Status`; uint8. Those of fits that converged are 1 to 4.")

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
