//! From what is called a minimum no step leads lower, and a limit holds what the data push against it.

use std::cell::RefCell;

use fit_core::{Estimator, Number, Problem, ProblemOptions, Status, fit_problem};
use fit_cpu::{CurveReference, CurveSimd};
use fit_curves::{
    CurveFits, CurveLimits, CurveOptions, CurvePrecision, CurveStart, Curves, Linear, Points,
    Sharing,
};
use fit_formula::{Axes, Evaluator, Formula, Program};
use fit_tests::curves::{Engine, Numbers, shared, values_of};
use fit_tests::peaks::Peaks;
use fit_tests::{effort, on_backends};
use nalgebra::{DMatrix, DVector};
use ndarray::Array2;
use spotfit::Backend;
use spotfit::model::{CurveFitter, CurveNoise, Loss, LossScale, Model};

use super::cooperative::fit_as_kernels_do;

/// A full step from a minimum gains no more than this share of the variance of the noise.
const MOST_LEFT: f64 = 1e-3;
/// Directions that the data see this many times less than others are those that they do not determine.
const UNSEEN: f64 = 1e-8;
/// Data sets of a batch.
const SETS: usize = 8;

/// What is fitted: a formula of x from 0 to 20, its parameters, and between what they lie.
struct Kind {
    formula: &'static str,
    between: &'static [[f64; 2]],
    /// The parameter by which the model jumps.
    jumps: Option<usize>,
}

const fn kind(formula: &'static str, between: &'static [[f64; 2]]) -> Kind {
    Kind { formula, between, jumps: None }
}

const KINDS: [Kind; 11] = [
    kind("a + b*x", &[[-5.0, 5.0], [-2.0, 2.0]]),
    kind("a*exp(-b*x)", &[[1.0, 20.0], [0.05, 0.5]]),
    kind("a*x/(k + x) + c", &[[2.0, 20.0], [1.0, 10.0], [0.5, 3.0]]),
    kind("a*exp(-x/t) + c", &[[1.0, 20.0], [1.0, 8.0], [0.5, 3.0]]),
    kind(
        "a*exp(-x/t) + b*exp(-x/u) + c",
        &[[3.0, 20.0], [0.5, 3.0], [1.0, 10.0], [4.0, 15.0], [0.2, 2.0]],
    ),
    kind("a*exp(-(x - m)^2/(2*s^2)) + c", &[[2.0, 20.0], [5.0, 15.0], [1.0, 4.0], [0.5, 5.0]]),
    kind("a/(1 + ((x - m)/s)^2) + c", &[[2.0, 20.0], [5.0, 15.0], [1.0, 4.0], [0.5, 5.0]]),
    kind("a/(1 + exp(-(x - m)/s)) + c", &[[2.0, 20.0], [5.0, 15.0], [0.5, 3.0], [0.5, 5.0]]),
    kind("a*sin(w*x + p) + c", &[[1.0, 3.0], [0.3, 0.8], [-1.0, 1.0], [4.0, 8.0]]),
    kind("a*x^p + c", &[[0.5, 3.0], [0.5, 2.0], [0.5, 5.0]]),
    Kind { jumps: Some(0), ..kind(JUMP, &[[5.0, 15.0], [1.0, 5.0], [0.5, 3.0]]) },
];

/// Its first parameter is where it jumps.
const JUMP: &str = "if(x < b, a*exp((x - b)/4), c)";

impl Kind {
    fn formula(&self) -> Formula {
        Formula::of_variables(self.formula, &["x"]).expect("a formula")
    }
}

/// Data sets and how they are fitted.
struct Case {
    kind: &'static Kind,
    formula: Formula,
    x: Array2<f64>,
    data: Array2<f64>,
    weights: Option<Array2<f64>>,
    start: Array2<f64>,
    options: CurveOptions,
}

impl Case {
    /// Any of them: of any kind, from good and from poor start values, of faint noise and of much, with weights and without, points that
    /// are left out, limits on both sides of the truth and fixed parameters, of any tolerance.
    fn random(random: &mut Numbers, likely: bool) -> Self {
        let kind = &KINDS[if likely { 1 + random.below(9) } else { random.below(KINDS.len()) }];
        let parameters = kind.between.len();
        let points = 12 + random.below(28);
        let formula = kind.formula();
        let x =
            Array2::from_shape_fn((1, points), |(_, at)| 20.0 * (at as f64 + 0.5) / points as f64);
        let first: Vec<f64> = kind.between.iter().map(|&of| random.within(of)).collect();
        let share = 10.0_f64.powf(random.within([-3.0, -0.5]));
        let places: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
        let mut data = Array2::zeros((SETS, points));
        for fit in 0..SETS {
            let truth: Vec<f64> = first.iter().map(|of| of * random.within([0.9, 1.1])).collect();
            let values = values_of(&formula, &truth, &places);
            let size = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
            let bright = random.within([1.0, 30.0]);
            for (at, value) in values.iter().enumerate() {
                data[[fit, at]] = match likely {
                    true => {
                        (bright * value + (bright * value).sqrt() * random.noise()).max(0.0).round()
                    }
                    false => value + share * size * random.noise(),
                };
            }
        }
        let linear = [Linear::Auto, Linear::Eliminated, Linear::Searched][random.below(3)];
        let mut options = CurveOptions::new(parameters)
            .with_tolerance([1e-3, 1e-3, 1e-5, 1e-7][random.below(4)])
            .with_linear(linear);
        if likely {
            options = options.with_estimator(Estimator::MaximumLikelihood);
        }
        let mut limits = vec![[f64::NEG_INFINITY, f64::INFINITY]; parameters];
        if random.one_in(3) {
            for (limits, truth) in limits.iter_mut().zip(&first) {
                // Some are beyond the truth.
                let near = truth + 0.2 * truth.abs() * random.within([-1.0, 2.0]);
                match random.below(6) {
                    0 => limits[1] = near,
                    1 => limits[0] = 2.0 * truth - near,
                    2 => *limits = [truth - 0.15 * truth.abs(), truth + 0.05 * truth.abs()],
                    _ => {}
                }
            }
        }
        if random.one_in(6) {
            options = options.with_fixed(random.below(parameters));
        }
        let far = [0.02, 0.3, 0.6, 1.5][random.below(4)];
        let same: Vec<f64> = first.iter().map(|_| random.within([-far, far])).collect();
        let has_same = random.one_in(2);
        let start = Array2::from_shape_fn((SETS, parameters), |(_, j)| {
            let by = if has_same { same[j] } else { random.within([-far, far]) };
            let bright = if likely && formula.linear()[j] { 10.0 } else { 1.0 };
            (first[j] * bright * by.exp()).clamp(limits[j][0], limits[j][1])
        });
        let weights = random.one_in(2).then(|| {
            let rows = if random.one_in(2) { SETS } else { 1 };
            let unit = 1.0 / (share * share);
            Array2::from_shape_fn((rows, points), |_| match random.below(12) {
                0 => 0.0,
                _ if likely => 1.0,
                _ => unit * random.within([0.3, 3.0]),
            })
        });
        let absolute = weights.is_some() && !likely && random.one_in(2);
        options = options.with_absolute(absolute).with_limits(CurveLimits::Shared(limits));
        Self { kind, formula, x, data, weights, start, options }
    }

