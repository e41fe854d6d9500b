//! Weighted least squares: Σw(αf + β − g)², with a weight for each pixel.

use super::least_squares::{found, idle};
use super::method::{CANCELS, Finish, Found, Method};
use super::tile::{Store, Tile, keep};
use super::weigh::Noise;
use super::{Group, LeastSquaresSeed, SpotSearch, Summable, condition, estimate, residual_chi2};
use crate::arithmetic::{Mask, Real};
use crate::error::ArgumentError;
use crate::options::Options;
use crate::search::{Evaluation, Normal, Search};
use crate::setup::Setup;
use crate::size::{Outline, Size};
use crate::spot::assembly::assemble;
use crate::spot::sums::Sums;

/// Options for weighted least squares, checked and prepared for one window size, one shape of spots and one
/// arithmetic. The notes of a tile are the weights: finite, ≥ 0; a pixel of weight 0 is not there.
#[derive(Clone, Copy, Debug)]
pub struct WeightedFit<R, S, const P: usize>(Setup<R, S, P>);

impl<R: Real, S: Summable<P>, const P: usize> WeightedFit<R, S, P> {
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
        let setup = Setup::start_for_shape(shape, size, options)?;
        Ok(Self(if mapped { setup.of_photons() } else { setup }))
    }

    /// From a setup for the paper's iteration.
    #[inline(always)]
    pub fn from_setup(setup: Setup<R, S, P>) -> Self {
        Self(setup)
    }
}

/// Puts the lowest of the other pixels in the place of those that are `hidden`, so that nothing is seen there.
#[inline(always)]
pub(super) fn hide<R: Real, T: Store<R>, const ABOVE: bool>(tile: &mut T, bound: R) {
    let (lane, length) = (tile.group().lane(), tile.length());
    let far = R::splat(f64::MAX);
    let (mut low, mut any) = (far, R::Mask::splat(false));
    for line in 0..tile.lines() {
        let there = tile.there(lane, line);
        for place in 0..length {
            let hidden = is_hidden::<R, ABOVE>(tile.note(lane, line, place), bound);
            let seen = tile.pixel(line, place).min(low);
            low = R::select(there & !hidden, seen, low);
            any = any | (there & hidden);
        }
    }
    low = tile.group().least(low);
    if !any.any() {
        tile.publish();
        return;
    }
    for line in 0..tile.lines() {
        let there = tile.there(lane, line);
        for place in 0..length {
            let hidden = is_hidden::<R, ABOVE>(tile.note(lane, line, place), bound);
            tile.set(line, place, there & hidden, R::select(hidden, low, tile.pixel(line, place)));
        }
    }
    tile.publish();
}

/// Whether a note is above a bound, or else not above it.
#[inline(always)]
fn is_hidden<R: Real, const ABOVE: bool>(note: R, bound: R) -> R::Mask {
    if ABOVE { bound.lt(note) } else { note.le(bound) }
}

/// A pixel's weight, and its weighted value.
struct Weights;

impl<R: Real> Noise<R> for Weights {
    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: [R; 2], pixel: R, weight: R, _: R) -> [R; 2] {
        [weight, weight * pixel]
    }
}

impl<R: Real, S: Summable<P>, const P: usize> Method<R> for WeightedFit<R, S, P> {
    type Seed = LeastSquaresSeed<R, S::Constants<R>, P>;
    type Search = SpotSearch<R, S, P>;
    type Evaluation = Evaluation<R, P, 2>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(&self.0)
    }
    #[inline(always)]
    fn takes_notes(&self) -> bool {
        true
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        let zero = R::splat(0.0);
        hide::<R, T, false>(tile, zero);
        let (mut data, extent) = condition(tile);
        let (parameters, constants) = match start {
            Some(start) => self.0.shape().parameters(start),
            None => self.0.shape().parameters(estimate(tile, &extent).into()),
        };
        let (lane, length) = (tile.group().lane(), tile.length());
        let (mut n, mut sum, mut squares) = (zero, zero, zero);
        for line in 0..tile.lines() {
            let there = tile.there(lane, line);
            for place in 0..length {
                let weight = keep::<R, T>(there, tile.note(lane, line, place), zero);
                let pixel = tile.pixel(line, place);
                let weighted = weight * pixel;
                n = n + weight;
                sum = keep::<R, T>(there, sum + weighted, sum);
                squares = keep::<R, T>(there, weighted.mul_add(pixel, squares), squares);
            }
        }
        let group = tile.group();
        let (n, sum, squares) = (group.sum(n), group.sum(sum), group.sum(squares));
        data.n = n;
        data.inverse_n = n.reciprocal();
        data.mean = sum * data.inverse_n;
        data.spread = sum.neg_mul_add(data.mean, squares).max(zero);
        let mut usable = data.usable & zero.lt(data.spread) & data.spread.is_finite();
        for j in 0..P {
            usable = usable & parameters[j].is_finite();
        }
        (LeastSquaresSeed { parameters, constants, data }, usable)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        idle(self.0.shape(), Setup::size(&self.0))
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let LeastSquaresSeed { parameters, constants, data } = *seed;
        let max_cost = self.0.max_cost(&data);
        Search::start(self.0.settings(), self.0.shape(), usable, max_cost, parameters, constants)
    }
    #[inline(always)]
    fn refill(search: &mut Self::Search, mask: R::Mask, other: &Self::Search) {
        search.refill(mask, other);
    }
    #[inline(always)]
    fn running(search: &Self::Search) -> R::Mask {
        search.running()
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        let shape = self.0.shape();
        let spot = shape.spot(self.0.profile(), search.constants(), search.trial());
        let all = shape.weigh::<_, _, _, false, true>(tile, spot, &mut Weights);
        let sums: Sums<R, P> = Sums {
            f: all.f,
            ff: all.ff,
            fg: all.r_f,
            df: all.df,
            f_df: all.f_df,
            g_df: all.r_df,
            df_df: all.df_df,
        };
        assemble(&sums, &seed.data, self.0.background())
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        search.update::<false>(self.0.settings(), self.0.shape(), evaluation);
    }
    #[inline(always)]
    fn end<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
        ended: R::Mask,
        finish: Finish,
    ) -> Found<R> {
        let Normal { mut cost, linear, .. } = *search.at_best();
        let cancels = match finish {
            Finish::Residuals => R::Mask::splat(true),
            Finish::WhereSumsCancel => cost.lt(R::splat(CANCELS * R::EPSILON) * seed.data.spread),
        };
        if (cancels & ended).any() {
            let shape = self.0.shape();
            let spot = shape.spot(self.0.profile(), search.constants(), search.best());
            let exact = residual_chi2::<_, _, _, _, true>(tile, shape, spot, linear);
            cost = R::select(cancels, exact, cost);
        }
        found(&self.0, &seed.data, search, cost)
    }
}
