//! What evaluates a model at the points of a data set.

use fit_core::curve::At;

use super::block::Block;
use super::borrowed::BorrowedDataset;
use super::functions::Functions;
use super::interpreter::{Interpreter, Results};

/// What takes the variables at the points.
pub(crate) trait SetPoints<R> {
    /// Takes them: `of` gives that of a variable, a column and a row.
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R + Sync);
    /// What reads data and points where they lie in memory, if this does.
    fn borrowed(&mut self) -> Option<&mut (dyn BorrowedDataset + '_)> {
        None
    }
}

/// Evaluates a model with room for P parameters.
pub(crate) trait Evaluate<R, const P: usize>: SetPoints<R> {
    /// The model at the points of a block.
    type BlockValues<'a>: AtPoint<R, P>
    where
        Self: 'a;

    /// Where the values of a variable belong, one for each point, for points that lie anywhere.
    fn variable(&mut self, number: usize) -> &mut [R];
    /// Does what depends on variables alone.
    fn run_data(&mut self);
    /// Takes parameters.
    fn set_parameters(&mut self, parameters: &[R]);
    /// How many blocks of points there are.
    fn blocks(&self) -> usize;
    /// Evaluates the model at the points of a block.
    fn evaluate(&mut self, number: usize) -> Block;
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

impl<R: Functions> SetPoints<R> for Interpreter<R> {
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R + Sync) {
        Self::set_points(self, of);
    }
}

impl<R: Functions, const P: usize> Evaluate<R, P> for Interpreter<R> {
    type BlockValues<'a>
        = Results<'a, R, P>
    where
        Self: 'a;

    #[inline(always)]
    fn variable(&mut self, number: usize) -> &mut [R] {
        Self::variable(self, number)
    }
    #[inline(always)]
    fn run_data(&mut self) {
        Self::run_data(self);
    }
    #[inline(always)]
    fn set_parameters(&mut self, parameters: &[R]) {
        Self::set_parameters(self, parameters);
    }
    #[inline(always)]
    fn blocks(&self) -> usize {
        Self::blocks(self)
    }
    #[inline(always)]
    fn evaluate(&mut self, number: usize) -> Block {
        Self::evaluate(self, number)
    }
    #[inline(always)]
    fn block_values(&self, block: &Block) -> Results<'_, R, P> {
        self.results::<P>(block)
    }
    #[inline(always)]
    fn scales(&self) -> [R; P] {
        Self::scales::<P>(self)
    }
}

impl<R: Functions, const P: usize> AtPoint<R, P> for Results<'_, R, P> {
    #[inline(always)]
    fn at(&self, point: usize) -> At<R, P> {
        Self::at(self, point)
    }
}
