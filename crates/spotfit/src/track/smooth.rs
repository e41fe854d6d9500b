//! Drift over time, along one axis.

use super::Smooth;

/// A filter is surprised by this many standard deviations, squared, and starts anew.
const SURPRISE: f64 = 36.0;
/// By how much a filter that learns changes its mind after a frame.
const LEARNING: f64 = 0.02;
/// Where a filter that learns begins: the velocity changes by so many standard errors of a frame in a frame.
const FIRST_WANDER: f64 = 0.1;
/// The variance of the velocity, in those of a frame, where it is not known.
const ANY_VELOCITY: f64 = 100.0;

/// The state of one axis.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Axis {
    how: Smooth,
    /// Whether there was a frame.
    begun: bool,
    /// Frames since then without a measurement.
    waited: f64,
    value: f64,
    velocity: f64,
    /// The variances of value and velocity, and their covariance.
    variance: [f64; 3],
    /// The variance of the change of the velocity in a frame.
    wander: f64,
}

impl Axis {
    /// At 0, which is exact.
    pub(super) fn new(how: Smooth) -> Self {
        Self { how, ..Self::default() }
    }

    /// The value and its variance.
    pub(super) fn now(&self) -> [f64; 2] {
        [self.value, self.variance[0]]
    }

    /// After a frame with this drift, so many frames after the last one.
    pub(super) fn add(&mut self, value: f64, variance: f64, frames: f64) {
        let begun = std::mem::replace(&mut self.begun, true);
        let waited = std::mem::take(&mut self.waited);
        let surprise = (value - self.value).powi(2) / (self.variance[0] + variance);
        match self.how {
            Smooth::None => (self.value, self.variance[0]) = (value, variance),
            // A stage that moved while nothing was measured is not followed slowly.
            Smooth::Exponential { frames: long }
                if begun && (waited == 0.0 || surprise < SURPRISE) =>
            {
                let gain = 1.0 - (-(frames + waited) / long).exp();
                self.value += gain * (value - self.value);
                let kept = 1.0 - gain;
                self.variance[0] = kept * kept * self.variance[0] + gain * gain * variance;
            }
            Smooth::Kalman { wander } if begun => self.filter(value, variance, frames, wander),
            Smooth::Exponential { .. } => (self.value, self.variance[0]) = (value, variance),
            Smooth::Kalman { wander } => self.restart(value, variance, wander),
        }
    }

    /// After frames without a measurement; `walk` is the variance of the drift's change in a frame.
    pub(super) fn hold(&mut self, walk: f64, frames: f64) {
        if matches!(self.how, Smooth::Kalman { .. }) && self.begun {
            self.predict(frames);
            // A velocity is not to be trusted for long.
            self.velocity *= 0.9f64.powf(frames);
        }
        self.variance[0] += walk * frames;
        self.waited += frames;
    }

    fn restart(&mut self, value: f64, variance: f64, wander: Option<f64>) {
        (self.value, self.velocity) = (value, 0.0);
        self.variance = [variance, ANY_VELOCITY * variance, 0.0];
        if let Some(wander) = wander {
            self.wander = wander * wander;
        } else if self.wander == 0.0 {
            self.wander = FIRST_WANDER * FIRST_WANDER * variance;
        }
    }

    /// The state so many frames later (Bar-Shalom, Li & Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001,
    /// eq. 6.2.2-12: continuous white noise of the acceleration).
    fn predict(&mut self, frames: f64) {
        let [xx, vv, xv] = self.variance;
        let q = self.wander;
        self.value += frames * self.velocity;
        self.variance = [
            xx + frames * (2.0 * xv + frames * vv) + q * frames.powi(3) / 3.0,
            vv + q * frames,
            xv + frames * vv + q * frames * frames / 2.0,
        ];
    }

    fn filter(&mut self, value: f64, variance: f64, frames: f64, wander: Option<f64>) {
        self.predict(frames);
        let [xx, vv, xv] = self.variance;
        let (off, spread) = (value - self.value, xx + variance);
        let square = off * off / spread;
        if wander.is_none() {
            // The mean of the square is 1 where the wander is right.
            let change = LEARNING * (square.min(9.0) - 1.0);
            self.wander = (self.wander * change.exp()).clamp(1e-12 * variance, 1e6 * variance);
        }
        if square > SURPRISE || !square.is_finite() {
            self.restart(value, variance, wander);
            return;
        }
        let gain = [xx / spread, xv / spread];
        self.value += gain[0] * off;
        self.velocity += gain[1] * off;
        self.variance = [xx * (1.0 - gain[0]), (vv - gain[1] * xv).max(0.0), xv * (1.0 - gain[0])];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the filter of constant velocity, which learns how much the velocity changes, is better than single frames at noise
    /// and at ramps, states its error to 15 %, and follows a step at once.
    #[test]
    fn a_filter_learns_and_follows() {
        let mut random = Random::new(1, 1);
        let mut axis = Axis::new(Smooth::Kalman { wander: None });
        let (mut squares, mut stated, mut truth) = (0.0, 0.0, 0.0);
        let mut velocity = 0.0;
        for frame in 0..20_000 {
            velocity += 0.002 * random.normal();
            velocity *= 0.999;
            truth += velocity;
            if frame == 10_000 {
                truth += 5.0;
            }
            axis.add(truth + 0.1 * random.normal(), 0.01, 1.0);
            let [value, variance] = axis.now();
            if frame == 10_001 {
                assert!((value - truth).abs() < 0.5);
            }
            if frame > 1000 {
                squares += (value - truth).powi(2);
                stated += variance;
            }
        }
        let rms = (squares / 19_000.0f64).sqrt();
        assert!(rms < 0.06, "{rms}");
        let ratio = (squares / stated).sqrt();
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
    }

    /// Proves that the exponential mean has the error that it states for a drift that stays, that the error of a drift that is held
    /// grows, that frames without a measurement count as time, and that a jump meanwhile is followed at once.
    #[test]
    fn an_exponential_mean_states_its_error() {
        let mut random = Random::new(1, 2);
        let mut axis = Axis::new(Smooth::Exponential { frames: 10.0 });
        let (mut squares, mut stated) = (0.0, 0.0);
        for frame in 0..50_000 {
            axis.add(0.3 * random.normal(), 0.09, 1.0);
            let [value, variance] = axis.now();
            if frame > 100 {
                squares += value * value;
                stated += variance;
            }
        }
        let ratio = (squares / stated).sqrt();
        assert!((0.95..1.05).contains(&ratio), "{ratio}");
        let before = axis.now();
        axis.hold(0.01, 4.0);
        assert_eq!(axis.now()[0], before[0]);
        assert!((axis.now()[1] - before[1] - 0.04).abs() < 1e-12);
        let mut other = axis;
        axis.add(before[0] + 0.5, 0.09, 1.0);
        assert!((axis.now()[0] - before[0] - 0.5 * (1.0 - (-0.5f64).exp())).abs() < 1e-12);
        other.add(20.0, 0.09, 1.0);
        assert_eq!(other.now(), [20.0, 0.09]);
    }
}
