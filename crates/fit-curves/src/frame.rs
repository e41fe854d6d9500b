//! Coordinates in which double precision has digits to spare.
//!
//! Over seconds since 1970, the derivatives of a straight line by its two parameters differ only in the last of nine
//! digits, and a peak on an offset of 10¹⁵ has no digits left. If a shift of the variables, or of the value, changes
//! only the parameters of a formula ([`fit_formula::Invariance`]), the fit is made near 0, where differences are exact,
//! and its outcome is transformed back.

use std::ops::Range;
use std::sync::Arc;

use fit_formula::{Invariance, Translation};
use rayon::prelude::*;

use crate::{CurveOptions, Curves, Points};

/// Variables are shifted where they lie this many times as far from 0 as they spread: below it a polynomial of sixth degree keeps half of
/// its digits.
const FARTHEST: f64 = 4.0;
/// The same of data, of which three digits less do no harm.
const HIGHEST: f64 = 1000.0;

/// The coordinates of a fit.
#[derive(Clone, Debug)]
pub struct Frame {
    invariance: Arc<Invariance>,
    /// What is subtracted from each variable.
    origin: Vec<f64>,
    /// What is subtracted from the data.
    level: f64,
}

/// The middle of the numbers between these, where they lie far from 0: a number less it is exact.
fn middle([low, high]: [f64; 2], most: f64) -> Option<f64> {
    let middle = low + 0.5 * (high - low);
    let far = middle.abs() > most * (high - low);
    (far && middle.is_finite() && middle != 0.0).then_some(middle)
}

/// The lowest and the highest of some numbers.
fn extent(values: impl Iterator<Item = f64>) -> [f64; 2] {
    let none = [f64::INFINITY, f64::NEG_INFINITY];
    values.fold(none, |[low, high], value| [low.min(value), high.max(value)])
}

/// The same of finite numbers that lie one after the other.
fn extent_of(values: &[f64]) -> [f64; 2] {
    // Side by side, since each comparison waits for the one before.
    const LANES: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let (packs, rest) = values.as_chunks::<LANES>();
    for pack in packs {
        for k in 0..LANES {
            low[k] = if pack[k] < low[k] { pack[k] } else { low[k] };
            high[k] = if pack[k] > high[k] { pack[k] } else { high[k] };
        }
    }
    extent(low.into_iter().chain(high).filter(|end| end.is_finite()).chain(rest.iter().copied()))
}

/// Points whose extent a thread finds at a time.
const PART: usize = 1 << 16;

/// The extent of so many points, of which `of` gives that of some. A thread that belongs to a pool has the others help.
fn extents(points: usize, of: impl Fn(Range<usize>) -> [f64; 2] + Sync) -> [f64; 2] {
    if points <= 2 * PART || rayon::current_thread_index().is_none() {
        return of(0..points);
    }
    let part = |number: usize| of(number * PART..points.min((number + 1) * PART));
    let join = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    let none = || [f64::INFINITY, f64::NEG_INFINITY];
    (0..points.div_ceil(PART)).into_par_iter().map(part).reduce(none, join)
}

/// Whether the values of a variable lie far from 0.
pub(crate) fn is_far(values: impl Iterator<Item = f64>) -> bool {
    middle(extent(values), FARTHEST).is_some()
}

impl Curves<'_> {
    /// What is subtracted from each variable of a fit, so that it lies near 0; nothing from those that cannot be shifted. Points
    /// without weight do not count, unless the points are those of all fits and the weights each fit's own.
    pub fn origin(&self, fit: usize, can_shift: &[bool]) -> Vec<f64> {
        let own = matches!(self.points, Points::PerFit(_));
        let weights = self.weights.and_then(|weights| match weights.shape()[0] {
            1 => Some((weights, 0)),
            _ => own.then_some((weights, fit)),
        });
        let weighs = |point: usize| weights.is_none_or(|(of, row)| of.get([row, point]) > 0.0);
        let lent = |variable: usize| match self.points {
            _ if weights.is_some() => None,
            Points::Shared(at) => at.doubles(&[variable]),
            Points::PerFit(at) => at.doubles(&[fit, variable]),
            _ => None,
        };
        let of = |variable: usize| match self.points {
            Points::Shared(_) | Points::PerFit(_) => extents(self.points(), |points| {
                let weighed = points.filter(|&point| weighs(point));
                extent(weighed.map(|point| self.points.at(fit, variable, point)))
            }),
            // They begin at 0.
            _ => [0.0; 2],
        };
        let origin = |(variable, &can): (usize, &bool)| {
            let extent = || match lent(variable) {
                Some(all) => extents(all.len(), |part| extent_of(&all[part])),
                None => of(variable),
            };
            if can { middle(extent(), FARTHEST).unwrap_or(0.0) } else { 0.0 }
        };
        can_shift.iter().enumerate().map(origin).collect()
    }
}

/// Whether a shift of a variable leaves fixed parameters, and limits, what they are.
pub(crate) fn can_shift(shift: &Translation, options: &CurveOptions) -> bool {
    let unlimited = options.unlimited();
    let is_free = |j: usize| unlimited >> j & 1 == 1 && !options.fixed[j];
    (0..options.parameters()).all(|j| is_free(j) || !shift.mixes(j))
}

