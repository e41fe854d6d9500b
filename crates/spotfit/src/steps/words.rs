//! What several operations say and look up in the same way.

use std::fmt::Display;

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

/// What a quantity is called with its unit, which numbers of photons need not have.
pub(crate) fn in_unit(name: &str, unit: Unit) -> String {
    match symbol(unit) {
        "" | "photon" => name.to_owned(),
        unit => format!("{name} ({unit})"),
    }
}

/// How often something was, for all that was.
pub(crate) fn counted<'a, N: PartialOrd + Default + Display>(
    counts: impl IntoIterator<Item = (N, &'a str)>,
) -> Vec<String> {
    let some = counts.into_iter().filter(|(count, _)| *count > N::default());
    some.map(|(count, what)| format!("{count} {what}")).collect()
}

/// The same beside each other; `none` if there is nothing.
pub(crate) fn counted_or_none<'a, N: PartialOrd + Default + Display>(
    counts: impl IntoIterator<Item = (N, &'a str)>,
) -> String {
    let told = counted(counts);
    if told.is_empty() { "none".to_owned() } else { told.join(", ") }
}

/// The numbers of `most` of `count` things, or of all, as far from each other as possible.
pub(crate) fn spread_over(count: usize, most: usize) -> Vec<usize> {
    let most = most.min(count);
    (0..most).map(|number| number * count / most).collect()
}

/// Numbers from one to another, in so many equal steps.
pub(crate) fn evenly([low, high]: [f64; 2], steps: u32) -> impl Iterator<Item = f64> {
    (0..=steps).map(move |step| low + (high - low) * f64::from(step) / f64::from(steps))
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
