//! A measured PSF.

use ndarray::{Array2, Array3, Axis};

use super::StackOptions;
use super::psf_report::{PsfReport, PsfStack};
use crate::movie::Block;
use crate::psf::{
    self, BeadStack, Psf, PsfCalibrationOptions, PsfError, frames_in_photons, locate_beads,
};
use crate::steps::fitted::warn_of_camera;
use crate::steps::stack::Stack;
use crate::steps::words::go_on;
use crate::steps::{Listener, Note, StepError};
use crate::{Camera, CameraMap, Estimator, OutOfRange};

/// The fewest frames of a stack.
const FEWEST_FRAMES: usize = 5;
/// The most pixels of all beads: a gigabyte.
const MOST_PIXELS: usize = 1 << 28;

fit_core::__options! {
    /// How a PSF is measured.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct PsfOptions {
        /// How the stacks were taken.
        pub stack(const with_stack): StackOptions = StackOptions::default(),
        /// Side of the boxes of beads, in pixels; odd. The PSF is about as large, so choose some pixels more than the windows that are to
        /// be fitted with it.
        pub box_size(const with_box_size): usize = 17,
        /// The distance of the PSF's planes in z, in nanometres. Range: 1 to 1000.
        pub planes(const with_planes): f64 = PsfCalibrationOptions::default().step,
        /// Threads; 0 takes one for each processor.
        pub threads(const with_threads): usize = PsfCalibrationOptions::default().threads,
    }
}

/// A measured PSF with its report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MeasuredPsf {
    /// The PSF, with the magnification in its z: [`psf::write`] writes it.
    pub psf: Psf,
    /// The size of a pixel in nanometres, if it is known.
    pub pixel_size: Option<f64>,
    /// Its numbers.
    pub report: PsfReport,
}

/// Measures a PSF from stacks of beads.
///
/// # Errors
/// [`StepError`]; fewer than three beads are too few.
pub fn run_psf(
    options: &PsfOptions,
    camera: Option<&Camera>,
    map: Option<&CameraMap>,
    stacks: &mut [Stack],
    listener: &dyn Listener,
) -> Result<MeasuredPsf, StepError> {
    let PsfOptions { planes, box_size, .. } = *options;
    options.stack.check()?;
    OutOfRange::check("planes", planes, (1.0..=1000.0).contains(&planes), "1 to 1000 nm")?;
    let photons = Photons { camera: camera.copied().unwrap_or_default(), map };
    photons.camera.validate().map_err(StepError::refused)?;
    let is_known = camera.is_some() || map.is_some();
    warn_of_camera(is_known, Estimator::LeastSquares, true, listener);
    let (mut beads, mut told, mut size) = (Vec::new(), Vec::new(), None);
    for stack in stacks {
        let (own, part, own_size) = beads_of(options, &photons, stack, beads.len(), listener)?;
        size = size.or(own_size);
        beads.extend(own);
        told.push(part);
    }
    if beads.is_empty() {
        let reason = format!(
            "no beads were found: nothing is 15 times as bright as the noise in the mean of all frames, alone in its box; is \
             `box_size` {box_size} right, and the camera?"
        );
        return Err(StepError::Refused(reason));
    }
    let settings = PsfCalibrationOptions::default().with_step(planes).with_threads(options.threads);
    let calibration = psf::calibrate_psf(&beads, &settings).map_err(StepError::refused)?;
    if !calibration.converged {
        let text = "the places of the beads still moved in the last round";
        listener.note(&Note::Warning(text.to_owned()));
    }
    let psf = scaled(&calibration.psf, options.stack.magnification)?;
    let report = PsfReport::new(told, &calibration, &psf, camera, map.is_some());
    Ok(MeasuredPsf { psf, pixel_size: size, report })
}

/// The PSF with the factor by which refractive indices change z.
fn scaled(psf: &Psf, factor: f64) -> Result<Psf, StepError> {
    let scaled = Psf::new(psf.coefficients().to_owned(), psf.step() * factor, psf.zero());
    let scaled = scaled.map_err(StepError::refused)?;
    Ok(scaled.with_misfit(psf.misfit().cloned()))
}

/// How counts become photons.
struct Photons<'a> {
    camera: Camera,
    map: Option<&'a CameraMap>,
}

impl Photons<'_> {
    fn of(&self, name: &str, block: Block) -> Result<Array3<f32>, StepError> {
        frames_in_photons(block, &self.camera, self.map).map_err(wrong(name))
    }
}

fn wrong(name: &str) -> impl Fn(PsfError) -> StepError {
    move |error| StepError::input(name, error.to_string())
}

/// Visits the frames of a stack in photons, block by block, with the number of the first frame of each.
fn each_block(
    stack: &mut Stack,
    photons: &Photons<'_>,
    listener: &dyn Listener,
    mut visit: impl FnMut(usize, &Array3<f32>),
) -> Result<(), StepError> {
    let movie = stack.movie()?;
    for block in movie.blocks(..) {
        go_on(listener)?;
        let failed = |source| StepError::Movie { name: stack.name().to_owned(), source };
        let block = block.map_err(failed)?;
        let first = block.first;
        visit(first, &photons.of(stack.name(), block)?);
    }
    Ok(())
}

/// The beads of a stack, what is to be said of it, and the size of its pixels.
fn beads_of(
    options: &PsfOptions,
    photons: &Photons<'_>,
    stack: &mut Stack,
    before: usize,
    listener: &dyn Listener,
) -> Result<(Vec<BeadStack>, PsfStack, Option<f64>), StepError> {
    let side = options.box_size;
    let (frames, (width, height), size) =
        stack.about(|movie| (movie.frames(), movie.size(), options.stack.pixel_size.of(movie)))?;
    let name = stack.name().to_owned();
    if frames < FEWEST_FRAMES {
        let reason =
            format!("it has {frames} frames; a stack of beads has {FEWEST_FRAMES} or more");
        return Err(StepError::input(&name, reason));
    }
    let mut mean = Array2::<f64>::zeros((height, width));
    each_block(stack, photons, listener, |_, block| {
        for frame in block.outer_iter() {
            mean.zip_mut_with(&frame, |sum, &value| *sum += f64::from(value));
        }
    })?;
    let mean = mean.mapv(|sum| (sum / frames.max(1) as f64) as f32);
    let found = locate_beads(mean.view(), side).map_err(wrong(&name))?;
    let part = PsfStack {
        name: name.clone(),
        frames,
        beads: found.places.len(),
        crowded: found.crowded,
        at_edge: found.at_edge,
    };
    listener.note(&Note::Part(part.to_string()));
    let all = frames.saturating_mul(side * side);
    if all.saturating_mul(before + part.beads) > MOST_PIXELS {
        let reason = format!(
            "{} beads of {frames} frames are too many; give fewer stacks, or a smaller `box_size`",
            part.beads
        );
        return Err(StepError::input(&name, reason));
    }
    let z = options.stack.heights(frames);
    let empty = || BeadStack { stack: Array3::zeros((frames, side, side)), heights: z.clone() };
    let mut beads: Vec<BeadStack> = found.places.iter().map(|_| empty()).collect();
    each_block(stack, photons, listener, |first, block| {
        for (bead, &[x, y]) in beads.iter_mut().zip(&found.places) {
            let (x, y) = (x - side / 2, y - side / 2);
            let from = block.slice_axis(Axis(1), (y..y + side).into());
            let from = from.slice_axis(Axis(2), (x..x + side).into());
            let slices = first..first + from.len_of(Axis(0));
            bead.stack.slice_axis_mut(Axis(0), slices.into()).assign(&from);
        }
    })?;
    Ok((beads, part, size))
}
