//! Fits of formulas: every backend, beside the reference, Gpufit and other optimizers.

mod answers;
mod assembler;
mod compiled;
mod conditioning;
mod cooperative;
mod curve_kernels;
mod curves;
mod double;
mod gpufit;
mod lanes;
mod linear;
mod long;
mod loss_answers;
mod loss_together;
mod minima;
mod models;
mod noise;
mod noise_simulated;
mod orthogonal;
mod packs;
mod shared;
mod splines;
mod starts;
