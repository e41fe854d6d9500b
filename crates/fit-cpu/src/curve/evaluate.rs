//! What evaluates a model at the points of a data set.

use fit_core::Real;
use fit_core::curve::At;
use fit_curves::{CurveBatch, Points};

use super::block::Block;
use super::borrowed::BorrowedDataset;

/// What takes the variables at the points.
pub(crate) trait SetPoints<R> {
    /// Takes them: `of` gives that of a variable, a column and a row.
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R + Sync);
    /// Goes on to a data set.
    fn begin(&mut self, _: usize) {}
    /// What reads data and points where they lie in memory, if this does.
    fn borrowed(&mut self) -> Option<&mut (dyn BorrowedDataset + '_)> {
        None
    }
}

/// Takes the variables of a batch, if they are the same for all fits.
pub(crate) fn set_points<R: Real>(batch: &CurveBatch<'_, '_, '_>, model: &mut impl SetPoints<R>) {
    match batch.curves.points {
        Points::Index => model.set_points(|_, column, _| R::splat(column as f64)),
        Points::Grid { .. } => model.set_points(|variable, column, row| {
            R::splat(if variable == 0 { column } else { row } as f64)
        }),
        Points::Shared(at) => {
            model.set_points(|variable, column, _| R::splat(at.get([variable, column])));
        }
        _ => {}
    }
}

/// Evaluates a model at the points of a data set, block by block.
pub(crate) trait EvaluateBlocks<R>: SetPoints<R> {
    /// Where the values of a variable belong, one for each point, for points that lie anywhere.
    fn variable(&mut self, number: usize) -> &mut [R];
    /// Does what depends on variables alone.
    fn run_data(&mut self);
    /// Takes parameters, and does what does not differ from point to point.
    fn set_parameters(&mut self, parameters: &[R]);
    /// How many blocks of points there are.
    fn blocks(&self) -> usize;
    /// Evaluates the model and its derivatives at the points of a block.
    fn evaluate(&mut self, number: usize) -> Block;
}

/// The same with room for P parameters.
pub(crate) trait Evaluate<R, const P: usize>: EvaluateBlocks<R> {
    /// The model at the points of a block.
    type BlockValues<'a>: AtPoint<R, P>
    where
        Self: 'a;

    /// The values there.
    fn block_values(&self, block: &Block) -> Self::BlockValues<'_>;
    /// The factors that the derivatives come without.
    fn scales(&self) -> [R; P];
}

/// The model at points of a block.
pub(crate) trait AtPoint<R, const P: usize> {
    /// At a point, with the derivatives but for their factors.
    fn at(&self, point: usize) -> At<R, P>;
}
