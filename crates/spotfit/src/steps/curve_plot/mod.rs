//! Data, model and residuals of some fits, as a drawing.

mod fit;
#[cfg(feature = "render")]
mod pictures;
mod places;

use super::curve_part::CurvePart;
use super::words::spread_over;
use crate::model::answers::{BandFit, CurveBands};
use crate::model::{CurveOptions, Model, Points, WeightRule, points};
use crate::report::figure::{Drawing, Stroke, TextLook, Tint, text_width};
use crate::report::number::{five_digits, with_error};
use crate::report::svg::{Axis, Chart, Series};
pub use fit::PlottedFit;
pub use places::LogX;
use places::{is_geometric, line};

/// The size of a panel where it is alone, and where there are more.
const ALONE: [f64; 2] = [560.0, 420.0];
const PANEL: [f64; 2] = [350.0, 310.0];
/// The height of what is above the panels.
const HEAD: f64 = 30.0;

/// Draws some of many fits of a model: data and model, and below them what the model leaves; of images the same as three pictures.
#[derive(Clone, Debug, Default)]
pub struct CurvePlot {
    /// The fits that are drawn.
    chosen: Vec<usize>,
    /// The axis of x.
    pub log_x: LogX,
    /// Whether data and model are on a logarithmic axis: what is not above 0 is not drawn, and points that are not are counted.
    pub log_y: bool,
    /// Whether weights are 1/variance. Otherwise they are so but for a factor, which follows from the residuals.
    pub absolute: bool,
    /// The level of bands, and how fits were made.
    bands: Option<(f64, CurveOptions)>,
    /// The rule that made the weights.
    rule: Option<WeightRule>,
    title: String,
    is_image: bool,
    has_errors: bool,
    panels: Vec<Drawing>,
}

impl CurvePlot {
    /// For some of `count` fits, as far from each other as possible.
    pub fn new(count: usize, most: usize) -> Self {
        Self { chosen: spread_over(count, most), ..Self::default() }
    }

    fit_core::__setters! {
        const with_log_x: log_x: LogX,
        const with_log_y: log_y: bool,
        const with_absolute: absolute: bool,
    }

    /// The same with bands of confidence and prediction at this level, around fits that were made with these options and have their
    /// covariance.
    #[must_use]
    pub fn with_bands(self, level: Option<f64>, options: &CurveOptions) -> Self {
        Self { bands: level.map(|level| (level, options.clone())), ..self }
    }

    /// The same of fits whose weights this rule made, beside others: bands of prediction follow it.
    #[must_use]
    pub fn with_rule(self, rule: impl Into<Option<WeightRule>>) -> Self {
        Self { rule: rule.into(), ..self }
    }

