//! The functions that formulas call, in the arithmetic of a backend.

use fit_core::Real;
use fit_formula::{Function, Function2};

/// A number, or a pack of them, that formulas can be evaluated in.
pub(crate) trait Functions: Real {
    /// A function of one number.
    fn call(function: Function, x: Self) -> Self;
    /// A function of two.
    fn call2(function: Function2, x: Self, y: Self) -> Self;
}

impl Functions for f64 {
    #[inline]
    fn call(function: Function, x: Self) -> Self {
        function.value(x)
    }
    #[inline]
    fn call2(function: Function2, x: Self, y: Self) -> Self {
        function.value(x, y)
    }
}
