//! How to localize a movie.

use std::sync::Arc;

use fit_core::{ArgumentError, Background, Camera, Estimator, Options, Shape, Size};
use fit_cpu::{BatchError, MOST_THREADS};
use fit_crowd::Misfit;
use fit_windows::CameraMap;
use spotfit_locs::OutOfRange;
use spotfit_locs::positions::Positions;

use super::aperture::{self, ApertureCorrection};
use super::checks::Flags;
use super::defects::Defects;
use super::emitters::{self, Emitters, Sigma};
use super::outcome::LocalizeError;
use super::temporal;
#[cfg(feature = "clap")]
use crate::arguments::{choice, in_range};
use crate::astigmatism::find::Finder;
use crate::backend::{FitError, FitterOptions};
use crate::detect::{DEFAULT_FALSE_RATE, narrow, typical_variance};
use crate::psf::Psf;

/// A rectangle of pixels in which to look for spots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct Roi {
    /// The first column.
    pub x: usize,
    /// The first row.
    pub y: usize,
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

impl Roi {
    /// Whether a place of the frame is in one of its pixels.
    pub(super) fn holds(&self, x: f64, y: f64) -> bool {
        let within = |at: f64, first: usize, length: usize| {
            (first as f64 - 0.5..(first + length) as f64 - 0.5).contains(&at)
        };
        within(x, self.x, self.width) && within(y, self.y, self.height)
    }
}

