//! What most numbers are.

/// The median of the finite ones, and their standard deviation by the median of distances from it.
pub(super) fn spread<'a>(numbers: impl Iterator<Item = &'a f64>) -> Option<[f64; 2]> {
    let mut numbers: Vec<f64> = numbers.copied().filter(|number| number.is_finite()).collect();
    let middle = median(&mut numbers)?;
    numbers.iter_mut().for_each(|number| *number = (*number - middle).abs());
    Some([middle, 1.4826 * median(&mut numbers)?])
}

/// The middle one of some numbers, which change their order.
pub(super) fn median(numbers: &mut [f64]) -> Option<f64> {
    if numbers.is_empty() {
        return None;
    }
    let middle = numbers.len() / 2;
    Some(*numbers.select_nth_unstable_by(middle, f64::total_cmp).1)
}
