//! Noise of other kinds than weights tell, as a user types it.

use std::ops::Range;
use std::path::Path;

use clap::Args;
use ndarray::{Array2, Array3, Axis};
use spotfit::columns::ColumnOptions;
use spotfit::model::{
    CurveNoise, CurveOptions, Curves, Loss, LossScale, Model, NoiseError, NoiseFits, Spread,
    Values, WeightRule,
};
use spotfit::steps::curve::OutlierTable;

use super::CurveArguments;
use super::words::EstimatorChoice;
use crate::error::CliError;
use crate::words::data::{Data, Numbers, read_all};
use crate::words::output::Output;
use crate::words::paths::refuse_ending;
use crate::words::written::WrittenFile;

#[derive(Debug, Args)]
pub(super) struct NoiseArguments {
    /// What large residuals cost, so that outliers change less: huber (for few), soft_l1 (a smooth huber), cauchy or tukey (no weight at
    /// all beyond 4.7 standard deviations). Without it all cost their squares.
    #[arg(long, value_name = "LOSS", help_heading = "Noise")]
    loss: Option<Loss>,
    /// The standard deviation that the loss takes residuals to have: a number, or auto, that of each data set's own residuals (Tukey's
    /// biweight scale, which outliers hardly change; 1 with --absolute). With weights that of residuals times √weight.
    #[arg(long, default_value = "auto", value_name = "auto|S", value_parser = scale, help_heading = "Noise")]
    scale: LossScale,
    /// Write the points that are outliers: a .csv file with fit, point, x, y, residual, score (residual beside scale) and p. Needs --loss.
    #[arg(long, value_name = "OUTLIERS.csv", help_heading = "Noise")]
    pub(super) outliers: Option<WrittenFile>,
    /// At most this share of the outliers that are written is none, on the average (false discovery rate).
    #[arg(long, default_value_t = 0.01, value_name = "Q", help_heading = "Noise")]
    outlier_rate: f64,
    /// For --estimator binomial: the trials in which the data are the successes: their number, a column of a text, or an NPY file
    /// with an array (point) or (fit, point).
    #[arg(long, value_name = "N|COLUMN|TRIALS.npy", help_heading = "Noise")]
    trials: Option<String>,
    /// The standard deviation of x: a number, a column of a text, or an NPY file with an array as of --x. Needs the errors of y
    /// (--error-columns or --weights of 1/variance). The sum of the squares of all errors is least (orthogonal distance regression).
    #[arg(long, value_name = "S|COLUMN|ERRORS.npy", help_heading = "Noise")]
    x_errors: Option<String>,
    /// The columns of a text that have the standard deviations of y: one for each data set, by names or numbers; or what their names have
    /// behind those of the data sets, such as _sd. Weights are 1/variance; errors follow from them with --absolute.
    #[arg(long, value_delimiter = ',', value_name = "SUFFIX|NAME|N,...", help_heading = "Data")]
    error_columns: Vec<String>,
    /// The columns of a text that are the variables of a model of several; --columns then has data sets only.
    #[arg(long, value_delimiter = ',', value_name = "NAME|N,...", help_heading = "Data")]
    x_columns: Vec<String>,
    /// A long table: each value of these columns, which may be words, is a data set, with x and y in the columns beside them.
    #[arg(long, value_delimiter = ',', value_name = "NAME|N,...", help_heading = "Data")]
    by: Vec<String>,
}

fn scale(word: &str) -> Result<LossScale, String> {
    match word {
        "auto" => Ok(LossScale::Auto),
        number => number.parse().map(LossScale::Held).map_err(|_| "auto or a number".to_owned()),
    }
}

/// The file that a word names.
fn file(word: &str) -> Option<&Path> {
    let path = Path::new(word);
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("npy")).then_some(path)
}

/// What a word may be.
enum Known {
    Number(f64),
    Held(Numbers),
    /// A column of the data.
    Column,
}

