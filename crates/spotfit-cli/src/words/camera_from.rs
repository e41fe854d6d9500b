//! The words for a camera whose numbers are in the metadata of a movie.

use std::path::PathBuf;

use clap::Args;
use spotfit::steps::localize::{CameraFrom, CameraOptions};
use spotfit::steps::{Listener, PixelScale, Stack, StepError};

/// What says the numbers of the camera that no word says.
#[derive(Debug, Args)]
pub(crate) struct CameraFromArguments {
    /// Take what no option says of the camera from the movie's metadata: its numbers, or its name, for a table of cameras. What is
    /// taken is said, an option wins, and what is not known is an error.
    #[arg(help_heading = "Camera", long, value_name = "metadata")]
    pub(crate) camera_from: Option<CameraFrom>,
    /// A table of cameras by their names, besides the one that is known: TOML with entries 'camera' of name, matches (parts of the name
    /// in metadata) and baseline, sensitivity, read_noise.
    #[arg(help_heading = "Camera", long, value_name = "CAMERAS.toml", requires = "camera_from")]
    pub(crate) cameras: Option<PathBuf>,
}

impl CameraFromArguments {
    /// The options of a camera with these.
    pub(crate) fn with(&self, camera: CameraOptions) -> CameraOptions {
        camera.with_from(self.camera_from).with_cameras(self.cameras.clone())
    }
}

/// What is known of the camera of a movie, which is told.
pub(crate) fn of_movie(
    camera: &CameraOptions,
    stack: &mut Stack,
    scale: PixelScale,
    listener: &dyn Listener,
) -> Result<CameraOptions, StepError> {
    let (camera, notes) = camera.by_stack(stack, scale)?;
    notes.iter().for_each(|note| listener.note(note));
    Ok(camera)
}
