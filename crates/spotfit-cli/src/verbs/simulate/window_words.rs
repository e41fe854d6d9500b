//! The words of `spotfit simulate` for windows.

use crate::words::choice::choice;
use crate::words::written::WrittenFile;
use clap::{Args, ValueEnum};
use fit_sim::{Noise, SpotSimulation};

#[derive(Debug, Args)]
pub(super) struct WindowArguments {
    /// Number of windows.
    #[arg(long, value_name = "N")]
    pub(super) count: usize,
    /// Width and height of the windows in pixels.
    #[arg(long, value_name = "PX", required_unless_present_all = ["width", "height"])]
    pub(super) size: Option<usize>,
    /// Width of the windows in pixels; overrides --size.
    #[arg(long, value_name = "PX")]
    pub(super) width: Option<usize>,
    /// Height of the windows in pixels; overrides --size.
    #[arg(long, value_name = "PX")]
    pub(super) height: Option<usize>,
    /// Photo-electrons of a spot.
    #[arg(long, default_value_t = SpotSimulation::default().signal, value_name = "E", help_heading = "Spots")]
    pub(super) photons: f64,
    /// Background of a pixel in photo-electrons [default: 40 over the pixels of a window].
    #[arg(long, value_name = "E", help_heading = "Spots")]
    pub(super) pixel_background: Option<f64>,
    /// The noise: poisson (photon statistics), paper (Gaussian of the same variance, rounded and
    /// clipped at zero, as published) or none.
    #[arg(
        long,
        default_value = "poisson",
        value_name = "NOISE",
        help_heading = "Camera",
        value_parser = choice([
            ("poisson", Noise::Poisson),
            ("paper", Noise::Paper),
            ("none", Noise::None),
        ])
    )]
    pub(super) noise: Noise,
    /// The smallest sigma in pixels.
    #[arg(long, default_value_t = SpotSimulation::default().sigma.start, value_name = "PX", help_heading = "Spots")]
    pub(super) sigma_min: f64,
    /// The largest sigma in pixels.
    #[arg(long, default_value_t = SpotSimulation::default().sigma.end, value_name = "PX", help_heading = "Spots")]
    pub(super) sigma_max: f64,
    /// The value of a dark pixel, in counts.
    #[arg(long, default_value_t = SpotSimulation::default().camera.baseline, value_name = "COUNTS", help_heading = "Camera")]
    pub(super) baseline: f64,
    /// Standard deviation of the read noise in photo-electrons.
    #[arg(long, default_value_t = SpotSimulation::default().camera.read_noise, value_name = "E", help_heading = "Camera")]
    pub(super) read_noise: f64,
    /// Width and height of the sCMOS camera in pixels. Each window lies at a random position in it.
    #[arg(
        long,
        default_value_t = 256,
        value_name = "PX",
        requires = "camera",
        help_heading = "Camera"
    )]
    pub(super) camera_size: usize,
    /// Where to write the positions of the windows in the sCMOS camera: a CSV file frame,x,y with the first pixel of
    /// each window; the frame is always 0.
    #[arg(long, value_name = "CORNERS.csv", requires = "camera", help_heading = "Output")]
    pub(super) corners: Option<WrittenFile>,
    /// The seed: the same seed gives the same bytes on every machine.
    #[arg(long, default_value_t = SpotSimulation::default().seed, value_name = "SEED")]
    pub(super) seed: u64,
    /// The type of the pixels.
    #[arg(long, value_enum, default_value = "f32", value_name = "TYPE", help_heading = "Output")]
    pub(super) dtype: DtypeChoice,
    /// Where to write the windows: an NPY file (n, height, width), or - for standard output.
    #[arg(short, long, value_name = "SPOTS.npy", help_heading = "Output")]
    pub(super) output: WrittenFile,
    /// Where to write the truth: a CSV file spot,x,y,sigma,signal,background, with signal and background as given
    /// above. Spots that are not circular have sigma_x,sigma_y instead of sigma, then angle (radians) if rotated and z
    /// (nanometres) if defocused.
    #[arg(long, value_name = "TRUTH.csv", help_heading = "Output")]
    pub(super) truth: Option<WrittenFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(super) enum DtypeChoice {
    U8,
    U16,
    F32,
}

impl DtypeChoice {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    pub(super) fn descr(self) -> &'static str {
        match self {
            Self::U8 => "'|u1'",
            Self::U16 => "'<u2'",
            Self::F32 => "'<f4'",
        }
    }

    /// Appends the bytes of a pixel, or gives it back if it is beyond the range of the type.
    pub(super) fn push(self, pixel: f32, bytes: &mut Vec<u8>) -> Result<(), f32> {
        match self {
            Self::U8 if pixel <= f32::from(u8::MAX) => bytes.push(pixel.round() as u8),
            Self::U16 if pixel <= f32::from(u16::MAX) => {
                bytes.extend_from_slice(&(pixel.round() as u16).to_le_bytes());
            }
            Self::F32 => bytes.extend_from_slice(&pixel.to_le_bytes()),
            _ => return Err(pixel),
        }
        Ok(())
    }
}