    fn curves(&self) -> Curves<'_> {
        shared(&self.data, &self.x, self.weights.as_ref())
    }

    fn start(&self) -> CurveStart<'_> {
        CurveStart::PerFit(self.start.view().into())
    }

    /// The same with data in another unit, so many times as small.
    fn in_unit(&self, unit: f64) -> Self {
        let linear = self.formula.linear();
        let limits = (0..linear.len()).map(|j| {
            let times = if linear[j] { unit } else { 1.0 };
            self.options.limit(0, j).map(|limit| limit * times)
        });
        let options = self.options.clone().with_limits(CurveLimits::Shared(limits.collect()));
        let mut start = self.start.clone();
        for (j, mut column) in start.columns_mut().into_iter().enumerate() {
            column.mapv_inplace(|value| if linear[j] { value * unit } else { value });
        }
        let weights = self.weights.as_ref().map(|weights| {
            // Weights that say nothing of the size of the data may be those of any unit.
            let by = if self.options.absolute { unit } else { 1.0 };
            weights.mapv(|weight| weight / by / by)
        });
        let (formula, x) = (self.formula.clone(), self.x.clone());
        Self { kind: self.kind, formula, x, data: &self.data * unit, weights, start, options }
    }

    fn fit(&self, engine: &Engine) -> CurveFits {
        engine.fit(&self.formula, &self.curves(), self.start(), &self.options)
    }

    fn judge(&self) -> Judge<'_> {
        Judge {
            formula: &self.formula,
            x: self.x.row(0).to_vec(),
            data: &self.data,
            weights: self.weights.as_ref(),
            options: &self.options,
            jumps: self.kind.jumps,
            loss: None,
            resolution: 0.0,
        }
    }
}

/// A loss, and the scale of each data set.
type Scaled<'a> = Option<(Loss, &'a [f64])>;

/// What tells in double precision whether fits are at a minimum.
struct Judge<'a> {
    formula: &'a Formula,
    x: Vec<f64>,
    data: &'a Array2<f64>,
    weights: Option<&'a Array2<f64>>,
    options: &'a CurveOptions,
    jumps: Option<usize>,
    loss: Scaled<'a>,
    /// The share of χ² that the engine's precision does not tell from nothing.
    resolution: f64,
}

/// The points of data sets with their unknowns: derivatives in units of the noise, residuals, and how far each unknown may go.
struct Equations {
    rows: Vec<(f64, Vec<(usize, f64)>)>,
    room: Vec<[f64; 2]>,
    cost: f64,
    size: f64,
}

impl Judge<'_> {
    fn program(&self) -> std::sync::Arc<Program> {
        self.formula.program(Axes::Together, &vec![true; self.options.parameters()])
    }

    /// Adds a data set; `unknown` is the number of the unknown that a parameter is, if it is one.
    fn add(
        &self,
        evaluator: &mut Evaluator<'_>,
        to: &mut Equations,
        (fit, parameters): (usize, &[f64]),
        unknown: impl Fn(usize) -> Option<usize>,
    ) {
        evaluator.set_parameters(parameters);
        let mut by = vec![0.0; parameters.len()];
        let likely = self.options.estimator == Estimator::MaximumLikelihood;
        for (at, &x) in self.x.iter().enumerate() {
            let weight = self
                .weights
                .map_or(1.0, |weights| weights[[if weights.nrows() == 1 { 0 } else { fit }, at]]);
            if weight == 0.0 {
                continue;
            }
            let (datum, value) = (self.data[[fit, at]], evaluator.value(&[x]));
            evaluator.derivatives(&mut by);
            // Fisher's information, or that of a step of reweighted squares.
            let weight = match self.loss {
                _ if likely => 1.0 / value,
                Some((loss, scales)) => {
                    weight * loss.weight(weight.sqrt() * (datum - value) / scales[fit])
                }
                None => weight,
            };
            let root = weight.sqrt();
            let of = (0..by.len()).filter_map(|j| Some((unknown(j)?, root * by[j]))).collect();
            to.rows.push((root * (datum - value), of));
            to.size += weight * datum * datum;
            let term = if datum > 0.0 { datum * (datum / value).ln() } else { 0.0 };
            to.cost += match likely {
                true => 2.0 * (value - datum + term),
                false => weight * (datum - value).powi(2),
            };
        }
    }

    fn room(&self, fit: usize, j: usize, at: f64) -> [f64; 2] {
        self.options.limit(fit, j).map(|limit| limit - at)
    }

    fn measured(&self, all: &Equations, degrees: f64, fit: usize) -> Option<f64> {
        // Residuals that are rounding tell nothing.
        if degrees < 1.0 || all.cost < 1e-20 * all.size || !all.cost.is_finite() {
            return None;
        }
        let known = self.options.absolute || self.options.estimator == Estimator::MaximumLikelihood;
        let unit = match self.loss {
            // A scale far below the residuals is no noise: what a standard error costs there, the reweighted squares say.
            Some((_, scales)) if !self.options.absolute => {
                (scales[fit] * scales[fit]).max(all.cost / degrees)
            }
            Some((_, scales)) => scales[fit] * scales[fit],
            None if known => 1.0,
            None => all.cost / degrees,
        };
        let gain = all.gain();
        // χ² is a sum: where weights say that it is millions, its last digit is more than the variance of the noise.
        Some(if gain < self.resolution * all.cost { 0.0 } else { gain / unit })
    }
}

