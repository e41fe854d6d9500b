//! How many photo-electrons an ADU is, from the noise of a movie: variance over mean.
//!
//! The variance of a pixel grows with its light: variance = excess·(mean − baseline)/gain + read noise², with `gain`
//! photo-electrons per ADU. It is measured in tiles, from the differences of consecutive frames, in which everything
//! that stands still cancels; molecules that blink disturb few tiles of few frames, and medians leave these out.

use fit_core::{Camera, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::{ArrayView2, Axis, Slice};

use crate::median::median;

/// Side of a tile in pixels.
const TILE: usize = 16;

/// The most frames, and their most pixels, that are looked at.
const MOST_FRAMES: usize = 64;
const MOST_PIXELS: usize = 1 << 22;

/// The least tiles, and the least pairs of a tile and two frames, that say something.
const LEAST_TILES: usize = 9;
const LEAST_PAIRS: usize = 100;

/// Noise whose neighbouring pixels correlate by more than this was smoothed or interpolated.
const MOST_CORRELATED: f64 = 0.1;

/// An estimate is sound if its standard error is below this share.
const MOST_ERROR: f64 = 0.04;

/// Where nothing is known of the read noise, so many photons of background make sure that it does not matter.
const ENOUGH_PHOTONS: f64 = 20.0;

/// The photo-electrons per ADU (before EM gain) by variance over mean of the first of some frames, or `None` if they
/// do not say: one frame, noise that is not that of single pixels, little light. Of the camera it takes baseline, EM
/// gain and, unless it is 0, read noise.
///
/// ```
/// use fit_sim::MovieSimulation;
/// use spotfit::{Camera, Windows, localize::estimate_sensitivity};
///
/// let camera = fit_sim::Camera::default().with_baseline(100.0).with_gain(2.17);
/// let movie = MovieSimulation::new(128, 128, 20).with_camera(camera);
/// let frames = movie.plan()?.piece(0..20).frames();
/// let known = Camera::default().with_baseline(100.0);
/// let found = estimate_sensitivity(Windows::stack(frames.view()).into(), &known);
/// assert!((found.expect("enough light") * 2.17 - 1.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn estimate_sensitivity(frames: AnyWindows<'_>, camera: &Camera) -> Option<f64> {
    // Whole counts have the variance of rounding, too.
    let whole = !matches!(frames, AnyWindows::F32(_) | AnyWindows::F64(_));
    let rounding = if whole { 1.0 / 12.0 } else { 0.0 };
    let tiles = frames.visit(Measure { baseline: camera.baseline, rounding })?;
    let em_gain = camera.em_gain.unwrap_or(1.0);
    let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
    let mean = median(tiles.iter().map(|tile| tile.mean));
    if mean <= 0.0 {
        // The baseline is wrong.
        return None;
    }
    let found = if camera.read_noise > 0.0 {
        by_ratio(&tiles, excess * em_gain, camera.read_noise)?
    } else {
        let line = by_line(&tiles).map(|slope| excess * em_gain / slope);
        let enough = |&found: &f64| mean * found / em_gain >= ENOUGH_PHOTONS;
        line.or_else(|| by_ratio(&tiles, excess * em_gain, 0.0).filter(enough))?
    };
    (found.is_finite() && found > 0.0).then_some(found)
}

/// A tile in all frames, in ADU.
struct Tile {
    /// Above the baseline.
    mean: f64,
    variance: f64,
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
        let count = count.min(MOST_FRAMES).min(MOST_PIXELS / (width * height).max(1));
        let mut tiles = Vec::new();
        let mut correlations = Vec::new();
        for y in (0..(height + 1).saturating_sub(TILE)).step_by(TILE) {
            for x in (0..(width + 1).saturating_sub(TILE)).step_by(TILE) {
                let tile = |frame: usize| {
                    let rows = frames.index_axis_move(Axis(0), frame);
                    let rows = rows.slice_axis_move(Axis(0), Slice::from(y..y + TILE));
                    rows.slice_axis_move(Axis(1), Slice::from(x..x + TILE))
                };
                let pairs = (1..count).map(|frame| Pair::of(tile(frame - 1), tile(frame)));
                let pairs: Vec<Pair> = pairs.collect();
                correlations.extend(pairs.iter().map(|pair| pair.correlation));
                let mean = median(pairs.iter().map(|pair| pair.mean));
                // The median of χ² with so many degrees of freedom is a little below its mean.
                let freedom = (TILE * TILE - 1) as f64;
                let below = (1.0 - 2.0 / (9.0 * freedom)).powi(3);
                let variance = median(pairs.iter().map(|pair| pair.variance)) / below;
                tiles.push(Tile { mean: mean - self.baseline, variance: variance - self.rounding });
            }
        }
        let enough = tiles.len() >= LEAST_TILES && correlations.len() >= LEAST_PAIRS;
        let good = |tile: &Tile| tile.mean.is_finite() && tile.variance > 0.0;
        (enough && median(correlations).abs() < MOST_CORRELATED && tiles.iter().all(good))
            .then_some(tiles)
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
    fn of<P: Pixel>(before: ArrayView2<'_, P>, after: ArrayView2<'_, P>) -> Self {
        let count = before.len() as f64;
        let both = || before.iter().zip(&after).map(|(a, b)| (a.to_f64(), b.to_f64()));
        let sum: f64 = both().map(|(a, b)| a + b).sum();
        let shift = both().map(|(a, b)| b - a).sum::<f64>() / count;
        let differences: Vec<f64> = both().map(|(a, b)| b - a - shift).collect();
        let squares: f64 = differences.iter().map(|d| d * d).sum();
        let rows = differences.chunks_exact(before.dim().1);
        let products: f64 = rows.flat_map(|row| row.windows(2)).map(|d| d[0] * d[1]).sum();
        Self {
            mean: sum / (2.0 * count),
            variance: squares / (2.0 * (count - 1.0)),
            correlation: products / squares,
        }
    }
}

