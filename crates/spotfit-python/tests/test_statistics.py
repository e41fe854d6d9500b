"""Statistics, drift of beads, and pictures of several tables, as the command has them."""

from typing import Any

import numpy as np
import pytest
import spotfit

FRAMES = 400


def blinking(depth: bool = False) -> spotfit.Locs:
    """3000 molecules at random, seen for three frames each; pixels of 130 nm, errors of 0.1."""
    rng = np.random.default_rng(11)
    places = np.repeat(rng.uniform(0, (60, 40), (3000, 2)), 3, axis=0) + rng.normal(0, 0.1, (9000, 2))
    columns: dict[str, Any] = {
        "frame": (rng.integers(0, FRAMES - 2, 3000)[:, None] + np.arange(3)).ravel(),
        "x": places[:, 0],
        "y": places[:, 1],
        "photons": rng.uniform(100, 1000, 9000),
        "uncertainty": np.full(9000, 0.1),
    }
    if depth:
        columns["z"] = rng.uniform(-300, 300, 9000)
    return spotfit.Locs(columns, spotfit.Movie(130.0, 64, 48, FRAMES))


def test_precision_and_resolution_have_their_unit() -> None:
    """Proves that both are what the numbers of `stats` say, in the unit of the localizations, and that there is a reason if not."""
    locs = blinking()
    numbers = spotfit.stats(locs)["numbers"]
    found = spotfit.nena(locs)
    assert found.unit == "px" and found.sigma == pytest.approx(0.1, rel=0.05) and 0 < found.standard_error < 0.01
    assert len(found.edges) == len(found.counts) + 1 and found.counts.sum() > 3000
    assert numbers["nena_precision"] == {"unit": "px", "value": pytest.approx(found.sigma, rel=1e-8)}
    assert numbers["nena_precision_nm"]["value"] == pytest.approx(130 * found.sigma, rel=1e-8)
    other = spotfit.nena(locs.in_nanometres())
    assert other.unit == "nm" and other.sigma == pytest.approx(130 * found.sigma, rel=1e-3)
    resolved = spotfit.frc(locs)
    assert resolved.unit == "px" and numbers["frc_resolution"]["value"] == pytest.approx(resolved.resolution, rel=1e-8)
    assert resolved.frequencies.shape == resolved.correlation.shape == resolved.smoothed.shape
    few = locs[:5]
    for of in spotfit.nena, spotfit.frc:
        with pytest.raises(ValueError, match="at least"):
            of(few)
    assert spotfit.stats(few)["numbers"]["nena_precision"]["value"] is None


def test_statistics_are_those_of_the_columns() -> None:
    """Proves that quantiles, histograms and parts are those that the columns have, and what is not asked for is not there."""
    locs = blinking()
    report = spotfit.stats(locs, filter="photons > 400", nena=False, frc=False)
    photons, keep = locs.photons, locs.photons > 400
    assert [part["rows"] for part in report["parts"]] == [9000, keep.sum()] and report["unit"] == "px"
    assert report["parts"][0]["nena"] is None and "nena_precision" not in report["numbers"]
    of = next(quantity for quantity in report["quantities"] if quantity["name"] == "photons")
    for part, values in zip(of["parts"], (photons, photons[keep]), strict=True):
        assert part["quantiles"] == pytest.approx(np.percentile(values, [0.5, 25, 50, 75, 99.5]))
    edges = np.array(of["histogram"]["edges"])
    for counts, values in zip(of["histogram"]["counts"], (photons, photons[keep]), strict=True):
        assert counts == [int(np.sum((low <= values) & (values < high))) for low, high in zip(edges, edges[1:], strict=False)]
    with pytest.raises(ValueError, match="light"):
        spotfit.stats(locs, filter="light > 3")


