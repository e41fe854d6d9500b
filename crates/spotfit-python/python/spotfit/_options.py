"""The options of a fit, for those who check types."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Literal, TypedDict

from ._camera import Camera
from ._spotfit import CameraMap

Shape = Literal["circular", "elliptical", "rotated", "fixed", "given"]
Profile = Literal["sampled", "integrated"]
Estimator = Literal["lse", "mle"]
Background = Literal["free", "nonnegative"]
Criteria = Literal["default", "tight", "paper"]
Backend = Literal["auto", "cpu", "gpu", "reference"]
InstructionSet = Literal["avx512", "avx2", "neon", "portable"]


class Options(TypedDict, total=False):
    """The keywords of `spotfit.Fitter`."""

    shape: Shape
    sigma: float | tuple[float, float] | None
    profile: Profile
    estimator: Estimator
    camera: Camera | CameraMap | None
    background: Background | None
    criteria: Criteria
    max_iterations: int | None
    min_delta: float | None
    min_step: float | None
    max_error: float | None
    tolerance: float | None
    centre_margin: float | None
    sigma_min: float | None
    sigma_max: float | None
    backend: Backend
    instruction_set: InstructionSet | None
    devices: Sequence[int]
    threads: int


Flag = Literal["neighbour", "residual", "saturated", "width", "all"]


class LocalizeOptions(Options, total=False):
    """The keywords of `spotfit.Blocks`."""

    box_size: int | None
    false_rate: float
    threshold: float | None
    roi: tuple[int, int, int, int] | None
    frames: slice | None
    pixel_size: float | None
    drop: Flag | Sequence[Flag]
    keep_all: bool
    checks: bool
    errors: bool
    saturation: float | None
    calibration: str | PathLike[str] | None
    psf: str | PathLike[str] | None
    channel: int | None
    z_slice: int | None
