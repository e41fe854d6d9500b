//! The curve at which localizations of all times lie nearest to each other, as smooth as they allow.
//!
//! With d the drift, pᵢ the positions and tᵢ the frames, it maximizes c·Σ wᵢwⱼ(1 − r²/R²)³ − ½dᵀPd over pairs, r = pⱼ − pᵢ − d(tⱼ) +
//! d(tᵢ), by Newton's method: pairs of one molecule, or of one structure, pull, and those that are near by chance cancel
//! out. c makes the sum a log-likelihood: pairs that share a localization are not independent, and how much their pull varies from
//! one part of the field to the next says by how much they count less. P is a random walk or a smooth curve
//! ([`super::prior`]); which of them, and how stiff, is decided by the marginal likelihood.

use super::jumps::sharpen;
use super::matrix::{Band, BandFactor, Cholesky, descend};
use super::pairs::{Bins, DAMPING, Pairs, Shared, Sums, Wanted};
use super::points::Points;
use super::prior::Prior;
use super::segments::strays;
use crate::parallel::of_each;

/// The last reach, in units of the precision of a distance.
const LAST: f64 = 3.4;
/// The scales before it, in its unit.
const SCALES: [f64; 3] = [4.0, 2.0, 1.0];
/// The most pairs in a step of a coarse curve, and of a fine one.
const FEW_PAIRS: f64 = 3e5;
pub(super) const MOST_PAIRS: f64 = 2e6;
/// Bins of the first curve, of the one whose smoothness is chosen, and of the last.
const COARSE: usize = 64;
const MIDDLE: usize = 128;
const FINE: usize = 2048;
/// So many localizations make a bin at least.
const IN_A_BIN: usize = 4;
/// How often bins that lie elsewhere are looked for.
const STRAYS: usize = 3;
/// Finer bins at both ends of which none may be between two jumps.
const ENDS: usize = 4;
/// Changes below that end the steps, in units of the precision.
pub(super) const NEGLIGIBLE: f64 = 0.02;
/// A curve of which the data tell fewer parameters for each bin is smooth: finer bins would say nothing new.
const SMOOTH: f64 = 0.2;

/// A curve and what is known of it.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) bins: Bins,
    /// For each axis and bin.
    pub(super) values: Vec<Vec<f64>>,
    pub(super) priors: Vec<Prior>,
    /// The best ones of the other order.
    pub(super) others: Vec<Prior>,
    /// What makes a log-likelihood of the sum over pairs, for each axis.
    pub(super) shares: Vec<f64>,
    /// How many parameters the data tell, of the axis with the most.
    freedom: f64,
}

impl Curve {
    pub(super) fn new(bins: Bins, values: Vec<Vec<f64>>) -> Self {
        Self { bins, values, priors: vec![], others: vec![], shares: vec![], freedom: 0.0 }
    }

    pub(super) fn frames(&self) -> Vec<Vec<f64>> {
        self.values.iter().map(|of| self.bins.values(of)).collect()
    }

    pub(super) fn again(&self, count: usize) -> Self {
        let bins = Bins { count, span: self.bins.span };
        Self {
            bins,
            values: self.values.iter().map(|of| self.bins.again(of, bins)).collect(),
            priors: self.priors.iter().map(|prior| prior.finer(count)).collect(),
            others: self.others.iter().map(|prior| prior.finer(count)).collect(),
            shares: self.shares.clone(),
            freedom: self.freedom,
        }
    }

    /// Goes a step, and not too far; how far it went at most.
    pub(super) fn follow(&mut self, chosen: Vec<Chosen>, most: f64) -> f64 {
        let mut longest = 0f64;
        let mut next = Curve::new(self.bins, std::mem::take(&mut self.values));
        for (values, chosen) in next.values.iter_mut().zip(chosen) {
            for (value, change) in values.iter_mut().zip(chosen.change) {
                longest = longest.max(change.abs());
                *value += change.clamp(-most, most);
            }
            next.priors.push(chosen.prior);
            next.others.push(chosen.other);
            next.shares.push(chosen.share);
            next.freedom = next.freedom.max(chosen.freedom);
        }
        *self = next;
        longest
    }
}

