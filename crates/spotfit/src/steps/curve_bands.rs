//! Bands around fitted curves, as a table.

use std::io::{self, Write};

use super::curve_part::{CurvePart, cell_of};
use crate::model::answers::{BandFit, CurveBands, data_and_weights, datum_weights};
use crate::model::{CurveOptions, Model, WeightRule, points};

/// Writes the bands at the points of the data as CSV: the data set, its variables, the value of the model, and the ends of the bands of
/// confidence and prediction, as [`CurveBands`] and [`datum_weights`] say.
#[derive(Debug)]
pub struct BandTable<W> {
    output: W,
    bands: CurveBands,
}

impl<W: Write> BandTable<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// Those of writing.
    pub fn create(
        mut output: W,
        model: &Model,
        options: &CurveOptions,
        level: f64,
    ) -> io::Result<Self> {
        let variables = model.variables().join(",");
        let ends = "value,confidence_low,confidence_high,prediction_low,prediction_high";
        writeln!(output, "fit,{variables},{ends}")?;
        Ok(Self { output, bands: CurveBands::new(model, options, level) })
    }

    /// The same of fits whose weights a rule made, beside those of the curves.
    #[must_use]
    pub fn with_rule(self, rule: impl Into<Option<WeightRule>>) -> Self {
        Self { bands: self.bands.with_rule(rule), ..self }
    }

    /// Appends those of fits, which have their covariance. Fits that were not found have no rows.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&mut self, part: CurvePart<'_>) -> io::Result<()> {
        let CurvePart { model, curves, fits, .. } = part;
        let mut text = Vec::new();
        for row in (0..fits.len()).filter(|&row| fits.is_found(row)) {
            let places = points(curves, model.variables().len(), row);
            let covariance: Vec<f64> =
                fits.covariance.index_axis(ndarray::Axis(0), row).iter().copied().collect();
            let parameters = fits.parameters.row(row).to_vec();
            let fit = BandFit::new(&parameters, &covariance, fits.chi2[row], fits.degrees[row]);
            let weights = datum_weights(&data_and_weights(curves, row)[1]);
            let name = cell_of(part.names, part.first + row);
            for (place, at) in
                places.iter().zip(self.bands.at(&fit, &places, |point| weights[point]))
            {
                let numbers = place.iter().chain([&at.value]).chain(&at.confidence);
                text.extend_from_slice(name.as_bytes());
                for number in numbers.chain(&at.prediction) {
                    write!(text, ",{number:?}")?;
                }
                text.push(b'\n');
            }
            self.output.write_all(&text)?;
            text.clear();
        }
        Ok(())
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.output
    }
}
