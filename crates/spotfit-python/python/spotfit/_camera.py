"""What a camera makes of light."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from . import _arguments as arguments
from . import _spotfit


@dataclass(frozen=True, slots=True)
class Camera:
    """How a camera turns photo-electrons into counts.

    Photo-electrons are (ADU - baseline) * sensitivity / em_gain. The default takes every count for one.
    ``dataclasses.replace(camera, read_noise=1.5)`` makes another one.

    Attributes
    ----------
    baseline : float
        What a dark pixel reads, in ADU.
    sensitivity : float
        Photo-electrons per ADU, before EM gain.
    em_gain : float or None
        EM gain, at least 1; None for a camera without it, or with its EM register off. Any number doubles the variance of
        the counts, 1 too: give it only where the gain is above 1.
    read_noise : float
        Standard deviation of the read noise in photo-electrons; EM gain divides it.

    Raises
    ------
    ValueError, TypeError
        If a number is out of its range, or none.

    Examples
    --------
    >>> Camera(baseline=100, sensitivity=0.46)
    Camera(baseline=100.0, sensitivity=0.46, em_gain=None, read_noise=0.0)
    """

    baseline: float = 0.0
    sensitivity: float = 1.0
    em_gain: float | None = None
    read_noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("baseline", "sensitivity", "em_gain", "read_noise"):
            value = getattr(self, name)
            if value is not None or name != "em_gain":
                object.__setattr__(self, name, arguments.number(name, value))
        _spotfit.check_camera(self._numbers())

    def _numbers(self) -> tuple[float, float, float | None, float]:
        return self.baseline, self.sensitivity, self.em_gain, self.read_noise


#: The numbers of a camera.
_NUMBERS = ("baseline", "sensitivity", "em_gain", "read_noise")


def by_metadata(
    source: str | None, given: Any, cameras: str | PathLike[str] | None
) -> tuple[str, tuple[float | None, ...], str | None] | None:
    """What is asked of metadata, with the numbers that are given."""
    if source is None:
        if isinstance(given, dict):
            raise TypeError("camera must be a spotfit.Camera or spotfit.CameraMap; a dict is for camera_from")
        if cameras is not None:
            raise ValueError("cameras is of no use without camera_from = 'metadata'")
        return None
    if isinstance(given, Camera):
        raise ValueError("a Camera is known whole: with camera_from, camera has the numbers that are known, as in {'baseline': 100}")
    known = dict(given) if isinstance(given, Mapping) else {}
    for name in known:
        if name not in _NUMBERS:
            raise ValueError(f"camera has no {name!r}")
    numbers = tuple(None if known.get(name) is None else arguments.number(name, known[name]) for name in _NUMBERS)
    return source, numbers, None if cameras is None else fspath(cameras)