/// Photo-electrons per ADU with a known read noise in electrons: the solution of
/// variance = factor·mean/gain + read noise²/gain², the median of the tiles.
fn by_ratio(tiles: &[Tile], factor: f64, read_noise: f64) -> Option<f64> {
    let gain = |tile: &Tile| {
        let light = factor * tile.mean;
        (light + (light * light + 4.0 * tile.variance * read_noise.powi(2)).sqrt())
            / (2.0 * tile.variance)
    };
    let gains: Vec<f64> = tiles.iter().map(gain).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::MovieSimulation;
    use ndarray::Array3;

    fn movie(camera: fit_sim::Camera, unevenness: f64, seed: u64) -> Array3<u16> {
        let mut movie = MovieSimulation::new(128, 160, 30)
            .with_camera(camera)
            .with_unevenness(unevenness)
            .with_seed(seed);
        movie.molecules = movie.molecules_for(8.0);
        movie.plan().expect("a sound simulation").piece(0..30).frames()
    }

    /// Proves that the gain of a camera is found within 10 % over sixteen octaves of brightness of an ADU, with blinking
    /// molecules, on even and uneven light, with and without EM gain.
    #[test]
    fn the_gain_is_found() {
        for (seed, sensitivity) in [0.25, 0.46, 1.0, 2.0, 4.0].into_iter().enumerate() {
            for (unevenness, known, em_gain) in
                [(0.5, false, None), (0.5, true, None), (0.0, true, None), (0.5, true, Some(50.0))]
            {
                let camera = fit_sim::Camera::default()
                    .with_baseline(200.0)
                    .with_gain(1.0 / sensitivity)
                    .with_read_noise(1.5)
                    .with_em_gain(em_gain);
                let frames = movie(camera, unevenness, seed as u64);
                let camera = Camera::default()
                    .with_baseline(200.0)
                    .with_em_gain(em_gain)
                    .with_read_noise(if known { 1.5 } else { 0.0 });
                let found = estimate_sensitivity(Windows::stack(frames.view()).into(), &camera);
                let ratio = found.unwrap_or(f64::NAN) / sensitivity;
                println!("{sensitivity} e/ADU, {unevenness}, {known}, {em_gain:?}: {ratio:.3}");
                assert!((0.9..1.1).contains(&ratio), "{sensitivity} {unevenness} {known}: {ratio}");
            }
        }
    }

    /// Proves that nothing is said where nothing can be known: one frame, a smoothed movie, no light, an unknown read
    /// noise in dim and even light.
    #[test]
    fn unsound_estimates_are_not_given() {
        let camera = fit_sim::Camera::default().with_baseline(200.0).with_read_noise(1.5);
        let frames = movie(camera, 0.5, 1);
        let known = Camera::default().with_baseline(200.0).with_read_noise(1.5);
        let estimate = |frames: &Array3<f32>| {
            estimate_sensitivity(Windows::stack(frames.view()).into(), &known)
        };
        let frames = frames.mapv(f32::from);
        assert!(estimate(&frames).is_some());
        let one = frames.slice_axis(Axis(0), Slice::from(0..1)).to_owned();
        assert_eq!(estimate(&one), None);
        let mut smooth = frames.clone();
        for x in 1..128 {
            for y in 0..160 {
                for t in 0..30 {
                    smooth[(t, y, x)] = (frames[(t, y, x)] + frames[(t, y, x - 1)]) / 2.0;
                }
            }
        }
        assert_eq!(estimate(&smooth), None);
        assert_eq!(estimate(&Array3::from_elem((30, 160, 128), 200.0)), None);
        assert_eq!(estimate(&Array3::from_elem((0, 160, 128), 200.0)), None);
        assert_eq!(estimate(&Array3::from_elem((30, 5, 5), f32::NAN)), None);
        let mut dim = MovieSimulation::new(128, 160, 30).with_camera(camera).with_background(4.0);
        dim.unevenness = 0.0;
        let dim = dim.plan().expect("a sound simulation").piece(0..30).frames();
        let known = known.with_read_noise(0.0);
        assert_eq!(estimate_sensitivity(Windows::stack(dim.view()).into(), &known), None);
    }
}
