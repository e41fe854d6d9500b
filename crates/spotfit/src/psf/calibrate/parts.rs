//! What goes into a calibration, and what comes of it.

use ndarray::Array3;

use crate::psf::Psf;

/// Pixels that the PSF reaches beyond the boxes, on each side. The curvature there is as small as can be.
pub(super) const MARGIN: usize = 1;
/// Beads farther from the middle of their box than this, in pixels, do not show all of the PSF.
pub(super) const FARTHEST: f64 = 1.5;

/// A stack of images of one bead at known heights of the stage.
#[derive(Clone, Debug)]
pub struct BeadStack {
    /// Boxes of pixels (slice, row, column) with the bead near their middle, in photons, background included. Other units that are
    /// proportional to photons do too, but then [`PsfCalibration::misfit`] is in other units than the noise.
    pub stack: Array3<f32>,
    /// The height of the stage in nm, for each slice: that of the bead, if the sample moves up with the stage. For an objective that
    /// moves, it is the other way round.
    pub heights: Vec<f64>,
}

fit_core::__options! {
    /// How a calibration is made.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct PsfCalibrationOptions {
        /// The distance of the planes of the PSF, in nm; default 50. Range: 1 to 1000.
        pub step(const with_step): f64 = 50.0,
        /// Whether beads may move in x and y during their stack, in proportion to z; default true. The mean motion of all beads
        /// cannot be told from a PSF that is tilted, and is taken for that.
        pub drift(const with_drift): bool = true,
        /// The most rounds; default 15. Range: 3 to 1000: beads are judged from the third one on.
        pub rounds(const with_rounds): u32 = 15,
        /// Threads; 0, the default, takes one for each processor. Range: up to [`MOST_THREADS`](fit_cpu::MOST_THREADS).
        pub threads(const with_threads): usize = 0,
        /// Beads whose residuals are this many times those of the median bead are rejected; default 1.5. Range: above 1.
        pub worst(const with_worst): f64 = 1.5,
    }
}

/// Why a bead was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A pixel is not finite.
    NotFinite,
    /// There is nothing that is brighter than the noise.
    Dim,
    /// Its brightness changes with z in another way than that of the others.
    Profile,
    /// It is not in the middle of its box.
    OffCentre,
    /// Its stack covers less than half of the range of z.
    OutOfRange,
    /// The PSF does not fit: a cluster, a neighbour, or an aberration of its own.
    Misfit,
}

impl Rejection {
    /// What it is called in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "pixels that are not finite",
            Self::Dim => "too dim",
            Self::Profile => "another axial profile",
            Self::OffCentre => "off the centre of its box",
            Self::OutOfRange => "out of the range of z",
            Self::Misfit => "not like the others",
        }
    }
}

/// Where a bead is.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedBead {
    /// x and y in px, from the middle of its box, at the mean height of its slices.
    pub place: [f64; 2],
    /// How far it moves in x and y in px while the stage goes up by one nm, beyond the mean of all beads.
    pub drift: [f64; 2],
    /// The height of the stage at which it is at z = 0 of the PSF, in nm.
    pub height: f64,
    /// Its photons in a slice.
    pub photons: f64,
    /// The background in each slice, in photons per pixel; that of the nearest slice, where a slice is beyond the PSF.
    pub background: Vec<f64>,
    /// The rms of its residuals over the square root of the model's value: 1 for Poisson noise alone.
    pub misfit: f64,
}

/// What became of a bead.
#[derive(Clone, Debug, PartialEq)]
pub enum PsfBead {
    /// The PSF was made from it and others.
    Used(PlacedBead),
    /// It was left out.
    Rejected(Rejection),
}

/// A PSF, and how well the beads agree with it.
#[derive(Clone, Debug, PartialEq)]
pub struct PsfCalibration {
    /// The PSF. Its z is the height of the stage less the bead's; it begins and ends where half of the beads have slices.
    /// z = 0 is where it is most compact: the mean of z, weighted by how much Σf² exceeds half of its maximum. The centre is the
    /// mean of x and y weighted by f² at z = 0. The background of
    /// each plane is the mean of the two darkest eighths of the rim of the box, averaged over five planes.
    pub psf: Psf,
    /// What became of each bead.
    pub outcomes: Vec<PsfBead>,
    /// The rms of the residuals of all beads over the square root of the model's value: 1 for Poisson noise alone.
    pub misfit: f64,
    /// Rounds of fits of the beads and of the PSF.
    pub rounds: u32,
    /// Whether the beads stayed where they were in the last round (to 0.0005 px and 0.1 nm).
    pub converged: bool,
}

impl PsfCalibration {
    /// How many beads were used.
    pub fn used(&self) -> usize {
        self.outcomes.iter().filter(|outcome| matches!(outcome, PsfBead::Used(_))).count()
    }
}
