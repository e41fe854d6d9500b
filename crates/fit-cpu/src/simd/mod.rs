//! The fast path: one fit per lane of a vector register.

#[macro_use]
mod arch;
mod batch;
mod curve;
mod double;
mod engine;
mod errors;
mod formulas;
mod instruction_set;
pub(crate) mod internals;
mod keeper;
mod lanes;
mod load;
mod window_fitter;

pub use batch::Simd;
pub use curve::CurveSimd;
pub use instruction_set::InstructionSet;
pub use window_fitter::WindowFitter;