impl Equations {
    /// By how much the step of Gauss and Newton within the limits lowers the cost as the equations say: of the residuals what lies in the
    /// space of the derivatives (D. M. Bates and D. G. Watts, A relative offset orthogonality convergence criterion for nonlinear least
    /// squares, Technometrics 23, 179, 1981).
    fn gain(&self) -> f64 {
        let (rows, unknowns) = (self.rows.len(), self.room.len());
        let mut matrix = DMatrix::<f64>::zeros(rows, unknowns);
        for (row, (_, of)) in self.rows.iter().enumerate() {
            of.iter().for_each(|&(k, by)| matrix[(row, k)] += by);
        }
        let residuals = DVector::from_iterator(rows, self.rows.iter().map(|row| row.0));
        // Columns of length 1; what nothing depends on stays where it is.
        let lengths: Vec<f64> = (0..unknowns).map(|k| matrix.column(k).norm()).collect();
        let mut held: Vec<Option<f64>> = lengths
            .iter()
            .map(|length| (!(length.is_normal() && length.is_finite())).then_some(0.0))
            .collect();
        for k in 0..unknowns {
            let length = lengths[k];
            let to = if held[k].is_none() { 1.0 / length } else { 0.0 };
            matrix.column_mut(k).iter_mut().for_each(|by| *by *= to);
        }
        loop {
            let mut rest = residuals.clone();
            for (k, by) in held.iter().enumerate() {
                rest -= matrix.column(k) * by.unwrap_or(0.0);
            }
            let free: Vec<usize> = (0..unknowns).filter(|&k| held[k].is_none()).collect();
            let mut step = DVector::zeros(unknowns);
            for (k, by) in held.iter().enumerate() {
                step[k] = by.unwrap_or(0.0);
            }
            if !free.is_empty() {
                let qr = matrix.select_columns(&free).qr();
                let projected = qr.q().transpose() * &rest;
                let solved = qr.r().svd(true, true).solve(&projected, UNSEEN).expect("both sides");
                free.iter().zip(solved.iter()).for_each(|(&k, &by)| step[k] = by);
            }
            let mut stopped = false;
            for &k in &free {
                let [low, high] = self.room[k].map(|room| room * lengths[k]);
                if step[k] < low || step[k] > high {
                    held[k] = Some(step[k].clamp(low, high));
                    stopped = true;
                }
            }
            if !stopped {
                let made = &matrix * step;
                return 2.0 * residuals.dot(&made) - made.norm_squared();
            }
        }
    }
}

/// What was judged of an engine.
#[derive(Default)]
struct Verdict {
    name: String,
    asked: usize,
    judged: usize,
    worst: f64,
    found: Vec<String>,
}

