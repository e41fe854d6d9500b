"""What users should know is warned about where they called, and nothing else is."""

import struct
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit

CAMERA = spotfit.Camera(baseline=100)


def frames(count: int = 40) -> npt.NDArray[np.uint16]:
    """Frames of a camera with a baseline of 100 ADU and a photo-electron per ADU."""
    movie = 100 + np.random.default_rng(1).poisson(30, (count, 64, 64))
    movie[:, 30:33, 40:43] += 300
    return movie.astype(np.uint16)


def raw(folder: Path, metadata: str = "") -> Path:
    """A movie of Picasso."""
    movie = frames(10)
    movie.tofile(folder / "movie.raw")
    words = "Byte Order: <\nData Type: uint16\nFrames: 10\nHeight: 64\nWidth: 64\n"
    (folder / "movie.yaml").write_text(words + metadata, encoding="utf-8")
    return folder / "movie.raw"


def tiff(path: Path, description: bytes) -> Path:
    """A TIFF file of one page."""
    page, text = frames(1)[0].astype("<u2").tobytes(), description + b"\0"
    entries = [
        (256, 4, 1, 64), (257, 4, 1, 64), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 1), (270, 2, len(text), 8 + len(page)),
        (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, 64), (279, 4, 1, len(page)),
    ]  # fmt: skip
    body = page + text + b"\0" * (len(text) % 2)
    directory = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    path.write_bytes(b"II*\0" + struct.pack("<I", 8 + len(body)) + body + directory)
    return path


def told(call: Any) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return found


def test_a_camera_that_is_not_given_is_warned_about(tmp_path: Path) -> None:
    """Proves that counts are not called photons without a word, that the word points to the call, and that a camera silences it."""
    np.save(tmp_path / "movie.npy", frames())
    for source in frames(), tmp_path / "movie.npy":
        calls: list[Any] = [
            lambda source=source: spotfit.localize(source),
            lambda source=source: spotfit.Blocks(source),
            lambda source=source: spotfit.localize(source, box=9),
        ]
        for call in calls:
            [warning] = told(call)
            assert warning.category is spotfit.SpotfitWarning and issubclass(warning.category, UserWarning)
            assert str(warning.message).startswith("no camera given; photons and uncertainties assume a baseline of 0 ADU and 1 photo-")
            assert warning.filename == __file__
        assert not told(lambda source=source: spotfit.localize(source, camera=CAMERA))
    maps = [np.full((64, 64), value) for value in (100.0, 1.0, 1.0)]
    assert not told(lambda: spotfit.localize(frames(), camera=spotfit.CameraMap(*maps)))


def test_fits_without_a_camera_are_warned_about_where_they_depend_on_it() -> None:
    """Proves that maximum likelihood, errors and photons of counts are told once, where they are asked for, and nothing else is."""
    spots = spotfit.simulate(20, photons=1000, seed=2).spots
    corners = [[number, 0, 0] for number in range(20)]
    depends: list[dict[str, Any]] = [{"estimator": "mle"}, {"errors": True}, {"estimator": "mle", "errors": True}]
    for options in depends:
        calls: list[Any] = [
            lambda options=options: spotfit.fit(spots, **options),
            lambda options=options: spotfit.fit(spots, **options).photons,
            lambda options=options: spotfit.fit_in_frames(spots, corners, 9, **options),
            lambda options=options: spotfit.Fitter(estimator=options.get("estimator", "lse")).fit(spots, errors=True).columns(),
        ]
        for call in calls:
            [warning] = told(call)
            assert warning.category is spotfit.SpotfitWarning and warning.filename == __file__
            assert str(warning.message).startswith("no camera given; photons and uncertainties assume a baseline of 0 ADU")
        assert not told(lambda options=options: spotfit.fit(spots, camera=CAMERA, **options).photons)
    assert not told(lambda: spotfit.fit(spots)) and not told(lambda: repr(spotfit.fit(spots)))
    fits = spotfit.fit(spots)
    assert not told(lambda: (fits.x, fits.amplitude, fits[fits.converged].sigma))
    [warning] = told(lambda: (fits.photons, fits.photons, fits[2:9].photons))
    assert warning.filename == __file__ and "photons" in str(warning.message)
    assert len(told(lambda: spotfit.fit(spots).columns())) == 1
    assert not told(lambda: spotfit.fit(spots, camera=CAMERA).photons)
    maps = [np.full((9, 9), value) for value in (100.0, 1.0, 1.0)]
    at: Any = np.zeros((20, 2), int)
    assert not told(lambda: spotfit.fit(spots, camera=spotfit.CameraMap(*maps), corners=at, errors=True).photons)


