//! Least squares: what [`Setup`] fits.

use super::level::{Weighing, level};
use super::method::{CANCELS, Finish, Method, RawFit};
use super::tile::{Store, Tile};
use super::{Summable, condition, estimate, residual_chi2};
use crate::arithmetic::{Mask, Real};
use crate::search::{Evaluation, LaneState, MergeLanes, Newton, Normal, Search};
use crate::setup::Setup;
use crate::size::{Circle, Outline, Size};
use crate::spot::assembly::{LinearOnly, NoSecond, Remainder, assemble_with};
use crate::spot::conditioning::Conditioning;
use crate::spot::limits::Background;
use crate::spot::plane::{Tilt, assemble_tilted};

/// A search for the parameters of a spot, with amplitude and background in closed form.
pub type SpotSearch<R, S, const P: usize> = Search<R, S, P, 2>;

/// What a least-squares fit begins with.
#[derive(Clone, Copy, Debug)]
pub struct LeastSquaresSeed<R: Real, C, const P: usize> {
    /// The start.
    pub parameters: [R; P],
    /// What is known of the spot.
    pub constants: C,
    /// How the pixels were conditioned.
    pub data: Conditioning<R>,
}

impl<R: Real, C: LaneState<R>, const P: usize> LaneState<R> for LeastSquaresSeed<R, C, P> {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        self.parameters.merge(&other.parameters, how);
        self.constants.merge(&other.constants, how);
        self.data.merge(&other.data, how);
    }
}

/// Conditions the pixels, of which a dark one has the value `baseline`, and estimates the start where none is given.
/// Also returns the lanes in which there is something to fit.
#[inline(always)]
pub(super) fn prepare<R: Real, T: Store<R>, S: Summable<P>, const P: usize>(
    shape: &S,
    tile: &mut T,
    start: Option<Outline<R>>,
    baseline: R,
) -> (LeastSquaresSeed<R, S::Constants<R>, P>, R::Mask) {
    let (data, extent) = condition(tile);
    let data = data.with_baseline(baseline);
    let (parameters, constants) = match start {
        Some(start) => shape.parameters(start),
        None => shape.parameters(estimate(tile, &extent).into()),
    };
    let mut usable = data.usable;
    for j in 0..P {
        usable = usable & parameters[j].is_finite();
    }
    (LeastSquaresSeed { parameters, constants, data }, usable)
}

/// The same for a spot on a plane: also takes the slopes out of the pixels, which have weights ([`level`]).
#[inline(always)]
pub(super) fn prepare_on_plane<
    R: Real,
    T: Store<R>,
    S: Summable<P>,
    const P: usize,
    const NOTES: bool,
    const ABOVE: bool,
>(
    shape: &S,
    tile: &mut T,
    start: Option<Outline<R>>,
    baseline: R,
    weighing: Weighing<R>,
    bound: R,
) -> (OnPlane<R, S::Constants<R>, P>, R::Mask) {
    let (data, _) = condition(tile);
    let (tilt, data, extent) = level::<R, T, NOTES, ABOVE>(tile, &data, weighing, bound);
    let data = data.with_baseline(baseline);
    let (parameters, constants) = match start {
        Some(start) => shape.parameters(start),
        None => shape.parameters(estimate(tile, &extent).into()),
    };
    let mut usable = data.usable;
    for j in 0..P {
        usable = usable & parameters[j].is_finite();
    }
    ((LeastSquaresSeed { parameters, constants, data }, tilt), usable)
}

/// What a fit begins with, and the slopes of its pixels.
type OnPlane<R, C, const P: usize> = (LeastSquaresSeed<R, C, P>, Tilt<R>);

/// One evaluation of the paper's iteration, and the next trial.
#[inline(always)]
pub(super) fn step<R: Real, T: Tile<R>, S: Summable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    search: &mut SpotSearch<R, S, P>,
) {
    let evaluation = evaluate_roughly(setup, tile, data, search, &NoSecond);
    search.update::<false>(setup.settings(), setup.shape(), &evaluation);
}

/// The same for a spot on a plane.
#[inline(always)]
pub(super) fn step_on_plane<R: Real, T: Tile<R>, S: Summable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    tilt: &Tilt<R>,
    search: &mut Search<R, S, P, 4>,
) {
    let shape = setup.shape();
    let spot = shape.spot(setup.profile(), search.constants(), search.trial());
    let (sums, _, tilted) = shape.evaluate_tilted::<_, _, false>(tile, spot, tilt);
    let evaluation = assemble_tilted(&sums, &tilted, &NoSecond, data, tilt);
    search.update::<false>(setup.settings(), shape, &evaluation);
}

/// An evaluation without second derivatives.
#[inline(always)]
fn evaluate_roughly<R: Real, T: Tile<R>, S: Summable<P>, N: Remainder<R, P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    search: &SpotSearch<R, S, P>,
    none: &N,
) -> Evaluation<R, P, 2> {
    let shape = setup.shape();
    let spot = shape.spot(setup.profile(), search.constants(), search.trial());
    let (sums, _) = shape.evaluate::<_, _, false>(tile, spot);
    assemble_with(&sums, none, data, setup.background())
}

/// An evaluation with second derivatives.
#[inline(always)]
fn evaluate_exactly<R: Real, T: Tile<R>, S: Summable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    search: &SpotSearch<R, S, P>,
) -> Evaluation<R, P, 2> {
    let shape = setup.shape();
    let spot = shape.spot(setup.profile(), search.constants(), search.trial());
    let (sums, second) = shape.evaluate::<_, _, true>(tile, spot);
    assemble_with(&sums, &second, data, setup.background())
}

