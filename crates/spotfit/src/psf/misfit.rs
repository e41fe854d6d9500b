//! How much of the light of measured spots a PSF does not describe, as emitters that are not there.

use std::borrow::Cow;

pub(super) use fit_crowd::{Misfit, MisfitShares};

use super::bounds::{Information, inverse, product};
use super::spot_image::{Pixels, SpotImage};
use spotfit_files::private::sort_by;
use spotfit_locs::private::of_each;

/// Steps of the last fit of a spot, and the longest along x and y.
const STEPS: usize = 5;
const LONGEST: f64 = 0.3;
/// Directions in which one emitter more is looked for, and in which a spot may be wide.
const DIRECTIONS: usize = 8;
const WIDE: usize = 4;
/// Half the distance of the two that a wide spot is compared with, in pixels.
const HALF: f64 = 0.5;
/// What is left of the information of a template beside what is fitted.
const INDEPENDENT: f64 = 0.02;
/// A spot may be mistaken for several from this square of a score on, which is less than that of a split, as what it really gains is more. The
/// more spots have others beside them, the oftener a split is right.
const THRESHOLD: f64 = 8.0;
const OFTENER: f64 = 2.5;
/// The square of the score that a split needs.
const SPLIT: f64 = 12.0;
/// The fewest spots that tell a height, and so many more for one more.
const FEWEST: usize = 20;
const FOR_EACH: usize = 40;
/// Of so many spots the brightest tells.
const BRIGHTEST: usize = 3;
/// The most heights, and the most spots.
const MOST_HEIGHTS: usize = 5;
pub(super) const MOST_SAMPLES: usize = 1200;
/// The largest share that is told apart from others.
const LARGEST: f64 = 4.0;

/// A spot that is alone.
#[derive(Clone, Debug)]
pub(super) struct Sample<'a> {
    /// Its pixels in photons, row after row; the light of others in them, and whether they count.
    pub(super) pixels: Cow<'a, [f64]>,
    pub(super) others: Option<&'a [f64]>,
    pub(super) counts: Option<&'a [bool]>,
    /// Rows and columns.
    pub(super) size: [usize; 2],
    /// The variance of the read noise, in photons squared.
    pub(super) read_noise: f64,
    /// x and y from the first pixel, and z, about.
    pub(super) place: [f64; 3],
    /// Where it is in the part of the frame across which the PSF varies, from −1 to 1.
    pub(super) field: [f64; 2],
    pub(super) photons: f64,
    pub(super) background: f64,
    /// The variance of a photon: 1, but more where noise is that of no camera that is known.
    pub(super) excess: f64,
}

/// What a spot says: where it is on the range of z, and for each distance and for the moment the squares of scores with what they would be
/// for a misfit of 1.
pub(super) struct Said {
    /// None where spots have no height.
    height: Option<f64>,
    photons: f64,
    scores: Vec<Vec<[f64; 2]>>,
}

/// What spots say of an image.
pub(super) fn said_of(image: &SpotImage<'_>, samples: &[Sample<'_>]) -> Vec<Said> {
    let step = samples.len().div_ceil(MOST_SAMPLES).max(1);
    let samples: Vec<&Sample<'_>> = samples.iter().step_by(step).collect();
    let all = of_each(samples.len(), &|number| said(image, samples[number]));
    all.into_iter().flatten().collect()
}

/// The share of spots that are one which may be mistaken for several.
const MISTAKEN: f64 = 0.005;
/// χ² of one degree of freedom is above the second number with the first as probability.
const ABOVE: [f64; 2] = [0.1, 2.705_543];

/// How it is known that spots are alone, and so which of their scores tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alone {
    /// They are the only maximum around. What many of them show is no neighbour that nobody knows of: many more than have one by chance.
    Maxima,
    /// They were fitted together with others, as Gaussians: hardly any of them may be mistaken.
    ToldApart,
    /// They were fitted with a PSF that they were held out from: all of their scores are alike.
    HeldOut,
}

