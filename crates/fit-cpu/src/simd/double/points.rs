//! The points of one data set in packs, part by part.
//!
//! Parts have so many points that their results stay in the caches, and their sums are added in their order: threads that share the
//! parts of a large data set find the same bits as one.

use std::ops::Range;

use fit_core::curve::Sums;
use fit_core::search::Count;
use fit_core::{Mask, Real};
use fit_curves::CurveBatch;
use fit_formula::{Axes, Function, Function2, Spline};
use rayon::prelude::*;

use super::functions;
use super::pack::Double;
use crate::curve::{
    AtPoint, Block, DataSet, Evaluate, EvaluateBlocks, Functions, Interpreter, Lattice,
    MOST_IN_PACKS, Packs, Places, RESULTS, Scaling, SetPoints, Step, Total, with_capacity_for,
};
#[cfg(lanes_avx2)]
use crate::simd::arch::avx2;
#[cfg(lanes_avx512)]
use crate::simd::arch::avx512;
use crate::simd::arch::portable::Double4;
use crate::simd::arch::register::Task;
use crate::simd::formulas::{RunSteps, lane_by_lane};

/// Points of a part, or at least a row of them.
pub(super) const PART: usize = 1 << 14;

/// Threads share the points of so many data sets at most: more of them are shared themselves.
pub(in crate::simd) const FEW: usize = 4;

/// Whether threads share the points of a data set of so many.
pub(in crate::simd) const fn is_long(points: usize) -> bool {
    points > 4 * PART
}

/// Parameters of models whose scaled sums have a room of their own.
const FEW_SCALED: usize = 5;

/// A formula at the points of a data set.
pub(super) struct Points<R> {
    parts: Vec<Part<R>>,
    /// Whether threads share the parts.
    shared: bool,
}

/// Some lines of points: those of one row, or rows of a grid.
struct Part<R> {
    model: Interpreter<R>,
    columns: Range<usize>,
    rows: Range<usize>,
    /// Points in a row of the data.
    across: usize,
    total: Total,
}

impl<R: Double + Functions> Points<R> {
    pub(super) fn new(batch: &CurveBatch<'_, '_, '_>) -> Self {
        let [columns, rows] = batch.extent;
        let part = |columns: Range<usize>, rows: Range<usize>| {
            let extent = [columns.len().div_ceil(R::LANES), rows.len()];
            let model = Interpreter::of(batch, extent);
            Part { model, columns, rows, across: batch.extent[0], total: Total::ZERO }
        };
        let cut = |all: usize, length: usize| {
            (0..all.div_ceil(length)).map(move |i| i * length..all.min((i + 1) * length))
        };
        let parts = match batch.axes {
            Axes::Together => cut(columns, PART).map(|own| part(own, 0..rows)).collect(),
            Axes::Grid => {
                cut(rows, (PART / columns.max(1)).max(1)).map(|own| part(0..columns, own)).collect()
            }
        };
        Self { parts, shared: is_long(columns * rows) && batch.curves.count() <= FEW }
    }

    /// Does something for each part, on the threads of this pool if they share the parts.
    fn each(&mut self, of: impl Fn(&mut Part<R>) + Sync + Send) {
        // What belongs to no pool has no threads to wake.
        if self.shared && rayon::current_thread_index().is_some() {
            self.parts.par_iter_mut().for_each(of);
        } else {
            self.parts.iter_mut().for_each(of);
        }
    }
}

impl<R: Double + Functions> Packs for Points<R> {
    fn set_points(&mut self, of: &(dyn Fn(usize, usize, usize) -> f64 + Sync)) {
        self.each(|Part { model, columns, rows, .. }| {
            model.set_points(|variable, pack, row| {
                let first = columns.start + pack * R::LANES;
                let mut lanes = [0.0; 8];
                for (lane, number) in lanes[..R::LANES].iter_mut().enumerate() {
                    // The last point again, where there is none.
                    let column = (first + lane).min(columns.end - 1);
                    *number = of(variable, column, rows.start + row);
                }
                R::load(&lanes)
            });
        });
    }
}

impl<R: Double + Functions> Places for Points<R> {
    fn place(&mut self, parameters: &[f64]) {
        // No more than a few operations each.
        self.parts.iter_mut().for_each(|part| part.model.place(parameters));
    }

    fn factors(&self, to: &mut [f64]) {
        let Some(part) = self.parts.first() else { return };
        let scales = Evaluate::<R, MOST_IN_PACKS>::scales(&part.model);
        for (to, scale) in to.iter_mut().zip(scales) {
            *to = scale.first();
        }
    }

