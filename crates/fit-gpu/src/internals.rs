//! What the crate's own tests see of its inside. It promises nothing.

pub use crate::driver::fault::each_fault;
