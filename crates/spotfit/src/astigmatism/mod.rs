//! Height of spots behind an astigmatic lens: its calibration from z stacks of beads, and z from the two widths.
//!
//! A weak cylindrical lens gives the two axes of the image different foci (Huang et al. 2008). The widths σx and σy of
//! an elliptical Gaussian then depend on z in different ways, and the pair determines z.
#![forbid(unsafe_code)]

pub mod calibrate;
pub mod curve;
pub mod file;
pub mod find;
#[cfg(test)]
mod huang;
mod polynomial;
#[cfg(test)]
mod simulated;
pub mod table;
pub mod yaml_text;
