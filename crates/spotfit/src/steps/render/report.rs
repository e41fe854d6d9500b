//! The report of a picture.

use std::fmt;

use spotfit_locs::private::short;

use super::layer::Layer;
use crate::render::{Blur, Colours, Drawn, View};
use crate::steps::words::{counted, symbol};

/// The report of a picture. Lengths are in `unit`.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct RenderReport {
    /// The localizations in the picture.
    pub localizations: u64,
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Side of a pixel.
    pub pixel: f64,
    /// The unit of the first table, `px` or `nm`.
    pub unit: &'static str,
    /// Left, top, right and bottom edge.
    pub extent: [f64; 4],
    /// The least width of a localization, if that is more than a pixel.
    pub least_width: Option<f64>,
    /// Localizations outside of the picture.
    pub outside: u64,
    /// Localizations that are left out because a number of them is not finite.
    pub not_finite: u64,
    /// Localizations that are left out because their uncertainty is more than 1000 pixels of the picture.
    pub too_wide: u64,
    /// Localizations that are left out because they do not fulfil the condition.
    pub failing: u64,
    /// The column that colours show, if they show one.
    pub colour_by: Option<String>,
    /// The values with the first and the last colour.
    pub colour_range: Option<[f64; 2]>,
}

impl RenderReport {
    pub(super) fn of(layers: &[Layer<'_>], colours: &Colours, view: &View, drawn: Drawn) -> Self {
        let View { left, top, pixel, width, height, .. } = *view;
        let (right, bottom) = (left + width as f64 * pixel, top + height as f64 * pixel);
        let wider = view.least > pixel && view.blur == Blur::Uncertainty;
        let (colour_by, colour_range) = match (&layers[0].value, *colours) {
            (Some(value), Colours::Value { low, high, .. }) => {
                (Some(value.name.clone()), Some([low, high]))
            }
            _ => (None, None),
        };
        Self {
            localizations: drawn.inside,
            width,
            height,
            pixel,
            unit: symbol(layers[0].unit),
            extent: [left, top, right, bottom],
            least_width: wider.then_some(view.least),
            outside: drawn.outside,
            not_finite: drawn.not_finite,
            too_wide: drawn.too_wide,
            failing: layers.iter().map(|layer| layer.failing.get()).sum(),
            colour_by,
            colour_range,
        }
    }
}

impl fmt::Display for RenderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, width, height, .. } = self;
        let unit = if self.unit == "nm" { "nm" } else { "px" };
        let [left, top, right, bottom] = self.extent.map(short);
        let mut lines = vec![format!(
            "{localizations} localizations in {width}×{height} pixels of {} {unit}: x from {left} to {right}, y from {top} to \
             {bottom}",
            short(self.pixel)
        )];
        let least = self.least_width.map(short);
        lines.extend(least.map(|least| format!("each is at least {least} {unit} wide")));
        lines.extend(counted([
            (self.outside, "outside of the picture"),
            (self.not_finite, "left out: a number is not finite"),
            (self.too_wide, "left out: their uncertainty is more than 1000 pixels of the picture"),
            (self.failing, "left out: they do not fulfil the condition"),
        ]));
        if let (Some(column), Some(range)) = (&self.colour_by, self.colour_range) {
            let [low, high] = range.map(short);
            lines.push(format!("colours: {column} from {low} to {high}"));
        }
        f.write_str(&lines.join("\n"))
    }
}
