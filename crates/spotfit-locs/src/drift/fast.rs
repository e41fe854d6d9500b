//! Motion that is too fast for the bins of a curve.
//!
//! Within a bin, what shakes to and fro has no mean, and a curve that knows only means looks smooth and certain. So the localizations are
//! also looked at in bins as short as they allow, each of which is compared with all others while those stay: a random walk, or a smooth
//! curve, of any stiffness is likelier than the slow curve, or it is not. Without ties between bins the matrices are banded, and thousands
//! of bins cost little. Where there is fast motion it is followed from afar (what is to be compared with is blurred by it at first), at
//! smaller and smaller scales.

use super::pairs::{CELLS, DAMPING, Pairs, Wanted};
use super::prior::Prior;
use super::refine::{Axis, Chosen, Curve, MOST_PAIRS, NEGLIGIBLE, Search, Varies};
use crate::parallel::of_each;
use spotfit_files::private::sort_by;

/// The most bins.
const FINEST: usize = 1 << 16;
/// The variance of steps between them from which it is also looked for, in units of the square of the precision.
const QUICK: f64 = 0.01;
/// The least variance that is tried, in units of the error of a bin: matrices would lose their digits.
const STIFFEST: f64 = 1e-11;
/// By so much the logarithm of the likelihood grows at least.
const LEAST_GAIN: f64 = 10.0;
/// The scales at which it is looked for, and of the steps, with how many there are.
const LOOKED_AT: [f64; 2] = [2.0, 1.0];
const STEPS: [(f64, usize); 3] = [(4.0, 3), (2.0, 2), (1.0, 3)];
/// Half of Newton's way where the others are blurred.
const BLURRED: f64 = 0.3;
/// So many parameters of a curve tell how much pulls vary.
const ENOUGH: f64 = 100.0;
/// Pulls that are kept: those of parts of the field in all bins.
const PULLS: usize = 1 << 21;

impl Search<'_> {
    /// The curve with its fast motion, if there is some.
    pub(super) fn faster(&self, curve: &Curve) -> Option<Curve> {
        let mut found = curve.again(self.most_bins().min(FINEST));
        self.looked_for(&mut found)?;
        for (scale, steps) in STEPS {
            self.follow(&mut found, scale, steps)?;
        }
        Some(found)
    }

    fn listed(&self, curve: &Curve, frames: &[Vec<f64>], scale: f64, most: f64) -> Pairs {
        let reach = 1.2 * self.reach(scale);
        let wanted = Wanted { reach, lags: [1, u32::MAX], most, near: None, each: true };
        Pairs::list(self.points, curve.bins, frames, &wanted)
    }

    /// How rough a curve is beside a smooth one, if it is likelier.
    fn looked_for(&self, curve: &mut Curve) -> Option<()> {
        let (count, frames) = (curve.bins.count, curve.frames());
        let pairs = self.listed(curve, &frames, LOOKED_AT[0], 0.5 * MOST_PAIRS);
        let still = vec![0.0; count];
        let quick = Prior::new(1, QUICK, count, 1.0);
        let look = |scale: f64| {
            let reach = self.reach(scale);
            let (sums, parts) = pairs.alone(curve.bins, &frames, reach, BLURRED, cells(count));
            let own: Option<Vec<_>> =
                (0..parts.len()).map(|axis| Axis::new(&sums, axis, &still)).collect();
            let own = own?;
            let mut gained = 0.0;
            let mut all = Vec::new();
            for (axis, (own, parts)) in own.iter().zip(&parts).enumerate() {
                let before = [&curve.priors[axis], &curve.others[axis]];
                let (share, _) = own.share(&quick, curve.shares[axis], parts)?;
                let chosen = own.choose_alone(before, share)?;
                let same = before.into_iter().find(|prior| prior.order == chosen.prior.order);
                if same.is_none_or(|prior| prior.variance < chosen.prior.variance) {
                    gained += chosen.evidence;
                }
                all.push(chosen);
            }
            agree(&mut all, &own);
            (gained > LEAST_GAIN).then_some((gained, all))
        };
        let found = LOOKED_AT.into_iter().filter_map(look);
        let (_, best) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
        for (axis, chosen) in best.into_iter().enumerate() {
            (curve.priors[axis], curve.others[axis]) = (chosen.prior, chosen.other);
            curve.shares[axis] = chosen.share;
        }
        Some(())
    }

    /// Steps at one scale.
    fn follow(&self, curve: &mut Curve, scale: f64, steps: usize) -> Option<()> {
        let reach = self.reach(scale);
        let damping = if scale > 1.0 { BLURRED } else { DAMPING };
        let (mut pairs, mut moved) = (None, 0.0);
        for step in 0..steps {
            let frames = curve.frames();
            if moved > 0.1 * reach {
                pairs = None;
            }
            let pairs = pairs.get_or_insert_with(|| {
                moved = 0.0;
                self.listed(curve, &frames, scale, MOST_PAIRS)
            });
            let cells = cells(curve.bins.count);
            let (sums, parts) = pairs.alone(curve.bins, &frames, reach, damping, cells);
            let axes = 0..self.points.axes();
            let own: Option<Vec<_>> =
                axes.map(|axis| Axis::new(&sums, axis, &curve.values[axis])).collect();
            let own = own?;
            let choose = |axis: usize| {
                let before = [&curve.priors[axis], &curve.others[axis]];
                let share = curve.shares[axis];
                let share = match step == 1 {
                    true => share,
                    false => own[axis].calibrated(before[0], share, &parts[axis])?,
                };
                own[axis].choose_alone(before, share)
            };
            let chosen: Option<Vec<Chosen>> = of_each(own.len(), &choose).into_iter().collect();
            let mut chosen = chosen?;
            agree(&mut chosen, &own);
            let longest = curve.follow(chosen, 0.3 * reach);
            moved += longest;
            if longest < NEGLIGIBLE * self.points.precision() * scale {
                break;
            }
        }
        Some(())
    }
}

