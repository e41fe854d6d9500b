//! Quantiles of many values.

/// The quantiles that are found: those between which a histogram lies, the quartiles and the median.
const SHARES: [f64; 5] = [0.005, 0.25, 0.5, 0.75, 0.995];

/// How the values of a column are spread.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// How many are finite.
    pub finite: usize,
    /// How many are not.
    pub left_out: usize,
    /// The 0.5th percentile, the quartiles with the median between them, and the 99.5th percentile; `None` without values.
    pub quantiles: Option<[f64; 5]>,
}

impl Spread {
    /// That of the finite values; the others are removed, and the order is not kept.
    pub(super) fn of(values: &mut Vec<f64>) -> Self {
        let before = values.len();
        values.retain(|value| value.is_finite());
        let left_out = before - values.len();
        Self { finite: values.len(), left_out, quantiles: quantiles(values) }
    }

    /// The quartiles, with the median between them.
    pub fn quartiles(&self) -> Option<[f64; 3]> {
        self.quantiles.map(|[_, low, median, high, _]| [low, median, high])
    }
}

fn quantiles(values: &mut [f64]) -> Option<[f64; 5]> {
    let last = values.len().checked_sub(1)?;
    let mut ranks: Vec<usize> = SHARES.iter().flat_map(|share| around(*share, last).0).collect();
    ranks.sort_unstable();
    ranks.dedup();
    place(values, 0, &ranks);
    Some(SHARES.map(|share| between(share, last, |rank| values[rank])))
}

/// The ranks on both sides of a quantile of values up to rank `last`, and how far it is from one to the other.
fn around(share: f64, last: usize) -> ([usize; 2], f64) {
    let at = share * last as f64;
    let low = at.floor() as usize;
    ([low, (low + 1).min(last)], at - at.floor())
}

/// A quantile, between two values in proportion, from the value at each rank.
pub(super) fn between(share: f64, last: usize, value: impl Fn(usize) -> f64) -> f64 {
    let ([low, high], part) = around(share, last);
    let (low, high) = (value(low), value(high));
    if low == high { low } else { low * (1.0 - part) + high * part }
}

/// Brings the values of these ranks, which are in order, to their places. The first value has the rank `first`.
fn place(values: &mut [f64], first: usize, ranks: &[usize]) {
    let Some(&rank) = ranks.get(ranks.len() / 2) else { return };
    let (low, _, high) = values.select_nth_unstable_by(rank - first, f64::total_cmp);
    place(low, first, &ranks[..ranks.len() / 2]);
    place(high, rank + 1, &ranks[ranks.len() / 2 + 1..]);
}

/// The values for which the answer is yes.
pub(super) fn kept<T: Copy>(values: &[T], keep: &[bool]) -> Vec<T> {
    values.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| *value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that quantiles are those of the sorted values, and that what is not finite is counted apart.
    #[test]
    fn quantiles_are_those_of_sorted_values() {
        for count in [1usize, 2, 3, 4, 7, 100, 1001] {
            let mut values: Vec<f64> =
                (0..count).map(|k| ((k * 7919) % 1009) as f64 / 8.0 - 20.0).collect();
            let mut sorted = values.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            values.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
            let spread = Spread::of(&mut values);
            assert_eq!((spread.finite, spread.left_out), (count, 3));
            for (share, found) in SHARES.iter().zip(spread.quantiles.unwrap()) {
                let at = share * (count - 1) as f64;
                let (low, high) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
                let expected = low + (high - low) * at.fract();
                assert!((found - expected).abs() < 1e-12, "{count} {share}: {found} {expected}");
            }
        }
        assert_eq!(Spread::of(&mut vec![f64::NAN]).quantiles, None);
        assert_eq!(Spread::of(&mut vec![f64::MAX, f64::MIN]).quartiles().unwrap()[1], 0.0);
    }
}
