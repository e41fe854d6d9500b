//! What is left when the driver fails, and requests that are too large.

mod faults;
mod huge;
