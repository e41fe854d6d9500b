//! What is known after a frame.

/// What became of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FrameStatus {
    /// Beads were measured, enough of those that were there before, or of all, to know that they are these.
    #[default]
    Measured,
    /// No bead could be used: the drift is the last one that was known, or where the filter expects it, and its error grows from
    /// frame to frame as the drift has moved so far.
    Held,
    /// It is not known where the beads are: the frame has spots which are not the pattern of the beads, or too few of them to be sure,
    /// or the pattern may be in several places; or no bead was used for so many frames that all count as lost. The numbers are those of
    /// [`FrameStatus::Held`], and the stage may have moved by more than the errors say. It lasts until the pattern is found.
    Lost,
    /// The frame does not have the size of the reference, or not as many pixels as its sides say. Nothing was done with it, and
    /// the drift is held.
    WrongSize,
}

impl FrameStatus {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Measured, Self::Held, Self::Lost, Self::WrongSize];

    /// Its number where there are only numbers: 0 measured, 1 held, 2 lost, 3 of a wrong size.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Held => "held",
            Self::Lost => "lost",
            Self::WrongSize => "wrong_size",
        }
    }
}

/// The displacement of the sample in a frame, relative to the reference: what [`drift --table`](crate::steps::drift) writes and
/// `drift --apply` subtracts from positions.
///
/// All numbers are finite; they are a measurement only where the status is [`FrameStatus::Measured`]. Errors are standard errors relative to the reference's own drift: what the noise of the reference
/// frame adds is the same in all frames, and is [`FrameDrift::zero_x_error`].
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FrameDrift {
    /// How many frames were given after the reference, this one included: 1 for the first.
    pub frame: u64,
    /// The time that was handed in with the frame, in seconds.
    pub timestamp: f64,
    /// The drift along x in pixels, after smoothing over time.
    pub x: f64,
    /// The drift along y in pixels.
    pub y: f64,
    /// The drift along z in nanometres, if the tracker finds heights.
    pub z: Option<f64>,
    /// The standard error of x.
    pub x_error: f64,
    /// The standard error of y.
    pub y_error: f64,
    /// The standard error of z.
    pub z_error: Option<f64>,
    /// The drift of this frame alone, without smoothing: x, y in pixels and z in nanometres; the held one without beads.
    pub raw: [f64; 3],
    /// The standard errors of [`FrameDrift::raw`]; that of z is 0 if the tracker finds no heights.
    pub raw_error: [f64; 3],
    /// By what angle the sample turned, in radians from x to y, if asked for, or if beads were found again after a turn; otherwise 0.
    pub rotation: f64,
    /// The standard error of the angle.
    pub rotation_error: f64,
    /// By what factor the sample grew, if asked for; otherwise 1.
    pub scale: f64,
    /// The standard error of the factor.
    pub scale_error: f64,
    /// The standard error of where the drift is 0 along x, in pixels: it is common to all frames.
    pub zero_x_error: f64,
    /// The same along y.
    pub zero_y_error: f64,
    /// The beads whose places went into the drift.
    pub beads: usize,
    /// The beads that disagree with the others in this frame.
    pub outliers: usize,
    /// The beads that were not seen for many frames, or left the frame.
    pub lost: usize,
    /// What became of the frame.
    pub status: FrameStatus,
    /// From the call to the answer, in seconds, if the tracker looks at the clock
    /// ([`TrackOptions::clock`](super::TrackOptions::clock)).
    pub latency: Option<f64>,
}

/// Why a bead was not used in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Doubt {
    /// There is no spot, or the fit did not converge.
    Fit,
    /// It is brighter or dimmer than usual, by more than the others are.
    Brightness,
    /// It is wider or narrower than usual, by more than the others are.
    Width,
    /// It fits worse than usual.
    Residual,
    /// Its place disagrees with those of the others.
    Place,
}

/// How a bead is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BeadState {
    /// It went into the drift.
    Held,
    /// It is seen, but has to show first that it stays in its place relative to the others.
    Joining,
    /// It was not used in this frame.
    Doubted(Doubt),
    /// It was not used in many frames; it is looked for.
    Lost,
    /// Its window is not within the frame.
    Outside,
}

/// A bead.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Bead {
    /// Its place in the reference in pixels: where it is where the drift is 0. It is refined while the bead is held.
    pub reference: [f64; 2],
    /// Where it was when it was last seen.
    pub place: [f64; 2],
    /// Its height in nanometres when it was last seen, if the tracker finds heights.
    pub height: Option<f64>,
    /// The standard errors of its place in one frame, in pixels.
    pub error: [f64; 2],
    /// Its photo-electrons, averaged over the last frames.
    pub photons: f64,
    /// Its width √(σxσy) in pixels, averaged over the last frames.
    pub sigma: f64,
    /// The frames in which it went into the drift.
    pub used: u64,
    /// The frames since then.
    pub missed: u64,
    /// How it is.
    pub state: BeadState,
}
