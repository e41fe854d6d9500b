//! The report of fitted curves: one page of HTML that needs no other file and no script.

use super::curve::CurveReport;
use super::curve_part::CurvePart;
use super::words::spread_over;
use crate::Estimator;
use crate::model::answers::{AnswerColumn, AnswerValues, FitStatistics, data_and_weights};
use crate::model::{CurveLimits, CurveOptions, Model};
use crate::report::figure::Drawing;
use crate::report::html::{ReportPage, ReportTable};
use crate::report::number::{five_digits, with_error};

/// The most fits in the table of the page.
const MOST: usize = 60;

/// A page for a lab book: model, options, a table of fits, and their plots.
#[derive(Clone, Debug)]
pub struct CurvePage {
    chosen: Vec<usize>,
    count: usize,
    head: ReportTable,
    /// The names of the columns, and what is in them.
    fits: Option<ReportTable>,
}

impl CurvePage {
    /// Of `count` fits of a model with these options.
    pub fn new(model: &Model, options: &CurveOptions, count: usize) -> Self {
        let estimator = match options.estimator {
            Estimator::LeastSquares if options.absolute => "least squares, weights are 1/variance",
            Estimator::LeastSquares => "least squares, errors are scaled by the residuals",
            _ => "maximum likelihood of counts",
        };
        let formula = format!("f({}) = {}", model.variables().join(", "), model.text());
        let names = || model.parameters().iter();
        let held = names().zip(&options.fixed).filter(|(_, fixed)| **fixed);
        let held: Vec<&str> = held.map(|(name, _)| name.as_str()).collect();
        let are_shared = matches!(options.limits, CurveLimits::Shared(_));
        let limits = names().enumerate().filter(|_| are_shared).filter_map(|(j, name)| {
            let ends = options.limit(0, j);
            let [low, high] = ends.map(five_digits);
            let is_limited = ends.iter().any(|end| end.is_finite());
            is_limited.then(|| format!("{name} from {low} to {high}"))
        });
        let limits: Vec<String> = limits.collect();
        let page = Self {
            chosen: spread_over(count, MOST),
            count,
            head: ReportTable::default(),
            fits: None,
        };
        let page = page.saying("Formula", &formula).saying("Fit", estimator);
        let page = if held.is_empty() { page } else { page.saying("Held", &held.join(", ")) };
        if limits.is_empty() { page } else { page.saying("Limits", &limits.join(", ")) }
    }

    /// The same with a line about it, such as the file of the data; both are text.
    #[must_use]
    pub fn saying(mut self, name: &str, value: &str) -> Self {
        self.head.row(name, [value]);
        self
    }

    /// Adds those of further fits that the table has, with what was asked of them besides.
    pub fn add(&mut self, part: CurvePart<'_>, answers: &[AnswerColumn], options: &CurveOptions) {
        let CurvePart { model, curves, fits, .. } = part;
        // R² stands there already.
        let answers = || answers.iter().filter(|column| column.name != "r_squared");
        let table = self.fits.get_or_insert_with(|| {
            let mut table = ReportTable::default();
            let own = model.parameters().iter().map(String::as_str);
            let all = own.chain(["χ²", "degrees", "R²", "ended as"]);
            table.head("data set", all.chain(answers().map(|column| &*column.name)));
            table
        });
        for at in part.rows(&self.chosen) {
            let found = fits.parameters.row(at).into_iter().zip(fits.errors.row(at));
            let found = found.map(|(value, error)| with_error(*value, *error));
            let [data, weights] = data_and_weights(curves, at);
            let (chi2, degrees) = (fits.chi2[at], fits.degrees[at]);
            let known = FitStatistics::new(&data, &weights, chi2, degrees, options);
            let status = fits.statuses[at].to_string();
            let last = [five_digits(chi2), degrees.to_string(), told(known.r_squared), status];
            let answers = answers().map(|column| match &column.values {
                AnswerValues::Numbers(all) => told(all[at]),
                AnswerValues::Words(all) => all[at].to_string(),
            });
            let name = part.name(at).map_or_else(|number| number.to_string(), str::to_owned);
            table.row(&name, found.chain(last).chain(answers));
        }
    }

    /// The page, with its title, what came of all fits, and the plots of some.
    pub fn html(&self, title: &str, report: &CurveReport, plots: &[Drawing]) -> String {
        let mut page = ReportPage::new(title);
        page.table(&self.head);
        page.heading("Outcome");
        report.outcome().lines().for_each(|line| page.say(line));
        if self.chosen.len() < self.count {
            page.say(&format!("{} of {} fits, evenly spread.", self.chosen.len(), self.count));
        }
        page.wide_table(self.fits.as_ref().unwrap_or(&ReportTable::default()));
        if !plots.is_empty() {
            page.heading("Data, model and residuals");
            page.figures(plots.iter().map(|plot| (plot, "")));
        }
        page.end("Errors are standard errors. ")
    }
}

/// A number, if it is known.
fn told(number: f64) -> String {
    if number.is_nan() { "–".to_owned() } else { five_digits(number) }
}
