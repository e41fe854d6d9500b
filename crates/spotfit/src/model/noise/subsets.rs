//! Other places where robust fits may begin: what parts of the points say.
//!
//! Reweighting goes down into the nearest minimum. Where many points are outliers, that of few good points and some outliers that
//! happen to agree may be nearer than that of all good points. A part of the points is now and then a good one, so that its fit begins
//! near the right minimum: the sampling of least median of squares (Rousseeuw 1984) and fast S-estimates (Salibian-Barrera and Yohai
//! 2006), for parts that are large enough for models that are not linear.

use std::ops::Range;

use fit_core::Status;
use fit_curves::{CurveFits, Linear};
use ndarray::{Array2, ArrayView1, Axis};
use spotfit_files::private::sort_by;

use super::loss::Loss;
use super::robust::Robust;
use super::rounds::{Phase, Scheme, Seen, State, Task, take};
use super::scales::{half_scale, lower_scale, reach, spread};
use crate::model::ModelError;
use crate::model::copies::{Copies, options_of};

/// A fit is looked at again if more than this share of the points are farther away than so many scales: of Gaussian noise 0.0005 are.
const DOUBTFUL: (f64, f64) = (0.01, 3.5);
/// Parts of the points that are tried: the first few, and all where one of these leads elsewhere.
const FEW: usize = 8;
const PARTS: usize = 32;
/// How often each is fitted again without what lies far from it, and how exactly.
const ROUNDS: u32 = 2;
const TOLERANCE: f64 = 0.03;
const ITERATIONS: u32 = 30;
/// The best of them are fitted to their end.
const BEST: usize = 3;
/// Losses that differ by less than this factor are alike before they are fitted to their end, and what has more than the other factor times
/// the least is not fitted to its end.
const ALIKE: f64 = 1.01;
const FARTHEST: f64 = 1.3;
/// Losses that differ by less are the same.
const SAME: f64 = 1e-6;
const NEARER: f64 = 0.5;
/// The most values that are fitted at a time.
const CHUNK: usize = 1 << 21;

/// Replaces fits that other places to begin with lead to a lower loss.
pub(super) fn search(
    robust: &Robust,
    task: &Task<'_>,
    fits: &mut CurveFits,
    start: Option<&Array2<f64>>,
    states: &mut [State],
    weights: &mut Array2<f64>,
) -> Result<(), ModelError> {
    // What is linear in all has one minimum of absolute deviations, from which it began.
    let linear = task.model.as_formula().linear();
    if linear.iter().zip(&task.options.fixed).all(|(linear, fixed)| *linear || *fixed) {
        return Ok(());
    }
    let known = task.fitter.double().map(fits.len(), |fit| is_doubtful(task, fits, fit, states));
    let doubtful: Vec<usize> = (0..fits.len()).filter(|&fit| known[fit]).collect();
    let each = (CHUNK / (PARTS * task.curves.points()).max(1)).max(1);
    for group in doubtful.chunks(each) {
        let mut begun = begin(task, fits, start, group, 0..FEW)?;
        let mut more: Vec<usize> = begun.iter().map(|begun| begun.0).collect();
        more.dedup();
        begun.extend(begin(task, fits, start, &more, FEW..PARTS)?);
        end(robust, task, fits, start, (states, weights), &begun)?;
    }
    Ok(())
}

fn is_doubtful(task: &Task<'_>, fits: &CurveFits, fit: usize, states: &[State]) -> bool {
    if fits.statuses[fit] == Status::Invalid {
        return false;
    }
    let seen = task.see(fit, fits.parameters.row(fit).to_vec());
    let used = seen.weights.iter().filter(|weight| **weight > 0.0).count();
    if used <= seen.free + 1 {
        return false;
    }
    let Some(residuals) = seen.residuals(task) else { return true };
    let far = residuals.iter().filter(|left| left.abs() > DOUBTFUL.1 * states[fit].scale).count();
    far as f64 > DOUBTFUL.0 * used as f64 || !fits.is_found(fit)
}

/// A number of a fit, and where it may begin.
type Begun = (usize, Vec<f64>);

