//! Weighted least squares: Σw(αf + β − g)², with a weight for each pixel.

use super::hidden::hide;
use super::least_squares::{found, idle, prepare, reported};
use super::method::{Finish, Method, RawFit};
use super::tile::{Store, Tile, keep};
use super::weigh::{Noise, Weighted};
use super::{Group, LeastSquaresSeed, SpotSearch, Summable};
use crate::arithmetic::Real;
use crate::error::ArgumentError;
use crate::options::Options;
use crate::search::solve::Symmetric;
use crate::search::{Evaluation, LaneState, MergeLanes, Search};
use crate::setup::Setup;
use crate::size::{Outline, Size};
use crate::spot::assembly::assemble;
use crate::spot::conditioning::Conditioning;
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

/// What a weighted fit begins with.
#[derive(Clone, Copy, Debug)]
pub struct WeightedSeed<R: Real, C, const P: usize> {
    /// The same as without weights; its sums over the pixels are weighted.
    pub least: LeastSquaresSeed<R, C, P>,
    /// The power of two that brings the largest weight of the window into [1, 2). All sums are multiplied by it, so that
    /// weights may be in any unit: their squares would leave the range of single precision.
    pub scale: R,
}

impl<R: Real, C: LaneState<R>, const P: usize> LaneState<R> for WeightedSeed<R, C, P> {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        self.least.merge(&other.least, how);
        self.scale = how.number(self.scale, other.scale);
    }
}

/// The largest weight of the window.
#[inline(always)]
pub(super) fn heaviest<R: Real, T: Tile<R>>(tile: &T) -> R {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut heaviest = zero;
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let weight = keep::<R, T>(in_window, tile.note(lane, line, place), zero);
            heaviest = heaviest.max(weight);
        }
    }
    -tile.group().least(-heaviest)
}

/// Makes the sums over conditioned pixels those with their weights, multiplied by `scale`. Returns the lanes in which they are
/// of use.
#[inline(always)]
pub(super) fn scaled<R: Real, T: Tile<R>>(
    tile: &T,
    data: &mut Conditioning<R>,
    scale: R,
) -> R::Mask {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let (mut n, mut sum, mut squares) = (zero, zero, zero);
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let weight = keep::<R, T>(in_window, tile.note(lane, line, place), zero);
            let pixel = tile.pixel(line, place);
            let weighted = weight * pixel;
            n = n + weight;
            sum = keep::<R, T>(in_window, sum + weighted, sum);
            squares = keep::<R, T>(in_window, weighted.mul_add(pixel, squares), squares);
        }
    }
    let group = tile.group();
    let (n, sum, squares) = (group.sum(n), group.sum(sum), group.sum(squares));
    data.n = n * scale;
    data.inverse_n = data.n.reciprocal();
    data.mean = sum * scale * data.inverse_n;
    data.spread = (sum * scale).neg_mul_add(data.mean, squares * scale).max(zero);
    zero.lt(data.spread) & data.spread.is_finite()
}

/// The sums of eq. 5 and 7 from those with weights, multiplied by `scale`.
#[inline(always)]
pub(super) fn weighted_sums<R: Real, const P: usize>(all: &Weighted<R, P>, scale: R) -> Sums<R, P> {
    let zero = R::splat(0.0);
    let mut sums: Sums<R, P> = Sums {
        f: all.f * scale,
        ff: all.ff * scale,
        fg: all.r_f * scale,
        df: [zero; P],
        f_df: [zero; P],
        g_df: [zero; P],
        df_df: Symmetric::zero(),
    };
    for j in 0..P {
        sums.df[j] = all.df[j] * scale;
        sums.f_df[j] = all.f_df[j] * scale;
        sums.g_df[j] = all.r_df[j] * scale;
        for k in 0..P {
            if k >= j {
                sums.df_df.0[j][k] = all.df_df.0[j][k] * scale;
            }
        }
    }
    sums
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
    type Seed = WeightedSeed<R, S::Constants<R>, P>;
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
        hide::<R, T, false>(tile, R::splat(0.0));
        let (seed, mut usable) = prepare(self.0.shape(), tile, start, self.0.units().1);
        let LeastSquaresSeed { parameters, constants, mut data } = seed;
        let scale = heaviest(tile).normalizer();
        usable = usable & scaled(tile, &mut data, scale);
        let least = LeastSquaresSeed { parameters, constants, data };
        (WeightedSeed { least, scale }, usable)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        let least = idle(self.0.shape(), Setup::size(&self.0));
        WeightedSeed { least, scale: R::splat(1.0) }
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let WeightedSeed { least: LeastSquaresSeed { parameters, constants, data }, scale } = *seed;
        let max_cost = self.0.max_cost(&data) * scale;
        Search::start(self.0.settings(), self.0.shape(), usable, max_cost, parameters, constants)
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
        let sums = weighted_sums(&all, seed.scale);
        assemble(&sums, &seed.least.data, self.0.background())
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
    ) -> RawFit<R> {
        let WeightedSeed { least: LeastSquaresSeed { data, .. }, scale } = seed;
        let when = (ended, finish);
        let cost = reported::<_, _, _, _, true>(&self.0, tile, data, search, when, *scale);
        let mut found = found(&self.0, data, search, cost);
        found.cost = found.cost * scale.reciprocal();
        found
    }
}
