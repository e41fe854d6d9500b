//! Least squares, by any [`Setup`].

use super::hidden::hide;
use super::level::{Weighing, level};
use super::method::{CANCELS, Finish, Method, RawFit};
use super::residual::residual_chi2;
use super::tile::{Store, Tile};
use super::weighted::{Weights, heaviest, scaled};
use super::{Summable, condition, estimate};
use crate::arithmetic::{Mask, Real, Task};
use crate::search::{Evaluation, LaneState, MergeLanes, Newton, Search};
use crate::setup::{AS_ASKED, EXACT, ROUGH, Setup};
use crate::size::{Circle, Outline, Size};
use crate::spot::assembly::{NoSecond, Remainder, assemble_with};
use crate::spot::conditioning::Conditioning;
use crate::spot::limits::Background;
use crate::spot::plane::{Tilt, TiltedSums, assemble_tilted, plane_at};
use crate::spot::sums::Sums;

/// A search for the parameters of a spot, with amplitude and background in closed form.
pub type SpotSearch<R, S, const P: usize> = Search<R, S, P, 2>;
/// Least squares with second derivatives ([`EXACT`]).
pub type ExactFit<R, S, const P: usize> = Setup<R, S, P, 2, false, EXACT>;
/// Least squares by the paper's iteration ([`ROUGH`]).
pub type RoughFit<R, S, const P: usize> = Setup<R, S, P, 2, false, ROUGH>;
/// Weighted least squares.
pub type WeightedFit<R, S, const P: usize> = Setup<R, S, P, 2, true>;
/// Least squares of a spot on a plane.
pub type PlaneFit<R, S, const P: usize, const WEIGHTED: bool, const ITERATION: u8 = AS_ASKED> =
    Setup<R, S, P, 4, WEIGHTED, ITERATION>;

/// What a least-squares fit begins with, of [`Setup`]s with the same L and `WEIGHTED`.
#[derive(Clone, Copy, Debug)]
pub struct LeastSquaresSeed<
    R: Real,
    C,
    const P: usize,
    const L: usize = 2,
    const WEIGHTED: bool = false,
> {
    /// The start.
    pub parameters: [R; P],
    /// What is known of the spot.
    pub constants: C,
    /// How the pixels were conditioned; of the sums over them, those with their weights.
    pub data: Conditioning<R>,
    /// The slopes that have been taken from the pixels.
    pub tilt: Tilt<R>,
    /// The power of two that brings the largest weight of the window into [1, 2). All sums are multiplied by it, so that
    /// weights may be in any unit: their squares would leave the range of single precision.
    pub scale: R,
}

impl<R: Real, C: LaneState<R>, const P: usize, const L: usize, const WEIGHTED: bool> LaneState<R>
    for LeastSquaresSeed<R, C, P, L, WEIGHTED>
{
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        self.parameters.merge(&other.parameters, how);
        self.constants.merge(&other.constants, how);
        self.data.merge(&other.data, how);
        if const { L > 2 } {
            self.tilt.merge(&other.tilt, how);
        }
        if WEIGHTED {
            self.scale.merge(&other.scale, how);
        }
    }
}

impl<R: Real, C, const P: usize, const L: usize, const WEIGHTED: bool>
    LeastSquaresSeed<R, C, P, L, WEIGHTED>
{
    /// Of pixels without slopes or weights.
    #[inline(always)]
    pub fn new((parameters, constants): ([R; P], C), data: Conditioning<R>) -> Self {
        Self { parameters, constants, data, tilt: Tilt::none(), scale: R::splat(1.0) }
    }
}

/// Conditions the pixels, of which a dark one has the value `baseline`, and estimates the start where none is given.
/// Also returns the lanes in which there is something to fit. For a spot on a plane it also takes the slopes out of the pixels
/// ([`level`]).
#[inline(always)]
pub(super) fn prepare<
    R: Real,
    T: Store<R>,
    S: Summable<P>,
    const P: usize,
    const L: usize,
    const WEIGHTED: bool,
    const NOTES: bool,
    const ABOVE: bool,
>(
    shape: &S,
    tile: &mut T,
    start: Option<Outline<R>>,
    baseline: R,
    weighing: Weighing<R>,
    bound: R,
) -> (LeastSquaresSeed<R, S::Constants<R>, P, L, WEIGHTED>, R::Mask) {
    let estimated = start.is_none();
    let (data, tilt, estimate) = if const { L > 2 } {
        R::compiled(Look::<_, _, true, NOTES, ABOVE> { tile, baseline, weighing, bound, estimated })
    } else {
        R::compiled(Look::<_, _, false, false, false> {
            tile,
            baseline,
            weighing,
            bound,
            estimated,
        })
    };
    let begin = shape.parameters(start.unwrap_or(estimate.into()));
    let mut usable = data.usable;
    for j in 0..P {
        usable = usable & begin.0[j].is_finite();
    }
    (LeastSquaresSeed { tilt, ..LeastSquaresSeed::new(begin, data) }, usable)
}

