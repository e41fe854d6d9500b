//! The median.

/// The median; of an even number of values, the upper of the two in the middle. Not a number if there is none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
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
