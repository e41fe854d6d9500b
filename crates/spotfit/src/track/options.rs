//! How drift is tracked.

use std::sync::Arc;

use fit_core::{Camera, Options, Shape, Size};
use fit_windows::CameraMap;

use super::TrackError;
use crate::OutOfRange;
use crate::astigmatism::find::Finder;
use crate::backend::{Backend, FitterOptions};
use crate::localize::options::is_box;
use crate::psf::Psf;

/// The most beads of a tracker.
pub const MOST_BEADS: usize = 4096;

/// Which spots of the reference are the beads.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TrackBeads {
    /// Those with the smallest errors among the spots that stand alone, at most so many. Range: 1 to [`MOST_BEADS`].
    Auto(usize),
    /// Those at these places (x, y) in pixels of the reference, to a pixel or so.
    At(Vec<[f64; 2]>),
}

fit_core::__options! {
    /// What a bead must be like in a frame to be used. Errors of the fit are allowed for: a dim bead varies more.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct Gates {
        /// By what factor its photons may differ from the usual ones, where all others are as usual; default 1.6. Above 1.
        pub brightness(const with_brightness): f64 = 1.6,
        /// By what factor its width may differ; default 1.25. Above 1.
        pub width(const with_width): f64 = 1.25,
        /// By what factor χ² may exceed the usual one; default 1.7. Above 1.
        pub residual(const with_residual): f64 = 1.7,
        /// By how many standard deviations its place may disagree with those of the others; default 5. Range: 2 to 100.
        pub jump(const with_jump): f64 = 5.0,
    }
}

/// How the drift is smoothed over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Smooth {
    /// Each frame is taken for itself.
    #[default]
    None,
    /// The mean of all frames until now, whose weights fall by e in so many frames. It lags behind motion by so many frames; the
    /// stated error is that of noise. Range: 0.1 to 10⁶.
    Exponential {
        /// Frames in which the weight falls by e.
        frames: f64,
    },
    /// A Kalman filter of constant velocity. The noise of a frame is its stated error. A drift that leaves the filter's
    /// expectation by more than 6 standard deviations starts it anew, so that a step is followed at once.
    Kalman {
        /// How much the velocity changes: the standard deviation of its change in a frame, in pixels (nanometres along z) per
        /// frame. If not given, the filter learns it along each axis, such that it is surprised as often as it should be.
        wander: Option<f64>,
    },
}

impl Smooth {
    /// Its name in files and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Exponential { .. } => "exponential",
            Self::Kalman { .. } => "kalman",
        }
    }
}

fit_core::__options! {
    /// How drift is tracked.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
    #[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
    #[non_exhaustive]
    pub struct TrackOptions {
        /// Side of the windows in pixels; default 9. Range: an odd number from 5 to 63.
        pub box_size(const with_box_size) skip[]: usize = 9_usize,
        /// Which spots are the beads; by default up to 32.
        pub beads(with_beads) skip[]: TrackBeads = TrackBeads::Auto(32),
        /// How many false beads may be found in a million pixels of noise alone.
        pub false_rate(const with_false_rate) default_value_t[help_heading = "Beads", long, value_name = "R"]: f64 = crate::detect::DEFAULT_FALSE_RATE,
        /// The camera. Errors and maximum likelihood need it.
        pub camera(const with_camera) skip[]: Camera = Camera::default(),
        /// Offset, gain and read noise of each pixel, in place of the camera's. They are not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub map(with_map) skip[]: Option<Arc<CameraMap>> = None,
        /// The fit: any shape but [`Shape::GivenSigma`], any estimator, in the lanes of the given instruction set, on the calling
        /// thread. Its camera must be none, and the backend [`Backend::Auto`] or [`Backend::Cpu`].
        pub fitter(with_fitter) skip[]: FitterOptions = FitterOptions::default(),
        /// What a bead must be like.
        pub gates(const with_gates) skip[]: Gates = Gates::default(),
        /// How far from its expected place a bead that is gone is looked for, in pixels.
        ///
        /// Range: 1 to 64.
        pub reach(const with_reach) default_value_t[help_heading = "Beads", long, value_name = "PX"]: usize = 8,
        /// A bead that was not seen in so many frames is lost, and looked for in the whole frame.
        ///
        /// Range: 1 to 10⁶.
        pub patience(const with_patience) default_value_t[help_heading = "Beads", long, value_name = "FRAMES"]: u32 = 20,
        /// How the drift is smoothed over time.
        pub smooth(const with_smooth) skip[]: Smooth = Smooth::None,
        /// The sample may turn; without this it only moves.
        pub rotation(const with_rotation)[help_heading = "Drift", long]: bool = false,
        /// The sample may grow or shrink.
        pub scale(const with_scale)[help_heading = "Drift", long]: bool = false,
        /// Finds heights from the two widths: the shape must be [`Shape::Elliptical`]. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub calibration(with_calibration) skip[]: Option<Arc<Finder>> = None,
        /// Finds places and heights with a measured PSF, by maximum likelihood, from where the fit of the shape says; there must be no
        /// calibration. It takes some ten microseconds for each bead. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub psf(with_psf) skip[]: Option<Arc<Psf>> = None,
        /// Whether [`Tracker::update`](super::Tracker::update) looks at the clock to say how long it took; default true. On Linux
        /// that is no system call where the clock is read from the processor.
        pub clock(const with_clock) skip[]: bool = true,
    }
}

