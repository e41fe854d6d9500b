//! Histograms with round borders.

/// About how many bins there are.
const BINS: f64 = 60.0;

/// Counts in the same bins for all rows and for those that are kept.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// The borders: one more than bins. A value on a border is in the upper bin.
    pub edges: Vec<f64>,
    /// For each part, how many values are in each bin.
    pub counts: Vec<Vec<u64>>,
    /// For each part the values below the first border, and those above the last.
    pub beyond: Vec<[u64; 2]>,
}

impl Histogram {
    /// Counts finite values in bins from one value to another, if numbers can tell them apart.
    pub(super) fn of<'a>(
        ends: [f64; 2],
        whole: bool,
        parts: impl Iterator<Item = &'a Vec<f64>>,
    ) -> Option<Self> {
        let edges = edges(ends, whole)?;
        let (counts, beyond) = parts.map(|values| count(&edges, values)).unzip();
        Some(Self { edges, counts, beyond })
    }

    /// The bars of a part.
    pub(super) fn bars(&self, part: usize) -> Vec<(f64, f64)> {
        let counts = self.counts[part].iter().map(|&count| count as f64).chain([0.0]);
        self.edges.iter().copied().zip(counts).collect()
    }
}

/// Borders at multiples of a round number. Those of whole numbers lie between them.
fn edges([low, high]: [f64; 2], whole: bool) -> Option<Vec<f64>> {
    let margin = match (low == high, low == 0.0) {
        (false, _) => 0.0,
        (true, true) => 1.0,
        (true, false) => 0.05 * low.abs(),
    };
    let (low, high) = (low - margin, high + margin);
    let least = 0.85 * (high - low) / BINS;
    let decade = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0, 20.0].map(|step| step * decade);
    let fits = |step: &f64| *step >= least && (!whole || step.fract() == 0.0);
    let step = if whole && least <= 1.0 { 1.0 } else { steps.into_iter().find(fits)? };
    let offset = if whole { -0.5 } else { 0.0 };
    let (first, last) = ((low / step).floor(), (high / step).floor() + 1.0);
    if !(last - first <= 4.0 * BINS && step.is_normal()) {
        return None;
    }
    let bins = (last - first) as u32;
    let edges: Vec<f64> = (0..=bins).map(|bin| (first + f64::from(bin)) * step + offset).collect();
    let sound = edges.iter().all(|edge| edge.is_finite()) && edges.is_sorted_by(|a, b| a < b);
    sound.then_some(edges)
}

fn count(edges: &[f64], values: &[f64]) -> (Vec<u64>, [u64; 2]) {
    let bins = edges.len() - 1;
    let mut counts = vec![0; bins];
    let mut beyond = [0; 2];
    let scale = bins as f64 / (edges[bins] - edges[0]);
    for &value in values {
        if value < edges[0] {
            beyond[0] += 1;
        } else if value >= edges[bins] {
            beyond[1] += 1;
        } else {
            let mut bin = (((value - edges[0]) * scale) as usize).min(bins - 1);
            // Rounding may have brought it over a border.
            while value < edges[bin] {
                bin -= 1;
            }
            while value >= edges[bin + 1] {
                bin += 1;
            }
            counts[bin] += 1;
        }
    }
    (counts, beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that each value is counted once, in the bin between whose borders it lies, and that borders are round.
    #[test]
    fn every_value_is_counted_in_its_bin() {
        let values: Vec<f64> = (0..5000).map(|k| f64::from(k) * 0.01 - 7.0).collect();
        let histogram = Histogram::of([-5.0, 40.0], false, [&values].into_iter()).unwrap();
        let edges = &histogram.edges;
        assert!((30..=75).contains(&(edges.len() - 1)), "{}", edges.len());
        assert_eq!((edges[0], edges[1]), (-5.0, -4.0));
        for (bin, pair) in edges.windows(2).enumerate() {
            let inside = |value: &&f64| pair[0] <= **value && **value < pair[1];
            assert_eq!(histogram.counts[0][bin], values.iter().filter(inside).count() as u64);
        }
        let all = histogram.counts[0].iter().chain(&histogram.beyond[0]).sum::<u64>();
        assert_eq!(all, 5000);
        assert_eq!(histogram.bars(0).last(), Some(&(*edges.last().unwrap(), 0.0)));
    }

    /// Proves that whole numbers are in the middle of bins, and that hopeless ranges have none.
    #[test]
    fn odd_ranges_are_dealt_with() {
        assert_eq!(edges([1.0, 4.0], true).unwrap(), [0.5, 1.5, 2.5, 3.5, 4.5]);
        let wide = edges([1.0, 300.0], true).unwrap();
        assert_eq!((wide[0], wide[1] - wide[0]), (-0.5, 5.0));
        for constant in [0.0, 5.0, -1e-9, 1e300] {
            let edges = edges([constant; 2], false).unwrap();
            assert!(edges[0] < constant && constant < *edges.last().unwrap(), "{edges:?}");
        }
        assert_eq!(edges([f64::MIN, f64::MAX], false), None);
        assert_eq!(edges([1e16, 1e16 + 2.0], false), None);
        assert_eq!(edges([1e-320, 2e-320], false), None);
    }
}
