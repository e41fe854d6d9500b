//! What visits the points of one data set: number by number, or in packs of points.

use fit_core::curve::Sums;
use fit_core::search::Count;
use fit_curves::CompiledModel;

use super::borrowed::BorrowedDataset;
use super::compiled::Compiled;
use super::evaluate::{AtPoint, Evaluate, EvaluateBlocks, SetPoints};
use super::feet::Orthogonal;
use super::interpreter::Interpreter;
use super::places::{DataSet, MOST_IN_PACKS, Places, Scaling, Total};

/// Sums over the points, for a model with room for P parameters.
pub(crate) trait Visit<const P: usize>: SetPoints<f64> {
    /// Takes parameters.
    fn place(&mut self, parameters: &[f64; P]);
    /// The factors that the derivatives come without.
    fn factors(&self) -> [f64; P];
    /// The sums, with the Hessian that Gpufit has if it is to be `OBSERVED`.
    fn visit<const OBSERVED: bool>(&mut self, seen: DataSet<'_>) -> Sums<f64, P>;
}

/// The sums, number by number.
fn sums<E, const P: usize, const OBSERVED: bool>(model: &mut E, seen: DataSet<'_>) -> Sums<f64, P>
where
    E: Evaluate<f64, P>,
{
    let DataSet { data, weights, scaled, poisson, count } = seen;
    let mut sums = Sums::zero(Count::new(count));
    if let Some((scale, lengths)) = scaled {
        let scaling = Scaling::new(scale, lengths, model.scales());
        for number in 0..model.blocks() {
            let block = model.evaluate(number);
            let results = model.block_values(&block);
            for (at, point) in block.points().enumerate() {
                let seen = [data[point], weights[point]];
                scaling.add(results.at(at), seen, poisson, &mut sums);
            }
        }
        return sums;
    }
    for number in 0..model.blocks() {
        let block = model.evaluate(number);
        let results = model.block_values(&block);
        for (at, point) in block.points().enumerate() {
            let (datum, weight) = (data[point], weights[point]);
            if poisson && OBSERVED {
                sums.add_observed(&results.at(at), datum, weight);
            } else if poisson {
                sums.add_poisson::<true>(&results.at(at), datum, weight);
            } else {
                sums.add_square::<true>(&results.at(at), datum, weight, 1.0);
            }
        }
    }
    sums
}

impl<M, const P: usize, const V: usize> Visit<P> for Compiled<'_, M, f64, P, V>
where
    M: CompiledModel<P, V>,
{
    fn place(&mut self, parameters: &[f64; P]) {
        self.set_parameters(parameters);
    }
    fn factors(&self) -> [f64; P] {
        self.scales()
    }
    fn visit<const OBSERVED: bool>(&mut self, seen: DataSet<'_>) -> Sums<f64, P> {
        sums::<_, P, OBSERVED>(self, seen)
    }
}

/// A formula at the points of a data set.
pub(crate) enum Formulated<'a> {
    /// Number by number, with the functions of `libm`.
    Plain(Box<Interpreter<f64>>),
    /// Points in packs.
    Packs(Box<dyn Packs>),
    /// Points in packs, where they lie in memory.
    BorrowedDataset(Box<dyn BorrowedDataset + 'a>),
    /// With errors of the variables.
    Orthogonal(Box<Orthogonal<'a>>),
}

/// A formula at points in packs that it has taken.
pub(crate) trait Packs: Places + Send {
    /// Takes the variables at the points: `of` gives that of a variable, a column and a row.
    fn set_points(&mut self, of: &(dyn Fn(usize, usize, usize) -> f64 + Sync));
}

fn factors<V: Places + ?Sized, const P: usize>(packs: &V) -> [f64; P] {
    let mut factors = [0.0; P];
    packs.factors(&mut factors);
    factors
}

fn visited<V: Places + ?Sized, const P: usize>(packs: &mut V, seen: DataSet<'_>) -> Sums<f64, P> {
    let mut total = Total::ZERO;
    packs.visit(seen, &mut total);
    let Total { cost, sound, gradient, hessian } = &total;
    let count = Count::new(seen.count.min(MOST_IN_PACKS));
    let room = |j: usize| j < MOST_IN_PACKS;
    Sums::of(
        count,
        *cost,
        *sound,
        |j| if room(j) { gradient[j] } else { 0.0 },
        |j, k| if room(k) { hessian[j][k] } else { 0.0 },
    )
}

impl SetPoints<f64> for Formulated<'_> {
    fn set_points(&mut self, of: impl Fn(usize, usize, usize) -> f64 + Sync) {
        match self {
            Self::Plain(model) => model.set_points(of),
            Self::Packs(packs) => packs.set_points(&of),
            // They are there.
            Self::BorrowedDataset(_) => {}
            Self::Orthogonal(model) => model.set_points(of),
        }
    }
    fn begin(&mut self, fit: usize) {
        if let Self::Orthogonal(model) = self {
            model.begin(fit);
        }
    }
    fn borrowed(&mut self) -> Option<&mut (dyn BorrowedDataset + '_)> {
        match self {
            Self::BorrowedDataset(held) => Some(&mut **held),
            _ => None,
        }
    }
}

impl<const P: usize> Visit<P> for Formulated<'_> {
    fn place(&mut self, parameters: &[f64; P]) {
        match self {
            Self::Plain(model) => model.set_parameters(parameters),
            Self::Packs(packs) => packs.place(parameters),
            Self::BorrowedDataset(held) => held.place(parameters),
            Self::Orthogonal(model) => model.place(parameters),
        }
    }
    fn factors(&self) -> [f64; P] {
        match self {
            Self::Plain(model) => model.scales(),
            Self::Packs(packs) => factors(&**packs),
            Self::BorrowedDataset(held) => factors(&**held),
            Self::Orthogonal(_) => [1.0; P],
        }
    }
    fn visit<const OBSERVED: bool>(&mut self, seen: DataSet<'_>) -> Sums<f64, P> {
        match self {
            Self::Plain(model) => sums::<_, P, OBSERVED>(&mut **model, seen),
            Self::Packs(packs) => visited(&mut **packs, seen),
            Self::BorrowedDataset(held) => visited(&mut **held, seen),
            Self::Orthogonal(model) => model.visit(seen),
        }
    }
}
