//! Curves and offsets in turn.

use super::super::polynomial::{Normal, TERMS, evaluate, unscaled};
use super::beads::{Bead, Point, median, points, zero};
use super::options::{CalibrationError, SHORTEST, WidthCalibrationOptions};
use super::outcome::Fate;
use spotfit_files::private::sort_by;

/// The curves while they are fitted: polynomials in t = (z − middle)/half.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    scaled: [[f64; TERMS]; 2],
    middle: f64,
    half: f64,
}

impl Curves {
    /// Width and slope by z (nm) of σx and σy.
    fn at(&self, z: f64) -> [[f64; 2]; 2] {
        let t = (z - self.middle) / self.half;
        self.scaled.map(|coefficients| {
            let [width, slope, _] = evaluate(&coefficients, t);
            [width, slope / self.half]
        })
    }

    /// The ends of the range.
    pub(super) fn range(&self) -> [f64; 2] {
        [self.middle - self.half, self.middle + self.half]
    }

    /// The same curves with `zero` nm added to z: coefficients by powers of z in nm, and the range.
    pub(super) fn in_nm(&self, zero: f64) -> ([[f64; TERMS]; 2], [f64; 2]) {
        let moved = Self { middle: self.middle + zero, ..self.clone() };
        let coefficients = self.scaled.map(|c| unscaled(&c, moved.middle, moved.half));
        (coefficients, moved.range())
    }
}

/// The share of the width by which curves of degree 6 that all beads share are off anyhow. Without it, slices of bright
/// beads would be rejected where the curves fit a little less well, and a slice with a tiny error would outweigh all.
const OFF_ANYHOW: f64 = 0.005;
/// Beyond so many standard deviations in the plane of the two widths a slice does not count: Tukey's constant for two
/// dimensions and 95 % efficiency.
const TUKEY: f64 = 5.12;
/// The median of the squared distance of two standard normal variates is this.
const MEDIAN_SQUARE: f64 = 1.386;
/// The offsets have converged when they move by less, in nm.
const STILL: f64 = 0.002;
const MOST_ITERATIONS: usize = 200;
/// The scale of the residuals is estimated during so many iterations, then kept: so the fit converges.
const SCALED_ITERATIONS: usize = 25;
/// The range is adjusted so often.
const MOST_ROUNDS: usize = 12;
/// A bead is out if more than this share of its slices is.
const MOST_REJECTED: f64 = 0.5;
/// And if fewer slices than this are in the range.
const LEAST_INSIDE: usize = 5;
/// Slices per coefficient, at least.
const PER_TERM: usize = 3;
/// z may be less certain than in the median by this factor.
const LESS_CERTAIN: f64 = 5.0;
/// Places at which curves are looked at.
const LOOKS: usize = 200;

/// Finds curves and offsets; z = 0 is where the curves cross.
pub(super) fn solve(
    beads: &mut [Bead],
    options: &WidthCalibrationOptions,
) -> Result<Curves, CalibrationError> {
    let candidates = beads.iter().filter(|bead| bead.used()).count();
    let mut limits = [f64::NEG_INFINITY, f64::INFINITY];
    let mut range = covered(beads, options, limits)?;
    admit(beads, range)?;
    let mut curves = fit(median_points(beads, range).into_iter(), range)?;
    for round in 1.. {
        converge(beads, &mut curves)?;
        let rejected = reject(beads);
        let left = beads.iter().filter(|bead| bead.used()).count();
        if left < options.least_beads {
            let rejected = candidates - left;
            let least_beads = options.least_beads;
            return Err(CalibrationError::Disagree { beads: candidates, rejected, least_beads });
        }
        let certain = certain(&curves, options)?;
        limits = [limits[0].max(certain[0]), limits[1].min(certain[1])];
        let present = curves.range();
        range = covered(beads, options, limits)?;
        let moved = (range[0] - present[0]).abs().max((range[1] - present[1]).abs());
        if (!rejected && moved < 1.0) || round == MOST_ROUNDS {
            break;
        }
        admit(beads, range)?;
        // The old curves in the variable of the new range would be as good, but go wild beyond the old one.
        curves = fit(weighted(beads), range)?;
    }
    Ok(curves)
}

/// The range in which enough beads have slices on both sides.
fn covered(
    beads: &[Bead],
    options: &WidthCalibrationOptions,
    limits: [f64; 2],
) -> Result<[f64; 2], CalibrationError> {
    let (mut lows, mut highs) = (vec![], vec![]);
    for bead in beads.iter().filter(|bead| bead.used()) {
        let mut good = bead.points.iter().filter(|point| point.weight > 0.0);
        if let Some(first) = good.next() {
            lows.push(first.z - bead.offset);
            highs.push(good.next_back().unwrap_or(first).z - bead.offset);
        }
    }
    let count = lows.len();
    let needed = options.least_beads.max(count.div_ceil(2));
    let error = |low, high| CalibrationError::Range { low, high, needed, beads: count };
    if count < needed {
        return Err(error(0.0, 0.0));
    }
    lows.sort_unstable_by(f64::total_cmp);
    sort_by(&mut highs, |a, b| b.total_cmp(a));
    let (mut low, mut high) = (lows[needed - 1].max(limits[0]), highs[needed - 1].min(limits[1]));
    if let Some(wanted) = options.range {
        let zero = zero(beads, options);
        let wanted = wanted.map(|end| end - zero);
        // A bead may lack the slice at the very end.
        let slack = 0.02 * (wanted[1] - wanted[0]) + super::beads::step(beads);
        if low > wanted[0] + slack || high < wanted[1] - slack {
            return Err(error(low, high));
        }
        [low, high] = wanted;
    }
    if high - low >= SHORTEST { Ok([low, high]) } else { Err(error(low, high)) }
}

