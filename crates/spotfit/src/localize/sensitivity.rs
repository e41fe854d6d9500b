//! Estimates of the camera from the noise of a movie: the photo-electrons per ADU, from variance over mean, and the
//! read noise, from the remaining variance in dim light.
//!
//! The variance of a pixel grows with its light: variance = excess·(mean − baseline)/gain + read noise², with `gain`
//! photo-electrons per ADU. It is measured in tiles, from the differences of consecutive frames, in which everything
//! that does not move cancels; blinking molecules disturb few tiles of few frames, and medians ignore these. The
//! remaining disturbance shows in neighbouring pixels: moving light changes them together, noise does not.

use std::fmt;

use fit_core::{Camera, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::{ArrayView2, Axis, Slice};
use spotfit_files::private::sort_by;
use spotfit_locs::private::median;

/// Side of a tile in pixels.
const TILE: usize = 16;

/// The most frames, and their most pixels, that are looked at.
const MOST_FRAMES: usize = 64;
const MOST_PIXELS: usize = 1 << 22;
/// Of large frames so many are looked at nevertheless, unless they have more pixels than that.
const LEAST_FRAMES: usize = 4;
const LARGEST_PIXELS: usize = 1 << 26;

/// The least tiles, and the least pairs of a tile and two frames, that say something.
const LEAST_TILES: usize = 9;
const LEAST_PAIRS: usize = 100;

/// Noise whose neighbouring pixels correlate by more than this was smoothed or interpolated.
const MOST_CORRELATED: f64 = 0.1;

/// The part of the variance that comes from light that moves is its correlation in neighbouring pixels times this:
/// spots are as wide as that.
const MOVING: f64 = 1.25;

/// An estimate is sound if its standard error is below this share.
const MOST_ERROR: f64 = 0.04;

/// Where nothing is known of the read noise, so many photons of background make sure that it does not matter.
const ENOUGH_PHOTONS: f64 = 20.0;

/// A read noise matters if it makes this share of the variance of the darker pixels, or more: left out, errors are too
/// small by half of it.
const LEAST_SHARE: f64 = 0.15;

/// How many standard errors a read noise must be above none.
const CERTAIN: f64 = 4.0;

/// Which share of the tiles tells the read noise: the darkest.
const DARKEST: usize = 4;

/// A number is contradicted if what the movie says differs by more than this factor.
const CONTRADICTED: f64 = 2.0;

/// No camera has a read noise of more photo-electrons than this, without EM gain and with it.
const MOST_READ_NOISE: [f64; 2] = [20.0, 200.0];

/// The number of frames, from the first one, that the estimates use for a movie with frames of `width`×`height` pixels.
pub fn frames_for_estimates((width, height): (usize, usize)) -> usize {
    let pixels = width.saturating_mul(height).max(1);
    let least = (LARGEST_PIXELS / pixels).clamp(1, LEAST_FRAMES);
    (MOST_PIXELS / pixels).clamp(least, MOST_FRAMES)
}

/// A contradiction between a movie and the given camera.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CameraDoubt {
    /// The noise of the movie corresponds to this sensitivity, and the given sensitivity, or the EM gain, differs from
    /// it by more than a factor of 2.
    Sensitivity {
        /// The given value.
        given: f64,
        /// The estimate from the movie.
        found: f64,
    },
    /// The given sensitivity is less than half of this bound: with it, light would have more noise than the movie has.
    LowSensitivity {
        /// The given value.
        given: f64,
        /// The smallest value that the movie allows.
        least: f64,
    },
    /// The given sensitivity is more than twice this bound: with it, the camera would have a read noise of more than 20
    /// photo-electrons, or 200 after EM gain.
    HighSensitivity {
        /// The given value.
        given: f64,
        /// The largest value that the movie allows.
        most: f64,
    },
    /// The movie has more noise than its light, and no read noise is given.
    ReadNoise {
        /// The read noise that explains it, in photo-electrons.
        found: f64,
    },
}

impl fmt::Display for CameraDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, given) = match *self {
            Self::Sensitivity { given, found } => (format!("about {}", two_digits(found)), given),
            Self::LowSensitivity { given, least } => {
                (format!("{} or more", two_digits(least)), given)
            }
            Self::HighSensitivity { given, most } => {
                (format!("{} or fewer", two_digits(most)), given)
            }
            Self::ReadNoise { found } => {
                let found = two_digits(found);
                return write!(
                    f,
                    "the first frames have more noise than light: a read noise of about {found} photo-electrons would explain \
                     it; without it errors and uncertainties are too small"
                );
            }
        };
        write!(
            f,
            "an ADU has {found} photo-electrons by the noise of the first frames, not {given}: sensitivity or EM gain is wrong"
        )
    }
}

