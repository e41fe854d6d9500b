//! How far off fits are, beside how far off they say that they are.

use fit_core::{Estimator, PixelProfile, Shape};
use fit_tests::stated::{Case, PHOTONS, Reads, background};
use spotfit::{Backend, FitterOptions};

use super::SuiteError;
use super::experiments::{Run, STATED, keys};
use super::record::Data;

/// Estimators and cameras, each as a method of the record; those with a camera are measured with circular spots alone.
pub const METHODS: [(&str, Estimator, Reads); 8] = [
    ("maximum likelihood", Estimator::MaximumLikelihood, Reads::Photons),
    ("least squares", Estimator::LeastSquares, Reads::Photons),
    ("maximum likelihood, EM gain", Estimator::MaximumLikelihood, Reads::Multiplied),
    ("least squares, EM gain", Estimator::LeastSquares, Reads::Multiplied),
    ("maximum likelihood, sCMOS map", Estimator::MaximumLikelihood, Reads::Mapped),
    ("least squares, sCMOS map", Estimator::LeastSquares, Reads::Mapped),
    ("maximum likelihood, map ignored", Estimator::MaximumLikelihood, Reads::MapIgnored),
    ("least squares, map ignored", Estimator::LeastSquares, Reads::MapIgnored),
];

/// The shapes that a camera's spots have in this experiment, sampled and integrated.
fn cases(photons: f64, estimator: Estimator, reads: Reads) -> Vec<Case> {
    let all = Case::of_all_shapes([photons, background(photons)], reads, estimator);
    let wanted =
        |case: &Case| reads == Reads::Photons || matches!(case.options.shape, Shape::Circular(_));
    all.into_iter().filter(wanted).collect()
}

/// The word for spots that are sampled at the pixels' centres.
pub const SAMPLED: &str = "sampled";

/// Shape and profile of the spots of a case.
pub fn spots(case: &Case) -> String {
    let profile = match case.options.profile {
        PixelProfile::Sampled => SAMPLED,
        _ => "integrated",
    };
    format!("{}, {profile}", case.options.shape.name())
}

/// The name of a case in the record.
pub fn name(case: &Case) -> String {
    format!("{}:{}", spots(case), case.simulation.signal)
}

/// Every case of a method, in order.
pub fn of_method(estimator: Estimator, reads: Reads) -> impl Iterator<Item = Case> {
    PHOTONS.into_iter().flat_map(move |photons| cases(photons, estimator, reads))
}

/// Windows of a case.
pub const fn count(quick: bool) -> usize {
    if quick { 1000 } else { 20_000 }
}

impl Run {
    /// The rms of error over stated error of x and y together, fits that say that they know nothing left out.
    pub(super) fn stated(&mut self) -> Result<(), SuiteError> {
        let fitter = FitterOptions::default().with_backend(Backend::Cpu);
        let count = count(self.quick);
        for (method, estimator, reads) in METHODS {
            for case in of_method(estimator, reads) {
                self.cells(STATED, &keys(method, [name(&case)]), |_| {
                    Ok(vec![Data::Value(case.measure_with(count, &fitter).position())])
                })?;
            }
        }
        Ok(())
    }
}
