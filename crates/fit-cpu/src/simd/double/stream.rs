//! A long data set, read where it lies in memory, part by part.
//!
//! What a look takes of a part stays in the first cache, and the sums of parts are added in their order: threads that share the parts find
//! the same bits as one.

use std::borrow::Cow;
use std::ops::Range;

use fit_core::curve::Sums;
use fit_core::search::Count;
use fit_curves::{CurveBatch, Curves, Points, clean};
use fit_formula::Axes;

use super::pack::{Double, MOST_LANES};
use super::points::PART;
use crate::curve::{
    AtPoint, BorrowedDataset, DataSet, DataSummary, Evaluate, EvaluateBlocks, Functions,
    Interpreter, MOST_IN_PACKS, Places, Scaling, Total, see, size, with_capacity_for,
};
use crate::simd::arch::register::Task;
use crate::threads::{Idle, parts};

/// Packs that are evaluated together: their results stay in the first cache.
const BLOCK: usize = 32;
/// A search begins with one of so many points, but with no fewer and no more than these: one thread has seen them before others wake.
const SPARSE: usize = 64;
const LEAST_SUBSAMPLE: usize = 1 << 13;
const MOST_FEW: usize = 1 << 16;
/// So many of them lie side by side, since memory brings them together.
const TOGETHER: usize = 16;
/// They are in so many parts, each of which is spread over the data set.
const SUBSAMPLE_PARTS: usize = 32;

/// The numbers of a data set.
struct Numbers<'c> {
    /// Each variable, and what is subtracted from it.
    variables: Vec<(Cow<'c, [f64]>, f64)>,
    data: Cow<'c, [f64]>,
    /// What is subtracted from the data.
    level: f64,
    /// 1 everywhere if there are none.
    weights: Option<Cow<'c, [f64]>>,
}

impl Numbers<'_> {
    /// Those of some of the points, by chance: points at equal distances might all be at the same place of a period.
    fn subsample(&self) -> Numbers<'static> {
        let all = self.data.len();
        let each = (all / SPARSE).clamp(LEAST_SUBSAMPLE, MOST_FEW) / (SUBSAMPLE_PARTS * TOGETHER);
        let count = each * SUBSAMPLE_PARTS;
        let first = |number: usize| (number as u64 * all as u64 / count as u64) as usize;
        let chosen: Vec<usize> = (0..SUBSAMPLE_PARTS)
            .flat_map(|part| (0..each).map(move |turn| [part, turn]))
            .map(|[part, turn]| {
                // Parts take turns by chance, too.
                let from = part as u64 + scattered(count + turn) % SUBSAMPLE_PARTS as u64;
                let number = turn * SUBSAMPLE_PARTS + from as usize % SUBSAMPLE_PARTS;
                let among = (first(number + 1) - first(number)) as u64;
                (first(number) + (scattered(number) % among) as usize).min(all - TOGETHER)
            })
            .collect();
        let of = |numbers: &[f64]| -> Cow<'static, [f64]> {
            chosen.iter().flat_map(|&at| &numbers[at..at + TOGETHER]).copied().collect()
        };
        Numbers {
            variables: self.variables.iter().map(|(all, less)| (of(all), *less)).collect(),
            data: of(&self.data),
            level: self.level,
            weights: self.weights.as_ref().map(|weights| of(weights)),
        }
    }
}

/// A number that looks random (SplitMix64: Steele, Lea and Flood 2014).
fn scattered(number: usize) -> u64 {
    let number = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// A formula at the points of a data set that lie anywhere.
pub(super) struct Stream<'c, R: Double + Functions> {
    curves: Curves<'c>,
    count: usize,
    all: Numbers<'c>,
    /// Those of some of the points, once they are wanted.
    subsample: Option<Numbers<'static>>,
    is_subsampled: bool,
    unevenness: ([f64; MOST_IN_PACKS], f64),
    /// Σd² and Σd of all as they are.
    sizes: [f64; 2],
    parameters: Vec<f64>,
    model: Interpreter<R>,
    /// Those of other threads.
    others: Idle<Interpreter<R>>,
}

/// Some points of a data set, and the parameters.
struct Piece<'a> {
    numbers: &'a Numbers<'a>,
    points: Range<usize>,
    parameters: &'a [f64],
}

