//! Where x is: on what axis, and at which places a model is drawn.

use crate::model::Model;

/// Places at which a model is drawn.
const STEPS: u32 = 400;
/// Places are spread over so much, one over the other, before a logarithmic axis is thought of.
const WIDE: f64 = 100.0;

/// Whether x is drawn on a logarithmic axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogX {
    /// Where all x are above 0, span two decades or more, and grow by factors rather than by steps, as doses do.
    #[default]
    Auto,
    /// Yes: what is not above 0 is not drawn.
    Yes,
    /// No.
    No,
}

/// Whether numbers are spread as doses are: over decades, and more evenly in their logarithms than in themselves.
pub(super) fn is_geometric(x: &[f64]) -> bool {
    let mut sorted: Vec<f64> = x.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    let [low, .., high] = sorted[..] else { return false };
    if sorted.len() < 4 || low <= 0.0 || high / low < WIDE {
        return false;
    }
    // The standard deviation of steps over their mean.
    let unevenness = |steps: Vec<f64>| {
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        let square = steps.iter().map(|step| (step - mean).powi(2)).sum::<f64>();
        (square / steps.len() as f64).sqrt() / mean
    };
    let steps = sorted.windows(2).map(|pair| pair[1] / high - pair[0] / high).collect();
    let factors = sorted.windows(2).map(|pair| (pair[1] / pair[0]).ln()).collect();
    unevenness(factors) < unevenness(steps)
}

/// The curve of a model over the range of x.
pub(super) fn line(
    model: &Model,
    parameters: &[f64],
    x: impl Iterator<Item = f64>,
    log: bool,
) -> Vec<(f64, f64)> {
    let ends =
        x.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    let [low, high] = if log { ends.map(f64::ln) } else { ends };
    let place = |step: u32| {
        let place = low + (high - low) * f64::from(step) / f64::from(STEPS);
        vec![if log { place.exp() } else { place }]
    };
    let places: Vec<Vec<f64>> = (0..=STEPS).map(place).filter(|at| at[0].is_finite()).collect();
    let values = model.values(parameters, &places);
    places.iter().zip(values).map(|(at, value)| (at[0], value)).collect()
}