/// A positive number with two digits that count.
pub fn two_digits(number: f64) -> String {
    let decimals = (1.0 - number.log10().floor()).clamp(0.0, 12.0) as usize;
    format!("{number:.decimals$}")
}

/// The contradictions between the first frames of a movie and a camera. The result is empty if the frames allow no
/// estimate: see [`estimate_sensitivity`] and [`estimate_read_noise`]. A read noise above 0 is not checked.
///
/// ```
/// use fit_sim::MovieSimulation;
/// use spotfit::localize::{CameraDoubt, camera_doubts};
/// use spotfit::{Camera, Windows};
///
/// let camera = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
/// let movie = MovieSimulation::new(128, 128, 20).with_camera(camera).with_background(2.0);
/// let frames = movie.plan()?.piece(0..20).frames();
/// let known = Camera::default().with_baseline(100.0);
/// let doubts = |camera: &Camera| camera_doubts(Windows::stack(frames.view()).into(), camera);
/// assert!(matches!(doubts(&known)[..], [CameraDoubt::ReadNoise { found }] if (found - 1.5).abs() < 0.2));
/// assert!(doubts(&known.with_read_noise(1.5)).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn camera_doubts(frames: AnyWindows<'_>, camera: &Camera) -> Vec<CameraDoubt> {
    let Some(tiles) = measure(frames, camera) else { return Vec::new() };
    let noise = Light::of(camera);
    let given = camera.sensitivity;
    if let Some(found) = sensitivity(&tiles, camera) {
        let ratio = found / given;
        if !(1.0 / CONTRADICTED..=CONTRADICTED).contains(&ratio) {
            return vec![CameraDoubt::Sensitivity { given, found }];
        }
    } else {
        // Light alone would make more noise; the largest read noise, less.
        let bound = |read_noise| noise.solved(&tiles, read_noise);
        let least = bound(0.0);
        if least > CONTRADICTED * given {
            return vec![CameraDoubt::LowSensitivity { given, least }];
        }
        let most = bound(MOST_READ_NOISE[usize::from(camera.em_gain.is_some())]);
        if CONTRADICTED * most < given {
            return vec![CameraDoubt::HighSensitivity { given, most }];
        }
    }
    let unknown = camera.read_noise == 0.0;
    let found = if unknown { read_noise(&tiles, camera) } else { None };
    found.map(|found| CameraDoubt::ReadNoise { found }).into_iter().collect()
}

/// The read noise in photo-electrons (before EM gain divides it), from the variance that light does not explain in the
/// darkest quarter of the first frames. `None` if they do not show a read noise that matters: in the cases of
/// [`estimate_sensitivity`], if it makes less than 15 % of the variance, and if more than 20 photons of even light
/// would make a wrong sensitivity look like read noise. Baseline, sensitivity and EM gain of the camera must be
/// correct.
pub fn estimate_read_noise(frames: AnyWindows<'_>, camera: &Camera) -> Option<f64> {
    read_noise(&measure(frames, camera)?, camera)
}

/// The photo-electrons per ADU (before EM gain) from variance over mean of the first frames, or `None` if they allow no
/// estimate: a single frame, correlated noise, little light. It uses the camera's baseline, EM gain and, unless it is
/// 0, read noise.
///
/// ```
/// use fit_sim::MovieSimulation;
/// use spotfit::{Camera, Windows, localize::estimate_sensitivity};
///
/// let camera = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_gain(2.17);
/// let movie = MovieSimulation::new(128, 128, 20).with_camera(camera);
/// let frames = movie.plan()?.piece(0..20).frames();
/// let known = Camera::default().with_baseline(100.0);
/// let found = estimate_sensitivity(Windows::stack(frames.view()).into(), &known);
/// assert!((found.expect("enough light") * 2.17 - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate_sensitivity(frames: AnyWindows<'_>, camera: &Camera) -> Option<f64> {
    sensitivity(&measure(frames, camera)?, camera)
}

/// How the noise of light shows in ADU.
#[derive(Clone, Copy)]
struct Light {
    /// Variance over mean, times the sensitivity.
    factor: f64,
    /// What divides photo-electrons.
    em_gain: f64,
}

impl Light {
    fn of(camera: &Camera) -> Self {
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        Self { factor: excess * em_gain, em_gain }
    }

    /// Photo-electrons per ADU with a known read noise in electrons, by a tile: the solution of
    /// variance = factor·mean/sensitivity + read noise²/sensitivity².
    fn solved_by(&self, tile: &Tile, read_noise: f64) -> f64 {
        let light = self.factor * tile.mean;
        (light + (light * light + 4.0 * tile.variance * read_noise.powi(2)).sqrt())
            / (2.0 * tile.variance)
    }

