//! Noise of other kinds than weights tell: outliers, successes among trials, weights of data or model, errors of x.

mod error;
mod held;
mod loss;
mod orthogonal;
mod outliers;
mod robust;
mod rounds;
mod scales;
mod schemes;
mod spread;
mod subsets;
mod together;
mod triangle;

use std::fmt;

use fit_core::{Estimator, Status};
use fit_curves::{CurveOptions, CurveStart, Curves, Values};
use ndarray::{Array2, Ix2};

pub use error::NoiseError;
pub use loss::{Loss, LossScale, UnknownLoss};
pub use outliers::Outlier;
pub use spread::Spread;
pub use together::SharedNoiseFits;

use super::copies::{weighted, weights_of};
use super::{CurveFitter, Model, ModelError, ModelFits, check_absolute};
pub(super) use held::fit_held;
pub(super) use robust::LossUnit;
use robust::Robust;
use rounds::{State, Task};
use schemes::{Binomial, OfModel};

/// A rule that weights follow, beside those that are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WeightRule {
    /// 1/|y|: the variance grows with the data. Points with y = 0 are left out.
    Data,
    /// 1/y²: the error is a share of the data. Points with y = 0 are left out.
    DataSquared,
    /// 1/|f| of the model's own values, which the noise does not change; for counts this finds what maximum likelihood finds.
    Model,
    /// 1/f² likewise.
    ModelSquared,
}

impl WeightRule {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::Data, Self::DataSquared, Self::Model, Self::ModelSquared];

    /// Its words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "1/y",
            Self::DataSquared => "1/y^2",
            Self::Model => "1/f",
            Self::ModelSquared => "1/f^2",
        }
    }

    /// Whether the model's values make the weights.
    pub const fn is_of_model(self) -> bool {
        matches!(self, Self::Model | Self::ModelSquared)
    }

    pub(crate) fn weight(self, value: f64) -> f64 {
        match self {
            Self::Data | Self::Model => 1.0 / value.abs(),
            Self::DataSquared | Self::ModelSquared => 1.0 / value / value,
        }
    }
}

/// What the noise of data is like; nothing else than the weights say by default.
///
/// ```
/// use ndarray::Array2;
/// use spotfit::Backend;
/// use spotfit::model::{CurveFitter, CurveNoise, Curves, Loss, Model, Points};
///
/// // A line with an outlier.
/// let mut data = Array2::from_shape_fn((1, 20), |(_, x)| 2.0 * x as f64 + [0.1, -0.1][x % 2]);
/// data[[0, 7]] = 100.0;
/// let curves = Curves::new(data.view(), Points::Index);
/// let model = Model::of_variables("a*x + b", &["x"])?;
/// let fitter = CurveFitter::new(Backend::Reference, 1)?;
/// let noise = CurveNoise::default().with_loss(Loss::Tukey).with_outlier_rate(0.01);
/// let start = (&[1.0, 0.0]).into();
/// let found = model.fit_noise(&fitter, &curves, start, &model.options(), &noise)?;
/// assert!((found.fits.of("a").unwrap()[0] - 2.0).abs() < 0.01);
/// assert_eq!(found.outliers.iter().map(|outlier| outlier.point).collect::<Vec<_>>(), [7]);
/// assert_eq!(found.weights.unwrap()[[0, 7]], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CurveNoise<'a> {
    /// A loss, which outliers change less than squares.
    pub loss: Option<Loss>,
    /// Its scale.
    pub scale: LossScale,
    /// List outliers; this share of them, on the average, is none. Needs a loss.
    pub outlier_rate: Option<f64>,
    /// A rule for weights, which multiplies those that are given.
    pub weights: Option<WeightRule>,
    /// Trials, (1, point) or (fit, point), among which the data are the successes: the model is their probability, and fits
    /// have the maximum likelihood.
    pub trials: Option<Values<'a, Ix2>>,
    /// Errors of the variables, where weights are 1/variance of y.
    pub x_errors: Option<Spread<'a>>,
}

impl<'a> CurveNoise<'a> {
    /// With a loss.
    #[must_use]
    pub fn with_loss(self, loss: impl Into<Option<Loss>>) -> Self {
        Self { loss: loss.into(), ..self }
    }

    /// With this scale of the loss.
    #[must_use]
    pub fn with_scale(self, scale: LossScale) -> Self {
        Self { scale, ..self }
    }

    /// With a list of outliers, this share of which is none, on the average.
    #[must_use]
    pub fn with_outlier_rate(self, rate: impl Into<Option<f64>>) -> Self {
        Self { outlier_rate: rate.into(), ..self }
    }

