//! Medians, percentiles and spreads.

/// The value below which the given share of the values lies; NaN for none.
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let index = (sorted.len() as f64 * share) as usize;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}

/// The largest; NaN if one of them is, or if there is none: `f64::max` says nothing of either, and a bound on it would hold.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |most: f64, value: f64| if most.is_nan() || most > value { most } else { value };
    values.into_iter().reduce(larger).unwrap_or(f64::NAN)
}

/// Median, mean and standard deviation.
pub fn median_mean_std(values: &[f64]) -> [f64; 3] {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    [percentile(values, 0.5), mean, variance.sqrt()]
}
