//! What all pictures share: colours for light and dark, text, and the marks of lines.

use std::error::Error;
use std::fmt::Write as _;

use plotters::coord::Shift;
use plotters::element::{Circle, Cross, EmptyElement, Polygon, Rectangle, TriangleMarker};
use plotters::prelude::{DrawingArea, DrawingBackend, PathElement, RGBColor};
use plotters::style::text_anchor::Pos;
use plotters::style::{Color, ShapeStyle, TextStyle};

/// Width of a picture. Text of this size stays readable where the picture is shown on a telephone.
pub(super) const WIDTH: u32 = 520;

const fn rgb(hex: u32) -> RGBColor {
    RGBColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The colours of text, of the lines behind, and of the background: light, and dark.
const PLAIN: [(u32, u32); 3] = [(0x1B1B1B, 0xE4E4E4), (0xC9C9C9, 0x4A4A4A), (0xFFFFFF, 0x161616)];
/// The colour of text.
pub(super) const INK: RGBColor = rgb(PLAIN[0].0);
/// The colour of the lines behind.
pub(super) const GRID: RGBColor = rgb(PLAIN[1].0);

/// Colours that can be told apart by the colour-blind too (after Okabe & Ito), each three times as light or as dark as
/// its background at least: on white, and on black.
const PALETTE: [(u32, u32); 8] = [
    (0x0072B2, 0x3D9BDC),
    (0xD55E00, 0xF0803C),
    (0x009E73, 0x1DB88C),
    (0xB85C92, 0xDB8FB8),
    (0xB27A00, 0xE69F00),
    (0x3A8FC4, 0x7CC8F2),
    (0x7F52AB, 0xB08CDA),
    (0x6E6E6E, 0x9B9B9B),
];
/// The colours of lines.
pub(super) const COLOURS: [RGBColor; 8] = {
    let mut colours = [INK; 8];
    let mut i = 0;
    while i < colours.len() {
        colours[i] = rgb(PALETTE[i].0);
        i += 1;
    }
    colours
};

pub(super) fn text(size: i32, color: RGBColor) -> TextStyle<'static> {
    TextStyle {
        font: ("sans-serif", size).into(),
        color: color.to_backend_color(),
        pos: Pos::default(),
    }
}

/// The mark of a line: eight shapes for each of the eight colours.
pub(super) fn mark<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    number: usize,
    at: (i32, i32),
) -> Result<(), Box<dyn Error>>
where
    DB::ErrorType: 'static,
{
    let colour = COLOURS[number % COLOURS.len()];
    let (full, hollow): (ShapeStyle, ShapeStyle) = (colour.filled(), colour.stroke_width(2));
    let around = |points: &[(i32, i32)]| -> Vec<(i32, i32)> {
        points.iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect()
    };
    match (number + number / COLOURS.len()) % 8 {
        0 => area.draw(&Circle::new(at, 4, full))?,
        1 => area.draw(&TriangleMarker::new(at, 6, full))?,
        2 => area.draw(&Cross::new(at, 4, hollow))?,
        3 => area.draw(&(EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], full)))?,
        4 => area.draw(&Circle::new(at, 4, hollow))?,
        5 => area.draw(&Polygon::new(around(&[(-5, 0), (0, -5), (5, 0), (0, 5)]), full))?,
        6 => area.draw(&(EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], hollow)))?,
        _ => {
            let corners = around(&[(-5, -4), (5, -4), (0, 5), (-5, -4)]);
            area.draw(&PathElement::new(corners, hollow))?;
        }
    }
    Ok(())
}

/// Gives a picture its name, a background of its own, and the colours of the reader's choice of light or dark. A
/// program that knows no styles shows it light.
pub(super) fn finish(svg: String, title: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let mut style =
        String::from("svg.plot{max-width:100%;height:auto}@media(prefers-color-scheme:dark){");
    for (light, dark) in PLAIN.into_iter().chain(PALETTE) {
        for what in ["fill", "stroke"] {
            let _ = write!(style, "svg.plot [{what}=\"#{light:06X}\"]{{{what}:#{dark:06X}}}");
        }
    }
    style.push('}');
    let paper = "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\" stroke=\"none\"/>";
    let svg = svg.replacen("<svg ", "<svg class=\"plot\" role=\"img\" ", 1);
    match svg.find('>') {
        Some(end) => format!(
            "{}<title>{title}</title><style>{style}</style>{paper}{}",
            &svg[..=end],
            &svg[end + 1..]
        ),
        None => svg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: u32) -> f64 {
        let channel = |shift: u32| {
            let value = f64::from((hex >> shift) & 0xFF) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0)
    }

    fn contrast(a: u32, b: u32) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Proves that every line can be seen on white and on dark (3 to 1), and text can be read (7 to 1).
    #[test]
    fn colours_stand_out_on_light_and_dark() {
        let [(ink, dark_ink), _, (paper, dark_paper)] = PLAIN;
        assert!(contrast(ink, paper) > 7.0 && contrast(dark_ink, dark_paper) > 7.0);
        for (light, dark) in PALETTE {
            assert!(contrast(light, paper) >= 3.0, "{light:06X}: {}", contrast(light, paper));
            assert!(contrast(dark, dark_paper) >= 3.0, "{dark:06X}");
        }
    }
}
