//! A PSF from the frames of a movie.

use std::sync::Arc;

use fit_core::spot::shape::Elliptical;
use fit_core::{Estimator, Shape};
use ndarray::{Array3, ArrayView2, Axis};

use super::select::{Candidates, Others};
use super::{COUNT, Family, Learnt, learn};
use crate::localize::{Emitters, Localization, LocalizeError, LocalizeOptions, Localizer};
use crate::movie::Block;
use crate::psf::{Psf, PsfError, frames_in_photons};

/// Planes of the family at first.
const PLANES: usize = 6;
/// Rounds of the search, and the most spots that are used.
const ROUNDS: usize = 8;
pub(super) const MOST_SPOTS: usize = 2000;
/// The side of the windows of the first fits.
const BOX: usize = 9;
/// The distance of two planes, in nanometres that mean nothing: the axis is no height.
const STEP: f64 = 50.0;
/// With a PSF that is known, pixels nearer to another spot are not looked at, and spots have no nearer neighbours.
const MASKED: f64 = 3.0;
const NEAREST: f64 = 5.0;
/// An interval at an end of the axis with a smaller share of the spots than this share of a fair one is dropped.
const FAIR: f64 = 0.7;

/// Why no PSF was learnt.
#[derive(Debug, thiserror::Error)]
pub(super) enum LearnError {
    /// Spots could not be localized.
    #[error(transparent)]
    Localize(#[from] LocalizeError),
    /// What was found is no PSF.
    #[error(transparent)]
    Psf(#[from] PsfError),
    /// There are too few spots.
    #[error("{found} spots are bright and far from others; {needed} are needed")]
    FewSpots { found: usize, needed: usize },
}

/// The fewest spots.
const FEWEST: usize = 100;

impl Family {
    /// The family as a PSF whose z is the place along the axis.
    pub(super) fn psf(&self) -> Result<Psf, PsfError> {
        // The outermost coefficients are hardly seen.
        let inner =
            Array3::from_shape_fn((self.planes, COUNT - 2, COUNT - 2), |(plane, row, column)| {
                self.knots[(plane * COUNT + row + 1) * COUNT + column + 1]
            });
        Psf::new(inner, STEP, 0.5 * self.last())
    }

    /// With a plane more at each end, as a line goes on.
    fn grown(&self) -> Self {
        let size = COUNT * COUNT;
        let plane = |number: usize| &self.knots[number * size..][..size];
        let beyond = |end: usize, inside: usize| {
            plane(end)
                .iter()
                .zip(plane(inside))
                .map(|(end, inside)| 2.0 * end - inside)
                .collect::<Vec<f64>>()
        };
        let last = self.planes - 1;
        let knots = [beyond(0, 1), self.knots.clone(), beyond(last, last - 1)].concat();
        Self { knots, planes: self.planes + 2 }
    }

    /// Without an interval at an end.
    fn without(&self, first: bool) -> Self {
        let size = COUNT * COUNT;
        let knots =
            if first { &self.knots[size..] } else { &self.knots[..self.knots.len() - size] };
        Self { knots: knots.to_vec(), planes: self.planes - 1 }
    }
}

/// Without the intervals at its ends that hold hardly any spot.
fn cropped(learnt: &Learnt) -> Family {
    let (mut family, mut low, mut high) = (learnt.family.clone(), 0.0, learnt.family.last());
    let count = learnt.places.len() as f64;
    let within = |from: f64, to: f64| {
        learnt.places.iter().filter(|&&place| place >= from && place <= to).count() as f64 / count
    };
    while family.planes > 4 {
        let fair = super::env("FAIR", FAIR) / family.last();
        if within(f64::NEG_INFINITY, low + 1.0) < fair {
            (family, low) = (family.without(true), low + 1.0);
        } else if within(high - 1.0, f64::INFINITY) < fair {
            (family, high) = (family.without(false), high - 1.0);
        } else {
            break;
        }
    }
    family
}

/// Learns the PSF of frames that are localized with these options, in so many rounds: the first looks at spots that are far from others, and
/// those after it at all that are told apart with what was learnt before.
pub(super) fn learn_from(
    blocks: &[Block],
    options: &LocalizeOptions,
    rounds: usize,
) -> Result<(Learnt, usize), LearnError> {
    let likeliest = options.fitter.fit.with_estimator(Estimator::MaximumLikelihood);
    let fit = likeliest.with_shape(Shape::Elliptical(Elliptical));
    let first = options
        .clone()
        .with_box_size(BOX)
        .with_emitters(Emitters::One)
        .with_psf(None)
        .with_fitter(options.fitter.clone().with_fit(fit));
    let both = super::env("SUM", 0.0) > 0.0;
    let by_width = |spot: &Localization| if both { spot.sigma_x + spot.sigma_y } else { spot.sigma_x - spot.sigma_y };
    let windows = collected(blocks, &first, &Others::Masked, by_width)?.chosen(MOST_SPOTS);
    if std::env::var("BEADS").is_ok() { let mut s: Vec<f64> = windows.iter().map(|w| w.sigma).collect(); s.sort_by(f64::total_cmp); let n = s.len(); println!("sigma {:.2} {:.2} {:.2}", s[n / 10], s[n / 2], s[n * 9 / 10]); }
    enough(windows.len())?;
    let mut used = windows.len();
    let mut learnt = learn(&windows, super::env("PLANES", 6.0) as usize, ROUNDS, None);
    for round in 1..rounds {
        let family = learnt.family.clone();
        let psf = Arc::new(family.psf()?);
        let next = options
            .clone()
            .with_emitters(Emitters::Auto)
            .with_psf(Some(psf.clone()))
            .with_fitter(options.fitter.clone().with_fit(likeliest))
            .with_checks(true);
        let axis = |spot: &Localization| spot.depth.map_or(f64::NAN, |depth| depth.z);
        let light = |spot: &Localization, off: [f64; 2]| {
            let at = psf.at([off[0], off[1], axis(spot)]);
            at.map_or(0.0, |[share, ..]| spot.intensity * share)
        };
        let others = Others::Known { light: &light, masked: MASKED, nearest: NEAREST };
        let windows = collected(blocks, &next, &others, axis)?.chosen(MOST_SPOTS);
        enough(windows.len())?;
        used = windows.len();
        let grown = if round == 1 { family.grown() } else { family };
        learnt = learn(&windows, grown.planes, ROUNDS, Some(grown));
        learnt.family = cropped(&learnt);
    }
    Ok((learnt, used))
}

fn enough(found: usize) -> Result<(), LearnError> {
    if found >= FEWEST { Ok(()) } else { Err(LearnError::FewSpots { found, needed: FEWEST }) }
}

/// The spots of all blocks that may be used.
fn collected(
    blocks: &[Block],
    options: &LocalizeOptions,
    others: &Others<'_>,
    key: impl Fn(&Localization) -> f64 + Copy,
) -> Result<Candidates, LearnError> {
    let mut candidates = Candidates::default();
    let Some(block) = blocks.first() else { return Ok(candidates) };
    let (_, height, width) = block.pixels.dim();
    let mut localizer = Localizer::new((width, height), options.clone())?;
    let read_noise = (options.camera.read_noise / options.camera.em_gain.unwrap_or(1.0)).powi(2);
    for block in blocks {
        let found = localizer.process(block)?;
        let photons = frames_in_photons(block.clone(), &options.camera, options.map.as_deref())?;
        let mut rest = &found[..];
        for (number, frame) in photons.axis_iter(Axis(0)).enumerate() {
            let here = |spot: &Localization| spot.frame == block.first + number;
            let count = rest.iter().take_while(|spot| here(spot)).count();
            let (spots, later) = rest.split_at(count);
            rest = later;
            let frame: ArrayView2<'_, f32> = frame;
            candidates.add(frame, read_noise, spots, others, key);
        }
    }
    Ok(candidates)
}
