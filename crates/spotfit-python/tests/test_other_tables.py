"""Tables of other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spotfit

DATA = Path(__file__).parents[2] / "spotfit-locs" / "tests" / "data"


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("smap_sml.mat", "comment"), ("pyme.h5r", None), ("pyme.hdf", None), ("shareloc.smlm", "left out")],
)
def test_tables_of_others_are_read(name: str, left_out: str | None) -> None:
    """Proves that positions and frames of other programs are read, and that a warning says whose table it is."""
    with pytest.warns(spotfit.SpotfitWarning) as warned:
        locs = spotfit.read_table(DATA / name)
    told = [str(warning.message) for warning in warned]
    assert any("a table of " in message for message in told)
    assert left_out is None or any(left_out in message for message in told), told
    rows = np.arange(40)
    assert np.allclose(locs["x"], 1000 + 12.5 * rows, rtol=1e-6) and np.array_equal(locs["frame"], rows // 4)
