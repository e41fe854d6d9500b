"""The window in napari shows and saves what `spotfit.localize` finds. What needs no window is tested without napari."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit
from spotfit import _napari as logic

VALUES = {
    "box_size": 7,
    "shape": "circular",
    "false_rate": 1.0,
    "threshold": 0.0,
    "sigma": 1.3,
    "baseline": 0.0,
    "sensitivity": 1.0,
    "pixel_size": 0.0,
}


def frames(count: int = 20) -> npt.NDArray[np.uint16]:
    movie = np.random.default_rng(1).poisson(10, (count, 40, 48)).astype(np.uint16)
    movie[:, 14:17, 20:23] += 150
    return movie


def finished(steps: Any) -> spotfit.Locs:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            locs: spotfit.Locs = end.value
            return locs


def test_fields_are_options() -> None:
    assert logic.options_of(VALUES) == {"box": 7, "shape": "circular", "false_rate": 1.0, "camera": spotfit.Camera()}
    given = logic.options_of({**VALUES, "threshold": 5.0, "shape": "fixed", "pixel_size": 100.0, "baseline": 3.0})
    assert given == {
        "box": 7, "threshold": 5.0, "fixed_sigma": 1.3, "pixel_size": 100.0, "camera": spotfit.Camera(3.0)
    }  # fmt: skip
    spotfit.Blocks(frames(), **given)


def test_layers_are_localized_as_arrays_are(tmp_path: Path) -> None:
    np.save(tmp_path / "movie.npy", frames())
    options = logic.options_of(VALUES)
    expected = spotfit.localize(frames(), **options)
    seen = list(logic.localized(logic.Frames(frames()), options))
    assert seen[-1] == (20, 20)
    for movie in logic.Frames(frames()), str(tmp_path / "movie.npy"):
        assert finished(logic.localized(movie, options)).x.tolist() == expected.x.tolist()
    one = finished(logic.localized(logic.Frames(frames()[0]), options))
    assert len(one) == (expected.frame == 0).sum()
    for wrong, rgb in (np.zeros((2, 2, 9, 9)), False), (np.zeros((9, 9, 3)), True):
        with pytest.raises(ValueError, match="movie is"):
            logic.Frames(wrong, rgb)


def test_points_lie_on_their_image() -> None:
    locs = spotfit.localize(frames())
    data, words, kind = logic.layer_of(locs, "a", scale=(2.0, 0.1, 0.2), translate=(5.0, 6.0))
    assert kind == "points" and data.tolist() == np.stack([locs.frame, locs.y, locs.x], axis=1).tolist()
    assert words["scale"] == [2, 0.1, 0.2] and words["translate"] == [0, 5, 6]
    assert set(words["features"]) == set(locs.names) and words["metadata"]["spotfit"] is locs


def wait_for(what: Callable[[], bool]) -> None:
    from qtpy.QtWidgets import QApplication

    end = time.monotonic() + 600
    while not what():
        assert time.monotonic() < end
        QApplication.processEvents()
        time.sleep(0.01)


@pytest.fixture
def widget(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The window beside a viewer's layers, on no screen."""
    monkeypatch.setenv("QT_QPA_PLATFORM", os.environ.get("QT_QPA_PLATFORM", "offscreen"))
    pytest.importorskip("napari")
    pytest.importorskip("qtpy.QtWidgets", exc_type=ImportError)
    from napari.components import ViewerModel
    from qtpy.QtWidgets import QApplication

    application = QApplication.instance() or QApplication([])
    from spotfit.napari import LocalizeWidget

    made = LocalizeWidget(ViewerModel())
    yield made
    made.close()
    wait_for(lambda: made._worker is None)
    assert application is not None


