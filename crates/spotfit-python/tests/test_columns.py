"""Columns of numbers in text."""

from pathlib import Path

import numpy as np
import pytest
import spotfit


def test_gaps_are_left_out_of_fits(tmp_path: Path) -> None:
    """Proves that names and numbers are those of the file, and that cells without a number do not count in fits."""
    file = tmp_path / "decays.txt"
    t = np.arange(12)
    rows = [f"{x};{10 * np.exp(-x / 7) + 1:.6f};{'' if x == 3 else f'{5 * np.exp(-x / 4) + 2:.6f}'};x".replace(".", ",") for x in t]
    file.write_bytes(("Zeit (µs);A;B;words\n[s];[V];[V];\n" + "\n".join(rows)).encode("latin-1"))
    with pytest.warns(spotfit.SpotfitWarning, match="a row of units is left out"), pytest.warns(spotfit.SpotfitWarning, match="1 cell"):
        columns = spotfit.read_columns(file, columns=["Zeit (µs)", 2, "B"])
    assert columns.names == ["Zeit (µs)", "A", "B"] and columns.units == ["[s]", "[V]", "[V]"]
    assert columns.values.shape == (3, 12) and np.isnan(columns.y[1, 3]) and columns.weights.sum() == 23
    with pytest.raises(ValueError, match="read-only"):
        columns.values[0, 0] = 1
    fits = spotfit.Model("exponential").fit(columns.y, x=columns.x, weights=columns.weights)
    assert np.allclose(fits["t"], [7, 4], rtol=1e-4) and fits.degrees.tolist() == [9, 8]


def test_what_is_wrong_is_told(tmp_path: Path) -> None:
    """Proves that errors name the file and the place."""
    file = tmp_path / "odd.csv"
    file.write_text("x,y\n1,2\n2,b\n")
    with pytest.raises(ValueError, match=r"odd\.csv: line 3, column 2: 'b' is not a number"):
        spotfit.read_columns(file)
    with pytest.raises(ValueError, match="no column 'z'"):
        spotfit.read_columns(file, columns="z")
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        spotfit.read_columns(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="skip"):
        spotfit.read_columns(file, skip=-1)