impl Known {
    fn of(option: &str, word: Option<&str>, is_text: bool) -> Result<Option<Self>, CliError> {
        let Some(word) = word else { return Ok(None) };
        Ok(Some(match (file(word), word.parse()) {
            (Some(path), _) => Self::Held(read_all(path)?),
            (None, Ok(number)) => Self::Number(number),
            (None, Err(_)) if is_text => Self::Column,
            (None, Err(_)) => {
                let reason = "is neither a number nor an NPY file; the data have no columns";
                return Err(CliError::Other(format!("{option}: '{word}' {reason}")));
            }
        }))
    }
}

impl NoiseArguments {
    /// Whether residuals cost something else than their squares.
    pub(super) fn has_loss(&self) -> bool {
        self.loss.is_some()
    }

    /// The files that are read.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let words = [("trials", &self.trials), ("x errors", &self.x_errors)];
        words.into_iter().filter_map(|(role, word)| Some((role, file(word.as_deref()?)?)))
    }

    /// What is read of a text.
    pub(super) fn columns(&self, options: ColumnOptions) -> ColumnOptions {
        let trimmed = |names: &[String]| names.iter().map(|name| name.trim().to_owned()).collect();
        let column = |word: &Option<String>| {
            word.clone().filter(|word| file(word).is_none() && word.parse::<f64>().is_err())
        };
        // A suffix may begin or end with a space.
        options
            .with_error_columns(self.error_columns.clone())
            .with_x_columns(trimmed(&self.x_columns))
            .with_by(trimmed(&self.by))
            .with_trials(column(&self.trials))
            .with_x_errors(column(&self.x_errors))
    }
}

/// The rule for weights that is meant, if no file is.
fn rule(word: &str) -> Option<WeightRule> {
    WeightRule::ALL.into_iter().find(|rule| rule.name() == word.trim())
}

/// The weight of all points, if it is one number.
fn number(word: &str) -> Option<f64> {
    word.trim().parse().ok()
}

/// The file with weights, if they are in one.
pub(super) fn weights_file(arguments: &CurveArguments) -> Option<&Path> {
    let is_file = |word: &&str| rule(word).is_none() && number(word).is_none();
    arguments.weights.as_deref().filter(is_file).map(Path::new)
}

/// The weights that are given, if no rule is.
pub(super) fn weights(
    arguments: &CurveArguments,
    points: usize,
) -> Result<Option<Numbers>, CliError> {
    match arguments.weights.as_deref().and_then(number) {
        None => weights_file(arguments).map(read_all).transpose(),
        Some(weight) if weight > 0.0 && weight.is_finite() => {
            Ok(Some(Numbers::same("--weights", points, weight)))
        }
        Some(weight) => Err(CliError::option("weights", &weight.to_string(), "above 0")),
    }
}

/// What is told of the noise without arrays.
fn plain<'a>(arguments: &CurveArguments) -> CurveNoise<'a> {
    let NoiseArguments { loss, scale, outliers, outlier_rate, .. } = &arguments.noise;
    CurveNoise::default()
        .with_loss(*loss)
        .with_scale(*scale)
        .with_outlier_rate(outliers.as_ref().map(|_| *outlier_rate))
        .with_weights(arguments.weights.as_deref().and_then(rule))
}

/// The noise of all data sets.
pub(super) struct Noise<'c> {
    arguments: &'c CurveArguments,
    trials: Option<Known>,
    x_errors: Option<Known>,
}

/// What kind of noise it is.
pub(super) struct NoiseWord {
    /// The option.
    pub(super) word: &'static str,
    /// Whether χ² stays what it is: Σw(f − d)² with the final weights.
    pub(super) has_chi2: bool,
    /// Whether fits of other parameters or models can be compared with it.
    pub(super) has_profile: bool,
}

/// What belongs to some of them.
pub(super) struct Part<'c> {
    arguments: &'c CurveArguments,
    trials: Option<Array2<f64>>,
    x_errors: Option<Array3<f64>>,
}

