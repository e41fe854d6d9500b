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

/// What is added to numbers that conditions count from 1.
pub(super) fn first(column: &Column) -> f64 {
    if column.meaning() == Some(Meaning::Frame) { 1.0 } else { 0.0 }
}

/// Some of the finite values of a column, evenly from all of them, in order.
pub(super) struct Sample(Vec<f64>);

impl Sample {
    /// About so many of them.
    pub(super) fn of(column: &Column, most: usize) -> Self {
        let (first, step) = (first(column), column.values.len().div_ceil(most).max(1));
        let sample = column.values.iter().step_by(step).filter(|value| value.is_finite());
        let mut sample: Vec<f64> = sample.map(|value| value + first).collect();
        sample.sort_unstable_by(f64::total_cmp);
        Self(sample)
    }

    /// The value below which a share of them is.
    pub(super) fn at(&self, share: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        self.0.get((last as f64 * share).round() as usize).copied()
    }
}

impl ColumnSummary {
    fn of(column: &Column) -> Self {
        let finite = column.values.iter().copied().filter(|value| value.is_finite());
        let ends = finite.fold(None, |ends: Option<(f64, f64)>, value| {
            let (low, high) = ends.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        let (sample, first) = (Sample::of(column, SAMPLE), first(column));
        let title =
            column.meaning().map_or_else(|| column.name.clone(), |one| one.title().to_owned());
        Self {
            name: column.name.clone(),
            title,
            unit: if column.unit == Unit::None { "" } else { symbol(column.unit) },
            low: ends.map(|(low, _)| low + first),
            high: ends.map(|(_, high)| high + first),
            q01: sample.at(0.01),
            q99: sample.at(0.99),
        }
    }
}
