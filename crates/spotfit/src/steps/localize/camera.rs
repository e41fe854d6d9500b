//! What is known of a camera.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use super::given::Given;
use crate::steps::StepError;
use crate::{Camera, CameraMap, OutOfRange, camera_maps};

/// Where the numbers of a camera come from that are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum CameraFrom {
    /// The metadata of the movie, and a table of cameras by the name that they give.
    Metadata,
}

impl fmt::Display for CameraFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }
}

impl FromStr for CameraFrom {
    type Err = OutOfRange;

    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        OutOfRange::check("camera_from", text, text == "metadata", "metadata")?;
        Ok(Self::Metadata)
    }
}

fit_core::__options! {
    /// What is known of a camera: what is not given is that of [`Camera::default`], and the user is warned of it.
    #[derive(Clone, Debug)]
    #[cfg_attr(
        feature = "serde",
        derive(serde::Serialize, serde::Deserialize),
        serde(default, deny_unknown_fields)
    )]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[non_exhaustive]
    pub struct CameraOptions {
        /// The value of a dark pixel, in ADU. With any camera option, amplitude and background are photo-electrons;
        /// without, they are counts.
        pub baseline(const with_baseline)[help_heading = "Camera", long, value_name = "ADU"]: Option<f64> = None,
        /// Photo-electrons per ADU (before EM gain).
        pub sensitivity(const with_sensitivity)[help_heading = "Camera", long, value_name = "E/ADU"]: Option<f64> = None,
        /// EM gain of an EMCCD camera.
        pub em_gain(const with_em_gain)[help_heading = "Camera", long, value_name = "G"]: Option<f64> = None,
        /// Read noise of the camera in photo-electrons, for maximum likelihood, errors and uncertainties.
        pub read_noise(const with_read_noise)[help_heading = "Camera", long, value_name = "E"]: Option<f64> = None,
        /// The maps of an sCMOS camera, instead of baseline, sensitivity and read noise: an NPZ file with arrays offset
        /// (ADU), gain (ADU per photo-electron) and variance (ADU²), each (height, width) of the camera's frame, a folder
        /// with each as .npy or .tif, or a camera calibration of Picasso (.hdf5); if that has no gain, give `sensitivity`.
        /// Pixels with a gain of 0, or with NaN anywhere, are masked: fits ignore them.
        pub maps(with_maps)[
            help_heading = "Camera", long = "camera", value_name = "MAPS", conflicts_with_all = ["baseline", "read_noise"],
            value_hint = clap::ValueHint::AnyPath
        ]: Option<Given<CameraMap>> = None,
        /// What says the numbers that are not given. Default: nothing does.
        pub from(const with_from)[skip]: Option<CameraFrom> = None,
        /// A table of cameras by their names, besides the one that is known here, for [`CameraFrom::Metadata`].
        pub cameras(with_cameras)[skip]: Option<PathBuf> = None,
    }
}

impl CameraOptions {
    /// The camera without its maps, if anything is given of it.
    pub fn camera(&self) -> Option<Camera> {
        let Self { baseline, em_gain, read_noise, .. } = *self;
        // With maps it is theirs.
        let sensitivity = self.sensitivity.filter(|_| self.maps.is_none());
        baseline.or(sensitivity).or(em_gain).or(read_noise)?;
        let default = Camera::default();
        let camera = default
            .with_baseline(baseline.unwrap_or(default.baseline))
            .with_sensitivity(sensitivity.unwrap_or(default.sensitivity))
            .with_em_gain(em_gain)
            .with_read_noise(read_noise.unwrap_or(default.read_noise));
        Some(camera)
    }

    /// The maps, read if they are in a file.
    ///
    /// # Errors
    /// [`StepError`].
    pub fn map(&self) -> Result<Option<Arc<CameraMap>>, StepError> {
        let Some(maps) = &self.maps else { return Ok(None) };
        if let Some(value) = self.sensitivity {
            let good = (1e-12..=1e12).contains(&value);
            OutOfRange::check("sensitivity", value, good, "1e-12 to 1e12")?;
        }
        let read = |path: &Path| {
            camera_maps::read_with(path, self.sensitivity).map_err(StepError::refused)
        };
        maps.read(read).map(Some)
    }
}
