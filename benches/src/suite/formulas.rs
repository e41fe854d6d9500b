//! Formulas beside the same models written in Rust, and linear parameters eliminated and searched for.

use fit_cpu::{BatchError, CurveSimd, InstructionSet};
use fit_tests::compiled::{Compiled, Exponential, Exponentials, Gauss, Spot};
use ndarray::Array2;
use spotfit::model::{CurveOptions, CurveStart, Linear};

use super::SuiteError;
use super::experiments::{FORMULAS, Run, keys};
use super::record::Data;
use crate::report::{in_turn, median, sets, timed};
use crate::sets::Sets;

/// Models that are there as formulas and in Rust, and the pixels or points of a data set.
pub const MODELS: [(&str, usize); 4] =
    [("exponential", 30), ("exponential_2", 30), ("gauss_1d", 30), ("gauss_2d", 81)];
/// What is measured of them, fits a second: formulas, these with linear parameters eliminated, models in Rust.
pub const WAYS: [&str; 3] = ["formula", "eliminated", "in Rust"];
/// Models that begin at poor start values: the truth times exp(s·n), where n has a normal distribution.
pub const POOR: [&str; 4] = ["exponential", "exponential_2", "lorentz", "logistic"];
/// Values of s.
pub const SPREADS: [f64; 3] = [0.1, 0.5, 1.0];
/// How linear parameters are treated there.
pub const LINEAR: [(&str, Linear); 2] =
    [("searched for", Linear::Searched), ("eliminated", Linear::Eliminated)];
/// What is measured: fits a second, and shares of fits that converge, and that are at the minimum.
pub const MEASURED: [&str; 3] = ["rate", "converged", "minimum"];

/// Calls that a median is taken of.
const CALLS: usize = 9;

/// The name of a case with poor start values.
pub fn poor(model: &str, spread: f64, what: &str) -> String {
    format!("{model}:{spread}:{what}")
}

/// The name of a way with vector instructions.
pub fn way(way: &str, set: InstructionSet) -> String {
    format!("{way}, {set}")
}

impl Run {
    /// On one processor, in turn.
    pub(super) fn formulas(&mut self) -> Result<(), SuiteError> {
        let compiled: [&dyn Compiled; 4] = [&Exponential, &Exponentials, &Gauss, &Spot];
        for set in sets() {
            for ((name, _), compiled) in MODELS.into_iter().zip(compiled) {
                let count = if self.quick { 2000 } else { 20_000 };
                let keys = WAYS.map(|of| (way(of, set), name.to_owned()));
                self.cells(FORMULAS, &keys, |_| {
                    Ok(beside(&Sets::named(name, count), compiled, set)?)
                })?;
            }
        }
        for (name, spread) in POOR.into_iter().flat_map(|name| SPREADS.map(|spread| (name, spread)))
        {
            let cases = || MEASURED.map(|what| poor(name, spread, what));
            let all = LINEAR.map(|(of, _)| keys(of, cases()));
            let (count, seed) = (if self.quick { 500 } else { 10_000 }, self.seed);
            self.cells(FORMULAS, &all.concat(), |_| {
                Ok(poor_starts(&Sets::named(name, count), spread, seed)?)
            })?;
        }
        Ok(())
    }
}

/// The rates of [`WAYS`].
fn beside(
    sets: &Sets,
    compiled: &dyn Compiled,
    set: InstructionSet,
) -> Result<Vec<Data>, BatchError> {
    let count = sets.data.nrows();
    let simd = CurveSimd::new(1, Some(set))?;
    let options = CurveOptions::new(sets.start.len()).with_covariance(false);
    let times = in_turn(CALLS, &mut [0, 1, 2], |number| {
        let linear = if *number == 1 { Linear::Eliminated } else { Linear::Searched };
        let (curves, options) = (sets.curves(count), options.clone().with_linear(linear));
        let fit = || match number {
            2 => compiled.fit(&simd, &curves, sets.start(), &options),
            _ => simd.fit(&sets.formula, &curves, sets.start(), &options),
        };
        timed(fit).map(|(seconds, _)| seconds)
    })?;
    Ok(times.iter().map(|times| Data::Value(count as f64 / median(times))).collect())
}

/// What is [`MEASURED`] of fits from poor start values, for each of [`LINEAR`].
fn poor_starts(sets: &Sets, spread: f64, seed: u64) -> Result<Vec<Data>, BatchError> {
    let truth = &sets.truth[..];
    let (count, parameters) = (sets.data.nrows(), truth.len());
    let curves = sets.curves(count);
    let simd = CurveSimd::new(1, None)?;
    let options = CurveOptions::new(parameters).with_covariance(false);
    let searched = options.clone().with_linear(Linear::Searched);
    let best = simd.double().fit(&sets.formula, &curves, CurveStart::Shared(truth), &searched)?;
    let mut random = fit_sim::Random::new(seed, 7);
    let starts = Array2::from_shape_fn((count, parameters), |(_, j)| {
        truth[j] * (spread * random.normal()).exp()
    });
    let mut works = LINEAR.map(|(_, linear)| (options.clone().with_linear(linear), None));
    let times = in_turn(3, &mut works, |(options, found)| {
        let start = CurveStart::PerFit(starts.view().into());
        let (seconds, fits) = timed(|| simd.fit(&sets.formula, &curves, start, options))?;
        *found = Some(fits);
        Ok::<_, BatchError>(seconds)
    })?;
    let mut all = Vec::new();
    for ((_, fits), times) in works.iter().zip(times) {
        let Some(fits) = fits else { continue };
        let converged = fits.statuses.iter().filter(|status| status.is_converged()).count();
        // Equal but for rounding and the tolerance.
        let right = |fit: &usize| fits.chi2[*fit] < best.chi2[*fit] * 1.0001;
        let right = (0..count).filter(right).count();
        let count = count as f64;
        let numbers = [count / median(&times), converged as f64 / count, right as f64 / count];
        all.extend(numbers.map(Data::Value));
    }
    Ok(all)
}
