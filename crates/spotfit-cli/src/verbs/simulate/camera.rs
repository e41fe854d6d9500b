//! The words of `spotfit simulate` and `spotfit simulate movie` for EMCCD and sCMOS cameras, and the file of maps.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use clap::Args;
use fit_core::Size;
use fit_sim::Maps;
use spotfit::camera_maps::write_npz;

use crate::error::CliError;
use crate::words::output::{Output, refuse_stranger};
use crate::words::written::WrittenFile;

/// How many counts a photo-electron gives.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SensitivityArguments {
    /// Photo-electrons per count (before EM gain) [default: 1].
    #[arg(help_heading = "Camera", long, value_name = "E/ADU")]
    sensitivity: Option<f64>,
}

impl SensitivityArguments {
    /// Counts per photo-electron.
    pub(crate) fn gain(self) -> Result<f64, CliError> {
        let value = self.sensitivity.unwrap_or(1.0);
        if !(1e-6..=1e6).contains(&value) {
            return Err(CliError::option("sensitivity", &value.to_string(), "1e-6 to 1e6"));
        }
        Ok(value.recip())
    }
}

#[derive(Debug, Args)]
pub(crate) struct CameraArguments {
    /// EM gain: an EMCCD multiplies the electrons before they are read. --sensitivity is then multiplied electrons per count,
    /// and the read noise comes after the multiplication.
    #[arg(help_heading = "Camera", long, value_name = "G")]
    pub(crate) em_gain: Option<f64>,
    /// An sCMOS camera, simulated from the seed: offset, gain and variance differ from pixel to pixel. They replace
    /// baseline, gain and read noise, and are written to this file, arrays (height, width) named offset (ADU), gain
    /// (ADU/e-) and variance (ADU²).
    #[arg(help_heading = "Camera", long, value_name = "MAPS.npz", conflicts_with_all = ["baseline", "sensitivity", "read_noise"])]
    pub(crate) camera: Option<WrittenFile>,
    /// Replace the file of --camera even if Spotfit did not simulate it: in other commands --camera names the maps of a
    /// real camera, which are read. Without this option such a file is not changed, and nothing is written. Movies and truths are replaced in any
    /// case.
    #[arg(help_heading = "Camera", long)]
    pub(crate) overwrite: bool,
}

impl CameraArguments {
    /// The maps of a camera of this size, if one is asked for.
    pub(crate) fn maps(&self, size: Size, seed: u64) -> Result<Option<Maps>, CliError> {
        let Some(path) = &self.camera else { return Ok(None) };
        if !path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz")) {
            let reason = "the name of the camera's maps must end in .npz";
            return Err(CliError::file(&path.display().to_string(), reason));
        }
        refuse_stranger(path, is_ours, self.overwrite)?;
        Ok(Some(Maps::simulated(size, seed)?))
    }

    /// Writes the maps to their file, which is to be completed with the others.
    pub(crate) fn write(&self, maps: Option<&Maps>) -> Result<Option<Output>, CliError> {
        let (Some(path), Some(maps)) = (&self.camera, maps) else { return Ok(None) };
        write_maps(path, maps).map(Some)
    }
}

/// The comment of the archive, which tells simulated maps from those of a real camera. It is the end of the file.
const SIGN: &str = "Simulated by Spotfit";

/// Whether maps were simulated.
fn is_ours(path: &Path) -> bool {
    let mut end = vec![0; SIGN.len()];
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::End(-(SIGN.len() as i64)))?;
        file.read_exact(&mut end)
    });
    read.is_ok() && end == SIGN.as_bytes()
}

fn write_maps(path: &Path, maps: &Maps) -> Result<Output, CliError> {
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    let writer = output
        .seekable()
        .ok_or_else(|| CliError::file(&name, "an NPZ file cannot be written to a pipe"))?;
    let arrays = [("offset", maps.offset()), ("gain", maps.gain()), ("variance", maps.variance())];
    write_npz(writer, &arrays, SIGN).map_err(CliError::write(&name))?;
    Ok(output)
}
