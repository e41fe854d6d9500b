//! The functions that formulas call, in the arithmetic of a backend.

use fit_core::Real;
use fit_formula::{Function, Function2, Spline};

use super::interpreter::{Block, Step, run};
use super::lattice::Lattice;
use super::lookup::RESULTS;

/// A number, or a pack of them, that formulas can be evaluated in.
pub(crate) trait Functions: Real {
    /// A function of each number.
    fn call(function: Function, of: &[Self], to: &mut [Self]);
    /// A function of two.
    fn call2(function: Function2, x: Self, y: Self) -> Self;
    /// A spline, and its slopes along all axes.
    fn spline(spline: &Spline, arguments: &[Self]) -> [Self; RESULTS];
    /// Whether splines on a lattice have a way of their own ([`Functions::lattice`]).
    const LATTICE: bool;
    /// A spline on a lattice.
    fn lattice(lattice: &Lattice, registers: &mut [Self]);
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
    #[inline]
    fn spline(spline: &Spline, arguments: &[Self]) -> [Self; RESULTS] {
        spline.at(arguments)
    }
    // One way is enough for what others are judged by.
    const LATTICE: bool = false;
    fn lattice(_: &Lattice, _: &mut [Self]) {}
    fn run(registers: &mut [Self], steps: &[Step], block: &Block) {
        run(registers, steps, block);
    }
}
