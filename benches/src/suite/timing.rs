//! Taking times.

use std::time::Instant;

use super::record::Timing;
use crate::report::timed;

/// A sample must take so many ticks of the timer.
pub const TICKS: f64 = 100.0;
/// Calls of a sample, at most.
const MOST_CALLS: usize = 1000;
/// Samples, at least.
const LEAST_RUNS: usize = 5;

/// How samples are taken.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Seconds of a tick of the timer.
    pub tick: f64,
    /// Seconds that a cell may take.
    pub seconds: f64,
}

impl Budget {
    /// Calls `work` once without counting it, then again and again; sides and fits are left at 0.
    ///
    /// # Errors
    /// Why there is no result: what `work` says; that a single call takes more than the budget; that calls are
    /// too short to be timed.
    pub fn measure(
        &self,
        runs: usize,
        mut work: impl FnMut() -> Result<(), String>,
    ) -> Result<Timing, String> {
        // The first call may have kernels to compile and memory to reserve: the second one tells.
        for call in 1..=2 {
            let (seconds, ()) = timed(&mut work)?;
            if seconds <= self.seconds {
                break;
            }
            if call == 2 {
                return Err(format!(
                    "stopped: a call takes {seconds:.2} s, and a cell may take {} s",
                    self.seconds
                ));
            }
        }
        let mut sample = |calls: usize| timed(|| (0..calls).try_for_each(|_| work()));
        let mut calls = 1;
        while sample(calls)?.0 < TICKS * self.tick {
            if calls >= MOST_CALLS {
                return Err(format!("{calls} calls take less than {TICKS} ticks of the timer"));
            }
            calls = (2 * calls).min(MOST_CALLS);
        }
        let begin = Instant::now();
        let mut times = Vec::new();
        while times.len() < runs.max(LEAST_RUNS) {
            let enough = times.len() >= LEAST_RUNS;
            if enough && begin.elapsed().as_secs_f64() > self.seconds {
                break;
            }
            times.push(sample(calls)?.0 / calls as f64);
        }
        Ok(Timing::new(times, calls))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { tick: 1e-8, seconds: 0.05 };

    /// Proves that short calls are put together until the timer can tell them, that those it cannot are refused,
    /// and that there is never one sample alone.
    #[test]
    fn samples_are_long_enough_and_many_enough() {
        let pause = |micros| {
            move || {
                let begin = Instant::now();
                while begin.elapsed().as_micros() < micros {}
                Ok(())
            }
        };
        let coarse = Budget { tick: 1e-6, ..BUDGET };
        let samples = coarse.measure(10, pause(20)).expect("long enough together");
        assert!(samples.calls >= 4 && samples.calls <= 8, "{samples:?}");
        assert_eq!(samples.runs, 10);
        let Timing { low, median, high, .. } = samples;
        assert!(low <= median && median <= high && median >= 19e-6, "{samples:?}");
        let refused = Budget { tick: 1.0, ..BUDGET }.measure(10, pause(1));
        assert!(refused.expect_err("too short").contains("ticks"));
        let samples = BUDGET.measure(1, pause(1000)).expect("long enough");
        assert_eq!(samples.runs, LEAST_RUNS);
    }

    /// Proves that a call beyond the budget is said to be.
    #[test]
    fn a_slow_call_is_stopped() {
        let slow = BUDGET.measure(10, || {
            std::thread::sleep(std::time::Duration::from_millis(60));
            Ok(())
        });
        assert!(slow.expect_err("too slow").contains("stopped"));
        assert_eq!(BUDGET.measure(10, || Err("broken".into())), Err("broken".to_owned()));
    }
}
