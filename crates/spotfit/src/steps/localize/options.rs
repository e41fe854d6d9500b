//! How a movie is localized: what is asked for, and what that means for a movie.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

#[cfg(feature = "clap")]
use clap::ValueHint;

use super::camera::CameraOptions;
use super::defects::DefectsOption;
use super::frame_time::FrameTime;
use super::given::Given;
use super::lengths::{fixed_sigma, roi};
use super::psf::PsfOption;
#[cfg(feature = "clap")]
use crate::arguments::choice;
use crate::astigmatism::file::{CalibrationFileError, load};
use crate::astigmatism::find::Finder;
use crate::localize::{self, Positions};
use crate::psf::{self, Psf};
use crate::record::Origin;
use crate::steps::stack::PixelScale;
use crate::steps::{Note, StepError, in_pixels, side};
use crate::table::{Layout, TableFormat, WidthColumns};
use crate::yaml::YamlError;
use crate::{Background, Elliptical, Estimator, Length, OutOfRange, Shape, camera_maps};

/// The background of a fit if nothing is said: it cannot be negative where it is a rate of photons, which maximum likelihood takes the
/// logarithm of. That of measured PSFs and of overlapping spots is free.
pub fn usual_background(estimator: Estimator) -> Background {
    match estimator {
        Estimator::MaximumLikelihood => Background::NonNegative,
        _ => Background::Free,
    }
}

fit_core::__options! {
    /// How a movie is localized.
    ///
    /// A new option of the localizer is one of [`localize::LocalizeOptions`] alone, unless it depends on the movie or names a
    /// file.
    #[derive(Clone, Debug)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default, deny_unknown_fields)
    )]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[non_exhaustive]
    pub struct LocalizeOptions {
        /// What depends on no movie and no file. What the other options say replaces it: box, region, positions, camera and
        /// maps, defects, calibration, PSF, estimator, background, and the limits and known widths of sigma that are given.
        #[cfg_attr(feature = "clap", command(flatten))]
        pub localizer(with_localizer): localize::LocalizeOptions = localize::LocalizeOptions::default(),
        /// The camera.
        pub camera(with_camera)[skip]: CameraOptions = CameraOptions::default(),
        /// Side of the fitted windows, in pixels or with a unit, as in 700nm; odd. About 4 sigma + 3 is a good choice \[default: 7; with
        /// `calibration` that of the beads, with `psf` the largest up to 13 that leaves 5 pixels of the PSF around\].
        ///
        /// In nanometres it is the nearest odd number of pixels. See [`localize::LocalizeOptions::usual_box`].
        pub box_size(const with_box_size)[help_heading = "Fit", long = "box", value_name = "LENGTH"]: Option<Length> = None,
        /// Where to look for spots: first column, first row, columns, rows; in pixels or with units, as in 0,0,12.8um,12.8um.
        pub roi(with_roi)[help_heading = "Detection", long, value_name = "X,Y,W,H"]: Option<String> = None,
        /// The known width of spots in place of the shape, as in `130nm` or `1.2,1.4` along x and y; in pixels if it has no unit.
        pub fixed_sigma(with_fixed_sigma)[skip]: Option<String> = None,
        /// The smallest sigma, in pixels if it has no unit.
        pub sigma_min(const with_sigma_min)[skip]: Option<Length> = None,
        /// The largest sigma, in pixels if it has no unit.
        pub sigma_max(const with_sigma_max)[skip]: Option<Length> = None,
        /// The estimator. Default: least squares; with a PSF, or with emitters that may overlap, maximum likelihood.
        pub estimator(const with_estimator)[skip]: Option<Estimator> = None,
        /// The background. Default: not negative for maximum likelihood, if that is given, there is no PSF, and emitters do not overlap; otherwise
        /// free.
        pub background(const with_background)[skip]: Option<Background> = None,
        /// Fit these positions instead of detecting spots: a CSV file with columns frame (from 0), x and y in pixels, or any
        /// table of localizations, .csv or .hdf5. The id of a localization is its row, from 1. (0, 0) is where the record beside the
        /// table says, or else, in tables in nanometres, where `origin` says.
        ///
        /// `-` is standard input.
        pub positions(with_positions)[
            help_heading = "Detection", long, value_name = "POS", conflicts_with = "roi", value_hint = ValueHint::AnyPath
        ]: Option<Given<Positions>> = None,
        /// Mask defective pixels, so that none is found as a spot and no fit looks at it: auto finds hot, flickering and dark ones in the first
        /// frames; or a mask, an array (height, width) that is not 0 where a pixel is defective; none says that there are none. Without it
        /// nothing is masked, but a warning tells of defects.
        pub defects(with_defects)[help_heading = "Camera", long, value_name = "auto|MASK.npy|none"]: Option<DefectsOption> = None,
        /// Find z of every spot from its widths, by this calibration of `spotfit calibrate` or Picasso. The shape is elliptical then.
        /// Adds z, its uncertainty, the distance of the widths from the calibration in standard deviations (z_distance), and
        /// z_status: found, below or above the range, ambiguous, far from the calibration, or invalid.
        pub calibration(with_calibration)[
            help_heading = "Fit", long, value_name = "CALIBRATION.yaml", value_hint = ValueHint::AnyPath
        ]: Option<Given<Finder>> = None,
        /// Fit x, y and z of every spot with this measured PSF, in place of a Gaussian: an .hdf5 file of `spotfit calibrate --spline`, of
        /// `spotfit psf`, or of Picasso (spline-3d); or learn it first from the spots of the movie itself: where they tell too little, a warning
        /// says why, and spots have Gaussians. The estimator is maximum likelihood then, if nothing else is said. A PSF that was learnt gives no
        /// z; one of beads adds z and its uncertainty; z_distance, by
        /// how many standard deviations the residuals exceed the noise; and z_status: found, below or above (kept by default; drop them by
        /// --filter 'z_status == found'), with `keep_all` invalid too. sigma is that of the Gaussian that is as compact as the PSF at that z.
        pub psf(with_psf)[
            help_heading = "Fit", long, value_name = "learn|PSF.hdf5", conflicts_with = "calibration", value_hint = ValueHint::AnyPath
        ]: Option<PsfOption> = None,
        /// The most frames that a PSF is learnt from, taken from all of the movie \[default: 1000\].
        ///
        /// Range: 1 or more.
        pub learn_frames(const with_learn_frames)[help_heading = "Fit", long, value_name = "N"]: Option<usize> = None,
        /// Photons of Gaussians are those of the spot's core: multiply them by what isolated spots of the first frames have within this radius
        /// over the photons of their Gaussians, an aperture correction. In pixels or with a unit, as in 800nm.
        ///
        /// Range: 3 to 32 pixels.
        pub aperture(const with_aperture)[help_heading = "Fit", long, value_name = "LENGTH", conflicts_with = "psf"]: Option<Length> = None,
        /// Frames to localize, from A to B, counted from 1; both are meant, and either may be left out.
        pub frames(with_frames)[help_heading = "Movie", long, value_name = "A:B"]: Option<String> = None,
        /// Write only localizations for which this condition holds, such as 'photons > 300 & uncertainty < 20': see `spotfit
        /// filter`.
        pub filter(with_filter)[help_heading = "Output", long, value_name = "CONDITION"]: Option<String> = None,
        /// Add a column time, in seconds since the first frame: frames were taken every so many seconds, or metadata, as the movie's
        /// metadata say.
        pub frame_time(with_frame_time)[help_heading = "Movie", long, value_name = "SECONDS|metadata"]: Option<FrameTime> = None,
        /// The size of a pixel.
        pub pixel_size(const with_pixel_size)[skip]: PixelScale = PixelScale::default(),
        /// Where (0, 0) is: at the centre of the first pixel, or at its corner, as in ThunderSTORM.
        ///
        /// In Picasso's tables it is at the centre.
        pub origin(const with_origin)[
            help_heading = "Output", long, value_parser = choice::<Origin>(), default_value = "centre", value_name = "ORIGIN"
        ]: Origin = Origin::default(),
        /// The [preset](crate::steps::preset) that some of these are of: records name it among the inputs.
        pub preset(with_preset)[skip]: Option<PathBuf> = None,
    }
}

