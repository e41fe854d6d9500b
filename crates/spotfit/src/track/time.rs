//! How many frames passed, by their timestamps.

/// The times of the frames.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    last: Option<f64>,
    /// The usual time from a frame to the next, in seconds; 0 if it is not known.
    interval: f64,
}

/// The most frames that one timestamp may be later than the last one.
const MOST: f64 = 1e4;

impl Times {
    /// The last timestamp; 0 if there was none.
    pub(super) fn last(&self) -> f64 {
        self.last.unwrap_or_default()
    }

    /// How many frames later a frame of this time is than the last one: 1, but for frames that were missed.
    pub(super) fn frames_since(&mut self, time: f64) -> f64 {
        if !time.is_finite() {
            return 1.0;
        }
        let Some(last) = self.last.replace(time) else { return 1.0 };
        let passed = time - last;
        if !(passed > 0.0 && passed.is_finite()) {
            return 1.0;
        }
        if self.interval == 0.0 {
            self.interval = passed;
        }
        let frames = passed / self.interval;
        if frames < 1.5 {
            // A camera that is faster than was thought is believed soon.
            let share = if frames < 0.5 { 0.25 } else { 1.0 / 32.0 };
            self.interval += share * (passed - self.interval);
        }
        frames.round().clamp(1.0, MOST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that missed frames are counted, and that times which jitter, stand still, go back or are no numbers are one frame.
    #[test]
    fn missed_frames_show_in_times() {
        let mut times = Times::default();
        assert_eq!(times.frames_since(f64::NAN), 1.0);
        for frame in 0..100 {
            let jitter = 0.1 * f64::from(frame % 3);
            assert_eq!(times.frames_since(0.01 * (f64::from(frame) + jitter)), 1.0);
        }
        assert_eq!(times.frames_since(0.01 * 104.0), 5.0);
        assert_eq!(times.last(), 0.01 * 104.0);
        for time in [1.04, 0.5, 0.51, f64::INFINITY, f64::NAN] {
            assert_eq!(times.frames_since(time), 1.0, "{time}");
        }
        assert_eq!(times.frames_since(1e300), MOST);
    }
}
