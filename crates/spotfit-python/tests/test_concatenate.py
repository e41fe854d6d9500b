"""Tables are joined, drift is taken out, and pictures are drawn in the unit that each has."""

from typing import Any

import numpy as np
import pytest
import spotfit


def table(pixel_size: float | None = 100.0, first: int = 0, **more: Any) -> spotfit.Locs:
    columns: dict[str, Any] = {"frame": [first, first + 1], "x": [1.0, 2.0], "y": [3.0, 4.0], "z": [50.0, 60.0], **more}
    return spotfit.Locs(columns, spotfit.Movie(pixel_size, 64, 48, first + 2))


def test_tables_are_joined() -> None:
    """Proves that frames go on or keep their numbers, labels go on, and that of the movie is kept what is the same."""
    one, other = table(), table(first=7)
    both = spotfit.concatenate([one, other])
    assert both.frame.tolist() == [0, 1, 9, 10] and both.movie == spotfit.Movie(100.0, 64, 48, 11)
    assert both["file"].tolist() == [0, 0, 1, 1] and both.report == {"localizations": [2, 2], "unit": "px"}
    kept = spotfit.concatenate([one, other], frames="keep")
    assert kept.frame.tolist() == [0, 1, 7, 8] and kept.movie == spotfit.Movie(100.0, 64, 48, 9)
    assert both.frame.dtype.kind == "i" and not both.x.flags.writeable
    words = one.with_column("status", np.array(["a", "b"])), other.with_column("status", np.array(["longer", "b"]))
    assert spotfit.concatenate(words)["status"].tolist() == ["a", "b", "longer", "b"]
    assert spotfit.concatenate([one]).x.tolist() == one.x.tolist()
    # What was joined is joined again.
    again = spotfit.concatenate([both, both])
    assert again["file"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and again.frame.tolist()[4:] == [11, 12, 20, 21]
    linked = one.with_column("molecule", np.array([0, 3]))
    assert spotfit.concatenate([linked, linked])["molecule"].tolist() == [0, 3, 4, 7]
    other_field = spotfit.Locs({"frame": [0], "x": [1.0], "y": [3.0], "z": [1.0]}, spotfit.Movie(100.0, 32, 48, 9))
    assert spotfit.concatenate([one, other_field]).movie == spotfit.Movie(100.0, None, 48, 11)


def test_units_are_converted_where_they_can_be() -> None:
    """Proves that lengths have the unit and the pixels of the first table, and that heights stay nanometres."""
    one, nanometres = table(), table(first=5).in_nanometres()
    both = spotfit.concatenate([one, nanometres])
    assert both.x.tolist() == [1, 2, 1, 2] and both.z.tolist() == [50, 60, 50, 60] and both.unit == "px"
    assert spotfit.concatenate([nanometres, one]).x.tolist() == [100, 200, 100, 200]
    coarse = table(200.0)
    assert spotfit.concatenate([one, coarse]).x.tolist() == [1, 2, 2, 4]
    assert spotfit.concatenate([one, coarse]).z.tolist() == [50, 60, 50, 60]
    # A table that does not know its pixels has those of the others.
    assert spotfit.concatenate([table(None), nanometres]).movie.pixel_size == 100
    assert spotfit.concatenate([table(None), table(None)]).x.tolist() == [1, 2, 1, 2]


def test_what_cannot_be_joined_is_named() -> None:
    """Proves that tables with other columns, or units that cannot be converted, are refused."""
    one = table()
    nanometres = spotfit.Locs({"frame": [0], "x": [1.0], "y": [1.0], "z": [1.0]}).with_column("x", [1.0], "nm")
    cases: list[tuple[list[Any], type[Exception], str]] = [
        ([], ValueError, "no table"),
        ([one, 3], TypeError, "int"),
        ([one, table(photons=[1.0, 2.0])], ValueError, "table 0: it lacks the column 'photons' of table 1"),
        ([table(photons=[1.0, 2.0]), one], ValueError, "table 1: it lacks the column 'photons' of table 0"),
        ([table(None), nanometres], ValueError, "table 1: .*x.*nanometres.*size of a pixel is not known|table 1: .*pixel"),
        ([one, one.with_column("z", one.z, "px")], ValueError, "table 1: its column 'z' has pixels, that of the first table nanometres"),
    ]
    for tables, kind, what in cases:
        with pytest.raises(kind, match=what):
            spotfit.concatenate(tables)


def test_drift_has_a_unit() -> None:
    """Proves that drift is converted for a table in the other unit, and refused where the size of a pixel is not known."""
    x, y = np.array([0.0, 0.5]), np.array([0.0, -0.2])
    drift = spotfit.Drift(x, y, np.array([0.0, 10.0]), x, x, x, unit="px")
    known = table()
    assert np.allclose(drift.correct(known).x, [1, 1.5]) and np.allclose(drift.correct(known.in_nanometres()).x, [100, 150])
    assert np.allclose(drift.correct(known.in_nanometres()).z, [50, 50])
    bare = spotfit.Locs({"frame": [0, 1], "x": [1.0, 2.0], "y": [3.0, 4.0]})
    nanometres = bare.with_column("x", bare.x, "nm").with_column("y", bare.y, "nm")
    with pytest.raises(ValueError, match="the drift is in px, the localizations are in nm, and the size of a pixel is not known"):
        drift.correct(nanometres)
    back = spotfit.Drift(100 * x, 100 * y, unit="nm", pixel_size=100)
    assert np.allclose(back.correct(bare).x, [1, 1.5]) and np.allclose(back.correct(nanometres).x, [1, -48])
    uncertain = known.with_column("uncertainty", [0.0, 0.0], "px").in_nanometres()
    assert np.allclose(drift.correct(uncertain, with_error=True).uncertainty, [0, 50])


def test_drift_has_the_unit_of_its_table() -> None:
    """Proves that the drift that is found in nanometres says so, and corrects the same table in pixels."""
    rng = np.random.default_rng(3)
    frame = np.repeat(np.arange(1000), 4)
    at = rng.uniform(0, 64, (60, 2))[rng.integers(0, 60, len(frame))]
    columns: dict[str, Any] = {
        "frame": frame,
        "x": at[:, 0] + 1.5 * frame / 1000 + rng.normal(0, 0.1, len(frame)),
        "y": at[:, 1] + rng.normal(0, 0.1, len(frame)),
        "uncertainty": np.full(len(frame), 0.1),
    }
    locs = spotfit.Locs(columns, spotfit.Movie(100.0, 64, 64, 1000))
    drift = spotfit.find_drift(locs.in_nanometres())
    assert (drift.unit, drift.pixel_size) == ("nm", 100.0) and abs(drift.x[-1] - drift.x[0] - 150) < 20
    assert abs(np.corrcoef(drift.correct(locs).x - locs.x, frame)[0, 1] + 1) < 0.01
    assert np.allclose(drift.correct(locs).x * 100, drift.correct(locs.in_nanometres()).x)


def test_pictures_have_one_order_of_edges() -> None:
    """Proves that the extent of a picture draws the same picture again, in the frames of the movie and elsewhere."""
    locs = table()
    for picture in (
        spotfit.render(locs, pixel="0.3px", blur="0.5px", colour_by="density"),
        spotfit.render(locs, pixel="0.7px", blur="0.5px", extent=(-3.0, 1.0, 9.0, 6.0), colour_by="density"),
        spotfit.render(locs.in_nanometres(), pixel=7, blur=50, colour_by="density"),
    ):
        again = spotfit.render(
            locs if picture.unit == "px" else locs.in_nanometres(), pixel=f"{picture.pixel}{picture.unit}",
            blur="0.5px" if picture.unit == "px" else 50, extent=picture.extent, colour_by="density",
        )  # fmt: skip
        assert again.extent == pytest.approx(picture.extent) and np.array_equal(again.pixels, picture.pixels)
        left, top, right, bottom = picture.extent
        assert left < right and top < bottom and picture.matplotlib_extent == (left, right, bottom, top)
    # The frames of the movie, as the command takes them.
    assert spotfit.render(locs, pixel="1px").extent == pytest.approx((-0.5, -0.5, 63.5, 47.5))
    assert spotfit.render(locs.in_nanometres(), pixel=100).extent == pytest.approx((-50, -50, 6350, 4750))


def test_colours_show_heights_as_the_command_does() -> None:
    """Proves that heights that differ have colours, and that nothing else has them unasked."""
    locs = table()
    words: Any = {"pixel": "0.3px", "blur": "0.5px"}
    by_height = spotfit.render(locs, **words).pixels
    assert np.array_equal(by_height, spotfit.render(locs, colour_by="z", **words).pixels)
    density = spotfit.render(locs, colour_by="density", **words).pixels
    assert not np.array_equal(by_height, density)
    assert np.array_equal(density, spotfit.render(locs, colour_map="inferno", **words).pixels)
    flat = locs.with_column("z", np.zeros(2))
    assert np.array_equal(density, spotfit.render(flat, **words).pixels)


def test_pictures_are_what_their_names_say(tmp_path: Any) -> None:
    """Proves that endings choose the format, that others are refused, and that a grey TIFF has 16 bits."""
    picture = spotfit.render(table(), pixel="0.5px", blur="0.5px", colour_map="grey")
    beginnings = {"a.png": b"\x89PNG", "a.PNG": b"\x89PNG", "b.tif": b"II*\x00", "b.TIFF": b"II*\x00"}
    for name, begins in beginnings.items():
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes()[:4] == begins
    assert (tmp_path / "a.png").read_bytes() == picture.file
    assert picture.grey is not None and len((tmp_path / "b.tif").read_bytes()) > 2 * picture.grey.size
    colours = spotfit.render(table(), pixel="0.5px", blur="0.5px")
    colours.save(tmp_path / "c.tif")
    assert colours.grey is None and colours.pixels.tobytes() in (tmp_path / "c.tif").read_bytes()
    assert picture.grey.tobytes() in (tmp_path / "b.tif").read_bytes()
    for wrong in "p.jpg", "p", "p.tif.txt":
        with pytest.raises(ValueError, match=r"ends in \.png, \.tif or \.tiff"):
            picture.save(tmp_path / wrong)
        assert not (tmp_path / wrong).exists()
    with pytest.raises(OSError):
        picture.save(tmp_path / "none" / "p.png")
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]
