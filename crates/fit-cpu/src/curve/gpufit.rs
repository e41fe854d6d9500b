//! Gpufit's search for one data set.

use fit_core::Estimator;
use fit_core::curve::Units;
use fit_core::search::{Count, Resumable};
use fit_curves::{CurveBatch, GpufitOptions, GpufitPlace};
use fit_engine::gpufit::{GpufitSearch, GpufitSettings, GpufitState};

use super::engine::{Begin, Work, with_capacity_for};
use super::visit::Formulated;

impl Work<Formulated<'_>> {
    /// Fits a data set, and writes the outcome.
    #[cfg_attr(not(feature = "whole"), inline)]
    pub(crate) fn fit_gpufit(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        options: &GpufitOptions,
        place: GpufitPlace<'_>,
    ) {
        self.take(batch, fit);
        let Begin { start, limits, .. } = std::mem::take(&mut self.begin);
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let nothing = |place: GpufitPlace<'_>| {
            place.put(&start, GpufitState::Singular, f64::NAN, 1.0);
        };
        let seen = self.see(poisson);
        if !(seen.sound && seen.heaviest.is_finite()) {
            return nothing(place);
        }
        with_capacity_for!(
            start.len(),
            |CAPACITY| self.search_gpufit::<CAPACITY>(&start, &limits, batch, options, place),
            nothing(place),
            [2 3 4 5 6 7 16 64]
        );
    }

    fn search_gpufit<const P: usize>(
        &mut self,
        start: &[f64],
        limits: &[[f64; 2]],
        batch: &CurveBatch<'_, '_, '_>,
        options: &GpufitOptions,
        place: GpufitPlace<'_>,
    ) {
        let count = start.len();
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let (mut initial, mut lower, mut upper) = ([0.0; P], [0.0; P], [0.0; P]);
        initial[..count].copy_from_slice(start);
        for (j, limits) in limits.iter().enumerate() {
            [lower[j], upper[j]] = *limits;
        }
        let settings = GpufitSettings {
            tolerance: f64::from(options.tolerance),
            one: 1.0,
            max_iterations: options.most_iterations(),
            lower,
            upper,
            held: options.held(batch.options, P),
            count: Count::new(count),
        };
        let units = Units::at(&initial);
        let mut search = GpufitSearch::start(true, initial, units.length);
        while search.running() {
            let sums = self.sums::<P, true>(search.trial(), poisson, &units);
            let (normal, positive) = sums.normal(&self.scales(&units));
            search.update(&settings, &normal, positive || !poisson);
        }
        let state = GpufitState::from_code(search.state() as u8).unwrap_or(GpufitState::Singular);
        place.put(&search.best()[..count], state, search.cost(), search.iterations());
    }
}
