//! How much of the light of measured spots a PSF does not describe, as emitters that are not there.

use std::borrow::Cow;

use fit_crowd::{Misfit, MisfitShares};

use super::Psf;
use super::bounds::{Information, inverse};
use super::lattice::Patch;
use super::parallel::of_each;

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
/// χ² of one degree of freedom is above the second number with the first as probability.
const ABOVE: [f64; 2] = [0.1, 2.705_543];
/// Spots nearer than so many pixels may be taken for one: all scores of them may be above. If they are a larger share, nothing is told.
const NEAR: f64 = 2.0;
const MOST_SEVERAL: f64 = 0.5;
/// The fewest spots that tell a number, and so many more for one more height.
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
    pub(super) photons: f64,
    pub(super) background: f64,
    /// The variance of a photon: 1, but more where noise is that of no camera that is known.
    pub(super) excess: f64,
}

/// What a spot says: where it is on the range of z, and for each distance and for the moment the squares of scores with what they would be
/// for a misfit of 1.
pub(super) struct Said {
    height: f64,
    photons: f64,
    scores: Vec<Vec<[f64; 2]>>,
}

/// What spots say of a PSF.
pub(super) fn said_of(psf: &Psf, samples: &[Sample<'_>]) -> Vec<Said> {
    let step = samples.len().div_ceil(MOST_SAMPLES).max(1);
    let samples: Vec<&Sample<'_>> = samples.iter().step_by(step).collect();
    let all = of_each(samples.len(), &|number| said(psf, samples[number]));
    all.into_iter().flatten().collect()
}

/// The misfit that spots show; `None` where they are too few, or where most may be several, as there are so many in a pixel.
pub(super) fn misfit(mut said: Vec<Said>, density: f64) -> Option<Misfit> {
    let several = density * std::f64::consts::PI * NEAR * NEAR;
    if several > MOST_SEVERAL {
        return None;
    }
    let above = several + (1.0 - several) * ABOVE[0];
    if said.len() < FEWEST {
        return None;
    }
    // Another emitter that nobody knows of is the less of a spot, the brighter the spot is.
    said.sort_by(|a, b| b.photons.total_cmp(&a.photons));
    said.truncate(said.len().div_ceil(BRIGHTEST).max(FEWEST));
    let count = (said.len() / FOR_EACH).clamp(1, MOST_HEIGHTS);
    let node = |node: usize| {
        let near = |said: &&Said| {
            count == 1 || (said.height * (count - 1) as f64 - node as f64).abs() < 1.0
        };
        let near: Vec<&Said> = said.iter().filter(near).collect();
        // Where hardly any spot is, all tell.
        let near = if near.len() < FEWEST { said.iter().collect() } else { near };
        let number = |at: usize| spread(near.iter().map(|said| &said.scores[at]), above);
        let shares = std::array::from_fn(number);
        MisfitShares::new(shares, number(Misfit::DISTANCES.len()))
    };
    Misfit::new(&(0..count).map(node).collect::<Vec<_>>()).ok()
}

/// The misfit κ with which squares t² of scores are χ²·(1 + κ²·q), by what so large a share of them is above.
fn spread<'s>(said: impl Iterator<Item = &'s Vec<[f64; 2]>> + Clone, share: f64) -> f64 {
    let count = said.clone().map(Vec::len).sum::<usize>();
    let all = || said.clone().flatten();
    if count == 0 {
        return 0.0;
    }
    let above = |square: f64| {
        let above = all().filter(|[t, q]| t / (1.0 + square * q) > ABOVE[1]).count();
        above as f64 / count as f64 > share
    };
    let (mut low, mut high) = (0.0, LARGEST * LARGEST);
    if above(low) {
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if above(middle) { low = middle } else { high = middle }
        }
    }
    low.sqrt()
}

/// Functions of a window's pixels.
struct Image {
    patch: Patch,
    value: Vec<f64>,
    /// By x, y and z, if wanted.
    slopes: [Vec<f64>; 3],
}

impl Image {
    fn new() -> Self {
        Self { patch: Patch::default(), value: Vec::new(), slopes: [const { Vec::new() }; 3] }
    }

    /// Those of a spot at a place; 0 beyond the PSF.
    fn look(&mut self, psf: &Psf, at: [f64; 3], [rows, columns]: [usize; 2], slopes: bool) {
        let place = psf.place(at, [rows, columns]);
        self.patch.evaluate(psf.knots(), psf.shape(), &place, slopes);
        let Self { patch, value, slopes: by } = self;
        let clear = |to: &mut Vec<f64>| {
            to.clear();
            to.resize(rows * columns, 0.0);
        };
        clear(value);
        by.iter_mut().for_each(clear);
        let mut from = 0;
        for row in place.rows.clone() {
            for column in place.columns.clone() {
                let at = row * columns + column;
                value[at] = patch.value[from];
                if slopes {
                    let [by_x, by_y, by_z, ..] = psf.slopes(patch, from, 1.0);
                    (by[0][at], by[1][at], by[2][at]) = (by_x, by_y, by_z);
                }
                from += 1;
            }
        }
    }
}

