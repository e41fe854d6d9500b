//! The logic of the GPU's kernels for formulas on the host: a formula is evaluated where their marks are.

use std::cell::RefCell;

use fit_core::Estimator;
use fit_core::curve::At;
use fit_cpu::CurveSimd;
use fit_curves::{
    Chunk, CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, GpufitOptions, Linear, Points,
    Rules, SingleFit, SingleFits, chunks,
};
use fit_formula::{Evaluator, Formula};
use fit_gpu_kernel::curve::{Begin, Curve, OwnCurve, fit};
use fit_gpu_kernel::{CurveJob, CurveMethod, GpufitJob, gpufit};
use fit_sim::Random;
use fit_tests::curves::{Alike, DECAY_START as START, Engine, GpufitFound, decay, decays};
use ndarray::{Array2, s};

use super::cooperative::{Found, emulated, numbers_of, undecided};

/// A data set, and the formula in the place of the marks.
struct Emulated<'p> {
    /// With an amplitude of 1 and no background.
    formula: RefCell<Evaluator<'p>>,
    amplitude: f64,
    background: f64,
    eliminated: u32,
    data: Vec<f32>,
    weights: Vec<f32>,
    own_weights: bool,
}

impl Curve<f32, 3> for Emulated<'_> {
    fn mine(&self) -> [usize; 2] {
        [0, 1]
    }
    fn points(&self) -> usize {
        self.data.len()
    }
    fn datum(&self, point: usize) -> f32 {
        self.data[point]
    }
    fn weight(&self, point: usize) -> f32 {
        self.weights[point]
    }
    fn prepare(&mut self, parameters: &[f32; 3]) {
        let [a, t, c] = parameters.map(f64::from);
        self.formula.get_mut().set_parameters(&[1.0, t, 0.0]);
        (self.amplitude, self.background) = (a, c);
    }
    fn at(&self, point: usize) -> At<f32, 3> {
        let mut formula = self.formula.borrow_mut();
        let value = (self.amplitude * formula.value(&[point as f64]) + self.background) as f32;
        let mut by = [0.0; 3];
        formula.derivatives(&mut by);
        At { value, by: by.map(|derivative| derivative as f32) }
    }
    fn scales(&self) -> [f32; 3] {
        [1.0, self.amplitude as f32, 1.0]
    }
    fn sum(&self, value: f32) -> f32 {
        value
    }
}

impl OwnCurve<f32, 3> for Emulated<'_> {
    fn set_datum(&mut self, point: usize, value: f32) {
        self.data[point] = value;
    }
    fn weighted(&self) -> [bool; 2] {
        [!self.weights.is_empty(), self.own_weights]
    }
    fn set_weight(&mut self, point: usize, value: f32) {
        self.weights[point] = value;
    }
    fn eliminated(&self) -> u32 {
        self.eliminated
    }
    fn most(&self, value: f32) -> f32 {
        value
    }
}

impl<'p> Emulated<'p> {
    fn new(batch: &'p CurveBatch<'_, '_, '_>, data: Vec<f32>, weights: Vec<f32>) -> Self {
        let formula = RefCell::new(Evaluator::new(batch.program.as_ref().expect("a formula")));
        let (amplitude, background) = (1.0, 0.0);
        let own_weights = batch.has_own_weights();
        Self { formula, amplitude, background, eliminated: 0, data, weights, own_weights }
    }
}

/// Fits as a thread of a kernel does. Also returns which fits are left to another fitter.
fn fit_as_kernels_do(
    formula: &Formula,
    curves: &Curves<'_>,
    options: &CurveOptions,
) -> (CurveFits, Vec<usize>) {
    let batch = CurveBatch::new(formula, curves, (&START).into(), options, true).expect("sound");
    let poisson = options.estimator == Estimator::MaximumLikelihood;
    let own_weights = batch.has_own_weights();
    let [share, square] = options.ends();
    let task = CurveJob {
        points: curves.points() as u32,
        own_weights: own_weights.into(),
        max_iterations: options.max_iterations as f32,
        share: share as f32,
        square: square as f32,
        ..CurveJob::new()
    };
    let limit = |end: usize| [0, 1, 2].map(|j| batch.limit(0, j)[end] as f32);
    let begin =
        Begin { initial: START.map(|value| value as f32), lower: limit(0), upper: limit(1) };
    emulated(&batch, &START, |data, weights| {
        let mut curve = Emulated::new(&batch, data, weights);
        curve.eliminated = batch.explicit.eliminated as u32;
        let found = match (poisson, own_weights) {
            (true, _) => fit::<_, _, 3, { CurveMethod::POISSON }>(&mut curve, &task, &begin),
            (_, true) => fit::<_, _, 3, { CurveMethod::WEIGHTED }>(&mut curve, &task, &begin),
            _ => fit::<_, _, 3, { CurveMethod::PLAIN }>(&mut curve, &task, &begin),
        };
        Found {
            parameters: found.parameters.to_vec(),
            errors: found.errors.to_vec(),
            others: found.others,
            covariance: (0..3).map(|j| found.covariance.0[j].to_vec()).collect(),
        }
    })
}

