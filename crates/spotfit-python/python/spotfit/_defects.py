"""Defective pixels, as callers give them."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _spotfit


def given(defects: Any) -> _spotfit.Defects | None:
    """Those of a mask or a file of one; None for "auto", "none" and None."""
    if defects is None or is_word(defects, "auto") or is_word(defects, "none"):
        return None
    if is_file(defects):
        return _spotfit.Defects.read(fspath(defects))
    mask = np.asarray(defects)
    if mask.ndim != 2:
        raise ValueError(f"defects must be 'auto', 'none', a file or a mask (height, width), not of shape {mask.shape}")
    return _spotfit.Defects(np.ascontiguousarray(mask != 0))


def is_word(defects: Any, word: str) -> bool:
    """Whether this word was given: a mask is none."""
    return isinstance(defects, str) and defects == word


def is_file(defects: Any) -> bool:
    """Whether a file was given."""
    return isinstance(defects, PathLike) or isinstance(defects, str) and defects not in ("auto", "none")


def note(found: _spotfit.Defects) -> str:
    """What to say of defects that nobody asked for."""
    return f"the first frames show {found}: defects='auto' masks them, and defects='none' leaves them as they are"
