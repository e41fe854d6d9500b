//! How much light spots have that their Gaussians do not: an aperture correction.
//!
//! Around spots that are alone the light of rings is added up over many of them, so that its background and its tail, which falls with the
//! third power of the distance behind an objective, are told from the rings farther out.

use std::f64::consts::PI;

use fit_windows::AnyWindows;
use ndarray::Array2;

use super::aperture::ApertureCorrection;
use super::electrons::photons_of_frame;
use super::options::{LocalizeOptions, Roi};
use super::{Flags, FullScale, Localization, LocalizeError, Localizer};

/// Rings farther out than this share of the aperture tell the tail, from so many pixels on, up to so many more than the aperture has.
const TAIL_FROM: f64 = 0.6;
const TAIL_LEAST: f64 = 4.0;
const TAIL_BEYOND: f64 = 6.0;
/// Pixels that are nearer to another spot do not count, and spots that have another one so near.
const APART: f64 = 6.0;
/// Parts of the spots that are left out in turn, by the cell of so many pixels that they are in.
const PARTS: usize = 10;
const CELL: f64 = 6.0;
/// The fewest spots, and the largest error of the factor.
const FEWEST: usize = 20;
const LARGEST_ERROR: f64 = 0.05;

/// What is added up over spots.
#[derive(Clone, Default)]
struct Sums {
    /// The light of each ring, and its pixels.
    rings: Vec<[f64; 2]>,
    photons: f64,
    spots: f64,
}

impl Sums {
    fn add(&mut self, other: &Self, sign: f64) {
        self.rings.resize(other.rings.len(), [0.0; 2]);
        for (to, from) in self.rings.iter_mut().zip(&other.rings) {
            (0..2).for_each(|part| to[part] += sign * from[part]);
        }
        self.photons += sign * other.photons;
        self.spots += sign * other.spots;
    }

    /// The light within so many of the rings, of this width, over the photons of the fits.
    fn factor(&self, inside: usize, width: f64) -> f64 {
        // The mean light of a pixel, by b + k/r³ in the tail.
        let from = (TAIL_FROM * inside as f64 * width).max(TAIL_LEAST);
        let mut sums = [0.0; 5];
        for (number, &[light, pixels]) in self.rings.iter().enumerate() {
            let r = (number as f64 + 0.5) * width;
            if r < from || pixels == 0.0 {
                continue;
            }
            let (t, mean) = (r.powi(-3), light / pixels);
            let terms = [1.0, t, t * t, mean, mean * t];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += pixels * term);
        }
        let [count, t, tt, y, ty] = sums;
        // No tail is below 0.
        let slope = ((count * ty - t * y) / (count * tt - t * t)).max(0.0);
        let background = (y - slope * t) / count;
        let of_ring = |(number, &[light, pixels]): (usize, &[f64; 2])| {
            let [inner, outer] = [number, number + 1].map(|edge| (edge as f64 * width).powi(2));
            (light / pixels - background) * PI * (outer - inner)
        };
        let light: f64 = self.rings[..inside].iter().enumerate().map(of_ring).sum();
        light * self.spots / self.photons
    }
}

impl LocalizeOptions {
    /// Whether a correction is asked for that is not known.
    pub(crate) fn lacks_aperture_correction(&self) -> bool {
        self.aperture.is_some() && self.aperture_correction.is_none()
    }

    /// The same with what spots of these frames have within [`LocalizeOptions::aperture`], if it is given and the correction is not:
    /// [`LocalizeOptions::aperture_correction`]. Take the first [`frames_for_sigma`](super::frames_for_sigma) frames of a movie. Where emitters
    /// are fitted together the width of spots must be known.
    ///
    /// # Errors
    /// [`LocalizeError::Aperture`] if the spots tell too little; otherwise as [`Localizer::new`](super::Localizer::new) and
    /// [`Localizer::process`](super::Localizer::process).
    pub fn with_aperture_correction_of(
        self,
        frames: AnyWindows<'_>,
    ) -> Result<Self, LocalizeError> {
        let Some(radius) = self.aperture.filter(|_| self.lacks_aperture_correction()) else {
            return Ok(self);
        };
        let found = self.correction_of(frames, radius)?;
        Ok(self.with_aperture_correction(Some(found)))
    }