    /// The median of the tiles.
    fn solved(&self, tiles: &[Tile], read_noise: f64) -> f64 {
        median(tiles.iter().map(|tile| self.solved_by(tile, read_noise)))
    }
}

/// The tiles of a movie that say something, if there are enough of them, with light.
fn measure(frames: AnyWindows<'_>, camera: &Camera) -> Option<Vec<Tile>> {
    // Whole counts have the variance of rounding, too, whatever they are stored as.
    let whole = match &frames {
        AnyWindows::F32(windows) => is_whole(windows, |value| value.fract() == 0.0),
        AnyWindows::F64(windows) => is_whole(windows, |value| value.fract() == 0.0),
        _ => true,
    };
    let rounding = if whole { 1.0 / 12.0 } else { 0.0 };
    let tiles = frames.visit(Measure { baseline: camera.baseline, rounding })?;
    // Otherwise the baseline is wrong.
    (median(tiles.iter().map(|tile| tile.mean)) > 0.0).then_some(tiles)
}

/// Whether this is so of all pixels of the first frame.
fn is_whole<P: Pixel>(windows: &Windows<'_, P>, whole: impl Fn(P) -> bool) -> bool {
    let frames = windows.frames();
    frames.outer_iter().next().is_some_and(|frame| frame.iter().all(|&value| whole(value)))
}

fn sensitivity(tiles: &[Tile], camera: &Camera) -> Option<f64> {
    let light = Light::of(camera);
    let mean = median(tiles.iter().map(|tile| tile.mean));
    let found = if camera.read_noise > 0.0 {
        by_ratio(tiles, light, camera.read_noise)?
    } else {
        let line = by_line(tiles).map(|slope| light.factor / slope);
        let enough = |&found: &f64| mean * found / light.em_gain >= ENOUGH_PHOTONS;
        line.or_else(|| by_ratio(tiles, light, 0.0).filter(enough))?
    };
    (found.is_finite() && found > 0.0).then_some(found)
}

fn read_noise(tiles: &[Tile], camera: &Camera) -> Option<f64> {
    let light = Light::of(camera);
    let sensitivity = camera.sensitivity;
    let mut dark: Vec<&Tile> = tiles.iter().collect();
    sort_by(&mut dark, |a, b| a.mean.total_cmp(&b.mean));
    dark.truncate((tiles.len() / DARKEST).max(LEAST_TILES));
    let squared =
        |tile: &&Tile| sensitivity * (sensitivity * tile.variance - light.factor * tile.mean);
    let squares: Vec<f64> = dark.iter().map(squared).collect();
    let found = median(squares.iter().copied());
    let spread = 1.4826 * median(squares.iter().map(|square| (square - found).abs()));
    let error = spread / (squares.len() as f64).sqrt();
    let all = sensitivity * sensitivity * median(dark.iter().map(|tile| tile.variance));
    let photons = sensitivity / light.em_gain * median(dark.iter().map(|tile| tile.mean));
    // With much light a sensitivity that is a little wrong looks the same, unless the light is uneven and tells it.
    let agrees = |slope: f64| (light.factor / slope / sensitivity - 1.0).abs() < 0.1;
    let sure = by_line(tiles).map_or(photons < ENOUGH_PHOTONS, agrees);
    let matters = found > CERTAIN * error && found > LEAST_SHARE * all;
    (sure && matters && photons > 0.0).then(|| found.sqrt())
}

/// A tile in all frames, in ADU.
struct Tile {
    /// Above the baseline.
    mean: f64,
    /// Without that of light that moves.
    variance: f64,
    /// Of the differences of neighbouring pixels.
    correlation: f64,
}

struct Measure {
    baseline: f64,
    /// The variance of rounding.
    rounding: f64,
}

