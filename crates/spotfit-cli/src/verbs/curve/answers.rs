//! What is asked of fits besides parameters.

use std::path::Path;

use clap::Args;
use spotfit::model::Model;
use spotfit::model::answers::{ComparedModel, FitAnswers};

use super::noise::NoiseWord;
use super::words;
use crate::error::CliError;
use crate::words::paths::refuse_ending;
use crate::words::splines::Splines;
use crate::words::written::WrittenFile;

#[derive(Debug, Args)]
pub(super) struct AnswerArguments {
    /// Add what is known of each fit: columns r_squared, adjusted_r_squared, aicc, bic, and p_value of chi2 or the deviance, which is empty
    /// unless --absolute is given or counts are fitted (mle).
    #[arg(long, help_heading = "Answers")]
    statistics: bool,
    /// Add the covariance of each pair of parameters: columns cov(a,t).
    #[arg(long, help_heading = "Answers")]
    covariance: bool,
    /// Add a quantity that follows from the parameters, such as half_life=t*ln(2), and its error, from all covariances: columns half_life
    /// and half_life_error. May be repeated.
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Answers")]
    derive: Vec<String>,
    /// Add the interval of each free parameter by profile likelihood, at a level such as 0.68: columns a_low, a_high, and a_interval, which says
    /// whether both ends are closed, one is a limit, or one is infinite.
    #[arg(long, value_name = "LEVEL", help_heading = "Answers")]
    intervals: Option<f64>,
    /// Fit another model, too, and compare both: the p-value of the F test, or of the likelihood ratio with --absolute or mle, the difference and
    /// the weight of AICc, and which model is preferred.
    #[arg(long, value_name = "FORMULA|NAME", help_heading = "Answers")]
    compare: Option<String>,
    /// The start values of the model that is compared. By default they are searched for.
    #[arg(
        long,
        value_name = "NAME=VALUE,...|auto",
        requires = "compare",
        help_heading = "Answers"
    )]
    compare_start: Option<String>,
    /// Draw bands of confidence and prediction at a level such as 0.95 in --plot and --report.
    #[arg(long, value_name = "LEVEL", help_heading = "Answers")]
    bands: Option<f64>,
    /// Write the bands at the points of all data sets to a CSV file: data set, x, value, and the ends of both bands.
    #[arg(long, value_name = "BANDS.csv", requires = "bands", help_heading = "Answers")]
    bands_table: Option<WrittenFile>,
    /// Write a page for a lab book: model, options, a table of fits with errors and R², and their plots, in one HTML file.
    #[arg(long = "report", value_name = "REPORT.html", help_heading = "Output")]
    page: Option<WrittenFile>,
}

/// The other files that are written.
pub(super) struct Beside<'a> {
    pub(super) bands: Option<(&'a Path, f64)>,
    pub(super) page: Option<&'a Path>,
}

impl AnswerArguments {
    /// Refuses what does not follow from fits whose weights are not those that were given: intervals and comparisons fit again with these
    /// weights or a loss, and with other costs than χ² statistics and bands mean something else.
    pub(super) fn check_noise(&self, noise: Option<NoiseWord>) -> Result<(), CliError> {
        let Some(NoiseWord { word, has_chi2, has_profile }) = noise else { return Ok(()) };
        let asked = [
            ("--intervals", self.intervals.is_some() && !has_profile),
            ("--compare", self.compare.is_some() && !has_profile),
            ("--statistics", self.statistics && !has_chi2),
            ("--bands", self.bands.is_some() && !has_chi2),
        ];
        match asked.into_iter().find(|asked| asked.1) {
            Some((option, _)) => Err(CliError::Other(format!("{option} does not go with {word}"))),
            None => Ok(()),
        }
    }

    /// Whether a page is written.
    pub(super) fn has_page(&self) -> bool {
        self.page.is_some()
    }

    /// The level of bands that are drawn.
    pub(super) fn bands(&self) -> Result<Option<f64>, CliError> {
        level("bands", self.bands)
    }

    /// The other files.
    pub(super) fn beside(&self) -> Result<Beside<'_>, CliError> {
        let bands = self.bands_table.as_deref().zip(self.bands()?);
        let page = self.page.as_deref();
        if let Some((path, _)) = bands {
            refuse_ending(path, &["csv"], "a table of bands")?;
        }
        if let Some(path) = page {
            refuse_ending(path, &["html", "htm"], "a report")?;
        }
        Ok(Beside { bands, page })
    }

    /// What is asked of fits of a model with these variables.
    pub(super) fn answers(
        &self,
        model: &Model,
        variables: &[String],
        splines: &[String],
    ) -> Result<FitAnswers, CliError> {
        let mut answers = FitAnswers::default()
            .with_statistics(self.statistics)
            .with_covariance(self.covariance)
            .with_intervals(level("intervals", self.intervals)?);
        for text in &self.derive {
            answers = answers
                .with_derived(text, model)
                .map_err(|error| CliError::Other(format!("--derive: {error}")))?;
        }
        let Some(text) = &self.compare else { return Ok(answers) };
        let splines = Splines::read(splines)?;
        let known = match model.variables().len() == variables.len() {
            true => model.variables(),
            false => variables,
        };
        let used = |(name, _): &(&str, &spotfit::model::Spline)| text.contains(name);
        let splines: Vec<_> = splines.named().into_iter().filter(used).collect();
        let other = words::model_of("--compare", text, known, &[], &splines)?;
        if other.variables().len() != model.variables().len() {
            let [own, others] = [model, &other].map(|model| model.variables().join(", "));
            let reason = format!("its variables are {others}, those of the model {own}");
            return Err(CliError::Other(format!("--compare: {reason}")));
        }
        let start = match self.compare_start.as_deref() {
            None | Some("auto") => None,
            Some(text) => Some(words::values("--compare-start", text, &other)?),
        };
        Ok(answers.with_compare(Some(Box::new(ComparedModel::new(other, start)))))
    }
}

/// A share of all that could be, neither nothing nor all.
pub(super) fn level(option: &str, level: Option<f64>) -> Result<Option<f64>, CliError> {
    match level {
        Some(level) if !(level > 0.0 && level < 1.0) => {
            Err(CliError::option(option, &level.to_string(), "above 0 and below 1"))
        }
        _ => Ok(level),
    }
}
