"""What became of many movies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, overload

if TYPE_CHECKING:
    import pandas

#: Failures that are told one by one.
_TOLD = 5


class FileOutcome(NamedTuple):
    """What became of a movie.

    Attributes
    ----------
    movie, output : str
        The movie and its table.
    state : {"done", "failed"}
        Whether the table is there, made now or before as it would be now.
    frames, localizations : int or None
        How many frames were localized, and the rows of the table; None if it failed.
    error : str or None
        Why it failed.
    """

    movie: str
    output: str
    state: Literal["done", "failed"]
    frames: int | None
    localizations: int | None
    error: str | None


class FilesSummary(Sequence[FileOutcome]):
    """What became of many movies: a sequence of `FileOutcome` in their order."""

    __slots__ = ("_outcomes",)

    def __init__(self, outcomes: Sequence[FileOutcome]) -> None:
        self._outcomes = tuple(outcomes)

    @property
    def failed(self) -> FilesSummary:
        """Those that failed."""
        return FilesSummary([outcome for outcome in self if outcome.state == "failed"])

    def raise_for_failures(self) -> FilesSummary:
        """Raises `RuntimeError` if a movie failed, and tells which and why. Otherwise it returns the same."""
        if self.failed:
            raise RuntimeError(repr(self))
        return self

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each movie, as a data frame of pandas."""
        import pandas

        frame = pandas.DataFrame(list(self), columns=list(FileOutcome._fields))
        return frame.astype({"frames": "Int64", "localizations": "Int64"})

    def __len__(self) -> int:
        return len(self._outcomes)

    @overload
    def __getitem__(self, index: int) -> FileOutcome: ...
    @overload
    def __getitem__(self, index: slice) -> FilesSummary: ...
    def __getitem__(self, index: int | slice) -> FileOutcome | FilesSummary:
        """What became of a movie by its number; with a slice, a summary of those."""
        if isinstance(index, slice):
            return FilesSummary(self._outcomes[index])
        return self._outcomes[index]

    def __iter__(self) -> Iterator[FileOutcome]:
        return iter(self._outcomes)

    def __repr__(self) -> str:
        failed = [outcome for outcome in self if outcome.state == "failed"]
        frames = sum(outcome.frames or 0 for outcome in self)
        found = sum(outcome.localizations or 0 for outcome in self)
        counts = f"{len(self) - len(failed):,} done ({frames:,} frames, {found:,} localizations)"
        lines = [f"FilesSummary of {len(self):,} movie{'' if len(self) == 1 else 's'}: {counts}"]
        if failed:
            lines[0] += f", {len(failed):,} failed"
            lines += [f"  {outcome.movie}: {outcome.error}" for outcome in failed[:_TOLD]]
            lines += [f"  and {len(failed) - _TOLD:,} more"] if len(failed) > _TOLD else []
        return "\n".join(lines)
