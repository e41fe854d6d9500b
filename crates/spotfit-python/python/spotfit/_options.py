"""The options of every function, for those who check types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Literal, TypedDict, Union

import numpy.typing as npt

from ._camera import Camera
from ._locs import Locs
from ._spotfit import CameraMap

# Options have these names, too.
Slice = slice

#: A number, or text with a unit: ``"50nm"``, ``"0.5px"``, ``"0.1um"``. Without a unit lengths of tables are in nanometres, those of frames
#: and windows in pixels.
Length = Union[float, str]

Shape = Literal["circular", "elliptical", "rotated", "given"]
Profile = Literal["sampled", "integrated"]
Estimator = Literal["lse", "mle"]
Background = Literal["free", "nonnegative", "plane"]
Criteria = Literal["default", "tight", "paper"]
Backend = Literal["auto", "cpu", "gpu", "reference"]
InstructionSet = Literal["avx512", "avx2", "neon", "portable"]


class Options(TypedDict, total=False):
    """The keywords of `spotfit.Fitter`."""

    shape: Shape
    profile: Profile
    fixed_sigma: Length | tuple[Length, Length] | None
    estimator: Estimator
    camera: Camera | CameraMap | Mapping[str, float] | None
    background: Background | None
    criteria: Criteria
    max_iterations: int | None
    min_delta: float | None
    min_step: float | None
    max_error: float | None
    tolerance: float | None
    centre_margin: float | None
    sigma_min: Length | None
    sigma_max: Length | None
    backend: Backend
    instruction_set: InstructionSet | None
    device: int | Sequence[int]
    threads: int


Defects = Literal["auto", "none"] | str | PathLike[str] | npt.ArrayLike | None
#: A file, or a table (n, 3) of frame, x and y.
Positions = str | PathLike[str] | Locs | Mapping[str, npt.ArrayLike] | npt.ArrayLike | None
Flag = Literal["neighbour", "residual", "saturated", "width", "crowd", "all"]
#: 1, the most in a window, or "auto".
Emitters = Union[int, Literal["auto"]]
Sigma = Literal["free", "shared"]
Blur = Literal["uncertainty", "average", "none"]
ColourMap = Literal["inferno", "magma", "viridis", "grey", "turbo", "sinebow"]
Measure = Literal["mahalanobis", "roots"]
LinearParameters = Literal["auto", "eliminated", "searched"]
CurvePrecision = Literal["auto", "f64"]


class LocalizeOptions(Options, total=False):
    """The keywords of `spotfit.Blocks`."""

    box: Length | None
    false_rate: float
    threshold: float | None
    roi: str | tuple[Length, Length, Length, Length] | None
    frames: Slice | None
    pixel_size: float | Literal["px"] | None
    drop: Flag | Sequence[Flag]
    all: bool
    flags: bool
    errors: bool
    saturation: float | None
    calibration: str | PathLike[str] | None
    psf: str | PathLike[str] | None
    learn_frames: int | None
    aperture: Length | None
    emitters: Emitters
    sigma: Sigma
    defects: Defects
    temporal_background: int | None
    positions: Positions
    channel: int | None
    slice: int | None
    position: int | str | None
    camera_from: Literal["metadata"] | None
    cameras: str | PathLike[str] | None
    frame_time: float | Literal["metadata"] | None
    strict: bool
    follow: bool
    idle: float
    preset: str | PathLike[str] | None
