//! Start values from the data: of a few candidates for what a model is not linear in, with the best of all else.

use fit_formula::{Axes, Evaluator, Formula, SplineAxis};
use spotfit_locs::private::ends;

use super::named::Kind;

/// The most candidates.
const MOST: usize = 4000;
/// Shares of the range of the points that are tried as lengths.
pub(super) const SCALES: [f64; 4] = [0.03, 0.1, 0.3, 1.0];
/// Of an image.
const WIDTHS: [f64; 3] = [0.1, 0.2, 0.4];

/// The squares that are left with parameters.
pub(super) type Found = (f64, Vec<f64>);

/// Candidates for the parameters that a model is not linear in.
pub(super) struct Candidates {
    linear: Vec<usize>,
    entries: Vec<Entry>,
}

/// A candidate, and what the model is with it.
struct Entry {
    /// All parameters, 0 for linear ones.
    parameters: Vec<f64>,
    /// The model without its linear parts, at each point.
    rest: Vec<f64>,
    /// Orthonormal combinations of the derivatives by linear parameters.
    basis: Vec<Vec<f64>>,
    /// Their coefficients: derivative l is the sum of factors\[l\]\[m\] times basis m.
    factors: Vec<Vec<f64>>,
}

impl Candidates {
    /// For points given by their variables.
    pub(super) fn new(formula: &Formula, kinds: &[Kind], points: &[Vec<f64>]) -> Self {
        let linear: Vec<usize> = (0..kinds.len()).filter(|&j| kinds[j] == Kind::Linear).collect();
        let wanted: Vec<bool> = kinds.iter().map(|&kind| kind == Kind::Linear).collect();
        let program = formula.program(Axes::Together, &wanted);
        let mut evaluator = Evaluator::new(&program);
        let image = formula.variables().len() > 1;
        let choices: Vec<Vec<f64>> =
            kinds.iter().map(|kind| choices(*kind, image, points, formula)).collect();
        let mut entries = Vec::new();
        let mut chosen = vec![0; kinds.len()];
        loop {
            let parameters: Vec<f64> =
                choices.iter().zip(&chosen).map(|(choices, &at)| choices[at]).collect();
            if ascending(kinds, &parameters, image) {
                entries.extend(Entry::new(&mut evaluator, parameters, &linear, points));
            }
            let next = (0..kinds.len()).find(|&j| {
                chosen[j] += 1;
                let more = chosen[j] < choices[j].len();
                if !more {
                    chosen[j] = 0;
                }
                more
            });
            if next.is_none() || entries.len() >= MOST {
                return Self { linear, entries };
            }
        }
    }

    /// These parameters, of a formula that is linear in some of them.
    pub(super) fn of(
        formula: &Formula,
        linear: &[bool],
        all: Vec<Vec<f64>>,
        points: &[Vec<f64>],
    ) -> Self {
        let program = formula.program(Axes::Together, linear);
        let mut evaluator = Evaluator::new(&program);
        let linear: Vec<usize> = (0..linear.len()).filter(|&j| linear[j]).collect();
        let entry = |parameters| Entry::new(&mut evaluator, parameters, &linear, points);
        let entries: Vec<Entry> = all.into_iter().filter_map(entry).collect();
        Self { linear, entries }
    }

    /// The parameters that are nearest to the data of each of so many parts, if the model must be `positive`, the nearest for which it is, if
    /// there are any; nothing for parts of which none has a value.
    pub(super) fn best_of_parts(
        &self,
        data: &[f64],
        positive: bool,
        parts: usize,
    ) -> Vec<Option<Found>> {
        let length = self.entries.len().div_ceil(parts.max(1)).max(1);
        let part = |part: usize| {
            let all = self.entries.len();
            let here = &self.entries[(part * length).min(all)..((part + 1) * length).min(all)];
            let found = if positive { self.nearest(here, data, true) } else { None };
            found.or_else(|| self.nearest(here, data, false))
        };
        (0..parts).map(part).collect()
    }