def test_a_camera_that_cannot_be_right_is_warned_about(tmp_path: Path) -> None:
    """Proves that a baseline above the pixels is told, and which read noise the movie has, as by the command."""
    np.save(tmp_path / "movie.npy", frames())
    dim = (100 + np.random.default_rng(4).poisson(2.0, (40, 64, 64)) + np.random.default_rng(5).normal(0, 1.5, (40, 64, 64))).round()
    for source in frames(), tmp_path / "movie.npy":
        found = [str(warning.message) for warning in told(lambda source=source: spotfit.Blocks(source, camera=spotfit.Camera(500)))]
        above = "baseline 500 is above the median of the first frame, 130 ADU; most pixels would have less than no light"
        assert above in found
    [noise] = told(lambda: spotfit.Blocks(dim, camera=CAMERA))
    assert "read noise of about 1.5 photo-electrons" in str(noise.message) and str(noise.message).endswith(": read_noise 1.5")
    assert not told(lambda: spotfit.Blocks(dim, camera=replace(CAMERA, read_noise=1.5)))
    subtracted = frames().astype(np.float32) - np.float32(np.median(frames()))
    found = [str(warning.message) for warning in told(lambda: spotfit.Blocks(subtracted, camera=spotfit.Camera(0)))]
    assert any("farther below baseline than noise explains" in text for text in found)
    np.save(tmp_path / "subtracted.npy", subtracted)
    for movie in subtracted, tmp_path / "subtracted.npy":
        found = [str(warning.message) for warning in told(lambda movie=movie: spotfit.Blocks(movie))]
        assert sum("below 0, and no baseline is given" in text for text in found) == 1


def test_metadata_say_the_size_of_a_pixel(tmp_path: Path) -> None:
    """Proves that the size in the metadata reaches the table, that a keyword overrules it, and that odd sizes are told."""
    path = raw(tmp_path, "Pixelsize: 130\n")
    found = spotfit.localize(path, camera=CAMERA)
    assert found.movie.pixel_size == 130 and found.in_nanometres().x[0] == 130 * found.x[0] and found.unit == "px"
    assert next(spotfit.Blocks(path, camera=CAMERA)).movie.pixel_size == 130
    assert spotfit.localize(path, camera=CAMERA, pixel_size=107).movie.pixel_size == 107
    assert spotfit.localize(path, camera=CAMERA, pixel_size="px").movie.pixel_size is None
    assert spotfit.localize(raw(tmp_path), camera=CAMERA).movie.pixel_size is None
    with pytest.warns(spotfit.SpotfitWarning, match="pixels of 2.3 nm are unusual; pixel_size is in nanometres"):
        spotfit.localize(path, camera=CAMERA, pixel_size=2.3)
    with pytest.raises(TypeError, match="pixel_size"):
        spotfit.localize(path, camera=CAMERA, pixel_size="nm")  # type: ignore[arg-type]


def test_what_a_reader_notes_is_told(tmp_path: Path) -> None:
    """Proves that metadata that contradict the file are warned about."""
    planes = '<Pixels SizeX="64" SizeY="64" SizeZ="1" SizeC="1" SizeT="3" DimensionOrder="XYZCT" Type="uint16"><TiffData/></Pixels>'
    xml = f'<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06"><Image ID="Image:0">{planes}</Image></OME>'
    path = tiff(tmp_path / "movie.ome.tif", xml.encode())
    [note] = told(lambda: spotfit.localize(path, camera=CAMERA))
    assert note.category is spotfit.SpotfitWarning and "2 of 3 planes of the OME metadata are not there" in str(note.message)


def test_words_are_no_table(tmp_path: Path) -> None:
    """Proves that a text is not taken for a table."""
    path = tmp_path / "notes.csv"
    path.write_text("Dear colleague\nthe movies are on the server\n", encoding="utf-8")
    with pytest.raises(ValueError, match="notes.csv"):
        spotfit.read_table(path)


def test_keywords_that_are_none_are_refused() -> None:
    """Proves that a keyword which no function has is refused, with the one that may be meant."""
    for function in spotfit.localize, spotfit.Blocks:
        with pytest.raises(TypeError, match=r"localize\(\) got an unexpected keyword argument 'pixelsize'; did you mean 'pixel_size'\?"):
            function(frames(), **{"pixelsize": 9})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'sape'; did you mean 'shape'\?"):
        spotfit.fit(frames()[:, :9, :9], **{"sape": "circular"})  # type: ignore[call-overload]


def test_a_movie_shorter_than_the_window_of_its_background_is_told(tmp_path: Path) -> None:
    frames = np.full((5, 32, 32), 110, "uint16")
    np.save(tmp_path / "movie.npy", frames)
    for movie in (frames, tmp_path / "movie.npy"):
        with pytest.warns(spotfit.SpotfitWarning, match="temporal_background is 9, and there are 5 frames") as told:
            spotfit.localize(movie, camera=spotfit.Camera(baseline=100), temporal_background=9)
        assert sum("temporal_background" in str(one.message) for one in told) == 1
