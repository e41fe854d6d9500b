"""Keywords that a function does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def refuse(function: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuses keywords that are none of the function's, and offers the one that may be meant."""
    known = [*known]
    for name in given:
        if name not in known:
            from difflib import get_close_matches

            similar = get_close_matches(name, known, 1)
            offer = f"; did you mean {similar[0]!r}?" if similar else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{offer}")
