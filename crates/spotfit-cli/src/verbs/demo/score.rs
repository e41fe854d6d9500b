//! How well the spots of a simulated movie were found.

use std::fmt;

use fit_sim::{MoviePlan, MovieTruth};
use spotfit::localize::Localization;

/// A spot is found by a localization within so many pixels, and a localization is real within so many of a spot.
const FOUND: f64 = 1.5;
const REAL: f64 = 2.0;

/// A spot is isolated if no other is within so many pixels.
const ISOLATED: f64 = 10.0;

/// Spots with fewer photons are not asked for, nor those nearer to the edge than this, in pixels.
const LEAST_PHOTONS: f64 = 100.0;
const MARGIN: f64 = 5.0;

/// Molecules within so many σ of each other are one spot, whose centre is that of their light.
const ONE: f64 = 1.0;

/// Some of all.
#[derive(Clone, Copy, Default)]
struct Share {
    part: usize,
    all: usize,
}

impl Share {
    fn count(&mut self, yes: bool) {
        self.part += usize::from(yes);
        self.all += 1;
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} % of {}", 100.0 * self.part as f64 / self.all as f64, self.all)
    }
}

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
#[derive(Clone, Copy, Default)]
pub(crate) struct Score {
    found: Share,
    isolated: Share,
    real: Share,
    real_without_flag: Share,
    /// Of all, of those with a flag and of those without.
    errors: [Errors; 3],
}

impl Score {
    /// Compares the localizations of a movie, in the order of the frames, with what was simulated. They need their
    /// checks.
    pub(crate) fn of(plan: &mut MoviePlan, mut localizations: &[Localization]) -> Self {
        let mut score = Self::default();
        for frame in 0..plan.simulation().frames {
            let count = localizations.partition_point(|spot| spot.frame <= frame);
            let (found, rest) = localizations.split_at(count);
            localizations = rest;
            let truth: Vec<MovieTruth> = plan.piece(frame..frame + 1).truth(frame).collect();
            score.seek(plan, &truth, found);
            found.iter().for_each(|spot| score.judge(&truth, spot));
        }
        score
    }

    /// Which of the spots of a frame were found.
    fn seek(&mut self, plan: &MoviePlan, truth: &[MovieTruth], found: &[Localization]) {
        let simulation = plan.simulation();
        let inside = |at: f64, side: usize| (MARGIN..side as f64 - 1.0 - MARGIN).contains(&at);
        for spot in truth {
            let (x, y) = (spot.shape.x, spot.shape.y);
            let inside = inside(x, simulation.width) && inside(y, simulation.height);
            if spot.signal < LEAST_PHOTONS || !inside {
                continue;
            }
            let seen = found.iter().any(|one| (one.x - x).hypot(one.y - y) < FOUND);
            self.found.count(seen);
            if !truth.iter().any(|other| is_near(other, spot, ISOLATED)) {
                self.isolated.count(seen);
            }
        }
    }

    fn judge(&mut self, truth: &[MovieTruth], spot: &Localization) {
        let flagged = spot.checks.is_none_or(|checks| !checks.flags.is_empty());
        let distance = |t: &MovieTruth| (t.shape.x - spot.x).hypot(t.shape.y - spot.y);
        let nearest = truth.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest.filter(|t| distance(t) < REAL);
        self.real.count(nearest.is_some());
        if !flagged {
            self.real_without_flag.count(nearest.is_some());
        }
        let Some(nearest) = nearest.filter(|t| t.signal >= LEAST_PHOTONS) else { return };
        let (mut light, mut x, mut y) = (0.0, 0.0, 0.0);
        let reach = ONE * nearest.shape.sigma;
        let same = |t: &&MovieTruth| t.molecule == nearest.molecule || is_near(t, nearest, reach);
        for part in truth.iter().filter(same) {
            light += part.signal;
            x += part.signal * part.shape.x;
            y += part.signal * part.shape.y;
        }
        let square = ((spot.x - x / light) / spot.uncertainty_x).powi(2)
            + ((spot.y - y / light) / spot.uncertainty_y).powi(2);
        for errors in [0, if flagged { 1 } else { 2 }] {
            self.errors[errors].squares += square;
            self.errors[errors].count += 2;
        }
    }
}

/// Whether another spot is so near.
fn is_near(other: &MovieTruth, spot: &MovieTruth, reach: f64) -> bool {
    let distance = (other.shape.x - spot.shape.x).hypot(other.shape.y - spot.shape.y);
    other.molecule != spot.molecule && distance < reach
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, isolated, real, real_without_flag, errors } = self;
        let [all, flagged, other] = errors.map(|errors| errors.rms());
        let share = 100.0 * errors[1].count as f64 / errors[0].count as f64;
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
