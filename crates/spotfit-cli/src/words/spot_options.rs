//! Options for the shape of the spots, the estimator and the camera.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use spotfit::{
    Background, Camera, CameraMap, Circular, Elliptical, Estimator, FixedSigma, FixedSigmas,
    Length, Options, PixelProfile, Rotated, Shape, camera_maps,
};

use super::lengths::in_pixels;
use crate::error::CliError;
use crate::words::record::Recorded;
use spotfit::record::camera_of;
use spotfit::table::Unit;

/// What is fitted and how it is judged.
#[derive(Debug, Args)]
pub(crate) struct SpotOptions {
    /// The shape of the spots: circular (one sigma), elliptical (sigma_x, sigma_y) or rotated (elliptical, with an
    /// angle).
    #[arg(
        help_heading = "Fit",
        long,
        value_enum,
        default_value = "circular",
        value_name = "SHAPE"
    )]
    shape: ShapeChoice,
    /// The profile: a pixel measures the spot at the pixel's centre, or its integral over the pixel.
    #[arg(
        help_heading = "Fit",
        long,
        value_enum,
        default_value = "sampled",
        value_name = "PROFILE"
    )]
    profile: ProfileChoice,
    /// The width is known: only the centre is fitted. One sigma in pixels or with a unit, as in 130nm, or two along x and y.
    #[arg(help_heading = "Fit", long, value_name = "S|SX,SY", conflicts_with = "shape")]
    fixed_sigma: Option<String>,
    /// The estimator: lse (least squares) or mle (maximum likelihood for Poisson distributed photo-electrons)
    /// [default: lse; mle with localize --psf].
    #[arg(help_heading = "Fit", long, value_enum, value_name = "ESTIMATOR")]
    estimator: Option<EstimatorChoice>,
    #[command(flatten)]
    camera: CameraOptions,
}

