//! The library from outside: what is read, written and refused, and what is found in simulated movies and tables whose truth is known.
//!
//! Tests of nearly everything are here and not beside the code: there each would have to be compiled with all that it reaches once more.

#[path = "../common/library/mod.rs"]
mod common;

mod analysis;
mod astigmatism;
mod files;
mod fit_stack;
mod fitter;
mod follow;
mod growing;
mod localize;
mod psf;
mod reading;
mod records;
mod speeds;
mod steps;
mod tables;
mod text;
mod track;
mod track_lost;
