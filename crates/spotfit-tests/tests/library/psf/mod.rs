//! Measured point-spread functions: their calibration, their fits, and their files.

mod calibrate;
mod files;
mod fits;
mod simulated;
