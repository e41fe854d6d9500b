//! How well the spots of a simulated movie were found, as [`score`] defines it.

use std::fmt;

use fit_sim::{MoviePlan, MovieTruth};
use spotfit::Length;
use spotfit::localize::Localization;
use spotfit::pairs::{Spots, pairs};
use spotfit::steps::score::{self, ScoreOptions, ScoreReport};
use spotfit::steps::{Silent, Source};
use spotfit::table::{Column, Meaning, Table, Unit};

use crate::error::CliError;

/// A localization may be so many pixels from its spot.
const NEAR: f64 = 1.5;
/// A spot is isolated if no other is within so many pixels.
const ISOLATED: f64 = 10.0;
/// Spots with fewer photons are not asked for.
const LEAST_PHOTONS: f64 = 100.0;
/// Spots nearer to the edge than this, in pixels, do not count.
const MARGIN: f64 = 5.0;
/// Molecules within so many σ of each other are one spot, whose centre is that of their light.
const ONE: f64 = 1.0;

/// Errors in units of what was stated.
#[derive(Clone, Copy, Default)]
struct Errors {
    squares: f64,
    count: usize,
}

impl Errors {
    fn rms(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }
}

/// Recall, precision, and the errors of x and y over the stated uncertainty.
pub(crate) struct Score {
    /// Against the spots with enough photons, and against those of them that are isolated.
    found: [ScoreReport; 2],
    /// All localizations and those without a flag, against all spots.
    real: [ScoreReport; 2],
    /// Of all, of those with a flag and of those without.
    errors: [Errors; 3],
}

impl Score {
    /// Compares the localizations of a movie with what was simulated. They need their checks.
    pub(crate) fn of(plan: &mut MoviePlan, found: &[Localization]) -> Result<Self, CliError> {
        let frames = plan.simulation().frames;
        let mut truth: Vec<MovieTruth> = Vec::new();
        for frame in 0..frames {
            truth.extend(plan.piece(frame..frame + 1).truth(frame));
        }
        let simulation = plan.simulation();
        let options = ScoreOptions::default()
            .with_radius(Length::pixels(NEAR))
            .with_border(Length::pixels(MARGIN))
            .with_width(Some(simulation.width))
            .with_height(Some(simulation.height));
        let score = |found: &Table, truth: &Table| {
            let [found, truth] = [found, truth].map(|table| Source::of(table.clone()));
            score::run(&options, &found, &truth, &Silent)
        };
        let spots = table(truth.iter().map(|spot| (spot.frame, spot.shape.x, spot.shape.y)));
        let seen = table(found.iter().map(|spot| (spot.frame, spot.x, spot.y)));
        let bright: Vec<bool> = truth.iter().map(|spot| spot.signal >= LEAST_PHOTONS).collect();
        let isolated: Vec<bool> = truth
            .chunk_by(|a, b| a.frame == b.frame)
            .flat_map(|all| all.iter().map(|spot| is_isolated(spot, all)))
            .zip(&bright)
            .map(|(alone, bright)| alone && *bright)
            .collect();
        let plain: Vec<bool> = found.iter().map(|spot| !is_flagged(spot)).collect();
        Ok(Self {
            found: [score(&seen, &only(&spots, &bright))?, score(&seen, &only(&spots, &isolated))?],
            real: [score(&seen, &spots)?, score(&only(&seen, &plain), &spots)?],
            errors: errors(&truth, &spots, found, &seen)?,
        })
    }
}