impl TrackOptions {
    /// The options of the fit: in photo-electrons of the camera.
    pub(super) fn fit(&self) -> Options {
        self.fitter.fit.with_camera(Some(self.camera))
    }

    /// The size of the windows.
    pub(super) fn size(&self) -> Size {
        Size::new(self.box_size, self.box_size)
    }

    /// Checks every option against its range, for frames of this size.
    pub(super) fn validate(&self, frame: Size) -> Result<(), TrackError> {
        let side = self.box_size;
        OutOfRange::check("box_size", side, is_box(&side), "an odd number from 5 to 63")?;
        if frame.width.min(frame.height) < side {
            return Err(TrackError::SmallFrames { width: frame.width, height: frame.height, side });
        }
        let check = |name, value: f64, good: bool, range: &str| {
            OutOfRange::check(name, value, good && value.is_finite(), range)
        };
        let Gates { brightness, width, residual, jump } = self.gates;
        check("brightness", brightness, brightness > 1.0, "above 1")?;
        check("width", width, width > 1.0, "above 1")?;
        check("residual", residual, residual > 1.0, "above 1")?;
        check("jump", jump, (2.0..=100.0).contains(&jump), "2 to 100")?;
        let good = (1e-6..=1e4).contains(&self.false_rate);
        check("false_rate", self.false_rate, good, "1e-6 to 1e4 in a million pixels")?;
        OutOfRange::check("reach", self.reach, (1..=64).contains(&self.reach), "1 to 64")?;
        let good = (1..=1_000_000).contains(&self.patience);
        OutOfRange::check("patience", self.patience, good, "1 to 1000000")?;
        match self.smooth {
            Smooth::None | Smooth::Kalman { wander: None } => {}
            Smooth::Exponential { frames } => {
                check("smooth", frames, (0.1..=1e6).contains(&frames), "0.1 to 1000000 frames")?;
            }
            Smooth::Kalman { wander: Some(wander) } => {
                check("wander", wander, (1e-9..=1e6).contains(&wander), "1e-9 to 1e6")?;
            }
        }
        let (count, good) = match &self.beads {
            TrackBeads::Auto(most) => (*most, (1..=MOST_BEADS).contains(most)),
            TrackBeads::At(places) => (places.len(), (1..=MOST_BEADS).contains(&places.len())),
        };
        OutOfRange::check("beads", count, good, format!("1 to {MOST_BEADS}"))?;
        self.validate_fit(frame)
    }

    /// Checks the fit and what goes with it.
    fn validate_fit(&self, frame: Size) -> Result<(), TrackError> {
        let FitterOptions { fit, backend, .. } = &self.fitter;
        let none = "none: give TrackOptions::camera";
        OutOfRange::check("fitter.fit.camera", "some", fit.camera.is_none(), none)?;
        let good = matches!(backend, Backend::Auto | Backend::Cpu);
        OutOfRange::check("fitter.backend", backend, good, "auto or cpu")?;
        let good = !matches!(fit.shape, Shape::GivenSigma(_));
        let range = "another shape, such as a fixed sigma: all beads have one";
        OutOfRange::check("fitter.fit.shape", "a given sigma", good, range)?;
        self.camera.validate()?;
        fit.shape.validate_in(self.size(), &fit.limits)?;
        let two = matches!(fit.shape, Shape::Elliptical(_));
        let good = self.calibration.is_none() || two;
        OutOfRange::check("calibration", "given", good, "only with the shape elliptical")?;
        let one = self.calibration.is_none() || self.psf.is_none();
        OutOfRange::check("psf", "given", one, "only without a calibration of widths")?;
        let heights = self.psf.as_ref().is_none_or(|psf| psf.has_heights());
        let range =
            "one with heights, as beads give it: a PSF that was learnt from a movie has none";
        OutOfRange::check("psf", "without heights", heights, range)?;
        if let Some(map) = &self.map {
            let Size { width, height } = map.size();
            let range = format!("the frame's {}×{} pixels", frame.width, frame.height);
            OutOfRange::check("map", format!("{width}×{height}"), map.size() == frame, range)?;
        }
        Ok(())
    }
}
