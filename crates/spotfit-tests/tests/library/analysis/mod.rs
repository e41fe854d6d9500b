//! What is found in simulated movies and tables whose truth is known.

mod crowds;
mod depth;
mod drift;
mod emitters;
mod fit_emitters;
mod preview;
mod temporal_background;
