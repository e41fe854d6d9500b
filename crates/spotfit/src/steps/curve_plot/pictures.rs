//! Fits of images.

use super::PlottedFit;
use crate::model::Model;
use crate::report::figure::{Drawing, TextLook, Tint, Tones};
use crate::report::svg::PixelChart;

/// The width of each picture of data, model and residuals.
const PICTURE: f64 = 300.0;

/// Data, model and residuals as pictures, the first two with the same colours.
pub(super) fn images(
    model: &Model,
    fit: &PlottedFit<'_>,
    width: usize,
    title: &str,
    values: &str,
) -> Drawing {
    let fitted = model.values(fit.parameters, &fit.at);
    let known = |point: usize| if fit.uses(point) { fit.data[point] } else { f64::NAN };
    let data: Vec<f64> = (0..fit.data.len()).map(known).collect();
    let left: Vec<f64> = data.iter().zip(&fitted).map(|(data, fitted)| data - fitted).collect();
    let tones = Tones::of(data.iter().chain(&fitted).copied());
    let names = [&*model.variables()[0], &*model.variables()[1]];
    let around = Tones::around_zero(left.iter().copied());
    let charts = [("data", data, tones), ("model", fitted, tones), ("data − model", left, around)];
    let charts = charts.map(|(title, numbers, tones)| {
        PixelChart::new(title, names, width, numbers, tones).drawing(PICTURE)
    });
    let three = Drawing::tiled("", charts.into(), 3);
    let mut all = Drawing::new(title, three.width(), three.height() + 30.0);
    let room = three.width() - 16.0;
    all.short_text([8.0, 16.0], title, TextLook::new(13.0).bold(), room);
    all.short_text([8.0, 32.0], values, TextLook::new(11.0).tinted(Tint::SOFT), room);
    all.place(three, [0.0, 30.0]);
    all
}
