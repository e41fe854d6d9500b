//! Operations: what they find, refuse, draw and keep.

mod batch;
mod camera;
mod curve_plot;
mod options;
mod profile;
mod raw_frames;
