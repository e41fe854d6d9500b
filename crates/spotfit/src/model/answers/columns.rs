//! Answers as columns of the table of fits.

use std::borrow::Cow;

use super::compare::compare_models;
use super::derived::{DerivedError, DerivedQuantity};
use super::intervals::Profiled;
use super::robust::compare_robust;
use super::sharing::Sharers;
use super::statistics::{FitStatistics, fit_statistics};
use crate::model::{
    CurveFitter, CurveNoise, CurveOptions, CurveStart, Curves, Model, ModelError, NoiseError,
    NoiseFits, Sharing,
};

/// The most letters of a word in a column.
pub const WORD_WIDTH: usize = 24;

/// A column beside those that every table of fits has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AnswerColumn {
    /// Its name.
    pub name: String,
    /// What is in it, a value for each fit.
    pub values: AnswerValues,
}

/// What is in a column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnswerValues {
    /// Numbers; NaN where nothing is known.
    Numbers(Vec<f64>),
    /// Words of at most [`WORD_WIDTH`] letters.
    Words(Vec<Cow<'static, str>>),
}

/// A model that the fitted one is compared with, and where its fits begin.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComparedModel {
    /// The model.
    pub model: Model,
    /// Its start values; without them it finds its own.
    pub start: Option<Vec<f64>>,
}

impl ComparedModel {
    /// A model whose fits begin there, or where it finds by itself.
    pub fn new(model: Model, start: Option<Vec<f64>>) -> Self {
        Self { model, start }
    }
}

fit_core::__options! {
    /// What is asked of fits.
    #[derive(Clone, Debug)]
    #[non_exhaustive]
    pub struct FitAnswers {
        /// Columns `cov(a,t)` for each pair of parameters.
        pub covariance(with_covariance): bool = false,
        /// Columns of derived quantities and their errors.
        pub derived(): Vec<DerivedQuantity> = Vec::new(),
        /// Columns `a_low`, `a_high` and `a_interval` at this level.
        pub intervals(with_intervals): Option<f64> = None,
        /// Columns of [`FitStatistics`].
        pub statistics(with_statistics): bool = false,
        /// Columns of the comparison with another model.
        pub compare(with_compare): Option<Box<ComparedModel>> = None,
    }
}

/// The columns of a comparison.
const COMPARED: [&str; 7] = [
    "compare_chi2",
    "compare_degrees",
    "compare_p_value",
    "aicc_difference",
    "aicc_weight",
    "compare_status",
    "preferred",
];

impl AnswerColumn {
    /// A column of this name.
    pub fn new(name: impl Into<String>, values: AnswerValues) -> Self {
        Self { name: name.into(), values }
    }

    /// Appends the values of another part of the fits.
    pub fn extend(&mut self, more: Self) {
        match (&mut self.values, more.values) {
            (AnswerValues::Numbers(all), AnswerValues::Numbers(more)) => all.extend(more),
            (AnswerValues::Words(all), AnswerValues::Words(more)) => all.extend(more),
            _ => debug_assert!(false, "parts of a column are of one kind"),
        }
    }

    /// Its name, and whether it has words.
    pub fn head(&self) -> (String, bool) {
        (self.name.clone(), matches!(self.values, AnswerValues::Words(_)))
    }
}

impl FitAnswers {
    /// The same and a quantity, from `NAME=FORMULA`.
    ///
    /// # Errors
    /// If the formula cannot be read, or has names that are no parameters of the model.
    pub fn with_derived(mut self, text: &str, model: &Model) -> Result<Self, DerivedError> {
        self.derived.push(DerivedQuantity::read(text, model)?);
        Ok(self)
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        let Self { covariance, derived, intervals, statistics, compare } = self;
        !covariance && derived.is_empty() && intervals.is_none() && !statistics && compare.is_none()
    }

    /// Whether fits must keep their covariance.
    pub fn needs_covariance(&self) -> bool {
        self.covariance || !self.derived.is_empty()
    }

    /// Refuses what is not known of fits that share parameters.
    ///
    /// # Errors
    /// [`ModelError::Shared`].
    pub fn check_sharing(&self, has_loss: bool, sharing: &Sharing) -> Result<(), ModelError> {
        let asked = self.intervals.is_some() || self.compare.is_some();
        let reason = match sharing.is_empty() {
            false if asked && has_loss => {
                "intervals and comparisons of fits that share parameters are those of least squares or counts, not of a loss"
            }
            false if asked && !sharing.priors.is_empty() => {
                "intervals and comparisons are for fits without priors"
            }
            _ => return Ok(()),
        };
        Err(ModelError::Shared(reason.into()))
    }

    /// The names of the columns for a model with these parameters, of which some are held, and whether they have words.
    pub fn names(&self, parameters: &[String], fixed: &[bool]) -> Vec<(String, bool)> {
        let mut names = Vec::new();
        if self.covariance {
            let pairs = pairs(parameters.len());
            let pair = |[j, k]: [usize; 2]| format!("cov({},{})", parameters[j], parameters[k]);
            names.extend(pairs.map(pair).map(|name| (name, false)));
        }
        for quantity in &self.derived {
            let name = quantity.name();
            names.extend([(name.to_owned(), false), (format!("{name}_error"), false)]);
        }
        if self.intervals.is_some() {
            for (name, _) in parameters.iter().zip(fixed).filter(|(_, fixed)| !**fixed) {
                let of = |what: &str| format!("{name}_{what}");
                names.extend([(of("low"), false), (of("high"), false), (of("interval"), true)]);
            }
        }
        if self.statistics {
            names.extend(FitStatistics::NAMES.map(|name| (name.to_owned(), false)));
        }
        if self.compare.is_some() {
            names
                .extend(COMPARED.iter().enumerate().map(|(at, name)| ((*name).to_owned(), at > 4)));
        }
        names
    }

