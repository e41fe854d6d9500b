//! Where x is: on what axis, and at which places a model is drawn.

use spotfit_locs::private::ends;

use crate::model::Model;
use crate::steps::words::evenly;

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
    let ends = if log { ends(x).map(f64::ln) } else { ends(x) };
    let places = evenly(ends, STEPS).map(|at| vec![if log { at.exp() } else { at }]);
    let places: Vec<Vec<f64>> = places.filter(|at| at[0].is_finite()).collect();
    let values = model.values(parameters, &places);
    places.iter().zip(values).map(|(at, value)| (at[0], value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that doses are told from times: what grows by factors over two decades is, and nothing else.
    #[test]
    fn doses_are_told_from_times() {
        let doses: Vec<f64> = (0..10).map(|step| 0.01 * 3f64.powi(step)).collect();
        assert!(is_geometric(&doses) && is_geometric(&[1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0]));
        let times: Vec<f64> = (1..2000).map(f64::from).collect();
        let with_zero: Vec<f64> = std::iter::once(0.0).chain(doses.iter().copied()).collect();
        for x in [&times[..], &doses[..3], &with_zero, &[1.0, 2.0, 4.0, 8.0], &[], &[f64::NAN; 5]] {
            assert!(!is_geometric(x), "{x:?}");
        }
    }
}
