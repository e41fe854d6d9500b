"""Several emitters a window: what the command finds, in every form."""

import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit
from test_depth import COMMAND

CAMERA = spotfit.Camera(baseline=100, read_noise=1.5)
WORDS = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"]


@pytest.fixture(scope="module")
def windows() -> Any:
    """Windows of 13 by 13 pixels with some overlapping spots each."""
    return spotfit.simulate_movie(200, width=13, height=13, density=1.5, uniform=True, photons=2000, unevenness=0.0).frames


def test_every_window_has_its_emitters(windows: Any) -> None:
    """Proves that emitters are numbered from 1, the brightest first, that a window without any has a row, and that a number is a limit."""
    fits = spotfit.fit(windows, camera=CAMERA, emitters="auto", fixed_sigma=1.3)
    assert isinstance(fits, spotfit.EmitterFits) and len(fits) > 350
    assert set(fits.spot.tolist()) == set(range(200))
    for spot in range(200):
        own = fits[fits.spot == spot]
        if own.emitter[0] == 0:
            assert len(own) == 1 and np.isnan(own.x[0]) and own.status[0] == spotfit.Status.invalid
        else:
            assert own.emitter.tolist() == list(range(1, len(own) + 1)) and (np.diff(own.photons) <= 0).all()
            assert (len(own) == 1) <= bool(own.neighbour[0] > 1) and (own.error("x") > 0).all()
    assert np.allclose(fits.photons, 2 * np.pi * fits.amplitude * fits.sigma**2, equal_nan=True)
    assert fits.report["spots"] == 200 and fits.report["emitters"] == int((fits.emitter > 0).sum())
    assert fits.counts() == {name: count for name, count in fits.report["statuses"].items() if count}
    again = pickle.loads(pickle.dumps(fits))
    assert np.array_equal(again.x, fits.x, equal_nan=True) and again.report == fits.report
    assert "emitters in 200 windows" in repr(fits) and len(fits[:0]) == 0 and "EmitterFits of 0" in repr(fits[:0])
    two = spotfit.fit(windows, camera=CAMERA, emitters=2, fixed_sigma=1.3)
    assert two.emitter.max() == 2 and (two.status == spotfit.Status.max_iterations).any()
    corners = [[frame, 0, 0] for frame in range(200)]
    cut = spotfit.fit_in_frames(windows, corners, 13, camera=CAMERA, emitters=2, fixed_sigma=1.3)
    assert cut.array.tobytes() == two.array.tobytes() and cut.report == two.report


@pytest.mark.parametrize("width", [{}, {"fixed_sigma": 1.3}, {"fixed_sigma": (1.2, 1.4)}])
@pytest.mark.parametrize("errors", [False, True])
def test_tables_are_those_of_the_command(width: Any, errors: bool, windows: Any, tmp_path: Path) -> None:
    if COMMAND is None:
        pytest.skip("needs the command spotfit: cargo build --release -p spotfit-cli, or SPOTFIT_COMMAND")
    np.save(tmp_path / "windows.npy", windows)
    said = [word for value in width.values() for word in ("--fixed-sigma", ",".join(map(str, np.atleast_1d(value))))]
    for emitters in "auto", 3:
        fits = spotfit.fit(windows, camera=CAMERA, emitters=emitters, errors=errors, **width)
        for ending in "csv", "npy":
            words = [*WORDS, *said, "--emitters", str(emitters), *(["--errors"] if errors else []), "--json"]
            files = [str(tmp_path / "windows.npy"), "-o", str(tmp_path / f"theirs.{ending}")]
            done = subprocess.run([str(COMMAND), "fit", *files, *words], check=True, capture_output=True, text=True)
            fits.save(tmp_path / f"ours.{ending}")
            assert (tmp_path / f"ours.{ending}").read_bytes() == (tmp_path / f"theirs.{ending}").read_bytes()
            import json

            told = {name: value for name, value in json.loads(done.stdout).items() if name not in ("fitting", "time", "masked")}
            assert fits.report == told
    table = np.load(tmp_path / "ours.npy")
    assert table["status"].tolist() == fits.columns()["status"].tolist()
    assert np.array_equal(table["x"], fits.x, equal_nan=True) and table["crowd"].dtype == bool


def test_what_does_not_go_together_is_named(windows: Any) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"estimator": "lse"}, "estimator = lse"), ({"shape": "elliptical"}, "shape = elliptical"), ({"background": "plane"}, "background"),
        ({"backend": "reference"}, "backend"), ({"start": [[6.0, 6.0, 1.3]] * 200}, "start"), ({"weights": np.ones((200, 13, 13))}, "weights"),
        ({"dtype": "float32"}, "dtype"), ({"criteria": "tight"}, "criteria"), ({"sigma_max": 2.0}, "limits"),
    ]  # fmt: skip
    for given, told in wrong:
        with pytest.raises(ValueError, match=told):
            spotfit.fit(windows, camera=CAMERA, emitters=2, **given)
    for number in 0, -1, 101, 1.5, "many":
        given = {"emitters": number}
        with pytest.raises(ValueError, match=f"emitters = {number} .*1, 2 to 100, or auto"):
            spotfit.fit(windows, camera=CAMERA, **given)
    with pytest.warns(spotfit.SpotfitWarning, match="camera"):
        spotfit.fit(windows, emitters=2, fixed_sigma=1.3)
    assert isinstance(spotfit.fit(windows, camera=CAMERA, emitters=1), spotfit.Fits)