    /// The columns of fits with these options, which have their covariance if it is needed. Intervals and comparisons are those of their loss, if they
    /// have one; statistics are those of χ². Where fits share parameters, all data sets that depend on one follow while it is held, and models
    /// are compared by all of them; with a loss or priors too, neither is known.
    ///
    /// # Errors
    /// Those of further fits, [`ModelError::Shared`], and [`NoiseError::Together`]: fits with trials, errors of x and weights of the model have no
    /// intervals and are not compared.
    pub fn columns(
        &self,
        model: &Model,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        found: &NoiseFits,
        options: &CurveOptions,
        sharing: &Sharing,
    ) -> Result<Vec<AnswerColumn>, ModelError> {
        self.check_sharing(found.loss.is_some(), sharing)?;
        if let (Some(second), true) =
            (found.moving, self.intervals.is_some() || self.compare.is_some())
        {
            let (first, reason) = ("intervals or comparisons", "");
            return Err(NoiseError::Together { first, second, reason }.into());
        }
        let (curves, fits) = (&found.shown(curves), &found.fits.fits);
        let parameters = model.parameters();
        let mut values = Vec::new();
        if self.covariance {
            let of = |[j, k]: [usize; 2]| {
                (0..fits.len()).map(|fit| fits.covariance[[fit, j, k]]).collect()
            };
            values.extend(pairs(parameters.len()).map(of).map(AnswerValues::Numbers));
        }
        let known = |fit: usize, value: f64| if fits.is_found(fit) { value } else { f64::NAN };
        for quantity in &self.derived {
            values.extend(quantity.of(fits).map(AnswerValues::Numbers));
        }
        if let Some(level) = self.intervals {
            let loss = found.loss.map(|(loss, _)| (loss, &found.scales[..]));
            let all = if sharing.is_empty() {
                Profiled { model, fitter, curves, loss }.intervals(fits, options, level)?
            } else {
                Sharers { model, fitter, curves, sharing }.intervals(fits, options, level)?
            };
            for (own, _) in all.iter().zip(&options.fixed).filter(|(_, fixed)| !**fixed) {
                let end = |end: usize| {
                    own.iter()
                        .map(|own| own.as_ref().map_or(f64::NAN, |own| own.ends[end]))
                        .collect()
                };
                let word = |own: &Option<super::ProfileInterval>| {
                    own.as_ref().map_or("none", super::ProfileInterval::word)
                };
                values.extend([end(0), end(1)].map(AnswerValues::Numbers));
                let words = own.iter().map(word).map(Cow::Borrowed);
                values.push(AnswerValues::Words(words.collect()));
            }
        }
        if self.statistics {
            let all = fit_statistics(fitter, curves, fits, options);
            let column = |at: usize| {
                all.iter().enumerate().map(|(fit, own)| known(fit, own.numbers()[at])).collect()
            };
            values.extend((0..FitStatistics::NAMES.len()).map(column).map(AnswerValues::Numbers));
        }
        if let Some(compare) = &self.compare {
            let sharers = Sharers { model, fitter, curves, sharing };
            values.extend(compared(compare, sharers, found, options)?);
        }
        let names = self.names(parameters, &options.fixed).into_iter();
        let column =
            |((name, _), values): ((String, bool), AnswerValues)| AnswerColumn { name, values };
        Ok(names.zip(values).map(column).collect())
    }
}

fn words(words: &mut dyn Iterator<Item = &'static str>) -> AnswerValues {
    AnswerValues::Words(words.map(Cow::Borrowed).collect())
}

/// The pairs of so many parameters.
fn pairs(count: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..count).flat_map(move |j| (j + 1..count).map(move |k| [j, k]))
}

/// Fits the other model, and compares.
fn compared(
    other: &ComparedModel,
    sharers: Sharers<'_, '_>,
    found: &NoiseFits,
    options: &CurveOptions,
) -> Result<[AnswerValues; 7], ModelError> {
    let model = &other.model;
    let Sharers { fitter, curves, sharing, .. } = sharers;
    let own = model
        .options()
        .with_estimator(options.estimator)
        .with_absolute(options.absolute)
        .with_linear(options.linear)
        .with_max_iterations(options.max_iterations)
        .with_tolerance(options.tolerance)
        .with_covariance(false);
    let start = other.start.as_deref().map_or(CurveStart::Estimate, CurveStart::Shared);
    let (second, all) = match found.loss {
        _ if !sharing.is_empty() => {
            sharers.compare(&found.fits.fits, options, (model, start, &own))?
        }
        None => {
            let second = model.fit_with(fitter, curves, start, &own)?.fits;
            let all = compare_models(fitter, curves, [&found.fits.fits, &second], options);
            (second, all)
        }
        Some((loss, scale)) => {
            let noise = CurveNoise::default().with_loss(loss).with_scale(scale);
            let second = model.fit_noise(fitter, curves, start, &own, &noise)?;
            let pair = [(sharers.model, found, options), (model, &second, &own)];
            let all = compare_robust(fitter, curves, pair)?;
            (second.fits.fits, all)
        }
    };
    let numbers = |of: &dyn Fn(&super::ModelComparison) -> f64| {
        AnswerValues::Numbers(all.iter().map(of).collect())
    };
    let degrees = second.degrees.iter().map(|&degrees| f64::from(degrees)).collect();
    Ok([
        AnswerValues::Numbers(second.chi2.clone()),
        AnswerValues::Numbers(degrees),
        numbers(&|one| one.p_value),
        numbers(&|one| one.aicc_difference),
        numbers(&|one| one.aicc_weight),
        words(&mut second.statuses.iter().map(|status| status.name())),
        words(&mut all.iter().map(|one| one.preferred.word())),
    ])
}
