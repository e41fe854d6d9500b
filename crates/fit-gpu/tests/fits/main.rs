//! Kernels of double precision as text, what is left when the driver fails, and requests that are too large.

mod double;
mod faults;
mod huge;
