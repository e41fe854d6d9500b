"""Hot pixels are told of and masked."""

from pathlib import Path

import numpy as np
import pytest
import spotfit

CAMERA = spotfit.Camera(baseline=100, read_noise=1.5)


def movie() -> spotfit.SimulatedMovie:
    return spotfit.simulate_movie(70, width=100, height=80, spots=10, hot_pixels=12, seed=3)


def test_hot_pixels_are_masked_when_that_is_asked_for(tmp_path: Path) -> None:
    simulated = movie()
    mask = simulated.defects
    assert mask is not None and mask.dtype == bool and mask.sum() == 12
    np.save(tmp_path / "movie.npy", simulated.frames)
    np.save(tmp_path / "mask.npy", mask)
    for source in simulated.frames, tmp_path / "movie.npy":
        with pytest.warns(spotfit.SpotfitWarning, match=r"12 defective pixels \(12 hot\).*defects='auto'"):
            plain = spotfit.localize(source, camera=CAMERA, estimator="mle")
        silent = spotfit.localize(source, camera=CAMERA, estimator="mle", defects="none")
        assert len(silent) == len(plain)
        blocks = spotfit.Blocks(source, camera=CAMERA, estimator="mle", defects="auto")
        assert blocks.defects is not None and np.array_equal(blocks.defects, mask)
        found = spotfit.localize(source, camera=CAMERA, estimator="mle", defects="auto")
        assert 100 < len(found) < len(plain) - 100
        for given in mask, mask.astype(float), tmp_path / "mask.npy", str(tmp_path / "mask.npy"):
            again = spotfit.localize(source, camera=CAMERA, estimator="mle", defects=given)
            assert np.array_equal(again.x, found.x) and np.array_equal(again.uncertainty, found.uncertainty)


def test_files_have_their_defects(tmp_path: Path) -> None:
    simulated = movie()
    np.save(tmp_path / "movie.npy", simulated.frames)
    assert simulated.defects is not None
    np.save(tmp_path / "mask.npy", simulated.defects)
    counts: dict[str, int] = {}
    for name, defects in ("auto", "auto"), ("mask", tmp_path / "mask.npy"), ("none", "none"):
        [done] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / name, camera=CAMERA, estimator="mle", defects=defects)
        assert done.localizations is not None, done.error
        counts[name] = done.localizations
    assert counts["auto"] == counts["mask"] < counts["none"] - 100


def test_what_is_no_mask_is_refused(tmp_path: Path) -> None:
    frames = np.zeros((3, 20, 30), np.uint16)
    for wrong, says in (np.ones((20, 30)), "600 of 600"), (np.ones((3, 4)), "4×3"), (np.ones(5), "mask"):
        with pytest.raises(ValueError, match=says):
            spotfit.localize(frames, camera=CAMERA, defects=wrong)
    with pytest.raises(FileNotFoundError, match="no.npy"):
        spotfit.localize(frames, camera=CAMERA, defects=tmp_path / "no.npy")
    np.save(tmp_path / "deep.npy", frames)
    with pytest.raises(ValueError, match="deep.npy"):
        spotfit.localize(frames, camera=CAMERA, defects=tmp_path / "deep.npy")