/// A seed for lanes without a fit.
#[inline(always)]
pub(super) fn idle<R: Real, S: Summable<P>, const P: usize>(
    shape: &S,
    size: Size,
) -> LeastSquaresSeed<R, S::Constants<R>, P> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let (parameters, constants) = shape.parameters(Circle::new(zero, zero, one).into());
    let data = Conditioning::raw(size.pixels(), zero, zero, R::Mask::splat(false));
    LeastSquaresSeed { parameters, constants, data }
}

/// The outcome of a search in the units of the pixels; more linear parameters than α and β are left to the caller.
#[inline(always)]
pub(super) fn found<R: Real, S: Summable<P>, const P: usize, const L: usize>(
    setup: &Setup<R, S, P>,
    data: &Conditioning<R>,
    search: &Search<R, S, P, L>,
    cost: R,
) -> RawFit<R> {
    let record = search.record(setup.settings(), setup.shape());
    let (alpha, beta) = (record.linear[0], record.linear[1]);
    let mut background = data.background(beta);
    // The last step of an early finish is not looked at again.
    let zero = R::splat(0.0);
    if setup.background() == Background::NonNegative {
        background = if setup.settings().newton == Newton::Never {
            R::select(background.lt(zero), zero, background)
        } else {
            background.max(zero)
        };
    }
    let (photons, _) = setup.units();
    RawFit {
        outline: setup.shape().outline(search.constants(), search.best()),
        linear: [data.amplitude(alpha) * photons, background * photons],
        slopes: [R::splat(0.0); 2],
        cost: data.chi2(cost) * photons * photons,
        iterations: record.iterations,
        evaluations: record.evaluations,
        status: record.status,
    }
}

/// The cost to report of the lanes that have ended: from the sums, or from the residuals where those cancel; `WEIGHTED` as for
/// [`residual_chi2`], with weights that are to be multiplied by `scale`.
#[inline(always)]
pub(super) fn reported<
    R: Real,
    T: Tile<R>,
    S: Summable<P>,
    const P: usize,
    const WEIGHTED: bool,
>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    search: &SpotSearch<R, S, P>,
    (ended, finish): (R::Mask, Finish),
    scale: R,
) -> R {
    let Normal { mut cost, linear, .. } = *search.at_best();
    let cancels = match finish {
        Finish::Residuals => R::Mask::splat(true),
        Finish::WhereSumsCancel => cost.lt(R::splat(CANCELS * R::EPSILON) * data.spread),
    };
    if (cancels & ended).any() {
        let spot = setup.shape().spot(setup.profile(), search.constants(), search.best());
        let exact = residual_chi2::<_, _, _, _, WEIGHTED>(tile, setup.shape(), spot, linear);
        let exact = if WEIGHTED { exact * scale } else { exact };
        cost = R::select(cancels, exact, cost);
    }
    cost
}

impl<R: Real, S: Summable<P>, const P: usize> Method<R> for Setup<R, S, P> {
    type Seed = LeastSquaresSeed<R, S::Constants<R>, P>;
    type Search = SpotSearch<R, S, P>;
    type Evaluation = Evaluation<R, P, 2>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(self)
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        prepare(self.shape(), tile, start, self.units().1)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        idle(self.shape(), Setup::size(self))
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let LeastSquaresSeed { parameters, constants, data } = *seed;
        let max_cost = self.max_cost(&data);
        Search::start(self.settings(), self.shape(), usable, max_cost, parameters, constants)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        if S::ROUGH && self.settings().newton == Newton::Never {
            return evaluate_roughly(self, tile, &seed.data, search, &NoSecond);
        }
        evaluate_exactly(self, tile, &seed.data, search)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        search.update::<true>(self.settings(), self.shape(), evaluation);
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
        let one = R::splat(1.0);
        let data = &seed.data;
        let cost = reported::<_, _, _, _, false>(self, tile, data, search, (ended, finish), one);
        found(self, data, search, cost)
    }
}

/// Least squares with second derivatives, whether the options ask for Newton steps or not: for machines on which the code of both
/// iterations would take more room than it saves work.
#[derive(Clone, Copy, Debug)]
pub struct ExactFit<R, S, const P: usize>(pub Setup<R, S, P>);

impl<R: Real, S: Summable<P>, const P: usize> Method<R> for ExactFit<R, S, P> {
    type Seed = LeastSquaresSeed<R, S::Constants<R>, P>;
    type Search = SpotSearch<R, S, P>;
    type Evaluation = Evaluation<R, P, 2>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(&self.0)
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        self.0.prepare(tile, start)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        self.0.idle()
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        self.0.begin(seed, usable)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        evaluate_exactly(&self.0, tile, &seed.data, search)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        self.0.update(search, evaluation);
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
        self.0.end(tile, seed, search, ended, finish)
    }
}

/// Least squares by the paper's iteration, whatever the options say of Newton steps: for machines whose registers have
/// no room for second derivatives. Its last step is taken without another look at the pixels, as a Newton step is
/// ([`crate::search::FORESEEN`]).
#[derive(Clone, Copy, Debug)]
pub struct RoughFit<R, S, const P: usize>(pub Setup<R, S, P>);

impl<R: Real, S: Summable<P>, const P: usize> Method<R> for RoughFit<R, S, P> {
    type Seed = LeastSquaresSeed<R, S::Constants<R>, P>;
    type Search = SpotSearch<R, S, P>;
    type Evaluation = Evaluation<R, P, 2>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(&self.0)
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        self.0.prepare(tile, start)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        self.0.idle()
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        self.0.begin(seed, usable)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        evaluate_roughly(&self.0, tile, &seed.data, search, &LinearOnly)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        let Self(setup) = self;
        search.update_and_foresee(setup.settings(), setup.shape(), evaluation);
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
        self.0.end(tile, seed, search, ended, finish)
    }
}
