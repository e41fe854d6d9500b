"""What can be done with outcomes."""

import pickle

import numpy as np
import pytest
import spotfit
from conftest import gaussian


@pytest.fixture
def fits() -> spotfit.Fits:
    spots = gaussian(5)
    spots[3] = 7
    return spotfit.fit(spots, errors=True)


def test_statuses_are_told(fits: spotfit.Fits) -> None:
    assert fits.status[3] == spotfit.Status.invalid and np.isnan(fits.x[3])
    assert fits.converged.tolist() == [True, True, True, False, True]
    assert sum(fits.counts().values()) == 5 and fits.counts()["invalid"] == 1
    assert "Fits of 5 spots" in repr(fits) and "1 invalid" in repr(fits) and "4.25 ±" in repr(fits)
    assert "nothing" in repr(fits[:0]) and "0 fits" in repr(fits[:0].errors) and repr(fits[3:4]).endswith("invalid")


def test_parts_are_fits(fits: spotfit.Fits) -> None:
    assert fits[0]["x"] == fits.x[0] and len(list(fits)) == 5
    assert len(fits[fits.converged]) == len(fits[fits.converged].errors) == 4
    assert fits[1:3].x.tolist() == fits.x[1:3].tolist() == fits[[1, 2]].x.tolist()
    with pytest.raises(IndexError):
        fits[5]


def test_fields_have_names(fits: spotfit.Fits) -> None:
    assert np.array_equal(fits["x"], fits.x, equal_nan=True)
    with pytest.raises(KeyError, match="there is no field 'photons'"):
        fits["photons"]
    for wrong in ["x", "y"], np.zeros((5, 5), int):
        with pytest.raises(TypeError, match="slice"):
            fits[wrong]


def test_the_error_of_sigma_is_that_of_the_mean_width() -> None:
    spots, truth, _ = spotfit.simulate(5000, 13, photons=3000, background=2, shape="elliptical", sigma=(1, 2), seed=2)
    fits = spotfit.fit(spots, shape="elliptical", estimator="mle", errors=True)
    pulls = (fits.sigma - np.sqrt(truth["sigma_x"] * truth["sigma_y"])) / fits.errors.sigma
    assert abs(np.std(pulls[fits.converged]) - 1) < 0.04
    round_ = spotfit.fit(spots, errors=True)
    assert np.allclose(round_.errors.sigma, round_.errors.sigma_x) and round_.errors.sigma.dtype == np.float32
    assert np.array_equal(fits[3:9].errors.sigma, fits.errors.sigma[3:9])


def test_tables_have_all_columns(fits: spotfit.Fits) -> None:
    pandas = pytest.importorskip("pandas")
    frame = fits.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["status"].iloc[3] == "invalid" and frame["x_error"].iloc[0] == fits.errors.x[0]
    assert list(frame["photons"].iloc[:3]) == list(fits.photons[:3])
    polars = pytest.importorskip("polars")
    assert isinstance(fits.to_polars(), polars.DataFrame)
    assert fits.to_polars().columns == list(frame.columns)


def test_errors_must_be_asked_for() -> None:
    with pytest.raises(AttributeError, match="errors=True"):
        _ = spotfit.fit(gaussian()).errors
    assert not hasattr(spotfit.fit(gaussian()), "errors")


def test_outcomes_can_be_sent_to_other_processes(fits: spotfit.Fits) -> None:
    again = pickle.loads(pickle.dumps(fits))
    assert np.array_equal(again.x, fits.x, equal_nan=True) and np.array_equal(again.errors.x, fits.errors.x)


def test_errors_have_names(fits: spotfit.Fits) -> None:
    for name in "x", "y", "sigma", "sigma_x", "sigma_y", "amplitude", "background", "photons":
        assert (getattr(fits.errors, name)[fits.converged] > 0).all(), name
    assert (fits.errors.angle[fits.converged] == 0).all()
    with pytest.raises(ValueError, match="width"):
        fits.errors.of("width")
