//! What spots of frames that were held out say of a family, and of Gaussians.

use fit_crowd::private::Patch;
use ndarray::Array2;

use super::expect::{NodeFit, SETTLED, SpotFit, behind, place};
use super::{Family, SpotWindow};
use crate::psf::bounds::{Information, inverse, product};
use spotfit_locs::private::{median, of_each};

/// Steps of a fit of a Gaussian.
const STEPS: usize = 12;
/// The narrowest and the widest, in pixels, and the longest step of a width.
const SIGMAS: [f64; 2] = [0.5, 6.0];
const LONGEST: f64 = 0.3;
/// The least damping of a step.
const DAMPING: f64 = 1e-3;

/// How well spots are described that were not learnt from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judged {
    /// The mean deviance of a pixel with the family, and with a circular Gaussian, each spot with a width of its own.
    pub(super) learnt: f64,
    pub(super) gaussian: f64,
    /// By how many of its standard errors the mean deviance of a spot is lower with the family.
    pub(super) better: f64,
    /// The median of that difference.
    pub(super) gain: f64,
}

/// Judges a family.
pub(super) fn judge(family: &Family, windows: &[SpotWindow]) -> Judged {
    let both = of_each(windows.len(), &|number| {
        let window = &windows[number];
        let spot = fitted(family, window);
        let pixels = window.counts.iter().filter(|&&counts| counts).count() as f64;
        [2.0 * spot.best().cost, 2.0 * gaussian(window), pixels]
    });
    // Those that neither describes are several.
    let least = |[learnt, gaussian, pixels]: &[f64; 3]| learnt.min(*gaussian) / pixels;
    let limit = super::unlike(both.iter().map(least), family.extent);
    let sound: Vec<[f64; 3]> = both
        .into_iter()
        .filter(|spot| spot.iter().all(|number| number.is_finite()) && least(spot) < limit)
        .collect();
    let sum = |part: usize| sound.iter().map(|spot| spot[part]).sum::<f64>();
    let count = sound.len() as f64;
    let mean = (sum(1) - sum(0)) / count;
    let square: f64 = sound.iter().map(|spot| (spot[1] - spot[0] - mean).powi(2)).sum();
    let error = (square / (count * (count - 1.0))).sqrt();
    let gain = median(sound.iter().map(|spot| spot[1] - spot[0]));
    Judged { learnt: sum(0) / sum(2), gaussian: sum(1) / sum(2), better: mean / error, gain }
}

/// A spot that was not learnt from, fitted with a family.
pub(super) fn fitted<'w>(family: &Family, window: &'w SpotWindow) -> SpotFit<'w> {
    let nodes = family.nodes();
    let mut spot = SpotFit::new(window, nodes.len(), true);
    spot.expect(family, &nodes, super::FIRST_STEPS);
    spot
}

/// Where a spot is, in pixels from the middle pixel and on the family's axis, with its photons and background.
pub(super) fn placed(family: &Family, window: &SpotWindow) -> [f64; 5] {
    let spot = fitted(family, window);
    let NodeFit { place: [x, y], photons, background, .. } = *spot.best();
    [x, y, spot.mean_place(&family.nodes()), photons, background]
}

/// How many spots are in each interval of the axis, and what their family leaves of their windows: the share of their light in each pixel (row, column).
/// Those that are not like the others are in none.
pub(super) fn left(
    family: &(dyn Fn(&SpotWindow) -> Family + Sync),
    windows: &[SpotWindow],
) -> Vec<(usize, Array2<f64>)> {
    let Some(first) = windows.first() else { return Vec::new() };
    let Family { planes, extent, single, .. } = family(first);
    let (side, count) = (extent.side(), if single { 1 } else { planes - 3 });
    let spots = of_each(windows.len(), &|number| {
        let window = &windows[number];
        let family = family(window);
        let (nodes, spot) = (family.nodes(), fitted(&family, window));
        let mut patch = Patch::default();
        let at = place(&family, nodes[spot.best_node()], spot.best().place);
        patch.evaluate(&family.knots, family.shape(), &at, false);
        let interval = (spot.mean_place(&nodes) as usize).min(count - 1);
        (spot.deviance(), interval, *spot.best(), patch.value)
    });
    let limit = super::unlike(spots.iter().map(|spot| spot.0), extent);
    let none = Array2::<f64>::zeros([side; 2]);
    let mut all = vec![(0, none.clone(), none); count];
    for (window, (deviance, interval, fit, values)) in windows.iter().zip(&spots) {
        if *deviance >= limit {
            continue;
        }
        let (spots, left, light) = &mut all[*interval];
        *spots += 1;
        for (pixel, own) in values.iter().enumerate().filter(|(pixel, _)| window.counts[*pixel]) {
            let at = [pixel / side, pixel % side];
            left[at] += window.pixels[pixel] - behind(window, fit, pixel) - fit.photons * own;
            light[at] += fit.photons;
        }
    }
    all.into_iter().map(|(spots, left, light)| (spots, left / light)).collect()
}

/// Half of the deviance of a circular Gaussian, as spots would have otherwise, on a background with slopes.
fn gaussian(window: &SpotWindow) -> f64 {
    let mut fit = NodeFit::first(window);
    let mut sigma = window.sigma.clamp(0.8, 3.0);
    let (mut cost, mut damping) = (f64::INFINITY, DAMPING);
    let mut kept = (fit, sigma, Information::<7>::NONE, [0.0; 7]);
    for _ in 0..=STEPS {
        let (mut information, mut gradient) = (Information::<7>::NONE, [0.0; 7]);
        let mut own = 0.0;
        for pixel in 0..window.extent.pixels() {
            if !window.counts[pixel] {
                continue;
            }
            let off = window.extent.offsets(pixel);
            let reduced = [0, 1].map(|axis| (off[axis] - fit.place[axis]) / sigma);
            let square = reduced[0].powi(2) + reduced[1].powi(2);
            let value = (-0.5 * square).exp() / (std::f64::consts::TAU * sigma * sigma);
            let signal = fit.photons * value;
            let mean = (signal + behind(window, &fit, pixel)).max(0.5) + window.read_noise;
            let datum = (window.pixels[pixel] + window.read_noise).max(1e-3);
            own += mean - datum + datum * (datum / mean).ln();
            let [by_x, by_y] = [0, 1].map(|axis| signal * reduced[axis] / sigma);
            let wide = signal * (square - 2.0) / sigma;
            let slopes = [by_x, by_y, value, 1.0, off[0], off[1], wide];
            information.add(&slopes, 1.0 / mean);
            for (sum, slope) in gradient.iter_mut().zip(slopes) {
                *sum += slope * (datum / mean - 1.0);
            }
        }
        if (0.0..SETTLED).contains(&(cost - own)) {
            return own;
        }
        if own < cost {
            (cost, kept) = (own, (fit, sigma, information, gradient));
            damping = f64::max(0.1 * damping, DAMPING);
        } else {
            damping *= 10.0;
        }
        let mut information = kept.2;
        information.damp(damping);
        let Some(covariance) = inverse(&information) else { break };
        let [step @ .., wider] = product(&covariance, &kept.3);
        fit = kept.0;
        fit.step(step);
        sigma = (kept.1 + wider.clamp(-LONGEST, LONGEST)).clamp(SIGMAS[0], SIGMAS[1]);
    }
    cost
}
