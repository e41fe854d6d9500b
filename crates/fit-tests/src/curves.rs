//! Curves: what is fitted, who fits it, and how alike outcomes have to be.

use fit_core::Status;
use fit_cpu::{BatchError, CurveReference, CurveSimd};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, GpufitBuffers, Points, Values};
use fit_formula::{Axes, Evaluator, Formula};
use fit_gpu::CurveGpu;
use fit_sim::Random;
use ndarray::{Array2, ArrayView1};
use spotfit::model::Model;

use crate::sets;

/// A formula of x, or the name of a model, with its truth, its points, and the deviation of its data.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// A formula of x or a name.
    pub formula: &'static str,
    /// Its parameters, in its own order.
    pub truth: &'static [f64],
    /// How many points it has.
    pub points: usize,
    /// The first point and the last.
    pub range: [f64; 2],
    /// Whether x grows by factors.
    pub by_factors: bool,
    /// The standard deviation of each datum.
    pub noise: f64,
}

/// A curve at even distances.
pub const fn curve(
    formula: &'static str,
    truth: &'static [f64],
    points: usize,
    range: [f64; 2],
    noise: f64,
) -> Curve {
    Curve { formula, truth, points, range, by_factors: false, noise }
}

impl Curve {
    /// The same at points that grow by factors.
    pub const fn by_factors(self) -> Self {
        Self { by_factors: true, ..self }
    }

    /// Its points.
    pub fn x(&self) -> Vec<f64> {
        let [low, high] = self.range;
        let steps = (self.points - 1) as f64;
        let of = |at: usize| match self.by_factors {
            true => low * (high / low).powf(at as f64 / steps),
            false => low + (high - low) / steps * at as f64,
        };
        (0..self.points).map(of).collect()
    }

    /// Its model.
    pub fn model(&self) -> Model {
        model(self.formula)
    }

    /// The values of the truth.
    pub fn values(&self) -> Vec<f64> {
        values(&self.model(), self.truth, &self.x())
    }

    /// Data sets (fit, point) with noise.
    pub fn data(&self, count: usize, random: &mut Random) -> Array2<f64> {
        let values = self.values();
        Array2::from_shape_fn((count, self.points), |(_, at)| {
            values[at] + self.noise * random.normal()
        })
    }

    /// Starts near the truth.
    pub fn start(&self) -> Vec<f64> {
        self.truth.iter().enumerate().map(|(j, value)| value * [1.1, 0.92][j % 2]).collect()
    }

    /// Data with noise and so many outliers in each data set, of either sign and of a size between these numbers of standard
    /// deviations: (data, weights of the good points).
    pub fn data_of(
        &self,
        count: usize,
        outliers: usize,
        sizes: [f64; 2],
        seed: u64,
    ) -> (Array2<f64>, Array2<f64>) {
        let mut random = Random::new(seed, 1);
        let mut data = self.data(count, &mut random);
        let sizes = sizes.map(|size| size * self.noise);
        let weights = with_outliers(&mut data, outliers, sizes, &mut random);
        (data, weights)
    }
}

/// Makes so many outliers of the points of each data set, of either sign and of a size between these: weights of the good points.
pub fn with_outliers(
    data: &mut Array2<f64>,
    outliers: usize,
    [least, most]: [f64; 2],
    random: &mut Random,
) -> Array2<f64> {
    let (count, points) = data.dim();
    let mut weights = Array2::ones((count, points));
    for fit in 0..count {
        let mut left = outliers;
        while left > 0 {
            let at = (random.uniform() * points as f64) as usize % points;
            if weights[[fit, at]] == 0.0 {
                continue;
            }
            let sign = if random.uniform() < 0.5 { -1.0 } else { 1.0 };
            data[[fit, at]] += sign * random.uniform_in(least, most);
            weights[[fit, at]] = 0.0;
            left -= 1;
        }
    }
    weights
}

/// A model with a name, or a formula of x.
///
/// # Panics
/// If it is neither.
pub fn model(text: &str) -> Model {
    match Model::all().any(|(name, _, _)| name == text) {
        true => Model::named(text).expect(text),
        false => Model::of_variables(text, &["x"]).expect(text),
    }
}

/// The values of a model of x.
pub fn values(model: &Model, parameters: &[f64], x: &[f64]) -> Vec<f64> {
    let places: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
    model.values(parameters, &places)
}

/// The values of a formula at some places.
pub fn values_of(formula: &Formula, parameters: &[f64], places: &[Vec<f64>]) -> Vec<f64> {
    let program = formula.program(Axes::Together, &vec![true; parameters.len()]);
    let mut evaluator = Evaluator::new(&program);
    evaluator.set_parameters(parameters);
    places.iter().map(|place| evaluator.value(place)).collect()
}

/// Numbers as a row of an array.
pub fn row(numbers: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((1, numbers.len()), |(_, at)| numbers[at])
}

