//! Medians, root mean squares, and ends.

/// The median; of an even number of values, the upper of the two in the middle. Not a number if there is none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The least and the greatest of some numbers; infinity and minus infinity of none.
pub fn ends(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let wider = |[low, high]: [f64; 2], value: f64| [low.min(value), high.max(value)];
    values.into_iter().fold([f64::INFINITY, f64::NEG_INFINITY], wider)
}

/// The root mean square of two numbers.
pub fn root_mean_square(x: f64, y: f64) -> f64 {
    if x == y { x } else { ((x * x + y * y) / 2.0).sqrt() }
}

/// Some of the finite numbers, in their order: of at most so many numbers as far from each other as possible.
pub(crate) fn sorted_sample(values: &[f64], most: usize) -> Vec<f64> {
    let step = values.len().div_ceil(most).max(1);
    let mut sample: Vec<f64> =
        values.iter().step_by(step).copied().filter(|value| value.is_finite()).collect();
    sample.sort_unstable_by(f64::total_cmp);
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves which value is taken, and that none is no number.
    #[test]
    fn the_middle_is_found() {
        assert!(median([]).is_nan());
        for (values, middle) in
            [(vec![3.0], 3.0), (vec![5.0, -1.0], 5.0), (vec![9.0, f64::INFINITY, -7.0], 9.0)]
        {
            assert_eq!(median(values.iter().copied()), middle, "{values:?}");
        }
    }
}