    fn nearest(&self, among: &[Entry], data: &[f64], positive: bool) -> Option<Found> {
        let mut best: Option<Found> = None;
        let mut residual = vec![0.0; data.len()];
        // In a unit of their size where their squares may be no numbers.
        let most = largest(data);
        let is_plain = most == 0.0 || (1e-100..=1e100).contains(&most);
        let unit = if is_plain { 1.0 } else { power_of_two(most) };
        for entry in among {
            for (to, (data, rest)) in residual.iter_mut().zip(data.iter().zip(&entry.rest)) {
                *to = data - rest;
            }
            if !is_plain {
                residual.iter_mut().for_each(|residual| *residual /= unit);
            }
            let size = dot(&residual, &residual);
            let along: Vec<f64> = entry.basis.iter().map(|basis| dot(basis, &residual)).collect();
            let mut left = size - dot(&along, &along);
            // Where little is left, as of what a number in the formula adds, the difference has no digits.
            if left < 1e-4 * size && best.as_ref().is_none_or(|best| left < best.0 + 1e-12 * size) {
                for (basis, along) in entry.basis.iter().zip(&along) {
                    residual.iter_mut().zip(basis).for_each(|(to, from)| *to -= along * from);
                }
                left = dot(&residual, &residual);
            }
            if left.is_finite() && best.as_ref().is_none_or(|best| left < best.0) {
                if positive && !entry.is_positive(&along, unit) {
                    continue;
                }
                let mut parameters = entry.parameters.clone();
                // Back substitution: later ones first.
                let mut rest = along;
                for l in (0..self.linear.len()).rev() {
                    let own = entry.factors[l][l];
                    let value = if own > 0.0 { rest[l] / own } else { 0.0 };
                    parameters[self.linear[l]] = value * unit;
                    for (rest, factor) in rest.iter_mut().zip(&entry.factors[l]) {
                        *rest -= value * factor;
                    }
                }
                best = Some((left, parameters));
            }
        }
        best
    }
}

impl Entry {
    /// Whether the model is above 0 at all points, with these coefficients in that unit.
    fn is_positive(&self, along: &[f64], unit: f64) -> bool {
        (0..self.rest.len()).all(|point| {
            let linear = self.basis.iter().zip(along).map(|(basis, share)| basis[point] * share);
            self.rest[point] / unit + linear.sum::<f64>() > 0.0
        })
    }

    /// `None` where the model has no value at some point.
    fn new(
        evaluator: &mut Evaluator<'_>,
        parameters: Vec<f64>,
        linear: &[usize],
        points: &[Vec<f64>],
    ) -> Option<Self> {
        evaluator.set_parameters(&parameters);
        let mut rest = Vec::with_capacity(points.len());
        let mut columns = vec![Vec::with_capacity(points.len()); linear.len()];
        let mut derivatives = vec![0.0; parameters.len()];
        for point in points {
            rest.push(evaluator.value(point));
            evaluator.derivatives(&mut derivatives);
            for (column, &j) in columns.iter_mut().zip(linear) {
                column.push(derivatives[j]);
            }
        }
        let (mut basis, mut factors) = (Vec::<Vec<f64>>::new(), Vec::new());
        for mut column in columns {
            let whole = dot(&column, &column).sqrt();
            let mut along = Vec::new();
            for earlier in &basis {
                let share = dot(earlier, &column);
                for (to, from) in column.iter_mut().zip(earlier) {
                    *to -= share * from;
                }
                along.push(share);
            }
            let left = dot(&column, &column).sqrt();
            // What others say already adds nothing.
            let own = if left > 1e-9 * whole { left } else { 0.0 };
            let inverse = if own > 0.0 { 1.0 / own } else { 0.0 };
            column.iter_mut().for_each(|value| *value *= inverse);
            along.push(own);
            factors.push(along);
            basis.push(column);
        }
        let sound = rest.iter().chain(basis.iter().flatten()).all(|value| value.is_finite());
        sound.then_some(Self { parameters, rest, basis, factors })
    }
}