    /// The fits that are drawn, by their numbers.
    pub fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Whether fits of a model can be drawn, and if not, why.
    ///
    /// # Errors
    /// The reason.
    pub fn check(model: &Model, is_image: bool) -> Result<(), &'static str> {
        match (model.variables().len(), is_image) {
            (1, _) => Ok(()),
            (2, true) if cfg!(feature = "render") => Ok(()),
            _ => Err("only models of one variable and images are drawn"),
        }
    }

    /// Draws those of the chosen fits that are among these.
    pub fn add(&mut self, part: CurvePart<'_>) {
        let CurvePart { model, curves, fits, .. } = part;
        for row in part.rows(&self.chosen) {
            let mut data = vec![0.0; curves.points()];
            curves.data.row(row, &mut data);
            let [parameters, errors] =
                [&fits.parameters, &fits.errors].map(|table| table.row(row).to_vec());
            let name = part.name(row).map_or_else(|fit| format!("fit {fit}"), str::to_owned);
            let data_errors = curves.weights.as_ref().map(|weights| {
                let row = if weights.shape()[0] == 1 { 0 } else { row };
                let weights = (0..data.len()).map(|point| weights.get([row, point]));
                self.data_errors(weights, fits.chi2[row], fits.degrees[row])
            });
            let image = match curves.points {
                Points::Grid { width, .. } => Some(width),
                _ => None,
            };
            let at = points(curves, model.variables().len(), row);
            let spread = (!fits.covariance.is_empty()).then(|| {
                let own = fits.covariance.index_axis(ndarray::Axis(0), row);
                (own.iter().copied().collect(), fits.chi2[row], fits.degrees[row])
            });
            let fit = PlottedFit::new(&name, &parameters, &errors, data);
            let status = fits.statuses[row];
            self.draw(model, &PlottedFit { status, at, data_errors, image, spread, ..fit });
        }
    }

    /// What weights say of the errors of data whose fit has this χ² and so many degrees of freedom.
    pub fn data_errors(
        &self,
        weights: impl IntoIterator<Item = f64>,
        chi2: f64,
        degrees: u32,
    ) -> Vec<f64> {
        let scale = match self.absolute || degrees == 0 {
            true => 1.0,
            false => (chi2 / f64::from(degrees)).max(0.0).sqrt(),
        };
        let error = |weight: f64| if weight > 0.0 { scale / weight.sqrt() } else { f64::INFINITY };
        weights.into_iter().map(error).collect()
    }

    /// Draws a fit.
    pub fn draw(&mut self, model: &Model, fit: &PlottedFit<'_>) {
        self.title = format!("f({}) = {}", model.variables().join(", "), model.text());
        let values = model.parameters().iter().zip(fit.parameters).zip(fit.errors);
        let values: Vec<String> = values
            .map(|((name, value), error)| format!("{name} = {}", with_error(*value, *error)))
            .collect();
        let ended =
            if fit.status.is_converged() { "converged".to_owned() } else { fit.status.to_string() };
        let title = format!("{}: {ended}", fit.name);
        // Along one variable the pixels of an image are a curve.
        let panel = match fit.image.filter(|_| model.variables().len() > 1) {
            #[cfg(feature = "render")]
            Some(width) => {
                self.is_image = true;
                pictures::images(model, fit, width, &title, &values.join(", "))
            }
            _ => {
                self.has_errors |= fit.data_errors.is_some();
                self.curve(model, fit, &title, values)
            }
        };
        self.panels.push(panel);
    }

    fn curve(
        &self,
        model: &Model,
        fit: &PlottedFit<'_>,
        title: &str,
        mut values: Vec<String>,
    ) -> Drawing {
        let x: Vec<f64> = fit.at.iter().map(|at| at.first().copied().unwrap_or(f64::NAN)).collect();
        let log = match self.log_x {
            LogX::Auto => is_geometric(&x),
            LogX::Yes => true,
            LogX::No => false,
        };
        let fitted = model.values(fit.parameters, &fit.at);
        let datum = |point: usize| {
            let (x, y) = (x[point], fit.data[point]);
            let is_shown = fit.uses(point) && y.is_finite() && x.is_finite() && (!log || x > 0.0);
            let error = fit.data_errors.as_ref().map(|errors| errors[point]);
            is_shown.then(|| Datum { x, y, left: y - fitted[point], error })
        };
        let shown: Vec<Datum> = (0..fit.data.len().min(x.len())).filter_map(datum).collect();
        // Of data and model, not of what is left.
        let is_drawn = |datum: &Datum| !self.log_y || datum.y > 0.0;
        let drawn: Vec<Datum> = shown.iter().copied().filter(is_drawn).collect();
        match shown.len() - drawn.len() {
            0 => {}
            1 => values.push("1 point at or below 0 is not drawn".to_owned()),
            many => values.push(format!("{many} points at or below 0 are not drawn")),
        }
        let mut line = line(model, fit.parameters, shown.iter().map(|datum| datum.x), log);
        let mut floor = f64::NEG_INFINITY;
        if self.log_y {
            // What reaches below 0 ends below all data.
            floor = drawn.iter().map(|datum| datum.y).fold(f64::INFINITY, f64::min) / 2.0;
            line.retain(|(_, value)| *value >= floor);
        }
        let series = vec![
            series_of("data", &drawn, floor, |datum| datum.y),
            Series::line("model", line).styled(1),
        ];
        let bands = self.bands(model, fit, &series[1], &shown, floor);
        let series = bands.into_iter().chain(series).collect();
        let left = series_of("", &shown, f64::NEG_INFINITY, |datum| datum.left);
        let below = vec![Series::level("", 0.0), left.styled(0)];
        // As far above zero as below, and a little more, so that all is whole.
        let sizes = below.iter().flat_map(Series::sizes);
        let most = Some(1.1 * sizes.fold(0.0, f64::max)).filter(|most| *most > 0.0).unwrap_or(1.0);
        let residual = Axis::new("residual").from(-most).to(most);
        let name = &model.variables()[0];
        let axis = if log { Axis::log(name) } else { Axis::new(name) };
        let size = if self.chosen.len() == 1 { ALONE } else { PANEL };
        let values_axis = format!("f({name})");
        let values_axis =
            if self.log_y { Axis::log(&values_axis) } else { Axis::new(&values_axis) };
        Chart::new(title, axis, values_axis, series)
            .saying(lines(&values, size[0] - 16.0))
            .above(residual, below)
            .without_legend()
            .sized(size)
            .drawing()
    }

    /// The bands over the places of a line: of prediction, then of confidence.
    fn bands(
        &self,
        model: &Model,
        fit: &PlottedFit<'_>,
        line: &Series,
        shown: &[Datum],
        floor: f64,
    ) -> Vec<Series> {
        let (Some((level, options)), Some((covariance, chi2, degrees))) =
            (&self.bands, &fit.spread)
        else {
            return Vec::new();
        };
        let bands = CurveBands::new(model, options, *level).with_rule(self.rule);
        let fitted = BandFit::new(fit.parameters, covariance, *chi2, *degrees);
        let places: Vec<Vec<f64>> = line.x().map(|x| vec![x]).collect();
        let scale = if options.absolute { 1.0 } else { chi2 / f64::from(*degrees) };
        let distance = |datum: &Datum, place: usize| (datum.x - places[place][0]).abs();
        let ruled = |datum: &Datum| {
            let Some(rule) = self.rule else { return 1.0 };
            let value = || model.values(fit.parameters, &[vec![datum.x]])[0];
            rule.weight(if rule.is_of_model() { value() } else { datum.y })
        };
        // A datum between others is as uncertain as the nearest one, but for what the rule says.
        let weight = |place: usize| {
            let nearest =
                shown.iter().min_by(|a, b| distance(a, place).total_cmp(&distance(b, place)));
            let weight = |datum: &Datum| Some(scale / datum.error?.powi(2) / ruled(datum));
            nearest.and_then(weight).unwrap_or(1.0)
        };
        let all = bands.at(&fitted, &places, weight);
        let series = |name: &str, ends: &dyn Fn(usize) -> [f64; 2]| {
            let ends = |place: usize| (places[place][0], ends(place)[0].max(floor), ends(place)[1]);
            let finite =
                |end: &(f64, f64, f64)| end.1.is_finite() && end.2.is_finite() && end.2 >= floor;
            let band: Vec<_> = (0..places.len()).map(ends).filter(finite).collect();
            Series::line(name, Vec::new()).styled(1).with_band(band)
        };
        vec![
            series("prediction", &|place| all[place].prediction),
            series("confidence", &|place| all[place].confidence),
        ]
    }

    /// The drawing of each fit by itself.
    pub fn panels(self) -> Vec<Drawing> {
        self.panels
    }

    /// All that was drawn.
    pub fn drawing(mut self) -> Drawing {
        if let Some((level, _)) = &self.bands {
            let level = five_digits(100.0 * level);
            self.title.push_str(&format!("; bands of confidence and prediction at {level} %"));
        }
        let across = match (self.is_image, self.panels.len()) {
            (true, _) | (_, 0 | 1) => 1,
            (_, 2..=4) => 2,
            _ => 3,
        };
        let panels = Drawing::tiled("", self.panels, across);
        let title = self.title.clone();
        let mut all = Drawing::new(&title, panels.width(), panels.height() + HEAD);
        let (size, y) = (12.0, 20.0);
        let mut right = all.width() - 12.0;
        if !self.is_image {
            let bars = if self.has_errors { "data, ± their errors" } else { "data" };
            for (name, number) in [("model", 1), (bars, 0)] {
                right -= text_width(name, size);
                all.text([right, y], name, TextLook::new(size));
                let (middle, tint) = (y - 0.36 * size, Tint::series(number));
                let at = |left: f64| [right - left, middle];
                match number {
                    0 => all.circle(at(8.0), 2.8, tint),
                    _ => all.line(at(26.0), at(5.0), Stroke::new(tint, 1.5)),
                }
                right -= if number == 0 { 24.0 } else { 42.0 };
            }
        }
        let look = TextLook::new(size).tinted(Tint::SOFT);
        all.short_text([8.0, y], &title, look, right - 12.0);
        all.place(panels, [0.0, HEAD]);
        all
    }
}

/// A point of the data that is drawn, and what the model leaves of it.
#[derive(Clone, Copy)]
struct Datum {
    x: f64,
    y: f64,
    left: f64,
    error: Option<f64>,
}

/// Points with the bars of their errors, which end at a floor.
fn series_of(name: &str, of: &[Datum], floor: f64, height: fn(&Datum) -> f64) -> Series {
    let points = of.iter().map(|datum| (datum.x, height(datum))).collect();
    let ends = |datum: &Datum| {
        let (y, error) = (height(datum), datum.error?);
        Some((datum.x, (y - error).max(floor), y + error))
    };
    Series::points(name, points).with_errors(of.iter().filter_map(ends).collect())
}

/// Parts in as few lines as they need.
fn lines(parts: &[String], width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line}, {part}"), 11.0) <= width => {
                line.push_str(", ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    // A model of many parameters leaves room for its curve.
    if lines.len() > 3 {
        lines.truncate(3);
        lines[2].push_str(", …");
    }
    lines
}
