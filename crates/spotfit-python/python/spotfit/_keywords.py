"""Keywords that had other names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ._warnings import tell

P = ParamSpec("P")
R = TypeVar("R")

#: The keywords of `spotfit.Blocks` and `spotfit.Fitter` that changed, and what they are called now.
RENAMED = {
    "box_size": "box", "keep_all": "all", "checks": "flags", "z_slice": "slice", "devices": "device", "sigma": "fixed_sigma",
}  # fmt: skip


def current(given: Mapping[str, Any], renamed: Mapping[str, str] = RENAMED) -> dict[str, Any]:
    """The same keywords by their present names; a former one is warned about."""
    if renamed.keys().isdisjoint(given):
        return dict(given)
    found: dict[str, Any] = {}
    for name, value in given.items():
        # A width was a number; its word says whose it is.
        now = name if name == "sigma" and isinstance(value, str) else renamed.get(name, name)
        if now != name:
            if now in given:
                raise TypeError(f"{name} is called {now} now: give one of them")
            tell(f"{name} is called {now} now", DeprecationWarning)
        found[now] = value
    return found


def refuse(function: str, given: Mapping[str, Any], known: Iterable[str]) -> None:
    """Refuses keywords that are none of the function's, and offers the one that may be meant."""
    known = [*known]
    for name in given:
        if name not in known:
            from difflib import get_close_matches

            similar = get_close_matches(name, known, 1)
            offer = f"; did you mean {similar[0]!r}?" if similar else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{offer}")


def former(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same keywords by the names that records have of them."""
    names = {now: name for name, now in RENAMED.items()}
    if given.get("fixed_sigma") is not None:
        given = {**given, "shape": "fixed"}
    return {names.get(name, name): value for name, value in given.items()}


def takes_former(**renamed: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that takes the former names of its keywords, too."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapped(*args: P.args, **given: P.kwargs) -> R:
            return function(*args, **current(given, renamed))

        # `wraps` leaves them out.
        setattr(wrapped, "__kwdefaults__", getattr(function, "__kwdefaults__", None))
        return wrapped

    return wrap