/// How well a curve does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    /// The sum over pairs.
    pub(super) value: f64,
    /// What makes a log-likelihood of it.
    pub(super) share: f64,
    /// The logarithm of the marginal likelihood over the likelihood.
    pub(super) evidence: f64,
}

/// What an axis of a step decided on.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) prior: Prior,
    pub(super) other: Prior,
    pub(super) share: f64,
    pub(super) change: Vec<f64>,
    pub(super) evidence: f64,
    pub(super) freedom: f64,
}

/// The last curve, for each axis and frame.
pub(super) struct Fine {
    pub(super) values: Vec<Vec<f64>>,
    /// Its standard errors.
    pub(super) errors: Vec<Vec<f64>>,
    /// The curve without fast motion, if there is some.
    pub(super) slow: Option<Vec<Vec<f64>>>,
}

/// How pairs are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search<'a> {
    pub(super) points: &'a Points,
    pub(super) span: u32,
    /// The largest drift that is looked for.
    pub(super) range: f64,
    /// The bins of the last curve, if they were asked for.
    pub(super) knots: Option<usize>,
}

impl Search<'_> {
    pub(super) fn reach(&self, scale: f64) -> f64 {
        scale * LAST * std::f64::consts::SQRT_2 * self.points.precision()
    }

    pub(super) fn most_bins(&self) -> usize {
        (self.points.len() / IN_A_BIN).min(self.span as usize).max(2)
    }

    pub(super) fn coarse_bins(&self) -> Bins {
        Bins { count: COARSE.min(self.most_bins()), span: self.span }
    }

    /// Steps at one scale, in the bins of the curve.
    pub(super) fn steps(
        &self,
        curve: &mut Curve,
        scale: f64,
        lags: [u32; 2],
        most: usize,
    ) -> Score {
        self.steps_of(curve, scale, lags, most, None)
    }

    /// The same; `near` is the number of pairs, where curves are scored and none may have more of them.
    fn steps_of(
        &self,
        curve: &mut Curve,
        scale: f64,
        lags: [u32; 2],
        most: usize,
        near: Option<f64>,
    ) -> Score {
        let reach = self.reach(scale);
        let coarse = curve.bins.count <= COARSE;
        let most_pairs = if coarse { FEW_PAIRS } else { MOST_PAIRS };
        let wanted = Wanted { reach: 1.2 * reach, lags, most: most_pairs, near, each: false };
        let mut pairs = None;
        let mut moved = 0.0;
        let mut score = Score::default();
        for _ in 0..most {
            let frames = curve.frames();
            if moved > 0.1 * reach {
                pairs = None;
            }
            let pairs = pairs.get_or_insert_with(|| {
                moved = 0.0;
                Pairs::list(self.points, curve.bins, &frames, &wanted)
            });
            let damping = if scale > 1.0 { 0.3 } else { DAMPING };
            let sums = pairs.sums(curve.bins, &frames, reach, damping);
            let parts = pairs.parts(curve.bins, &frames, reach);
            let longest;
            (longest, score) = self.step(curve, &sums, &parts, 0.3 * reach, near.is_some());
            moved += longest;
            if longest < NEGLIGIBLE * self.points.precision() * scale {
                break;
            }
        }
        score
    }

    /// One step; how far it went at most, and how well the curve before it did.
    fn step(
        &self,
        curve: &mut Curve,
        sums: &Sums,
        parts: &[Vec<f64>],
        most: f64,
        scored: bool,
    ) -> (f64, Score) {
        let slope = (self.range / curve.bins.count as f64).powi(2);
        let choose = |axis: usize| {
            let own = Axis::new(sums, axis, &curve.values[axis])?;
            let before = curve.priors.get(axis).zip(curve.others.get(axis));
            let before = before.map(|(a, b)| ([a, b], curve.shares[axis]));
            own.choose(&parts[axis], before, slope, scored)
        };
        let chosen: Option<Vec<Chosen>> =
            of_each(self.points.axes(), &choose).into_iter().collect();
        let Some(chosen) = chosen else { return (0.0, Score::default()) };
        let axes = self.points.axes() as f64;
        let score = Score {
            value: sums.value,
            evidence: chosen.iter().map(|chosen| chosen.evidence).sum(),
            share: chosen.iter().map(|chosen| chosen.share / axes).sum(),
        };
        (curve.follow(chosen, most), score)
    }

    /// The curve at the scales down to the last, from a first one in coarse bins.
    pub(super) fn coarse(&self, curve: &mut Curve) -> Score {
        let all = [1, u32::MAX];
        for scale in &SCALES[..2] {
            self.steps(curve, *scale, all, 6);
        }
        self.steps(curve, SCALES[2], all, 2)
    }

    /// How well a coarse curve does.
    pub(super) fn score(&self, curve: &mut Curve, near: f64) -> Score {
        self.steps_of(curve, SCALES[2], [1, u32::MAX], 1, Some(near))
    }

    /// About how many pairs there are on a curve.
    pub(super) fn near(&self, curve: &Curve) -> f64 {
        self.points.less(&curve.frames()).pairs_within(1.2 * self.reach(SCALES[2]))
    }

    /// The last curve and its standard errors, for each axis and frame.
    ///
    /// `whole` are the localizations before blinks were merged.
    pub(super) fn fine(&self, curve: Curve, whole: &Points) -> Fine {
        let all = [1, u32::MAX];
        let most = self.knots.unwrap_or(FINE).min(self.most_bins()).max(2);
        let mut curve = curve.again(MIDDLE.min(most));
        self.steps(&mut curve, 1.0, all, 4);
        for _ in 0..STRAYS {
            if curve.priors.is_empty() || curve.freedom < SMOOTH * curve.bins.count as f64 {
                break;
            }
            if !self.put_back(&mut curve, None) {
                break;
            }
            self.steps(&mut curve, 1.0, all, 4);
        }
        let coarse = curve.bins;
        if curve.priors.is_empty() {
            // Nothing is near anything.
            let errors = vec![Vec::new(); curve.values.len()];
            return Fine { values: curve.frames(), errors, slow: None };
        }
        let faster = self.faster(&curve);
        let quick = faster.is_some();
        let slow = quick.then(|| curve.frames());
        let smooth = !quick && curve.freedom < SMOOTH * coarse.count as f64;
        let mut curve = match faster {
            Some(faster) => faster,
            None if smooth => {
                curve.again(if self.knots.is_some() { most } else { most.min(2 * MIDDLE) })
            }
            None => {
                let mut curve = self.sharper(whole, curve, most.min(4 * MIDDLE));
                self.steps(&mut curve, 1.0, all, 2);
                if self.put_back(&mut curve, Some(ENDS)) {
                    self.steps(&mut curve, 1.0, all, 2);
                }
                self.sharper(whole, curve, most)
            }
        };
        let reach = self.reach(1.0);
        let wanted =
            Wanted { reach: 1.2 * reach, lags: all, most: MOST_PAIRS, near: None, each: quick };
        let mut listed = None;
        let mut moved = 0.0;
        let mut sums = None;
        for round in 0..4 {
            let frames = curve.frames();
            if moved > 0.1 * reach {
                listed = None;
            }
            let pairs = listed.get_or_insert_with(|| {
                moved = 0.0;
                Pairs::list(self.points, curve.bins, &frames, &wanted)
            });
            let found = pairs.shared(curve.bins, coarse, &frames, reach);
            let longest = self.step_finely(&mut curve, &found, smooth);
            moved += longest;
            sums = Some(found);
            if round > 0 && longest < NEGLIGIBLE * self.points.precision() {
                break;
            }
        }
        let mut frames = curve.frames();
        let mut errors = match (listed, sums) {
            (Some(pairs), Some(sums)) => self.errors(&curve, &sums, &pairs, &frames, coarse),
            _ => vec![Vec::new(); frames.len()],
        };
        if !smooth {
            sharpen(self, whole, &curve, &mut frames, &mut errors);
        }
        if self.knots.is_some() && curve.bins.count > most {
            let bins = Bins { count: most, span: self.span };
            frames.iter_mut().zip(&mut errors).for_each(|(of, error)| blunt(bins, of, error));
        }
        Fine { values: frames, errors, slow }
    }

    /// Puts bins that lie elsewhere where they belong, of all or of so many at both ends; whether there are any.
    fn put_back(&self, curve: &mut Curve, ends: Option<usize>) -> bool {
        let share = curve.shares.iter().sum::<f64>() / curve.shares.len() as f64;
        let count = curve.bins.count;
        let wanted = |bin: usize| ends.is_none_or(|ends| bin.min(count - 1 - bin) < ends);
        let looked_at: Vec<usize> = (0..count).filter(|&bin| wanted(bin)).collect();
        let found = strays(self.points, &curve.frames(), curve.bins, &looked_at, self.range, share);
        for &(bin, off) in &found {
            curve.values[0][bin] += off[0];
            curve.values[1][bin] += off[1];
        }
        !found.is_empty()
    }

    /// The curve in finer bins, with its jumps as sharp as can be.
    fn sharper(&self, whole: &Points, curve: Curve, count: usize) -> Curve {
        let mut frames = curve.frames();
        let mut finer = curve.again(count);
        if sharpen(self, whole, &curve, &mut frames, &mut vec![Vec::new(); curve.values.len()]) {
            let frame = |bin: usize| finer.bins.middle(bin).round().max(0.0) as usize;
            let values = |of: &Vec<f64>| (0..count).map(|bin| of[frame(bin)]).collect();
            finer.values = frames.iter().map(values).collect();
        }
        finer
    }

    fn step_finely(&self, curve: &mut Curve, found: &Shared, smooth: bool) -> f64 {
        let most = 0.3 * self.reach(1.0);
        let change = |axis: usize| {
            let own = Axis::new(&found.own, axis, &curve.values[axis])?;
            let tied = |of: &[f64]| found.tied(axis, of);
            own.finely(&curve.priors[axis], curve.shares[axis], smooth, tied)
        };
        let changes = of_each(self.points.axes(), &change);
        let mut longest = 0f64;
        for (axis, change) in changes.into_iter().enumerate() {
            let Some((prior, change)) = change else { continue };
            curve.priors[axis] = prior;
            for (value, change) in curve.values[axis].iter_mut().zip(change) {
                longest = longest.max(change.abs());
                *value += change.clamp(-most, most);
            }
        }
        longest
    }

    /// Standard errors: those of a curve in fewer bins, with what is local in the finer ones.
    fn errors(
        &self,
        curve: &Curve,
        found: &Shared,
        pairs: &Pairs,
        frames: &[Vec<f64>],
        coarse: Bins,
    ) -> Vec<Vec<f64>> {
        let parts = pairs.parts(coarse, frames, self.reach(1.0));
        let errors_along = |axis: usize| {
            let fine = Axis::new(&found.own, axis, &curve.values[axis]);
            let values = curve.bins.again(&curve.values[axis], coarse);
            let merged = Axis::new(&found.ties, axis, &values);
            let (Some(fine), Some(merged)) = (fine, merged) else { return Vec::new() };
            let prior = fine.doubted(&curve.priors[axis], curve.shares[axis]);
            let within = fine.band(&prior, curve.shares[axis]).map(|band| band.inverse());
            let between = prior.between();
            let prior = prior.finer(coarse.count);
            let errors = merged.errors(&prior, curve.shares[axis], &parts[axis]);
            let near = merged.band(&prior, curve.shares[axis]).map(|band| band.inverse());
            let (Some(near), Some(within)) = (near, within) else { return Vec::new() };
            let near: Vec<f64> = near.iter().map(|row| row[0]).collect();
            let errors = errors.unwrap_or_else(|| near.clone());
            let own = within.iter().zip(between).map(|(row, between)| row[0] + between);
            let within: Vec<f64> = own.collect();
            let error = |frame: u32| {
                let frame = f64::from(frame);
                let own = coarse.value(&errors, frame).max(0.0);
                let local = curve.bins.value(&within, frame) - coarse.value(&near, frame);
                (own + local).max(0.25 * own).sqrt()
            };
            (0..self.span).map(error).collect()
        };
        of_each(self.points.axes(), &errors_along)
    }
}

