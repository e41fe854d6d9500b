//! Splines that formulas call, with all their slopes at once.

use fit_formula::{Arguments, MAX_SPLINE_AXES, Spline};

use super::functions::Functions;
use super::interpreter::{Block, Place, Step};

/// The value of a spline, and its slopes.
pub(crate) const RESULTS: usize = MAX_SPLINE_AXES + 1;

/// A spline, what it is called with, and where its value and its slopes go.
#[derive(Clone, Debug)]
pub(crate) struct Lookup {
    spline: Spline,
    number: u16,
    arguments: Arguments,
    operands: [Place; MAX_SPLINE_AXES],
    to: [Option<usize>; RESULTS],
    wide: bool,
    high: bool,
}

impl Lookup {
    /// Without results yet.
    pub(super) fn new(
        spline: &Spline,
        number: u16,
        arguments: Arguments,
        places: impl Iterator<Item = Place>,
        [wide, high]: [bool; 2],
    ) -> Self {
        let mut operands = [Place::default(); MAX_SPLINE_AXES];
        for (to, place) in operands.iter_mut().zip(places) {
            *to = place;
        }
        let to = [None; RESULTS];
        Self { spline: spline.clone(), number, arguments, operands, to, wide, high }
    }

    /// The one of these steps that calls the same spline with the same, or a new one behind them.
    pub(super) fn among(
        steps: &mut Vec<Step>,
        number: u16,
        arguments: Arguments,
        new: impl FnOnce() -> Self,
    ) -> &mut Self {
        let same = |step: &Step| match step {
            Step::Spline(lookup) => lookup.number == number && lookup.arguments == arguments,
            Step::One(_) | Step::Lattice(_) => false,
        };
        let at = steps.iter().position(same).unwrap_or_else(|| {
            steps.push(Step::Spline(Box::new(new())));
            steps.len() - 1
        });
        match &mut steps[at] {
            Step::Spline(lookup) => lookup,
            _ => unreachable!("it was found, or made"),
        }
    }

    /// Where the value goes, or the slope along an axis, counted from 1.
    pub(super) fn set_result(&mut self, by: u8, at: usize) {
        self.to[usize::from(by)] = Some(at);
    }

    /// Evaluates it at the points of a block.
    #[inline(always)]
    pub(super) fn run<R: Functions>(&self, registers: &mut [R], block: &Block) {
        let columns = if self.wide { block.columns } else { 1 };
        let rows = if self.high { block.rows } else { 1 };
        let operands = &self.operands[..self.arguments.ids().len()];
        let mut arguments = [R::splat(0.0); MAX_SPLINE_AXES];
        let arguments = &mut arguments[..operands.len()];
        for row in 0..rows {
            for column in 0..columns {
                for (to, place) in arguments.iter_mut().zip(operands) {
                    *to = registers[place.of(block) + row * place.row + column * place.column];
                }
                let results = R::spline(&self.spline, arguments);
                for (to, result) in self.to.iter().zip(results) {
                    if let Some(to) = to {
                        registers[to + row * columns + column] = result;
                    }
                }
            }
        }
    }
}