/// The fit of a spot: x, y, z, photons, background and its slopes along x and y.
const PARAMETERS: usize = 7;

fn said(psf: &Psf, sample: &Sample<'_>) -> Option<Said> {
    let Sample { ref pixels, others, counts, size, read_noise, mut place, .. } = *sample;
    let (mut photons, mut ground) = (sample.photons, [sample.background, 0.0, 0.0]);
    let middle = size.map(|side| 0.5 * (side - 1) as f64);
    let offsets =
        |pixel: usize| [(pixel % size[1]) as f64 - middle[1], (pixel / size[1]) as f64 - middle[0]];
    let range = psf.range();
    let used = || {
        let counts = |pixel: usize| counts.is_none_or(|counts| counts[pixel]);
        (0..pixels.len()).filter(move |&pixel| counts(pixel) && pixels[pixel].is_finite())
    };
    let mut image = Image::new();
    let (mut functions, mut means, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut known = None;
    for step in 0..=STEPS {
        image.look(psf, place, size, true);
        let (mut information, mut gradient) = (Information::<PARAMETERS>::NONE, [0.0; PARAMETERS]);
        functions.clear();
        means.clear();
        rest.clear();
        // Beyond the last height nothing is fitted.
        let held = step == STEPS && range.contains(&place[2]);
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
        let along = |j: usize| (0..PARAMETERS).map(|k| covariance[j][k] * gradient[k]).sum::<f64>();
        for (axis, place) in place.iter_mut().take(2).enumerate() {
            *place += along(axis).clamp(-LONGEST, LONGEST);
        }
        let longest = 0.2 * (range[1] - range[0]);
        place[2] = (place[2] + along(2).clamp(-longest, longest)).clamp(range[0], range[1]);
        photons = (photons + along(3)).max(0.2 * photons);
        ground = [0, 1, 2].map(|part| ground[part] + along(4 + part));
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
        let square = score * score / information / sample.excess;
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
            image.look(
                psf,
                around(turn(k, DIRECTIONS, std::f64::consts::TAU), distance),
                size,
                false,
            );
            let [square, information] = score(&image.value)?;
            Some([square, photons * photons * information])
        });
        scores.push(found.collect());
    }
    image.look(psf, place, size, false);
    let alone = image.value.clone();
    let wide = (0..WIDE).filter_map(|k| {
        let mut template: Vec<f64> = alone.iter().map(|value| -value).collect();
        for distance in [-HALF, HALF] {
            image.look(psf, around(turn(k, WIDE, std::f64::consts::PI), distance), size, false);
            template.iter_mut().zip(&image.value).for_each(|(to, value)| *to += 0.5 * value);
        }
        template.iter_mut().for_each(|value| *value *= photons / (HALF * HALF));
        score(&template)
    });
    scores.push(wide.collect());
    let height = (place[2] - range[0]) / (range[1] - range[0]);
    height.is_finite().then_some(Said { height, photons, scores })
}

#[cfg(test)]
mod tests {
    use fit_sim::Random;
    use ndarray::Array3;

    use super::*;

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
                    photons,
                    excess: 1.0,
                    background: 25.0,
                }
            })
            .collect();
        said_of(&psf, &samples)
    }

    /// Their misfit.
    fn of(share: f64, distance: f64, heights: [f64; 2]) -> MisfitShares {
        let found = misfit(saying(share, distance, heights, 4e4), 0.0).expect("enough spots");
        found.nodes()[0]
    }

    /// Proves that spots whose fit ends at the last height say as much as others: they are not compared with what is beyond it.
    #[test]
    fn the_last_height_tells() {
        let all = saying(0.0, 1.0, [99.99, 100.0], 4e6);
        let last: Vec<&Said> = all.iter().filter(|said| said.height == 1.0).collect();
        assert!(last.len() > 40, "{}", last.len());
        for distance in 1..Misfit::DISTANCES.len() {
            let squares = last.iter().flat_map(|said| &said.scores[distance]).map(|[t, _]| *t);
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
        assert!(misfit(Vec::new(), 0.0).is_none());
        assert!(misfit(Vec::new(), 1.0).is_none());
    }
}