    /// With weights by a rule.
    #[must_use]
    pub fn with_weights(self, rule: impl Into<Option<WeightRule>>) -> Self {
        Self { weights: rule.into(), ..self }
    }

    /// With data that are successes among these trials.
    #[must_use]
    pub fn with_trials(self, trials: impl Into<Values<'a, Ix2>>) -> Self {
        Self { trials: Some(trials.into()), ..self }
    }

    /// With errors of the variables.
    #[must_use]
    pub fn with_x_errors(self, errors: impl Into<Spread<'a>>) -> Self {
        Self { x_errors: Some(errors.into()), ..self }
    }

    /// Whether weights say all.
    pub fn is_plain(&self) -> bool {
        let Self { loss, outlier_rate, weights, trials, x_errors, .. } = self;
        let none = loss.is_none() && outlier_rate.is_none() && weights.is_none();
        none && trials.is_none() && x_errors.is_none() && self.scale == LossScale::Auto
    }

    /// Checks what is told without data.
    ///
    /// # Errors
    /// What excludes each other, is missing, or is out of its range.
    pub fn check(&self, options: &CurveOptions) -> Result<(), NoiseError> {
        let of_model = self.weights.is_some_and(WeightRule::is_of_model);
        let likelihood = options.estimator == Estimator::MaximumLikelihood;
        let asked = [
            (self.loss.is_some(), "a loss"),
            (of_model, "weights of the model"),
            (self.trials.is_some(), "trials"),
            (self.x_errors.is_some(), "errors of x"),
            (likelihood, "maximum likelihood of counts"),
        ];
        let mut asked = asked.iter().filter(|asked| asked.0).map(|asked| asked.1);
        if let (Some(first), Some(second)) = (asked.next(), asked.next()) {
            return Err(NoiseError::Together { first, second, reason: "" });
        }
        let likely = likelihood || self.trials.is_some();
        if let (true, Some(_)) = (likely, self.weights) {
            let reason = ": a likelihood has its own";
            let second = "maximum likelihood";
            return Err(NoiseError::Together { first: "weights of the data", second, reason });
        }
        let needs = |what| Err(NoiseError::Needs { what, needed: "a loss" });
        if self.loss.is_none() && self.scale != LossScale::Auto {
            return needs("a scale");
        }
        if self.loss.is_none() && self.outlier_rate.is_some() {
            return needs("a list of outliers");
        }
        let range = |what, range, value| Err(NoiseError::Range { what, range, value });
        if let Some(rate) = self.outlier_rate.filter(|rate| !(*rate > 0.0 && *rate < 1.0)) {
            return range("the rate of outliers", "above 0 and below 1", rate);
        }
        match self.scale {
            LossScale::Held(scale) if !(scale > 0.0 && scale.is_finite()) => {
                range("the scale", "above 0", scale)
            }
            _ => Ok(()),
        }
    }
}

/// Points that count for nothing though no weight says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct UnweightedPoints {
    /// How many.
    pub points: usize,
    /// Among so many that have a weight.
    pub of: usize,
    /// Why.
    #[serde(skip)]
    pub reason: &'static str,
}

impl UnweightedPoints {
    const ZERO: &'static str = "the rule for weights has none for data of 0";
    const TRIALS: &'static str = "there are no trials";

    /// Adds those of other data sets.
    pub fn add(&mut self, other: Self) {
        *self = Self { points: self.points + other.points, of: self.of + other.of, ..other };
    }
}

impl fmt::Display for UnweightedPoints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { points, of, reason } = self;
        let are = if *points == 1 { "is" } else { "are" };
        write!(f, "{points} of {of} points {are} left out: {reason}")
    }
}

/// The outcomes of fits with noise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NoiseFits {
    /// The outcomes. With a loss, χ² is 2s²·Σρ(u), which is χ² where residuals are small; with trials it is the deviance.
    pub fits: ModelFits,
    /// The data (fit, point) that were fitted, if they are not those given: with trials the shares of successes.
    pub data: Option<Array2<f64>>,
    /// The weights (fit, point) that the last fits had, if they are not those given: with errors of x 1/(σy² + Σ(σx·∂f/∂x)²) with the slopes where the
    /// points lie on the curve.
    pub weights: Option<Array2<f64>>,
    /// The scale of each data set, with a loss; otherwise none.
    pub scales: Vec<f64>,
    /// Outliers, by data sets and points.
    pub outliers: Vec<Outlier>,
    /// Points that are left out: those of 0 by a rule for the data, and those without trials.
    pub left_out: UnweightedPoints,
    /// The loss that was asked for.
    pub(super) loss: Option<(Loss, LossScale)>,
    /// The weights (fit, point) that a rule for the data gave, with a loss.
    own: Option<Array2<f64>>,
    /// What makes weights that do not stay where a parameter is held, or the model is another.
    pub(super) moving: Option<&'static str>,
}

