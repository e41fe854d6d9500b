//! Options for the shape of the spots, the estimator and the camera.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use spotfit::arguments::{choice, one_of};
use spotfit::steps::localize::{self, CameraOptions, Given, fixed_sigma};
use spotfit::{Background, Camera, CameraMap, Estimator, Options, PixelProfile, Shape};

use crate::error::CliError;
use crate::words::record::Recorded;
use spotfit::camera_maps;
use spotfit::record::camera_of;

/// What is fitted and how it is judged.
#[derive(Debug, Args)]
pub(crate) struct SpotOptions {
    /// The shape of the spots: circular (one sigma), elliptical (sigma_x, sigma_y) or rotated (elliptical, with an
    /// angle).
    #[arg(
        help_heading = "Fit",
        long,
        value_parser = one_of(Shape::NAMED),
        default_value = "circular",
        value_name = "SHAPE"
    )]
    shape: Shape,
    /// The profile: a pixel measures the spot at the pixel's centre, or its integral over the pixel.
    #[arg(
        help_heading = "Fit",
        long,
        value_parser = choice::<PixelProfile>(),
        default_value = "sampled",
        value_name = "PROFILE"
    )]
    profile: PixelProfile,
    /// The width is known: only the centre is fitted. One sigma in pixels or with a unit, as in 130nm, or two along x and y.
    #[arg(help_heading = "Fit", long, value_name = "S|SX,SY", conflicts_with = "shape")]
    pub(crate) fixed_sigma: Option<String>,
    /// The estimator: lse (least squares) or mle (maximum likelihood for Poisson distributed photo-electrons)
    /// [default: lse; mle with --psf, and where several emitters are fitted together].
    #[arg(help_heading = "Fit", long, value_parser = one_of(Estimator::ALL.map(|estimator| (estimator.name(), estimator))), value_name = "ESTIMATOR")]
    pub(crate) estimator: Option<Estimator>,
    #[command(flatten)]
    pub(crate) camera: CameraOptions,
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
        let options = self.shaped(options);
        let options = match &self.fixed_sigma {
            Some(text) => options.with_shape(fixed_sigma(text, pixel_size)?),
            None => options,
        };
        let estimator = self.estimator.unwrap_or(Estimator::LeastSquares);
        Ok(options
            .with_estimator(estimator)
            .with_background(background.unwrap_or(localize::usual_background(estimator)))
            .with_camera(self.camera.camera()))
    }

    /// The options with the shape and the profile.
    pub(crate) fn shaped(&self, options: Options) -> Options {
        options.with_shape(self.shape).with_profile(self.profile)
    }

    /// Refuses words that a measured PSF has no use for: its shape, profile and width are its own.
    pub(crate) fn refuse_gaussians(&self) -> Result<(), CliError> {
        let gaussian = match (&self.fixed_sigma, self.shape, self.profile) {
            (Some(_), ..) => Some("--fixed-sigma"),
            (None, Shape::Elliptical(_) | Shape::Rotated(_), _) => Some("--shape"),
            (.., PixelProfile::Integrated) => Some("--profile"),
            _ => None,
        };
        let reason = "it is for Gaussians; a measured PSF has a shape of its own";
        gaussian.map_or(Ok(()), |name| Err(CliError::file(name, reason)))
    }

    /// Where the maps of the camera are, if there are any.
    pub(crate) fn camera_path(&self) -> Option<&Path> {
        self.camera.maps.as_ref().and_then(Given::file)
    }

    /// The maps of the camera, if there are any, and their path.
    pub(crate) fn camera_map(&self) -> Result<Option<(CameraMap, &Path)>, CliError> {
        let map = self.camera.map()?.map(Arc::unwrap_or_clone);
        Ok(map.zip(self.camera_path()))
    }

    /// Records the camera, if anything is known of it, and the files of its maps.
    pub(crate) fn recorded(
        &self,
        (camera, map): (Option<Camera>, Option<&CameraMap>),
        record: &mut Recorded,
    ) -> Result<(), CliError> {
        for file in self.camera_path().map(camera_maps::files).unwrap_or_default() {
            record.reads("camera", &file)?;
        }
        let known = camera.or_else(|| map.map(|_| Camera::default()));
        record.change(|record| record.camera = known.map(|camera| camera_of(&camera, map)));
        Ok(())
    }
}