impl Frame {
    /// For variables that begin at the origin, and for data between these, which maximum likelihood takes as they are; `None` if nothing is
    /// to be shifted.
    pub fn new(
        invariance: &Arc<Invariance>,
        origin: &[f64],
        data: [f64; 2],
        poisson: bool,
    ) -> Option<Self> {
        let takes = !poisson && !invariance.additive().is_empty();
        let level = if takes { middle(data, HIGHEST).unwrap_or(0.0) } else { 0.0 };
        if level == 0.0 && origin.iter().all(|&origin| origin == 0.0) {
            return None;
        }
        Some(Self { invariance: Arc::clone(invariance), origin: origin.to_vec(), level })
    }

    /// What is subtracted from the data.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Whether a parameter becomes a mixture of several, and its error with it.
    pub fn mixes(&self) -> bool {
        self.shifts().any(|(shift, _)| shift.is_mixture())
    }

    /// The variables that are shifted, and by what.
    fn shifts(&self) -> impl DoubleEndedIterator<Item = (&Translation, f64)> {
        let all = self.origin.iter().enumerate().filter(|(_, origin)| **origin != 0.0);
        all.filter_map(|(variable, &by)| Some((self.invariance.translation(variable)?, by)))
    }

    /// Brings parameters into these coordinates.
    pub fn enter(&self, parameters: &mut [f64]) {
        self.shifts().for_each(|(shift, by)| shift.apply(parameters, by));
        for &(j, factor) in self.invariance.additive() {
            parameters[j] -= self.level * factor;
        }
    }

    /// The same for limits. A parameter that becomes a mixture of several has none.
    pub fn enter_limits(&self, limits: &mut [[f64; 2]]) {
        for end in 0..2 {
            // What is infinite moves nowhere, and is nothing to others.
            let finite = |limits: &[f64; 2]| Some(limits[end]).filter(|limit| limit.is_finite());
            let mut moved: Vec<f64> =
                limits.iter().map(|limits| finite(limits).unwrap_or(0.0)).collect();
            self.enter(&mut moved);
            for (to, moved) in limits.iter_mut().zip(moved) {
                to[end] = finite(to).map_or(to[end], |_| moved);
            }
        }
    }

    /// Brings parameters back.
    pub fn leave(&self, parameters: &mut [f64]) {
        for &(j, factor) in self.invariance.additive() {
            parameters[j] += self.level * factor;
        }
        self.shifts().rev().for_each(|(shift, by)| shift.apply(parameters, -by));
    }

    /// Brings standard errors back, and correlations, row after row, which become covariances. What is not known is infinite, and
    /// so is what depends on it.
    pub fn leave_errors(&self, errors: &mut [f64], correlations: &mut [f64]) {
        let count = errors.len();
        for (shift, by) in self.shifts().rev().filter(|(shift, _)| shift.is_mixture()) {
            let jacobian = shift.jacobian(-by);
            // Each row as shares of the largest, so that no square overflows.
            let mut shares = vec![0.0; count * count];
            for (row, to) in jacobian.chunks_exact(count).zip(shares.chunks_exact_mut(count)) {
                for (to, (by, error)) in to.iter_mut().zip(row.iter().zip(&*errors)) {
                    *to = if *by == 0.0 { 0.0 } else { by * error };
                }
            }
            let product = |a: &[f64], b: &[f64]| -> f64 {
                let terms = a.iter().enumerate().flat_map(|(j, a)| {
                    b.iter().enumerate().map(move |(k, b)| (j * count + k, a * b))
                });
                terms
                    .map(|(at, both)| if both == 0.0 { 0.0 } else { both * correlations[at] })
                    .sum()
            };
            for (row, error) in shares.chunks_exact_mut(count).zip(errors.iter_mut()) {
                let most = row.iter().fold(0.0_f64, |most, share| most.max(share.abs()));
                *error = most;
                if most > 0.0 && most.is_finite() {
                    row.iter_mut().for_each(|share| *share /= most);
                    let root = product(row, row).max(0.0).sqrt();
                    *error = most * root;
                    row.iter_mut().for_each(|share| *share /= root);
                }
            }
            let rows: Vec<&[f64]> = shares.chunks_exact(count).collect();
            let all: Vec<f64> = rows
                .iter()
                .enumerate()
                .flat_map(|(j, a)| rows.iter().enumerate().map(move |(k, b)| (j, k, *a, *b)))
                .map(|(j, k, a, b)| {
                    let known = |j: usize| errors[j] > 0.0 && errors[j].is_finite();
                    if j == k {
                        1.0
                    } else if known(j) && known(k) {
                        product(a, b)
                    } else {
                        0.0
                    }
                })
                .collect();
            correlations.copy_from_slice(&all);
        }
        for (at, to) in correlations.iter_mut().enumerate() {
            let (a, b) = (errors[at / count], errors[at % count]);
            let covariance = *to * a * b;
            *to = match a == 0.0 || b == 0.0 {
                true => 0.0,
                false if covariance.is_finite() => covariance,
                false => f64::INFINITY,
            };
        }
    }
}
