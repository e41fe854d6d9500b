//! The demo's pictures: windows and their fits as SVG, a frame beside its rendering as PNG.

use std::fmt::Write as _;

use fit_core::spot::sums::Profile;
use fit_core::{Circle, Fit};
use fit_sim::SimulatedSpots;
use ndarray::{Array2, Axis};

use spotfit::render::{
    Picture, Point, RenderError, RenderOptions, length_label, render, round_length,
};

/// Pixels of the picture for one of the camera.
const MAGNIFIED: usize = 5;

/// A frame with pixels of this side.
pub(super) fn magnified(frame: &Array2<u16>, side: usize) -> Picture {
    let (height, width) = frame.dim();
    let (low, high) = range(frame.iter().map(|&pixel| f64::from(pixel)));
    let mut picture = Picture::filled(width * side, height * side, [0; 3]);
    for ((y, x), &pixel) in frame.indexed_iter() {
        let level = 255.0 * (f64::from(pixel) - low) / (high - low).max(1.0);
        picture.draw(&Picture::filled(side, side, [level as u8; 3]), x * side, y * side);
    }
    picture
}

/// A frame, magnified, beside all localizations (in pixels).
pub(super) fn side_by_side(
    frame: &Array2<u16>,
    points: &[Point],
    pixel_size: f64,
) -> Result<Picture, RenderError> {
    let (height, width) = frame.dim();
    let left = magnified(frame, MAGNIFIED);
    let frame_edges = [-0.5, -0.5, width as f64 - 0.5, height as f64 - 0.5];
    let options = RenderOptions::default()
        .with_pixel(Some(1.0 / MAGNIFIED as f64))
        .with_extent(Some(frame_edges))
        .with_most_pixels(usize::MAX);
    let mut right = render(points, &options)?;
    let bar = round_length(width as f64 * pixel_size);
    right.scale_bar((bar / pixel_size * MAGNIFIED as f64) as usize, &length_label(bar, true));
    let mut both = Picture::filled(left.width() + GAP + right.width(), left.height(), [255; 3]);
    both.draw(&left, 0, 0);
    both.draw(&right, left.width() + GAP, 0);
    Ok(both)
}

/// Windows shown.
const SHOWN: usize = 6;
/// Side of a pixel in the picture.
const ZOOM: usize = 12;
/// Space between windows.
const GAP: usize = 12;
/// Space for the titles at the left.
const MARGIN: usize = 74;

/// The first windows of a stack: camera pixels with the fitted spot (cross and circle of radius σ)
/// and the true centre (ring), and below them the fitted model and the residual.
pub(super) fn windows(spots: &SimulatedSpots, fits: &[Fit<f64>]) -> String {
    let (_, height, width) = spots.pixels.dim();
    let shown: Vec<_> = spots
        .pixels
        .axis_iter(Axis(0))
        .zip(&spots.truth)
        .zip(fits)
        .filter(|(_, fit)| fit.x.is_finite())
        .take(SHOWN)
        .collect();
    let (step_x, step_y) = (width * ZOOM + GAP, height * ZOOM + GAP);
    let (full_x, full_y) = (MARGIN + shown.len() * step_x, GAP + 3 * step_y);
    let mut svg = String::new();
    let mut text = |line: std::fmt::Arguments<'_>| {
        let written = svg.write_fmt(line);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    };
    text(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full_x} {full_y}\" \
         font-family=\"sans-serif\" font-size=\"13\" shape-rendering=\"crispEdges\">\n\
         <rect width=\"{full_x}\" height=\"{full_y}\" fill=\"#fff\"/>\n"
    ));
    for (row, title) in ["camera", "fit", "residual"].iter().enumerate() {
        let y = GAP + row * step_y + height * ZOOM / 2;
        text(format_args!("<text x=\"{GAP}\" y=\"{y}\">{title}</text>\n"));
    }
    for (column, ((window, truth), fit)) in shown.into_iter().enumerate() {
        let left = MARGIN + column * step_x;
        let model = model(fit);
        let (low, high) = range(window.iter().map(|&pixel| f64::from(pixel)));
        let grey = |value: f64| {
            let level = (255.0 * (value - low) / (high - low).max(f64::MIN_POSITIVE)) as u8;
            [level; 3]
        };
        let data = |x: usize, y: usize| f64::from(window[(y, x)]);
        let (worst_low, worst_high) = range((0..width * height).map(|i| {
            let (x, y) = (i % width, i / width);
            data(x, y) - model(x, y)
        }));
        let worst = worst_high.max(-worst_low).max(f64::MIN_POSITIVE);
        let diverging = |value: f64| {
            let pale = 255 - (value.abs() / worst * 200.0) as u8;
            if value < 0.0 { [pale, pale, 255] } else { [255, pale, pale] }
        };
        for y in 0..height {
            for x in 0..width {
                let fitted = model(x, y);
                let colours = [grey(data(x, y)), grey(fitted), diverging(data(x, y) - fitted)];
                for (row, [r, g, b]) in colours.into_iter().enumerate() {
                    let (x, y) = (left + x * ZOOM, GAP + row * step_y + y * ZOOM);
                    text(format_args!(
                        "<rect x=\"{x}\" y=\"{y}\" width=\"{ZOOM}\" height=\"{ZOOM}\" \
                         fill=\"#{r:02x}{g:02x}{b:02x}\"/>"
                    ));
                }
            }
        }
        let at = |x: f64, y: f64| {
            let zoom = ZOOM as f64;
            (left as f64 + (x + 0.5) * zoom, GAP as f64 + (y + 0.5) * zoom)
        };
        let (x, y) = at(fit.x, fit.y);
        let (true_x, true_y) = at(truth.shape.x, truth.shape.y);
        let radius = fit.sigma * ZOOM as f64;
        text(format_args!(
            "\n<g fill=\"none\" shape-rendering=\"auto\" stroke-width=\"1.5\"><circle cx=\"{x:.2}\" cy=\"{y:.2}\" \
             r=\"{radius:.2}\" stroke=\"#e6550d\"/><path stroke=\"#e6550d\" \
             d=\"M{:.2} {y:.2}h8M{x:.2} {:.2}v8\"/><circle cx=\"{true_x:.2}\" \
             cy=\"{true_y:.2}\" r=\"3\" stroke=\"#31a354\"/></g>\n",
            x - 4.0,
            y - 4.0
        ));
    }
    svg.push_str("</svg>\n");
    svg
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The fitted model h = αf + β at a pixel.
fn model(fit: &Fit<f64>) -> impl Fn(usize, usize) -> f64 {
    let Fit { amplitude, background, .. } = *fit;
    let shape = Circle::new(fit.x, fit.y, fit.sigma);
    move |x, y| amplitude * Profile::at(x as f64, y as f64, shape).value + background
}
