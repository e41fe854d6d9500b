//! What a table is like, for the page's axes and handles.

use rayon::prelude::*;
use serde::Serialize;
use spotfit::render::{Point, Survey};
use spotfit::table::{Column, Kind, Meaning, Table, Unit};

use super::tables::symbol;

/// So many values say where the hundredths are.
const SAMPLE: usize = 1 << 16;
/// Localizations that are looked at together.
const BLOCK: usize = 1 << 16;

#[derive(Debug)]
pub(super) struct Summary {
    /// Left, top, right, bottom edge of the localizations, but for those far from all others.
    pub(super) extent: Option<[f64; 4]>,
    /// By the last frame that has a localization.
    pub(super) frames: Option<usize>,
    pub(super) columns: Vec<ColumnSummary>,
}

/// What a column of numbers is like. Numbers that do not exist are missing.
#[derive(Debug, Serialize)]
pub(super) struct ColumnSummary {
    name: String,
    title: String,
    unit: &'static str,
    low: Option<f64>,
    high: Option<f64>,
    q01: Option<f64>,
    q99: Option<f64>,
}

impl Summary {
    pub(super) fn of(table: &Table) -> Self {
        let numbers = table.columns().iter().filter(|column| !is_words(column));
        let numbers: Vec<&Column> = numbers.collect();
        let columns: Vec<ColumnSummary> = numbers.into_par_iter().map(ColumnSummary::of).collect();
        let last = columns.iter().find(|column| column.name == Meaning::Frame.name());
        let frames = last.and_then(|frame| frame.high).map(|last| last as usize);
        Self { extent: extent(table), frames, columns }
    }
}

fn is_words(column: &Column) -> bool {
    matches!(column.kind, Kind::Words(_))
}

/// The rectangle that a picture of the table shows, as far as localizations say it.
fn extent(table: &Table) -> Option<[f64; 4]> {
    let (x, y) = (table.values(Meaning::X).ok()?, table.values(Meaning::Y).ok()?);
    let mut survey = Survey::default();
    for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
        let point = |(&x, &y): (&f64, &f64)| Point { x, y, ..Point::default() };
        survey.add(&x.iter().zip(y).map(point).collect::<Vec<_>>());
    }
    survey.extent()
}

impl ColumnSummary {
    fn of(column: &Column) -> Self {
        let finite = column.values.iter().copied().filter(|value| value.is_finite());
        let ends = finite.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let step = column.values.len().div_ceil(SAMPLE).max(1);
        let sample = column.values.iter().step_by(step).copied().filter(|value| value.is_finite());
        let mut sample: Vec<f64> = sample.collect();
        sample.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| {
            let last = sample.len().checked_sub(1)?;
            sample.get((last as f64 * share).round() as usize).copied()
        };
        // Conditions count frames from 1.
        let first = if column.meaning() == Some(Meaning::Frame) { 1.0 } else { 0.0 };
        let shown = |value: Option<f64>| value.map(|value| value + first);
        let title =
            column.meaning().map_or_else(|| column.name.clone(), |one| one.title().to_owned());
        Self {
            name: column.name.clone(),
            title,
            unit: if column.unit == Unit::None { "" } else { symbol(column.unit) },
            low: shown(ends.map(|(low, _)| low)),
            high: shown(ends.map(|(_, high)| high)),
            q01: shown(at(0.01)),
            q99: shown(at(0.99)),
        }
    }
}
