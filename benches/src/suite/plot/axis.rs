//! Axes: where they begin and end, and their ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

use super::number::Notation;

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Where it must begin and end, if that is not to follow from the numbers.
    pub range: Option<Range<f64>>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    /// The same axis from `range.start` to `range.end`.
    #[must_use]
    pub fn within(self, range: Range<f64>) -> Self {
        Self { range: Some(range), ..self }
    }
}

/// Decades of a logarithmic axis, at least.
const LEAST_DECADES: f64 = 0.5;

/// An axis as plotters takes it: with logarithms worked in.
pub(super) struct Scale {
    pub(super) range: Range<f64>,
    log: bool,
    ticks: Vec<f64>,
    small: Vec<f64>,
    notation: Notation,
}

impl Scale {
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0));
        let (mut low, mut high) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if let Some(range) = &axis.range {
            (low, high) = (range.start, range.end);
        }
        if axis.log {
            Self::logarithmic(low.log10(), high.log10(), axis.range.is_some())
        } else {
            Self::linear(low, high, axis.range.is_some())
        }
    }

    fn logarithmic(low: f64, high: f64, fixed: bool) -> Self {
        // A tenth of a decade around the numbers, and half a decade in all, so that there are ticks.
        let around: f64 = if fixed { 0.0 } else { 0.1 };
        let around = around.max((LEAST_DECADES - (high - low)) / 2.0);
        let (low, high) = (low - around, high + around);
        let decades: Vec<f64> = (low.ceil() as i32..=high.floor() as i32).map(f64::from).collect();
        let each = decades.len().div_ceil(8).max(1);
        let mut ticks: Vec<f64> = decades.iter().copied().step_by(each).collect();
        let parts = |factors: &[f64]| -> Vec<f64> {
            (low.floor() as i32..=high.ceil() as i32)
                .flat_map(|decade| {
                    factors.iter().map(move |factor| f64::from(decade) + factor.log10())
                })
                .filter(|tick| (low..=high).contains(tick))
                .collect()
        };
        for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]] {
            if ticks.len() < 2 {
                ticks = parts(factors);
            }
        }
        let small = if decades.len() > 9 {
            decades
        } else {
            parts(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
        };
        let values: Vec<f64> = ticks.iter().map(|tick| 10f64.powf(*tick)).collect();
        let notation = Notation::of_log(&values);
        Self { range: low..high, log: true, ticks, small, notation }
    }

    fn linear(mut low: f64, mut high: f64, fixed: bool) -> Self {
        let size = low.abs().max(high.abs());
        if size == 0.0 {
            high = 1.0;
        } else if high - low < 1e-3 * size {
            // Numbers that are nearly the same.
            (low, high) = (low - 0.1 * size, high + 0.1 * size);
        }
        let span = high - low;
        let rough = span / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(10.0 * power);
        if !fixed {
            low = if low >= 0.0 && low < span { 0.0 } else { (low / step).floor() * step };
            high = (high / step).ceil() * step;
        }
        let ticks = (low / step).ceil() as i64..=(high / step + 1e-9).floor() as i64;
        let ticks = ticks.map(|i| i as f64 * step).collect();
        let notation = Notation::of_linear(step, low.abs().max(high.abs()));
        Self { range: low..high, log: false, ticks, small: Vec::new(), notation }
    }

    /// Where a value stands.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }

    /// Whether a place is between the ends.
    pub(super) fn contains(&self, place: f64) -> bool {
        let slack = 1e-9 * (self.range.end - self.range.start);
        place >= self.range.start - slack && place <= self.range.end + slack
    }
}

impl Ranged for Scale {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let Range { start, end } = self.range;
        let share = (value - start) / (end - start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.bold_points() >= hint.max_num_points() {
            self.ticks.clone()
        } else {
            self.small.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.notation.text(if self.log { 10f64.powf(*value) } else { *value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that every axis has two ticks at least, and all of its numbers, however near they are to each other.
    #[test]
    fn every_axis_has_ticks() {
        for log in [true, false] {
            for low in [0.0, 1e-7, 0.011, 0.9, 1.05, 1.7, 5.2, 9.5, 101.0, 2.1e6] {
                for ratio in [1.0, 1.0001, 1.4, 3.0, 40.0, 1e7] {
                    if log && low == 0.0 {
                        continue;
                    }
                    let axis = Axis { log, ..Axis::default() };
                    let scale = Scale::new(&axis, [low, low * ratio].into_iter());
                    let case = format!("{log}, {low} to {}: {:?}", low * ratio, scale.ticks);
                    assert!((2..=12).contains(&scale.ticks.len()), "{case}");
                    assert!(scale.contains(scale.place(low)), "{case}");
                    assert!(scale.contains(scale.place(low * ratio)), "{case}");
                }
            }
        }
    }
}