/// The best places to begin at.
fn begin(
    task: &Task<'_>,
    fits: &CurveFits,
    start: Option<&Array2<f64>>,
    group: &[usize],
    tried: Range<usize>,
) -> Result<Vec<Begun>, ModelError> {
    if group.is_empty() {
        return Ok(Vec::new());
    }
    let each = tried.len();
    let rows: Vec<usize> = group.iter().flat_map(|&fit| vec![fit; each]).collect();
    let copies = Copies::of(&task.curves, task.model.variables().len(), &rows);
    let options = options_of(task.options, &rows)
        .with_covariance(false)
        .with_tolerance(TOLERANCE)
        .with_max_iterations(ITERATIONS.min(task.options.max_iterations))
        .with_linear(Linear::Eliminated);
    let mut from = Array2::zeros((rows.len(), options.parameters()));
    let mut parts = Array2::zeros((rows.len(), task.curves.points()));
    for (row, &fit) in rows.iter().enumerate() {
        let begin = match start {
            Some(start) if row % 2 == 0 => start.row(fit),
            _ => fits.parameters.row(fit),
        };
        for (j, (to, value)) in from.row_mut(row).iter_mut().zip(begin).enumerate() {
            let [low, high] = options.limit(row, j);
            *to = if options.fixed[j] { *value } else { value.clamp(low, high) };
        }
        let seen = task.see(fit, Vec::new());
        let part = part(&seen, tried.start + row % each);
        parts.row_mut(row).iter_mut().zip(part).for_each(|(to, weight)| *to = weight);
    }
    let curves = copies.curves();
    let weighted = copies.curves().with_weights(parts.view());
    let from = from.view().into();
    let mut found = task.model.fit_with(task.fitter, &weighted, from, &options)?.fits;
    let own = Task::new(task.model, task.fitter, &curves, &options);
    let mut states = vec![State { scale: f64::INFINITY, ..State::default() }; rows.len()];
    own.rounds(&Trimmed, &mut found, &mut states)?;
    let left = task
        .fitter
        .double()
        .map(rows.len(), |row| own.see(row, found.parameters.row(row).to_vec()).sized(&own));
    let now = task.fitter.double().map(group.len(), |at| {
        task.see(group[at], fits.parameters.row(group[at]).to_vec()).sized(task)
    });
    let mut begun = Vec::new();
    for (at, &fit) in group.iter().enumerate() {
        let range = at * each..(at + 1) * each;
        let all = left[range.clone()].iter().chain([&now[at]]).flatten();
        let scale = all.fold(f64::INFINITY, |least, sized| least.min(sized.half));
        let cost = |sized: &Option<Sized>| match sized {
            Some(sized) => sized.residuals.iter().map(|left| Loss::Tukey.cost(left / scale)).sum(),
            None => f64::INFINITY,
        };
        let mut order: Vec<(f64, usize)> = range.map(|row| (cost(&left[row]), row)).collect();
        sort_by(&mut order, |a, b| a.0.total_cmp(&b.0));
        // Of those that end equally near to the data, such as a step seen from its other end, that which is nearest to where it began.
        let first = start.unwrap_or(&fits.parameters).row(fit);
        let away = |row: usize| away(first, found.parameters.row(row));
        let here = cost(&now[at]);
        let most = order[0].0.min(here) * FARTHEST;
        let mut rest = &order[..];
        let (mut count, mut last) = (0, here);
        while let Some(&(least, _)) = rest.first().filter(|(cost, _)| *cost <= most) {
            let same = rest.iter().take_while(|(cost, _)| *cost <= least * ALIKE).count();
            let is_other = |than: f64| !(than / ALIKE..=than * ALIKE).contains(&least);
            let nearest = rest[..same].iter().min_by(|a, b| away(a.1).total_cmp(&away(b.1)));
            if let Some(&(_, row)) = nearest.filter(|_| is_other(last) && is_other(here)) {
                begun.push((fit, found.parameters.row(row).to_vec()));
                last = least;
                count += 1;
            }
            rest = if count == BEST { &[] } else { &rest[same..] };
        }
    }
    Ok(begun)
}

/// How far parameters are from others, in their own size.
fn away(from: ArrayView1<'_, f64>, to: ArrayView1<'_, f64>) -> f64 {
    let parts = from.iter().zip(to).map(|(from, to)| {
        let most = from.abs().max(to.abs());
        if most > 0.0 { ((to - from) / most).powi(2) } else { 0.0 }
    });
    parts.sum()
}

