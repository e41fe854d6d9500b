//! What formulas need of packs of either precision.

use fit_engine::functions::Elementary;
use fit_formula::{Function2, MAX_SPLINE_AXES};

use super::arch::pack::Vector;
use super::arch::register::Task;
use crate::curve::{Block, Functions, RESULTS, Step, run};

/// A function of two numbers, but for powers.
#[inline(always)]
pub(super) fn call2<P: Elementary>(function: Function2, x: P, y: P) -> P {
    match function {
        // Of a number and NaN it is the number, and of equal ones, as 0 and −0, the first.
        Function2::Min => P::select(y.lt(x) | !x.le(x), y, x),
        Function2::Max => P::select(x.lt(y) | !x.le(x), y, x),
        other => x.both(y, |x, y| other.value(x, y)),
    }
}

/// A function of numbers lane by lane: a spline, and its slopes along all axes.
#[inline(always)]
pub(super) fn lane_by_lane<P: Vector>(
    arguments: &[P],
    of: impl Fn(&[P::Number]) -> [P::Number; RESULTS],
) -> [P; RESULTS] {
    let (mut given, mut results) = ([P::splat(0.0); MAX_SPLINE_AXES], [P::splat(0.0); RESULTS]);
    given[..arguments.len()].copy_from_slice(arguments);
    let (from, to) = (P::numbers(&mut given), P::numbers(&mut results));
    let mut own = [P::Number::default(); MAX_SPLINE_AXES];
    let own = &mut own[..arguments.len()];
    for lane in 0..P::LANES {
        for (number, from) in own.iter_mut().zip(from.chunks_exact(P::LANES)) {
            *number = from[lane];
        }
        for (to, result) in to.chunks_exact_mut(P::LANES).zip(of(own)) {
            to[lane] = result;
        }
    }
    results
}

/// Runs the steps of a program.
pub(super) struct RunSteps<'a, P> {
    pub(super) registers: &'a mut [P],
    pub(super) steps: &'a [Step],
    pub(super) block: &'a Block,
}

impl<P: Functions> Task<P> for RunSteps<'_, P> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        run(self.registers, self.steps, self.block);
    }
}
