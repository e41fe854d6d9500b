"""What a machine has, and how fast it is."""

from pathlib import Path

import pytest

import spotfit


def test_speeds_are_measured_kept_and_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proves that measured speeds are kept where the variable says and found again, and that a file without speeds is an error."""
    file = tmp_path / "speeds.json"
    monkeypatch.setenv("SPOTFIT_SPEEDS", str(file))
    default = spotfit.devices()
    assert default["file"] is None and "portable" in default["instruction_sets"] and not file.exists()
    measured = spotfit.devices(measure=True)
    assert measured["file"] == str(file) and measured["speeds"]["likelihood"]["thread"] > 0
    assert (measured["no_gpu"] is None) == bool(measured["gpus"])
    again = spotfit.devices()
    assert again["speeds"] == measured["speeds"] and again["gpu_from"] == measured["gpu_from"]
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match=r"speeds\.json has no speeds"):
        spotfit.devices()
    monkeypatch.setenv("SPOTFIT_SPEEDS", "none")
    assert spotfit.devices()["speeds"] == default["speeds"]
