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
    #[non_exhaustive]
    pub struct CameraOptions {
        /// The value of a dark pixel, in ADU.
        pub baseline(const with_baseline): Option<f64> = None,
        /// Photo-electrons per ADU, before EM gain.
        pub sensitivity(const with_sensitivity): Option<f64> = None,
        /// EM gain of an EMCCD camera.
        pub em_gain(const with_em_gain): Option<f64> = None,
        /// Read noise in photo-electrons.
        pub read_noise(const with_read_noise): Option<f64> = None,
        /// The maps of a camera whose pixels differ, in place of baseline and read noise. The sensitivity is for maps without gain.
        pub maps(with_maps): Option<Given<CameraMap>> = None,
        /// What says the numbers that are not given. Default: nothing does.
        pub from(const with_from): Option<CameraFrom> = None,
        /// A table of cameras by their names, besides the one that is known here, for [`CameraFrom::Metadata`].
        pub cameras(with_cameras): Option<PathBuf> = None,
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
