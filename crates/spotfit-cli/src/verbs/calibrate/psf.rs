//! `spotfit calibrate --spline`: from z stacks of beads to a measured PSF.

use std::path::Path;

use ndarray::{Array2, Array3, Axis as Along};

use crate::error::CliError;
use crate::say::message::say;
use crate::say::plot::{Axis, Chart, Series};
use crate::verbs::calibrate::{CalibrateArguments, heights, open, refuse_stack};
use crate::words::movie_options::pixel_size;
use crate::words::output::Output;
use crate::words::paths::refuse_ending;
use spotfit::movie::Block;
use spotfit::psf::{
    self, Bead, BeadOutcome, CalibrateOptions, Calibration, Psf, PsfError, Rejection, find_beads,
    frames_in_photons,
};

/// Side of the boxes of beads, if nothing is said.
const BOX: usize = 17;
/// The fewest frames of a stack.
const FEWEST_FRAMES: usize = 5;
/// The most pixels of all beads: a gigabyte.
const MOST_PIXELS: usize = 1 << 28;

pub(crate) fn run(arguments: &CalibrateArguments) -> Result<(), CliError> {
    refuse_ending(&arguments.output, &["hdf5", "h5"], "a measured PSF")?;
    // Shape and estimator are those of the PSF.
    arguments.spot.psf_estimator()?;
    if arguments.spot.has_estimator() {
        return Err(CliError::file("--estimator", "a measured PSF is made by one of its own"));
    }
    arguments.fit.refuse_all("a measured PSF")?;
    let camera = arguments.spot.camera().unwrap_or_default();
    camera.validate().map_err(|error| CliError::Other(error.to_string()))?;
    if let Some(planes) = arguments.planes.filter(|planes| !(1.0..=1000.0).contains(planes)) {
        return Err(CliError::option("planes", &planes.to_string(), "1 to 1000 nm"));
    }
    if let Some(warning) = arguments.spot.warning(true) {
        say!("spotfit: warning: {warning}");
    }
    let mut beads = Vec::new();
    let mut size = None;
    for path in &arguments.stacks {
        refuse_stack(arguments, path)?;
        let own = stack(arguments, path, beads.len(), &mut size)?;
        beads.extend(own);
    }
    let mut options = CalibrateOptions::default();
    options.step = arguments.planes.unwrap_or(options.step);
    options.threads = arguments.fit.threads;
    if beads.is_empty() {
        let side = arguments.box_size.unwrap_or(BOX);
        let reason = format!(
            "no beads were found: nothing is 15 times as bright as the noise in the mean of all frames, alone in its box; is \
             --box {side} right, and the camera?"
        );
        return Err(CliError::Other(reason));
    }
    let calibration = psf::calibrate(&beads, &options);
    let calibration = calibration.map_err(|error| CliError::Other(error.to_string()))?;
    let scaled = scaled(&calibration.psf, arguments.magnification)?;
    let output = Output::create(&arguments.output)?;
    let name = output.name().to_owned();
    let output = psf::write(output, &scaled, size).map_err(|error| match error {
        PsfError::Hdf5(error) => CliError::file(&name, error.to_string()),
        error => CliError::Other(error.to_string()),
    })?;
    let mut others = Vec::new();
    if let Some(path) = &arguments.plot {
        let mut picture = Output::create(path)?;
        picture.write_all(draw(&scaled, size).as_bytes())?;
        others.push(picture);
    }
    output.finish_with(others)?;
    summarize(arguments, &calibration, &scaled, beads.len());
    Ok(())
}

/// The PSF with the factor by which refractive indices change z.
fn scaled(psf: &Psf, factor: f64) -> Result<Psf, CliError> {
    let scaled = Psf::new(psf.coefficients().to_owned(), psf.step() * factor, psf.zero());
    scaled.map_err(|error| CliError::Other(error.to_string()))
}

