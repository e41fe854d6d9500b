//! The search of this project in lanes.

use fit_core::Mask;
use fit_core::curve::{Factored, LevenbergMarquardt, Sums, Units, covariance, is_surely_pushed};
use fit_core::search::{Count, Normal, Resumable, Settings};
use fit_curves::{Chunk, CurveBatch, SingleFit};
use fit_engine::single;

use super::engine::Seeds;
use super::search_kind::{LaneSearch, SearchKind};
use crate::curve::{Evaluate, settings};
use crate::simd::arch::pack::Pack;
use crate::simd::lanes::lanes;

/// The search that ends within a share of a standard error from the minimum.
pub(super) struct TrustRegionLm;

/// Its searches in lanes.
pub(super) struct Searches<P: Pack, const N: usize> {
    descent: LevenbergMarquardt<P, N>,
    count: usize,
    /// Where a fit ends: a share of χ² for each degree of freedom, and in units of the cost.
    share: f64,
    square: f64,
}

impl SearchKind for TrustRegionLm {
    type Chunk<'c> = Chunk<'c>;
    const MANY: bool = true;
    type LaneSearch<P: Pack, const N: usize> = Searches<P, N>;

    #[inline(always)]
    fn idle<P: Pack, const N: usize>(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
    ) -> Searches<P, N> {
        let zero = P::splat(0.0);
        let options = batch.options;
        let settings = settings(options, 0, [[zero; N]; 2], [zero; 2]);
        let [share, square] = options.ends();
        let units = Units::at(&seeds.initial);
        let nobody = P::Mask::splat(false);
        let descent =
            LevenbergMarquardt::start(settings, batch.explicit, nobody, seeds.initial, units);
        Searches { descent, count: options.parameters(), share, square }
    }

    fn least_degrees(&self) -> f64 {
        1.0
    }
}

impl<P: Pack, const N: usize> LaneSearch<P, N> for Searches<P, N> {
    type Kind = TrustRegionLm;
    const OBSERVED: bool = false;

    #[inline(always)]
    fn trial(&self) -> &[P; N] {
        self.descent.search().trial()
    }

    #[inline(always)]
    fn running(&self) -> P::Mask {
        self.descent.running()
    }

    #[inline(always)]
    fn begin(&mut self, mask: P::Mask, seeds: &Seeds<P, N>) {
        let Seeds { initial, lower, upper, unit, degrees, .. } = *seeds;
        let LevenbergMarquardt { settings, explicit, .. } = &mut self.descent;
        settings.lower = lower;
        settings.upper = upper;
        settings.finish = P::splat(self.share) / degrees;
        let unit = unit.max(P::splat(-250.0)).min(P::splat(250.0));
        settings.tolerance = P::splat(self.square).scaled(unit);
        let units = Units::at(&initial);
        let started = LevenbergMarquardt::start(*settings, *explicit, mask, initial, units);
        self.descent.refill(mask, &started);
    }

    #[inline(always)]
    fn update<E: Evaluate<P, N>>(
        &mut self,
        sums: Sums<P, N>,
        model: &mut E,
        seeds: &Seeds<P, N>,
        poisson: bool,
    ) {
        let mut model = Scaled { model, scale: seeds.scale, count: self.count };
        self.descent.step(sums, &mut model, poisson, seeds.size, seeds.degrees);
    }

