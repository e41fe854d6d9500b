//! Heights by the two widths of spots: their calibration, and its files.

mod calibrate;
mod files;
#[path = "../../../../spotfit/src/astigmatism/huang.rs"]
mod huang;
mod simulated;