/// Fits from there to the end, and takes what has the lowest loss.
fn end(
    robust: &Robust,
    task: &Task<'_>,
    fits: &mut CurveFits,
    start: Option<&Array2<f64>>,
    (states, weights): (&mut [State], &mut Array2<f64>),
    begun: &[Begun],
) -> Result<(), ModelError> {
    if begun.is_empty() {
        return Ok(());
    }
    let rows: Vec<usize> = begun.iter().map(|begun| begun.0).collect();
    let copies = Copies::of(&task.curves, task.model.variables().len(), &rows);
    let options = options_of(task.options, &rows);
    let curves = copies.curves();
    let own = Task::new(task.model, task.fitter, &curves, &options);
    let mut found = CurveFits::invalid(rows.len(), options.parameters(), options.covariance);
    for (row, (_, parameters)) in begun.iter().enumerate() {
        found.parameters.row_mut(row).iter_mut().zip(parameters).for_each(|(to, of)| *to = *of);
        found.statuses[row] = Status::MinStep;
    }
    let phase = if robust.held(task).is_some() { Phase::Last } else { Phase::Trimmed };
    let mut others = vec![State { phase, scale: f64::INFINITY, ..State::default() }; rows.len()];
    let last = own.rounds(robust, &mut found, &mut others)?;
    for (row, &fit) in rows.iter().enumerate() {
        let there = own.see(row, found.parameters.row(row).to_vec()).sized(&own);
        let here = task.see(fit, fits.parameters.row(fit).to_vec()).sized(task);
        let is_better = match (here, there) {
            (_, Some(_)) if !found.is_found(row) => false,
            (Some(here), Some(there)) if fits.is_found(fit) => {
                let scale =
                    lower_scale([states[fit].scale, here.half], [others[row].scale, there.half]);
                let cost = |sized: &Sized| -> f64 {
                    sized.residuals.iter().map(|left| robust.loss.cost(left / scale)).sum()
                };
                let ratio = cost(&there) / cost(&here);
                let is_nearer = start.is_some_and(|start| {
                    let away = |fits: &CurveFits, at| away(start.row(fit), fits.parameters.row(at));
                    away(&found, row) < NEARER * away(fits, fit)
                });
                // The same curve by other parameters is taken where it is nearer to where the fit was to begin.
                ratio < 1.0 - SAME || ratio < 1.0 + SAME && is_nearer
            }
            (_, there) => there.is_some(),
        };
        if is_better {
            take(fits, fit, &found, row);
            states[fit] = others[row].clone();
            weights.index_axis_mut(Axis(0), fit).assign(&last.row(row));
        }
    }
    Ok(())
}

/// What a model leaves of the data, and the scale of half of it.
struct Sized {
    residuals: Vec<f64>,
    half: f64,
}

impl Seen {
    fn sized(&self, task: &Task<'_>) -> Option<Sized> {
        let residuals = self.residuals(task)?;
        let half = half_scale(self, &residuals);
        Some(Sized { residuals, half })
    }
}

/// The weights of a part of the points: of every second, or fewer, always more than there are parameters.
fn part(seen: &Seen, number: usize) -> Vec<f64> {
    let used: Vec<usize> = (0..seen.weights.len()).filter(|&at| seen.weights[at] > 0.0).collect();
    let count = match number % 4 {
        0 | 1 => used.len() / 2,
        2 => used.len() / 3,
        _ => used.len() / 4,
    };
    let count = count.max(seen.free + 2).min(used.len());
    let mut order: Vec<(u64, usize)> =
        used.into_iter().map(|at| (mixed(((number as u64) << 32) + at as u64), at)).collect();
    order.sort_unstable();
    let mut weights = vec![0.0; seen.weights.len()];
    order[..count].iter().for_each(|&(_, at)| weights[at] = seen.weights[at]);
    weights
}

/// A number that looks random (Steele, Lea and Flood 2014).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A few rounds without what lies far from the model.
struct Trimmed;

impl Scheme for Trimmed {
    fn weigh(&self, task: &Task<'_>, seen: &Seen, state: &mut State) -> Option<Vec<f64>> {
        let residuals = seen.residuals(task)?;
        state.scale = spread(seen, &residuals, reach(state.scale));
        Some(seen.weighed(&residuals, |left| Loss::Tukey.weight(left / state.scale)))
    }

    fn ends(&self, shift: f64, most: f64, state: &mut State) -> bool {
        shift <= most || state.rounds >= ROUNDS
    }
}
