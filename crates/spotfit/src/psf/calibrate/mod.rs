//! Calibration from stacks of beads.

mod bead;
mod gauge;
mod parts;
mod solve;
mod start;
mod table;

use rayon::prelude::*;

use fit_cpu::MOST_THREADS;

pub use self::parts::{
    BeadStack, PlacedBead, PsfBead, PsfCalibration, PsfCalibrationOptions, Rejection,
};

pub(in crate::psf) use self::solve::conjugate_gradients;

use self::bead::{BeadFit, used, used_mut};
use self::parts::{FARTHEST, MARGIN};
use self::table::Table;
use super::measured::MOST;
use super::misfit::{Alone, MOST_SAMPLES, misfit, said_of};
use super::spot_image::SpotImage;
use super::{Misfit, PsfError};

/// The fewest beads.
const FEWEST_BEADS: usize = 3;
/// The fewest planes between knots along z.
const FEWEST_PLANES: usize = 3;
/// Sides of boxes.
const SIDES: std::ops::RangeInclusive<usize> = 7..=101;
/// The most pixels of all beads.
const MOST_PIXELS: usize = 1 << 28;

/// Makes a PSF from stacks of beads.
///
/// Two fits alternate: one of x, y, z, photons and a background per slice for each bead, and a linear one of the
/// coefficients of the PSF to the pixels of all beads. A bead has the same photons in all slices: bleaching that all
/// beads share is treated as a property of the PSF. Weights are 1/(model's value). Heights begin where the beads'
/// brightness, Σ(d − b)², changes with z in the same way.
///
/// # Errors
/// If boxes are not alike, smaller than 7×7 or larger than 101×101 pixels, or have no slices; if options are out of range; if fewer than
/// three beads can be used; if their range of z is shorter than three steps; or if what is found is no PSF.
pub fn calibrate_psf(
    beads: &[BeadStack],
    options: &PsfCalibrationOptions,
) -> Result<PsfCalibration, PsfError> {
    check(beads, options)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    pool.install(|| solved(beads, options))
}

/// The PSF of beads that make sense.
fn solved(
    beads: &[BeadStack],
    options: &PsfCalibrationOptions,
) -> Result<PsfCalibration, PsfError> {
    let mut fits: Vec<BeadFit<'_>> = beads.iter().map(BeadFit::new).collect();
    start::place(&mut fits);
    enough(&fits)?;
    let mut table = empty_table(&mut fits, options.step)?;
    enough(&fits)?;
    let (mut rounds, mut converged) = (0, false);
    solve::solve(&mut table, &fits, 150);
    while rounds < options.rounds && !converged {
        rounds += 1;
        table.normalize(&mut fits);
        let moved: Vec<[f64; 2]> = fits
            .par_iter_mut()
            .filter(|fit| fit.rejected.is_none())
            .map(|fit| fit.improve(&table, options.drift))
            .collect();
        gauge::fix(&table, &mut fits);
        converged = moved.iter().all(|&[x, z]| x < 0.0005 && z < 0.1) && rounds > 2;
        // The first PSF is blurred by errors of the heights.
        if rounds >= 3 {
            converged &= !reject(&mut fits, options.worst);
            enough(&fits)?;
        }
        solve::solve(&mut table, &fits, 60);
    }
    table.normalize(&mut fits);
    used_mut(&mut fits).for_each(|fit| fit.weigh(&table));
    let zero = gauge::zero(&table);
    let (sum, count) =
        used(&fits).fold((0.0, 0.0), |(sum, count), fit| (sum + fit.squares, count + fit.pixels));
    let psf = table.psf(zero)?;
    let outcomes = fits.iter().map(|fit| fit.outcome((zero - table.zero) * table.step)).collect();
    let misfit = (sum / count).sqrt();
    let psf = psf.with_misfit(of_halves(&table, fits, zero, misfit * misfit));
    Ok(PsfCalibration { psf, outcomes, misfit, rounds, converged })
}

/// How beads differ from the PSF of others: each half of them from that of the other half. `None` where halves are too few.
fn of_halves(table: &Table, fits: Vec<BeadFit<'_>>, zero: f64, squares: f64) -> Option<Misfit> {
    let fits: Vec<_> = fits.into_iter().filter(|fit| fit.rejected.is_none()).collect();
    if fits.len() < 2 * FEWEST_BEADS {
        return None;
    }
    let (even, odd): (Vec<_>, Vec<_>) =
        fits.into_iter().enumerate().partition(|(number, _)| number % 2 == 0);
    let [even, odd] =
        [even, odd].map(|half| half.into_iter().map(|(_, fit)| fit).collect::<Vec<_>>());
    let mut all = Vec::new();
    for (from, others) in [(&even, &odd), (&odd, &even)] {
        let mut half = table.clone();
        solve::solve(&mut half, from, 60);
        let psf = half.psf(zero).ok()?;
        // Read noise and multiplied electrons are in what is left, if there are any.
        let seen = others.iter().flat_map(|fit| fit.seen(&half, zero, squares.max(1.0)));
        let count: usize = others.iter().map(|fit| fit.bead.heights.len()).sum();
        let seen: Vec<_> = seen.step_by(count.div_ceil(MOST_SAMPLES).max(1)).collect();
        all.extend(said_of(&SpotImage::Measured(&psf), &seen));
    }
    misfit(all, 0.0, Alone::HeldOut)
}

