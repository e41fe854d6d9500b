#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod condition;
mod derive;
mod error;
mod formula;
mod function;
mod graph;
mod invariance;
mod library;
mod lower;
mod parse;
mod program;
mod roles;
mod show;
mod special;
mod spline;
mod token;

pub use condition::Condition;
pub use error::{FormulaError, FormulaErrorKind};
pub use formula::Formula;
pub use function::{Function, Function2};
pub use graph::Comparison;
pub use invariance::{Invariance, Translation};
pub use library::functions;
pub use program::{Arguments, Axes, Derivative, Evaluator, Level, Op, OpId, Program};
pub use roles::{Role, Roles, Turning};
pub use spline::{MAX_SPLINE_AXES, Spline, SplineAxis, SplineError};

/// The most bytes of a formula.
pub const MAX_LENGTH: usize = 16_384;
/// How deep parentheses, powers and signs may be nested.
pub const MAX_DEPTH: usize = 100;
/// The most parameters of a formula.
pub const MAX_PARAMETERS: usize = 64;
/// The most variables of a formula.
pub const MAX_VARIABLES: usize = 31;
/// The most terms, factors and operands of a formula and its derivatives.
pub const MAX_OPERATIONS: usize = 100_000;
