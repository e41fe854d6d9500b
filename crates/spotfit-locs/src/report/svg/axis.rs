//! Axes: where they begin and end, and their ticks.

use crate::averages::ends;
use crate::report::figure::text_width;
use crate::report::number::Notation;

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    pub(super) label: String,
    log: bool,
    from: Option<f64>,
    to: Option<f64>,
}

impl Axis {
    /// An axis with this label that shows all values.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), log: false, from: None, to: None }
    }

    /// A logarithmic axis with this label that shows all values above 0.
    pub fn log(label: &str) -> Self {
        Self { log: true, ..Self::new(label) }
    }

    /// The same, beginning here.
    #[must_use]
    pub fn from(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }

    /// The same, ending here.
    #[must_use]
    pub fn to(self, to: f64) -> Self {
        Self { to: Some(to), ..self }
    }
}

/// Decades of a logarithmic axis, at least.
const LEAST_DECADES: f64 = 0.5;

/// Numbers beyond this have no differences that can be drawn, and those below its inverse no logarithms.
const LARGEST: f64 = 1e300;
/// Numbers that differ by less than this, over their size, are one.
const SAME: f64 = 1e-9;

/// An axis for some values. Places are logarithms where it is logarithmic.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    /// Its ends.
    pub(super) ends: [f64; 2],
    log: bool,
    /// The places with a number.
    pub(super) ticks: Vec<f64>,
    /// The places between them that have a faint line.
    pub(super) small: Vec<f64>,
    text: Notation,
}

impl Scale {
    /// An axis that ends a little beyond the values; with `round`, a linear one ends at ticks, and begins at 0 if that is near.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>, round: bool) -> Self {
        let usable =
            values.filter(|value| value.abs() <= LARGEST && (!axis.log || *value >= 1.0 / LARGEST));
        let [low, high] = match ends(usable) {
            [low, high] if low <= high => [low, high],
            _ if axis.log || round => [1.0, 10.0],
            _ => [0.0, 1.0],
        };
        match (axis.log, round) {
            (true, _) => return Self::logarithmic(axis, low, high),
            (false, true) => return Self::round(axis, low, high),
            (false, false) => {}
        }
        let size = low.abs().max(high.abs());
        let room = match high - low {
            span if span > SAME * size => 0.04 * span,
            _ if size > 0.0 => 0.5 * size,
            _ => 0.5,
        };
        let [low, high] =
            ordered([axis.from.unwrap_or(low - room), axis.to.unwrap_or(high + room)]);
        let ticks = ticks([low, high]);
        let step = if let [first, second, ..] = ticks[..] { second - first } else { high - low };
        let text = Notation::of_linear(step, low.abs().max(high.abs()));
        Self { ends: [low, high], log: false, ticks, small: Vec::new(), text }
    }

    fn logarithmic(axis: &Axis, low: f64, high: f64) -> Self {
        let is_usable = |end: &f64| (1.0 / LARGEST..=LARGEST).contains(end);
        let [from, to] = [axis.from, axis.to].map(|end| end.filter(is_usable));
        // A tenth of a decade around the numbers, and half a decade in all, so that there are ticks.
        let low = from.map_or(low.log10() - 0.1, f64::log10);
        let high = to.map_or(high.log10() + 0.1, f64::log10);
        let around = ((LEAST_DECADES - (high - low)) / 2.0).max(0.0);
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
        let text = Notation::of_log(&values);
        Self { ends: [low, high], log: true, ticks, small, text }
    }

    fn round(axis: &Axis, mut low: f64, mut high: f64) -> Self {
        [low, high] = [axis.from.unwrap_or(low), axis.to.unwrap_or(high)];
        if axis.from.is_some() || axis.to.is_some() {
            [low, high] = ordered([low, high]);
        }
        let size = low.abs().max(high.abs());
        if size == 0.0 {
            high = 1.0;
        } else if high - low < 1e-3 * size {
            // Numbers that are nearly the same.
            (low, high) = (low - 0.1 * size, high + 0.1 * size);
        }
        let span = high - low;
        let step = round_step(span / 6.0, |step| step >= span / 6.0);
        if axis.from.is_none() {
            low = if low >= 0.0 && low < span { 0.0 } else { (low / step).floor() * step };
        }
        if axis.to.is_none() {
            high = (high / step).ceil() * step;
        }
        let ticks = (low / step).ceil() as i64..=(high / step + 1e-9).floor() as i64;
        let ticks = ticks.map(|tick| tick as f64 * step).collect();
        let text = Notation::of_linear(step, low.abs().max(high.abs()));
        Self { ends: [low, high], log: false, ticks, small: Vec::new(), text }
    }

    /// The same with numbers at whole places only.
    #[cfg(feature = "render")]
    pub(super) fn of_pixels(mut self) -> Self {
        self.ticks.retain(|tick| *tick == tick.round());
        self.text = Notation::Decimals(0);
        self
    }

    /// The same from its end to its beginning.
    #[cfg(feature = "render")]
    pub(super) fn reversed(mut self) -> Self {
        self.ends.reverse();
        self.ticks.reverse();
        self
    }

    /// Where a value stands, as a share of the axis from its beginning; not finite where it has no place.
    pub(super) fn share(&self, value: f64) -> f64 {
        self.share_of_place(if self.log { value.log10() } else { value })
    }

    /// The same of a tick.
    pub(super) fn share_of_place(&self, place: f64) -> f64 {
        (place - self.ends[0]) / (self.ends[1] - self.ends[0])
    }

    /// The number at a tick.
    pub(super) fn text(&self, tick: f64) -> String {
        let text = self.text.text(if self.log { 10f64.powf(tick) } else { tick });
        text.replacen('-', "−", 1)
    }

    /// How wide the longest number is, in letters of this size.
    pub(super) fn widest(&self, size: f64) -> f64 {
        self.ticks.iter().map(|tick| text_width(&self.text(*tick), size)).fold(0.0, f64::max)
    }
}