fn check(beads: &[BeadStack], options: &PsfCalibrationOptions) -> Result<(), PsfError> {
    let number = PsfError::check;
    let PsfCalibrationOptions { step, rounds, worst, threads, .. } = *options;
    let few = threads <= MOST_THREADS;
    number("the number of threads", threads as f64, few, "0 to 1024")?;
    number("the step in z", step, (1.0..=1000.0).contains(&step), "1 to 1000 nm")?;
    number("the number of rounds", rounds.into(), (3..=1000).contains(&rounds), "3 to 1000")?;
    number("the worst misfit", worst, worst > 1.0, "above 1")?;
    let mut pixels = 0;
    let size = beads.first().map(|bead| bead.stack.dim());
    for (number, bead) in beads.iter().enumerate() {
        let wrong = |reason: String| Err(PsfError::Bead { bead: number, reason });
        let (slices, rows, columns) = bead.stack.dim();
        if size.is_some_and(|(_, r, c)| (r, c) != (rows, columns)) {
            return wrong(format!("its box of {columns}×{rows} pixels is not that of bead 0"));
        }
        if !SIDES.contains(&rows) || !SIDES.contains(&columns) {
            return wrong(format!(
                "a box of {columns}×{rows} pixels; sides of 7 to 101 pixels are needed"
            ));
        }
        if bead.heights.len() != slices {
            let heights = bead.heights.len();
            return wrong(format!("{heights} heights of the stage for {slices} slices"));
        }
        if slices < 5 {
            return wrong(format!("{slices} slices; 5 are needed at least"));
        }
        if let Some(slice) = bead.heights.iter().position(|at| !(-1e9..1e9).contains(at)) {
            return wrong(format!("the height of slice {slice} is {} nm", bead.heights[slice]));
        }
        pixels += slices * rows * columns;
        if pixels > MOST_PIXELS {
            return wrong(format!("it and those before have more than {MOST_PIXELS} pixels"));
        }
    }
    Ok(())
}

/// An error unless enough beads are left.
fn enough(fits: &[BeadFit<'_>]) -> Result<(), PsfError> {
    let left = used(fits).count();
    if left >= FEWEST_BEADS {
        return Ok(());
    }
    let mut reasons: Vec<String> = Vec::new();
    for (bead, fit) in fits.iter().enumerate().take(20) {
        if let Some(rejection) = fit.rejected {
            reasons.push(format!("bead {bead}: {}", rejection.name()));
        }
    }
    if fits.len() > 20 {
        reasons.push("…".to_owned());
    }
    let reasons = if reasons.is_empty() { "none was rejected".into() } else { reasons.join(", ") };
    Err(PsfError::TooFewBeads { left, given: fits.len(), needed: FEWEST_BEADS, reasons })
}

/// An empty table over the range of z that half of the beads cover; those that cover less than half of it are rejected.
fn empty_table(fits: &mut [BeadFit<'_>], step: f64) -> Result<Table, PsfError> {
    let ranges: Vec<[f64; 2]> = used(fits).map(BeadFit::range).collect();
    let median = |end: usize| {
        let mut ends: Vec<f64> = ranges.iter().map(|range| range[end]).collect();
        ends.sort_unstable_by(f64::total_cmp);
        // The one that leaves less, if there are two.
        ends[if end == 0 { ends.len() / 2 } else { (ends.len() - 1) / 2 }]
    };
    let [low, high] = [median(0), median(1)];
    let planes = ((high - low) / step + 1e-6).floor();
    let needed = FEWEST_PLANES as f64 * step;
    if planes < FEWEST_PLANES as f64 {
        return Err(PsfError::ShortRange { range: (high - low).max(0.0), needed });
    }
    let [rows, columns] = fits[0].size().map(|side| side - 1 + 2 * MARGIN + 3);
    if planes > 1000.0 || (planes as usize + 3) * rows * columns > MOST {
        let range = "such that there are 1000 planes and 2^20 coefficients at most";
        return Err(PsfError::Number { name: "the step in z", value: step, range });
    }
    // What is left over is shared by both ends.
    let low = low + 0.5 * (high - low - planes * step);
    for fit in used_mut(fits) {
        let [first, last] = fit.range();
        if last.min(high) - first.max(low) < 0.5 * (high - low) {
            fit.rejected = Some(Rejection::OutOfRange);
        }
    }
    Ok(Table::new([planes as usize + 3, rows, columns], step, -low / step))
}

/// Rejects beads that are far from the middle of their box, or unlike the others; whether there were any.
fn reject(fits: &mut [BeadFit<'_>], worst: f64) -> bool {
    let mut misfits: Vec<f64> = used(fits).map(BeadFit::misfit).collect();
    misfits.sort_unstable_by(f64::total_cmp);
    let Some(&median) = misfits.get(misfits.len().saturating_sub(1) / 2) else { return false };
    let mut any = false;
    for fit in used_mut(fits) {
        if !fit.place.iter().all(|at| at.abs() <= FARTHEST) {
            fit.rejected = Some(Rejection::OffCentre);
        } else {
            let alike = fit.misfit() <= worst * median && fit.photons > 0.0;
            fit.rejected = (!alike).then_some(Rejection::Misfit);
        }
        any |= fit.rejected.is_some();
    }
    any
}