/// Numbers where they lie, or copied.
fn taken<'c>(
    lent: Option<&'c [f64]>,
    points: usize,
    of: impl Fn(usize) -> f64 + Sync + Send,
) -> Cow<'c, [f64]> {
    match lent {
        Some(lent) => Cow::Borrowed(lent),
        None => Cow::Owned(
            parts(points, PART, |part| part.map(&of).collect::<Vec<f64>>())
                .into_iter()
                .flatten()
                .collect(),
        ),
    }
}

impl<'c, R: Double + Functions> Stream<'c, R> {
    pub(super) fn new(batch: &CurveBatch<'c, '_, '_>) -> Self {
        let program = batch.program.as_ref().expect("the job is one of a formula");
        let none = || Cow::Borrowed(&[][..]);
        let variables = (0..batch.variables).map(|_| (none(), 0.0)).collect();
        Self {
            curves: batch.curves,
            count: batch.variables,
            all: Numbers { variables, data: none(), level: 0.0, weights: None },
            subsample: None,
            is_subsampled: false,
            unevenness: ([0.0; MOST_IN_PACKS], 0.0),
            sizes: [0.0; 2],
            parameters: Vec::new(),
            model: Interpreter::new(program, Axes::Together, [BLOCK, 1], 0),
            others: Idle::new(),
        }
    }

    fn numbers(&self) -> &Numbers<'_> {
        self.subsample.as_ref().filter(|_| self.is_subsampled).unwrap_or(&self.all)
    }
}

impl<R: Double + Functions> Places for Stream<'_, R> {
    fn place(&mut self, parameters: &[f64]) {
        self.parameters.clear();
        self.parameters.extend(parameters.iter().take(MOST_IN_PACKS));
        self.model.place(parameters);
    }

    fn factors(&self, to: &mut [f64]) {
        for (to, scale) in to.iter_mut().zip(Evaluate::<R, MOST_IN_PACKS>::scales(&self.model)) {
            *to = scale.first();
        }
    }

    fn visit(&mut self, seen: DataSet<'_>, to: &mut Total) {
        let Self { parameters, model, others, .. } = &*self;
        let numbers = self.numbers();
        let look = |points: Range<usize>| {
            let mut total = Total::ZERO;
            let piece = Piece { numbers, points, parameters };
            others.with(|| model.clone(), |model| look(model, &piece, seen, &mut total));
            total
        };
        let all = match numbers.data.len() {
            few if self.is_subsampled => {
                let size = few / SUBSAMPLE_PARTS;
                (0..SUBSAMPLE_PARTS).map(|part| look(part * size..(part + 1) * size)).collect()
            }
            points => parts(points, PART, look),
        };
        all.iter().for_each(|part| to.add(part, seen.count));
        if self.is_subsampled {
            let uneven = |of: &dyn Fn(&Total) -> f64| {
                let mean = all.iter().map(of).sum::<f64>() / all.len() as f64;
                let squares = all.iter().map(|part| (of(part) / mean - 1.0).powi(2));
                squares.sum::<f64>() / all.len() as f64
            };
            let curvature = std::array::from_fn(|j| uneven(&|part| part.hessian[j][j]));
            let of_cost = uneven(&|part| part.cost) / all.len() as f64;
            self.unevenness = (curvature, of_cost.sqrt());
        }
    }
}