impl<'c> Noise<'c> {
    pub(super) fn of(
        arguments: &'c CurveArguments,
        data: &Data,
        options: &CurveOptions,
    ) -> Result<Self, CliError> {
        let is_text = data.is_text();
        let trials = Known::of("--trials", arguments.noise.trials.as_deref(), is_text)?;
        let x_errors = Known::of("--x-errors", arguments.noise.x_errors.as_deref(), is_text)?;
        let is_binomial = matches!(arguments.estimator, EstimatorChoice::Binomial);
        match (is_binomial, &trials) {
            (true, None) => {
                let reason = "--estimator binomial needs --trials: a number, a column, or a file";
                return Err(CliError::Other(reason.to_owned()));
            }
            (false, Some(_)) => {
                let reason = "--trials are for --estimator binomial";
                return Err(CliError::Other(reason.to_owned()));
            }
            _ => {}
        }
        let noise = Self { arguments, trials, x_errors };
        // What excludes each other is known before anything is fitted.
        let some = Array2::<f64>::zeros((1, 1));
        let mut asked = plain(arguments);
        if noise.trials.is_some() {
            asked = asked.with_trials(some.view());
        }
        if noise.x_errors.is_some() {
            asked = asked.with_x_errors(0.0);
        }
        asked.check(options).map_err(refused)?;
        Ok(noise)
    }

    /// What belongs to some of the data sets.
    pub(super) fn part(&self, part: &Range<usize>, data: &Data) -> Result<Part<'c>, CliError> {
        let trials = match &self.trials {
            None => None,
            Some(Known::Number(number)) => Some(Array2::from_elem((1, data.points), *number)),
            Some(Known::Held(numbers)) => Some(numbers.rows(part, data.count)?),
            Some(Known::Column) => data.trials(part),
        };
        let x_errors = match &self.x_errors {
            None => None,
            Some(Known::Number(number)) => Some(Array3::from_elem((1, 1, 1), *number)),
            Some(Known::Held(numbers)) => Some(numbers.part(part, data.count)?),
            Some(Known::Column) => data.x_errors(part).map(|rows| rows.insert_axis(Axis(1))),
        };
        Ok(Part { arguments: self.arguments, trials, x_errors })
    }

    /// The rule that makes the weights, but for what errors of x add to them.
    pub(super) fn rule(&self) -> Option<WeightRule> {
        plain(self.arguments).weights.filter(|_| self.x_errors.is_none())
    }

    /// The word for noise that weights alone do not tell, and what is known of it.
    pub(super) fn what(&self) -> Option<NoiseWord> {
        let of = |word, has_chi2, has_profile| Some(NoiseWord { word, has_chi2, has_profile });
        let CurveNoise { loss, weights, .. } = plain(self.arguments);
        match (loss, &self.trials, &self.x_errors, weights) {
            (Some(_), ..) => of("--loss", false, true),
            (_, Some(_), ..) => of("--estimator binomial", false, false),
            (_, _, Some(_), _) => of("--x-errors", true, false),
            (.., Some(_)) => of("--weights that follow the model or the data", true, false),
            _ => None,
        }
    }
}

impl Part<'_> {
    pub(super) fn noise(&self) -> CurveNoise<'_> {
        let mut noise = plain(self.arguments);
        if let Some(trials) = &self.trials {
            noise = noise.with_trials(trials.view());
        }
        if let Some(errors) = &self.x_errors {
            noise = noise.with_x_errors(match errors.dim() {
                (1, 1, 1) => Spread::All(errors[[0, 0, 0]]),
                _ => Spread::Each(Values::from(errors.view())),
            });
        }
        noise
    }
}

/// The table of outliers, if it is asked for.
pub(super) fn outliers(
    arguments: &CurveArguments,
    model: &Model,
) -> Result<Option<OutlierTable<Output>>, CliError> {
    let Some(path) = &arguments.noise.outliers else { return Ok(None) };
    refuse_ending(path, &["csv"], "a list of outliers")?;
    let output = Output::create(path)?;
    let written = CliError::write(output.name());
    OutlierTable::create(output, model.variables()).map(Some).map_err(written)
}

/// Lists the outliers of some data sets.
pub(super) fn list(
    table: &mut OutlierTable<Output>,
    curves: &Curves<'_>,
    names: &[String],
    first: usize,
    found: &NoiseFits,
) -> Result<(), CliError> {
    let file = table.get_ref().name().to_owned();
    table.write(curves, names, first, &found.outliers).map_err(CliError::write(&file))
}

/// The error of noise, with options as they are typed.
fn refused(error: NoiseError) -> CliError {
    CliError::Other(error.to_string())
}