fit_core::__options! {
    /// How to localize a movie.
    ///
    /// ```
    /// use spotfit::localize::LocalizeOptions;
    /// use spotfit::{Camera, FitterOptions};
    ///
    /// let options = LocalizeOptions::default()
    ///     .with_box_size(9)
    ///     .with_camera(Camera::default().with_baseline(100.0).with_sensitivity(0.46))
    ///     .with_fitter(FitterOptions::default().with_threads(2));
    /// ```
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
    #[cfg_attr(feature = "clap", derive(clap::Args), group(skip))]
    #[non_exhaustive]
    pub struct LocalizeOptions {
        /// Side of the windows in pixels. Range: odd, 5 to 63.
        pub box_size(const with_box_size) skip[]: usize = 7_usize,
        /// How many false spots the detector may find in a million pixels of noise alone: 1 is one in 15 frames of 256×256 pixels, and 10⁻⁴ in a µm²
        /// at 100 nm a pixel. It takes the noise to be that of the camera's photo-electrons. 10 finds more of spots that are hardly seen.
        ///
        /// The threshold follows from it: see [`crate::detect`]. Range: 10⁻⁶ to 10⁴.
        pub false_rate(const with_false_rate) default_value_t[help_heading = "Detection", long, value_name = "R"]: f64 = DEFAULT_FALSE_RATE,
        /// How far a spot must stand out, in units of the local noise of the filtered frame, instead of `false_rate`.
        ///
        /// Range: above 0.
        pub threshold()[help_heading = "Detection", long, value_name = "K", conflicts_with = "false_rate"]: Option<f64> = None,
        /// Where to look; `None` is the whole frame.
        pub roi(const with_roi)[skip]: Option<Roi> = None,
        /// How many emitters light may come from: 1, every candidate is fitted in a window of its own; auto, as many as the frame
        /// shows, all of a frame fitted together, by maximum likelihood; or the most in a window of `box_size` pixels, 2 to 100: where more are
        /// needed, all of that window are max_iterations (dropped without `keep_all`).
        pub emitters(const with_emitters) default_value_t[
            help_heading = "Fit", long, value_name = "1|N|auto", value_parser = in_range::<Emitters>, allow_hyphen_values = true
        ]: Emitters = Emitters::One,
        /// With emitters that are fitted together: every spot has a width of its own (free), or all have the one that is found in the first frames
        /// (shared). `fixed_sigma` is a width that is known.
        pub sigma(const with_sigma)[
            help_heading = "Fit", long, value_parser = choice::<Sigma>(), default_value = "free", value_name = "SIGMA"
        ]: Sigma = Sigma::Free,
        /// The width of an ordinary spot in pixels, with [`Emitters::Auto`] and a width that is not fixed: all spots have it
        /// ([`Sigma::Shared`]), or their fits begin with it ([`Sigma::Free`]), and theirs are half to 1.6 times as large.
        /// [`LocalizeOptions::with_usual_sigma_of`] finds it in frames. Range: 0.4 to 8.
        pub usual_sigma(const with_usual_sigma)[skip]: Option<f64> = None,
        /// How spots that are alone differ from Gaussians of these widths, where spots are fitted together: those that are bright are not taken for
        /// several because of it. [`LocalizeOptions::with_misfit_of`] finds it in frames. A measured PSF has its own. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub misfit(with_misfit)[skip]: Option<Misfit> = None,
        /// Places to fit instead of detecting.
        pub positions(with_positions)[skip]: Option<Positions> = None,
        /// The camera.
        pub camera(const with_camera)[skip]: Camera = Camera::default(),
        /// The maps of a camera whose pixels differ, of the size of the frames. They replace baseline, sensitivity and
        /// read noise of [`LocalizeOptions::camera`]; its EM gain stays. They are not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub map(with_map)[skip]: Option<Arc<CameraMap>> = None,
        /// Defective pixels, of frames of this size. They are masked as pixels of the map are: detection takes the mean of their
        /// neighbours, and fits ignore them. They are not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub defects(with_defects)[skip]: Option<Arc<Defects>> = None,
        /// Take the background from what each pixel shows over time: its median over so many frames around each frame, an odd number or one
        /// more. Spots are found and fitted on top of it, with a constant. For haze that is uneven and changes slowly; spots should shine in
        /// few of these frames. The frames are held in memory.
        ///
        /// `None` takes each frame for itself. Range: 3 to 2³² pixels in all frames.
        ///
        /// Medians are found for every eighth of a window, and interpolated between. The first and the last frames have the background of
        /// the first and the last window, and all frames that of all if there are fewer. The shape of the background is that of the median;
        /// its level is fitted, so that it does not matter if a spot shines in some of the frames.
        pub temporal_background(const with_temporal_background)[help_heading = "Detection", long, value_name = "FRAMES"]: Option<usize> = None,
        /// The fit and its backend.
        pub fitter(with_fitter)[skip]: FitterOptions = FitterOptions::default(),
        /// Keep fits that failed, and add a column status.
        pub keep_all(const with_keep_all)[help_heading = "Output", long = "all"]: bool = false,
        /// Add columns that say how far each localization can be trusted: neighbour, the distance to the nearest other
        /// spot; goodness, chi² per degree of freedom, about 1; flags, the sum of 1 (a neighbour within a box), 2 (residuals
        /// larger than the noise), 4 (a saturated pixel), 8 (wider or narrower than the others) and 16 (maybe more emitters than could be told
        /// apart; only where emitters are fitted together).
        ///
        /// They are [`super::Localization::checks`].
        pub checks(const with_checks)[help_heading = "Output", long = "flags"]: bool = false,
        /// Add the standard errors of photons, background and widths.
        ///
        /// They are [`super::Localization::errors`].
        pub errors(const with_errors)[help_heading = "Output", long]: bool = false,
        /// Finds the height of every spot from its widths ([`super::Localization::depth`]). The fitted shape must have two
        /// widths. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub calibration(with_calibration)[skip]: Option<Arc<Finder>> = None,
        /// Fits spots with this PSF instead of a Gaussian, and finds x, y and z together ([`super::Localization::depth`]).
        /// Of the options of the fit, only estimator, backend, threads and iterations then have an effect.
        /// [`Backend::Auto`](crate::Backend::Auto) is the CPU. It is not serialized.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub psf(with_psf)[skip]: Option<Arc<Psf>> = None,
        /// An aperture correction: photons of Gaussians ([`super::Localization::intensity`]) are multiplied by what isolated spots of the first frames
        /// have within this radius in pixels, over the photons of their Gaussians. Not with a measured PSF. Range: 3 to 32.
        pub aperture(const with_aperture)[skip]: Option<f64> = None,
        /// That correction, if it is known. [`LocalizeOptions::with_aperture_correction_of`] finds it in frames. Range: a factor above 0, with an
        /// aperture.
        pub aperture_correction(const with_aperture_correction)[skip]: Option<ApertureCorrection> = None,
        /// Localizations to drop, and to count as dropped: those with any of these flags.
        pub drop(const with_drop)[skip]: Flags = Flags::default(),
        /// The least value of a saturated pixel, in ADU; if not given, what the first frames or the metadata say, or the largest number that the movie's pixels can hold.
        ///
        /// Floating-point pixels are then never saturated. See [`super::Localizer::look_ahead`]. Range: finite.
        pub saturation(const with_saturation)[help_heading = "Detection", long, value_name = "ADU"]: Option<f64> = None,
        /// Whether the movie was asked for its PSF, and tells none: it is not worth while to ask again.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub(crate) tells_no_psf()[skip]: bool = false,
    }
}

