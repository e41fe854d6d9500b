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


def test_errors_groups_and_variables(tmp_path: Path) -> None:
    """Proves that columns of errors make weights, that values of a column make data sets, and that variables may be several."""
    file = tmp_path / "long.csv"
    rows = [f"{'AB'[n % 2]},{n},{n % 5},{3 * n + (n % 5)},{0.5 if n else 0}\n" for n in range(21)]
    file.write_text("well,time,dose,y,y_sd\n" + "".join(rows))
    with pytest.warns(spotfit.SpotfitWarning, match="1 point without an error"):
        columns = spotfit.read_columns(file, by="well", x_columns=["time", "dose"], columns="y", error_columns="_sd")
    assert columns.names == ["time", "dose", "A", "B"] and columns.x.shape == (2, 2, 11) and columns.y.shape == (2, 11)
    assert columns.weights[0].tolist() == [0, *[4] * 10] and columns.weights[1].tolist() == [*[4] * 10, 0]
    assert columns.errors is not None and columns.errors[0, 1] == 0.5
    fits = spotfit.Model("k*t + d*u + c", "t,u").fit(columns.y, x=columns.x, weights=columns.weights, start=[1, 0, 0])
    assert np.allclose(fits.parameters, [3, 1, 0], atol=1e-9) and fits.degrees.tolist() == [7, 7]
    with pytest.raises(ValueError, match="long table"):
        _ = columns.values
    wide = tmp_path / "wide.csv"
    wide.write_text("x,z,a,b\n0,1,2,3\n1,1,3,4\n2,5,6,7\n")
    columns = spotfit.read_columns(wide, x_columns=["x", 2])
    assert columns.x.shape == (2, 3) and columns.names == ["x", "z", "a", "b"] and columns.values.shape == (4, 3)
    with pytest.raises(ValueError, match="no column 'well'"):
        spotfit.read_columns(wide, by="well")


def test_sheets_of_workbooks_are_read() -> None:
    """Proves that a sheet is chosen by its name or number, and is the first otherwise."""
    book = Path(__file__).parents[2] / "spotfit-files" / "tests" / "data" / "decays.xlsx"
    with pytest.warns(spotfit.SpotfitWarning) as told:
        columns = spotfit.read_columns(book)
    assert any("1 other sheet is left out" in str(warning.message) for warning in told)
    assert columns.names == ["Time, s", "Control", "Treated B"] and columns.y.shape == (2, 13)
    for sheet in (2, "2", "Other & more"):
        assert spotfit.read_columns(book, sheet=sheet).y.tolist() == [[0, 2, 4]]
    with pytest.raises(ValueError, match="there is no sheet 'Third'"):
        spotfit.read_columns(book, sheet="Third")


def test_marks_are_said_where_numbers_do_not_tell(tmp_path: Path) -> None:
    """Proves that a number with two readings is refused with both, in columns and in tables, unless the decimal mark is given."""
    columns, table = tmp_path / "columns.csv", tmp_path / "table.csv"
    columns.write_text("a;b\n1;1,250\n2;2,500\n")
    table.write_text("made by a program\nframe;x;y\n1;8,937;1\n")
    with pytest.raises(ValueError, match="'1,250' is 1250 with a decimal point and 1.25 with a decimal comma"):
        spotfit.read_columns(columns)
    with pytest.raises(ValueError, match="'8,937' is 8937 with a decimal point"):
        spotfit.read_table(table, skip_lines=1)
    assert spotfit.read_columns(columns, decimal=".").y.tolist() == [[1250, 2500]]
    assert spotfit.read_columns(columns, decimal="point").y.tolist() == [[1250, 2500]]
    assert spotfit.read_columns(columns, decimal=",").y.tolist() == [[1.25, 2.5]]
    assert spotfit.read_table(table, skip_lines=1, decimal=".").x.tolist() == [8937]
    assert spotfit.read_table(table, skip_lines=1, decimal="comma").x.tolist() == [8.937]
    for read in (spotfit.read_columns, spotfit.read_table):
        with pytest.raises(ValueError, match="decimal must be 'point' or 'comma'"):
            read(columns, decimal=";")  # type: ignore[arg-type]
