//! The command itself, and its verbs for windows and curves.

#[path = "../common/mod.rs"]
mod common;

mod cli;
mod curve;
mod curve_answers;
mod curve_files;
mod curve_noise;
mod curve_shared;
mod driver;
mod known;
mod outputs;
mod preset;
mod preview;
mod reports;
mod speeds;
mod spots;
mod words;
