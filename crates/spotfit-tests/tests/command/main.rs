//! The command, as a user runs it: every verb, what it writes, what it leaves, and the server of `spotfit view`.

#[path = "../common/mod.rs"]
mod common;

mod batch;
mod camera;
mod cli;
mod curve;
mod curve_answers;
mod curve_files;
mod curve_noise;
mod curve_shared;
mod defects;
mod drift;
mod driver;
mod emitters;
#[cfg(target_os = "linux")]
mod fit_stacks;
mod follow;
mod joined;
mod known;
#[cfg(target_os = "linux")]
mod limits;
mod localize;
mod locs;
mod movie_metadata;
mod movies;
mod outputs;
mod picasso;
mod picks;
mod preset;
mod preview;
mod psf;
mod records;
mod render;
mod reports;
mod score;
mod simulate;
mod speeds;
mod spots;
mod standard_input;
mod stats;
mod temporal_background;
#[cfg(unix)]
mod tracking;
mod units;
mod units_pictures;
#[cfg(unix)]
mod verbs;
mod view;
mod words;
