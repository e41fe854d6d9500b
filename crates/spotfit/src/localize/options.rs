//! How a movie is to be localized.

use fit_core::{Options, Size};
use fit_cpu::{InstructionSet, MOST_THREADS};

use super::{LocalizeError, Positions};
use crate::detect::DEFAULT_THRESHOLD;
use crate::fitter::{Backend, FitError};
use crate::range::OutOfRange;

/// What the camera makes of photons: photons = (ADU − baseline)·sensitivity/em_gain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraOptions {
    /// What a dark pixel reads, in ADU. Range: −10¹² to 10¹².
    pub baseline: f64,
    /// Photo-electrons per ADU, before EM gain. Range: 10⁻¹² to 10¹².
    pub sensitivity: f64,
    /// EM gain; `None` for a camera without. Range: 1 to 10⁹. With it the variance of the counts is
    /// doubled by the multiplication.
    pub em_gain: Option<f64>,
    /// Standard deviation of the read noise in photo-electrons; EM gain divides it. Range: 0 to 10⁹.
    pub read_noise: f64,
}

impl Default for CameraOptions {
    fn default() -> Self {
        Self { baseline: 0.0, sensitivity: 1.0, em_gain: None, read_noise: 0.0 }
    }
}

impl CameraOptions {
    /// Photons per ADU.
    pub fn photons_per_adu(&self) -> f64 {
        self.sensitivity / self.em_gain.unwrap_or(1.0)
    }
}

/// A rectangle of pixels in which spots are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roi {
    /// First column.
    pub x: usize,
    /// First row.
    pub y: usize,
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// How a movie is to be localized.
#[derive(Clone, Debug)]
pub struct LocalizeOptions {
    /// Side of the windows in pixels. Range: odd, 5 to 63.
    pub box_size: usize,
    /// What a spot must exceed, in units of the local noise (see [`crate::detect`]). Range: above 0.
    pub threshold: f64,
    /// Where to look; `None` is the whole frame.
    pub roi: Option<Roi>,
    /// Places to fit instead of detecting.
    pub positions: Option<Positions>,
    /// The camera.
    pub camera: CameraOptions,
    /// The fit.
    pub fit: Options,
    /// Whether failed fits are kept.
    pub keep_all: bool,
    /// What does the work.
    pub backend: Backend,
    /// Vector instructions for [`Backend::Cpu`]; `None` is the best.
    pub instruction_set: Option<InstructionSet>,
    /// The devices for [`Backend::Gpu`], by their numbers from 0.
    pub devices: Vec<usize>,
    /// Threads; 0 takes one for each processor. Range: up to [`fit_cpu::MOST_THREADS`].
    pub threads: usize,
}

impl Default for LocalizeOptions {
    fn default() -> Self {
        Self {
            box_size: 7,
            threshold: DEFAULT_THRESHOLD,
            roi: None,
            positions: None,
            camera: CameraOptions::default(),
            fit: Options::default(),
            keep_all: false,
            backend: Backend::Auto,
            instruction_set: None,
            devices: vec![0],
            threads: 0,
        }
    }
}

impl LocalizeOptions {
    /// Checks what neither the detector nor the fitter checks.
    pub(super) fn validate(&self) -> Result<(), LocalizeError> {
        let Self { box_size, camera, .. } = self;
        let odd = box_size % 2 == 1 && (5..=63).contains(box_size);
        OutOfRange::check("box", box_size, odd, "an odd number from 5 to 63")?;
        let size = Size::new(*box_size, *box_size);
        fit_core::Setup::<f64>::new(size, &self.fit)
            .map_err(fit_cpu::BatchError::from)
            .map_err(FitError::from)?;
        let CameraOptions { baseline, sensitivity, em_gain, read_noise } = *camera;
        // Within these ranges all that is worked out is finite, whatever the pixels are.
        let good = (-1e12..=1e12).contains(&baseline);
        OutOfRange::check("baseline", baseline, good, "-1e12 to 1e12")?;
        let good = (1e-12..=1e12).contains(&sensitivity);
        OutOfRange::check("sensitivity", sensitivity, good, "1e-12 to 1e12")?;
        let gain = em_gain.unwrap_or(1.0);
        OutOfRange::check("em-gain", gain, (1.0..=1e9).contains(&gain), "1 to 1e9")?;
        let good = (0.0..=1e9).contains(&read_noise);
        OutOfRange::check("read-noise", read_noise, good, "0 to 1e9")?;
        let range = format!("0 to {MOST_THREADS}; 0 takes one for each processor");
        Ok(OutOfRange::check("threads", self.threads, self.threads <= MOST_THREADS, range)?)
    }
}
