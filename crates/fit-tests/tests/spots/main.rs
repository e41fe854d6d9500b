//! Fits of spots: every backend, beside the reference, the papers and other optimizers.

mod accuracy;
mod cuda;
mod ends;
mod errors;
mod estimators;
mod explicit;
mod gpu;
mod hostile;
mod parity;
mod plane;
mod published;
mod robustness;
mod scales;
mod shapes;
mod stated;
