"""Operations on tables: what they refuse, and their defaults. That they are those of the command `test_parity.py` proves."""

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit
from spotfit import _spotfit

#: Real tables of Picasso, which lie beside the repository where they are.
ODD = Path(__file__).parents[4] / "shared" / "data" / "odd"


def table() -> spotfit.Locs:
    columns: dict[str, Any] = {"frame": [0, 0, 1], "x": [1.0, 1.3, 9.0], "y": [2.0, 2.0, 2.0], "photons": [10.0, 20.0, 30.0]}
    return spotfit.Locs(columns, spotfit.Movie(100.0, 16, 16))


#: Functions with another name than the operation.
FUNCTIONS = {"drift": spotfit.find_drift}
#: Picks are of three kinds, which texts name in the library. Errors are added by `Drift.correct`, shades of grey are as fine as they can be, and a drift that is taken out is a table.
OTHERS = {"drift": {"with_error"}, "render": {"deep_grey", "drift"}, "pick": {"circle", "box", "polygon", "picks"}}


@pytest.mark.parametrize("name", _spotfit.operations())
def test_defaults_are_those_of_the_library(name: str) -> None:
    """Proves that every option is a keyword with the same default, and every keyword an option."""
    function, others = FUNCTIONS.get(name) or getattr(spotfit, name), OTHERS.get(name, set())
    defaults = {word: default for word, default in json.loads(_spotfit.operations()[name]).items() if word not in others}
    given = {word: of.default for word, of in inspect.signature(function).parameters.items() if word not in {"locs", "tables", "truth", *others}}
    assert given.keys() == defaults.keys()
    for word, default in given.items():
        # What must be given has no default here, and none there.
        known = None if defaults[word] == [] else defaults[word]
        assert known == (None if default is inspect.Parameter.empty else default), word


def test_report_is_typed() -> None:
    report = spotfit.score(table(), table())
    assert report.keys() == spotfit.ScoreReport.__annotations__.keys()
    assert report["jaccard"] == report["efficiency"] == 100 and report["rmse"] == 0 and report["rmse_z"] is None


def test_what_makes_no_sense_is_refused() -> None:
    locs = table()
    for wrong, words in (
        (lambda: spotfit.filter(locs, "photon > 1"), "photon"),
        (lambda: spotfit.filter(locs, neighbours=1), "neighbours and radius need each other"),
        (lambda: spotfit.filter(locs, neighbours=-1, radius=1), "neighbours"),
        (lambda: spotfit.filter(locs, merge="1 inch"), "merge: '1 inch' is not a length"),
        (lambda: spotfit.filter(locs, merge=0), "radius is 0"),
        (lambda: spotfit.filter(locs, merge=np.nan), "merge"),
        (lambda: spotfit.convert(locs, unit="furlong"), "unit = 'furlong' is not one of 'px', 'nm'"),  # type: ignore[arg-type]
        (lambda: spotfit.score(locs, locs, radius=-1), "radius"),
        (lambda: spotfit.score(locs, locs, radius_z=100), "radius_z is for heights"),
    ):
        with pytest.raises(ValueError, match=words):
            wrong()
    with pytest.raises(KeyError, match="truth: there is no column 'y'"):
        spotfit.score(locs, spotfit.Locs({"frame": [0], "x": [1.0]}))
    unknown = spotfit.Locs({"frame": [0], "x": [1.0], "y": [1.0]})
    with pytest.raises(ValueError, match=r"the size of a pixel is not known; write 0\.5px"):
        spotfit.filter(unknown, merge=50)
    with pytest.raises(ValueError, match="size of a pixel"):
        spotfit.convert(unknown, unit="nm")
    for function in spotfit.filter, spotfit.convert:
        with pytest.raises(TypeError, match=r"locs must be spotfit\.Locs"):
            function({"x": [1.0]})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"truth must be spotfit\.Locs"):
        spotfit.score(locs, {"x": [1.0]})  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match=r"none\.yaml"):
        spotfit.z(locs, "none.yaml")


def test_drop_counts_come_with_the_table() -> None:
    kept = spotfit.filter(table(), "x_nm < 500", merge=50, neighbours=0, radius="1px")
    assert kept.photons.tolist() == [20.0]
    counts = {"localizations": 3, "kept": 1, "unfulfilled": 1, "found_twice": 1, "few_neighbours": 0, "units": {"x_nm": "nm"}}
    assert kept.report == counts
    assert spotfit.filter(table(), merge=50).report["found_twice"] == 1
    assert spotfit.convert(table(), unit="nm").report == {"localizations": 3, "unit": "nm"}


@pytest.mark.skipif(not ODD.is_dir(), reason="needs the odd files: shared/data beside the repository")
def test_odd_tables_and_movies() -> None:
    """Proves that a table of Picasso in either unit is linked alike, and that all spots of a movie are where they are known to be."""
    older, newer = (spotfit.read_table(ODD / f"picasso{version}_locs.hdf5") for version in (0, 1))
    linked = [spotfit.link(locs, radius="0.3px") for locs in (older, newer)]
    assert len(linked[0]) == len(linked[1]) < len(older) == len(newer) == 564
    truth = spotfit.read_table(ODD / "truth.csv")
    frames = np.arange(40)
    truth = spotfit.Locs({name: np.tile(truth[name][:3], 40) for name in ("x", "y")} | {"frame": np.repeat(frames, 3)}, spotfit.Movie(100.0))
    found = spotfit.localize(ODD / "metamorph_stk.tif", camera=spotfit.Camera(100, 1), pixel_size=100)
    report = spotfit.score(found, truth, radius=100)
    assert report["true_positives"] == 120 and report["false_negatives"] == 0
    assert report["rmse"] is not None and 1 < report["rmse"] < 10
