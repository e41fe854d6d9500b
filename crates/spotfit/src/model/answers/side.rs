//! The search for one end of an interval.

use super::intervals::IntervalEnd;

/// The root is found when the distance from the minimum, in units of the threshold, is 1 within this.
const CLOSE: f64 = 1e-4;
/// How much farther a step goes at most.
const FARTHER: f64 = 4.0;
/// The most steps away from the minimum before an interval is open, and in all.
const MOST_AWAY: u32 = 20;
const MOST: u32 = 60;

/// An end of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) at: f64,
    pub(super) found: IntervalEnd,
}

/// A place that was looked at: where, its distance from the minimum as the root of the cost above it over the threshold, and all
/// parameters.
#[derive(Clone, Debug)]
struct Looked {
    at: f64,
    distance: f64,
    parameters: Vec<f64>,
}

/// The search on one side of a minimum.
#[derive(Clone, Debug)]
pub(super) struct Side {
    parameter: usize,
    direction: f64,
    limit: f64,
    threshold: f64,
    best: f64,
    /// How the other parameters follow.
    slopes: Vec<f64>,
    inner: Looked,
    /// Where the threshold is exceeded; the distance is infinite where nothing is known.
    outer: Option<[f64; 2]>,
    next: f64,
    away: u32,
    steps: u32,
    end: Option<End>,
}

impl Side {
    pub(super) fn new(
        parameter: usize,
        direction: f64,
        limit: f64,
        parameters: Vec<f64>,
        slopes: Vec<f64>,
        step: f64,
        threshold: f64,
    ) -> Self {
        let best = parameters[parameter];
        // A parameter at a limit, or one that the data do not determine, has no error to begin with.
        let step = match step {
            step if step.is_finite() && step > 0.0 => step,
            _ if best != 0.0 => 0.1 * best.abs(),
            _ => 0.1,
        };
        let inner = Looked { at: best, distance: 0.0, parameters };
        let end = match threshold {
            _ if limit == best => Some(End { at: best, found: IntervalEnd::Limit }),
            // An exact fit leaves no room.
            threshold if threshold <= 0.0 => Some(End { at: best, found: IntervalEnd::Closed }),
            threshold if threshold.is_finite() => None,
            _ => Some(End { at: direction * f64::INFINITY, found: IntervalEnd::Open }),
        };
        let (outer, away, steps) = (None, 0, 0);
        let mut side = Self {
            parameter,
            direction,
            limit,
            threshold,
            best,
            slopes,
            inner,
            outer,
            next: best,
            away,
            steps,
            end,
        };
        side.next = side.within(best + direction * step);
        side
    }

    fn within(&self, at: f64) -> f64 {
        if self.direction < 0.0 { at.max(self.limit) } else { at.min(self.limit) }
    }

    /// Whether the end is not known yet.
    pub(super) fn goes_on(&self) -> bool {
        self.end.is_none()
    }

    /// The end that was found.
    pub(super) fn end(&self) -> End {
        let open = End { at: self.direction * f64::INFINITY, found: IntervalEnd::Failed };
        self.end.unwrap_or(open)
    }

    /// Where a fit with the parameter held at the next place begins.
    pub(super) fn guess(&self) -> Vec<f64> {
        let step = self.next - self.inner.at;
        let follow = |(k, value): (usize, &f64)| {
            let followed = value + self.slopes[k] * step;
            if followed.is_finite() { followed } else { *value }
        };
        let mut guess: Vec<f64> = self.inner.parameters.iter().enumerate().map(follow).collect();
        guess[self.parameter] = self.next;
        guess
    }

    /// Takes what a fit found: the parameters, how far its cost is above the minimum, and whether it converged.
    pub(super) fn take(&mut self, parameters: Vec<f64>, above: f64, is_found: bool) {
        let at = self.next;
        let distance = (above.max(0.0) / self.threshold).sqrt();
        // What has not converged costs too much: it says something only where that is little enough.
        let told = distance.is_finite() && (is_found || distance < 1.0);
        let distance = if told { distance } else { f64::INFINITY };
        self.steps += 1;
        if (distance - 1.0).abs() <= CLOSE {
            self.end = Some(End { at, found: IntervalEnd::Closed });
            return;
        }
        if distance < 1.0 {
            let step = at - self.inner.at;
            for (slope, (new, old)) in
                self.slopes.iter_mut().zip(parameters.iter().zip(&self.inner.parameters))
            {
                *slope = (new - old) / step;
            }
            self.inner = Looked { at, distance, parameters };
            if at == self.limit {
                self.end = Some(End { at, found: IntervalEnd::Limit });
                return;
            }
        } else {
            self.outer = Some([at, distance]);
        }
        self.go();
    }

    fn go(&mut self) {
        let Looked { at, distance, .. } = self.inner;
        let Some([outer, beyond]) = self.outer else {
            self.away += 1;
            let done = at - self.best;
            let farther = if distance > 0.0 { (1.0 / distance).min(FARTHER) } else { FARTHER };
            // What grows ever more slowly is followed faster.
            let farther = if self.away > 6 { FARTHER } else { farther.max(1.0 + CLOSE) };
            let next = self.within(self.best + done * farther);
            if self.away > MOST_AWAY || !next.is_finite() || next == at {
                let at = self.direction * f64::INFINITY;
                self.end = Some(End { at, found: IntervalEnd::Open });
            }
            self.next = next;
            return;
        };
        let width = outer - at;
        let share = match self.steps % 4 {
            // Where the profile is crooked, halves still come to the end.
            3 => 0.5,
            _ if beyond.is_finite() => (1.0 - distance) / (beyond - distance),
            _ => 0.3,
        };
        let next = at + share.clamp(0.02, 0.98) * width;
        let narrow = width.abs() <= 1e-9 * (outer - self.best).abs();
        if narrow || next == at || next == outer || self.steps >= MOST {
            let jump = narrow && beyond.is_finite();
            let (at, found) = match jump {
                // The profile jumps over the threshold.
                true => (at, IntervalEnd::Closed),
                false => (self.direction * f64::INFINITY, IntervalEnd::Failed),
            };
            self.end = Some(End { at, found });
        }
        self.next = next;
    }
}
