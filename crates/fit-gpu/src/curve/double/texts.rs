//! Kernels as text, for tests.

use fit_formula::{Function, Function2, Program};

use super::functions::{call, call2};
use super::kernel::{self, DoubleJob, DoubleVariant};
use super::text::{Real, Text};

/// What a kernel is made for; it has a data set in each thread, and finds the covariance.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Whether data are of double precision.
    pub wide: bool,
    /// Whether points have weights.
    pub weighted: bool,
    /// Maximum likelihood in place of least squares.
    pub poisson: bool,
    /// Whether a parameter that is not held has limits.
    pub limited: bool,
}

/// Bytes of a kernel's job: addresses of data, what single precision found, weights, variables, both limits and what is found, of 64 bits
/// each; the most iterations; and the counts of data sets and points, whether data are halves, and three steps, of 32 bits each.
pub const JOB: usize = size_of::<DoubleJob>();

/// The text of the kernel that finishes searches, if there is one.
pub fn finishing(program: &Program, variant: Variant) -> Option<String> {
    let Variant { wide, weighted, poisson, limited } = variant;
    let (warp, absolute, covariance) = (false, false, true);
    let variant = DoubleVariant { warp, wide, weighted, poisson, absolute, limited, covariance };
    kernel::finishing(program, variant)
}

/// The numbers that it finds of a fit with so many parameters.
pub fn found_numbers(parameters: usize) -> usize {
    kernel::found_numbers(parameters, true)
}

/// A kernel that puts a function of the first of two numbers, its job, at address 0; `None` if only the processor has it.
pub fn value_of(function: Function) -> Option<String> {
    value(|text, [x, _]| call(text, function, x))
}

/// The same for a function of both.
pub fn value_of_two(function: Function2) -> Option<String> {
    value(|text, [x, y]| call2(text, function, x, y))
}

fn value(write: impl FnOnce(&mut Text, [Real; 2]) -> Option<Real>) -> Option<String> {
    let mut text = Text::default();
    let [x, y] = [text.real(), text.real()];
    text.line(format_args!("ld.param.f64 {x}, [job+0];"));
    text.line(format_args!("ld.param.f64 {y}, [job+8];"));
    let value = write(&mut text, [x, y])?;
    let (place, value) = (text.long(), text.variable(value));
    text.line(format_args!("mov.b64 {place}, 0;"));
    text.line(format_args!("st.global.f64 [{place}], {value};"));
    text.line(format_args!("ret;"));
    Some(text.module("value", 16))
}
