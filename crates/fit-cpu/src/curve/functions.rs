//! The functions that formulas call, in the arithmetic of a backend.

use fit_core::Real;
use fit_formula::{Function, Function2, Spline};

use super::block::Block;
use super::lattice::Lattice;
use super::lookup::RESULTS;
use super::steps::Step;

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
    /// [`super::run`], compiled once for these numbers.
    fn run(registers: &mut [Self], steps: &[Step], block: &Block);
}
