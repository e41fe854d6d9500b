"""The window "Localize spots" in napari."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from qtpy.QtWidgets import (
    QComboBox, QDoubleSpinBox, QFileDialog, QFormLayout, QHBoxLayout, QLabel, QLineEdit, QProgressBar, QPushButton, QSpinBox, QWidget,
)  # fmt: skip

from . import _napari as logic
from ._locs import Locs
from ._spotfit import MOVIE_ENDINGS

if TYPE_CHECKING:
    import napari

__all__ = ["LocalizeWidget"]

_MOVIES = f"Movies ({' '.join(f'*.{ending}' for ending in MOVIE_ENDINGS)} NDTiff.index)"
_TABLES = "ThunderSTORM (*.csv);;Picasso (*.hdf5)"


class LocalizeWidget(QWidget):
    """Finds and fits the spots of an image layer or a file, and shows them as a layer of points. napari gives the viewer."""

    def __init__(self, viewer: napari.Viewer) -> None:
        super().__init__()
        self._viewer = viewer
        self._worker: Any = None
        self._locs: Locs | None = None
        self._closed = False
        self._shown: dict[str, Any] = {}
        self.movie = QComboBox()
        self.open = QPushButton("File…")
        self.shape = QComboBox()
        self.shape.addItems(["circular", "elliptical", "rotated", "fixed"])
        self.box_size = QSpinBox()
        self.box_size.setRange(5, 63)
        self.box_size.setSingleStep(2)
        self.box_size.setValue(7)
        self.false_rate = _number(1.0, 1e6, "false spots in a million pixels of noise")
        self.threshold = _number(0.0, 1e6, "in units of the local noise; in place of the false spots", "from them")
        self.sigma = _number(1.3, 100.0, "width in pixels of spots of the shape fixed")
        self.baseline = _number(0.0, 1e6, "what a dark pixel reads, in ADU")
        self.sensitivity = _number(1.0, 1e6, "photo-electrons per ADU")
        self.pixel_size = _number(0.0, 1e6, "side of a pixel in nanometres", "not known")
        self.preset = QLineEdit()
        self.preset.setPlaceholderText("a .toml file with options")
        self.keywords = QLineEdit()
        self.keywords.setPlaceholderText('all other options: drop="neighbour", errors=True')
        self.operation = QComboBox()
        self.operation.addItems(list(logic.OPERATIONS))
        self.words = QLineEdit(logic.OPERATIONS["filter"])
        self.look, self.run = QPushButton("Preview"), QPushButton("Run")
        self.start, self.cancel, self.save = (QPushButton(text) for text in ("Localize", "Cancel", "Save table…"))
        self.progress = QProgressBar()
        self.told = QLabel()
        self.told.setWordWrap(True)
        self._lay_out()
        self.open.clicked.connect(lambda: self._choose())
        self.start.clicked.connect(lambda: self.localize())
        self.look.clicked.connect(lambda: self.preview())
        self.run.clicked.connect(lambda: self.work())
        self.operation.currentTextChanged.connect(lambda name: self.words.setText(logic.OPERATIONS[name]))
        self.cancel.clicked.connect(lambda: self.stop())
        self.save.clicked.connect(lambda: self._choose_table())
        self.shape.currentTextChanged.connect(lambda shape: self.sigma.setEnabled(shape == "fixed"))
        self.sigma.setEnabled(False)
        for event in (viewer.layers.events.inserted, viewer.layers.events.removed):
            event.connect(self._list_layers)
        self._list_layers()
        self._ready()

    def _lay_out(self) -> None:
        form = QFormLayout()
        movie = QHBoxLayout()
        movie.addWidget(self.movie, 1)
        movie.addWidget(self.open)
        form.addRow("movie", movie)
        names = "box_size", "false_rate", "threshold", "shape", "sigma", "baseline", "sensitivity", "pixel_size", "preset", "keywords"
        labels = {"false_rate": "false spots", "keywords": "options"}
        for name in names:
            form.addRow(labels.get(name, name.replace("_", " ")), getattr(self, name))
        buttons = QHBoxLayout()
        for button in (self.look, self.start, self.cancel, self.save):
            buttons.addWidget(button)
        form.addRow(buttons)
        more = QHBoxLayout()
        for part in (self.operation, self.words, self.run):
            more.addWidget(part)
        form.addRow("then", more)
        form.addRow(self.progress)
        form.addRow(self.told)
        self.setLayout(form)

    def _list_layers(self, event: Any = None) -> None:
        """Offers the image layers that there are, and keeps files and what is chosen."""
        from napari.layers import Image

        chosen = self.movie.currentData()
        items = [self.movie.itemData(number) for number in range(self.movie.count())]
        files = [item for item in items if isinstance(item, str)]
        layers = [layer for layer in self._viewer.layers if isinstance(layer, Image)]
        self.movie.clear()
        for item in [*layers, *files]:
            self.movie.addItem(os.path.basename(item) if isinstance(item, str) else item.name, item)
            if item is chosen or isinstance(item, str) and item == chosen:
                self.movie.setCurrentIndex(self.movie.count() - 1)

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "A movie", "", _MOVIES)
        if path:
            self.add_file(path)

    def add_file(self, path: str) -> None:
        """Offers a file, and chooses it. It is read while it is localized, and not shown."""
        self.movie.addItem(os.path.basename(path), path)
        self.movie.setCurrentIndex(self.movie.count() - 1)

    def values(self) -> dict[str, Any]:
        """What the fields say."""
        numbers = ("box_size", "false_rate", "threshold", "sigma", "baseline", "sensitivity", "pixel_size")
        texts = {"preset": self.preset.text().strip(), "keywords": self.keywords.text()}
        return {name: getattr(self, name).value() for name in numbers} | {"shape": self.shape.currentText()} | texts

    def _source(self) -> tuple[Any, dict[str, Any]]:
        """The movie, and how its layers are called and placed."""
        source = self.movie.currentData()
        if source is None:
            raise ValueError("There is no image layer: open a movie, or choose a file.")
        if isinstance(source, str):
            return source, {"name": os.path.splitext(os.path.basename(source))[0]}
        frames = logic.Frames(source.data[0] if source.multiscale else source.data, source.rgb)
        return frames, {"name": source.name, "scale": source.scale, "translate": source.translate}

    def preview(self) -> None:
        """Shows what would be kept of the frame in view, and what dropped."""
        try:
            frames, shown = self._source()
            step = self._viewer.dims.current_step
            seen = logic.previewed(frames, int(step[-3]) if len(step) > 2 else 0, logic.options_of(self.values()))
        except (ValueError, TypeError, OSError) as error:
            self.told.setText(str(error))
            return
        for data, words, _ in logic.layers_of(seen, **shown):
            if words["name"] in self._viewer.layers:
                self._viewer.layers.remove(words["name"])
            self._viewer.add_points(data, **words)
        dropped = ", ".join(f"{count} {reason}" for reason, count in seen.counts["dropped"].items()) or "none"
        self.told.setText(f"{seen.counts['candidates']} candidates, {seen.counts['kept']} kept; dropped: {dropped}")

    def work(self) -> None:
        """Does something with the localizations, and shows what comes of it."""
        if self._locs is None:
            self.told.setText("There are no localizations yet.")
            return
        try:
            made = logic.done(self.operation.currentText(), self._locs, self.words.text())
        except (ValueError, TypeError) as error:
            self.told.setText(str(error))
            return
        if isinstance(made, Locs):
            self._show(made, self._shown)
        else:
            data, words, _ = logic.image_of(made, **self._shown)
            self._viewer.add_image(data, **words)

    def localize(self) -> None:
        """Begins: in a thread, so that the viewer goes on."""
        from napari.qt.threading import create_worker

        try:
            frames, shown = self._source()
            options = logic.options_of(self.values())
        except ValueError as error:
            self.told.setText(str(error))
            return
        # Errors are told here, not raised again in the viewer's thread.
        worker = create_worker(logic.localized, frames, options, _start_thread=False, _ignore_errors=True)
        worker.yielded.connect(self._advance)
        worker.returned.connect(lambda locs: self._show(locs, shown))
        worker.errored.connect(lambda error: self.told.setText(str(error)))
        worker.aborted.connect(lambda: self.told.setText("Cancelled."))
        worker.finished.connect(self._ready)
        self._worker = worker
        self.told.setText("")
        self.progress.setValue(0)
        self.start.setEnabled(False)
        self.cancel.setEnabled(True)
        worker.start()

    def stop(self) -> None:
        """Ends it after the block that it is at. Nothing is shown of it."""
        if self._worker is not None:
            self._worker.quit()

    def _advance(self, progress: tuple[int, int]) -> None:
        self.progress.setMaximum(max(progress[1], 1))
        self.progress.setValue(progress[0])

    def _show(self, locs: Locs, shown: dict[str, Any]) -> None:
        if self._closed:
            return
        self._locs, self._shown = locs, shown
        data, words, _ = logic.layer_of(locs, **shown)
        self._viewer.add_points(data, **words)
        self.told.setText(f"{len(locs):,} localizations")

    def _ready(self) -> None:
        self._worker = None
        self.start.setEnabled(True)
        self.cancel.setEnabled(False)
        self.save.setEnabled(self._locs is not None)

    def _choose_table(self) -> None:
        path, chosen = QFileDialog.getSaveFileName(self, "The table", "", _TABLES)
        if path:
            extension = ".csv" if "csv" in chosen else ".hdf5"
            self.save_table(path if os.path.splitext(path)[1] else path + extension)

    def save_table(self, path: str) -> None:
        """Writes the table of what was localized last: in nanometres if the size of a pixel is known."""
        if self._locs is None:
            return
        known = self._locs.movie.pixel_size is not None
        try:
            (self._locs.in_nanometres() if known else self._locs).save(path)
            self.told.setText(f"{path} is written.")
        except (OSError, ValueError) as error:
            self.told.setText(str(error))

    def closeEvent(self, event: Any) -> None:
        """Ends what runs: there is nowhere to show it."""
        self._closed = True
        self.stop()
        super().closeEvent(event)


def _number(value: float, most: float, tip: str, none: str = "") -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setDecimals(3)
    field.setRange(0.0, most)
    field.setValue(value)
    field.setToolTip(tip)
    field.setSpecialValueText(none)
    return field
