//! Data sets become parameters of a model.

use std::fmt;
use std::time::{Duration, Instant};

use super::fitted::{by_status, counts, found, rate, seconds};
use crate::model::{
    CurveFits, CurveFitter, CurveNoise, CurveOptions, CurveStart, Curves, Model, ModelError,
    NoiseFits, Sharing, UnweightedPoints,
};
use crate::{Status, StatusCounts};

pub use super::curve_answers::AnswerSummary;
pub use super::curve_bands::BandTable;
pub use super::curve_outliers::OutlierTable;
pub use super::curve_page::CurvePage;
pub use super::curve_part::CurvePart;
pub use super::curve_plot::{CurvePlot, LogX, PlottedFit};
pub use super::curve_shared::{SharedReport, ToldValue};
pub use super::curve_table::{CurveTable, check_answers, check_columns};

/// Values that are read, fitted and written at a time.
const CHUNK: usize = 1 << 21;

/// The report of fitting curves.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct CurveReport {
    /// The data sets.
    pub fits: usize,
    /// How many ended in which way.
    #[serde(serialize_with = "by_status")]
    pub statuses: StatusCounts,
    /// How many converged.
    pub converged: usize,
    /// How many ended on a limit.
    pub at_limit: usize,
    /// What was asked besides.
    #[serde(skip_serializing_if = "AnswerSummary::is_empty")]
    pub answers: AnswerSummary,
    /// Outliers, where they were listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outliers: Option<usize>,
    /// Points that were left out though their weight does not say so, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<UnweightedPoints>,
    /// What data sets share, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedReport>,
    /// Threads.
    pub threads: usize,
    /// How long fitting took, in seconds when serialized.
    #[serde(serialize_with = "seconds")]
    pub fitting: Duration,
    /// How long all took, with reading and writing.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
}

impl CurveReport {
    /// What came of data sets whose fits ended so, in so many threads. How long it took is not known.
    pub fn of(statuses: impl IntoIterator<Item = Status>, threads: usize) -> Self {
        let mut report = Self { threads, ..Self::default() };
        statuses.into_iter().for_each(|status| report.statuses.count(status));
        report.counted()
    }

    /// The same with what came of answers.
    #[must_use]
    pub fn with_answers(self, answers: AnswerSummary) -> Self {
        Self { answers, ..self }
    }

    /// What came of the fits, in words: the same wherever and however fast they ran.
    pub(super) fn outcome(&self) -> String {
        let Self { fits, statuses, converged, at_limit, answers, outliers, shared, .. } = self;
        let mut lines = vec![format!("{fits} fits: {}", counts(statuses))];
        lines.extend(self.left_out.as_ref().map(ToString::to_string));
        lines.extend((!answers.is_empty()).then(|| answers.to_string()));
        lines.extend(shared.as_ref().map(ToString::to_string));
        lines.extend(outliers.map(|outliers| {
            format!("{outliers} {}", if outliers == 1 { "outlier" } else { "outliers" })
        }));
        lines.push(found(*converged, *at_limit));
        lines.join("\n")
    }

    /// With the numbers that follow from those of all statuses.
    fn counted(self) -> Self {
        let counts = &self.statuses;
        let at_limit = counts.iter().find(|(status, _)| *status == Status::AtLimit);
        let at_limit = at_limit.map_or(0, |(_, count)| count);
        Self { fits: counts.total(), converged: counts.converged(), at_limit, ..self }
    }
}

impl fmt::Display for CurveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fits, threads, fitting, time, .. } = self;
        write!(
            f,
            "{}; {threads} threads; fitting {:.2} s ({}), in all {:.2} s",
            self.outcome(),
            fitting.as_secs_f64(),
            rate(*fits, *fitting),
            time.as_secs_f64(),
        )
    }
}

/// Fits a model to data sets part by part, as they are read.
///
/// ```
/// use spotfit::Backend;
/// use spotfit::model::{CurveFitter, CurveStart, Curves, Model, Points};
/// use spotfit::ndarray::Array2;
/// use spotfit::steps::curve::CurveFitting;
///
/// let model = Model::of_variables("a*x + b", &["x"])?;
/// let fitter = CurveFitter::new(Backend::Reference, 1)?;
/// let options = model.options();
/// let mut fitting = CurveFitting::begin(&model, &fitter, &options);
/// let data = Array2::from_shape_fn((3, 10), |(fit, x)| (fit * x) as f64 + 1.0);
/// fitting.fit(&Curves::new(data.view(), Points::Index), CurveStart::Shared(&[1.0, 1.0]))?;
/// assert_eq!(fitting.finish().converged, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CurveFitting<'a> {
    model: &'a Model,
    fitter: &'a CurveFitter,
    options: &'a CurveOptions,
    sharing: Sharing,
    groups: Vec<(usize, Vec<String>)>,
    begin: Instant,
    report: CurveReport,
}

impl<'a> CurveFitting<'a> {
    /// Begins with no data set.
    pub fn begin(model: &'a Model, fitter: &'a CurveFitter, options: &'a CurveOptions) -> Self {
        let (begin, (sharing, groups)) = (Instant::now(), Default::default());
        let report = CurveReport { threads: fitter.threads(), ..CurveReport::default() };
        Self { model, fitter, options, sharing, groups, begin, report }
    }

    /// With parameters that the data sets of each part share, or of which something is known beforehand; `groups` are the names of the
    /// groups of each parameter that has some. Data sets that share something must come together.
    #[must_use]
    pub fn with_sharing(self, sharing: Sharing, groups: Vec<(usize, Vec<String>)>) -> Self {
        Self { sharing, groups, ..self }
    }

    /// How many data sets of so many points [`CurveFitting::fit`] should best get at a time.
    pub fn chunk(points: usize) -> usize {
        (CHUNK / points.max(1)).max(1)
    }

    /// Fits the next data sets.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn fit(
        &mut self,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
    ) -> Result<CurveFits, ModelError> {
        Ok(self.fit_noise(curves, start, &CurveNoise::default())?.fits.fits)
    }

    /// The same with noise that weights alone do not tell.
    ///
    /// # Errors
    /// [`ModelError`].
    pub fn fit_noise(
        &mut self,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        noise: &CurveNoise<'_>,
    ) -> Result<NoiseFits, ModelError> {
        let begin = Instant::now();
        let Self { model, fitter, options, sharing, groups, report, .. } = self;
        let found = if sharing.is_empty() {
            model.fit_noise(fitter, curves, start, options, noise)?
        } else {
            let found = model.fit_shared_noise(fitter, curves, start, options, sharing, noise)?;
            let shared = SharedReport::of(model, &found.fits.shared, groups);
            report.shared.get_or_insert_default().add(shared);
            found.into_fits()
        };
        report.fitting += begin.elapsed();
        found.fits.fits.statuses.iter().for_each(|status| report.statuses.count(*status));
        report.left_out.get_or_insert_default().add(found.left_out);
        if noise.outlier_rate.is_some() {
            *report.outliers.get_or_insert(0) += found.outliers.len();
        }
        Ok(found)
    }

    /// The report of all data sets.
    pub fn finish(self) -> CurveReport {
        let left_out = self.report.left_out.filter(|left_out| left_out.points > 0);
        CurveReport { left_out, time: self.begin.elapsed(), ..self.report.counted() }
    }
}
