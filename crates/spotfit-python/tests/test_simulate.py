"""Simulations are those of the command, with their truth."""

import numpy as np
import pytest
import spotfit


def test_the_same_seed_gives_the_same() -> None:
    one, two = (spotfit.simulate(50, seed=3) for _ in range(2))
    assert np.array_equal(one.spots, two.spots) and np.array_equal(one.truth, two.truth)
    assert not np.array_equal(one.spots, spotfit.simulate(50, seed=4).spots)
    # However many: a window depends on the seed and its number alone.
    assert np.array_equal(spotfit.simulate(30_000, seed=3).spots[:50], one.spots)


def test_the_truth_is_that_of_the_pixels() -> None:
    spots, truth, corners = spotfit.simulate(
        20, (11, 9), photons=900, background=2, sigma=(1.1, 1.3), reach=1, noise="none", seed=9
    )
    assert spots.shape == (20, 11, 9) and corners is None
    y, x = np.mgrid[:11, :9]
    for spot, true in zip(spots, truth, strict=True):
        square = (x - true["x"]) ** 2 + (y - true["y"]) ** 2
        height = true["photons"] / (2 * np.pi * true["sigma"] ** 2)
        expected = height * np.exp(-square / (2 * true["sigma"] ** 2)) + true["background"]
        assert np.allclose(spot, expected, rtol=1e-4, atol=1e-4)
    assert (np.abs(truth["x"] - 4) <= 1).all() and (np.abs(truth["y"] - 5) <= 1).all()


def test_widths_follow_from_heights() -> None:
    truth = spotfit.simulate(500, shape="defocused", sigma=1.0, z_range=300).truth
    assert np.abs(truth["z"]).max() <= 300
    assert np.allclose(truth["sigma_x"], np.sqrt(1 + ((truth["z"] - 200) / 400) ** 2))


def test_nothing_can_be_simulated() -> None:
    spots, truth, _ = spotfit.simulate(0)
    assert spots.shape == (0, 9, 9) and len(truth) == 0
    assert len(spotfit.fit(spots)) == 0


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"count": -1}, "count"),
        ({"photons": float("nan")}, "photons"),
        ({"sigma": (2, 1)}, "sigma"),
        ({"size": 1}, "too small"),
        ({"size": (9, 9, 9)}, "size"),
        ({"noise": "loud"}, "noise"),
        ({"shape": "square"}, "shape"),
        ({"seed": -1}, "seed"),
        ({"maps": (np.ones((9, 9)), np.ones((9, 9)), np.ones((9, 8)))}, "variance"),
        ({"maps": (np.ones((9, 9)),)}, "maps"),
    ],
)
def test_what_makes_no_sense_is_named(words: dict[str, object], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        spotfit.simulate(**{"count": 5, **words})  # type: ignore[arg-type]


def test_more_than_memory_holds() -> None:
    with pytest.raises(MemoryError, match="pixels"):
        spotfit.simulate(2**50)