/// What is asked for, for pixels of some size.
pub(crate) struct Told {
    /// Without positions.
    pub(crate) options: localize::LocalizeOptions,
    /// What is odd about them.
    pub(crate) notes: Vec<String>,
}

impl LocalizeOptions {
    /// What is asked for where pixels have this size in nanometres, if it is known, for callers that have frames of their own:
    /// the options of a [`Localizer`](localize::Localizer), without positions; the columns of a
    /// table in pixels, and what is odd about them. Files are read.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn resolved(
        &self,
        pixel_size: Option<f64>,
    ) -> Result<(localize::LocalizeOptions, Layout, Vec<Note>), StepError> {
        let Told { options, notes } = self.told(pixel_size)?;
        let layout = self.layout(None, TableFormat::Picasso, &options);
        Ok((options, layout, notes.into_iter().map(Note::Warning).collect()))
    }

    /// The files that options name: the option, and each file of it.
    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let Self { positions, calibration, psf, camera, preset, .. } = self;
        let mask = match &self.defects {
            Some(DefectsOption::Given(given)) => given.file(),
            _ => None,
        };
        let named = [
            ("positions", positions.as_ref().and_then(Given::file)),
            ("defects", mask),
            ("calibration", calibration.as_ref().and_then(Given::file)),
            ("psf", psf.as_ref().and_then(PsfOption::given).and_then(Given::file)),
            ("preset", preset.as_deref()),
            ("cameras", camera.cameras.as_deref()),
        ];
        let named = named.into_iter().filter_map(|(name, path)| Some((name, path?.to_owned())));
        let maps = camera.maps.as_ref().and_then(Given::file).map(camera_maps::files);
        named.chain(maps.unwrap_or_default().into_iter().map(|path| ("camera", path))).collect()
    }

    /// Reads the files that are named, but not the positions. Pixels have this size in nanometres, as far as it is known.
    pub(crate) fn told(&self, known: Option<f64>) -> Result<Told, StepError> {
        let engine = &self.localizer;
        let most = self.learn_frames.unwrap_or(1);
        OutOfRange::check("learn_frames", most as f64, most > 0, "1 or more")?;
        let mut fit = engine.fitter.fit;
        if let Some(least) = self.sigma_min {
            fit.limits.sigma_min = in_pixels("sigma_min", least, known)?;
        }
        if let Some(most) = self.sigma_max {
            fit.limits.sigma_max = Some(in_pixels("sigma_max", most, known)?);
        }
        if let Some(text) = &self.fixed_sigma {
            fit.shape = fixed_sigma(text, known)?;
        }
        let aperture = self.aperture.map(|radius| in_pixels("aperture", radius, known));
        let aperture = aperture.transpose()?.or(engine.aperture);
        if aperture.is_some() && self.psf.is_some() {
            let reason = "it is for Gaussians: the photons of a PSF are those in its pixels, and its light says which share of all these are";
            return Err(StepError::Options(format!("`aperture` does not go with `psf`: {reason}")));
        }
        let crowd = engine.emitters.are_together();
        if let (Some(_), Shape::Circular(_)) = (&self.calibration, fit.shape) {
            fit.shape = Shape::Elliptical(Elliptical);
        }
        let map = self.camera.map()?;
        let calibration = self.calibration.as_ref();
        let calibration =
            calibration.map(|given| given.read(|path| finder(path, known))).transpose()?;
        let psf = self.psf.as_ref().and_then(PsfOption::given);
        let psf = psf.map(|given| given.read(measured)).transpose()?;
        let likely = crowd || self.psf.is_some();
        fit.estimator = self.estimator.unwrap_or(match likely {
            true => Estimator::MaximumLikelihood,
            false => Estimator::LeastSquares,
        });
        fit.background = self.background.unwrap_or(match likely {
            // More than the offset may have been subtracted.
            true => Background::Free,
            false => usual_background(fit.estimator),
        });
        let defects = self.defects.as_ref().map(DefectsOption::given).transpose()?.flatten();
        let options = engine
            .clone()
            .with_roi(self.roi.as_deref().map(|text| roi(text, known)).transpose()?)
            .with_positions(None)
            .with_camera(self.camera.camera().unwrap_or_default())
            .with_map(map)
            .with_defects(defects)
            .with_fitter(engine.fitter.clone().with_fit(fit.with_camera(None)))
            .with_calibration(calibration)
            .with_psf(psf)
            .with_aperture(aperture);
        let box_size = self.box_size.map(|length| side(length, known)).transpose()?;
        let box_size = box_size.unwrap_or(options.usual_box());
        let options = options.with_box_size(box_size);
        let notes = options.notes();
        Ok(Told { options, notes })
    }

    /// The columns of the table. Picasso's have pixels; what is known of their size stands beside them.
    pub(super) fn layout(
        &self,
        pixel_size: Option<f64>,
        format: TableFormat,
        told: &localize::LocalizeOptions,
    ) -> Layout {
        let picasso = format == TableFormat::Picasso;
        let (engine, psf) = (&self.localizer, told.psf.as_deref());
        Layout::default()
            .with_pixel_size(pixel_size.filter(|_| !picasso))
            .with_depth(told.calibration.is_some() || psf.is_some_and(Psf::has_heights))
            .with_slopes(self.background == Some(Background::Plane))
            .with_errors(engine.errors)
            .with_corner_origin(self.origin == Origin::Corner && !picasso)
            .with_widths(match psf {
                Some(_) => WidthColumns::Measured,
                None => match WidthColumns::of(told.fitter.fit.shape) {
                    WidthColumns::One if told.emitters.are_together() => WidthColumns::Circular,
                    columns => columns,
                },
            })
            .with_checks(engine.checks)
            .with_status(engine.keep_all)
            .with_times(self.frame_time.as_ref().map(FrameTime::times))
    }
}

/// Reads a calibration of widths.
fn finder(path: &Path, pixel_size: Option<f64>) -> Result<Finder, StepError> {
    let name = path.display().to_string();
    load(path, pixel_size).map_err(|error| match error {
        CalibrationFileError::Yaml(YamlError::Io(source)) => StepError::Read { name, source },
        CalibrationFileError::PixelSize => {
            StepError::input(&name, format!("{error}; give `pixel_size`"))
        }
        error => StepError::input(&name, error.to_string()),
    })
}

/// Reads a PSF.
pub(crate) fn measured(path: &Path) -> Result<Psf, StepError> {
    let name = path.display().to_string();
    match File::open(path) {
        Err(source) => Err(StepError::Read { name, source }),
        Ok(file) => psf::read(BufReader::new(file))
            .map_err(|error| StepError::input(&name, error.to_string())),
    }
}