/// The drift of all frames in fewer bins, as asked for; what it does there beside the curve adds to its error.
fn blunt(bins: Bins, drift: &mut [f64], errors: &mut [f64]) {
    let means = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let mut sums = vec![(0.0, 0.0); bins.count];
        for frame in 0..drift.len() {
            let (sum, count) = &mut sums[bins.of(frame as u32)];
            (*sum, *count) = (*sum + of(frame), *count + 1.0);
        }
        sums.into_iter().map(|(sum, count)| sum / f64::max(count, 1.0)).collect()
    };
    let lines = bins.values(&means(&|frame| drift[frame]));
    let beside = bins.values(&means(&|frame| (drift[frame] - lines[frame]).powi(2)));
    drift.copy_from_slice(&lines);
    for (error, beside) in errors.iter_mut().zip(beside) {
        *error = error.hypot(beside.max(0.0).sqrt());
    }
}

/// Squares of pulls of parts of the field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Varies {
    sum: f64,
    squares: f64,
}

impl Varies {
    pub(super) fn add(&mut self, square: f64) {
        self.sum += square;
        self.squares += square * square;
    }

    /// Their sum. All pulls together vanish on the curve, so that of n alike one is no news: n/(n − 1) as much.
    pub(super) fn sum(&self) -> f64 {
        let alike = self.sum * self.sum / self.squares.max(f64::MIN_POSITIVE);
        self.sum * alike / (alike - 1.0).max(0.5)
    }
}

