//! The threads of a cooperative fit, and what they are told.

use fit_core::arithmetic::{Mask, Real};

/// The threads of a cooperative fit.
pub const COOPERATIVE_THREADS: usize = 32;

/// A data set, a model of up to N parameters at its points, and the threads that fit it together.
pub trait Cooperative<R: Real, const N: usize> {
    /// A number of which a compiler does not know that it is always the same, so that it keeps a loop a loop.
    fn times(&self, number: usize) -> usize;

    /// The number of points over that of the threads, rounded up. In a round each thread has a point.
    fn rounds(&self) -> usize;
    /// Whether this thread has a point in a round.
    fn has(&self, round: usize) -> R::Mask;
    /// What was measured at its point; anything if it has none.
    fn datum(&self, round: usize) -> R;
    /// Whether points have weights, and whether they are this data set's own.
    fn weighted(&self) -> [bool; 2];
    /// The weight of its point; anything if it has none.
    fn weight(&self, round: usize) -> R;

    /// Takes the parameters, of which each thread has one.
    fn prepare(&mut self, parameter: R);
    /// The model at the point of this thread. Its derivatives, but for their factors, are noted.
    fn model(&mut self, round: usize) -> R;
    /// Notes a residual and a weight beside the derivatives, which are no more noted where the point does not count.
    fn note(&mut self, counts: R::Mask, residual: R, weight: R);
    /// The derivative by this thread's own parameter at a point of the round, the residual there, and the weight. A thread
    /// looks at N points of each round.
    fn noted(&self, point: usize) -> [R; 3];
    /// The derivatives by four parameters in a row at such a point.
    fn derivatives(&self, point: usize, four: usize) -> [R; 4];
    /// All threads have looked at what was noted.
    fn forget(&mut self);
    /// The factor that the derivative by this thread's own parameter came without.
    fn scale(&self) -> R;

    /// Shows a number to the others: it is number j − `by` for the thread of parameter j, counted round N.
    fn show(&mut self, value: R, by: usize);
    /// Four of these numbers in a row.
    fn shown(&self, four: usize) -> [R; 4];
    /// The number that the thread of a parameter has.
    fn of(&self, parameter: usize, value: R) -> R;
    /// Whether this is the thread of a parameter.
    fn is(&self, parameter: usize) -> R::Mask;
    /// Whether it is that of one of these parameters, a bit for each.
    fn is_among(&self, parameters: u32) -> R::Mask;
    /// The sum of what all threads have.
    fn sum(&self, value: R) -> R;
    /// The largest of it.
    fn most(&self, value: R) -> R;
    /// The sum over the threads of the same parameter.
    fn of_same(&self, value: R) -> R;
    /// The sum over parameters.
    fn over(&self, value: R) -> R;

    /// Whether something holds for all parameters.
    #[inline(always)]
    fn all(&self, mask: R::Mask) -> bool {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        self.most(R::select(mask, zero, one)).le(zero).any()
    }
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions<R> {
    /// The deviance of counts is minimized, and not squares of residuals.
    pub poisson: bool,
    /// The parameters that are eliminated, a bit for each.
    pub eliminated: u32,
    /// The largest number of iterations.
    pub max_iterations: R,
    /// A fit ends where a step is predicted to gain less than this share of the cost for each degree of freedom.
    pub share: R,
    /// Or less than this of the cost.
    pub square: R,
    /// The weights of all fits were multiplied by two to this power.
    pub weight_unit: R,
}

/// Where the search begins by a thread's own parameter. One that the model has not has limits that are equal, and derivatives of 0.
#[derive(Clone, Copy, Debug)]
pub struct ParameterStart<R> {
    /// The start value.
    pub initial: R,
    /// The lower limit.
    pub lower: R,
    /// The upper limit.
    pub upper: R,
}
