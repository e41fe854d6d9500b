//! What several operations say and look up in the same way.

use super::{Listener, StepError};
use spotfit_locs::private::median;

use crate::table::{Filter, Info, Meaning, Table, Unit};

/// A length with its unit.
pub(crate) fn length(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanometre => format!("{value:.1} nm"),
        _ => format!("{value:.3} px"),
    }
}

/// The symbol of a unit.
pub(crate) fn symbol(unit: Unit) -> &'static str {
    unit.symbol()
}

/// The median of a column of lengths, as far as it is finite and more than 0.
pub(crate) fn usual(table: &Table, of: Meaning, unit: Unit) -> Option<f64> {
    let values = table.lengths(of, unit).ok()?;
    let known = values.iter().copied().filter(|value| *value > 0.0 && value.is_finite());
    Some(median(known)).filter(|median| !median.is_nan())
}

/// The number of frames of the movie, from what is known or from the last that has a localization.
pub(crate) fn frames_of(info: &Info, frames: &[u32]) -> u32 {
    let seen = frames.iter().max().map_or(0, |last| last.saturating_add(1));
    let said = info.frames.and_then(|frames| u32::try_from(frames).ok()).unwrap_or(0);
    seen.max(said)
}

/// Reads a condition on the columns of a table.
pub(crate) fn condition(text: &str, layout: &Table) -> Result<Filter, StepError> {
    let wrong = |error| StepError::Condition { text: text.to_owned(), error };
    Filter::new(text, layout).map_err(wrong)
}

/// Ends an operation that is to end.
pub(crate) fn go_on(listener: &dyn Listener) -> Result<(), StepError> {
    if listener.is_cancelled() { Err(StepError::Cancelled) } else { Ok(()) }
}
