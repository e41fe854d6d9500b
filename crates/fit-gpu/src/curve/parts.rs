//! Numbers of several kinds that go to a device together.

use fit_curves::{CurveBatch, Curves};

/// The variables at all points, where all data sets have the same, one variable after the other.
pub(super) fn shared_variables<'b>(
    batch: &'b CurveBatch<'_, '_, '_>,
) -> impl Iterator<Item = f64> + 'b {
    let Curves { points, .. } = &batch.curves;
    let of = move |v: usize| (0..batch.curves.points()).map(move |point| points.at(0, v, point));
    (0..batch.variables).flat_map(of)
}

/// Parts of these lengths, one after the other.
pub(super) fn parts<T, const N: usize>(mut all: &mut [T], lengths: [usize; N]) -> [&mut [T]; N] {
    lengths.map(|length| all.split_off_mut(..length).expect("there are as many"))
}

/// Where these parts begin, the first of them at `next`.
pub(super) fn begins<const N: usize>(mut next: usize, lengths: [usize; N]) -> [usize; N] {
    lengths.map(|length| {
        next += length;
        next - length
    })
}