impl LocalizeOptions {
    /// The same with a [`threshold`](Self::threshold) in units of the local noise.
    #[must_use]
    pub const fn with_threshold(mut self, threshold: f64) -> Self {
        self.threshold = Some(threshold);
        self
    }

    /// The default side of the windows for these options, in pixels: that of the calibration of widths, if it is known
    /// and valid for windows; with a measured PSF [`Psf::usual_box`]; otherwise 7.
    pub fn usual_box(&self) -> usize {
        let carried = self.calibration.as_ref().and_then(|calibration| calibration.box_size());
        match (carried.filter(is_box), &self.psf) {
            (Some(side), _) => side,
            (None, Some(psf)) => psf.usual_box(),
            (None, None) => Self::default().box_size,
        }
    }

    /// Warnings about these options, as text.
    pub fn notes(&self) -> Vec<String> {
        let carried = self.calibration.as_ref().and_then(|calibration| calibration.box_size());
        let other = carried.filter(|&side| side != self.box_size).map(|side| {
            let own = self.box_size;
            format!(
                "the windows have {own}×{own} pixels, and those of the calibration had {side}×{side}: widths, and z by them, may \
                 be biased"
            )
        });
        other.into_iter().collect()
    }

    /// The share of a localization's photons that its Gaussian has.
    pub(crate) fn share_of_gaussian(&self) -> f64 {
        self.aperture_correction.map_or(1.0, |correction| correction.factor.recip())
    }

    /// The options of the fit. Least squares with a free background does not depend on the camera: its outcomes are
    /// converted in double precision, whatever the backend computes in. Maximum likelihood needs photo-electrons, β ≥ 0 the
    /// baseline, and a map converts all pixels.
    pub(super) fn fit(&self) -> Options {
        let camera = self.in_photons().then_some(self.camera);
        self.fitter.fit.with_camera(camera)
    }

    /// Whether somebody needs to look at the windows again: for checks, and for Σ(h − g)² where the fit minimized
    /// something else.
    pub(super) fn needs_residuals(&self) -> bool {
        self.is_checked() || self.minimizes_else()
    }

    /// Whether localizations are to be checked.
    pub(super) fn is_checked(&self) -> bool {
        self.checks || !self.drop.is_empty()
    }

    /// The side of windows in crowds. A calibration of widths and a measured PSF hold for windows of one side, and shapes of two
    /// widths need more pixels.
    pub(super) fn narrow_box(&self) -> usize {
        let fit = &self.fitter.fit;
        let few =
            matches!(fit.shape, Shape::Circular(_) | Shape::FixedSigma(_) | Shape::FixedSigmas(_));
        let side = narrow(self.box_size);
        let fits = fit.shape.validate_in(Size::new(side, side), &fit.limits).is_ok();
        let may = few && fits && self.calibration.is_none() && self.psf.is_none();
        if may { side } else { self.box_size }
    }

    /// Puts a map with masked pixels in the place of the camera or its map, where there are defects.
    pub(crate) fn mask_defects(
        &mut self,
        (width, height): (usize, usize),
    ) -> Result<(), OutOfRange> {
        let Some(defects) = self.defects.as_ref().filter(|defects| !defects.is_empty()) else {
            return Ok(());
        };
        let (own_width, own_height) = defects.size();
        let good = (own_width, own_height) == (width, height);
        let range = format!("a mask of the frame's {width}×{height} pixels");
        OutOfRange::check("defects", format!("{own_width}×{own_height}"), good, range)?;
        if let Some(size) = self.map.as_ref().map(|map| map.size()) {
            let (own, good) =
                (format!("{}×{}", size.width, size.height), size == Size::new(width, height));
            OutOfRange::check("map", own, good, format!("the frame's {width}×{height} pixels"))?;
        }
        let map = defects.masked(&self.camera, self.map.as_deref());
        let map = map.map_err(|error| OutOfRange {
            name: "defects",
            value: format!("{} of {} pixels", defects.pixels().len(), width * height),
            range: format!("some that leave pixels to look at: {error}"),
        })?;
        self.map = Some(Arc::new(map));
        Ok(())
    }