/// One axis of what pairs say at a curve.
pub(super) struct Axis<'a> {
    pub(super) count: usize,
    /// Nothing where each bin is looked at alone.
    bend: &'a [f32],
    pub(super) degree: &'a [f64],
    pull: &'a [f64],
    values: &'a [f64],
    /// The least weight of a bin.
    least: f64,
}

/// The least variance of the whole way that is tried, in units of the precision.
const LOWEST: f64 = 1e-5;
/// From one to the next.
const FACTOR: f64 = 6.0;
/// Degrees of freedom of the distribution of steps.
const FREEDOM: f64 = 3.0;
const HEAVY_ROUNDS: usize = 12;

impl<'a> Axis<'a> {
    pub(super) fn new(sums: &'a Sums, axis: usize, values: &'a [f64]) -> Option<Self> {
        let degree = &sums.degree[axis];
        let mean = degree.iter().sum::<f64>() / degree.len() as f64;
        (mean > 0.0).then_some(Self {
            count: sums.count,
            bend: &sums.bend[axis],
            degree,
            pull: &sums.pull[axis],
            values,
            least: 1e-3 * mean,
        })
    }

    fn is_alone(&self) -> bool {
        self.bend.is_empty()
    }

    pub(super) fn mean(&self) -> f64 {
        self.degree.iter().sum::<f64>() / self.count as f64
    }

