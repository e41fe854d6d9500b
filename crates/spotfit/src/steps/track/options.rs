//! How drift is followed.

use crate::astigmatism::find::Finder;
use crate::psf::Psf;
use crate::steps::localize::{CameraOptions, Given, LocalizeOptions, PsfOption};
use crate::steps::{Note, PixelScale, Silent, Source, StepError};
use crate::table::{Info, Meaning, TableError, Unit};
use crate::track::{self, Gates, Smooth, TrackBeads};
use crate::{Estimator, FitterOptions, Length, localize};

/// How drift is followed.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct TrackOptions {
    /// Which spots of the first frame are the beads.
    pub beads: TrackBeads,
    /// How the drift is smoothed over time.
    pub smooth: Smooth,
    /// Side of the windows, in pixels if it has no unit; in nanometres the nearest odd number of pixels. Default: that of
    /// [`track::TrackOptions`], with a calibration or a PSF that of theirs.
    pub box_size: Option<Length>,
    /// The shape, the profile and the instruction set of the fit.
    pub fitter: FitterOptions,
    /// The known width of beads in place of the shape, as in `130nm` or `1.2,1.4` along x and y; in pixels if it has no unit.
    pub fixed_sigma: Option<String>,
    /// The estimator. Default: least squares.
    pub estimator: Option<Estimator>,
    /// The camera.
    pub camera: CameraOptions,
    /// A calibration by which z follows from the two widths. The shape is elliptical then.
    pub calibration: Option<Given<Finder>>,
    /// A measured PSF, with which x, y and z are fitted. The estimator is maximum likelihood then, if none is given.
    pub psf: Option<Given<Psf>>,
    /// The size of a pixel.
    pub pixel_size: PixelScale,
    /// False spots per million pixels when beads are looked for.
    pub false_rate: f64,
    /// What a bead must be like in a frame to be used.
    pub gates: Gates,
    /// How far from its expected place a bead that is gone is looked for, in pixels.
    pub reach: usize,
    /// After so many frames a bead is lost.
    pub patience: u32,
    /// Whether the sample may turn.
    pub rotation: bool,
    /// Whether the sample may grow or shrink.
    pub scale: bool,
    /// To end after so many frames.
    pub stop_after: Option<u64>,
}

impl Default for TrackOptions {
    fn default() -> Self {
        let track::TrackOptions {
            beads,
            smooth,
            fitter,
            false_rate,
            gates,
            reach,
            patience,
            rotation,
            scale,
            ..
        } = track::TrackOptions::default();
        Self {
            beads,
            smooth,
            box_size: None,
            fitter,
            fixed_sigma: None,
            estimator: None,
            camera: CameraOptions::default(),
            calibration: None,
            psf: None,
            pixel_size: PixelScale::OfMovie,
            false_rate,
            gates,
            reach,
            patience,
            rotation,
            scale,
            stop_after: None,
        }
    }
}

impl TrackOptions {
    fit_core::__setters! {
        with_beads: beads: TrackBeads,
        const with_smooth: smooth: Smooth,
        const with_box_size: box_size: Option<Length>,
        with_fitter: fitter: FitterOptions,
        with_fixed_sigma: fixed_sigma: Option<String>,
        const with_estimator: estimator: Option<Estimator>,
        with_camera: camera: CameraOptions,
        with_calibration: calibration: Option<Given<Finder>>,
        with_psf: psf: Option<Given<Psf>>,
        const with_pixel_size: pixel_size: PixelScale,
        const with_false_rate: false_rate: f64,
        const with_gates: gates: Gates,
        const with_reach: reach: usize,
        const with_patience: patience: u32,
        const with_rotation: rotation: bool,
        const with_scale: scale: bool,
        const with_stop_after: stop_after: Option<u64>,
    }

    /// The size of a pixel in nanometres, if the source's is known to be this.
    ///
    /// # Errors
    /// [`StepError::Option`] if it is out of its range.
    pub fn pixel_size_of(&self, source: Option<f64>) -> Result<Option<f64>, StepError> {
        self.pixel_size.check()?;
        Ok(match self.pixel_size {
            PixelScale::OfMovie => source,
            PixelScale::Nanometres(size) => Some(size),
            PixelScale::Unknown => None,
        })
    }

    /// The options of the [`Tracker`](track::Tracker) where pixels have this size in nanometres, if it is known, and what is odd
    /// about them. Files are read.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn resolved(
        &self,
        pixel_size: Option<f64>,
    ) -> Result<(track::TrackOptions, Vec<String>), StepError> {
        let usual = track::TrackOptions::default();
        // A window of a bead is fitted as one of a movie is.
        let windows = LocalizeOptions::default()
            .with_localizer(localize::LocalizeOptions::default().with_fitter(self.fitter.clone()))
            .with_camera(self.camera.clone())
            .with_box_size(self.box_size)
            .with_fixed_sigma(self.fixed_sigma.clone())
            .with_estimator(self.estimator)
            .with_calibration(self.calibration.clone())
            .with_psf(self.psf.clone().map(PsfOption::Given));
        let (fit, _, notes) = windows.resolved(pixel_size)?;
        let own = self.box_size.is_some() || self.calibration.is_some() || self.psf.is_some();
        let options = usual
            .clone()
            .with_beads(self.beads.clone())
            .with_smooth(self.smooth)
            .with_box_size(if own { fit.box_size } else { usual.box_size })
            .with_fitter(fit.fitter)
            .with_camera(fit.camera)
            .with_map(fit.map)
            .with_calibration(fit.calibration)
            .with_psf(fit.psf)
            .with_false_rate(self.false_rate)
            .with_gates(self.gates)
            .with_reach(self.reach)
            .with_patience(self.patience)
            .with_rotation(self.rotation)
            .with_scale(self.scale);
        let mut notes: Vec<String> = notes.iter().map(Note::text).map(str::to_owned).collect();
        if self.camera.camera().is_none() && self.camera.maps.is_none() {
            let text = "nothing is known of the camera: errors are those of one with `baseline` 0 and `sensitivity` 1";
            notes.push(text.to_owned());
        }
        Ok((options, notes))
    }
}

/// Reads the places (x, y) of beads from a table, for [`TrackBeads::At`]: in pixels, of this size in nanometres if it is known.
///
/// # Errors
/// [`StepError`].
pub fn places(beads: &Source, pixel_size: Option<f64>) -> Result<Vec<[f64; 2]>, StepError> {
    let mut info = Info::default();
    info.pixel_size = pixel_size;
    let columns = Meaning::names([Meaning::X, Meaning::Y]);
    let table = beads.clone().of_movie(&info).load(Some(&columns), &Silent)?;
    let wrong = |error: TableError| StepError::input(beads.name(), error.to_string());
    let x = table.lengths(Meaning::X, Unit::Pixel).map_err(wrong)?;
    let y = table.lengths(Meaning::Y, Unit::Pixel).map_err(wrong)?;
    let places: Vec<[f64; 2]> = x.iter().zip(y.iter()).map(|(&x, &y)| [x, y]).collect();
    match places.iter().position(|place| place.iter().any(|value| !value.is_finite())) {
        Some(row) => {
            Err(StepError::input(beads.name(), format!("row {}: a number is not finite", row + 1)))
        }
        None => Ok(places),
    }
}
