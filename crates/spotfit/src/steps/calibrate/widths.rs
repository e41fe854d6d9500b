//! Calibrates z from the widths of spots.

use std::fmt;
use std::sync::Arc;

use super::StackOptions;
use crate::astigmatism::calibrate::{
    Fate, Rejected, Slice, WidthCalibration, WidthCalibrationOptions, Zero, calibrate_widths,
};
use crate::link::{LinkOptions, link};
use crate::localize::{Localization, LocalizeOptions, Localizer};
use crate::steps::stack::Stack;
use crate::steps::words::{counted_or_none, go_on};
use crate::steps::{Listener, Note, StepError};
use crate::{CameraMap, Elliptical, FitterOptions, Shape};
use spotfit_files::private::sort_by_key;

fit_core::__options! {
    /// How the widths of spots are calibrated.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct CalibrateOptions {
        /// How the stacks were taken.
        pub stack(const with_stack): StackOptions = StackOptions::default(),
        /// Side of the fitted windows, in pixels; odd. Spots far from the focus are wide.
        pub box_size(const with_box_size): usize = 13,
        /// The range of z that the calibration must cover, in nanometres; the widest possible one if not given.
        pub range(const with_range): Option<[f64; 2]> = None,
        /// Where z is 0.
        pub zero(const with_zero): Zero = Zero::default(),
    }
}

/// The spots of one stack.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct WidthStack {
    /// Its name.
    pub name: String,
    /// Its frames.
    pub frames: usize,
    /// The spots whose widths were found, with their errors.
    pub spots: usize,
}

impl fmt::Display for WidthStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, frames, spots } = self;
        write!(f, "{name}: {frames} frames, {spots} spots")
    }
}

/// A calibration of widths with its report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Calibrated {
    /// The calibration: [`yaml_text`](crate::astigmatism::yaml_text::yaml_text) writes it.
    pub calibration: WidthCalibration,
    /// Its numbers.
    pub report: CalibrateReport,
}

/// The report of a calibration of widths.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct CalibrateReport {
    /// What was found in each stack.
    pub stacks: Vec<WidthStack>,
    /// The beads of all stacks.
    pub beads: u32,
    /// Those from which the calibration was made.
    pub used: usize,
    /// The slices from which it was made.
    pub slices: usize,
    /// The range of z in nanometres.
    pub range: [f64; 2],
    /// What was left out.
    pub rejected: Rejected,
    /// Root mean square of the distance of σx and of σy from the curves, in pixels.
    pub residual: [f64; 2],
    /// Root mean square of the error of z, in nanometres.
    pub z_error: f64,
    /// The largest mean error of z, in nanometres.
    pub z_bias: f64,
    /// How beads move along x and y, in nm for each µm of z, where the size of a pixel is known.
    pub lateral: Option<[f64; 2]>,
    /// The coefficients of σx and σy in pixels per nmᵏ, that of the highest power last.
    pub coefficients: [Vec<f64>; 2],
}

impl CalibrateReport {
    fn new(
        stacks: Vec<WidthStack>,
        beads: u32,
        calibration: &WidthCalibration,
        scaled: bool,
    ) -> Self {
        let curve = &calibration.curve;
        Self {
            stacks,
            beads,
            used: calibration.beads.iter().filter(|bead| bead.fate == Fate::Used).count(),
            slices: calibration.used,
            range: curve.range(),
            rejected: calibration.rejected,
            residual: calibration.residual,
            z_error: calibration.z_error,
            z_bias: calibration.z_bias,
            lateral: scaled.then_some(calibration.lateral),
            coefficients: curve.coefficients().map(|of| of.to_vec()),
        }
    }
}

/// Everything but the stacks, which the listener is told of one by one.
impl fmt::Display for CalibrateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { beads, used, slices, range: [low, high], rejected, .. } = self;
        let left_out = counted_or_none([
            (rejected.short_beads, "beads with too few slices"),
            (rejected.beads_without_crossing, "beads without a focus in their stack"),
            (rejected.beads_off, "beads unlike the others"),
            (rejected.slices_off, "slices off the curve"),
            (rejected.slices_beyond, "slices beyond the range"),
            (rejected.invalid_slices, "slices with a number out of range"),
        ]);
        let Self { residual: [x, y], z_error, z_bias, .. } = self;
        write!(
            f,
            "{used} of {beads} beads used, {slices} slices; z from {low:.0} to {high:.0} nm\nleft out: {left_out}\n\
             residuals {x:.4} and {y:.4} px; error of z {z_error:.1} nm rms, {z_bias:.1} nm at most on average"
        )?;
        if let Some([x, y]) = self.lateral {
            write!(f, "\nbeads move by {x:.0} and {y:.0} nm in x and y for each µm of z")?;
        }
        Ok(())
    }
}

