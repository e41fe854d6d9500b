//! Models written in Rust, at the points of a data set.

use fit_core::curve::At;
use fit_curves::{CompiledModel, CurveNumber};

use super::block::Block;
use super::evaluate::{AtPoint, Evaluate, EvaluateBlocks, SetPoints};

/// A model with its variables at all points.
pub(crate) struct Compiled<'m, M, R, const P: usize, const V: usize> {
    model: &'m M,
    variables: [Vec<R>; V],
    parameters: [R; P],
    columns: usize,
}

impl<'m, M, R: CurveNumber, const P: usize, const V: usize> Compiled<'m, M, R, P, V> {
    /// For points in so many columns and rows.
    pub(crate) fn new(model: &'m M, [columns, rows]: [usize; 2]) -> Self {
        let variables = std::array::from_fn(|_| vec![R::splat(0.0); columns * rows]);
        Self { model, variables, parameters: [R::splat(1.0); P], columns }
    }
}

impl<M, R, const P: usize, const V: usize> SetPoints<R> for Compiled<'_, M, R, P, V> {
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> R + Sync) {
        let columns = self.columns;
        for (variable, numbers) in self.variables.iter_mut().enumerate() {
            for (point, to) in numbers.iter_mut().enumerate() {
                *to = of(variable, point % columns, point / columns);
            }
        }
    }
}

impl<M, R, const P: usize, const V: usize> EvaluateBlocks<R> for Compiled<'_, M, R, P, V>
where
    R: CurveNumber,
{
    #[inline(always)]
    fn variable(&mut self, number: usize) -> &mut [R] {
        &mut self.variables[number]
    }
    #[inline(always)]
    fn run_data(&mut self) {}
    #[inline(always)]
    fn set_parameters(&mut self, parameters: &[R]) {
        self.parameters.copy_from_slice(parameters);
    }
    #[inline(always)]
    fn blocks(&self) -> usize {
        1
    }
    #[inline(always)]
    fn evaluate(&mut self, _: usize) -> Block {
        Block::whole(self.variables.first().map_or(0, Vec::len))
    }
}

impl<M, R, const P: usize, const V: usize> Evaluate<R, P> for Compiled<'_, M, R, P, V>
where
    M: CompiledModel<P, V>,
    R: CurveNumber,
{
    type BlockValues<'a>
        = &'a Self
    where
        Self: 'a;

    #[inline(always)]
    fn block_values(&self, _: &Block) -> &Self {
        self
    }
    #[inline(always)]
    fn scales(&self) -> [R; P] {
        [R::splat(1.0); P]
    }
}

impl<M, R, const P: usize, const V: usize> AtPoint<R, P> for &Compiled<'_, M, R, P, V>
where
    M: CompiledModel<P, V>,
    R: CurveNumber,
{
    #[inline(always)]
    fn at(&self, point: usize) -> At<R, P> {
        let mut variables = [R::splat(0.0); V];
        for (to, numbers) in variables.iter_mut().zip(&self.variables) {
            *to = numbers[point];
        }
        self.model.at(self.parameters, variables)
    }
}