    /// c·H + P, with a weight for the mean, which is free.
    fn dense(&self, prior: &Prior, share: f64) -> Option<Cholesky> {
        let count = self.count;
        let fixed = share * self.mean() / count as f64;
        let mut matrix: Vec<f64> =
            self.bend.iter().map(|&bend| fixed - share * f64::from(bend)).collect();
        let mut band = Band::new(self.degree.iter().map(|degree| share * degree));
        prior.add_to(&mut band);
        for (k, row) in band.rows.iter().enumerate() {
            for (far, value) in row.iter().enumerate().take(count - k) {
                matrix[k * count + k + far] += value;
                if far > 0 {
                    matrix[(k + far) * count + k] += value;
                }
            }
        }
        Cholesky::new(matrix, count)
    }

    /// c·H + P without the ties between bins.
    pub(super) fn band(&self, prior: &Prior, share: f64) -> Option<BandFactor> {
        let mut band = Band::new(self.degree.iter().map(|degree| share * degree.max(self.least)));
        prior.add_to(&mut band);
        band.factor()
    }

    /// What is left to pull, c·g − P·d.
    fn rest(&self, prior: &Prior, share: f64) -> Vec<f64> {
        let force = prior.force(self.values);
        self.pull.iter().zip(force).map(|(pull, force)| share * pull - force).collect()
    }

