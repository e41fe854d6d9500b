//! Measured point-spread functions as cubic splines: calibration from stacks of beads, fits, and files.
//!
//! [`calibrate_psf()`] makes a [`Psf`] from images of beads at known heights of the stage, [`PsfFitter`] finds x, y, z, photons and
//! background of spots with it, and [`write()`] and [`read()`] keep it in a file that Picasso reads too.
//!
//! A C² cubic spline on the lattice of the pixels is a B-spline: it has one coefficient for each pixel and plane, and
//! all pixels of a window are at the same fraction of a pixel, so that its evaluation takes three passes of four
//! products (Babcock & Zhuang 2017 and Li et al. 2018 fit the same function from 64 coefficients for each voxel).

mod beads;
mod bounds;
mod calibrate;
mod error;
mod field;
mod file;
mod fit;
mod follow;
mod judge;
mod learn;
mod measured;
mod metadata;
mod misfit;
mod noise;
mod spot_image;
mod start;

pub use beads::{FoundBeads, frames_in_photons, locate_beads};
pub use calibrate::{
    BeadStack, PlacedBead, PsfBead, PsfCalibration, PsfCalibrationOptions, Rejection, calibrate_psf,
};
pub use error::PsfError;
pub use field::PsfField;
pub use file::{read, write};
pub use fit::{PsfFitOptions, PsfFits, PsfFitter};
pub use fit_crowd::{Misfit, MisfitShares};
pub(crate) use follow::{Followed, PsfFollower};
pub use judge::PsfQuality;
pub use learn::{FieldGain, LearnPsfError, LearntMember, LearntPsf, learn_psf};
pub(crate) use learn::{HeldSpots, learn_while, misfit_of_gaussians};
pub use measured::Psf;
pub use noise::PsfNoise;
pub(crate) use spot_image::Gaussian;