impl Verdict {
    fn of(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    fn take(&mut self, left: Option<f64>, what: impl FnOnce() -> String) {
        self.asked += 1;
        let Some(left) = left else { return };
        self.judged += 1;
        self.worst = self.worst.max(left);
        // NaN too.
        if left.is_nan() || left > MOST_LEFT {
            self.found.push(format!("{left:.3e}: {}", what()));
        }
    }

    /// Takes fits of data sets each of which is fitted by itself.
    fn alone(
        &mut self,
        judge: &Judge<'_>,
        fits: &CurveFits,
        these: impl Iterator<Item = usize>,
        told: impl Fn(usize) -> String,
    ) {
        let none = Sharing::default();
        these.for_each(|at| self.take(left(judge, fits, &none, &[at]), || told(at)));
    }

    /// Takes the parts of a shared fit.
    fn together(
        &mut self,
        judge: &Judge<'_>,
        fits: &CurveFits,
        sharing: &Sharing,
        told: impl Fn(usize) -> String,
    ) {
        for part in parts(sharing) {
            let left = left(judge, fits, sharing, &part);
            self.take(left, || format!("{sharing:?}, {}", told(part[0])));
        }
    }
}

/// Ends a test with all that is wrong; `least` is the share of all fits that must have been judged.
fn end(verdicts: impl IntoIterator<Item = Verdict>, least: f64) {
    let mut wrong = Vec::new();
    for Verdict { name, asked, judged, worst, found } in verdicts {
        println!("{name}: {judged} of {asked} judged, at most {worst:.2e} left");
        if (judged as f64) < least * asked as f64 {
            wrong.push(format!("{name}: only {judged} of {asked} are judged"));
        }
        if !found.is_empty() {
            let some = &found[..found.len().min(8)];
            wrong.push(format!("{name}: {} of {judged} are no minima: {some:#?}", found.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Judges fits of random cases, but those that are left to somebody else.
fn judge(
    name: &str,
    (seed, resolution): (u64, f64),
    fit: impl Fn(&Case) -> (CurveFits, Vec<usize>),
) -> Verdict {
    let mut verdict = Verdict::of(name);
    for number in 0..fits().div_ceil(SETS) as u64 {
        let case = Case::random(&mut Numbers(seed << 32 | number), number % 4 == 3);
        let ((fits, left), judge) = (fit(&case), Judge { resolution, ..case.judge() });
        let these = (0..SETS).filter(|at| !left.contains(at));
        verdict.alone(&judge, &fits, these, |at| told(&case, number, &fits, at));
    }
    verdict
}

fn told(case: &Case, number: u64, fits: &CurveFits, fit: usize) -> String {
    format!(
        "{number}.{fit} {}: {:?} at {} χ² {} from {}; {:?}",
        case.kind.formula,
        fits.statuses[fit],
        fits.parameters.row(fit),
        fits.chi2[fit],
        case.start.row(fit),
        case.options,
    )
}

/// Random fits of an engine.
fn fits() -> usize {
    effort(1000, 2000, 100_000)
}

fn no_step(engines: &[Engine]) {
    use CurvePrecision::{Auto, F64};
    let single = f64::from(f32::EPSILON);
    let mut verdicts = Vec::new();
    for engine in engines {
        let ways = match engine {
            Engine::Reference(_) => vec![(1, Auto, 0.0)],
            Engine::Lanes(_) => vec![(2, Auto, single), (3, F64, 0.0)],
            Engine::Double(_) => vec![(4, Auto, 0.0)],
            Engine::Gpu(..) => vec![(5, Auto, 0.0), (5, F64, 0.0)],
        };
        for (seed, precision, resolution) in ways {
            let name = format!("{}, {precision:?}", engine.name());
            let fit = |case: &Case| {
                let options = case.options.clone().with_precision(precision);
                engine.decide(&case.formula, &case.curves(), case.start(), &options)
            };
            verdicts.push(judge(&name, (seed, resolution), fit));
        }
    }
    end(verdicts, 0.5);
}

/// Every engine that any machine has.
fn engines() -> Vec<Engine> {
    [Engine::reference()].into_iter().chain(Engine::lanes(1)).chain(Engine::double(1)).collect()
}

on_backends! {
    /// Proves that from no fit that an engine for separate data sets calls converged, within limits or at one, a full step of Gauss and
    /// Newton gains more than 10⁻³ of the variance of the noise: the reference, and lanes in single precision, from there to double
    /// precision, and in double precision from the start; and a GPU, where it does not leave fits to the processor.
    no_step_leads_lower(&engines()), no_step_leads_lower_on_the_gpu(&[Engine::gpu()]) => no_step;
}

/// Peaks of a random size, for models of many parameters.
fn peaks(random: &mut Numbers) -> (Peaks, Array2<f64>, Vec<f64>, CurveOptions) {
    let peaks = Peaks::new(1 + random.below(2), 30 + random.below(30));
    let data = peaks.data(4).mapv(|value| value + random.noise().abs());
    let far = [0.02, 0.2, 0.5][random.below(3)];
    let mut options = CurveOptions::new(peaks.truth.len())
        .with_linear([Linear::Auto, Linear::Searched][random.below(2)]);
    if random.one_in(3) {
        options = options.with_estimator(Estimator::MaximumLikelihood);
    }
    let mut limits = vec![[f64::NEG_INFINITY, f64::INFINITY]; peaks.truth.len()];
    for (limits, truth) in limits.iter_mut().zip(&peaks.truth) {
        match random.below(9) {
            0 => limits[0] = truth * random.within([0.8, 1.05]),
            1 => limits[1] = truth * random.within([0.95, 1.2]),
            _ => {}
        }
    }
    let mut begin = |(truth, [low, high]): (&f64, &[f64; 2])| {
        (truth * random.within([-far, far]).exp()).clamp(*low, *high)
    };
    let start = peaks.truth.iter().zip(&limits).map(&mut begin).collect();
    (peaks, data, start, options.with_limits(CurveLimits::Shared(limits)))
}

/// Proves the same of the search whose threads have a parameter each.
#[test]
fn no_step_leads_lower_with_a_parameter_a_thread() {
    let mut verdict = Verdict::of("a parameter a thread");
    for number in 0..fits().div_ceil(4) as u64 {
        let (peaks, data, start, options) = peaks(&mut Numbers(6 << 32 | number));
        let curves = Curves::new(data.view(), Points::Index);
        let (fits, left) = fit_as_kernels_do::<16>(&peaks.formula, &curves, &start, &options);
        let judge = Judge {
            formula: &peaks.formula,
            x: (0..data.ncols()).map(|x| x as f64).collect(),
            data: &data,
            weights: None,
            options: &options,
            jumps: None,
            loss: None,
            resolution: f64::from(f32::EPSILON),
        };
        let told = |at| format!("{number}.{at}: {:?} {}", options, fits.parameters.row(at));
        verdict.alone(&judge, &fits, (0..4).filter(|at| !left.contains(at)), told);
    }
    end([verdict], 0.5);
}

/// A data set as residuals of the caller's own.
struct Residuals<'a> {
    case: &'a Case,
    fit: usize,
    evaluator: RefCell<(Vec<f64>, Evaluator<'a>)>,
}

impl<R: Number, const P: usize> Problem<R, P> for Residuals<'_> {
    fn residuals(&self) -> usize {
        self.case.data.ncols()
    }
    fn residual(&self, parameters: &[R; P], index: usize) -> (R, [R; P]) {
        let (at, evaluator) = &mut *self.evaluator.borrow_mut();
        if !at.iter().zip(parameters).all(|(at, own)| *at == own.to_f64()) || at.is_empty() {
            *at = parameters.iter().map(|own| own.to_f64()).collect();
            evaluator.set_parameters(at);
        }
        let value = evaluator.value(&[self.case.x[[0, index]]]);
        let mut by = [0.0; P];
        evaluator.derivatives(&mut by);
        (R::splat(value) - R::splat(self.case.data[[self.fit, index]]), by.map(R::splat))
    }
    fn weight(&self, index: usize) -> R {
        let row = |weights: &Array2<f64>| if weights.nrows() == 1 { 0 } else { self.fit };
        let weights = self.case.weights.as_ref();
        R::splat(weights.map_or(1.0, |weights| weights[[row(weights), index]]))
    }
    fn size(&self, index: usize) -> R {
        R::splat(self.case.data[[self.fit, index]])
    }
}

fn problem_of<R: Number, const P: usize>(case: &Case) -> CurveFits {
    let parameters = vec![true; P];
    let program = case.formula.program(Axes::Together, &parameters);
    let mut fits = CurveFits::invalid(SETS, P, false);
    for fit in 0..SETS {
        let start: [R; P] = std::array::from_fn(|j| R::splat(case.start[[fit, j]]));
        let limit = |end: usize| {
            std::array::from_fn(|j| match case.options.fixed[j] {
                true => start[j],
                false => R::splat(case.options.limit(fit, j)[end]),
            })
        };
        let options = ProblemOptions::default()
            .with_tolerance(case.options.tolerance)
            .with_limits(limit(0), limit(1))
            .with_absolute(case.options.absolute);
        let evaluator = RefCell::new((Vec::new(), Evaluator::new(&program)));
        let residuals = Residuals { case, fit, evaluator };
        let found = fit_problem(&residuals, start, &options).expect("sound");
        for j in 0..P {
            fits.parameters[[fit, j]] = found.parameters[j].to_f64();
            fits.errors[[fit, j]] = found.errors[j].to_f64();
        }
        fits.statuses[fit] = found.status;
        fits.chi2[fit] = found.chi2.to_f64();
        fits.degrees[fit] = found.degrees as u32;
    }
    fits
}

/// Fits by residuals of the caller's own.
fn problem<R: Number>(case: &Case) -> CurveFits {
    match case.kind.between.len() {
        2 => problem_of::<R, 2>(case),
        3 => problem_of::<R, 3>(case),
        4 => problem_of::<R, 4>(case),
        5 => problem_of::<R, 5>(case),
        _ => unreachable!("a model of 2 to 5 parameters"),
    }
}

/// Those of squares; of counts there are none.
fn problem_of_squares<R: Number>(case: &Case) -> (CurveFits, Vec<usize>) {
    let fits = match case.options.estimator {
        Estimator::LeastSquares => problem::<R>(case),
        _ => CurveFits::invalid(SETS, case.kind.between.len(), false),
    };
    (fits, Vec::new())
}

/// Proves that residuals of the caller's own have a minimum where the data have no noise, and only rounding is left of them.
#[test]
fn data_without_noise_are_a_minimum() {
    for number in 0..fits().div_ceil(SETS) as u64 {
        let mut case = Case::random(&mut Numbers(8 << 32 | number), false);
        if case.kind.jumps.is_some() {
            continue;
        }
        let parameters = case.kind.between.len();
        let truth: Vec<f64> =
            case.kind.between.iter().map(|[low, high]| 0.4 * low + 0.6 * high).collect();
        let places: Vec<Vec<f64>> = case.x.iter().map(|&x| vec![x]).collect();
        let values = values_of(&case.formula, &truth, &places);
        case.data = Array2::from_shape_fn(case.data.dim(), |(_, at)| values[at]);
        case.start = Array2::from_shape_fn((SETS, parameters), |(fit, j)| {
            truth[j] * (1.0 + 0.02 * (fit + j) as f64 / SETS as f64)
        });
        case.options = CurveOptions::new(parameters).with_tolerance(case.options.tolerance);
        for (name, fits) in [("f32", problem::<f32>(&case)), ("f64", problem::<f64>(&case))] {
            for fit in 0..SETS {
                let told = told(&case, number, &fits, fit);
                assert!(fits.statuses[fit].is_converged(), "{name} {told}");
            }
        }
    }
}

/// Proves the same of residuals of the caller's own, in double precision and in single precision, whose end is looked at in double
/// precision.
#[test]
fn no_step_leads_lower_for_residuals_of_ones_own() {
    let double = judge("f64", (7, 0.0), problem_of_squares::<f64>);
    let rough = (7, f64::from(f32::EPSILON));
    end([double, judge("f32", rough, problem_of_squares::<f32>)], 0.2);
}

/// What data sets of a case share: some of the parameters that are not fixed, all alike or in groups, with priors where weights are
/// absolute.
fn sharing(random: &mut Numbers, case: &Case) -> Sharing {
    let mut sharing = Sharing::default();
    let parameters = case.kind.between.len();
    let must = random.below(parameters);
    for j in (0..parameters).filter(|&j| !case.options.fixed[j]) {
        if j == must || random.one_in(3) {
            sharing = match random.below(3) {
                0 => sharing.with_groups(j, (0..SETS).map(|_| random.below(3)).collect()),
                _ => sharing.with_shared(j),
            };
        }
        if case.options.absolute && random.one_in(4) {
            let [low, high] = case.options.limit(0, j);
            let mean = case.start[[0, j]].clamp(low, high);
            sharing = sharing.with_prior(j, mean, 0.1 * mean.abs().max(0.1));
        }
    }
    sharing
}

/// What a full step of all parameters gains from where a part of a shared fit came to, beside the variance of the noise; nothing if not all of
/// it is called converged, and for what double precision does not tell.
fn left(judge: &Judge<'_>, fits: &CurveFits, sharing: &Sharing, part: &[usize]) -> Option<f64> {
    if !part.iter().all(|&fit| fits.is_found(fit)) {
        return None;
    }
    let program = judge.program();
    let mut evaluator = Evaluator::new(&program);
    let mut all = Equations { rows: Vec::new(), room: Vec::new(), cost: 0.0, size: 0.0 };
    let mut known: Vec<((usize, usize), usize)> = Vec::new();
    for &fit in part {
        let parameters = fits.parameters.row(fit).to_vec();
        let mut unknown = vec![None; parameters.len()];
        for j in 0..parameters.len() {
            if judge.options.fixed[j] || judge.jumps == Some(j) {
                continue;
            }
            let shared = sharing.shared.iter().find(|shared| shared.0 == j);
            let group = shared.map(|shared| shared.1.as_ref().map_or(0, |groups| groups[fit]));
            let name = (j, group.unwrap_or(SETS + fit));
            let room = judge.room(fit, j, parameters[j]);
            let number = known.iter().find(|known| known.0 == name).map(|known| known.1);
            let number = number.unwrap_or_else(|| {
                all.room.push(room);
                known.push((name, all.room.len() - 1));
                for prior in sharing.priors.iter().filter(|prior| prior.parameter == j) {
                    let left = (prior.mean - parameters[j]) / prior.deviation;
                    all.rows.push((left, vec![(all.room.len() - 1, 1.0 / prior.deviation)]));
                    all.cost += left * left;
                }
                all.room.len() - 1
            });
            unknown[j] = Some(number);
        }
        judge.add(&mut evaluator, &mut all, (fit, &parameters), |j| unknown[j]);
    }
    let degrees = all.rows.len() as f64 - all.room.len() as f64;
    judge.measured(&all, degrees, part[0])
}

/// The data sets that depend on each other.
fn parts(sharing: &Sharing) -> Vec<Vec<usize>> {
    let mut of: Vec<usize> = (0..SETS).collect();
    for _ in 0..SETS {
        for (_, groups) in &sharing.shared {
            for (a, b) in (0..SETS).flat_map(|a| (0..SETS).map(move |b| (a, b))) {
                if groups.as_ref().is_none_or(|groups| groups[a] == groups[b]) {
                    of[a] = of[a].min(of[b]);
                }
            }
        }
    }
    let all = (0..SETS).map(|part| (0..SETS).filter(|&fit| of[fit] == part).collect::<Vec<_>>());
    all.filter(|part| !part.is_empty()).collect()
}

/// Proves that from no fit that shares parameters and is called converged a full step of all parameters together gains more than
/// 10⁻³ of the variance of the noise: with groups, priors, limits, eliminated and searched, number by number and in lanes.
#[test]
fn no_step_of_what_is_shared_leads_lower() {
    let reference = CurveReference::new(1).expect("the calling thread");
    let lanes = CurveSimd::new(1, None).expect("the calling thread");
    let mut verdicts = [Verdict::of("the reference"), Verdict::of("lanes")];
    // A fit is that of several data sets.
    for number in 0..fits().div_ceil(2) as u64 {
        let random = &mut Numbers(8 << 32 | number);
        let case = Case::random(random, number % 4 == 3);
        let (sharing, judge) = (sharing(random, &case), case.judge());
        let (formula, curves, options) = (&case.formula, case.curves(), &case.options);
        let found = match number % 2 {
            0 => reference.fit_shared(formula, &curves, case.start(), options, &sharing),
            _ => lanes.double().fit_shared(formula, &curves, case.start(), options, &sharing),
        };
        let fits = found.expect("sound").fits;
        let told = |at| told(&case, number, &fits, at);
        verdicts[number as usize % 2].together(&judge, &fits, &sharing, told);
    }
    end(verdicts, 0.3);
}

/// Proves the same of data whose squares are beyond the range of numbers, or below it: what is called converged in any unit is a minimum in the
/// unit that the data had.
#[test]
fn units_hide_no_step() {
    let reference = CurveReference::new(1).expect("the calling thread");
    let mut verdicts = [Verdict::of("alone, in units"), Verdict::of("shared, in units")];
    for number in 0..(fits() / 2).div_ceil(SETS) as u64 {
        let random = &mut Numbers(13 << 32 | number);
        let case = Case::random(random, false);
        let exponent = [-290.0, -160.0, -140.0, -75.0, 70.0, 120.0, 160.0, 290.0][random.below(8)];
        let unit = match case.options.absolute {
            true => 10.0_f64.powf(exponent / 2.5),
            false => 10.0_f64.powf(exponent),
        };
        let (scaled, judge) = (case.in_unit(unit), case.judge());
        let mut sharing = sharing(random, &case);
        sharing.priors.clear();
        let (formula, curves, options) = (&case.formula, scaled.curves(), &scaled.options);
        let back = |mut fits: CurveFits| {
            for (j, mut column) in fits.parameters.columns_mut().into_iter().enumerate() {
                let is_linear = case.formula.linear()[j];
                column.mapv_inplace(|value| if is_linear { value / unit } else { value });
            }
            fits
        };
        let alone = back(reference.fit(formula, &curves, scaled.start(), options).expect("sound"));
        let of_alone = |at| format!("{unit:e}: {}", told(&case, number, &alone, at));
        verdicts[0].alone(&judge, &alone, 0..SETS, of_alone);
        let found = reference.fit_shared(formula, &curves, scaled.start(), options, &sharing);
        let fits = back(found.expect("sound").fits);
        let told = |at| format!("{unit:e}: {}", told(&case, number, &fits, at));
        verdicts[1].together(&judge, &fits, &sharing, told);
    }
    end(verdicts, 0.3);
}

/// Proves that from no fit with a loss that is called converged, alone or with shared parameters, a step of reweighted squares gains
/// more than 10⁻³ of the square of the scale, or of the variance of the reweighted residuals where that is larger.
#[test]
fn no_step_leads_lower_with_a_loss() {
    let fitters =
        [Backend::Reference, Backend::Cpu].map(|of| CurveFitter::new(of, 1).expect("a thread"));
    let mut verdicts = [Verdict::of("alone"), Verdict::of("together")];
    for number in 0..(fits() / 2).div_ceil(SETS) as u64 {
        let random = &mut Numbers(9 << 32 | number);
        let mut case = Case::random(random, false);
        for fit in 0..SETS {
            let at = random.below(case.data.ncols());
            case.data[[fit, at]] *= 1.0 + random.within([0.5, 3.0]);
        }
        let loss = Loss::ALL[random.below(4)];
        let noise = CurveNoise::default().with_loss(loss).with_scale(match random.below(2) {
            0 => LossScale::Auto,
            _ => LossScale::Held(0.1 * case.data[[0, 0]].abs().max(0.1)),
        });
        let model = Model::of_variables(case.kind.formula, &["x"]).expect("a formula");
        let (curves, options) = (case.curves(), &case.options);
        let fitter = &fitters[number as usize % 2];
        let alone = model.fit_noise(fitter, &curves, case.start(), options, &noise).expect("sound");
        let judge = Judge { loss: Some((loss, &alone.scales)), ..case.judge() };
        let fits = &alone.fits.fits;
        let of_alone = |at| format!("{loss:?}, {}", told(&case, number, fits, at));
        verdicts[0].alone(&judge, fits, 0..SETS, of_alone);
        if number % 4 > 1 {
            continue;
        }
        let mut sharing = sharing(random, &case);
        sharing.priors.clear();
        if sharing.shared.is_empty() {
            continue;
        }
        let together = model
            .fit_shared_noise(fitter, &curves, case.start(), options, &sharing, &noise)
            .expect("sound");
        let judge = Judge { loss: Some((loss, &together.scales)), ..case.judge() };
        let fits = &together.fits.shared.fits;
        let told = |at| format!("{loss:?}, {}", told(&case, number, fits, at));
        verdicts[1].together(&judge, fits, &sharing, told);
    }
    end(verdicts, 0.2);
}

/// Proves that a shared value by which the model jumps is no minimum where a search only cannot go on: it says so, or has found the
/// place that is best of all.
#[test]
fn a_jump_is_no_minimum() {
    let model = Model::formula("if(x < b, 2*exp((x - b)/2), c)", &["x"], &["b", "c"]).expect("one");
    let x = Array2::from_shape_fn((1, 40), |(_, at)| 0.25 * at as f64);
    let mut random = Numbers(10);
    let data = Array2::from_shape_fn((3, 40), |(_, at)| {
        let x = x[[0, at]];
        (if x < 6.4 { 2.0 * ((x - 6.4) / 2.0).exp() } else { 6.0 }) + 0.02 * random.noise()
    });
    let curves = shared(&data, &x, None);
    for backend in [Backend::Reference, Backend::Cpu] {
        let fitter = CurveFitter::new(backend, 1).expect("a thread");
        let mut count = 0;
        for begin in [3.0, 4.1, 5.0, 6.0, 7.3] {
            let start = [begin, 6.0];
            let sharing = Sharing::default().with_shared(0);
            let found = model
                .fit_shared(&fitter, &curves, (&start).into(), &model.options(), &sharing)
                .expect("sound");
            let part = &found.shared.parts[0];
            let is_found = part.status.is_converged() || part.status == Status::AtLimit;
            let best = 120.0 * 0.02_f64.powi(2);
            assert!(!is_found || part.chi2 < 2.0 * best, "{backend:?} from {begin}: {found:?}");
            count += usize::from(is_found);
        }
        // Nothing would be wrong where nothing is found.
        assert!(count >= 3, "{backend:?}: {count} of 5 are found");
    }
}

/// What fits a case, with its name.
type Fitter = (String, Box<dyn Fn(&Case) -> CurveFits>);

/// Every engine, and residuals of one's own.
fn fitters() -> Vec<Fitter> {
    let fitter =
        |engine: Engine| -> Fitter { (engine.name(), Box::new(move |case| case.fit(&engine))) };
    let all = engines().into_iter().skip(1).map(fitter);
    all.chain([("residuals of one's own".to_owned(), Box::new(problem::<f64>) as _)]).collect()
}

/// Cases whose limit of one parameter is where the data have their minimum without it, or a little above or below that, and what the
/// reference says of them. The number says by how many errors the limit is moved; where it is 0 the data are symmetric about a place, so
/// that rounding alone can push the place against its limit.
fn at_their_limits(count: usize) -> Vec<(Case, CurveFits, f64)> {
    let reference = Engine::reference();
    let fit = |case: &Case| case.fit(&reference);
    let mut all = Vec::new();
    for number in 0..count as u64 {
        let random = &mut Numbers(11 << 32 | number);
        let mut case = Case::random(random, false);
        let parameters = case.kind.between.len();
        let by: f64 = [0.0, 1e-5, -1e-5, 0.3, -0.3, 2.0][random.below(6)];
        let is_even = case.kind.formula.contains("^2");
        let j = case.formula.parameters().iter().position(|name| name == "m" && is_even);
        let j = if by == 0.0 { j } else { Some(random.below(parameters)) };
        let Some(j) = j.filter(|_| case.kind.jumps.is_none()) else { continue };
        case.options = CurveOptions::new(parameters)
            .with_tolerance(if by.abs() < 0.1 && by != 0.0 { 1e-7 } else { 1e-3 })
            .with_absolute(case.options.absolute)
            .with_linear(Linear::Searched);
        if by == 0.0 {
            let points = case.data.ncols();
            for tables in [Some(&mut case.data), case.weights.as_mut()].into_iter().flatten() {
                for mut row in tables.rows_mut() {
                    (0..points / 2).for_each(|at| row[at] = row[points - 1 - at]);
                }
            }
        }
        let free = fit(&case);
        if !(0..SETS).all(|fit| free.statuses[fit].is_converged()) {
            continue;
        }
        let mut limits = vec![[f64::NEG_INFINITY, f64::INFINITY]; parameters * SETS];
        for fit in 0..SETS {
            let limit = match by == 0.0 {
                true => 10.0,
                false => free.parameters[[fit, j]] + by * free.errors[[fit, j]],
            };
            limits[fit * parameters + j][0] = limit;
            for k in 0..parameters {
                case.start[[fit, k]] = free.parameters[[fit, k]] * random.within([0.98, 1.02]);
            }
            let at = &mut case.start[[fit, j]];
            *at = at.max(limit);
        }
        case.options = case.options.with_limits(CurveLimits::PerFit(limits));
        let wanted = fit(&case);
        all.push((case, wanted, by));
    }
    all
}

/// Compares what engines say of parameters at limits.
fn hold_alike(name: &str, cases: &[(Case, CurveFits, f64)], fit: impl Fn(&Case) -> CurveFits) {
    let (mut held, mut open) = (0, 0);
    for (number, (case, wanted, by)) in cases.iter().enumerate() {
        let found = fit(case);
        for at in (0..SETS).filter(|&at| wanted.is_found(at) && found.is_found(at)) {
            let near = found.chi2[at] / wanted.chi2[at];
            if !(0.999..1.001).contains(&near) {
                continue;
            }
            let what = format!("{name}, {number}.{at} {} by {by}", case.kind.formula);
            assert_eq!(found.degrees[at], wanted.degrees[at], "{what}");
            for j in 0..case.kind.between.len() {
                let [own, error] = [&found, wanted].map(|fits| fits.errors[[at, j]]);
                let far = (own - error).abs();
                assert!(own == error || far <= 0.02 * error, "{what}: {own} for {error}");
                held += usize::from(error == 0.0);
                open += usize::from(error > 0.0 && *by == 0.0);
            }
        }
    }
    println!("{name}: {held} are held, {open} beside limits that hold nothing");
    assert!(held > 50 && open > 50, "{name}: {held} held, {open} open");
}

/// Proves that every engine holds a parameter on its limit, with an error of 0 and a degree of freedom more, if the data push it
/// against the limit, and not otherwise: as the reference does.
#[test]
fn limits_hold_what_is_pushed() {
    let cases = at_their_limits(effort(150, 300, 3000));
    for (name, fit) in fitters() {
        hold_alike(&name, &cases, fit);
    }
    // Data that balance at a slope of 0, whose sums are exact.
    let x = Array2::from_shape_fn((1, 7), |(_, at)| at as f64 - 3.0);
    let data = Array2::from_shape_fn((SETS, 7), |(_, at)| [1.0, 3.0, 2.0, 5.0, 2.0, 3.0, 1.0][at]);
    let options = CurveOptions::new(2).with_lower(1, 0.0);
    let case = Case {
        kind: &KINDS[0],
        formula: KINDS[0].formula(),
        x,
        data,
        weights: None,
        start: Array2::ones((SETS, 2)),
        options,
    };
    // As if each were alone: a group for each; and so large a scale that it is squares.
    let sharing = Sharing::default().with_groups(1, (0..SETS).collect());
    let model = Model::of_variables("a + b*x", &["x"]).expect("a formula");
    let fitter = CurveFitter::new(Backend::Reference, 1).expect("a thread");
    let noise = CurveNoise::default().with_loss(Loss::Huber).with_scale(LossScale::Held(1e3));
    let (start, curves) = (case.start(), case.curves());
    let shared = model.fit_shared(&fitter, &curves, start, &case.options, &sharing);
    let mut shared = shared.expect("sound").shared.fits;
    // Those of a data set's own parameters beside its points.
    shared.degrees.iter_mut().for_each(|degrees| *degrees -= 1);
    let lost = model.fit_noise(&fitter, &curves, start, &case.options, &noise);
    let others = [
        ("the reference".to_owned(), case.fit(&Engine::reference())),
        ("shared".to_owned(), shared),
        ("a loss".to_owned(), lost.expect("sound").fits.fits),
    ];
    let all = fitters().into_iter().map(|(name, fit)| (name, fit(&case)));
    for (name, fits) in all.chain(others) {
        for at in 0..SETS {
            let errors = fits.errors.row(at);
            let mut both = [0.5785, 0.2893].iter().zip(errors);
            let right = both.all(|(right, error)| (error / right - 1.0).abs() < 1e-3);
            assert!(right && fits.degrees[at] == 5, "{name}: {errors}, {}", fits.degrees[at]);
        }
    }
}

/// Proves the same of the search whose threads have a parameter each: what it decides, it decides as the reference.
#[test]
fn limits_hold_what_is_pushed_with_a_parameter_a_thread() {
    let reference = Engine::reference();
    let (mut held, mut left) = (0, 0);
    for number in 0..effort(40, 80, 800) as u64 {
        let random = &mut Numbers(12 << 32 | number);
        let peaks = Peaks::new(1 + random.below(2), 40);
        let data = peaks.data(1).mapv(|value| value + random.noise());
        let (curves, start) = (Curves::new(data.view(), Points::Index), peaks.start());
        let fit =
            |start: &[f64], options: &_| reference.fit(&peaks.formula, &curves, start, options);
        let options = CurveOptions::new(start.len()).with_linear(Linear::Searched);
        let free = fit(&start, &options.clone().with_tolerance(1e-9));
        let j = random.below(start.len());
        let by = [0.0, 1e-5, 0.3, 2.0][number as usize % 4];
        let limit = f64::from((free.parameters[[0, j]] + by * free.errors[[0, j]]) as f32);
        let options = options.with_lower(j, limit);
        let mut begin = free.parameters.row(0).to_vec();
        begin[j] = begin[j].max(limit);
        let wanted = fit(&begin, &options);
        let (found, own) = fit_as_kernels_do::<16>(&peaks.formula, &curves, &begin, &options);
        left += own.len();
        if own.is_empty() {
            assert_eq!(found.degrees, wanted.degrees, "{number}: {j} by {by}");
            assert_eq!(found.errors[[0, j]] == 0.0, wanted.errors[[0, j]] == 0.0, "{number} {j}");
            held += usize::from(wanted.errors[[0, j]] == 0.0);
        }
    }
    println!("{held} are held, {left} left");
    assert!(held >= 10 && left > 0, "{held} held, {left} left");
}

/// Proves the same of a GPU in both precisions.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn limits_hold_what_is_pushed_on_the_gpu() {
    let gpu = Engine::gpu();
    let cases = at_their_limits(effort(150, 300, 3000));
    for precision in [CurvePrecision::Auto, CurvePrecision::F64] {
        hold_alike(&format!("GPU, {precision:?}"), &cases, |case| {
            let options = case.options.clone().with_precision(precision);
            gpu.fit(&case.formula, &case.curves(), case.start(), &options)
        });
    }
}