    /// Puts a map in the place of the camera, where there is none and the background is known over time.
    pub(super) fn map_background(&mut self, size: (usize, usize)) -> Result<(), OutOfRange> {
        let Some(frames) = self.temporal_background else { return Ok(()) };
        temporal::check(frames, size)?;
        let map = match &self.map {
            Some(map) => map.clone(),
            None => Arc::new(temporal::map_of(&self.camera, size)?),
        };
        let (width, height) = size;
        let own = format!("{}×{}", map.size().width, map.size().height);
        let good = map.size() == Size::new(width, height);
        OutOfRange::check("map", own, good, format!("the frame's {width}×{height} pixels"))?;
        self.map = Some(map);
        Ok(())
    }

    /// The camera of the pixels in which spots are detected: a map converts them to electrons.
    pub(super) fn detected_by(&self) -> Camera {
        match &self.map {
            None => self.camera,
            Some(map) => {
                let read_noise = f64::from(typical_variance(map)).sqrt();
                self.camera.with_baseline(0.0).with_sensitivity(1.0).with_read_noise(read_noise)
            }
        }
    }

    /// Whether fits are in photo-electrons.
    pub(super) fn in_photons(&self) -> bool {
        self.minimizes_else() || self.fitter.fit.background != Background::Free
    }

    /// Whether fits minimize something else than Σ(h − g)² of all pixels.
    fn minimizes_else(&self) -> bool {
        self.map.is_some() || self.fitter.fit.estimator == Estimator::MaximumLikelihood
    }

    /// Checks what neither the detector nor the fitter checks.
    pub(super) fn validate(&self) -> Result<(), LocalizeError> {
        let Self { box_size, false_rate, camera, fitter, saturation, .. } = self;
        let good = is_box(box_size);
        OutOfRange::check("box_size", box_size, good, "an odd number from 5 to 63")?;
        let argument = |error: ArgumentError| FitError::from(BatchError::from(error));
        let size = Size::new(*box_size, *box_size);
        fit_core::Setup::<f64>::new(size, &fitter.fit).map_err(argument)?;
        fitter.fit.shape.validate_in(size, &fitter.fit.limits).map_err(argument)?;
        camera.validate().map_err(argument)?;
        let counts = fitter.fit.camera.is_none();
        OutOfRange::check(
            "fitter.fit.camera",
            "some",
            counts,
            "none: give LocalizeOptions::camera",
        )?;
        let good = (1e-6..=1e4).contains(false_rate);
        OutOfRange::check("false_rate", false_rate, good, "1e-6 to 1e4 in a million pixels")?;
        let two = matches!(fitter.fit.shape, Shape::Elliptical(_));
        OutOfRange::check(
            "calibration",
            "given",
            self.calibration.is_none() || two,
            "only with the shape elliptical",
        )?;
        let one = self.calibration.is_none() || self.psf.is_none();
        OutOfRange::check("psf", "given", one, "only without a calibration of widths")?;
        let correction = self.aperture_correction.as_ref();
        aperture::check(self.aperture, correction, self.psf.is_some())?;
        emitters::check(self)?;
        let saturation = saturation.unwrap_or_default();
        OutOfRange::check("saturation", saturation, saturation.is_finite(), "any finite number")?;
        let range = format!("0 to {MOST_THREADS}; 0 takes one for each processor");
        let (threads, good) = (fitter.threads, fitter.threads <= MOST_THREADS);
        Ok(OutOfRange::check("threads", threads, good, range)?)
    }
}

/// Whether windows may have this side.
pub(crate) fn is_box(side: &usize) -> bool {
    side % 2 == 1 && (5..=63).contains(side)
}