/// A decay without noise.
fn exact(x: usize) -> f64 {
    9.0 * (-(x as f64) / 4.0).exp() + 1.0
}

/// Proves that kernels find what the reference finds, by least squares and maximum likelihood, with weights, masked points,
/// limits and held parameters, for data of any size, and leave to it what they cannot decide.
#[test]
fn kernels_find_what_the_reference_finds() {
    let formula = decay();
    let count = 60;
    let plain = CurveOptions::new(3);
    let searched = plain.clone().with_linear(Linear::Searched);
    let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
    let limited = plain.clone().with_lower(0, 9.5).with_upper(1, 6.5);
    let held = plain.clone().with_fixed(2);
    let absolute = plain.clone().with_absolute(true);
    let mut weights =
        Array2::from_shape_fn((count, 31), |(fit, x)| 25.0 * (1.0 + 0.3 * ((fit + x) % 4) as f64));
    for fit in 0..count {
        weights[[fit, fit % 31]] = if fit % 2 == 0 { 0.0 } else { f64::NAN };
    }
    for (weighted, options) in [
        (false, &plain),
        (false, &searched),
        (false, &likelihood),
        (true, &likelihood),
        (false, &limited),
        (false, &held),
        (true, &absolute),
        (true, &plain),
    ] {
        let mut data = decays(count, 31);
        if weighted {
            // Nobody looks at what is masked.
            (0..count).for_each(|fit| data[[fit, fit % 31]] = f64::INFINITY);
        }
        let mut curves = Curves::new(data.view(), Points::Index);
        if weighted {
            curves = curves.with_weights(weights.view());
        }
        let what = format!("{weighted}, {options:?}");
        let wanted = Engine::reference().fit(&formula, &curves, &START, options);
        let (found, left) = fit_as_kernels_do(&formula, &curves, options);
        assert!(left.is_empty(), "{what}: {left:?}");
        Alike { chi2: [1e-3, 0.0], ..Alike::SINGLE }.check(&what, &wanted, &found);
    }
    let data = undecided(decays(4, 31), exact);
    let curves = Curves::new(data.view(), Points::Index);
    assert_eq!(fit_as_kernels_do(&formula, &curves, &plain).1, [0, 1, 2, 3]);
}

/// Proves that kernels of Gpufit's search take the steps of double precision, by least squares, with weights and by maximum likelihood, with limits
/// and held parameters, and leave what they cannot decide with its start values.
#[test]
fn kernels_take_gpufits_steps() {
    let formula = decay();
    let fitter = CurveSimd::new(1, None).expect("the calling thread");
    let (count, settings) = (60, GpufitOptions::new(1e-4, 30));
    let plain = CurveOptions::new(3).with_linear(Linear::Searched).with_covariance(false);
    let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
    let limited = plain.clone().with_upper(0, 10.5).with_lower(1, 4.5);
    let data = decays(count, 31);
    let starts = Array2::from_shape_fn((count, 3), |(_, j)| START[j]);
    for (weight, options) in [
        (None, &plain),
        (Some(3e8), &plain),
        (None, &likelihood),
        (None, &limited),
        (Some(2.0), &limited.clone().with_fixed(2)),
    ] {
        let weights = Array2::from_shape_fn((count, 31), |(fit, x)| {
            if (fit + x) % 9 == 0 { 0.0 } else { weight.unwrap_or(1.0) * (1 + x % 3) as f64 }
        });
        let mut curves = Curves::new(data.view(), Points::Index);
        if weight.is_some() {
            curves = curves.with_weights(weights.view());
        }
        let mut wanted = GpufitFound::none(count, 3);
        let (all, start) = ((0..count).collect::<Vec<_>>(), starts.view().into());
        let those = (Some(&all[..]), wanted.room());
        let done = fitter.fit_gpufit(&formula, &curves, start, options, &settings, those);
        done.expect("sound");
        let batch = CurveBatch::of_gpufit(&formula, &curves, starts.view().into(), options, true);
        let batch = batch.expect("sound");
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let mut alike = 0;
        for fit in 0..count {
            let found = step_as_kernels_do(&batch, &settings, poisson, fit);
            assert_eq!(found.state, wanted.states[fit] as f32, "{options:?} {fit}");
            alike += usize::from(found.iterations == wanted.iterations[fit] as f32);
            assert!((found.chi2 / wanted.chi2[fit] - 1.0).abs() < 1e-4, "{options:?} {fit}");
            for j in 0..3 {
                let off = (found.parameters[j] / wanted.parameters[[fit, j]] - 1.0).abs();
                assert!(off < 1e-3, "{options:?} {fit} {j}: {off}");
            }
        }
        assert!(alike >= count - 1, "{options:?}: {alike}");
    }
    let data = undecided(decays(4, 31), exact);
    let curves = Curves::new(data.view(), Points::Index);
    let starts = Array2::from_shape_fn((4, 3), |(_, j)| START[j]);
    let batch = CurveBatch::of_gpufit(&formula, &curves, starts.view().into(), &plain, true)
        .expect("sound");
    for fit in [0, 2, 3] {
        let found = step_as_kernels_do(&batch, &settings, false, fit);
        assert_eq!(found.state, GpufitJob::LEFT as f32, "{fit}");
        assert_eq!(found.parameters, START.map(|start| start as f32), "{fit}");
    }
}