/// Marks the points in the range.
fn admit(beads: &mut [Bead], [low, high]: [f64; 2]) -> Result<(), CalibrationError> {
    let mut slices = 0;
    for bead in beads.iter_mut().filter(|bead| bead.used()) {
        for point in &mut bead.points {
            point.inside = (low..=high).contains(&(point.z - bead.offset));
            slices += usize::from(point.inside);
        }
    }
    if slices < PER_TERM * TERMS {
        return Err(CalibrationError::Undetermined { slices, low, high });
    }
    Ok(())
}

/// A point of the curves: z, the two widths, and their weights.
type Sample = (f64, [f64; 2], [f64; 2]);

/// The medians of both widths in strips of z: to begin with.
fn median_points(beads: &[Bead], [low, high]: [f64; 2]) -> Vec<Sample> {
    let inside = points(beads).filter(|(_, point)| point.inside);
    let mut sorted: Vec<(f64, [f64; 2])> = inside.map(|(z, point)| (z, point.sigma)).collect();
    sort_by(&mut sorted, |a, b| a.0.total_cmp(&b.0));
    let strips = (sorted.len() / 5).clamp(2 * TERMS, 40);
    let strip = |z: f64| (((z - low) / (high - low) * strips as f64) as usize).min(strips - 1);
    sorted
        .chunk_by(|a, b| strip(a.0) == strip(b.0))
        .map(|chunk| {
            let of = |value: fn(&(f64, [f64; 2])) -> f64| {
                median(&chunk.iter().map(value).collect::<Vec<_>>())
            };
            let sigma = [of(|p| p.1[0]), of(|p| p.1[1])];
            let weight = sigma.map(|sigma| chunk.len() as f64 / (sigma * sigma));
            (of(|p| p.0), sigma, weight)
        })
        .collect()
}

/// The points in the range that count, with their weights.
fn weighted(beads: &[Bead]) -> impl Iterator<Item = Sample> {
    points(beads).filter(|(_, point)| point.inside && point.weight > 0.0).map(|(z, point)| {
        (z, point.sigma, point.deviations.map(|deviation| point.weight / (deviation * deviation)))
    })
}

fn fit(
    samples: impl Iterator<Item = Sample>,
    [low, high]: [f64; 2],
) -> Result<Curves, CalibrationError> {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let mut sums = [Normal::default(), Normal::default()];
    let mut slices = 0;
    for (z, sigma, weight) in samples {
        for axis in 0..2 {
            sums[axis].add((z - middle) / half, sigma[axis], weight[axis]);
        }
        slices += 1;
    }
    let [x, y] = sums.map(Normal::solve);
    let undetermined = CalibrationError::Undetermined { slices, low, high };
    let scaled = [x.ok_or_else(|| undetermined.clone())?, y.ok_or(undetermined)?];
    Ok(Curves { scaled, middle, half })
}

/// The squared distance of a point from the curves at its z, in units of these standard deviations.
fn square(curves: &Curves, z: f64, point: &Point, units: &[f64; 2]) -> f64 {
    let at = curves.at(z);
    let off = |axis: usize| (point.sigma[axis] - at[axis][0]) / units[axis];
    off(0).powi(2) + off(1).powi(2)
}

/// Takes for the deviations to be expected the errors, times the factor that makes them those of half of the points,
/// and what curves are off anyhow.
fn expect(beads: &mut [Bead], curves: &Curves) {
    let inside = points(beads).filter(|(_, point)| point.inside);
    let squares: Vec<f64> =
        inside.map(|(z, point)| square(curves, z, point, &point.errors)).collect();
    let factor = (median(&squares) / MEDIAN_SQUARE).sqrt();
    for point in beads.iter_mut().flat_map(|bead| &mut bead.points) {
        let of = |axis: usize| (factor * point.errors[axis]).hypot(OFF_ANYHOW * point.sigma[axis]);
        point.deviations = [of(0), of(1)];
    }
}

