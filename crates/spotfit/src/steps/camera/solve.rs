//! Offset, variance and gain of each pixel, with their errors, from its means and variances.
//!
//! A pixel reads o + g·n + noise for n electrons, so under a light of which it reads m on average its variance is v + g·(m − o), because
//! the variance of n is its mean (photon transfer: Janesick, *Photon Transfer*, SPIE 2007). The gain g is the slope through all lights,
//! as in Huang et al., Nature Methods 10:653 (2013), here with the weights that variances deserve.

use ndarray::Array2;
use rayon::prelude::*;
use spotfit_locs::private::median;

use super::moments::Moments;

/// What was found of each pixel, (height, width) each.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PixelMaps {
    /// What it reads without light, in ADU.
    pub offset: Array2<f64>,
    /// The variance of its noise without light, in ADU².
    pub variance: Array2<f64>,
    /// Its gain in ADU per photo-electron, where there are flats: drawn to the median of all as far as its error is larger than how pixels
    /// differ. NaN where no flat tells it.
    pub gain: Option<Array2<f64>>,
    /// Standard errors of the offset.
    pub offset_error: Array2<f64>,
    /// Standard errors of the variance.
    pub variance_error: Array2<f64>,
    /// Standard errors of the gain.
    pub gain_error: Option<Array2<f64>>,
    /// The standard deviation of the gain among pixels, without what its errors make.
    pub gain_spread: Option<f64>,
}

/// A light: the means and variances of pixels, and how much the light itself flickered.
pub(super) struct Level {
    pub(super) moments: Moments,
    /// The variance of the light over the square of its mean.
    pub(super) flicker: f64,
}

impl Level {
    /// The light of a movie beyond the dark, whose mean over all pixels is given.
    pub(super) fn new(moments: Moments, dark: f64) -> Self {
        let count = moments.lights.len() as f64;
        let mean = moments.lights.iter().sum::<f64>() / count;
        let spread =
            moments.lights.iter().map(|light| (light - mean).powi(2)).sum::<f64>() / (count - 1.0);
        // What the noise of all pixels makes of the mean of a frame.
        let pixels = moments.variance.len() as f64;
        let noise = moments.variance.sum() / (pixels * pixels);
        let light = mean - dark;
        let excess = (spread - noise).max(0.0) / (light * light);
        // Less than its own error is nothing.
        let flicker =
            if spread > noise * (1.0 + 3.0 * (2.0 / (count - 1.0)).sqrt()) { excess } else { 0.0 };
        Self { moments, flicker }
    }
}

/// The variance of the variance of so many numbers that have this variance and fourth cumulant.
fn of_variance(variance: f64, fourth: f64, count: f64) -> f64 {
    2.0 * variance * variance / (count - 1.0) + fourth / count
}

/// What the darks and the lights tell.
pub(super) fn solve(dark: &Moments, levels: &[Level]) -> PixelMaps {
    let count = dark.frames as f64;
    let mut maps = PixelMaps {
        offset: dark.mean.clone(),
        variance: dark.variance.clone(),
        gain: None,
        offset_error: dark.variance.mapv(|variance| (variance / count).sqrt()),
        variance_error: dark.variance.mapv(|variance| of_variance(variance, 0.0, count).sqrt()),
        gain_error: None,
        gain_spread: None,
    };
    if levels.is_empty() {
        return maps;
    }
    let usual = usual_gain(dark, levels);
    let mut gain = Array2::from_elem(dark.mean.dim(), f64::NAN);
    let mut error = gain.clone();
    let (_, width) = gain.dim();
    let rows = gain.as_slice_mut().unwrap_or_default().par_chunks_mut(width.max(1));
    let errors = error.as_slice_mut().unwrap_or_default().par_chunks_mut(width.max(1));
    rows.zip(errors).enumerate().for_each(|(y, (gains, errors))| {
        for (x, (gain, error)) in gains.iter_mut().zip(errors).enumerate() {
            if let Some(found) = gain_of([y, x], dark, levels, usual) {
                [*gain, *error] = found;
            }
        }
    });
    maps.gain_spread = draw_together(&mut gain, &mut error);
    (maps.gain, maps.gain_error) = (Some(gain), Some(error));
    maps
}