/// Gpufit's search as a thread of a kernel does it.
fn step_as_kernels_do(
    batch: &CurveBatch<'_, '_, '_>,
    settings: &GpufitOptions,
    poisson: bool,
    fit: usize,
) -> gpufit::GpufitOutcome<f32, 3> {
    let (data, weights) = numbers_of(batch, fit);
    let task = GpufitJob {
        curve: CurveJob {
            points: batch.curves.points() as u32,
            own_weights: batch.has_own_weights().into(),
            max_iterations: settings.max_iterations as f32,
            ..CurveJob::new()
        },
        tolerance: settings.tolerance,
        held: settings.held(batch.options, 3) as u32,
        poisson: poisson.into(),
        ..GpufitJob::new()
    };
    let limit = |end: usize| [0, 1, 2].map(|j| batch.options.limit(fit, j)[end] as f32);
    let mut initial = [0.0; 3];
    batch.read_start(fit, &mut initial);
    let begin = Begin { initial, lower: limit(0), upper: limit(1) };
    gpufit::fit(&mut Emulated::new(batch, data, weights), &task, &begin)
}

/// Proves that outcomes which stay as a device writes them leave the same fits to another fitter as those that are put into double
/// precision; and that what is left is known by its status.
#[test]
fn records_leave_what_fits_leave() {
    const COUNT: usize = 20_000;
    let formula = decay();
    let parameters = START.len();
    let mut random = Random::new(7, 0);
    let data = Array2::<f32>::ones((COUNT, 30));
    let curves = Curves::new(data.view(), Points::Index);
    let starts = Array2::from_shape_fn((COUNT, parameters), |(fit, j)| START[j] + fit as f64);
    let wrong: Vec<bool> = (0..COUNT).map(|fit| fit % 97 == 5).collect();
    let plain = CurveOptions::new(parameters).with_linear(Linear::Searched);
    let likelihood = plain.clone().with_estimator(Estimator::MaximumLikelihood);
    for (own, options) in [
        (false, plain.clone()),
        (true, plain.clone().with_absolute(true)),
        (true, likelihood),
        (false, plain.with_covariance(false)),
    ] {
        let numbers = CurveJob::found_numbers(parameters, options.covariance);
        let mut found = vec![0.0; COUNT * numbers];
        let power = |random: &mut Random, least: f64, most: f64| {
            10.0_f64.powf(least + (most - least) * random.uniform()) as f32
        };
        for fit in 0..COUNT {
            for j in 0..parameters {
                found[fit * parameters + j] = power(&mut random, -2.0, 3.0);
                found[(COUNT + fit) * parameters + j] = match random.uniform() {
                    rare if rare < 0.02 => f32::INFINITY,
                    rare if rare < 0.04 => f32::NAN,
                    rare if rare < 0.06 => 0.0,
                    _ => power(&mut random, -6.0, 1.0),
                };
            }
            let status = (1.0 + 8.0 * random.uniform()).floor() as f32;
            let (size, unit) = (power(&mut random, -1.0, 2.0), (fit % 7) as f32 - 3.0);
            let (cost, steps) = (power(&mut random, -10.0, 1.0), (fit % 100) as f32);
            let others = [cost, steps, 9.0, status, 3.0, unit, 27.0, size];
            for (which, value) in others.into_iter().enumerate() {
                found[2 * COUNT * parameters + which * COUNT + fit] = value;
            }
            assert_eq!(found[SingleFits::status_at(fit, COUNT, parameters)], status);
        }
        let start = if own { starts.view().into() } else { CurveStart::Shared(&START) };
        let batch = CurveBatch::new(&formula, &curves, start, &options, true).expect("sound");
        let (sets, step) = if own { (COUNT, parameters) } else { (1, 0) };
        let of_each: Vec<f32> =
            starts.slice(s![..sets, ..]).iter().map(|&start| start as f32).collect();
        let singles = SingleFits { found: &found, starts: &of_each, step, wrong: &wrong };
        let mut fits = CurveFits::room(COUNT, parameters, options.covariance);
        let mut pieces = chunks(&mut fits, COUNT);
        singles.put(&batch, &mut pieces[0]);
        let wanted: Vec<usize> = pieces.iter_mut().flat_map(Chunk::take_left).collect();
        let lengths: Vec<f32> = of_each.iter().map(|&start| SingleFit::length(start)).collect();
        let left = singles.undecided(Rules::of(&batch), [COUNT, parameters], &lengths);
        assert_eq!(left, wanted, "{options:?}");
        assert!((COUNT / 20..COUNT - COUNT / 20).contains(&left.len()), "{}", left.len());
    }
}
