//! How long answers take, in memory that does not grow.

use super::LatencyReport;

/// Steps within a factor of two: the middle of a bin is within 1.6 % of what is in it.
const STEPS: u64 = 32;
const BINS: usize = 64 * STEPS as usize;

/// Counts of times in bins of the same ratio.
#[derive(Clone, Debug)]
pub(super) struct Latencies {
    bins: Box<[u64]>,
    count: u64,
    worst: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        Self { bins: vec![0; BINS].into(), count: 0, worst: 0 }
    }
}

/// The bin of a time: those below 2·STEPS are exact.
fn bin(nanoseconds: u64) -> usize {
    let octave = nanoseconds.max(1).ilog2().saturating_sub(STEPS.ilog2());
    let step = nanoseconds >> octave;
    (u64::from(octave) * STEPS + step) as usize
}

/// The middle of a bin.
fn middle(bin: usize) -> f64 {
    let bin = bin as u64;
    let octave = (bin / STEPS).saturating_sub(1);
    let step = bin - octave * STEPS;
    let wide = if octave == 0 { 0.0 } else { (1_u64 << octave) as f64 };
    (step << octave) as f64 + 0.5 * wide
}

impl Latencies {
    /// Counts a time in nanoseconds.
    pub(super) fn add(&mut self, nanoseconds: u64) {
        let bin = bin(nanoseconds).min(BINS - 1);
        self.bins[bin] += 1;
        self.count += 1;
        self.worst = self.worst.max(nanoseconds);
    }

    /// The time that this share of all do not exceed, in microseconds.
    fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil() as u64;
        let mut seen = 0;
        let bin = self.bins.iter().position(|count| {
            seen += count;
            seen >= wanted.max(1)
        });
        bin.map_or(0.0, |bin| middle(bin).min(self.worst as f64) / 1e3)
    }

    pub(super) fn report(&self) -> LatencyReport {
        LatencyReport {
            median: self.quantile(0.5),
            percent_99: self.quantile(0.99),
            percent_99_9: self.quantile(0.999),
            worst: self.worst as f64 / 1e3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that quantiles are within 2 % of those of the times, for times from nanoseconds to hours, and that the worst is exact.
    #[test]
    fn quantiles_are_near() {
        for scale in [1_u64, 37, 1000, 123_456, 1_000_000_000, 3_600_000_000] {
            let mut latencies = Latencies::default();
            (1..=1000).for_each(|k| latencies.add(k * scale));
            let told = latencies.report();
            for (found, share) in
                [(told.median, 500), (told.percent_99, 990), (told.percent_99_9, 999)]
            {
                let expected = (share * scale) as f64 / 1e3;
                assert!((found / expected - 1.0).abs() < 0.02, "{found} instead of {expected}");
            }
            assert_eq!(told.worst, (1000 * scale) as f64 / 1e3);
        }
        let mut latencies = Latencies::default();
        latencies.add(u64::MAX);
        latencies.add(0);
        assert_eq!(latencies.quantile(0.5), 0.0);
        assert!(latencies.report().worst > 1e16);
    }
}
