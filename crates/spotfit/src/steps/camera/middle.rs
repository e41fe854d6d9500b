//! What most numbers are.

use spotfit_locs::private::median;

/// The median of the finite ones, and their standard deviation by the median of distances from it.
pub(super) fn spread<'a>(numbers: impl Iterator<Item = &'a f64>) -> Option<[f64; 2]> {
    let numbers: Vec<f64> = numbers.copied().filter(|number| number.is_finite()).collect();
    let middle = median(numbers.iter().copied());
    let apart = median(numbers.iter().map(|number| (number - middle).abs()));
    (!numbers.is_empty()).then_some([middle, 1.4826 * apart])
}