/// Data sets at points that all share, with weights or without.
pub fn shared<'a>(
    data: &'a Array2<f64>,
    x: &'a Array2<f64>,
    weights: Option<&'a Array2<f64>>,
) -> Curves<'a> {
    let curves = Curves::new(data.view(), Points::Shared(Values::from(x.view())));
    match weights {
        Some(weights) => curves.with_weights(weights.view()),
        None => curves,
    }
}

/// A decay: a·exp(−x/t) + c.
pub fn decay() -> Formula {
    Formula::new("a*exp(-x/t) + c", &["x"], &["a", "t", "c"]).expect("a formula")
}

/// Where fits of [`decays`] begin.
pub const DECAY_START: [f64; 3] = [10.0, 5.0, 0.5];

/// Decays at 0, 1, 2 and so on, with noise that is the same on every machine.
pub fn decays(count: usize, points: usize) -> Array2<f64> {
    let mut state = 7_u64;
    Array2::from_shape_fn((count, points), |(fit, x)| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let noise = (state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5;
        let (a, t) = (8.0 + (fit % 7) as f64, 4.0 + (fit % 5) as f64);
        a * (-(x as f64) / t).exp() + 1.0 + 0.2 * noise
    })
}

/// Numbers that are the same on every machine (SplitMix64).
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number of a range.
    pub fn within(&mut self, [low, high]: [f64; 2]) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below another.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// True once in so many times.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Nearly normal, of deviation 1.
    pub fn noise(&mut self) -> f64 {
        (0..12).map(|_| self.within([0.0, 1.0])).sum::<f64>() - 6.0
    }
}

/// What Gpufit's search found.
#[derive(Clone, Debug, PartialEq)]
pub struct GpufitFound {
    /// Of each fit, by their numbers.
    pub parameters: Array2<f32>,
    /// How each fit ended.
    pub states: Vec<i32>,
    /// χ² of each fit.
    pub chi2: Vec<f32>,
    /// The iterations of each fit.
    pub iterations: Vec<i32>,
}

impl GpufitFound {
    /// Nothing yet of so many fits.
    pub fn none(count: usize, parameters: usize) -> Self {
        let whole = vec![-7; count];
        let parameters = Array2::from_elem((count, parameters), -7.0);
        Self { parameters, states: whole.clone(), chi2: vec![-7.0; count], iterations: whole }
    }

    /// Room for it.
    ///
    /// # Panics
    /// If the parameters are not in one piece, as they are at first.
    pub fn room(&mut self) -> GpufitBuffers<'_> {
        GpufitBuffers {
            parameters: self.parameters.as_slice_mut().expect("in one piece"),
            states: &mut self.states,
            chi2: &mut self.chi2,
            iterations: &mut self.iterations,
        }
    }
}

/// Who fits curves.
#[derive(Debug)]
pub enum Engine {
    /// The reference: double precision, number by number.
    Reference(CurveReference),
    /// Lanes in single precision, which finish in double precision what needs that.
    Lanes(CurveSimd),
    /// Lanes in double precision from the start.
    Double(CurveSimd),
    /// A GPU, and what fits the rest.
    Gpu(Box<CurveGpu>, CurveSimd),
}

impl Engine {
    /// The reference on the calling thread.
    ///
    /// # Panics
    /// If there is none.
    pub fn reference() -> Self {
        Self::Reference(CurveReference::new(1).expect("the calling thread"))
    }

    /// The lanes of each instruction set that this processor has.
    pub fn lanes(threads: usize) -> impl Iterator<Item = Self> {
        sets().map(move |set| Self::Lanes(CurveSimd::new(threads, Some(set)).expect("threads")))
    }

    /// The same in double precision from the start.
    pub fn double(threads: usize) -> impl Iterator<Item = Self> {
        sets().map(move |set| Self::Double(CurveSimd::new(threads, Some(set)).expect("threads")))
    }

    /// The first GPU.
    ///
    /// # Panics
    /// If there is none.
    pub fn gpu() -> Self {
        let gpu = CurveGpu::new(0).expect("a GPU");
        Self::Gpu(Box::new(gpu), CurveSimd::new(0, None).expect("threads"))
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Reference(_) => "the reference".to_owned(),
            Self::Lanes(lanes) => lanes.instruction_set().to_string(),
            Self::Double(lanes) => format!("{} in f64", lanes.instruction_set()),
            Self::Gpu(..) => "GPU".to_owned(),
        }
    }

    /// Fits data sets, or says why not.
    ///
    /// # Errors
    /// As the engine's own.
    ///
    /// # Panics
    /// If a GPU fails.
    pub fn try_fit<'a>(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: impl Into<CurveStart<'a>>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError> {
        let start = start.into();
        match self {
            Self::Reference(reference) => reference.fit(formula, curves, start, options),
            Self::Lanes(lanes) => lanes.fit(formula, curves, start, options),
            Self::Double(lanes) => lanes.double().fit(formula, curves, start, options),
            Self::Gpu(gpu, rest) => {
                let found = gpu.fit(formula, curves, start, options);
                let (mut fits, left) = found.expect("a GPU");
                rest.double().fit_left(formula, curves, start, options, &left, &mut fits)?;
                Ok(fits)
            }
        }
    }

    /// Fits data sets, and says which a GPU leaves to others.
    ///
    /// # Panics
    /// If they are refused.
    pub fn decide<'a>(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: impl Into<CurveStart<'a>>,
        options: &CurveOptions,
    ) -> (CurveFits, Vec<usize>) {
        match self {
            Self::Gpu(gpu, _) => gpu.fit(formula, curves, start.into(), options).expect("a GPU"),
            _ => (self.fit(formula, curves, start, options), Vec::new()),
        }
    }

    /// Fits data sets.
    ///
    /// # Panics
    /// If they are refused.
    pub fn fit<'a>(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: impl Into<CurveStart<'a>>,
        options: &CurveOptions,
    ) -> CurveFits {
        self.try_fit(formula, curves, start, options).expect("sound")
    }
}