    fn correction_of(
        &self,
        frames: AnyWindows<'_>,
        radius: f64,
    ) -> Result<ApertureCorrection, LocalizeError> {
        let (count, height, width) = frames.frames();
        let mut search = self
            .clone()
            .with_aperture(None)
            .with_positions(None)
            .with_temporal_background(None)
            .with_drop(Flags::default())
            // Spots outside the region, and those whose fit failed, are beside others, too.
            .with_roi(None)
            .with_keep_all(true)
            .with_checks(true);
        if search.saturation.is_none() {
            search.saturation = FullScale::of(frames, None).and_then(|found| found.saturation());
        }
        let mut localizer = Localizer::new((width, height), search)?;
        let mut spots = localizer.process_frames(0, frames)?;
        spots.retain(|spot| spot.x.is_finite() && spot.y.is_finite());
        let options = localizer.options();
        let region = self.roi.unwrap_or(Roi { x: 0, y: 0, width, height });
        let inside = radius.ceil() as usize;
        let step = radius / inside as f64;
        let number = inside + (TAIL_BEYOND / step).ceil() as usize;
        let mut parts = vec![Sums::default(); PARTS];
        for here in spots.chunk_by(|one, other| one.frame == other.frame) {
            let map = options.map.as_deref();
            let (photons, _) = photons_of_frame(frames, here[0].frame, &options.camera, map);
            for spot in here {
                let others = here.iter().filter(|other| other.id != spot.id);
                let others: Vec<[f64; 2]> = others.map(|other| [other.x, other.y]).collect();
                let is_wanted = region.holds(spot.x, spot.y);
                if is_wanted && is_of_use(spot, &others, [width, height], radius) {
                    let rings = rings_of(spot, &others, &photons, number, step);
                    let sums = Sums { rings, photons: spot.intensity, spots: 1.0 };
                    parts[part_of(spot)].add(&sums, 1.0);
                }
            }
        }
        let mut all = Sums::default();
        parts.retain(|part| part.spots > 0.0);
        parts.iter().for_each(|part| all.add(part, 1.0));
        let used = all.spots as usize;
        let refused = |error| LocalizeError::Aperture { spots: used, frames: count, error };
        if used < FEWEST {
            return Err(refused(None));
        }
        let factor = all.factor(inside, step);
        // The jackknife, with parts left out.
        let without = parts.iter().map(|part| {
            let mut rest = all.clone();
            rest.add(part, -1.0);
            rest.factor(inside, step)
        });
        let squares: f64 = without.map(|other| (other - factor).powi(2)).sum();
        let count = parts.len() as f64;
        let error = (squares * (count - 1.0) / count).sqrt();
        // What is not a number is not known well.
        if factor > 0.0 && error <= LARGEST_ERROR * factor {
            return Ok(ApertureCorrection { factor, error, spots: used });
        }
        Err(refused(Some(error / factor.abs()).filter(|error| error.is_finite())))
    }
}

/// The part that a spot belongs to: what stays on is in one.
fn part_of(spot: &Localization) -> usize {
    let [column, row] = [spot.x, spot.y].map(|at| (at.max(0.0) / CELL) as usize);
    (3 * column + 7 * row) % PARTS
}

/// How far a place is from a spot.
fn apart(spot: &Localization, [x, y]: [f64; 2]) -> f64 {
    (x - spot.x).hypot(y - spot.y)
}

/// Whether a spot is fitted well, alone and not saturated, and its aperture in the frame of this width and height.
fn is_of_use(spot: &Localization, others: &[[f64; 2]], size: [usize; 2], radius: f64) -> bool {
    let within = |at: f64, side: usize| at >= radius && at <= side as f64 - 1.0 - radius;
    let saturated = spot.checks.is_some_and(|checks| checks.flags.saturated);
    within(spot.x, size[0])
        && within(spot.y, size[1])
        && spot.status.is_converged()
        && spot.intensity > 0.0
        && !saturated
        && others.iter().all(|&place| apart(spot, place) >= APART)
}

/// The light and the pixels of so many rings of this width around a spot, where no other is near.
fn rings_of(
    spot: &Localization,
    others: &[[f64; 2]],
    photons: &Array2<f64>,
    number: usize,
    step: f64,
) -> Vec<[f64; 2]> {
    let reach = number as f64 * step;
    let near = others.iter().filter(|&&place| apart(spot, place) < reach + APART);
    let near: Vec<&[f64; 2]> = near.collect();
    let around = |at: f64, side: usize| {
        let first = (at - reach).ceil().max(0.0) as usize;
        first..((at + reach).floor() as usize + 1).min(side)
    };
    let (height, width) = photons.dim();
    let mut rings = vec![[0.0; 2]; number];
    for row in around(spot.y, height) {
        for column in around(spot.x, width) {
            let [x, y] = [column as f64, row as f64];
            let far = |other: &&[f64; 2]| (other[0] - x).hypot(other[1] - y) >= APART;
            let light = photons[[row, column]];
            if let Some(ring) = rings.get_mut((apart(spot, [x, y]) / step) as usize)
                && light.is_finite()
                && near.iter().all(far)
            {
                ring[0] += light;
                ring[1] += 1.0;
            }
        }
    }
    rings
}