def test_beads_show_the_drift() -> None:
    """Proves that beads are found, or taken where they are said to be, and that only they count."""
    rng = np.random.default_rng(5)
    frame = np.tile(np.arange(FRAMES), 3)
    places = np.repeat([[10.0, 10.0], [30.0, 12.0], [20.0, 35.0]], FRAMES, axis=0)
    moved = places + np.outer(frame / FRAMES, [2.0, -1.0]) + rng.normal(0, 0.02, places.shape)
    # The last one moves the other way.
    moved[-FRAMES:] -= 2 * np.outer(frame[-FRAMES:] / FRAMES, [2.0, -1.0])
    locs = spotfit.Locs({"frame": frame, "x": moved[:, 0], "y": moved[:, 1], "uncertainty": np.full(len(frame), 0.02)})
    drift = spotfit.find_drift(locs, beads=[(10, 10), (30, 12)], bead_radius="0.5px")
    assert drift.report["beads"] == 2 and drift.report["bead_share"] == 1
    assert drift.x[-1] - drift.x[0] == pytest.approx(2, abs=0.05) and drift.y[-1] - drift.y[0] == pytest.approx(-1, abs=0.05)
    assert spotfit.find_drift(locs, beads="auto").report["beads"] == 3
    with pytest.raises(ValueError, match="bead 1"):
        spotfit.find_drift(locs, beads=np.array([[50.0, 50.0]]))
    with pytest.raises(ValueError, match=r"bead_radius = 5 is in nanometres.*write 0.5px"):
        spotfit.find_drift(locs, beads="auto", bead_radius=5)
    for wrong in [(1, 2, 3)], [(1, np.nan)], [1, 2]:
        with pytest.raises(ValueError, match="beads must be"):
            spotfit.find_drift(locs, beads=wrong)


def test_pictures_take_what_the_command_takes() -> None:
    """Proves that tables, drift, filter, units and densities are taken, and counted."""
    locs = blinking()
    plain = spotfit.render(locs, pixel=13, scale_bar=0)
    assert np.array_equal(plain.pixels, spotfit.render(locs, pixel="0.1px", scale_bar="0nm").pixels)
    assert np.array_equal(plain.pixels, spotfit.render(locs.in_nanometres(), pixel="0.013um", scale_bar=0).pixels)
    assert not np.array_equal(plain.pixels, spotfit.render(locs, pixel=13).pixels), "a scale bar is drawn"
    report = spotfit.render(locs, pixel=13, filter="photons > 400").report
    assert report["localizations"] + report["outside"] == int((locs.photons > 400).sum()) == 9000 - report["failing"]
    still = spotfit.Drift(np.zeros(FRAMES), np.zeros(FRAMES), unit="px")
    assert np.array_equal(plain.pixels, spotfit.render(locs, pixel=13, scale_bar=0, drift=still).pixels)
    moved = spotfit.Drift(np.full(FRAMES, 130.0), np.zeros(FRAMES), unit="nm", pixel_size=130.0)
    shifted = spotfit.render(locs, pixel=13, scale_bar=0, drift=moved).pixels
    assert np.abs(shifted[:, :-10].astype(int) - plain.pixels[:, 10:].astype(int)).max() <= 3
    both = spotfit.render([locs, locs], pixel=13, scale_bar=0, colours=["red", "#0000ff"]).pixels
    assert both[..., 1].max() == 0 and np.array_equal(both[..., 0], both[..., 2])
    counted = spotfit.render(locs, pixel=13, blur="none", raw=True)
    assert counted.density is not None and counted.density.sum() == counted.report["localizations"]
    for words, said in [
        ({"colours": ["red"]}, "1 colours for 2 tables"),
        ({"colour_by": "z"}, "colour_by and colour_map take one table"),
        ({"drift": [still] * 3}, "drift is given 3 times for 2 tables"),
    ]:
        given: Any = words
        with pytest.raises(ValueError, match=said):
            spotfit.render([locs, locs], **given)
    coloured = spotfit.render(locs, pixel=13, blur="none", raw=True, colour_by="photons")
    assert counted.density is not None and coloured.density is not None
    np.testing.assert_allclose(coloured.density, counted.density, rtol=1e-5)
