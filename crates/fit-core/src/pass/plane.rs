//! Least squares of a spot on a plane, with weights or without: see [`crate::spot::plane`].

use super::Summable;
use super::hidden::hide;
use super::least_squares::{LeastSquaresSeed, found, idle, prepare_on_plane};
use super::level::Weighing;
use super::method::{CANCELS, Finish, Method, RawFit};
use super::residual::tilted_chi2;
use super::tile::{Store, Tile};
use super::weigh::Noise;
use super::weighted::{heaviest, scaled, weighted_sums};
use crate::arithmetic::{Mask, Real};
use crate::error::ArgumentError;
use crate::options::Options;
use crate::search::solve::Symmetric;
use crate::search::{Evaluation, LaneState, MergeLanes, Newton, Normal, Search};
use crate::setup::Setup;
use crate::size::{Outline, Size};
use crate::spot::assembly::{NoSecond, Remainder};
use crate::spot::plane::{Tilt, TiltedSums, assemble_tilted};

/// Options for least squares of a spot on a plane, checked and prepared for one window size, one shape of spots and one
/// arithmetic. `WEIGHTED` is whether the notes of a tile are weights ([`super::WeightedFit`]), and `ROUGH` whether it is the paper's
/// iteration whatever the options say ([`super::RoughFit`]).
#[derive(Clone, Copy, Debug)]
pub struct PlaneFit<R, S, const P: usize, const WEIGHTED: bool, const ROUGH: bool>(Setup<R, S, P>);

impl<R: Real, S: Summable<P>, const P: usize, const WEIGHTED: bool, const ROUGH: bool>
    PlaneFit<R, S, P, WEIGHTED, ROUGH>
{
    /// Checks the window and the options for spots of the given shape; [`Options::shape`] is ignored. `mapped` says
    /// whether there is a camera map, by which the pixels have been converted to photo-electrons.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    #[inline(always)]
    pub fn for_shape(
        shape: S,
        size: Size,
        options: &Options,
        mapped: bool,
    ) -> Result<Self, ArgumentError> {
        let setup = if WEIGHTED {
            Setup::start_for_shape(shape, size, options)?
        } else {
            Setup::for_shape(shape, size, options)?
        };
        Ok(Self(if mapped { setup.of_photons() } else { setup }))
    }

    /// From a setup.
    #[inline(always)]
    pub fn from_setup(setup: Setup<R, S, P>) -> Self {
        Self(setup)
    }

    /// Whether no second derivatives are wanted.
    #[inline(always)]
    fn is_rough(&self) -> bool {
        WEIGHTED || ROUGH || (S::ROUGH && self.0.settings().newton == Newton::Never)
    }

    /// The sums of an evaluation and what a plane takes besides.
    #[inline(always)]
    fn sums<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &PlaneSeed<R, S::Constants<R>, P>,
        spot: S::Spot<R>,
    ) -> Evaluation<R, P, 4> {
        let PlaneSeed { least: LeastSquaresSeed { data, .. }, tilt, scale } = seed;
        let shape = self.0.shape();
        if WEIGHTED {
            let mut weights = TiltedWeights(tilt.middle);
            let all = shape.weigh::<_, _, _, false, true>(tile, spot, &mut weights);
            let sums = weighted_sums(&all, *scale);
            let mut tilted =
                TiltedSums { f: all.tilted.f, df: all.tilted.df, second: [Symmetric::zero(); 2] };
            for i in 0..2 {
                tilted.f[i] = tilted.f[i] * *scale;
                for j in 0..P {
                    tilted.df[i][j] = tilted.df[i][j] * *scale;
                }
            }
            let tilted = tilted.orthogonal(tilt);
            return assemble_tilted(&sums, &tilted, &NoSecond, data, tilt);
        }
        if self.is_rough() {
            let (sums, _, tilted) = shape.evaluate_tilted::<_, _, false>(tile, spot, tilt);
            return assemble_tilted(&sums, &tilted, &NoSecond, data, tilt);
        }
        let (sums, second, tilted) = shape.evaluate_tilted::<_, _, true>(tile, spot, tilt);
        debug_assert!(<S::Second<R> as Remainder<R, P>>::SOME);
        assemble_tilted(&sums, &tilted, &second, data, tilt)
    }
}

/// What a least-squares fit on a plane begins with.
#[derive(Clone, Copy, Debug)]
pub struct PlaneSeed<R: Real, C, const P: usize> {
    /// The same as without a plane, of pixels from which the slopes have been taken.
    pub least: LeastSquaresSeed<R, C, P>,
    /// The slopes.
    pub tilt: Tilt<R>,
    /// What weights are multiplied by ([`super::WeightedSeed`]).
    pub scale: R,
}

