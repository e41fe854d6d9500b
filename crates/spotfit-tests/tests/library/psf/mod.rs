//! Measured point-spread functions: their calibration, their fits, and their files.

mod calibrate;
mod crowded;
mod field;
mod files;
mod fits;
mod learn;
mod simulated;