    #[inline(always)]
    fn collect(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        seeds: &Seeds<P, N>,
        done: u32,
        fits: &[usize; 32],
        chunk: &mut Chunk<'_>,
    ) {
        let (one, infinite) = (P::splat(1.0), P::splat(f64::INFINITY));
        let (record, search) = (self.descent.record(), self.descent.search());
        let Normal { gradient, hessian, .. } = search.at_best();
        let Settings { finish, tolerance, .. } = self.descent.settings;
        let little = finish.mul_add(record.cost, tolerance);
        let mut held = [P::Mask::splat(false); N];
        let mut doubted = held;
        let mut degrees = seeds.degrees;
        for j in 0..N {
            let at = record.parameters[j];
            let free = seeds.lower[j].lt(seeds.upper[j]);
            let on_limit = free & (at.le(seeds.lower[j]) | seeds.upper[j].le(at));
            let pushed = is_surely_pushed(gradient[j], hessian.0[j][j], seeds.size, little);
            degrees = degrees + P::select(on_limit & pushed, one, P::splat(0.0));
            // Whether the data push the others, single precision does not tell.
            doubted[j] = on_limit & !pushed;
            held[j] = !free | on_limit;
        }
        let count = Count::new(self.count);
        let all = covariance(count, hessian, &Units::at(&[one; N]), &held, one);
        let mut numbers = Lanes::<N>::new();
        for j in 0..N {
            record.parameters[j].store(&mut numbers.parameters[j]);
            search.constants().length[j].store(&mut numbers.lengths[j]);
            // 1/(1 − R²): where it is large, rounding of the sums is all that tells parameters apart.
            let alone = hessian.0[j][j] * all.at(j, j);
            let told = alone.le(P::splat(single::MOST_ALIKE)) & !doubted[j];
            let error = P::select(told, all.at(j, j).sqrt(), infinite);
            error.store(&mut numbers.errors[j]);
            for k in 0..N {
                if k >= j && batch.options.covariance {
                    all.at(j, k).store(&mut numbers.covariance[j][k]);
                }
            }
        }
        let Seeds { unit, size, .. } = *seeds;
        let Lanes { others, .. } = &mut numbers;
        let raw = single::status(count, search.status(), gradient, &all, little);
        let of = [record.cost, record.iterations, record.evaluations, record.status, raw];
        for (to, number) in others.iter_mut().zip(of.into_iter().chain([unit, degrees, size])) {
            number.store(to);
        }
        for lane in lanes(done) {
            let fit = fits[lane];
            if !numbers.put(batch, self.count, lane, fit, chunk) {
                chunk.leave(fit);
            }
        }
    }
}

/// A model whose derivatives are of the data as they were scaled.
struct Scaled<'a, E, P> {
    model: &'a mut E,
    scale: P,
    count: usize,
}

impl<P: Pack, const N: usize, E: Evaluate<P, N>> Factored<P, N> for Scaled<'_, E, P> {
    #[inline(always)]
    fn prepare(&mut self, parameters: &[P; N]) {
        self.model.set_parameters(&parameters[..self.count]);
    }
    #[inline(always)]
    fn factors(&self) -> [P; N] {
        let mut factors = self.model.scales();
        for factor in &mut factors {
            *factor = *factor * self.scale;
        }
        factors
    }
}

/// What was found, for all lanes.
struct Lanes<const N: usize> {
    parameters: [[f32; 32]; N],
    lengths: [[f32; 32]; N],
    errors: [[f32; 32]; N],
    covariance: [[[f32; 32]; N]; N],
    /// Cost, iterations, evaluations, status with and without a look at the limits, unit, degrees of freedom and size.
    others: [[f32; 32]; 8],
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn new() -> Self {
        let none = [0.0; 32];
        Self {
            parameters: [none; N],
            lengths: [none; N],
            errors: [none; N],
            covariance: [[none; N]; N],
            others: [none; 8],
        }
    }

    /// Writes the outcome of a lane; false if it is none.
    fn put(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        count: usize,
        lane: usize,
        fit: usize,
        chunk: &mut Chunk<'_>,
    ) -> bool {
        let of = |all: &[[f32; 32]; N]| all.map(|numbers| numbers[lane]);
        let [parameters, lengths, errors] =
            [of(&self.parameters), of(&self.lengths), of(&self.errors)];
        let single = SingleFit {
            parameters: &parameters[..count],
            lengths: &lengths[..count],
            errors: &errors[..count],
            numbers: self.others.map(|numbers| numbers[lane]),
        };
        single.put(batch, fit, |j, k| self.covariance[j][k][lane], chunk)
    }
}
