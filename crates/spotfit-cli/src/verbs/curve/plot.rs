//! Data, model and residuals of some fits, as SVG.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use spotfit::model::{CurveFits, Curves, Model, points};

use crate::error::CliError;
use crate::words::output::Output;
use spotfit::report::{number::five_digits, svg::safe};

/// Panels beside each other, and the size of each in pixels.
const ACROSS: usize = 3;
const WIDE: f64 = 320.0;
const HIGH: f64 = 260.0;
/// Of a panel: its margin, the height of the curve, and that of the residuals below it.
const MARGIN: f64 = 40.0;
const CURVE: f64 = 140.0;
const RESIDUALS: f64 = 40.0;
/// Places at which the model is drawn.
const STEPS: usize = 200;

/// Panels that are being drawn.
pub(crate) struct Plot {
    path: PathBuf,
    /// The fits that are drawn.
    chosen: Vec<usize>,
    panels: Vec<String>,
}

impl Plot {
    /// For some of `count` fits, as far from each other as possible.
    pub(crate) fn new(path: &Path, count: usize, most: usize) -> Self {
        let most = most.min(count);
        let chosen = (0..most).map(|number| number * count / most.max(1)).collect();
        Self { path: path.to_owned(), chosen, panels: Vec::new() }
    }

    /// Draws those of the chosen fits that are among these, the first of which has the number `first`.
    pub(crate) fn add(
        &mut self,
        model: &Model,
        curves: &Curves<'_>,
        names: &[String],
        first: usize,
        fits: &CurveFits,
    ) {
        let here = first..first + fits.len();
        let chosen: Vec<usize> =
            self.chosen.iter().copied().filter(|fit| here.contains(fit)).collect();
        for fit in chosen {
            let row = fit - first;
            let x: Vec<f64> = points(curves, 1, row)
                .into_iter()
                .filter_map(|point| point.first().copied())
                .collect();
            let mut data = vec![0.0; curves.points()];
            curves.data.row(row, &mut data);
            let parameters = fits.parameters.row(row).to_vec();
            let named = names.get(fit).filter(|name| !name.is_empty());
            let name = named.map_or_else(|| format!("fit {fit}"), |name| safe(name));
            let title = format!("{name}: {}", fits.statuses[row]);
            self.panels.push(panel(model, &parameters, &title, &x, &data));
        }
    }

    /// The file, which appears when it is finished.
    pub(crate) fn output(self) -> Result<Output, CliError> {
        let rows = self.panels.len().div_ceil(ACROSS).max(1);
        let (width, height) = (ACROSS as f64 * WIDE, rows as f64 * HIGH);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        for (number, panel) in self.panels.iter().enumerate() {
            let (x, y) = ((number % ACROSS) as f64 * WIDE, (number / ACROSS) as f64 * HIGH);
            push(&mut text, format_args!("<g transform=\"translate({x} {y})\">\n{panel}</g>\n"));
        }
        text.push_str("</svg>\n");
        let mut output = Output::create(&self.path)?;
        output.write_all(text.as_bytes())?;
        Ok(output)
    }
}

fn push(text: &mut String, of: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(of);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Lowest and highest of the numbers that are finite, a little apart.
fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let ends = numbers
        .filter(|number| number.is_finite())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    match ends {
        [low, high] if low < high => {
            ends.map(|end| end + (high - low) * if end == low { -0.03 } else { 0.03 })
        }
        [low, _] if low.is_finite() => [low - 0.5, low + 0.5],
        _ => [0.0, 1.0],
    }
}

/// Where a number of a range lies between two places.
fn place(number: f64, [low, high]: [f64; 2], [from, to]: [f64; 2]) -> f64 {
    from + (number - low) / (high - low) * (to - from)
}