    fn visit(&mut self, seen: DataSet<'_>, to: &mut Total) {
        if let [part] = self.parts.as_mut_slice() {
            sums(part, seen, to);
            return;
        }
        self.each(|part| {
            let mut total = Total::ZERO;
            sums(part, seen, &mut total);
            part.total = total;
        });
        for part in &self.parts {
            to.add(&part.total, seen.count);
        }
    }
}

/// The sums of a part.
fn sums<R: Double + Functions>(part: &mut Part<R>, seen: DataSet<'_>, to: &mut Total) {
    match seen.count {
        0..=FEW_SCALED if seen.scaled.is_some() => {
            R::compiled(Visit::<R, FEW_SCALED> { part, seen, to });
        }
        _ if seen.scaled.is_some() => R::compiled(Visit::<R, MOST_IN_PACKS> { part, seen, to }),
        count => with_capacity_for!(
            count,
            |CAPACITY| R::compiled(Visit::<R, CAPACITY> { part, seen, to }),
            R::compiled(Visit::<R, MOST_IN_PACKS> { part, seen, to }),
            [3 4 5 6 7]
        ),
    }
}

/// Visits the points of a part, for a model with room for N parameters. What has to be scaled, and what has priors, is rare, and so in two
/// rooms alone.
struct Visit<'a, R, const N: usize> {
    part: &'a mut Part<R>,
    seen: DataSet<'a>,
    to: &'a mut Total,
}

impl<R: Double + Functions, const N: usize> Task<R> for Visit<'_, R, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { part, seen, to } = self;
        let Part { model, columns, rows, across, .. } = part;
        let DataSet { data, weights, scaled, poisson, count } = seen;
        let mut sums = Sums::<R, N>::zero(Count::new(count));
        macro_rules! sum {
            (|$at:ident, $datum:ident, $weight:ident| $add:expr) => {
                for number in 0..model.blocks() {
                    let block = model.evaluate(number);
                    let results = Evaluate::<R, N>::block_values(model, &block);
                    let mut point = 0;
                    for row in block.rows() {
                        let line = (rows.start + row) * *across;
                        for pack in block.columns() {
                            let first = columns.start + pack * R::LANES;
                            let own = line + first..line + columns.end.min(first + R::LANES);
                            let $datum = R::load_some(&data[own.clone()], 0.0);
                            let $weight = R::load_some(&weights[own], 0.0);
                            let $at = results.at(point);
                            point += 1;
                            $add
                        }
                    }
                }
            };
        }
        let one = R::splat(1.0);
        match scaled {
            Some((scale, lengths)) if N == FEW_SCALED || N == MOST_IN_PACKS => {
                let scaling = Scaling::new(scale, lengths, model.scales());
                sum!(|at, datum, weight| {
                    scaling.add(at, [datum, weight], poisson, &mut sums);
                });
            }
            _ if poisson => sum!(|at, datum, weight| sums.add_poisson::<true>(&at, datum, weight)),
            _ => sum!(|at, datum, weight| sums.add_square::<true>(&at, datum, weight, one)),
        }
        let (normal, sound) = sums.normal(&[one; N]);
        to.cost = normal.cost.total();
        to.sound = sound.all();
        for j in 0..count.min(N) {
            to.gradient[j] = normal.gradient[j].total();
            for k in j..count.min(N) {
                to.hessian[j][k] = normal.hessian.0[j][k].total();
            }
        }
    }
}

/// What formulas call.
macro_rules! functions {
    ($($(#[$compiled:meta])? $pack:ty),*) => {$(
        $(#[$compiled])?
        impl Functions for $pack {
            #[inline(always)]
            fn call(function: Function, of: &[Self], to: &mut [Self]) {
                functions::call(function, of, to);
            }
            #[inline(always)]
            fn call2(function: Function2, x: Self, y: Self) -> Self {
                functions::call2(function, x, y)
            }
            #[inline(always)]
            fn spline(spline: &Spline, arguments: &[Self]) -> [Self; RESULTS] {
                lane_by_lane(arguments, |own| spline.at(own))
            }
            const LATTICE: bool = false;
            fn lattice(_: &Lattice, _: &mut [Self]) {}
            fn run(registers: &mut [Self], steps: &[Step], block: &Block) {
                Self::compiled(RunSteps { registers, steps, block });
            }
        }
    )*};
}
functions!(
    #[cfg(lanes_avx512)]
    avx512::F64x8,
    #[cfg(lanes_avx2)]
    avx2::F64x4,
    Double4
);