/// Calibrates z from the widths of spots in stacks of beads. Spots are fitted with elliptical Gaussians, whatever shape the fitter's
/// options name. The camera in these options, or `map`, must be that of the stacks.
///
/// # Errors
/// [`StepError`].
pub fn run(
    options: &CalibrateOptions,
    fitter: &FitterOptions,
    map: Option<&Arc<CameraMap>>,
    stacks: &mut [Stack],
    listener: &dyn Listener,
) -> Result<Calibrated, StepError> {
    options.stack.check()?;
    let (mut slices, mut told, mut size) = (Vec::<Slice>::new(), Vec::new(), None);
    for stack in stacks {
        let first = slices.last().map_or(0, |last| last.bead + 1);
        let (found, frames, own) = slices_of(options, fitter, map, stack, first, listener)?;
        size = size.or(own);
        let part = WidthStack { name: stack.name().to_owned(), frames, spots: found.len() };
        listener.note(&Note::Part(part.to_string()));
        told.push(part);
        slices.extend(found);
    }
    let mut settings = WidthCalibrationOptions::new(size.unwrap_or(100.0));
    settings.range = options.range;
    settings.magnification = options.stack.magnification;
    settings.box_size = Some(options.box_size);
    settings.zero = options.zero;
    let beads = slices.last().map_or(0, |last| last.bead + 1);
    // A single bead is better than none.
    settings.least_beads = settings.least_beads.min(beads.max(1) as usize);
    let calibration = calibrate_widths(&slices, &settings).map_err(StepError::refused)?;
    let report = CalibrateReport::new(told, beads, &calibration, size.is_some());
    Ok(Calibrated { calibration, report })
}

/// How far a bead may seem to move from slice to slice, in pixels, and for how many frames it may be missed.
const NEAR: f64 = 1.5;
const GAP: u32 = 3;

/// The slices of the beads of a stack, whose numbers begin at `first`; its frames, and the size of its pixels.
fn slices_of(
    options: &CalibrateOptions,
    fitter: &FitterOptions,
    map: Option<&Arc<CameraMap>>,
    stack: &mut Stack,
    first: u32,
    listener: &dyn Listener,
) -> Result<(Vec<Slice>, usize, Option<f64>), StepError> {
    let movie = stack.movie()?;
    let size = options.stack.pixel_size.of(&movie);
    let frames = movie.frames();
    let fit = fitter.fit.with_shape(Shape::Elliptical(Elliptical));
    let settings = LocalizeOptions::default()
        .with_box_size(options.box_size)
        .with_camera(fit.camera.unwrap_or_default())
        .with_map(map.cloned())
        .with_fitter(fitter.clone().with_fit(fit.with_camera(None)))
        .with_errors(true);
    let localizer = Localizer::new(movie.size(), settings).map_err(StepError::localize(None))?;
    let mut found: Vec<Localization> = Vec::new();
    let blocks = localizer.localize(movie, ..).map_err(StepError::localize(None))?;
    for block in blocks {
        go_on(listener)?;
        found.extend(block.map_err(StepError::localize(Some(stack.name())))?);
    }
    let z = options.stack.heights(frames);
    let of = |number: fn(&Localization) -> f64| found.iter().map(number).collect::<Vec<f64>>();
    let numbers: Vec<u32> = found.iter().map(|spot| spot.frame as u32).collect();
    let within = LinkOptions::new(NEAR, 1.0).with_gap(GAP);
    let links = link(&numbers, &of(|spot| spot.x), &of(|spot| spot.y), None, &within);
    let links = links.map_err(|error| StepError::input(stack.name(), error.to_string()))?;
    let slice = |(spot, &group): (&Localization, &u32)| {
        let errors = spot.errors?;
        Some(Slice {
            bead: first + group,
            z: z[spot.frame],
            x: spot.x,
            y: spot.y,
            sigma_x: spot.sigma_x,
            sigma_y: spot.sigma_y,
            error_x: errors.sigma_x,
            error_y: errors.sigma_y,
        })
    };
    let mut slices: Vec<Slice> = found.iter().zip(&links.groups).filter_map(slice).collect();
    sort_by_key(&mut slices, |slice| slice.bead);
    Ok((slices, frames, size))
}
