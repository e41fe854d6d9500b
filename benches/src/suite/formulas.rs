//! Formulas beside the same models written in Rust, and linear parameters eliminated and searched for.

use std::time::Instant;

use fit_cpu::{CurveSimd, InstructionSet};
use fit_tests::compiled::{Compiled, Exponential, Exponentials, Gauss, Spot};
use fit_tests::models::{SIMULATED, Simulated, model};
use fit_tests::statistics::percentile;
use ndarray::Array2;
use spotfit::model::{CurveFits, CurveOptions, CurveStart, Curves, Linear};

use super::SuiteError;
use super::experiments::{Experiment, Run};
use super::record::Data;

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

/// Sets of instructions of this processor.
fn sets() -> impl Iterator<Item = InstructionSet> {
    InstructionSet::ALL.into_iter().filter(|set| set.is_available())
}

/// How many cells there are.
pub fn cells() -> usize {
    sets().count() * MODELS.len() * WAYS.len()
        + POOR.len() * SPREADS.len() * LINEAR.len() * MEASURED.len()
}

fn case(name: &str) -> &'static Simulated {
    SIMULATED.iter().find(|case| case.name == name).expect("a case of that name")
}

fn seconds(work: impl FnOnce() -> CurveFits) -> (f64, CurveFits) {
    let begin = Instant::now();
    let fits = work();
    (begin.elapsed().as_secs_f64(), fits)
}

fn text(error: &dyn std::error::Error) -> SuiteError {
    SuiteError::Method(error.to_string())
}

impl Run {
    /// On one processor, in turn.
    pub(super) fn formulas(&mut self) -> Result<(), SuiteError> {
        for set in sets() {
            self.beside("exponential", &Exponential, set)?;
            self.beside("exponential_2", &Exponentials, set)?;
            self.beside("gauss_1d", &Gauss, set)?;
            self.beside("gauss_2d", &Spot, set)?;
        }
        for name in POOR {
            for spread in SPREADS {
                self.poor_starts(name, spread)?;
            }
        }
        Ok(())
    }

    fn beside(
        &mut self,
        name: &str,
        compiled: &dyn Compiled,
        set: InstructionSet,
    ) -> Result<(), SuiteError> {
        if WAYS.iter().all(|of| self.done(Experiment::Formulas, &way(of, set), name)) {
            self.progress.inc(WAYS.len() as u64);
            return Ok(());
        }
        let count = if self.quick { 2000 } else { 20_000 };
        let case = case(name);
        let (model, data, at, start) = (model(name), case.data(count), case.at(), case.start());
        let curves = Curves::new(data.view(), case.points(&at));
        let simd = CurveSimd::new(1, Some(set)).map_err(|error| text(&error))?;
        let options = CurveOptions::new(start.len()).with_covariance(false);
        let mut times = [const { Vec::new() }; WAYS.len()];
        for _ in 0..CALLS {
            for (number, times) in times.iter_mut().enumerate() {
                let linear = if number == 1 { Linear::Eliminated } else { Linear::Searched };
                let options = options.clone().with_linear(linear);
                let start = CurveStart::Shared(&start);
                let begin = Instant::now();
                let fits = match number {
                    2 => compiled.fit(&simd, &curves, start, &options),
                    _ => simd.fit(model.as_formula(), &curves, start, &options),
                };
                fits.map_err(|error| text(&error))?;
                times.push(begin.elapsed().as_secs_f64());
            }
        }
        for (of, times) in WAYS.iter().zip(times) {
            let rate = Data::Value(count as f64 / percentile(&times, 0.5));
            self.add(Experiment::Formulas, &way(of, set), name.to_owned(), rate)?;
        }
        Ok(())
    }

    fn poor_starts(&mut self, name: &str, spread: f64) -> Result<(), SuiteError> {
        let done = |(of, _): &(&str, Linear)| {
            MEASURED
                .iter()
                .all(|what| self.done(Experiment::Formulas, of, &poor(name, spread, what)))
        };
        if LINEAR.iter().all(done) {
            self.progress.inc((LINEAR.len() * MEASURED.len()) as u64);
            return Ok(());
        }
        let count = if self.quick { 500 } else { 10_000 };
        let case = case(name);
        let (model, data, at) = (model(name), case.data(count), case.at());
        let formula = model.as_formula();
        let curves = Curves::new(data.view(), case.points(&at));
        let simd = CurveSimd::new(1, None).map_err(|error| text(&error))?;
        let parameters = case.truth.len();
        let options = CurveOptions::new(parameters).with_covariance(false);
        let best = CurveStart::Shared(case.truth);
        let searched = options.clone().with_linear(Linear::Searched);
        let best = simd.double().fit(formula, &curves, best, &searched);
        let best = best.map_err(|error| text(&error))?;
        let mut random = fit_sim::Random::new(self.seed, 7);
        let starts = Array2::from_shape_fn((count, parameters), |(_, j)| {
            case.truth[j] * (spread * random.normal()).exp()
        });
        let mut times = [const { Vec::new() }; LINEAR.len()];
        let mut found = Vec::new();
        for _ in 0..3 {
            found.clear();
            for ((_, linear), times) in LINEAR.iter().zip(&mut times) {
                let options = options.clone().with_linear(*linear);
                let start = CurveStart::PerFit(starts.view().into());
                let (time, fits) = seconds(|| {
                    simd.fit(formula, &curves, start, &options).expect("what was fitted before")
                });
                times.push(time);
                found.push(fits);
            }
        }
        for (((of, _), times), fits) in LINEAR.iter().zip(times).zip(found) {
            let converged = fits.statuses.iter().filter(|status| status.is_converged()).count();
            // Equal but for rounding and the tolerance.
            let right = |fit: &usize| fits.chi2[*fit] < best.chi2[*fit] * 1.0001;
            let right = (0..count).filter(right).count();
            let all = [
                count as f64 / percentile(&times, 0.5),
                converged as f64 / count as f64,
                right as f64 / count as f64,
            ];
            for (what, value) in MEASURED.iter().zip(all) {
                let case = poor(name, spread, what);
                self.add(Experiment::Formulas, of, case, Data::Value(value))?;
            }
        }
        Ok(())
    }
}