fn panel(model: &Model, parameters: &[f64], title: &str, x: &[f64], data: &[f64]) -> String {
    let at: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
    let fitted = model.values(parameters, &at);
    let of_x = range(x.iter().copied());
    let steps: Vec<f64> = (0..=STEPS)
        .map(|step| of_x[0] + (of_x[1] - of_x[0]) * step as f64 / STEPS as f64)
        .collect();
    let line = model.values(parameters, &steps.iter().map(|&x| vec![x]).collect::<Vec<_>>());
    let of_y = range(data.iter().chain(&fitted).copied());
    let residuals: Vec<f64> =
        data.iter().zip(&fitted).map(|(data, fitted)| data - fitted).collect();
    let most =
        residuals.iter().filter(|r| r.is_finite()).fold(0.0_f64, |most, r| most.max(r.abs()));
    let of_residuals = if most > 0.0 { [-1.1 * most, 1.1 * most] } else { [-1.0, 1.0] };
    let across = [MARGIN, WIDE - 10.0];
    let up = [MARGIN + CURVE, MARGIN];
    let below = [MARGIN + CURVE + 8.0 + RESIDUALS, MARGIN + CURVE + 8.0];
    let mut text = String::new();
    let values: Vec<String> = model
        .parameters()
        .iter()
        .zip(parameters)
        .map(|(name, value)| format!("{name} = {}", five_digits(*value)))
        .collect();
    push(
        &mut text,
        format_args!("<text x=\"{MARGIN}\" y=\"16\" font-weight=\"bold\">{title}</text>\n"),
    );
    push(
        &mut text,
        format_args!("<text x=\"{MARGIN}\" y=\"31\" fill=\"#444\">{}</text>\n", values.join(", ")),
    );
    for [low, high] in [up, below].map(|[low, high]| [high, low]) {
        push(
            &mut text,
            format_args!(
                "<rect x=\"{}\" y=\"{low}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#bbb\"/>\n",
                across[0],
                across[1] - across[0],
                high - low
            ),
        );
    }
    let zero = place(0.0, of_residuals, below);
    push(
        &mut text,
        format_args!(
            "<line x1=\"{}\" x2=\"{}\" y1=\"{zero}\" y2=\"{zero}\" stroke=\"#bbb\"/>\n",
            across[0], across[1]
        ),
    );
    for ((&x, &y), &residual) in x.iter().zip(data).zip(&residuals) {
        if !(x.is_finite() && y.is_finite()) {
            continue;
        }
        let (left, top) = (place(x, of_x, across), place(y, of_y, up));
        push(
            &mut text,
            format_args!("<circle cx=\"{left:.1}\" cy=\"{top:.1}\" r=\"2\" fill=\"#3b6ea5\"/>\n"),
        );
        if residual.is_finite() {
            let low = place(residual, of_residuals, below);
            push(
                &mut text,
                format_args!(
                    "<circle cx=\"{left:.1}\" cy=\"{low:.1}\" r=\"1.5\" fill=\"#3b6ea5\"/>\n"
                ),
            );
        }
    }
    let mut path = String::new();
    for (&x, &y) in steps.iter().zip(&line) {
        let inside = y.is_finite() && (of_y[0]..=of_y[1]).contains(&y);
        if inside {
            let (left, top) = (place(x, of_x, across), place(y, of_y, up));
            push(&mut path, format_args!("{left:.1},{top:.1} "));
        }
    }
    push(
        &mut text,
        format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#c44\" stroke-width=\"1.5\"/>\n",
            path.trim_end()
        ),
    );
    let labels = [
        (across[0] - 4.0, up[0], "end", five_digits(of_y[0])),
        (across[0] - 4.0, up[1] + 9.0, "end", five_digits(of_y[1])),
        (across[0] - 4.0, zero + 4.0, "end", format!("±{}", five_digits(most))),
        (across[0], below[0] + 14.0, "start", five_digits(of_x[0])),
        (across[1], below[0] + 14.0, "end", five_digits(of_x[1])),
    ];
    for (x, y, anchor, label) in labels {
        push(
            &mut text,
            format_args!(
                "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#444\" font-size=\"9\">{label}</text>\n"
            ),
        );
    }
    text
}
