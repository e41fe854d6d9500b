//! The functions that formulas call, in the arithmetic of a backend.

use fit_core::Real;
use fit_formula::{Function, Function2};

use super::interpreter::{Block, Step, run};

/// A number, or a pack of them, that formulas can be evaluated in.
pub(crate) trait Functions: Real {
    /// A function of each number.
    fn call(function: Function, of: &[Self], to: &mut [Self]);
    /// A function of two.
    fn call2(function: Function2, x: Self, y: Self) -> Self;
    /// [`run`], compiled once for these numbers.
    fn run(registers: &mut [Self], steps: &[Step], block: &Block);
}

impl Functions for f64 {
    #[inline]
    fn call(function: Function, of: &[Self], to: &mut [Self]) {
        for (to, &x) in to.iter_mut().zip(of) {
            *to = function.value(x);
        }
    }
    #[inline]
    fn call2(function: Function2, x: Self, y: Self) -> Self {
        function.value(x, y)
    }
    fn run(registers: &mut [Self], steps: &[Step], block: &Block) {
        run(registers, steps, block);
    }
}
