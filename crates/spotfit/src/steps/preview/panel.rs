//! The frame of a preview, with what was found in it.

use super::spots::Preview;
use crate::localize::DropReason;
use crate::movie::Pixels;
use crate::render::{ColourMap, Picture, length_label, round_length};
use crate::report::figure::{Drawing, Stroke, TextLook, Tint};

/// Frames with more pixels along a side are shown smaller.
const MOST_PIXELS: usize = 1024;
/// So much of the pixels is darker than black, and brighter than white.
const CUT: [f64; 2] = [0.01, 0.998];
/// Dark pixels are shown brighter than they are.
const GAMMA: f64 = 0.7;
/// The fewest pixels of the drawing that a ring measures.
const LEAST_RING: f64 = 3.5;
/// The quantiles between which values have colours.
const SHOWN: [f64; 2] = [0.02, 0.98];
/// What has no value.
const NO_VALUE: [u8; 3] = [0xc0; 3];
/// Bright colours that people with any colour vision tell apart on dark ground, beside those of values.
const MARKS: [[u8; 3]; 6] = [
    [0xff, 0x6e, 0x4a],
    [0xff, 0xff, 0xff],
    [0xf0, 0x8c, 0xc8],
    [0xff, 0xb0, 0x00],
    [0xb0, 0x9c, 0xff],
    [0xb0, 0xb0, 0xb0],
];

/// The colour of a reason, which is the same in every preview.
pub(super) fn mark(reason: DropReason) -> Tint {
    Tint::new(match reason {
        DropReason::Failed(_) => MARKS[0],
        DropReason::AtEdge => MARKS[1],
        DropReason::Filter => MARKS[3],
        DropReason::Neighbour | DropReason::Crowd => MARKS[4],
        DropReason::Residual | DropReason::Width | DropReason::Saturated => MARKS[2],
        _ => MARKS[5],
    })
}

/// The values that colour what is kept, and the range that is shown.
pub(super) struct Values {
    values: Vec<f64>,
    pub(super) range: Option<[f64; 2]>,
}

impl Values {
    pub(super) fn of(preview: &Preview) -> Self {
        let column = preview.kept.called(&preview.colour_by);
        let values = column.map_or(Vec::new(), |column| column.values.clone());
        let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        finite.sort_unstable_by(f64::total_cmp);
        let range = (!finite.is_empty()).then(|| SHOWN.map(|share| quantile(&finite, share)));
        Self { values, range }
    }

    fn tint(&self, row: usize) -> Tint {
        let value = self.values.get(row).copied().unwrap_or(f64::NAN);
        let Some([low, high]) = self.range.filter(|_| value.is_finite()) else {
            return Tint::new(NO_VALUE);
        };
        colour(if high > low { (value - low) / (high - low) } else { 0.5 })
    }
}

/// The colour of a value by its place from 0 to 1: from blue to yellow, as violet is for what is dropped.
pub(super) fn colour(place: f64) -> Tint {
    Tint::new(ColourMap::Viridis.on_dark(0.25 + 0.75 * place.clamp(0.0, 1.0)))
}

/// A quantile of sorted numbers, of which there is one at least.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[(share * (sorted.len() - 1) as f64).round() as usize]
}

/// The frame in a rectangle whose width and height have the ratio of the frame's.
pub(super) fn panel(
    preview: &Preview,
    values: &Values,
    drawing: &mut Drawing,
    at @ [left, top, width, height]: [f64; 4],
) {
    let scale = width / preview.width as f64;
    drawing.image(at, &picture(&preview.pixels));
    let place = |[x, y]: [f64; 2]| [left + (x + 0.5) * scale, top + (y + 0.5) * scale];
    let radius = (0.5 * preview.box_size as f64 * scale).max(LEAST_RING);
    let many = preview.places.kept.len() + preview.places.dropped.len() > 1500;
    let stroke = |tint: Tint| Stroke::new(tint, if many { 1.0 } else { 1.6 });
    drawing.clipped(at, |drawing| {
        if let Some(roi) = preview.roi {
            let [x, y] = [roi.x, roi.y].map(|at| at as f64 * scale);
            let [width, height] = [roi.width, roi.height].map(|length| length as f64 * scale);
            let dashed = Stroke::new(Tint::new([0xff; 3]), 1.2).dashed(&[6.0, 4.0]);
            drawing.rect([left + x, top + y, width, height], dashed);
        }
        for (at, reason) in preview.places.dropped.iter().zip(preview.row_reasons()) {
            let [x, y] = place(*at);
            let square = [x - radius, y - radius, 2.0 * radius, 2.0 * radius];
            drawing.rect(square, stroke(mark(reason)));
        }
        for (row, at) in preview.places.kept.iter().enumerate() {
            drawing.circle(place(*at), radius, stroke(values.tint(row)));
        }
        if let Some(size) = preview.pixel_size {
            let nanometres = round_length(preview.width as f64 * size);
            let label = length_label(nanometres, true);
            let (length, white) = (nanometres / size * scale, Tint::new([0xff; 3]));
            let (right, bottom) = (left + width - 14.0, top + height - 14.0);
            drawing.rect([right - length, bottom - 5.0, length, 5.0], white);
            let middle = [right - 0.5 * length, bottom - 11.0];
            drawing.text(middle, &label, TextLook::new(13.0).bold().middle().tinted(white));
        }
    });
}

/// The colours of values, from the left to the right.
pub(super) fn colour_bar(drawing: &mut Drawing, [left, top, width, height]: [f64; 4]) {
    let steps = 64;
    let step = width / f64::from(steps);
    for number in 0..steps {
        let tint = colour((f64::from(number) + 0.5) / f64::from(steps));
        // Beside each other, without gaps.
        drawing.rect([left + f64::from(number) * step, top, step + 0.5, height], tint);
    }
}

/// The frame with a contrast that shows dim spots.
fn picture(pixels: &Pixels) -> Picture {
    let (_, height, width) = pixels.dim();
    let values: Vec<f32> = match pixels {
        Pixels::U8(all) => all.iter().map(|&value| value.into()).collect(),
        Pixels::U16(all) => all.iter().map(|&value| value.into()).collect(),
        Pixels::F32(all) => all.iter().copied().collect(),
    };
    let block = width.max(height).div_ceil(MOST_PIXELS);
    let (columns, rows) = (width.div_ceil(block), height.div_ceil(block));
    let mean = |at: usize| {
        let (x, y) = (at % columns * block, at / columns * block);
        let (mut sum, mut count) = (0.0, 0);
        for row in y..(y + block).min(height) {
            for value in &values[row * width + x..row * width + (x + block).min(width)] {
                if value.is_finite() {
                    sum += f64::from(*value);
                    count += 1;
                }
            }
        }
        if count > 0 { sum / f64::from(count) } else { f64::NAN }
    };
    let shown: Vec<f64> = (0..columns * rows).map(mean).collect();
    let mut sorted: Vec<f64> = shown.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let [low, high] = match sorted.is_empty() {
        true => [0.0, 1.0],
        false => CUT.map(|share| quantile(&sorted, share)),
    };
    let grey = |value: &f64| {
        let place = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.3 };
        // What is not a number is black.
        [(255.0 * place.powf(GAMMA)) as u8; 3]
    };
    Picture::from_pixels(columns, shown.iter().map(grey).collect())
}
