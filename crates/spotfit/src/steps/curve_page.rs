//! The report of fitted curves: one page of HTML that needs no other file and no script.

use super::curve::CurveReport;
use crate::Estimator;
use crate::model::answers::{AnswerColumn, AnswerValues, FitStatistics};
use crate::model::{CurveFits, CurveOptions, Curves, Model};
use crate::report::figure::Drawing;
use crate::report::html::{self, Cells, row};
use crate::report::number::{five_digits, with_error};
use crate::report::svg::safe;

/// The most fits in the table of the page.
const MOST: usize = 60;

/// A page for a lab book: model, options, a table of fits, and their plots.
#[derive(Clone, Debug)]
pub struct CurvePage {
    chosen: Vec<usize>,
    count: usize,
    head: Vec<(String, String)>,
    columns: String,
    rows: String,
}

impl CurvePage {
    /// Of `count` fits of a model with these options.
    pub fn new(model: &Model, options: &CurveOptions, count: usize) -> Self {
        let most = MOST.min(count);
        let chosen = (0..most).map(|number| number * count / most.max(1)).collect();
        let estimator = match options.estimator {
            Estimator::LeastSquares if options.absolute => "least squares, weights are 1/variance",
            Estimator::LeastSquares => "least squares, errors are scaled by the residuals",
            _ => "maximum likelihood of counts",
        };
        let mut head = vec![
            (
                "Formula".to_owned(),
                format!("f({}) = {}", model.variables().join(", "), model.text()),
            ),
            ("Fit".to_owned(), estimator.to_owned()),
        ];
        let held = model.parameters().iter().zip(&options.fixed).filter(|(_, fixed)| **fixed);
        let held: Vec<&str> = held.map(|(name, _)| name.as_str()).collect();
        if !held.is_empty() {
            head.push(("Held".to_owned(), held.join(", ")));
        }
        let mut limits = Vec::new();
        for (j, name) in model.parameters().iter().enumerate() {
            if !matches!(options.limits, crate::model::CurveLimits::Shared(_)) {
                break;
            }
            let [low, high] = options.limit(0, j);
            if low.is_finite() || high.is_finite() {
                limits.push(format!("{name} from {} to {}", five_digits(low), five_digits(high)));
            }
        }
        if !limits.is_empty() {
            head.push(("Limits".to_owned(), limits.join(", ")));
        }
        Self { chosen, count, head, columns: String::new(), rows: String::new() }
    }

    /// The same with a line about it, such as the file of the data; both are text.
    #[must_use]
    pub fn saying(mut self, name: &str, value: &str) -> Self {
        self.head.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds those of further fits that the table has, the first of which has the number `first`; with what was asked of them besides.
    /// Names are those of all data sets.
    #[expect(clippy::too_many_arguments, reason = "a fit is all of this")]
    pub fn add(
        &mut self,
        model: &Model,
        curves: &Curves<'_>,
        names: &[String],
        first: usize,
        fits: &CurveFits,
        answers: &[AnswerColumn],
        options: &CurveOptions,
    ) {
        if self.columns.is_empty() {
            let own = model.parameters().iter().cloned();
            let last = ["χ²", "degrees", "R²", "ended as"].map(str::to_owned);
            // R² stands there already.
            let more = answers.iter().filter(|column| column.name != "r_squared");
            let all = own.chain(last).chain(more.map(|column| column.name.clone()));
            let cells: String = all.map(|name| format!("<th>{}</th>", safe(&name))).collect();
            self.columns = format!("<tr><th>data set</th>{cells}</tr>\n");
        }
        let here = first..first + fits.len();
        for &number in self.chosen.iter().filter(|number| here.contains(number)) {
            let at = number - first;
            let values = fits.parameters.row(at);
            let errors = fits.errors.row(at);
            let mut cells: Vec<String> = values
                .iter()
                .zip(errors)
                .map(|(value, error)| with_error(*value, *error))
                .collect();
            let [data, weights] = crate::model::answers::data_and_weights(curves, at);
            let (chi2, degrees) = (fits.chi2[at], fits.degrees[at]);
            let known = FitStatistics::new(&data, &weights, chi2, degrees, options);
            cells.extend([five_digits(chi2), degrees.to_string(), told(known.r_squared)]);
            cells.push(fits.statuses[at].to_string());
            for column in answers.iter().filter(|column| column.name != "r_squared") {
                cells.push(match &column.values {
                    AnswerValues::Numbers(all) => told(all[at]),
                    AnswerValues::Words(all) => all[at].to_string(),
                });
            }
            let named = names.get(number).filter(|name| !name.is_empty());
            let name = named.cloned().unwrap_or_else(|| number.to_string());
            self.rows.push_str(&row(&name, &cells, Cells::Words));
        }
    }

    /// The page, with its title, what came of all fits, and the plots of some.
    pub fn html(&self, title: &str, report: &CurveReport, plots: &[Drawing]) -> String {
        let head = self
            .head
            .iter()
            .map(|(name, value)| row(name, std::slice::from_ref(value), Cells::Words));
        let said: String =
            report.outcome().lines().map(|line| format!("<p>{}</p>\n", safe(line))).collect();
        let which = match self.chosen.len() == self.count {
            true => String::new(),
            false => {
                format!("<p>{} of {} fits, evenly spread.</p>\n", self.chosen.len(), self.count)
            }
        };
        let plots: String = plots.iter().map(|plot| html::figure(&plot.svg(), "")).collect();
        let plots = match plots.is_empty() {
            true => String::new(),
            false => format!("<h2>Data, model and residuals</h2>\n{}", html::figures(&plots)),
        };
        let body = format!(
            "<table>\n{}</table>\n<h2>Outcome</h2>\n{said}{which}<div style=\"overflow-x:auto\"><table>\n{}{}</table></div>\n{plots}\
             <p>Errors are standard errors. Made by Spotfit {}.</p>\n",
            head.collect::<String>(),
            self.columns,
            self.rows,
            env!("CARGO_PKG_VERSION"),
        );
        html::page(title, &body)
    }
}

/// A number, if it is known.
fn told(number: f64) -> String {
    if number.is_nan() { "–".to_owned() } else { five_digits(number) }
}