impl NoiseFits {
    /// Those of fits whose weights say all.
    pub(super) fn plain(fits: ModelFits) -> Self {
        let (data, weights, scales, outliers, left_out) = Default::default();
        let (loss, own, moving) = Default::default();
        Self { fits, data, weights, scales, outliers, left_out, loss, own, moving }
    }

    /// The data as they were fitted, for plots and statistics: shares of successes, and the weights that follow from rules and errors of
    /// x. Those of a loss are no weights of the data.
    pub fn shown<'a>(&'a self, curves: &'a Curves<'_>) -> Curves<'a> {
        let mut shown = curves.reborrow();
        if let Some(data) = &self.data {
            shown.data = data.view().into();
        }
        let weights = if self.loss.is_some() { &self.own } else { &self.weights };
        weighted(shown, weights.as_ref())
    }
}

impl Model {
    /// [`Model::fit_with`], with noise that weights alone do not tell.
    ///
    /// Fits are repeated with weights that follow from what was found, on every backend, until parameters move by less than
    /// a tenth of the tolerance (in single precision by less than 10⁻³ errors); those that have ended are not fitted again.
    /// [`CurveOptions::max_iterations`] bounds the repetitions, too. With errors of x the sum of the squares of all errors is least, those
    /// of x eliminated point by point (Boggs, Byrd, Schnabel 1987), in double precision on the CPU, from where least squares ends and from the start
    /// values; χ² is that sum.
    ///
    /// Errors are those of the theory of each: of M-estimators with a loss (Huber, Robust Statistics, 1981, 7.6), of Fisher's
    /// information with trials, of orthogonal distance regression with errors of x.
    ///
    /// # Errors
    /// As [`Model::fit_with`], and [`ModelError::Noise`], for absolute errors without weights and without a rule for them, too.
    pub fn fit_noise(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        noise: &CurveNoise<'_>,
    ) -> Result<NoiseFits, ModelError> {
        noise.check(options)?;
        if noise.weights.is_none() && noise.trials.is_none() {
            check_absolute(curves, options)?;
        }
        let plain = NoiseFits::plain;
        if noise.is_plain() {
            return self.fit_given(fitter, curves, start, options).map(plain);
        }
        if let Some(trials) = noise.trials {
            return self.fit_binomial(fitter, curves, start, options, &Binomial { trials });
        }
        let rule = noise.weights.filter(|rule| !rule.is_of_model());
        let own = rule.map(|rule| weights_of_data(curves, rule)).transpose()?;
        let (own, left_out) = own.unzip();
        let left_out = left_out.unwrap_or_default();
        let weighted = weighted(curves.reborrow(), own.as_ref());
        if let Some(errors) = noise.x_errors {
            let found = self.fit_orthogonal(fitter, &weighted, start, options, &errors)?;
            return Ok(NoiseFits { left_out, ..found });
        }
        let mut found = plain(self.fit_given(fitter, &weighted, start, options)?);
        found.left_out = left_out;
        let fits = &mut found.fits.fits;
        let task = Task::new(self, fitter, &weighted, options);
        if let Some(loss) = noise.loss {
            let robust = Robust { loss, scale: noise.scale };
            let beginning = self.beginning(fitter, &weighted, start, options);
            let (weights, scales, outliers) =
                robust.fit(&task, fits, beginning, noise.outlier_rate)?;
            let (weights, loss) = (Some(weights), Some((loss, noise.scale)));
            return Ok(NoiseFits { weights, scales, outliers, loss, own, ..found });
        }
        let mut states = vec![State::default(); fits.len()];
        found.weights = match noise.weights {
            Some(rule) if rule.is_of_model() => {
                found.moving = Some("weights of the model");
                Some(task.rounds(&OfModel(rule), fits, &mut states)?)
            }
            _ => own,
        };
        Ok(found)
    }