impl Alone {
    /// Spots nearer than so many pixels may be taken for one.
    fn near(self) -> f64 {
        match self {
            Self::Maxima => 4.0,
            Self::ToldApart | Self::HeldOut => 2.0,
        }
    }

    /// So many spots tell a number.
    fn fewest(self) -> usize {
        match self {
            Self::Maxima | Self::ToldApart => 6,
            Self::HeldOut => FEWEST,
        }
    }

    /// If a larger share may be several, nothing is told.
    fn most_several(self) -> f64 {
        match self {
            Self::Maxima => 0.25,
            Self::ToldApart => 0.6,
            Self::HeldOut => 0.5,
        }
    }
}

/// The median of the largest square of a spot's scores that noise alone makes.
const MEDIAN: f64 = 1.0;
/// Some spots differ by so many times what half of them do.
const MOST_UNUSUAL: f64 = 4.0;

/// What is asked of scores: which share of spots, or of all their scores, may be above a threshold.
#[derive(Clone, Copy)]
struct Asked {
    of_spots: bool,
    share: f64,
    threshold: f64,
}

impl Asked {
    /// Of so many spots, of which this share may be several: all of those may be above.
    fn of(alone: Alone, several: f64, count: usize) -> Self {
        let (one, of_spots) = match alone {
            Alone::Maxima => ((4.0 * several).clamp(MISTAKEN, 0.5), true),
            Alone::ToldApart => (MISTAKEN, true),
            Alone::HeldOut => (ABOVE[0], false),
        };
        // There may be one more of them by chance.
        let chance = if of_spots { 1.0 / count.max(1) as f64 } else { 0.0 };
        let threshold =
            if of_spots { (THRESHOLD * (1.0 + OFTENER * several)).min(SPLIT) } else { ABOVE[1] };
        Self { of_spots, share: several + chance + (1.0 - several) * one, threshold }
    }

    /// Whether more of these are above it with this square of a misfit.
    fn is_exceeded(&self, said: &[&Vec<[f64; 2]>], square: f64) -> bool {
        let above = |score: f64, q: f64| score > self.threshold * (1.0 + square * q);
        let (above, count) = if self.of_spots {
            // Light that is missing is no emitter.
            let mistaken = |scores: &&&Vec<[f64; 2]>| scores.iter().any(|&[t, q]| above(t, q));
            (said.iter().filter(mistaken).count(), said.len())
        } else {
            let all = said.iter().flat_map(|scores| scores.iter());
            let count = all.clone().count();
            (all.filter(|[t, q]| above(t.abs(), *q)).count(), count)
        };
        above as f64 > self.share * count as f64
    }
}

/// The brightest third: another emitter that nobody knows of is the less of a spot, the brighter the spot is.
pub(super) fn brightest<T>(mut all: Vec<T>, photons: impl Fn(&T) -> f64) -> Vec<T> {
    sort_by(&mut all, |a, b| photons(b).total_cmp(&photons(a)));
    all.truncate(all.len().div_ceil(BRIGHTEST).max(FEWEST));
    all
}