    /// The logarithm of the marginal likelihood of a prior, and the step that it makes.
    pub(super) fn evidence(&self, prior: &Prior, share: f64) -> Option<(f64, Vec<f64>)> {
        let rest = self.rest(prior, share);
        let mut change = rest.clone();
        let log_determinant = if self.is_alone() {
            let matrix = self.band(prior, share)?;
            matrix.solve(&mut change);
            matrix.log_determinant()
        } else {
            let matrix = self.dense(prior, share)?;
            matrix.solve(&mut change);
            matrix.log_determinant()
        };
        let gained: f64 = rest.iter().zip(&change).map(|(a, b)| a * b).sum();
        let force = prior.force(self.values);
        let against: f64 = force.iter().zip(self.values).map(|(a, b)| a * b).sum();
        let volume = prior.log_determinant() - log_determinant;
        Some((0.5 * (volume - against + gained), change))
    }

    /// The smoothness that the data ask for, and the step.
    fn choose(
        &self,
        parts: &[f64],
        before: Option<([&Prior; 2], f64)>,
        slope: f64,
        scored: bool,
    ) -> Option<Chosen> {
        let squares: f64 = parts.iter().map(|part| part * part).sum();
        let mut share = self.degree.iter().sum::<f64>() / squares.max(f64::MIN_POSITIVE);
        let first = |order: usize| {
            let power = if order == 1 { 1 } else { 3 };
            let variance = 1.0 / (self.count as f64).powi(power);
            Prior::new(order, variance, self.count, slope)
        };
        let begin = match before {
            Some((priors, known)) => {
                share = known;
                priors.map(Prior::clone)
            }
            None => {
                let (a, b) = (self.climb(&first(1), share)?, self.climb(&first(2), share)?);
                let begin = if a.1 > b.1 { [a.0, b.0] } else { [b.0, a.0] };
                share = self.share(&begin[0], share, parts).map_or(share, |(share, _)| share);
                begin
            }
        };
        let [a, b] = begin.map(|prior| self.climb(&prior, share));
        let (best, other) = match (a, b) {
            (Some(a), Some(b)) if a.1 >= b.1 => (a, b.0),
            (Some(a), Some(b)) => (b, a.0),
            (Some(one), None) | (None, Some(one)) => {
                let other = one.0.clone();
                (one, other)
            }
            (None, None) => return None,
        };
        let (prior, evidence, change) = best;
        let evidence = match scored {
            true => [&prior, &other]
                .into_iter()
                .filter_map(|prior| self.heavy(prior, share))
                .fold(evidence, f64::max),
            false => evidence,
        };
        let (share, freedom) = self.share(&prior, share, parts).unwrap_or((share, 0.0));
        Some(Chosen { prior, other, share, change, evidence, freedom })
    }

