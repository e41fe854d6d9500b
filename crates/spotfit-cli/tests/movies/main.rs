//! Movies, as a user localizes and simulates them.

#[path = "../common/mod.rs"]
mod common;

mod camera;
mod defects;
mod emitters;
mod localize;
mod movie_metadata;
mod movies;
mod psf;
mod simulate;
mod temporal_background;