/// Parts of the field, fewer where there are many bins.
fn cells(count: usize) -> usize {
    (PULLS / count).clamp(CELLS / 8, CELLS)
}

/// What is rough along x or y is rough along both, unless the localizations tell that one of them is smoother.
fn agree(chosen: &mut [Chosen], axes: &[Axis<'_>]) {
    let told = [0, 1].map(|axis| axes[axis].told(&chosen[axis].prior, chosen[axis].share));
    let (slow, fast) = if told[0] < told[1] { (0, 1) } else { (1, 0) };
    let evidence = |of: usize| axes[slow].evidence(&chosen[of].prior, chosen[slow].share);
    let (Some((smooth, _)), Some((rough, change))) = (evidence(slow), evidence(fast)) else {
        return;
    };
    if smooth - rough < LEAST_GAIN {
        let (prior, other) = (chosen[fast].prior.clone(), chosen[fast].other.clone());
        chosen[slow] = Chosen { prior, other, change, ..chosen[slow].clone() };
    }
}

impl Axis<'_> {
    /// How many parameters of a curve the data tell.
    fn told(&self, prior: &Prior, share: f64) -> f64 {
        let told = self.band(prior, share).map(|band| band.inverse()).unwrap_or_default();
        told.iter().zip(self.degree).map(|(row, degree)| share * degree * row[0]).sum()
    }

    /// The least variance of steps that is tried.
    pub(super) fn stiffest(&self, share: f64) -> f64 {
        STIFFEST / (share * self.mean())
    }

    /// How smooth the curve is, and how much likelier that is than as smooth as before.
    fn choose_alone(&self, before: [&Prior; 2], share: f64) -> Option<Chosen> {
        let with = |prior: &Prior, least: f64| {
            let mut prior = prior.clone();
            prior.variance = prior.variance.max(least);
            prior
        };
        let before = before.map(|prior| with(prior, self.stiffest(share)));
        let known = before.iter().filter_map(|prior| self.evidence(prior, share));
        let known = known.map(|found| found.0).reduce(f64::max)?;
        let best = |prior: &Prior| {
            // There may be two tops: of what is slow, and of what is fast.
            let quick = with(prior, QUICK);
            let tops = [prior, &quick].into_iter().filter_map(|from| self.climb(from, share));
            tops.max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let mut found: Vec<_> = before.iter().filter_map(best).collect();
        sort_by(&mut found, |a, b| b.1.total_cmp(&a.1));
        let mut found = found.into_iter();
        let (prior, evidence, change) = found.next()?;
        let other = found.next().map_or_else(|| prior.clone(), |found| found.0);
        Some(Chosen { prior, other, share, change, evidence: evidence - known, freedom: 0.0 })
    }

    /// What makes a log-likelihood of the sum over pairs, from a curve that is rough enough to tell.
    fn calibrated(&self, prior: &Prior, share: f64, parts: &[f64]) -> Option<f64> {
        let quick = Prior::new(1, QUICK, self.count, 1.0);
        let rough = self.told(prior, share) > ENOUGH;
        Some(self.share(if rough { prior } else { &quick }, share, parts)?.0)
    }

    /// [`Axis::share`] where nothing is known of the ties between bins.
    pub(super) fn share_alone(
        &self,
        prior: &Prior,
        share: f64,
        parts: &[f64],
    ) -> Option<(f64, f64)> {
        let matrix = self.band(prior, share)?;
        let told = matrix.inverse().into_iter().zip(self.degree);
        let bend: f64 = told.map(|(row, degree)| row[0] * degree).sum();
        let square = |part: usize| {
            let part = &parts[part * self.count..][..self.count];
            let mut turned = part.to_vec();
            matrix.solve(&mut turned);
            turned.iter().zip(part).map(|(a, b)| a * b).sum::<f64>()
        };
        let squares = of_each(parts.len() / self.count, &square);
        let mut varies = Varies::default();
        squares.into_iter().filter(|square| *square > 0.0).for_each(|square| varies.add(square));
        let varies = varies.sum();
        (bend > 0.0 && varies > 0.0).then_some((bend / varies, share * bend))
    }
}