/// How far a number is from another, in units of a size; the same is the same, whatever the unit.
fn off(found: f64, wanted: f64, size: f64) -> f64 {
    if found == wanted { 0.0 } else { (found - wanted).abs() / size }
}

/// How far outcomes may be from others.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// Parameters, in standard errors.
    pub parameters: f64,
    /// Whether a parameter may be off by that share of itself, where it is larger than its error.
    pub or_itself: bool,
    /// Errors, as a share.
    pub errors: f64,
    /// χ², as a share, of this size at least.
    pub chi2: [f64; 2],
    /// Covariances, as a share of both errors.
    pub covariance: f64,
}

impl Alike {
    /// Nothing but a status and degrees of freedom.
    pub const ANYTHING: Self = Self {
        parameters: f64::INFINITY,
        or_itself: false,
        errors: f64::INFINITY,
        chi2: [f64::INFINITY, 0.0],
        covariance: f64::INFINITY,
    };

    /// What single precision may do: parameters and errors within 1 %, χ² within 10⁻⁴.
    pub const SINGLE: Self = Self {
        parameters: 0.01,
        or_itself: false,
        errors: 0.01,
        chi2: [1e-4, 1e-300],
        covariance: 0.02,
    };

    /// Checks that all fits are alike: both converge or none does, with the same degrees of freedom; what is held is the same to the bit.
    ///
    /// # Panics
    /// If they are not.
    pub fn check(&self, what: &str, wanted: &CurveFits, found: &CurveFits) {
        assert_eq!(wanted.len(), found.len(), "{what}");
        self.check_in(0..wanted.len(), what, wanted, found);
    }

    /// The same for some fits.
    ///
    /// # Panics
    /// If they are not.
    pub fn check_in(
        &self,
        these: impl Iterator<Item = usize>,
        what: &str,
        wanted: &CurveFits,
        found: &CurveFits,
    ) {
        for fit in these {
            let statuses = [wanted.statuses[fit], found.statuses[fit]];
            let both = statuses.map(Status::is_converged);
            assert!(statuses[0] == statuses[1] || both == [true; 2], "{what} {fit}: {statuses:?}");
            assert_eq!(wanted.degrees[fit], found.degrees[fit], "{what} {fit}");
            if statuses[0] == Status::Invalid {
                assert!(found.parameters.row(fit).iter().all(|value| value.is_nan()), "{what}");
                continue;
            }
            let [chi2, least] = self.chi2;
            let apart = off(found.chi2[fit], wanted.chi2[fit], wanted.chi2[fit].max(least));
            assert!(apart <= chi2, "{what} {fit}: χ² is off by {apart:e}");
            for j in 0..wanted.parameters.ncols() {
                let [value, own] = [wanted, found].map(|fits| fits.parameters[[fit, j]]);
                let [error, stated] = [wanted, found].map(|fits| fits.errors[[fit, j]]);
                let size = if self.or_itself { error.max(value.abs()) } else { error };
                let apart = off(own, value, size);
                assert!(apart <= self.parameters, "{what} {fit} {j}: {own}, {value} ± {error}");
                let apart = off(stated, error, error);
                assert!(apart <= self.errors, "{what} {fit} {j}: errors {stated}, {error}");
                for k in 0..if wanted.covariance.is_empty() { 0 } else { j } {
                    let [one, other] = [wanted, found].map(|fits| fits.covariance[[fit, j, k]]);
                    let apart = off(other, one, error * wanted.errors[[fit, k]]);
                    assert!(apart <= self.covariance, "{what} {fit}: covariance {j} {k}");
                }
            }
        }
    }

    /// How many of these fits have parameters that are near others'.
    pub fn near(
        &self,
        these: impl Iterator<Item = usize>,
        wanted: &CurveFits,
        found: &CurveFits,
    ) -> usize {
        let near = |fit: &usize| {
            let all = |of: &CurveFits| of.parameters.row(*fit).to_vec();
            let pairs = all(found).into_iter().zip(all(wanted));
            let errors: ArrayView1<'_, f64> = wanted.errors.row(*fit);
            pairs
                .zip(errors)
                .all(|((own, value), error)| off(own, value, *error) <= self.parameters)
        };
        these.filter(near).count()
    }
}
