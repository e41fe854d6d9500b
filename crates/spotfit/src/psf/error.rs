//! What can go wrong.

use crate::hdf5::H5Error;
use crate::model::ModelError;

/// Why a point-spread function cannot be made, read, written or fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PsfError {
    /// There are too few or too many coefficients.
    #[error(
        "a PSF has 5 to 1003 coefficients along each axis, at most 2^20 of them in all, but {planes}×{rows}×{columns} (z, y, x) \
         were given"
    )]
    Shape {
        /// Along z.
        planes: usize,
        /// Along y.
        rows: usize,
        /// Along x.
        columns: usize,
    },
    /// A coefficient is not finite.
    #[error("the coefficient of plane {plane}, row {row}, column {column} is not finite")]
    NotFinite {
        /// Along z, from 0.
        plane: usize,
        /// Along y.
        row: usize,
        /// Along x.
        column: usize,
    },
    /// A number is out of its range.
    #[error("{name} is {value}; it must be {range}")]
    Number {
        /// What it is.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// The sum of the pixels at z = 0 is not positive.
    #[error("the pixels of the PSF at z = 0 add up to {sum}; it must be above 0")]
    NoLight {
        /// Their sum.
        sum: f64,
    },
    /// x, y, z, photons and background cannot be distinguished.
    #[error(
        "x, y, z, photons and background cannot be told from each other with this PSF, at any z"
    )]
    NotIdentifiable,
    /// The windows are larger than the PSF, or too small.
    #[error(
        "windows of {width}×{height} pixels cannot be fitted with a PSF of {across}×{down}: they must have 5 to 101 pixels \
         along each side, and one less than the PSF at most"
    )]
    Window {
        /// Columns of the windows.
        width: usize,
        /// Rows of the windows.
        height: usize,
        /// Pixels that the PSF reaches over along x.
        across: usize,
        /// Along y.
        down: usize,
    },
    /// There are more or fewer windows than fits.
    #[error("{windows} windows were given for {fits} fits")]
    Counts {
        /// The windows.
        windows: usize,
        /// The fits.
        fits: usize,
    },
    /// The variances of pixels are not those of the windows.
    #[error(
        "variances of the shape {found:?} were given for windows of the shape {expected:?} (spot, row, column)"
    )]
    Variances {
        /// Their shape.
        found: (usize, usize, usize),
        /// That of the windows.
        expected: (usize, usize, usize),
    },
    /// Picasso's files have room for square PSFs only.
    #[error("a PSF of {across}×{down} pixels cannot be written: files of PSFs are for squares")]
    NotSquare {
        /// Along x.
        across: usize,
        /// Along y.
        down: usize,
    },
    /// The maps of the camera are not of the size of the frames.
    #[error("frames have {expected:?} pixels (width, height), the camera's maps {found:?}")]
    Maps {
        /// Width and height of the frames.
        expected: (usize, usize),
        /// Width and height of the maps.
        found: (usize, usize),
    },
    /// The data of a bead are inconsistent.
    #[error("bead {bead}: {reason}")]
    Bead {
        /// Its number, from 0.
        bead: usize,
        /// What is wrong.
        reason: String,
    },
    /// Too few beads are left.
    #[error("{left} of {given} beads can be used, but {needed} are needed; {reasons}")]
    TooFewBeads {
        /// How many are left.
        left: usize,
        /// How many there were.
        given: usize,
        /// How many are needed.
        needed: usize,
        /// Why the others were rejected.
        reasons: String,
    },
    /// The range of z that enough beads cover is too short.
    #[error(
        "half of the beads or more cover {range} nm of z together; at least {needed} nm are needed"
    )]
    ShortRange {
        /// What is covered.
        range: f64,
        /// What is needed.
        needed: f64,
    },
    /// A table of polynomials is not a spline with continuous second derivatives.
    #[error(
        "the polynomials of the PSF are no spline with continuous second derivatives: where they meet, the value jumps by up to \
         {jump:.3e} and a second derivative by up to {bend:.3e}, more than 10^-5 of the largest coefficient, {largest:.3e}"
    )]
    NotSmooth {
        /// The largest jump of the value.
        jump: f64,
        /// The largest jump of a second derivative.
        bend: f64,
        /// The largest coefficient.
        largest: f64,
    },
    /// A file of MATLAB.
    #[error(
        "this is a file of MATLAB (SMAP's _3dcal.mat), which is not read; calibrate the stacks of beads with \
         `spotfit calibrate --spline`, or convert it with Python: scipy.io.loadmat (or h5py for version 7.3, whose axes are in \
         reverse) gives SXY.cspline.coeff, the 64 coefficients of each (x, y, z), and dz and z0; write the coefficients as a \
         dataset 'coefficients' (64, x, y, z) in single precision, with the middle of the PSF in the middle of x and y, and an \
         attribute 'metadata' of the file with the text {{\"model\": \"spline-3d\", \"z_step_nm\": -dz, \"z_center\": z0}}"
    )]
    Matlab,
    /// The metadata of the file cannot be used.
    #[error("the PSF's metadata: {0}")]
    Metadata(String),
    /// The threads cannot be started.
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The HDF5 file cannot be read or written.
    #[error(transparent)]
    Hdf5(#[from] H5Error),
    /// The engine cannot fit.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl PsfError {
    /// Refuses a number unless it is good.
    pub(super) fn check(
        name: &'static str,
        value: f64,
        good: bool,
        range: &'static str,
    ) -> Result<(), Self> {
        if good { Ok(()) } else { Err(Self::Number { name, value, range }) }
    }
}
