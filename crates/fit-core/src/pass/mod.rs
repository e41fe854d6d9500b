//! The passes over the pixels of a window, each written once.
//!
//! A pass is a function of a [`Tile`]: the pixels of a window that one lane holds, wherever they lie (in memory, in
//! the registers of a thread, in memory that threads share), and the [`Group`] of lanes that share the window. A
//! single processor, a pack with a window in each lane and the threads of a GPU run the same code.

mod condition;
mod estimate;
mod evaluate;
mod group;
mod residual;
mod serial;
mod tile;

pub use condition::condition;
pub use estimate::estimate;
pub use evaluate::evaluate;
pub use group::{Alone, Group, sum_axis};
pub use residual::residual_chi2;
pub use serial::{Axes, Columns, Row, Rows, Serial};
pub use tile::{Along, Around, Line, Side, Store, Tile};

use crate::arithmetic::{Mask, Real};
use crate::outcome::Record;
use crate::search::{Normal, Search};
use crate::setup::Setup;
use crate::spot::assembly::assemble;
use crate::spot::conditioning::Conditioning;
use crate::spot::shape::Separable;

/// A search for the parameters of a spot, with amplitude and background in closed form.
pub type SpotSearch<R, S, const P: usize> = Search<R, S, P, 2>;

/// When the reported χ² is summed from the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Always.
    Residuals,
    /// Only if χ² from the sums is not accurate to about 10⁻⁴.
    WhereSumsCancel,
}

/// χ² from sums is worth reporting where it is more than this many rounding units of Σ(g − mean)², that
/// is, good to about 10⁻⁴; below, χ² is summed from the residuals.
const CANCELS: f64 = 4e4;

/// Fits one window from `start`, or from the paper's estimate. Returns the outcome in the units of the pixels; all
/// lanes of the group get the same.
#[inline(always)]
pub fn fit<R: Real, T: Store<R>, S: Separable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    start: Option<[R; P]>,
    finish: Finish,
) -> Record<R, P, 2> {
    let (data, extent) = condition(tile);
    let start = match start {
        Some(start) => start,
        None => setup.shape().parameters(estimate(tile, &extent)),
    };
    let mut search = begin(setup, &data, start);
    while search.running().any() {
        let sums = evaluate(tile, setup.shape(), search.trial());
        let evaluation = assemble(&sums, &data, setup.background());
        search.update(setup.settings(), setup.shape(), &evaluation);
    }
    end(setup, tile, &data, &search, R::Mask::splat(true), finish)
}

/// A search from `start` in conditioned pixels.
#[inline(always)]
pub fn begin<R: Real, S: Separable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    data: &Conditioning<R>,
    start: [R; P],
) -> SpotSearch<R, S, P> {
    let max_cost = setup.max_cost(data);
    Search::start(setup.settings(), setup.shape(), data.usable, max_cost, start)
}

/// The outcomes of the searches in the lanes of `ended`, in the units of the pixels.
#[inline(always)]
pub fn end<R: Real, T: Tile<R>, S: Separable<P>, const P: usize>(
    setup: &Setup<R, S, P>,
    tile: &mut T,
    data: &Conditioning<R>,
    search: &SpotSearch<R, S, P>,
    ended: R::Mask,
    finish: Finish,
) -> Record<R, P, 2> {
    let Normal { mut cost, linear, .. } = *search.at_best();
    let cancels = match finish {
        Finish::Residuals => R::Mask::splat(true),
        Finish::WhereSumsCancel => cost.lt(R::splat(CANCELS * R::EPSILON) * data.spread),
    };
    if (cancels & ended).any() {
        let exact = residual_chi2(tile, setup.shape(), search.best(), linear);
        cost = R::select(cancels, exact, cost);
    }
    let [alpha, beta] = linear;
    Record {
        linear: [data.amplitude(alpha), data.background(beta)],
        cost: data.chi2(cost),
        ..search.record(setup.settings())
    }
}