impl<R: Double + Functions> BorrowedDataset for Stream<'_, R> {
    fn take(&mut self, fit: usize, origin: &[f64]) {
        let Curves { data, points: place, weights, .. } = self.curves;
        let points = self.curves.points();
        let variable = |variable: usize| {
            let less = origin.get(variable).copied().unwrap_or(0.0);
            let lent = match place {
                Points::Shared(at) => at.doubles(&[variable]),
                Points::PerFit(at) => at.doubles(&[fit, variable]),
                _ => None,
            };
            (taken(lent, points, |point| place.at(fit, variable, point)), less)
        };
        (self.subsample, self.is_subsampled) = (None, false);
        self.all = Numbers {
            variables: (0..self.count).map(variable).collect(),
            data: taken(data.doubles(&[fit]), points, |point| data.get([fit, point])),
            level: 0.0,
            weights: weights.map(|all| {
                let row = if all.shape()[0] == 1 { 0 } else { fit };
                let mut weights = taken(all.doubles(&[row]), points, |point| all.get([row, point]));
                if parts(points, PART, |part| weights[part].iter().any(|weight| weight.is_nan()))
                    .contains(&true)
                {
                    clean(weights.to_mut());
                }
                weights
            }),
        };
    }

    fn points(&self) -> usize {
        self.numbers().data.len()
    }

    fn see(&mut self, poisson: bool) -> DataSummary {
        let Numbers { data, weights, .. } = &self.all;
        let of_part = |part: Range<usize>| match weights {
            None => R::compiled(Summarize(&data[part])),
            Some(weights) => {
                let (data, weights) = (&data[part.clone()], &weights[part]);
                let size = |poisson| size(data, weights, None, poisson);
                (see(data, weights, poisson), [size(false), size(true)])
            }
        };
        let found = parts(data.len(), PART, of_part);
        let none = (see(&[], &[], poisson), [0.0; 2]);
        let (mut seen, sizes) = found.into_iter().fold(none, |all, part| {
            (all.0.and(part.0), [all.1[0] + part.1[0], all.1[1] + part.1[1]])
        });
        seen.sound &= !(poisson && seen.extent[0] < 0.0);
        self.sizes = sizes;
        seen
    }

    fn set_level(&mut self, level: f64) {
        self.all.level = level;
    }

    fn size(&self, scale: Option<[f64; 2]>, poisson: bool) -> f64 {
        let Numbers { data, weights, level, .. } = self.numbers();
        if *level == 0.0 && scale.is_none() && !self.is_subsampled {
            return self.sizes[usize::from(poisson)];
        }
        let of_part = |part: Range<usize>| {
            let own: Vec<f64> = data[part.clone()].iter().map(|datum| datum - level).collect();
            match weights {
                None => size(&own, &vec![1.0; own.len()], scale, poisson),
                Some(weights) => size(&own, &weights[part], scale, poisson),
            }
        };
        parts(data.len(), PART, of_part).into_iter().sum()
    }

    fn weight(&self) -> f64 {
        let Numbers { data, weights, .. } = self.numbers();
        let Some(weights) = weights else { return data.len() as f64 };
        let of_part = |part: Range<usize>| -> f64 {
            weights[part].iter().filter(|&&weight| weight > 0.0).sum()
        };
        parts(data.len(), PART, of_part).into_iter().sum()
    }

    fn use_subsample(&mut self, few: bool) -> bool {
        if few && self.subsample.is_none() && self.all.data.len() >= 2 * LEAST_SUBSAMPLE {
            self.subsample = Some(self.all.subsample());
        }
        self.is_subsampled = few && self.subsample.is_some();
        self.is_subsampled == few
    }

    fn unevenness(&self) -> ([f64; MOST_IN_PACKS], f64) {
        self.unevenness
    }
}

/// How many numbers are seen side by side, since each waits for the one before.
const SIDE: usize = 32;

/// What is seen of data without weights, and Σd² and Σd.
struct Summarize<'a>(&'a [f64]);

impl<R> Task<R> for Summarize<'_> {
    type Output = (DataSummary, [f64; 2]);
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self(data) = self;
        let (mut low, mut high) = ([f64::INFINITY; SIDE], [f64::NEG_INFINITY; SIDE]);
        let (mut squares, mut sums) = ([0.0; SIDE], [0.0; SIDE]);
        let (packs, rest) = data.as_chunks::<SIDE>();
        let mut add = |pack: &[f64; SIDE]| {
            for k in 0..SIDE {
                let datum = pack[k];
                low[k] = if datum < low[k] { datum } else { low[k] };
                high[k] = if datum > high[k] { datum } else { high[k] };
                squares[k] += datum * datum;
                sums[k] += datum;
            }
        };
        packs.iter().for_each(&mut add);
        for &datum in rest {
            low[0] = if datum < low[0] { datum } else { low[0] };
            high[0] = if datum > high[0] { datum } else { high[0] };
            squares[0] += datum * datum;
            sums[0] += datum;
        }
        let extent =
            [low.into_iter().fold(low[0], f64::min), high.into_iter().fold(high[0], f64::max)];
        let sums = [squares, sums].map(|sums| sums.into_iter().sum::<f64>());
        // A sum says whether all are numbers, unless it overflows.
        let sound = sums[1].is_finite() || data.iter().all(|datum| datum.is_finite());
        (DataSummary { sound, points: data.len(), extent, heaviest: 1.0 }, sums)
    }
}

/// Sums of many points, lane by lane.
struct Lanes<const N: usize> {
    cost: [f64; MOST_LANES],
    gradient: [[f64; MOST_LANES]; N],
    hessian: [[[f64; MOST_LANES]; N]; N],
    sound: bool,
}

/// The sum of the lanes, pair by pair.
fn total(lanes: &[f64; MOST_LANES]) -> f64 {
    let mut sums = *lanes;
    let mut half = MOST_LANES / 2;
    while half > 0 {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
        half /= 2;
    }
    sums[0]
}