/// Conditions the pixels, takes out their slopes if there is a `PLANE`, and estimates the spot if that is wanted: what is the same for
/// all shapes.
struct Look<'a, R, T, const PLANE: bool, const NOTES: bool, const ABOVE: bool> {
    tile: &'a mut T,
    baseline: R,
    weighing: Weighing<R>,
    bound: R,
    estimated: bool,
}

impl<R: Real, T: Store<R>, const PLANE: bool, const NOTES: bool, const ABOVE: bool> Task<R>
    for Look<'_, R, T, PLANE, NOTES, ABOVE>
{
    type Output = (Conditioning<R>, Tilt<R>, Circle<R>);
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { tile, baseline, weighing, bound, estimated } = self;
        let (mut data, mut extent) = condition(tile);
        let mut tilt = Tilt::none();
        if PLANE {
            (tilt, data, extent) = level::<R, T, NOTES, ABOVE>(tile, &data, weighing, bound);
        }
        let (data, zero) = (data.with_baseline(baseline), R::splat(0.0));
        let none = Circle::new(zero, zero, zero);
        (data, tilt, if estimated { estimate(tile, &extent) } else { none })
    }
}

/// A seed for lanes without a fit.
#[inline(always)]
pub(super) fn idle<
    R: Real,
    S: Summable<P>,
    const P: usize,
    const L: usize,
    const WEIGHTED: bool,
>(
    shape: &S,
    size: Size,
) -> LeastSquaresSeed<R, S::Constants<R>, P, L, WEIGHTED> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let begin = shape.parameters(Circle::new(zero, zero, one).into());
    let data = Conditioning::raw(size.pixels(), zero, zero, R::Mask::splat(false));
    LeastSquaresSeed::new(begin, data)
}

/// One evaluation of the paper's iteration, and the next trial.
#[inline(always)]
pub(super) fn step<R: Real, T: Tile<R>, S: Summable<P>, const P: usize, const L: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    tilt: &Tilt<R>,
    search: &mut Search<R, S, P, L>,
) {
    let shape = setup.shape();
    let spot = shape.spot(setup.profile(), search.constants(), search.trial());
    let (sums, _, tilted) = shape.evaluate::<_, _, false, L>(tile, spot, tilt);
    let none = NoSecond::<false>;
    let evaluation = assembled((&sums, &tilted), &none, data, tilt, setup.background());
    search.update::<false>(setup.settings(), shape, &evaluation);
}

/// The evaluation that sums make, on a plane if L > 2.
#[inline(always)]
fn assembled<R: Real, N: Remainder<R, P>, const P: usize, const L: usize>(
    (sums, tilted): (&Sums<R, P>, &TiltedSums<R, P>),
    second: &N,
    data: &Conditioning<R>,
    tilt: &Tilt<R>,
    background: Background,
) -> Evaluation<R, P, L> {
    if const { L > 2 } {
        assemble_tilted(sums, tilted, second, data, tilt)
    } else {
        assemble_with(sums, second, data, background)
    }
}

impl<
    R: Real,
    S: Summable<P>,
    const P: usize,
    const L: usize,
    const WEIGHTED: bool,
    const ITERATION: u8,