@pytest.mark.filterwarnings("ignore")
def test_a_layer_becomes_points_and_a_table(widget: Any, tmp_path: Path) -> None:
    viewer = widget._viewer
    widget.localize()
    assert "no image layer" in widget.told.text() and widget.start.isEnabled()
    viewer.add_image(frames(), name="movie", scale=(1, 0.1, 0.1))
    viewer.add_image(frames(3), name="other")
    assert [widget.movie.itemText(number) for number in range(widget.movie.count())] == ["movie", "other"]
    widget.movie.setCurrentIndex(0)
    widget.pixel_size.setValue(100)
    widget.localize()
    assert widget.cancel.isEnabled() and not widget.start.isEnabled()
    wait_for(lambda: widget.start.isEnabled())
    expected = spotfit.localize(frames(), pixel_size=100)
    layer = viewer.layers["movie localizations"]
    assert layer.data.tolist() == np.stack([expected.frame, expected.y, expected.x], axis=1).tolist()
    assert list(layer.scale) == [1, 0.1, 0.1] and list(layer.features["photons"]) == list(expected.photons)
    assert widget.progress.value() == 20 and widget.movie.count() == 2
    widget.save_table(str(tmp_path / "table.csv"))
    expected.in_nanometres().save(tmp_path / "expected.csv")
    assert (tmp_path / "table.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    widget.save_table(str(tmp_path / "none" / "table.csv"))
    assert "table.csv" in widget.told.text() and "written" not in widget.told.text()


@pytest.mark.filterwarnings("ignore")
def test_a_file_that_is_no_movie_is_told(widget: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "movie.npy", frames())
    (tmp_path / "broken.tif").write_text("no movie")
    for name, told in ("movie.npy", "localizations"), ("broken.tif", "broken.tif"):
        widget.add_file(str(tmp_path / name))
        widget.localize()
        wait_for(lambda: widget.start.isEnabled())
        assert told in widget.told.text()
    assert [layer.name for layer in widget._viewer.layers] == ["movie localizations"]


@pytest.mark.filterwarnings("ignore")
def test_it_can_be_cancelled(widget: Any) -> None:
    class Endless:
        shape, dtype, ndim = (10**7, 40, 48), np.dtype(np.uint16), 3

        def __getitem__(self, part: Any) -> npt.NDArray[np.uint16]:
            time.sleep(0.01)
            return frames()

    widget._viewer.add_image(frames(), name="movie")
    widget._viewer.layers["movie"]._data = Endless()
    widget.localize()
    wait_for(lambda: not widget.start.isEnabled())
    widget.cancel.click()
    wait_for(lambda: widget.start.isEnabled())
    assert widget.told.text() == "Cancelled." and len(widget._viewer.layers) == 1


def test_the_plugin_is_found() -> None:
    manifests = pytest.importorskip("npe2")
    manifest = manifests.PluginManifest.from_distribution("spotfit")
    [widget] = manifest.contributions.widgets
    [command] = manifest.contributions.commands
    assert widget.command == command.id and command.python_name == "spotfit.napari:LocalizeWidget"


def test_a_preview_has_layers_of_what_is_kept_and_dropped() -> None:
    movie = frames()
    movie[:, 0:2, 5:8] += 150
    options = logic.options_of({**VALUES, "keywords": 'errors=True, drop="neighbour"'})
    seen = logic.previewed(logic.Frames(movie), 3, options)
    (kept, words, _), (dropped, marks, kind) = logic.layers_of(seen, "a", scale=(1, 0.1, 0.1))
    expected = spotfit.localize(movie, frames=slice(3, 4), **options)
    assert kept.tolist() == np.stack([expected.frame, expected.y, expected.x], axis=1).tolist()
    assert words["name"] == "a kept" and "photons_error" in words["features"]
    assert kind == "points" and marks["symbol"] == "square" and len(dropped) == len(marks["face_color"]) == 1
    assert marks["features"]["reason"].tolist() == ["at_edge"]
    for wrong in "3", "errors", "**{}", "errors=f()", "a=1, 2", ") or (":
        with pytest.raises(ValueError, match="keywords are needed"):
            logic.keywords_of(wrong)


def test_operations_are_those_of_the_package() -> None:
    locs = spotfit.localize(frames(), pixel_size=100)
    for operation, text in logic.OPERATIONS.items():
        if operation != "drift":
            assert isinstance(logic.done(operation, locs, text), (spotfit.Locs, spotfit.Picture))
    linked = logic.done("link", locs, "")
    assert isinstance(linked, spotfit.Locs) and len(linked) < len(locs)
    picture = logic.done("render", locs, 'pixel="0.5px"')
    assert isinstance(picture, spotfit.Picture)
    data, words, kind = logic.image_of(picture, "a", scale=(0.2, 0.4), translate=(3, 4))
    assert kind == "image" and data.shape[2] == 3
    assert words["scale"] == pytest.approx([picture.pixel * 0.2, picture.pixel * 0.4])


def test_a_preset_is_read_where_fields_say_nothing(tmp_path: Path) -> None:
    preset = tmp_path / "scope.toml"
    preset.write_text("box = 9\nthreshold = 30\nbaseline = 5\n")
    options = logic.options_of({**VALUES, "preset": str(preset)})
    assert options == {"preset": str(preset)}
    expected = spotfit.localize(frames(), box=9, threshold=30, camera=spotfit.Camera(baseline=5))
    assert spotfit.localize(frames(), **options).photons.tolist() == expected.photons.tolist()