/// The errors of localizations with a partner that is bright enough.
fn errors(
    truth: &[MovieTruth],
    spots: &Table,
    found: &[Localization],
    seen: &Table,
) -> Result<[Errors; 3], CliError> {
    let refused = |reason: String| CliError::Other(reason);
    let columns = |of: &Table| {
        let of_axis = |axis| of.values(axis).map(<[f64]>::to_vec);
        Ok((of.frames()?, of_axis(Meaning::X)?, of_axis(Meaning::Y)?))
    };
    let of = |table| {
        columns(table).map_err(|error: spotfit::table::TableError| refused(error.to_string()))
    };
    let (mine, theirs) = (of(seen)?, of(spots)?);
    let [mine, theirs] = [&mine, &theirs].map(|(frames, x, y)| Spots { frames, x, y, z: None });
    let mut errors = [Errors::default(); 3];
    let pairs = pairs(&mine, &theirs, NEAR, NEAR).map_err(|error| refused(error.to_string()))?;
    for pair in pairs {
        let (spot, partner) = (&found[pair.found as usize], &truth[pair.truth as usize]);
        if partner.signal < LEAST_PHOTONS {
            continue;
        }
        let first = truth.partition_point(|other| other.frame < partner.frame);
        let frame = truth[first..].iter().take_while(|other| other.frame == partner.frame);
        let reach = ONE * partner.shape.sigma;
        let same = |t: &&MovieTruth| t.molecule == partner.molecule || is_near(t, partner, reach);
        let (mut light, mut x, mut y) = (0.0, 0.0, 0.0);
        for part in frame.filter(same) {
            light += part.signal;
            x += part.signal * part.shape.x;
            y += part.signal * part.shape.y;
        }
        let square = ((spot.x - x / light) / spot.uncertainty_x).powi(2)
            + ((spot.y - y / light) / spot.uncertainty_y).powi(2);
        for which in [0, if is_flagged(spot) { 1 } else { 2 }] {
            errors[which].squares += square;
            errors[which].count += 2;
        }
    }
    Ok(errors)
}

/// A table of spots, in pixels.
fn table(spots: impl Iterator<Item = (usize, f64, f64)>) -> Table {
    let mut columns: [Vec<f64>; 3] = Default::default();
    for (frame, x, y) in spots {
        for (column, value) in columns.iter_mut().zip([frame as f64, x, y]) {
            column.push(value);
        }
    }
    let mut table = Table::default();
    for (meaning, values) in [Meaning::Frame, Meaning::X, Meaning::Y].into_iter().zip(columns) {
        table.set(Column::of(meaning, Unit::Pixel, values));
    }
    table
}

/// Some rows of a table.
fn only(table: &Table, keep: &[bool]) -> Table {
    let mut table = table.clone();
    table.retain(keep);
    table
}

fn is_flagged(spot: &Localization) -> bool {
    spot.checks.is_none_or(|checks| !checks.flags.is_empty())
}

/// Whether no other spot of its frame is near.
fn is_isolated(spot: &MovieTruth, frame: &[MovieTruth]) -> bool {
    !frame.iter().any(|other| is_near(other, spot, ISOLATED))
}

/// Whether another spot is so near.
fn is_near(other: &MovieTruth, spot: &MovieTruth, reach: f64) -> bool {
    let distance = (other.shape.x - spot.shape.x).hypot(other.shape.y - spot.shape.y);
    other.molecule != spot.molecule && distance < reach
}

/// A share in percent, of so many.
fn share(percent: Option<f64>, all: usize) -> String {
    percent.map_or_else(|| "none of 0".to_owned(), |percent| format!("{percent:.1} % of {all}"))
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [found, isolated] = [&self.found[0], &self.found[1]]
            .map(|of| share(of.recall, of.true_positives + of.false_negatives));
        let [real, real_without_flag] = [&self.real[0], &self.real[1]]
            .map(|of| share(of.precision, of.true_positives + of.false_positives));
        let [all, flagged, other] = self.errors.map(|errors| errors.rms());
        let share = 100.0 * self.errors[1].count as f64 / self.errors[0].count as f64;
        writeln!(
            f,
            "Found: {found} spots from {LEAST_PHOTONS} photons, {isolated} isolated ones."
        )?;
        writeln!(f, "Real: {real} localizations, {real_without_flag} without a flag.")?;
        write!(
            f,
            "Error over stated uncertainty, rms: {all:.2}; with a flag ({share:.0} %) {flagged:.2}, without {other:.2}."
        )
    }
}
