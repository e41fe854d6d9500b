//! What is asked of fits of models besides parameters.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use spotfit::model::answers::{AnswerColumn, AnswerValues, ComparedModel, FitAnswers};
use spotfit::steps::curve::check_answers;

use crate::model::Model;
use crate::numbers::numbers;
use crate::steps::of_step;

/// Statistics, derived quantities, the level of intervals, and the model that is compared with its start values.
pub(crate) type Asked<'py> =
    (bool, Vec<String>, Option<f64>, Option<Bound<'py, Model>>, Option<Vec<f64>>);

/// What is asked of fits of a model, of whose parameters some are held.
pub(crate) fn of(
    model: &spotfit::model::Model,
    asked: Option<Asked<'_>>,
    fixed: &[bool],
) -> PyResult<FitAnswers> {
    let Some((statistics, derive, intervals, compare, start)) = asked else {
        return Ok(FitAnswers::default());
    };
    if intervals.is_some_and(|level| !(level > 0.0 && level < 1.0)) {
        return Err(PyValueError::new_err("intervals must be a level above 0 and below 1"));
    }
    let mut answers = FitAnswers::default().with_statistics(statistics).with_intervals(intervals);
    for text in &derive {
        let derived = answers.with_derived(text, model);
        answers = derived.map_err(|error| PyValueError::new_err(format!("derive: {error}")))?;
    }
    if let Some(other) = compare {
        let other = other.get().0.clone();
        if other.variables().len() != model.variables().len() {
            let [own, others] = [model, &other].map(|model| model.variables().join(", "));
            let reason = format!("its variables are {others}, those of the model {own}");
            return Err(PyValueError::new_err(format!("compare: {reason}")));
        }
        if start.as_ref().is_some_and(|start| start.len() != other.parameters().len()) {
            let names = other.parameters().join(", ");
            return Err(PyValueError::new_err(format!("compare_start must have {names}")));
        }
        answers = answers.with_compare(Some(Box::new(ComparedModel::new(other, start))));
    }
    check_answers(model.parameters(), fixed, &answers).map_err(of_step)?;
    Ok(answers)
}

/// The columns, by their names; nothing if there are none.
pub(crate) fn columns(
    py: Python<'_>,
    columns: Vec<AnswerColumn>,
) -> PyResult<Option<Bound<'_, PyDict>>> {
    if columns.is_empty() {
        return Ok(None);
    }
    let all = PyDict::new(py);
    for column in columns {
        match column.values {
            AnswerValues::Numbers(values) => {
                all.set_item(column.name, PyArray1::from_vec(py, values))?;
            }
            AnswerValues::Words(words) => {
                let words = words.iter().map(AsRef::as_ref);
                all.set_item(column.name, PyList::new(py, words.collect::<Vec<&str>>())?)?;
            }
            _ => {}
        }
    }
    Ok(Some(all))
}

/// Columns that Python has: names, and arrays or lists of words, all of this length.
pub(crate) fn read(
    given: &[(String, Bound<'_, PyAny>)],
    count: usize,
) -> PyResult<Vec<AnswerColumn>> {
    let one = |(name, values): &(String, Bound<'_, PyAny>)| {
        let values = match values.cast::<PyList>() {
            Ok(words) => {
                let words: Vec<String> = words.extract()?;
                AnswerValues::Words(words.into_iter().map(Into::into).collect())
            }
            Err(_) => {
                let numbers: PyReadonlyArray1<'_, f64> = numbers(name, values, "(n)")?;
                AnswerValues::Numbers(numbers.as_slice()?.to_vec())
            }
        };
        let length = match &values {
            AnswerValues::Numbers(all) => all.len(),
            AnswerValues::Words(all) => all.len(),
            _ => count,
        };
        if length != count {
            return Err(PyValueError::new_err("answers must be as long as their fits"));
        }
        Ok(AnswerColumn::new(name, values))
    };
    given.iter().map(one).collect()
}