    /// The most likely variance from one on, the logarithm of its marginal likelihood, and the step.
    pub(super) fn climb(&self, from: &Prior, share: f64) -> Option<(Prior, f64, Vec<f64>)> {
        let with = |factor: f64| {
            let mut prior = from.clone();
            prior.variance *= factor;
            let (value, change) = self.evidence(&prior, share)?;
            Some((factor, value, change))
        };
        let power = if from.order == 1 { 1 } else { 3 };
        let (whole, lowest) = match self.is_alone() {
            true => (from.variance, self.stiffest(share)),
            false => (from.variance * (self.count as f64).powi(power), LOWEST),
        };
        // No more than the range of the drift.
        let highest = from.slope * (self.count as f64).powi(2);
        let allowed = |factor: f64| (lowest..highest).contains(&(factor * whole));
        let mut middle = with(1.0).or_else(|| with(100.0)).or_else(|| with(0.01))?;
        let mut low = with(middle.0 / FACTOR);
        let mut high = with(middle.0 * FACTOR);
        loop {
            if let Some(found) = high.take_if(|high| high.1 > middle.1) {
                low = Some(std::mem::replace(&mut middle, found));
                high = allowed(middle.0).then(|| with(middle.0 * FACTOR)).flatten();
            } else if let Some(found) = low.take_if(|low| low.1 > middle.1) {
                high = Some(std::mem::replace(&mut middle, found));
                low = allowed(middle.0).then(|| with(middle.0 / FACTOR)).flatten();
            } else {
                break;
            }
        }
        // The top of the parabola through the three.
        if let (Some(low), Some(high)) = (&low, &high) {
            let bend = low.1 - 2.0 * middle.1 + high.1;
            let off = (0.5 * (low.1 - high.1) / bend).clamp(-0.5, 0.5);
            if bend < 0.0 && off.abs() > 0.1 {
                let top = with(middle.0 * FACTOR.powf(off)).filter(|top| top.1 > middle.1);
                middle = top.unwrap_or(middle);
            }
        }
        let mut prior = from.clone();
        prior.variance *= middle.0;
        Some((prior, middle.1, middle.2))
    }

    /// What makes a log-likelihood of the sum over pairs: their curvature over how much their pull varies. And how many
    /// parameters the data tell.
    pub(super) fn share(&self, prior: &Prior, share: f64, parts: &[f64]) -> Option<(f64, f64)> {
        if self.is_alone() {
            return self.share_alone(prior, share, parts);
        }
        let inverse = self.dense(prior, share)?.inverse();
        let count = self.count;
        let mut bend = 0.0;
        for (k, row) in inverse.chunks(count).enumerate() {
            bend += row[k] * self.degree[k];
            let ties = row.iter().zip(&self.bend[k * count..]);
            bend -= ties.map(|(a, b)| a * f64::from(*b)).sum::<f64>();
        }
        let mut varies = Varies::default();
        for part in parts.chunks(count).filter(|part| part.iter().any(|value| *value != 0.0)) {
            let mut own = 0.0;
            for (row, value) in inverse.chunks(count).zip(part).filter(|(_, value)| **value != 0.0)
            {
                own += value * row.iter().zip(part).map(|(a, b)| a * b).sum::<f64>();
            }
            varies.add(own);
        }
        let varies = varies.sum();
        (bend > 0.0 && varies > 0.0).then_some((bend / varies, share * bend))
    }

