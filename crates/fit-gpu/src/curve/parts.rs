//! Numbers of several kinds that go to a device together.

use fit_curves::{CurveBatch, Curves, Points};

/// What all data sets of a batch have in common, one kind after the other: weights, if they are `weights`, variables, start values if
/// `starts`, lower and upper limits. Also says where each of them begins.
pub(super) fn common<T>(
    batch: &CurveBatch<'_, '_, '_>,
    weights: Option<Vec<f64>>,
    starts: bool,
    of: impl Fn(f64) -> T,
) -> (Vec<T>, [Option<usize>; 5]) {
    let Curves { points, .. } = &batch.curves;
    let parameters = batch.options.parameters();
    let (mut numbers, mut at) = (Vec::new(), [None; 5]);
    let mut put = |which: usize, values: &mut dyn Iterator<Item = f64>| {
        at[which] = Some(numbers.len());
        numbers.extend(values.map(&of));
    };
    if let Some(weights) = weights {
        put(0, &mut weights.into_iter());
    }
    if !matches!(points, Points::PerFit(_)) || batch.variables == 0 {
        let of = |v: usize| (0..batch.curves.points()).map(move |point| points.at(0, v, point));
        put(1, &mut (0..batch.variables).flat_map(of));
    }
    if starts && batch.has_same_start() {
        put(2, &mut (0..parameters).map(|j| batch.start(0, j)));
    }
    if batch.has_same_limits() {
        for end in 0..2 {
            put(3 + end, &mut (0..parameters).map(|j| batch.limit(0, j)[end]));
        }
    }
    (numbers, at)
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
