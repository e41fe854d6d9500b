"""Tables of localizations: columns, units, files."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit


@pytest.fixture
def locs() -> spotfit.Locs:
    rng = np.random.default_rng(2)
    columns = {
        "frame": np.sort(rng.integers(0, 50, 200)),
        "x": rng.uniform(1, 60, 200),
        "y": rng.uniform(1, 40, 200),
        "sigma": rng.uniform(1, 2, 200),
        "photons": rng.uniform(100, 1000, 200),
        "background": rng.uniform(1, 2, 200),
        "uncertainty": rng.uniform(0.01, 0.1, 200),
    }
    return spotfit.Locs(columns, spotfit.Movie(100.0, 64, 48, 50))


def test_columns_have_names_and_units(locs: spotfit.Locs) -> None:
    assert locs.units["x"] == "px" and locs.units["photons"] == "photon" and "x" in dir(locs)
    assert locs.x is locs["x"] and len(locs) == 200 and list(locs) == list(locs.names)
    assert np.allclose(locs.in_nanometres().x, locs.x * 100) and locs.in_nanometres().units["sigma"] == "nm"
    assert np.allclose(locs.in_nanometres().in_pixels().x, locs.x) and locs.in_pixels() is locs
    assert locs.with_pixel_size(50).movie.pixel_size == 50
    assert locs.with_column("z", locs.x, "nm").units["z"] == "nm"
    for wrong in ("z", "_x"):
        with pytest.raises(AttributeError, match=wrong):
            getattr(locs, wrong)
    with pytest.raises(KeyError, match="there is no column 'z'"):
        locs["z"]


def test_rows_are_chosen(locs: spotfit.Locs) -> None:
    assert locs[locs.photons > 500].photons.min() > 500
    assert locs[3:5].x.tolist() == locs.x[3:5].tolist()
    kept = locs.filter("photons > 500 & uncertainty < 0.05")
    assert np.array_equal(kept.x, locs.x[(locs.photons > 500) & (locs.uncertainty < 0.05)])
    with pytest.raises(ValueError, match=r"\n  photons >\n"):
        locs.filter("photons >")
    with pytest.raises(TypeError):
        locs[3]


@pytest.mark.parametrize("name", ["locs.csv", "locs.hdf5"])
def test_what_is_written_is_read(locs: spotfit.Locs, tmp_path: Path, name: str) -> None:
    assert locs.in_nanometres().save(tmp_path / name) == 0
    back = spotfit.read_table(tmp_path / name)
    if name.endswith("csv"):
        back = back.with_pixel_size(100)
    back = back.in_pixels()
    assert back.frame.tolist() == locs.frame.tolist() and back.frame.dtype.kind == "i"
    assert np.allclose(back.x, locs.x, atol=1e-5) and np.allclose(back.photons, locs.photons, rtol=1e-5)
    assert not [path for path in tmp_path.iterdir() if "part" in path.name]


@pytest.mark.parametrize("dtype", [float, "f4", "u2", "i8", bool])
@pytest.mark.parametrize("name", ["locs.csv", "locs.hdf5"])
def test_frames_of_any_type_stay_what_they_are(dtype: Any, name: str, tmp_path: Path) -> None:
    frames = np.array([0, 1, 1], dtype)
    columns: dict[str, Any] = {"frame": frames, "x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}
    movie = spotfit.Movie(100.0, 9, 9, 9)
    bare = spotfit.Locs({name: values for name, values in columns.items() if name != "frame"}, movie)
    for locs in spotfit.Locs(columns, movie), bare.with_column("frame", frames):
        assert locs.frame.dtype.kind in "iu"
        locs.in_nanometres().save(tmp_path / name)
        assert spotfit.read_table(tmp_path / name).frame.tolist() == [0, 1, 1]


def test_words_are_written(locs: spotfit.Locs, tmp_path: Path) -> None:
    status = np.where(locs.x > 30, "min_step", "stalled")
    locs.with_column("status", status).save(tmp_path / "locs.csv")
    assert spotfit.read_table(tmp_path / "locs.csv")["status"].tolist() == status.tolist()


def test_tables_of_other_packages(locs: spotfit.Locs) -> None:
    pandas = pytest.importorskip("pandas")
    assert isinstance(locs.to_pandas(), pandas.DataFrame) and list(locs.to_pandas()["x"]) == list(locs.x)
    pytest.importorskip("polars")
    assert locs.to_polars().columns == list(locs.names)
    assert np.array_equal(pickle.loads(pickle.dumps(locs)).x, locs.x)


def test_what_is_wrong_is_named(locs: spotfit.Locs, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text('"frame","x [nm]"\n1,2,3\n')
    bare = spotfit.Locs({"frame": [0], "x": [1.0]})
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: spotfit.read_table(tmp_path / "none.csv"), FileNotFoundError, "none.csv"),
        (lambda: spotfit.read_table(tmp_path / "bad.csv"), ValueError, "bad.csv.*line 2"),
        (lambda: locs.save(tmp_path / "locs.txt"), ValueError, "csv"),
        (lambda: locs.save(tmp_path / "none" / "locs.csv"), FileNotFoundError, "locs.csv"),
        (lambda: bare.save(tmp_path / "locs.hdf5"), ValueError, "y"),
        (lambda: bare.in_nanometres(), ValueError, "pixel"),
        (lambda: spotfit.write_table(tmp_path / "x.csv", 3), TypeError, "int"),  # type: ignore[arg-type]
        (lambda: spotfit.Locs({"x": [1], "y": [1, 2]}), ValueError, "'y'"),
        (lambda: spotfit.Locs({"frame": [1, 1.5]}), ValueError, "'frame'.*row 1 has 1.5"),
        (lambda: spotfit.Locs({"id": [np.nan]}), ValueError, "'id'"),
        (lambda: spotfit.Locs({"frame": ["1"]}), TypeError, "'frame'"),
        (lambda: locs.with_column("frame", locs.x), ValueError, "'frame'"),
        (lambda: spotfit.Locs({"x": np.ma.MaskedArray([1])}), TypeError, "'x'.*masked"),
        (lambda: spotfit.Locs({"frame": [-1], "x": [1.0]}).save(tmp_path / "x.csv"), ValueError, "'frame'"),
        (lambda: spotfit.Locs({}, spotfit.Movie(-100.0)), ValueError, "pixel_size"),
        (lambda: spotfit.Locs({}, spotfit.Movie(np.nan)), ValueError, "pixel_size"),
        (lambda: spotfit.Locs({}, spotfit.Movie(1.0, -1)), ValueError, "width"),
        (lambda: spotfit.Locs({}, 3), TypeError, "movie"),  # type: ignore[arg-type]
        (lambda: locs.with_column("z", [1]), ValueError, "'z'"),
        (lambda: locs.with_pixel_size(-1), ValueError, "pixel_size"),
        (lambda: spotfit.render(bare), KeyError, "y"),
        (lambda: spotfit.render(locs, colours="red"), ValueError, "colours"),  # type: ignore[arg-type]
        (lambda: spotfit.render(locs, pixel=1e-9), ValueError, "too large"),
        (lambda: spotfit.render(locs, pixel=1e-7, most_pixels=2**63 - 1), MemoryError, "memory"),
        (lambda: spotfit.render(locs, value="photons", pixel=3e-8, most_pixels=2**63 - 1), MemoryError, "memory"),
        (lambda: spotfit.render(locs, extent=(1, 1, 0, 0)), ValueError, "extent"),
        (lambda: spotfit.render(locs[:0]), ValueError, "no localizations"),
        (lambda: spotfit.find_drift(locs[:2]), ValueError, "too few"),
        (lambda: spotfit.find_drift(locs, segment=-1), ValueError, "segment"),
        (lambda: spotfit.find_drift(None), TypeError, "locs"),  # type: ignore[arg-type]
    ]
    for call, kind, name in cases:
        with pytest.raises(kind, match=name):
            call()


def test_frames_from_0_are_told(tmp_path):
    """Proves that ids from 0 are warned about, and that the first frame and the size of a pixel can be said."""
    path = tmp_path / "locs.csv"
    path.write_text("id,frame,x [nm],y [px]\n0,11,100,2\n")
    with pytest.raises(ValueError, match="the size of a pixel is not known"):
        spotfit.read_table(path)
    with pytest.warns(UserWarning, match="id begins with 0"):
        locs = spotfit.read_table(path, pixel_size=100)
    assert (locs.frame.tolist(), locs.y.tolist()) == ([11], [200.0])
    assert spotfit.read_table(path, pixel_size=100, first_frame=1).frame.tolist() == [10]
    with pytest.raises(ValueError, match="first_frame must be 0 or 1"):
        spotfit.read_table(path, first_frame=2)