/// Weights of a block, where there are none.
static ONES: [f64; BLOCK * MOST_LANES] = [1.0; BLOCK * MOST_LANES];

/// Looks at the points of a piece.
fn look<R: Double + Functions>(
    model: &mut Interpreter<R>,
    piece: &Piece<'_>,
    seen: DataSet<'_>,
    to: &mut Total,
) {
    with_capacity_for!(
        if seen.scaled.is_some() { MOST_IN_PACKS } else { seen.count },
        |CAPACITY| R::compiled(Look::<R, CAPACITY> { model, piece, seen, to }),
        R::compiled(Look::<R, MOST_IN_PACKS> { model, piece, seen, to }),
        [3 4 5 6 7]
    );
}

/// The same for a model with room for N parameters. What has to be scaled is rare, and so in one room alone.
struct Look<'a, R, const N: usize> {
    model: &'a mut Interpreter<R>,
    piece: &'a Piece<'a>,
    seen: DataSet<'a>,
    to: &'a mut Total,
}

impl<R: Double + Functions, const N: usize> Task<R> for Look<'_, R, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { model, piece, seen, to } = self;
        let Piece { numbers, points, parameters } = piece;
        let Numbers { variables, data, level, weights } = numbers;
        let DataSet { scaled, poisson, count, .. } = seen;
        model.place(parameters);
        let zero = [0.0; MOST_LANES];
        let mut lanes =
            Lanes::<N> { cost: zero, gradient: [zero; N], hessian: [[zero; N]; N], sound: true };
        let one = R::splat(1.0);
        let all = Count::<N>::new(count);
        let mut from = points.start;
        while from < points.end {
            let end = points.end.min(from + BLOCK * R::LANES);
            for (number, (variable, less)) in variables.iter().enumerate() {
                let own = variable[from..end].chunks(R::LANES);
                for (to, own) in model.variable(number).iter_mut().zip(own) {
                    // The last point again, where there is none.
                    *to = R::load_some(own, own[own.len() - 1]) - R::splat(*less);
                }
            }
            model.run_data();
            let block = model.evaluate(0);
            let results = Evaluate::<R, N>::block_values(model, &block);
            let mut sums = Sums::<R, N>::zero(all);
            let own = &data[from..end];
            macro_rules! sum {
                ($weights:expr, |$at:ident, $datum:ident, $weight:ident| $add:expr) => {
                    for (point, (data, weights)) in
                        own.chunks(R::LANES).zip($weights.chunks(R::LANES)).enumerate()
                    {
                        let $at = results.at(point);
                        let $datum = R::load_some(data, *level) - R::splat(*level);
                        let $weight = R::load_some(weights, 0.0);
                        $add
                    }
                };
            }
            let seen = weights.as_ref().map_or(&ONES[..own.len()], |weights| &weights[from..end]);
            match scaled {
                Some((scale, lengths)) if N == MOST_IN_PACKS => {
                    let scaling = Scaling::new(scale, lengths, model.scales());
                    sum!(seen, |at, datum, weight| {
                        scaling.add(at, [datum, weight], poisson, &mut sums);
                    });
                }
                _ if poisson => {
                    sum!(seen, |at, datum, weight| sums.add_poisson::<true>(&at, datum, weight));
                }
                _ if weights.is_none() && own.len() % R::LANES == 0 => {
                    for (point, data) in own.chunks_exact(R::LANES).enumerate() {
                        let datum = R::load(data) - R::splat(*level);
                        sums.add_square::<false>(&results.at(point), datum, one, one);
                    }
                }
                _ => sum!(seen, |at, datum, weight| {
                    sums.add_square::<true>(&at, datum, weight, one);
                }),
            }
            let (normal, sound) = sums.normal(&[one; N]);
            lanes.sound &= fit_core::Mask::all(sound);
            normal.cost.pour(&mut lanes.cost);
            for j in all.all::<R>() {
                normal.gradient[j].pour(&mut lanes.gradient[j]);
                for k in all.from::<R>(j) {
                    if k >= j {
                        normal.hessian.0[j][k].pour(&mut lanes.hessian[j][k]);
                    }
                }
            }
            from = end;
        }
        to.cost = total(&lanes.cost);
        to.sound = lanes.sound;
        for j in 0..count.min(N) {
            to.gradient[j] = total(&lanes.gradient[j]);
            for k in j..count.min(N) {
                to.hessian[j][k] = total(&lanes.hessian[j][k]);
            }
        }
    }
}