/// The misfit with which hardly any spot is mistaken for several; `None` where they are too few, or where many may be, as there are so many in a
/// pixel. Those that were held out are all asked for, otherwise the [`brightest`].
pub(super) fn misfit(mut said: Vec<Said>, density: f64, alone: Alone) -> Option<Misfit> {
    let several = density * std::f64::consts::PI * alone.near().powi(2);
    if several > alone.most_several() || said.len() < alone.fewest() {
        return None;
    }
    if alone == Alone::HeldOut {
        said = brightest(said, |said| said.photons);
    }
    let flat = said.iter().all(|said| said.height.is_none());
    let count = if flat { 1 } else { (said.len() / FOR_EACH).clamp(1, MOST_HEIGHTS) };
    let node = |node: usize| {
        let near = |said: &&Said| {
            let off = |height: f64| (height * (count - 1) as f64 - node as f64).abs();
            count == 1 || said.height.is_none_or(|height| off(height) < 1.0)
        };
        let near: Vec<&Said> = said.iter().filter(near).collect();
        // Where hardly any spot is, all tell.
        let near = if near.len() < FEWEST { said.iter().collect() } else { near };
        let asked = Asked::of(alone, several, near.len());
        let usual = Asked { share: several + 0.5 * (1.0 - several), threshold: MEDIAN, ..asked };
        let number = |at: usize| {
            let scores: Vec<_> = near.iter().map(|said| &said.scores[at]).collect();
            let most = spread(&scores, asked);
            // A few spots that differ by far more than half of them do have neighbours that nobody knows of.
            if asked.of_spots { most.min(MOST_UNUSUAL * spread(&scores, usual)) } else { most }
        };
        let shares = std::array::from_fn(number);
        MisfitShares::new(shares, number(Misfit::DISTANCES.len()))
    };
    Misfit::new(&(0..count).map(node).collect::<Vec<_>>()).ok()
}

/// The misfit κ with which squares t² of scores, which have the sign of the scores, are just not above what is asked, as of χ²·(1 + κ²·q).
fn spread(said: &[&Vec<[f64; 2]>], asked: Asked) -> f64 {
    let (mut low, mut high) = (0.0, LARGEST * LARGEST);
    if asked.is_exceeded(said, low) {
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if asked.is_exceeded(said, middle) { low = middle } else { high = middle }
        }
    }
    low.sqrt()
}

/// The fit of a spot: x, y, z, photons, background and its slopes along x and y.
const PARAMETERS: usize = 7;

