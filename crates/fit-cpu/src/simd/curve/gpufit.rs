//! Gpufit's search in lanes.

use fit_core::curve::{Sums, Units};
use fit_core::search::{Count, Resumable};
use fit_core::{Estimator, Mask};
use fit_curves::{CurveBatch, GpufitChunk, GpufitOptions};
use fit_engine::gpufit::{GpufitSearch, GpufitSettings, GpufitState};
use fit_engine::single;

use super::engine::Seeds;
use super::search_kind::{LaneSearch, SearchKind};
use crate::curve::Evaluate;
use crate::simd::arch::pack::Pack;
use crate::simd::lanes::lanes;

/// Gpufit's search ([`fit_engine::gpufit`]).
pub(super) struct Gpufit(pub(super) GpufitOptions);

/// Its searches in lanes.
pub(super) struct Searches<P: Pack, const N: usize> {
    settings: GpufitSettings<P, N>,
    search: GpufitSearch<P, N>,
}

impl SearchKind for Gpufit {
    type Chunk<'c> = GpufitChunk<'c>;
    const MANY: bool = false;
    type LaneSearch<P: Pack, const N: usize> = Searches<P, N>;

    #[inline(always)]
    fn idle<P: Pack, const N: usize>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
    ) -> Searches<P, N> {
        let one = P::splat(1.0);
        let settings = GpufitSettings {
            tolerance: P::splat(f64::from(self.0.tolerance)),
            one,
            max_iterations: P::splat(self.0.most_iterations()),
            lower: [one; N],
            upper: [one; N],
            held: self.0.held(batch.options, N),
            count: Count::new(batch.options.parameters()),
        };
        let nobody = P::Mask::splat(false);
        let search = GpufitSearch::start(nobody, seeds.initial, Units::at(&seeds.initial).length);
        Searches { settings, search }
    }

    fn least_degrees(&self) -> f64 {
        f64::NEG_INFINITY
    }
}

impl<P: Pack, const N: usize> LaneSearch<P, N> for Searches<P, N> {
    type Kind = Gpufit;
    const OBSERVED: bool = true;

    #[inline(always)]
    fn trial(&self) -> &[P; N] {
        self.search.trial()
    }

    #[inline(always)]
    fn running(&self) -> P::Mask {
        self.search.running()
    }

    #[inline(always)]
    fn begin(&mut self, mask: P::Mask, seeds: &Seeds<P, N>) {
        self.settings.lower = seeds.lower;
        self.settings.upper = seeds.upper;
        let unit = seeds.unit.max(P::splat(-120.0)).min(P::splat(120.0));
        self.settings.one = P::splat(1.0).scaled(unit);
        let length = Units::at(&seeds.initial).length;
        let started = GpufitSearch::start(mask, seeds.initial, length);
        self.search.refill(mask, &started);
    }

    #[inline(always)]
    fn update<E: Evaluate<P, N>>(
        &mut self,
        sums: Sums<P, N>,
        model: &mut E,
        seeds: &Seeds<P, N>,
        poisson: bool,
    ) {
        let scales = seeds.scales(model, self.search.length());
        let (normal, positive) = sums.normal(&scales);
        let positive = positive | P::Mask::splat(!poisson);
        self.search.update(&self.settings, &normal, positive);
    }

    #[inline(always)]
    fn collect(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
        done: u32,
        fits: &[usize; 32],
        chunk: &mut GpufitChunk<'_>,
    ) {
        let count = batch.options.parameters();
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let code = |state: GpufitState| P::splat(f64::from(state as u8));
        // What single precision says of residuals that small, and of what cannot be solved, is rounding.
        let least =
            P::splat(if poisson { -1.0 } else { single::LEAST_RESIDUAL * single::LEAST_RESIDUAL });
        let cost = self.search.cost();
        let (state, singular) = (self.search.state(), code(GpufitState::Singular));
        let sound = (least * seeds.degrees.max(P::splat(1.0))).le(cost)
            & cost.is_finite()
            & !(singular.le(state) & state.le(singular));
        let sound = P::bits(sound);
        let mut parameters = [[0.0_f32; 32]; N];
        for (to, from) in parameters.iter_mut().zip(self.search.best()) {
            from.store(to);
        }
        let [mut chi2, mut iterations, mut states] = [[0.0_f32; 32]; 3];
        cost.scaled(-seeds.unit).store(&mut chi2);
        self.search.iterations().store(&mut iterations);
        self.search.state().store(&mut states);
        for lane in lanes(done) {
            let fit = fits[lane];
            if sound >> lane & 1 == 0 {
                chunk.leave(fit);
                continue;
            }
            let place = chunk.place(fit);
            for (to, from) in place.parameters.iter_mut().zip(&parameters[..count]) {
                *to = from[lane];
            }
            place.chi2[0] = chi2[lane];
            place.iterations[0] = iterations[lane] as i32;
            place.states[0] = states[lane] as i32;
        }
    }
}