> Method<R> for Setup<R, S, P, L, WEIGHTED, ITERATION>
{
    type Seed = LeastSquaresSeed<R, S::Constants<R>, P, L, WEIGHTED>;
    type Search = Search<R, S, P, L>;
    type Evaluation = Evaluation<R, P, L>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(self)
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
        let (shape, baseline, zero) = (self.shape(), self.units().1, R::splat(0.0));
        if !WEIGHTED {
            let even = Weighing::Even;
            return prepare::<_, _, _, P, L, _, false, false>(
                shape, tile, start, baseline, even, zero,
            );
        }
        hide::<R, T, false>(tile, zero);
        // Where the slopes are taken out the weights are needed before the start.
        let mut scale = R::splat(1.0);
        if const { L > 2 } {
            scale = heaviest(tile).normalizer();
        }
        let notes = Weighing::Notes(scale);
        let (mut seed, usable) =
            prepare::<_, _, _, P, L, _, true, false>(shape, tile, start, baseline, notes, zero);
        if const { L == 2 } {
            scale = heaviest(tile).normalizer();
        }
        let usable = usable & scaled(tile, &mut seed.data, scale);
        (LeastSquaresSeed { scale, ..seed }, usable)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        idle(self.shape(), Setup::size(self))
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let LeastSquaresSeed { parameters, constants, data, scale, .. } = *seed;
        let max_cost = self.max_cost(&data);
        let max_cost = if WEIGHTED { max_cost * scale } else { max_cost };
        Search::start(self.settings(), self.shape(), usable, max_cost, parameters, constants)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        let LeastSquaresSeed { data, tilt, scale, .. } = seed;
        let (shape, background) = (self.shape(), self.background());
        let spot = shape.spot(self.profile(), search.constants(), search.trial());
        if WEIGHTED {
            let mut weights = Weights::<R, L>(tilt.middle);
            let all = shape.weigh::<_, _, _, false, true>(tile, spot, &mut weights);
            let (sums, tilted) = all.scaled(*scale);
            let sums = (&sums, &tilted.orthogonal(tilt));
            return assembled(sums, &NoSecond::<false>, data, tilt, background);
        }
        if ITERATION == ROUGH {
            let (sums, _, tilted) = shape.evaluate::<_, _, false, L>(tile, spot, tilt);
            return assembled((&sums, &tilted), &NoSecond::<true>, data, tilt, background);
        }
        if ITERATION == AS_ASKED && S::ROUGH && self.settings().newton == Newton::Never {
            let (sums, _, tilted) = shape.evaluate::<_, _, false, L>(tile, spot, tilt);
            return assembled((&sums, &tilted), &NoSecond::<false>, data, tilt, background);
        }
        let (sums, second, tilted) = shape.evaluate::<_, _, true, L>(tile, spot, tilt);
        assembled((&sums, &tilted), &second, data, tilt, background)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        let (settings, shape) = (self.settings(), self.shape());
        if WEIGHTED || (ITERATION == ROUGH && L > 2) {
            search.update::<false>(settings, shape, evaluation);
        } else if ITERATION == ROUGH {
            search.update_and_foresee(settings, shape, evaluation);
        } else {
            search.update::<true>(settings, shape, evaluation);
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
        let LeastSquaresSeed { data, tilt, scale, .. } = seed;
        let (mut cost, linear) = (search.at_best().cost, search.at_best().linear);
        let (alpha, beta, zero) = (linear[0], linear[1], R::splat(0.0));
        // From the sums, or from the residuals where those cancel.
        let cancels = match finish {
            Finish::Residuals => R::Mask::splat(true),
            Finish::WhereSumsCancel => cost.lt(R::splat(CANCELS * R::EPSILON) * data.spread),
        };
        if (cancels & ended).any() {
            let spot = self.shape().spot(self.profile(), search.constants(), search.best());
            let mut plane = [beta, zero, zero];
            if const { L > 2 } {
                // Of the pixels without their slopes.
                plane = tilt.plane(beta, [linear[2] - tilt.slopes[0], linear[3] - tilt.slopes[1]]);
            }
            let exact =
                residual_chi2::<_, _, _, _, WEIGHTED, L>(tile, self.shape(), spot, alpha, plane);
            let exact = if WEIGHTED { exact * *scale } else { exact };
            cost = R::select(cancels, exact, cost);
        }
        let unit = scale.reciprocal();
        if WEIGHTED && L > 2 {
            cost = cost * unit;
        }
        let record = search.record(self.settings(), self.shape());
        let mut background = data.background(beta);
        // The last step of an early finish is not looked at again.
        if self.background() == Background::NonNegative {
            background = if self.settings().newton == Newton::Never {
                R::select(background.lt(zero), zero, background)
            } else {
                background.max(zero)
            };
        }
        let (photons, _) = self.units();
        let mut fit = RawFit {
            outline: self.shape().outline(search.constants(), search.best()),
            linear: [data.amplitude(alpha) * photons, background * photons],
            slopes: [zero; 2],
            cost: data.chi2(cost) * photons * photons,
            iterations: record.iterations,
            evaluations: record.evaluations,
            status: record.status,
        };
        if WEIGHTED && L == 2 {
            fit.cost = fit.cost * unit;
        }
        if const { L > 2 } {
            // At the spot's centre.
            let plane = tilt.plane(beta, [linear[2], linear[3]]);
            let [_, by_x, by_y] = plane;
            let at_centre = plane_at(plane, [fit.outline.x, fit.outline.y]);
            fit.linear[1] = data.background(at_centre) * photons;
            fit.slopes = [data.amplitude(by_x) * photons, data.amplitude(by_y) * photons];
        }
        fit
    }
}