impl<'w> Visitor<'w> for Measure {
    type Output = Option<Vec<Tile>>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Option<Vec<Tile>> {
        let frames = frames.frames();
        let (count, height, width) = frames.dim();
        let count = count.min(frames_for_estimates((width, height)));
        let mut tiles = Vec::new();
        let mut correlations = Vec::new();
        let mut room = Vec::new();
        for y in (0..(height + 1).saturating_sub(TILE)).step_by(TILE) {
            for x in (0..(width + 1).saturating_sub(TILE)).step_by(TILE) {
                let tile = |frame: usize| {
                    let rows = frames.index_axis_move(Axis(0), frame);
                    let rows = rows.slice_axis_move(Axis(0), Slice::from(y..y + TILE));
                    rows.slice_axis_move(Axis(1), Slice::from(x..x + TILE))
                };
                let pair = |frame: usize| Pair::of(tile(frame - 1), tile(frame), &mut room);
                let pairs = (1..count).map(pair);
                let pairs: Vec<Pair> = pairs.collect();
                correlations.extend(pairs.iter().map(|pair| pair.correlation));
                let correlation = median(pairs.iter().map(|pair| pair.correlation));
                let mean = median(pairs.iter().map(|pair| pair.mean));
                // The median of χ² with so many degrees of freedom is a little below its mean.
                let freedom = (TILE * TILE - 1) as f64;
                let below = (1.0 - 2.0 / (9.0 * freedom)).powi(3);
                let variance = median(pairs.iter().map(|pair| pair.variance)) / below;
                let variance = (variance - self.rounding) * (1.0 - MOVING * correlation);
                tiles.push(Tile { mean: mean - self.baseline, variance, correlation });
            }
        }
        let many = correlations.len() >= LEAST_PAIRS;
        let good = |tile: &Tile| tile.mean.is_finite() && tile.variance > 0.0;
        if !many || median(correlations).abs() >= MOST_CORRELATED || !tiles.iter().all(good) {
            return None;
        }
        // Something moves in the others.
        tiles.retain(|tile| tile.correlation.abs() < MOST_CORRELATED);
        (tiles.len() >= LEAST_TILES).then_some(tiles)
    }
}

/// A tile in two frames.
struct Pair {
    mean: f64,
    /// Of one frame, from the difference of both.
    variance: f64,
    /// Of neighbours in a row of the difference.
    correlation: f64,
}

impl Pair {
    /// `differences` is room for those of the pixels.
    fn of<P: Pixel>(
        before: ArrayView2<'_, P>,
        after: ArrayView2<'_, P>,
        differences: &mut Vec<f64>,
    ) -> Self {
        let count = before.len() as f64;
        // Every addition to a sum waits for the one before, so that two sums take as long as one.
        let (mut sum, mut shift) = (0.0, 0.0);
        differences.clear();
        for (before, after) in before.outer_iter().zip(after.outer_iter()) {
            for (a, b) in before.iter().zip(&after).map(|(a, b)| (a.to_f64(), b.to_f64())) {
                sum += a + b;
                shift += b - a;
                differences.push(b - a);
            }
        }
        shift /= count;
        let (mut squares, mut products) = (0.0, 0.0);
        for row in differences.chunks_exact(before.dim().1) {
            let mut left = None;
            for difference in row {
                let here = difference - shift;
                squares += here * here;
                if let Some(left) = left.replace(here) {
                    products += left * here;
                }
            }
        }
        Self {
            mean: sum / (2.0 * count),
            variance: squares / (2.0 * (count - 1.0)),
            correlation: products / squares,
        }
    }
}

/// Photo-electrons per ADU with a known read noise in electrons, if the tiles agree.
fn by_ratio(tiles: &[Tile], light: Light, read_noise: f64) -> Option<f64> {
    let gains: Vec<f64> = tiles.iter().map(|tile| light.solved_by(tile, read_noise)).collect();
    let found = median(gains.iter().copied());
    let spread = 1.4826 * median(gains.iter().map(|gain| (gain - found).abs()));
    let error = spread / (gains.len() as f64).sqrt();
    (found > 0.0 && error < MOST_ERROR * found).then_some(found)
}

/// How much the variance grows with the mean, where the light is uneven enough to say.
fn by_line(tiles: &[Tile]) -> Option<f64> {
    let mut kept: Vec<&Tile> = tiles.iter().collect();
    let mut slope = None;
    // Tiles far off the line have something in them that is not noise.
    for _ in 0..3 {
        let count = kept.len() as f64;
        let mean = kept.iter().map(|tile| tile.mean).sum::<f64>() / count;
        let variance = kept.iter().map(|tile| tile.variance).sum::<f64>() / count;
        let (mut square, mut product) = (0.0, 0.0);
        for tile in &kept {
            square += (tile.mean - mean).powi(2);
            product += (tile.mean - mean) * (tile.variance - variance);
        }
        let found = product / square;
        let off = |tile: &Tile| tile.variance - variance - found * (tile.mean - mean);
        let spread = 1.4826 * median(kept.iter().map(|tile| off(tile).abs()));
        let error = spread / square.sqrt();
        slope = (error < MOST_ERROR * found).then_some(found);
        kept.retain(|tile| off(tile).abs() <= 3.0 * spread);
        if kept.len() < LEAST_TILES {
            return None;
        }
    }
    slope
}