/// How the camera turns photons into counts.
#[derive(Debug, Args)]
struct CameraOptions {
    /// The value of a dark pixel, in ADU. With any camera option, amplitude and background are photo-electrons;
    /// without, they are counts.
    #[arg(help_heading = "Camera", long, value_name = "ADU")]
    baseline: Option<f64>,
    /// Photo-electrons per ADU (before EM gain).
    #[arg(help_heading = "Camera", long, value_name = "E/ADU")]
    sensitivity: Option<f64>,
    /// EM gain of an EMCCD camera.
    #[arg(help_heading = "Camera", long, value_name = "G")]
    em_gain: Option<f64>,
    /// Read noise of the camera in photo-electrons, for maximum likelihood, errors and uncertainties.
    #[arg(help_heading = "Camera", long, value_name = "E")]
    read_noise: Option<f64>,
    /// The maps of an sCMOS camera, instead of baseline, sensitivity and read noise: an NPZ file with arrays offset
    /// (ADU), gain (ADU per photo-electron) and variance (ADU²), each (height, width) of the camera's frame, a folder
    /// with each as .npy or .tif, or a camera calibration of Picasso (.hdf5); if that has no gain, give --sensitivity.
    /// Pixels with a gain of 0, or with NaN anywhere, are masked: fits ignore them.
    #[arg(help_heading = "Camera", long, value_name = "MAPS", conflicts_with_all = ["baseline", "read_noise"])]
    camera: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeChoice {
    Circular,
    Elliptical,
    Rotated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ProfileChoice {
    Sampled,
    Integrated,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EstimatorChoice {
    Lse,
    Mle,
}

impl CameraOptions {
    fn camera(&self) -> Option<Camera> {
        let Self { baseline, em_gain, read_noise, .. } = *self;
        // With maps it is theirs.
        let sensitivity = self.sensitivity.filter(|_| self.camera.is_none());
        baseline.or(sensitivity).or(em_gain).or(read_noise)?;
        let default = Camera::default();
        let camera = default
            .with_baseline(baseline.unwrap_or(default.baseline))
            .with_sensitivity(sensitivity.unwrap_or(default.sensitivity))
            .with_em_gain(em_gain)
            .with_read_noise(read_noise.unwrap_or(default.read_noise));
        Some(camera)
    }
}

impl SpotOptions {
    /// The options with what these words say. `background` is what was asked for, if anything,
    /// and `pixel_size` the side of a pixel in nanometres, if it is given.
    pub(crate) fn apply(
        &self,
        options: Options,
        background: Option<Background>,
        pixel_size: Option<f64>,
    ) -> Result<Options, CliError> {
        let shape = match (&self.fixed_sigma, self.shape) {
            (Some(text), _) => fixed(text, pixel_size)?,
            (None, ShapeChoice::Circular) => Shape::Circular(Circular),
            (None, ShapeChoice::Elliptical) => Shape::Elliptical(Elliptical),
            (None, ShapeChoice::Rotated) => Shape::Rotated(Rotated),
        };
        let profile = match self.profile {
            ProfileChoice::Sampled => PixelProfile::Sampled,
            ProfileChoice::Integrated => PixelProfile::Integrated,
        };
        let (estimator, natural) = match self.estimator() {
            EstimatorChoice::Lse => (Estimator::LeastSquares, Background::Free),
            EstimatorChoice::Mle => (Estimator::MaximumLikelihood, Background::NonNegative),
        };
        let camera = self.camera.camera();
        Ok(options
            .with_shape(shape)
            .with_profile(profile)
            .with_estimator(estimator)
            .with_background(background.unwrap_or(natural))
            .with_camera(camera))
    }

    /// The known width as it was typed, if a part of it is in nanometres.
    pub(crate) fn fixed_in_nanometres(&self) -> Option<&str> {
        let text = self.fixed_sigma.as_deref()?;
        let mut lengths = text.split(',').filter_map(|part| part.trim().parse::<Length>().ok());
        lengths.any(|length| length.unit() == Some(Unit::Nanometre)).then_some(text)
    }

    fn estimator(&self) -> EstimatorChoice {
        self.estimator.unwrap_or(EstimatorChoice::Lse)
    }

    /// The estimator for a measured PSF, whose shape, profile and width are its own.
    pub(crate) fn psf_estimator(&self) -> Result<Estimator, CliError> {
        let gaussian = match (&self.fixed_sigma, self.shape, self.profile) {
            (Some(_), ..) => Some("--fixed-sigma"),
            (None, ShapeChoice::Elliptical | ShapeChoice::Rotated, _) => Some("--shape"),
            (.., ProfileChoice::Integrated) => Some("--profile"),
            _ => None,
        };
        if let Some(name) = gaussian {
            return Err(CliError::file(
                name,
                "it is for Gaussians; a measured PSF has a shape of its own",
            ));
        }
        Ok(match self.estimator {
            Some(EstimatorChoice::Lse) => Estimator::LeastSquares,
            Some(EstimatorChoice::Mle) | None => Estimator::MaximumLikelihood,
        })
    }

    /// Whether an estimator was asked for.
    pub(crate) fn has_estimator(&self) -> bool {
        self.estimator.is_some()
    }

    /// The camera without its maps, if a word says anything about it.
    pub(crate) fn camera(&self) -> Option<Camera> {
        self.camera.camera()
    }

    /// Whether nothing says what a dark pixel reads.
    pub(crate) fn lacks_baseline(&self) -> bool {
        self.camera.baseline.is_none() && self.camera.camera.is_none()
    }

    /// Whether nothing says how many photo-electrons an ADU is.
    pub(crate) fn lacks_sensitivity(&self) -> bool {
        self.camera.sensitivity.is_none() && self.camera.camera.is_none()
    }

    /// Whether nothing says what the read noise is.
    pub(crate) fn lacks_read_noise(&self) -> bool {
        self.camera.read_noise.is_none() && self.camera.camera.is_none()
    }

    /// Whether the camera has maps.
    pub(crate) fn has_maps(&self) -> bool {
        self.camera.camera.is_some()
    }

    /// Where the maps of the camera are, if there are any.
    pub(crate) fn camera_path(&self) -> Option<&Path> {
        self.camera.camera.as_deref()
    }

    /// The maps of the camera, if there are any, and their path.
    pub(crate) fn camera_map(&self) -> Result<Option<(CameraMap, &Path)>, CliError> {
        let Some(path) = &self.camera.camera else { return Ok(None) };
        let sensitivity = self.camera.sensitivity;
        if let Some(value) = sensitivity.filter(|value| !(1e-12..=1e12).contains(value)) {
            return Err(CliError::option("sensitivity", &value.to_string(), "1e-12 to 1e12"));
        }
        Ok(Some((camera_maps::read_with(path, sensitivity)?, path)))
    }

    /// Records the camera, if anything is known of it, and the files of its maps.
    pub(crate) fn recorded(
        &self,
        map: Option<&CameraMap>,
        record: &mut Recorded,
    ) -> Result<(), CliError> {
        for file in self.camera_path().map(camera_maps::files).unwrap_or_default() {
            record.reads("camera", &file)?;
        }
        let known = self.camera().or_else(|| map.map(|_| Camera::default()));
        record.has_camera(known.map(|camera| camera_of(&camera, map)));
        Ok(())
    }
}

fn fixed(text: &str, pixel_size: Option<f64>) -> Result<Shape, CliError> {
    let wrong = || {
        CliError::option(
            "fixed-sigma",
            text,
            "S or SX,SY in pixels, 0.1 to 1000, no wider than the window",
        )
    };
    let lengths: Result<Vec<Length>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let lengths = lengths.map_err(|_| wrong())?;
    let pixels = |&length: &Length| in_pixels("fixed-sigma", length, pixel_size);
    let numbers: Vec<f64> = lengths.iter().map(pixels).collect::<Result<_, _>>()?;
    if !numbers.iter().all(|sigma| (0.1..=1e3).contains(sigma)) {
        return Err(wrong());
    }
    match numbers[..] {
        [sigma] => Ok(Shape::FixedSigma(FixedSigma { sigma })),
        [sigma_x, sigma_y] => Ok(Shape::FixedSigmas(FixedSigmas { sigma_x, sigma_y })),
        _ => Err(wrong()),
    }
}