/// The ends of an axis that someone chose, or some others where they are none.
fn ordered([low, high]: [f64; 2]) -> [f64; 2] {
    let usable = |end: f64| end.abs() <= 1.1 * LARGEST;
    match usable(low) && usable(high) {
        true if low < high => [low, high],
        true => [low - 0.5 * low.abs().max(1.0), low + 0.5 * low.abs().max(1.0)],
        false => [0.0, 1.0],
    }
}

/// The least of 1, 2, 5 and 10 times the power of ten below a distance that will do.
fn round_step(rough: f64, will_do: impl Fn(f64) -> bool) -> f64 {
    let decade = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|step| will_do(*step));
    step.unwrap_or(10.0 * decade)
}

/// About five round numbers in a range.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let step = round_step(span / 5.0, |step| span / step <= 6.0);
    let first = (low / step).ceil();
    (0..12).map(|k| (first + f64::from(k)) * step).take_while(|tick| *tick <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that ticks are a few round numbers.
    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks([0.0, 10.0]), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks([-0.13, 0.12]), [-0.1, -0.05, 0.0, 0.05, 0.1]);
    }

    /// Proves that every axis has two ticks at least, and all of its numbers, however near they are to each other.
    #[test]
    fn every_axis_has_ticks() {
        for axis in [Axis::log(""), Axis::new("")] {
            for low in [0.0, 1e-7, 0.011, 0.9, 1.05, 1.7, 5.2, 9.5, 101.0, 2.1e6] {
                for ratio in [1.0, 1.0001, 1.4, 3.0, 40.0, 1e7] {
                    if axis.log && low == 0.0 {
                        continue;
                    }
                    let scale = Scale::new(&axis, [low, low * ratio].into_iter(), true);
                    let case = format!("{}, {low} to {}: {:?}", axis.log, low * ratio, scale.ticks);
                    assert!((2..=12).contains(&scale.ticks.len()), "{case}");
                    for value in [low, low * ratio] {
                        assert!((-1e-9..=1.0 + 1e-9).contains(&scale.share(value)), "{case}");
                    }
                }
            }
        }
    }
}
