//! How drift is followed.

#[cfg(feature = "clap")]
use clap::ValueHint;

use crate::astigmatism::find::Finder;
use crate::psf::Psf;
use crate::steps::localize::{CameraOptions, Given, LocalizeOptions, PsfOption};
use crate::steps::{Note, PixelScale, Silent, Source, StepError};
use crate::table::{Info, Meaning, TableError, Unit};
use crate::{Estimator, Length, localize, track};

fit_core::__options! {
    /// How drift is followed.
    #[derive(Clone, Debug)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default, deny_unknown_fields)
    )]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[non_exhaustive]
    pub struct TrackOptions {
        /// Side of the fitted windows, in pixels or with a unit, as in 900nm; odd \[default: 9; with `calibration` that of the beads, with
        /// `psf` the largest up to 13 that leaves 5 pixels of the PSF around\].
        pub box_size(const with_box_size)[help_heading = "Fit", long = "box", value_name = "LENGTH"]: Option<Length> = None,
        /// The known width of beads in place of the shape, as in `130nm` or `1.2,1.4` along x and y; in pixels if it has no unit.
        pub fixed_sigma(with_fixed_sigma)[skip]: Option<String> = None,
        /// The estimator. Default: least squares.
        pub estimator(const with_estimator)[skip]: Option<Estimator> = None,
        /// The camera.
        pub camera(with_camera)[skip]: CameraOptions = CameraOptions::default(),
        /// Find the drift along z from the widths of the beads, by this calibration of `spotfit calibrate` or Picasso. The shape is
        /// elliptical then.
        pub calibration(with_calibration)[
            help_heading = "Fit", long, value_name = "CALIBRATION.yaml", value_hint = ValueHint::AnyPath
        ]: Option<Given<Finder>> = None,
        /// Fit x, y and z of the beads with this measured PSF, in place of a Gaussian: an .hdf5 file of `spotfit calibrate --spline` or of
        /// Picasso. The estimator is maximum likelihood then, if nothing else is said.
        pub psf(with_psf)[
            help_heading = "Fit", long, value_name = "PSF.hdf5", conflicts_with = "calibration", value_hint = ValueHint::AnyPath
        ]: Option<Given<Psf>> = None,
        /// The size of a pixel.
        pub pixel_size(const with_pixel_size)[skip]: PixelScale = PixelScale::OfMovie,
        /// What depends on no movie and no file. What the other options say replaces it: box, camera and maps, calibration, PSF,
        /// estimator, and the known width of beads.
        #[cfg_attr(feature = "clap", command(flatten))]
        pub tracker(with_tracker): track::TrackOptions = track::TrackOptions::default(),
        /// To end after so many frames.
        pub stop_after(const with_stop_after)[skip]: Option<u64> = None,
    }
}

impl TrackOptions {
    /// The size of a pixel in nanometres, if the source's is known to be this.
    ///
    /// # Errors
    /// [`StepError::Option`] if it is out of its range.
    pub fn pixel_size_of(&self, source: Option<f64>) -> Result<Option<f64>, StepError> {
        self.pixel_size.check()?;
        Ok(self.pixel_size.or(source))
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
        let fitter = self.tracker.fitter.clone();
        // A window of a bead is fitted as one of a movie is.
        let windows = LocalizeOptions::default()
            .with_localizer(localize::LocalizeOptions::default().with_fitter(fitter))
            .with_camera(self.camera.clone())
            .with_box_size(self.box_size)
            .with_fixed_sigma(self.fixed_sigma.clone())
            .with_estimator(self.estimator)
            .with_calibration(self.calibration.clone())
            .with_psf(self.psf.clone().map(PsfOption::Given));
        let (fit, _, notes) = windows.resolved(pixel_size)?;
        let own = self.box_size.is_some() || self.calibration.is_some() || self.psf.is_some();
        let options = self.tracker.clone();
        let options = if own { options.with_box_size(fit.box_size) } else { options };
        let options = options
            .with_fitter(fit.fitter)
            .with_camera(fit.camera)
            .with_map(fit.map)
            .with_calibration(fit.calibration)
            .with_psf(fit.psf);
        let mut notes: Vec<String> = notes.iter().map(Note::text).map(str::to_owned).collect();
        if self.camera.camera().is_none() && self.camera.maps.is_none() {
            let text = "nothing is known of the camera: errors are those of one with `baseline` 0 and `sensitivity` 1";
            notes.push(text.to_owned());
        }
        Ok((options, notes))
    }
}

/// Reads the places (x, y) of beads from a table, for [`TrackBeads::At`](track::TrackBeads::At): in pixels, of this size in nanometres if it is known.
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
