"""What the tests share."""

import numpy as np
import numpy.typing as npt
import pytest


def gaussian(count: int = 2) -> npt.NDArray[np.float64]:
    """Windows of 9×9 pixels with a spot of sigma 1.5 pixels at (4.25, 3.5), 100 high, over 10."""
    y, x = np.mgrid[:9, :9]
    window = 100 * np.exp(-((x - 4.25) ** 2 + (y - 3.5) ** 2) / (2 * 1.5**2)) + 10
    return np.repeat(window[None], count, axis=0)


@pytest.fixture
def counts() -> npt.NDArray[np.uint16]:
    """Simulated windows of integers below 256."""
    import spotfit

    return spotfit.simulate(200, size=(8, 9), photons=500, background=3, seed=4).spots.astype(np.uint16)
