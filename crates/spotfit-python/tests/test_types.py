"""What mypy makes of calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import spotfit

CODE = '''
import numpy as np
import numpy.typing as npt
import spotfit

class Tensor:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

def check(array: npt.NDArray[np.uint16], tensor: Tensor) -> None:
    loaded = np.load("spots.npy")
    reveal_type(spotfit.fit(loaded))
    reveal_type(spotfit.fit(array))
    reveal_type(spotfit.fit([[[1.0]]]))
    reveal_type(spotfit.fit_in_frames(loaded, [[0, 0, 0]], 9))
    reveal_type(spotfit.Fitter().fit(loaded))
    reveal_type(spotfit.Fitter().fit_in_frames(loaded, [[0, 0, 0]], 9))
    reveal_type(spotfit.fit(tensor))
    reveal_type(spotfit.Fitter().fit(tensor))
    reveal_type(spotfit.Model("line", "x").fit(loaded)[2:9])
    estimator: spotfit.Estimator = "mle"
    shape: spotfit.Shape = "square"
    words: spotfit.LocalizeOptions = {"box": 9, "all": True, "flags": True, "slice": 1, "frames": slice(3), "estimator": estimator}
    spotfit.localize(loaded, **words)
    spotfit.localize(loaded, box_size=9)
'''


def test_arrays_give_fits(tmp_path: Path) -> None:
    """Proves that what has no type is taken for an array of the host, that tensors give what is on the GPU, and that words are
    checked."""
    pytest.importorskip("mypy")
    path = tmp_path / "code.py"
    path.write_text(CODE, encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path / "cache"), str(path)]
    # Where it is not installed.
    folder = Path(spotfit.__file__).parents[1]
    environment = os.environ | ({} if "site-packages" in folder.parts else {"MYPYPATH": str(folder)})
    found = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=environment).stdout
    revealed = [line.split('"')[1].rpartition(".")[2] for line in found.splitlines() if "Revealed" in line]
    assert revealed == ["Fits"] * 6 + ["DeviceFits"] * 2 + ["ModelFits"], found
    errors = [line for line in found.splitlines() if ": error:" in line]
    assert len(errors) == 2 and "['square']" in errors[0] and '"box_size"' in errors[1], found