    /// Where fits begin (fit, parameter), if that is known without fits.
    fn beginning(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Option<Array2<f64>> {
        let shape = (curves.count(), options.parameters());
        match start {
            CurveStart::Shared(start) => Some(Array2::from_shape_fn(shape, |(_, j)| start[j])),
            CurveStart::PerFit(start) => {
                Some(Array2::from_shape_fn(shape, |(fit, j)| start.get([fit, j])))
            }
            _ if self.named.is_some() => self.start(fitter, curves, options).ok(),
            _ => None,
        }
    }

    fn fit_binomial(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        binomial: &Binomial<'_>,
    ) -> Result<NoiseFits, ModelError> {
        let (count, points) = (curves.count(), curves.points());
        check_shape("trials", &binomial.trials.shape(), &[count, points])?;
        check_weights(curves)?;
        let mut shares = Array2::zeros((count, points));
        let mut weights = Array2::zeros((count, points));
        let mut left_out =
            UnweightedPoints { reason: UnweightedPoints::TRIALS, ..UnweightedPoints::default() };
        for fit in 0..count {
            let given = weights_of(curves, fit);
            let trials = binomial.trials(fit, points);
            let mut data = vec![0.0; points];
            curves.data.row(fit, &mut data);
            for (point, (&n, &k)) in trials.iter().zip(&data).enumerate() {
                // What is left out says nothing.
                if given[point] == 0.0 {
                    continue;
                }
                if !(n >= 0.0 && n.is_finite()) {
                    return Err(NoiseError::Trials { fit, point, value: n }.into());
                }
                if k < 0.0 || k > n {
                    return Err(NoiseError::Successes { fit, point, value: k, trials: n }.into());
                }
                left_out.of += 1;
                left_out.points += usize::from(n == 0.0);
                if n > 0.0 {
                    shares[[fit, point]] = k / n;
                    // As if there were a trial more, of either outcome.
                    let p = if k.is_finite() { (k + 0.5) / (n + 1.0) } else { 0.5 };
                    weights[[fit, point]] = Binomial::weight(n, p, 1e-12);
                }
            }
        }
        let weighted =
            Curves::new(shares.view(), curves.reborrow().points).with_weights(weights.view());
        let options = options.clone().with_absolute(true);
        let mut found = self.fit_with(fitter, &weighted, start, &options)?;
        let fits = &mut found.fits;
        let task = Task::new(self, fitter, &weighted, &options);
        let mut states = vec![State::default(); count];
        let last = task.rounds(binomial, fits, &mut states)?;
        let deviances = fitter.double().map(count, |fit| {
            let seen = task.see(fit, fits.parameters.row(fit).to_vec());
            let values = task.values(&seen.parameters, &seen.places);
            let trials = binomial.trials(fit, points);
            Binomial::deviance(&trials, &seen.data, &values, &seen.weights)
        });
        for (fit, deviance) in deviances.into_iter().enumerate() {
            if fits.statuses[fit] == Status::Invalid {
                continue;
            }
            fits.chi2[fit] = deviance;
            // No probability.
            if !deviance.is_finite() && fits.is_found(fit) {
                fits.statuses[fit] = Status::NotConverged;
            }
        }
        let (data, weights) = (Some(shares), Some(last));
        let moving = Some("trials");
        Ok(NoiseFits { data, weights, left_out, moving, ..NoiseFits::plain(found) })
    }
}

/// Given weights times those of a rule for the data, and the points that have none by the rule.
fn weights_of_data(
    curves: &Curves<'_>,
    rule: WeightRule,
) -> Result<(Array2<f64>, UnweightedPoints), ModelError> {
    check_weights(curves)?;
    let mut left_out =
        UnweightedPoints { reason: UnweightedPoints::ZERO, ..UnweightedPoints::default() };
    let mut all = Array2::zeros((curves.count(), curves.points()));
    let mut data = vec![0.0; curves.points()];
    for (fit, mut row) in all.rows_mut().into_iter().enumerate() {
        curves.data.row(fit, &mut data);
        for ((to, value), given) in row.iter_mut().zip(&data).zip(weights_of(curves, fit)) {
            let weight = rule.weight(*value) * given;
            left_out.of += usize::from(given > 0.0);
            left_out.points += usize::from(given > 0.0 && *value == 0.0);
            // Data that are no numbers make the fit invalid, as they do without a rule.
            *to = match (*value == 0.0 || given == 0.0, value.is_finite()) {
                (true, _) => 0.0,
                (false, false) => given,
                (false, true) => weight.min(f64::MAX),
            };
        }
    }
    Ok((all, left_out))
}

/// Checks that there are weights for all data.
fn check_weights(curves: &Curves<'_>) -> Result<(), NoiseError> {
    let Some(weights) = curves.weights else { return Ok(()) };
    check_shape("weights", &weights.shape(), &[curves.count(), curves.points()])
}

/// Checks the shape of an array with a row for each fit, or one for all.
fn check_shape(what: &'static str, found: &[usize], wanted: &[usize]) -> Result<(), NoiseError> {
    let is_right = found.len() == wanted.len()
        && found[1..] == wanted[1..]
        && [1, wanted[0]].contains(&found[0]);
    let count = wanted[0];
    let (found, wanted) = (found.to_vec(), wanted.to_vec());
    if is_right { Ok(()) } else { Err(NoiseError::Shape { what, found, wanted, count }) }
}