impl<R: Real, C: LaneState<R>, const P: usize> LaneState<R> for PlaneSeed<R, C, P> {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        self.least.merge(&other.least, how);
        self.tilt.merge(&other.tilt, how);
        self.scale = how.number(self.scale, other.scale);
    }
}

/// A pixel's weight, and its weighted value; with sums times the place.
struct TiltedWeights<R>([R; 2]);

impl<R: Real> Noise<R> for TiltedWeights<R> {
    const TILTED: bool = true;
    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        self.0
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: [R; 2], pixel: R, weight: R, _: R) -> [R; 2] {
        [weight, weight * pixel]
    }
}

impl<R: Real, S: Summable<P>, const P: usize, const WEIGHTED: bool, const ROUGH: bool> Method<R>
    for PlaneFit<R, S, P, WEIGHTED, ROUGH>
{
    type Seed = PlaneSeed<R, S::Constants<R>, P>;
    type Search = Search<R, S, P, 4>;
    type Evaluation = Evaluation<R, P, 4>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(&self.0)
    }
    #[inline(always)]
    fn takes_notes(&self) -> bool {
        WEIGHTED
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        let (shape, baseline, zero) = (self.0.shape(), self.0.units().1, R::splat(0.0));
        if !WEIGHTED {
            let ((least, tilt), usable) = prepare_on_plane::<_, _, _, P, false, false>(
                shape,
                tile,
                start,
                baseline,
                Weighing::Even,
                zero,
            );
            return (PlaneSeed { least, tilt, scale: R::splat(1.0) }, usable);
        }
        hide::<R, T, false>(tile, zero);
        let scale = heaviest(tile).normalizer();
        let ((mut least, tilt), usable) = prepare_on_plane::<_, _, _, P, true, false>(
            shape,
            tile,
            start,
            baseline,
            Weighing::Notes(scale),
            zero,
        );
        let usable = usable & scaled(tile, &mut least.data, scale);
        (PlaneSeed { least, tilt, scale }, usable)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        let least = idle(self.0.shape(), Setup::size(&self.0));
        PlaneSeed { least, tilt: Tilt::none(), scale: R::splat(1.0) }
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let PlaneSeed { least: LeastSquaresSeed { parameters, constants, data }, scale, .. } =
            *seed;
        let max_cost = self.0.max_cost(&data);
        let max_cost = if WEIGHTED { max_cost * scale } else { max_cost };
        Search::start(self.0.settings(), self.0.shape(), usable, max_cost, parameters, constants)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        let spot = self.0.shape().spot(self.0.profile(), search.constants(), search.trial());
        self.sums(tile, seed, spot)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        if WEIGHTED || ROUGH {
            search.update::<false>(self.0.settings(), self.0.shape(), evaluation);
        } else {
            search.update::<true>(self.0.settings(), self.0.shape(), evaluation);
        }
    }
    #[inline(always)]
    fn end<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
        ended: R::Mask,
        finish: Finish,
    ) -> RawFit<R> {
        let PlaneSeed { least: LeastSquaresSeed { data, .. }, tilt, scale } = seed;
        let Normal { mut cost, linear: [alpha, beta, along, across], .. } = *search.at_best();
        let cancels = match finish {
            Finish::Residuals => R::Mask::splat(true),
            Finish::WhereSumsCancel => cost.lt(R::splat(CANCELS * R::EPSILON) * data.spread),
        };
        if (cancels & ended).any() {
            let shape = self.0.shape();
            let spot = shape.spot(self.0.profile(), search.constants(), search.best());
            // Of the pixels without their slopes.
            let plane = tilt.plane(beta, [along - tilt.slopes[0], across - tilt.slopes[1]]);
            let exact = if WEIGHTED {
                tilted_chi2::<_, _, _, _, true, true>(tile, shape, spot, alpha, plane)
            } else {
                tilted_chi2::<_, _, _, _, false, true>(tile, shape, spot, alpha, plane)
            };
            let exact = if WEIGHTED { exact * *scale } else { exact };
            cost = R::select(cancels, exact, cost);
        }
        let cost = if WEIGHTED { cost * scale.reciprocal() } else { cost };
        let mut fit = found(&self.0, data, search, cost);
        // At the spot's centre.
        let [level, by_x, by_y] = tilt.plane(beta, [along, across]);
        let at_centre = by_x.mul_add(fit.outline.x, by_y.mul_add(fit.outline.y, level));
        let (photons, _) = self.0.units();
        fit.linear[1] = data.background(at_centre) * photons;
        fit.slopes = [data.amplitude(by_x) * photons, data.amplitude(by_y) * photons];
        fit
    }
}