/// Weights, offsets, curves and zero in turn, until they stay.
fn converge(beads: &mut [Bead], curves: &mut Curves) -> Result<(), CalibrationError> {
    let mut change = f64::INFINITY;
    for iteration in 0..MOST_ITERATIONS {
        if iteration < SCALED_ITERATIONS {
            expect(beads, curves);
        }
        change = 0.0;
        for bead in beads.iter_mut().filter(|bead| bead.used()) {
            let (mut gradient, mut information) = (0.0, 0.0);
            for point in bead.points.iter_mut().filter(|point| point.inside) {
                let z = point.z - bead.offset;
                let share = square(curves, z, point, &point.deviations) / (TUKEY * TUKEY);
                point.weight = if share < 1.0 { (1.0 - share).powi(2) } else { 0.0 };
                for (axis, [width, slope]) in curves.at(z).into_iter().enumerate() {
                    let weight = point.weight / point.deviations[axis].powi(2);
                    gradient += weight * (point.sigma[axis] - width) * slope;
                    information += weight * slope * slope;
                }
            }
            if information > 0.0 {
                let step = (gradient / information).clamp(-0.1 * curves.half, 0.1 * curves.half);
                bead.offset -= step;
                change = step.abs().max(change);
            }
        }
        *curves = fit(weighted(beads), curves.range())?;
        let zero = crossing(curves)?;
        curves.middle -= zero;
        for bead in beads.iter_mut() {
            bead.offset += zero;
        }
        if change.max(zero.abs()) < STILL && iteration >= SCALED_ITERATIONS {
            return Ok(());
        }
    }
    // Between thousands of slices one may go in and out for ever.
    if change < 0.5 {
        return Ok(());
    }
    Err(CalibrationError::NotConverged { change, iterations: MOST_ITERATIONS })
}

/// The crossing of the curves that is nearest to z = 0.
fn crossing(curves: &Curves) -> Result<f64, CalibrationError> {
    let [low, high] = curves.range();
    let difference = |z: f64| {
        let [[x, _], [y, _]] = curves.at(z);
        x - y
    };
    let place = |i: usize| low + (high - low) * i as f64 / LOOKS as f64;
    let mut best: Option<(f64, f64)> = None;
    for i in 0..LOOKS {
        let (mut a, mut b) = (place(i), place(i + 1));
        let sign = difference(a) > 0.0;
        let nearer = best.is_none_or(|(from, to)| (a + b).abs() < (from + to).abs());
        if sign == (difference(b) > 0.0) || !nearer {
            continue;
        }
        for _ in 0..50 {
            let middle = 0.5 * (a + b);
            if (difference(middle) > 0.0) == sign { a = middle } else { b = middle }
        }
        best = Some((a, b));
    }
    let (a, b) = best.ok_or(CalibrationError::CurvesDoNotCross { low, high })?;
    Ok(0.5 * (a + b))
}

/// Rejects beads of which too few slices are in the range, or most of these do not agree; true if there was one.
fn reject(beads: &mut [Bead]) -> bool {
    let mut any = false;
    for bead in beads.iter_mut().filter(|bead| bead.used()) {
        let inside = bead.points.iter().filter(|point| point.inside);
        let weights: Vec<f64> = inside.map(|point| point.weight).collect();
        let rejected = weights.iter().filter(|&&weight| weight == 0.0).count();
        if weights.len() < LEAST_INSIDE {
            bead.fate = Fate::Short;
            any = true;
        } else if rejected as f64 > MOST_REJECTED * weights.len() as f64 {
            bead.fate = Fate::Disagrees;
            any = true;
        }
    }
    any
}

/// The part of the range around the crossing in which σx² − σy² does not turn and z is certain enough.
fn certain(
    curves: &Curves,
    options: &WidthCalibrationOptions,
) -> Result<[f64; 2], CalibrationError> {
    let [low, high] = curves.range();
    let place = |i: usize| low + (high - low) * i as f64 / LOOKS as f64;
    // The slope of σx² − σy², and the relative change of both widths.
    let look = |z: f64| {
        let [[x, dx], [y, dy]] = curves.at(z);
        (x * dx - y * dy, (dx / x).hypot(dy / y))
    };
    let usual = median(&(0..=LOOKS).map(|i| look(place(i)).1).collect::<Vec<_>>());
    let sign = look(0.0).0 > 0.0;
    let good = |z: f64| {
        let (slope, change) = look(z);
        let [[x, _], [y, _]] = curves.at(z);
        (slope > 0.0) == sign && change * LESS_CERTAIN >= usual && x > 0.0 && y > 0.0
    };
    let centre = ((-low / (high - low) * LOOKS as f64) as usize).min(LOOKS);
    let below = (0..=centre).rev().take_while(|&i| good(place(i))).last().unwrap_or(centre);
    let above = (centre..=LOOKS).take_while(|&i| good(place(i))).last().unwrap_or(centre);
    let cut = [below > 0, above < LOOKS];
    let ends = [place(below), place(above)];
    for (cut, end) in cut.into_iter().zip(ends) {
        if cut && (options.range.is_some() || ends[1] - ends[0] < SHORTEST) {
            return Err(CalibrationError::NotMonotonic { z: end, low, high });
        }
    }
    // An end that is not cut may still move outward.
    let low = if cut[0] { ends[0] } else { f64::NEG_INFINITY };
    let high = if cut[1] { ends[1] } else { f64::INFINITY };
    Ok([low, high])
}