/// The beads of a stack.
fn stack(
    arguments: &CalibrateArguments,
    path: &Path,
    before: usize,
    size: &mut Option<f64>,
) -> Result<Vec<Bead>, CliError> {
    let name = path.display().to_string();
    let wrong = |error: PsfError| CliError::file(&name, error.to_string());
    let failed = |source| CliError::Movie { file: name.clone(), source };
    let movie = open(arguments, path)?;
    *size = size.or(pixel_size(arguments.pixel_size, &movie)?);
    let (frames, (width, height)) = (movie.frames(), movie.size());
    if frames < FEWEST_FRAMES {
        let reason =
            format!("it has {frames} frames; a stack of beads has {FEWEST_FRAMES} or more");
        return Err(CliError::file(&name, reason));
    }
    let camera = arguments.spot.camera().unwrap_or_default();
    let map = arguments.spot.camera_map()?.map(|(map, _)| map);
    let photons = |block: Block| frames_in_photons(block, &camera, map.as_ref()).map_err(wrong);
    let mut mean = Array2::<f64>::zeros((height, width));
    for block in movie.blocks(..) {
        crate::interrupt::check()?;
        let block = photons(block.map_err(failed)?)?;
        for frame in block.outer_iter() {
            mean.zip_mut_with(&frame, |sum, &value| *sum += f64::from(value));
        }
    }
    let mean = mean.mapv(|sum| (sum / frames.max(1) as f64) as f32);
    let side = arguments.box_size.unwrap_or(BOX);
    let found = find_beads(mean.view(), side).map_err(wrong)?;
    say!(
        "{name}: {frames} frames, {} beads; {} with a neighbour and {} at the edge left out",
        found.places.len(),
        found.crowded,
        found.at_edge
    );
    let all = frames.saturating_mul(side * side);
    if all.saturating_mul(before + found.places.len()) > MOST_PIXELS {
        let reason = format!(
            "{} beads of {frames} frames are too many; give fewer stacks, or a smaller --box",
            found.places.len()
        );
        return Err(CliError::file(&name, reason));
    }
    let z = heights(arguments, frames);
    let empty = || Bead { stack: Array3::zeros((frames, side, side)), heights: z.clone() };
    let mut beads: Vec<Bead> = found.places.iter().map(|_| empty()).collect();
    let movie = open(arguments, path)?;
    for block in movie.blocks(..) {
        crate::interrupt::check()?;
        let block = block.map_err(failed)?;
        let first = block.first;
        let block = photons(block)?;
        for (bead, &[x, y]) in beads.iter_mut().zip(&found.places) {
            let (x, y) = (x - side / 2, y - side / 2);
            let from = block.slice_axis(Along(1), (y..y + side).into());
            let from = from.slice_axis(Along(2), (x..x + side).into());
            let slices = first..first + from.len_of(Along(0));
            bead.stack.slice_axis_mut(Along(0), slices.into()).assign(&from);
        }
    }
    Ok(beads)
}

fn summarize(arguments: &CalibrateArguments, calibration: &Calibration, psf: &Psf, beads: usize) {
    let [low, high] = psf.range();
    let [rows, columns] = psf.extent();
    say!(
        "{} of {beads} beads used; z from {low:.0} to {high:.0} nm, {columns}×{rows} pixels",
        calibration.used()
    );
    let reasons = [
        Rejection::NotFinite,
        Rejection::Dim,
        Rejection::Profile,
        Rejection::OffCentre,
        Rejection::OutOfRange,
        Rejection::Misfit,
    ];
    let left_out: Vec<String> = reasons
        .into_iter()
        .filter_map(|reason| {
            let count = calibration
                .outcomes
                .iter()
                .filter(|outcome| **outcome == BeadOutcome::Rejected(reason))
                .count();
            (count > 0).then(|| format!("{count} {}", reason.name()))
        })
        .collect();
    say!("left out: {}", if left_out.is_empty() { "none".to_owned() } else { left_out.join(", ") });
    // The multiplication of electrons doubles the variance.
    let camera = arguments.spot.camera();
    let excess: f64 = if camera.is_some_and(|camera| camera.em_gain.is_some()) { 2.0 } else { 1.0 };
    let of = if camera.is_some() || arguments.spot.camera_path().is_some() {
        "the noise of photons"
    } else {
        "the square root of the counts, which are no photons without a camera"
    };
    let misfit = calibration.misfit / excess.sqrt();
    say!("residuals {misfit:.2} times {of}, after {} rounds", calibration.rounds);
    if !calibration.converged {
        say!("spotfit: warning: the places of the beads still moved in the last round");
    }
    let side = rows.min(columns) - 1;
    say!("windows of up to {side}×{side} pixels can be fitted: `spotfit localize --psf`");
}

/// The Cramér–Rao bounds against z.
fn draw(psf: &Psf, pixel_size: Option<f64>) -> String {
    let [low, high] = psf.range();
    let size = psf.extent().map(|extent| extent - 1);
    let (scale, unit) = pixel_size.map_or((1000.0, "10⁻³ px; z: nm"), |size| (size, "nm"));
    let at = |step: u32| low + (high - low) * f64::from(step) / 200.0;
    let line = |parameter: usize, scale: f64| -> Vec<(f64, f64)> {
        let bound = |step: u32| psf.bound(at(step), 1000.0, 10.0, size);
        (0..=200).filter_map(|step| Some((at(step), bound(step)?[parameter] * scale))).collect()
    };
    let series = vec![
        Series::line("x", line(0, scale)),
        Series::line("y", line(1, scale)),
        Series::line("z", line(2, 1.0)),
    ];
    let label = format!("smallest error ({unit})");
    Chart::new(
        "1000 photons on a background of 10",
        Axis::new("z (nm)"),
        Axis::new(&label).from(0.0),
        series,
    )
    .svg()
}
