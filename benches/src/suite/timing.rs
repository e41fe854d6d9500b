//! Taking times.

use std::time::Instant;

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

/// Samples of the seconds that a call takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Samples {
    /// Samples taken.
    pub runs: usize,
    /// Calls of each.
    pub calls: usize,
    /// Lower quartile, median and upper quartile of the seconds of a call.
    pub quartiles: [f64; 3],
}

impl Budget {
    /// Calls `work` once without counting it, then again and again.
    ///
    /// # Errors
    /// Why there is no result: what `work` says; that a single call takes more than the budget; that calls are
    /// too short to be timed.
    pub fn measure(
        &self,
        runs: usize,
        mut work: impl FnMut() -> Result<(), String>,
    ) -> Result<Samples, String> {
        // The first call may have kernels to compile and memory to reserve: the second one tells.
        for call in 1..=2 {
            let begin = Instant::now();
            work()?;
            let seconds = begin.elapsed().as_secs_f64();
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
        let mut calls = 1;
        loop {
            let begin = Instant::now();
            for _ in 0..calls {
                work()?;
            }
            if begin.elapsed().as_secs_f64() >= TICKS * self.tick {
                break;
            }
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
            let begin = Instant::now();
            for _ in 0..calls {
                work()?;
            }
            times.push(begin.elapsed().as_secs_f64() / calls as f64);
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize];
        Ok(Samples { runs: times.len(), calls, quartiles: [at(0.25), at(0.5), at(0.75)] })
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
        let [low, median, high] = samples.quartiles;
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