fn said(spot: &SpotImage<'_>, sample: &Sample<'_>) -> Option<Said> {
    let Sample { ref pixels, others, counts, size, read_noise, mut place, .. } = *sample;
    let (mut photons, mut ground) = (sample.photons, [sample.background, 0.0, 0.0]);
    let middle = size.map(|side| 0.5 * (side - 1) as f64);
    let offsets =
        |pixel: usize| [(pixel % size[1]) as f64 - middle[1], (pixel / size[1]) as f64 - middle[0]];
    let local = match spot {
        SpotImage::Measured(psf) if psf.field().is_some() => Some(psf.local_at(sample.field)),
        _ => None,
    };
    let local = local.as_ref().map(SpotImage::Measured);
    let spot = local.as_ref().unwrap_or(spot);
    let range = spot.range();
    let known_third = range[0] == range[1];
    let used = || {
        let counts = |pixel: usize| counts.is_none_or(|counts| counts[pixel]);
        (0..pixels.len()).filter(move |&pixel| counts(pixel) && pixels[pixel].is_finite())
    };
    let mut image = Pixels::default();
    let (mut functions, mut means, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = None;
    for step in 0..=STEPS {
        spot.look(&mut image, place, size, true);
        let (mut information, mut gradient) = (Information::<PARAMETERS>::NONE, [0.0; PARAMETERS]);
        functions.clear();
        means.clear();
        rest.clear();
        // Beyond the last height nothing is fitted.
        let held = known_third || step == STEPS && range.contains(&place[2]);
        for pixel in used() {
            let [dx, dy] = offsets(pixel);
            let behind = ground[0] + ground[1] * dx + ground[2] * dy;
            let behind = behind + others.map_or(0.0, |others| others[pixel]);
            let mean = (photons * image.value[pixel] + behind).max(0.5) + read_noise;
            let residual = (pixels[pixel] + read_noise) / mean - 1.0;
            let mut by = [0, 1, 2].map(|axis| photons * image.slopes[axis][pixel]);
            if held {
                by[2] = 0.0;
            }
            let slopes = [by[0], by[1], by[2], image.value[pixel], 1.0, dx, dy];
            information.add(&slopes, 1.0 / mean);
            for (sum, slope) in gradient.iter_mut().zip(slopes) {
                *sum += slope * residual;
            }
            functions.push(slopes);
            means.push(mean);
            rest.push(residual);
        }
        information.damp(1e-6);
        if held {
            information.hold(2);
        }
        let covariance = inverse(&information)?;
        if step == STEPS {
            known = Some((covariance, gradient));
            break;
        }
        let along = product(&covariance, &gradient);
        for (axis, place) in place.iter_mut().take(2).enumerate() {
            *place += along[axis].clamp(-LONGEST, LONGEST);
        }
        let longest = 0.2 * (range[1] - range[0]);
        place[2] = (place[2] + along[2].clamp(-longest, longest)).clamp(range[0], range[1]);
        photons = (photons + along[3]).max(0.2 * photons);
        ground = [0, 1, 2].map(|part| ground[part] + along[4 + part]);
    }
    let (covariance, gradient) = known?;
    // What one function more says, beside what was fitted: its score, its information, and that alone.
    let score = |template: &[f64]| {
        let (mut plain, mut own, mut with) = (0.0, 0.0, [0.0; PARAMETERS]);
        for (number, pixel) in used().enumerate() {
            let value = template[pixel];
            plain += value * value / means[number];
            own += value * rest[number];
            for (sum, function) in with.iter_mut().zip(&functions[number]) {
                *sum += value * function / means[number];
            }
        }
        let (mut score, mut information) = (own, plain);
        for j in 0..PARAMETERS {
            for k in 0..PARAMETERS {
                score -= with[j] * covariance[j][k] * gradient[k];
                information -= with[j] * covariance[j][k] * with[k];
            }
        }
        let square = score * score.abs() / information / sample.excess;
        (information > INDEPENDENT * plain).then_some([square, information])
    };
    let around = |angle: f64, distance: f64| {
        let (s, c) = angle.sin_cos();
        [place[0] + distance * c, place[1] + distance * s, place[2]]
    };
    let turn = |k: usize, of: usize, whole: f64| whole * k as f64 / of as f64;
    let mut scores = Vec::with_capacity(Misfit::DISTANCES.len() + 1);
    for distance in Misfit::DISTANCES {
        let found = (0..DIRECTIONS).filter_map(|k| {
            let at = around(turn(k, DIRECTIONS, std::f64::consts::TAU), distance);
            spot.look(&mut image, at, size, false);
            let [square, information] = score(&image.value)?;
            Some([square, photons * photons * information])
        });
        scores.push(found.collect());
    }
    spot.look(&mut image, place, size, false);
    let alone = image.value.clone();
    let wide = (0..WIDE).filter_map(|k| {
        let mut template: Vec<f64> = alone.iter().map(|value| -value).collect();
        for distance in [-HALF, HALF] {
            let at = around(turn(k, WIDE, std::f64::consts::PI), distance);
            spot.look(&mut image, at, size, false);
            template.iter_mut().zip(&image.value).for_each(|(to, value)| *to += 0.5 * value);
        }
        template.iter_mut().for_each(|value| *value *= photons / (HALF * HALF));
        score(&template)
    });
    scores.push(wide.collect());
    let height = spot.has_height().then(|| (place[2] - range[0]) / (range[1] - range[0]));
    height.is_none_or(f64::is_finite).then_some(Said { height, photons, scores })
}

#[cfg(test)]
mod tests {
    use fit_sim::Random;
    use ndarray::Array3;

    use super::*;
    use crate::psf::Psf;

    /// A spot that is wider at larger z, 15×15 pixels.
    fn psf() -> Psf {
        let value = |(plane, row, column): (usize, usize, usize)| {
            let sigma = 1.1 + 0.1 * plane as f64;
            let [x, y] = [column, row].map(|at| at as f64 - 8.5);
            (-0.5 * (x * x + y * y) / (sigma * sigma)).exp() / (sigma * sigma)
        };
        Psf::new(Array3::from_shape_fn((7, 18, 18), value), 50.0, 2.0).expect("a PSF")
    }

    /// What spots say of which this share is beside them, in any direction at a distance, or which are two halves that far apart.
    fn saying(share: f64, distance: f64, [low, high]: [f64; 2], photons: f64) -> Vec<Said> {
        let (psf, mut random) = (psf(), Random::new(3, 0));
        let samples: Vec<Sample<'_>> = (0..150)
            .map(|_| {
                let [x, y] = [(); 2].map(|()| 7.0 + random.uniform_in(-0.5, 0.5));
                let (z, bright) = (random.uniform_in(low, high), random.uniform_in(0.75, 1.25));
                let photons = bright * photons;
                let (s, c) = random.uniform_in(0.0, std::f64::consts::TAU).sin_cos();
                let own = psf.window([x, y, z], [15, 15]);
                let beside = psf.window([x + distance * c, y + distance * s, z], [15, 15]);
                let both = (&own * (1.0 - share) + &beside * share) * photons + 30.0;
                let pixels: Vec<f64> = both.iter().map(|&mean| random.poisson(mean)).collect();
                let place = [x + 0.2, y - 0.2, z + 20.0];
                let (others, counts, size) = (None, None, [15, 15]);
                let pixels = pixels.into();
                Sample {
                    pixels,
                    others,
                    counts,
                    size,
                    read_noise: 0.0,
                    place,
                    field: [0.0; 2],
                    photons,
                    excess: 1.0,
                    background: 25.0,
                }
            })
            .collect();
        said_of(&SpotImage::Measured(&psf), &samples)
    }

    /// Their misfit.
    fn of(share: f64, distance: f64, heights: [f64; 2]) -> MisfitShares {
        let found = misfit(saying(share, distance, heights, 4e4), 0.0, Alone::HeldOut)
            .expect("enough spots");
        found.nodes()[0]
    }

    /// Proves that spots whose fit ends at the last height say as much as others: they are not compared with what is beyond it.
    #[test]
    fn the_last_height_tells() {
        let all = saying(0.0, 1.0, [99.99, 100.0], 4e6);
        let last: Vec<&Said> = all.iter().filter(|said| said.height == Some(1.0)).collect();
        assert!(last.len() > 40, "{}", last.len());
        for distance in 1..Misfit::DISTANCES.len() {
            let squares = last.iter().flat_map(|said| &said.scores[distance]).map(|[t, _]| t.abs());
            let squares: Vec<f64> = squares.collect();
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            assert_eq!(squares.len(), DIRECTIONS * last.len(), "{distance}");
            assert!((0.7..1.4).contains(&mean), "{distance}: {mean}");
        }
    }

    /// Proves that spots that are like the PSF have hardly any misfit, that one with a light beside it has about the share of that light
    /// where it is, and that what may be several spots tells nothing.
    #[test]
    fn what_is_beside_spots_is_their_misfit() {
        let within = [-80.0, 80.0];
        let alike = of(0.0, 1.0, within);
        assert!(alike.shares.iter().all(|&share| share < 0.006), "{alike:?}");
        assert!(alike.moment < 0.03, "{alike:?}");
        let beside = of(0.03, 3.2, within);
        assert!((0.01..0.04).contains(&beside.shares[3]), "{beside:?}");
        assert!(beside.shares[5] < beside.shares[3], "{beside:?}");
        let double = of(0.5, 0.8, within);
        // Halves at ±0.4 pixels.
        assert!((0.08..0.3).contains(&double.moment), "{double:?}");
        assert!(misfit(Vec::new(), 0.0, Alone::HeldOut).is_none());
        assert!(misfit(Vec::new(), 1.0, Alone::HeldOut).is_none());
    }
}