fn largest(of: &[f64]) -> f64 {
    of.iter().fold(0.0, |most, number| most.max(number.abs()))
}

/// The power of two that a number is nearest above, so that nothing is rounded; 1 for 0.
fn power_of_two(number: f64) -> f64 {
    let exponent = (number.to_bits() >> 52) as i64 - 1023;
    let exponent = if number > 0.0 { exponent.clamp(-1000, 1000) } else { 0 };
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// The sum of the products, one after the other.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Values to try for a parameter.
fn choices(kind: Kind, image: bool, points: &[Vec<f64>], formula: &Formula) -> Vec<f64> {
    let range = |axis: usize| {
        let [low, high] = ends(points.iter().filter_map(|point| point.get(axis).copied()));
        if high > low { [low, high - low] } else { [low, 1.0] }
    };
    let scales = |axis: usize| -> Vec<f64> {
        let shares: &[f64] = if image { &WIDTHS } else { &SCALES };
        shares.iter().map(|share| share * range(axis)[1]).collect()
    };
    match kind {
        Kind::Linear => vec![0.0],
        Kind::Scale(axis) => scales(axis),
        Kind::Position(axis) => {
            let [low, length] = range(axis);
            let count = if image { 5 } else { 12 };
            (0..count).map(|at| low + length * (f64::from(at) + 0.5) / f64::from(count)).collect()
        }
        Kind::Frequency => {
            let [_, length] = range(0);
            let most = points.len().clamp(2, 128);
            (1..most).map(|half| std::f64::consts::PI * half as f64 / length).collect()
        }
        Kind::Among(values) => values.to_vec(),
        Kind::Shift(axis) => shifts(formula, axis, range(axis), if image { 5 } else { 12 }),
        Kind::Depth(axis) => {
            let count = 7;
            let share = |at: u32| (f64::from(at) + 0.5) / f64::from(count);
            let length = intervals(formula, axis).unwrap_or(1.0);
            (0..count).map(|at| length * share(at)).collect()
        }
    }
}

/// Shifts of the first spline along an axis, with which it lies over the points: its middle at places of theirs, or, where
/// they are at one place, that at places of its own.
fn shifts(formula: &Formula, axis: usize, [low, length]: [f64; 2], count: u32) -> Vec<f64> {
    let extent = intervals(formula, axis).unwrap_or(length);
    let share = |at: u32| (f64::from(at) + 0.5) / f64::from(count);
    let shift = |at: u32| {
        if length > 0.25 * extent {
            low + length * share(at) - 0.5 * extent
        } else {
            low + 0.5 * length - extent * share(at)
        }
    };
    (0..count).map(shift).collect()
}

/// How long the first spline is along a cubic axis.
fn intervals(formula: &Formula, axis: usize) -> Option<f64> {
    let cubic = |axis: SplineAxis| match axis {
        SplineAxis::Cubic(intervals) => Some(intervals as f64),
        SplineAxis::Steps(_) => None,
    };
    let (_, spline) = formula.splines().first()?;
    spline.axes().filter_map(cubic).nth(axis)
}

/// Of several lengths on the same axis each is longer than those before: the same terms in another order are the same.
fn ascending(kinds: &[Kind], parameters: &[f64], image: bool) -> bool {
    let scales = kinds.iter().zip(parameters).filter(|(kind, _)| **kind == Kind::Scale(0));
    let scales: Vec<f64> = scales.map(|(_, &value)| value).collect();
    let several =
        scales.len() > 1 && !image && !kinds.iter().any(|kind| matches!(kind, Kind::Position(_)));
    !several || scales.is_sorted_by(|a, b| a < b)
}
