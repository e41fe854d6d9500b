//! Fits in which data sets share parameters, or in which something is known of parameters beforehand.

use std::sync::Arc;

use pyo3::prelude::*;
use spotfit::model::{SharedFits, Sharing};

use crate::curves::{Data, Found, Outcomes, Task};
use crate::keywords::Keywords;
use crate::model::{Model, ModelFitter, of_model};
use crate::work::aside;

/// Parameter, group, value, error and status of each shared value; χ² and degrees of freedom of all; and how many were left out.
type Shared = (Vec<(usize, usize, f64, f64, u8)>, f64, u64, usize);

/// Fits curves that share parameters; `shared` has parameters with the group of each data set, or none, `priors` parameters with mean and
/// standard deviation.
#[pyfunction]
pub(crate) fn fit_shared<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    fitter: &Bound<'py, ModelFitter>,
    data: &Bound<'py, PyAny>,
    keywords: Keywords<'py>,
    shared: Vec<(usize, Option<Vec<usize>>)>,
    priors: Vec<(usize, f64, f64)>,
) -> PyResult<(Outcomes<'py>, Shared)> {
    let task = Arc::new(Task::of(&model.get().0, fitter.get(), &keywords)?);
    let mut sharing = Sharing::default();
    for (parameter, groups) in shared {
        sharing = match groups {
            Some(groups) => sharing.with_groups(parameter, groups),
            None => sharing.with_shared(parameter),
        };
    }
    for (parameter, mean, deviation) in priors {
        sharing = sharing.with_prior(parameter, mean, deviation);
    }
    let data = Data::of(data)?;
    let (count, points) = data.view().dim();
    let (own, work) = (data.view().own_part(0, count), task.clone());
    let fitted = aside(py, move |_| work.fit_shared(own.values(), count, &sharing))?;
    let (shared, fits) = fitted.map_err(of_model)?;
    let mut found = Found::room(count, &task.options)?;
    found.add(fits);
    let (chi2, degrees, left_out) = (shared.chi2(), shared.degrees(), shared.left_out());
    let SharedFits { values, parts, .. } = shared;
    let values = values.iter().map(|value| {
        let status = parts.get(value.part).map_or(0, |part| part.status as u8);
        (value.parameter, value.group, value.value, value.error, status)
    });
    Ok((found.arrays(py, &task, points)?, (values.collect(), chi2, degrees, left_out)))
}