    /// The same for the errors of the curve, of which those that are told least are the largest.
    fn share_of_errors(&self, inverse: &[f64], parts: &[f64]) -> Option<f64> {
        let count = self.count;
        let product = |vector: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(
                inverse
                    .chunks(count)
                    .map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>()),
            );
        };
        let mut out = Vec::new();
        let (mut bend, mut varies) = (0.0, Varies::default());
        for k in 0..count {
            // H·A⁻¹, column by column.
            let column = &inverse[k * count..][..count];
            let tied = |row: usize| -> f64 {
                let ties = self.bend[row * count..][..count].iter().zip(column);
                let ties: f64 = ties.map(|(a, b)| f64::from(*a) * b).sum();
                self.degree[row] * column[row] - ties
            };
            bend += (0..count).map(|row| column[row] * tied(row)).sum::<f64>();
        }
        for part in parts.chunks(count).filter(|part| part.iter().any(|value| *value != 0.0)) {
            product(part, &mut out);
            varies.add(out.iter().map(|value| value * value).sum::<f64>());
        }
        let varies = varies.sum();
        (bend > 0.0 && varies > 0.0).then_some(bend / varies)
    }

    /// The logarithm of the marginal likelihood over the likelihood where steps are not normally distributed: a few may be
    /// large.
    fn heavy(&self, prior: &Prior, share: f64) -> Option<f64> {
        let mut prior = prior.clone();
        for _ in 0..HEAVY_ROUNDS {
            let matrix = self.dense(&prior, share)?;
            let mut change = self.rest(&prior, share);
            matrix.solve(&mut change);
            let curve: Vec<f64> =
                self.values.iter().zip(&change).map(|(value, change)| value + change).collect();
            let inverse = matrix.inverse();
            let covariance: Vec<[f64; 3]> = (0..self.count)
                .map(|k| {
                    let row = &inverse[k * self.count..][..self.count];
                    [0, 1, 2].map(|far| row.get(k + far).copied().unwrap_or(0.0))
                })
                .collect();
            prior.heed(&prior.squares(&curve, &covariance), FREEDOM);
        }
        let matrix = self.dense(&prior, share)?;
        let rest = self.rest(&prior, share);
        let mut change = rest.clone();
        matrix.solve(&mut change);
        let curve: Vec<f64> =
            self.values.iter().zip(&change).map(|(value, change)| value + change).collect();
        // The likelihood at the top, from that at the curve.
        let mut image = prior.force(&change);
        image.iter_mut().zip(&rest).for_each(|(image, rest)| *image = rest - *image);
        let bend: f64 = image.iter().zip(&change).map(|(a, b)| a * b).sum();
        let pull: f64 = self.pull.iter().zip(&change).map(|(a, b)| share * a * b).sum();
        let gained = pull - 0.5 * bend;
        Some(gained + prior.heavy(&curve, FREEDOM) - 0.5 * matrix.log_determinant())
    }

    /// A step in many bins, with steps of the curve that are not normally distributed if some stand out.
    fn finely(
        &self,
        prior: &Prior,
        share: f64,
        smooth: bool,
        tied: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Option<(Prior, Vec<f64>)> {
        let mut prior = prior.clone();
        let step = |prior: &Prior| {
            let band = self.band(prior, share)?;
            let fixed = share * 1e-9 * self.mean();
            let own = prior.clone();
            let product = |of: &[f64]| {
                let mut out = own.force(of);
                for (k, (out, tied)) in out.iter_mut().zip(tied(of)).enumerate() {
                    *out += (share * self.degree[k] + fixed) * of[k] - share * tied;
                }
                out
            };
            let change = descend(product, &band, &self.rest(prior, share), 40);
            Some((band, change))
        };
        let gaussian = prior.clone();
        let mut found = step(&prior)?;
        if smooth {
            return Some((prior, found.1));
        }
        for _ in 0..20 {
            let curve: Vec<f64> =
                self.values.iter().zip(&found.1).map(|(value, change)| value + change).collect();
            let squares = prior.squares(&curve, &found.0.inverse());
            let before = prior.variance;
            prior.heed(&squares, FREEDOM);
            let settled = (prior.variance / before).ln().abs() < 0.01;
            found = step(&prior)?;
            if settled {
                break;
            }
        }
        if prior.own.iter().all(|own| *own < OUTSTANDING) {
            prior = gaussian;
            found = step(&prior)?;
        }
        Some((prior, found.1))
    }

    /// The prior that errors are stated with. No data prove that nothing moves: the variance is at least that of the steepest line
    /// that they would not show.
    fn doubted(&self, prior: &Prior, share: f64) -> Prior {
        let mut prior = prior.clone();
        if prior.order == 1 {
            let line = 12.0 / (share * self.degree.iter().sum::<f64>());
            prior.variance = prior.variance.max(line / self.count as f64);
        }
        prior
    }

    /// The variance of the curve in each bin, its mean aside, and corrected for pulls that vary more than the curvature says.
    fn errors(&self, prior: &Prior, share: f64, parts: &[f64]) -> Option<Vec<f64>> {
        let count = self.count;
        let inverse = self.dense(prior, share)?.inverse();
        let share = self.share_of_errors(&inverse, parts).unwrap_or(share);
        let inverse = self.dense(prior, share)?.inverse();
        let means: Vec<f64> =
            inverse.chunks(count).map(|row| row.iter().sum::<f64>() / count as f64).collect();
        let mean = means.iter().sum::<f64>() / count as f64;
        Some((0..count).map(|k| inverse[k * count + k] - 2.0 * means[k] + mean).collect())
    }
}

/// A step whose variance is so many times that of the others is no chance.
const OUTSTANDING: f64 = 12.0;