/// A gain so many standard deviations from the others is that of an odd pixel.
const ODD: f64 = 4.0;

/// Draws gains to their median, as far as their errors are larger than how they differ: with a spread τ of all pixels' gains and an error e,
/// the best estimate of a gain g is the median plus (g − median)·τ²/(τ² + e²), of which τe/√(τ² + e²) is the error (empirical Bayes:
/// Efron & Morris, J. Am. Stat. Assoc. 68:117, 1973). Odd pixels stay. The result is τ.
fn draw_together(gain: &mut Array2<f64>, error: &mut Array2<f64>) -> Option<f64> {
    let [middle, deviation] = spread(gain.iter())?;
    let squares = error.mapv(|error| error * error);
    let [usual, _] = spread(squares.iter())?;
    let own = (deviation * deviation - usual).max(0.0);
    // Where all pixels have one gain, what is left is the error of the median.
    let least = 1.25 * (usual / gain.len() as f64).sqrt();
    for (gain, error) in gain.iter_mut().zip(error) {
        let all = own + *error * *error;
        if all > 0.0 && (*gain - middle).abs() <= ODD * all.sqrt() {
            *gain = middle + (*gain - middle) * own / all;
            *error = (*error * (own / all).sqrt()).max(least);
        }
    }
    Some(own.sqrt())
}

/// The gain of a pixel and its standard error, if a light tells it.
fn gain_of(at: [usize; 2], dark: &Moments, levels: &[Level], usual: f64) -> Option<[f64; 2]> {
    let (count, own_dark) = (dark.frames as f64, dark.variance[at]);
    let of_dark = of_variance(own_dark, 0.0, count);
    let (mut along, mut square, mut sum, mut own) = (0.0, 0.0, 0.0, 0.0);
    for Level { moments, flicker } in levels {
        let light = moments.mean[at] - dark.mean[at];
        if moments.clipped[at] || light <= 0.0 {
            continue;
        }
        let noise = moments.variance[at] - own_dark - flicker * light * light;
        // Weights by what a usual pixel would have: its own variance would make low ones count more.
        let expected = own_dark + usual * light;
        let spread = of_variance(expected, usual.powi(3) * light, moments.frames as f64);
        let weight = (spread + of_dark).recip();
        along += weight * light * noise;
        square += weight * light * light;
        sum += weight * light;
        own += weight * weight * light * light * spread;
    }
    (square > 0.0).then(|| [along / square, (own + of_dark * sum * sum).sqrt() / square])
}

/// The median of all pixels' variances over their light.
fn usual_gain(dark: &Moments, levels: &[Level]) -> f64 {
    let mut ratios = Vec::with_capacity(dark.mean.len());
    for (at, offset) in dark.mean.indexed_iter() {
        let (mut noise, mut light) = (0.0, 0.0);
        for Level { moments, flicker } in levels.iter().filter(|level| !level.moments.clipped[at]) {
            let own = moments.mean[at] - offset;
            light += own;
            noise += moments.variance[at] - dark.variance[at] - flicker * own * own;
        }
        if light > 0.0 && noise > 0.0 {
            ratios.push(noise / light);
        }
    }
    median(ratios)
}

/// The median of the finite ones, and their standard deviation by the median of distances from it.
pub(super) fn spread<'a>(numbers: impl Iterator<Item = &'a f64>) -> Option<[f64; 2]> {
    let numbers: Vec<f64> = numbers.copied().filter(|number| number.is_finite()).collect();
    let middle = median(numbers.iter().copied());
    let apart = median(numbers.iter().map(|number| (number - middle).abs()));
    (!numbers.is_empty()).then_some([middle, 1.4826 * apart])
}
