//! Drawings as SVG.

use std::fmt::{Display, Write as _};

use super::drawing::{Anchor, Area, Drawing, Shape, Stroke, TextLook};
use super::tint::{Tint, style};
use crate::report::svg::safe;

/// A place, to a hundredth of a pixel, without needless zeros.
struct Place(f64);

impl Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        f.write_str(if text == "-0" { "0" } else { text })
    }
}

/// Appends to a drawing.
fn add(text: &mut String, part: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(part);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

impl Drawing {
    /// The drawing as SVG: a whole file, or an element of a page. It has the colours of the reader's choice of light or dark.
    pub fn svg(&self) -> String {
        let (width, height) = (Place(self.width()), Place(self.height()));
        let (ink, paper) = (Tint::INK.hex(), Tint::PAPER.hex());
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\"><title>{}</title><style>{}</style>\
             <rect width=\"100%\" height=\"100%\" fill=\"{paper}\"/>\n<g fill=\"{ink}\">\n",
            safe(&self.title),
            style()
        );
        shapes(&mut text, &self.shapes);
        text.push_str("</g></svg>\n");
        text
    }
}

fn shapes(text: &mut String, of: &[Shape]) {
    for shape in of {
        match shape {
            Shape::Rect([left, top, width, height], look) => add(
                text,
                format_args!(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}/>\n",
                    Place(*left),
                    Place(*top),
                    Place(*width),
                    Place(*height),
                    area(look)
                ),
            ),
            Shape::Polyline(points, look, named) => add(
                text,
                format_args!(
                    "<polyline{} points=\"{}\" fill=\"none\"{}/>\n",
                    class(named),
                    places(points),
                    stroke(look)
                ),
            ),
            Shape::Polygon(corners, look) => {
                add(
                    text,
                    format_args!("<polygon points=\"{}\"{}/>\n", places(corners), area(look)),
                );
            }
            Shape::Circle([x, y], radius, look) => add(
                text,
                format_args!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n",
                    Place(*x),
                    Place(*y),
                    Place(*radius),
                    area(look)
                ),
            ),
            Shape::Text(at, words, look) => self::words(text, *at, words, look),
            #[cfg(feature = "render")]
            Shape::Image(at, picture) => image(text, *at, picture),
            // A clip path would need an id, and a page has many drawings.
            Shape::Clip([left, top, width, height], inside) => {
                let [left, top, width, height] =
                    [left, top, width, height].map(|place| Place(*place));
                add(
                    text,
                    format_args!(
                        "<svg x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" viewBox=\"{left} {top} {width} {height}\">\n"
                    ),
                );
                shapes(text, inside);
                text.push_str("</svg>\n");
            }
            Shape::Moved([x, y], inside) => {
                add(
                    text,
                    format_args!("<g transform=\"translate({} {})\">\n", Place(*x), Place(*y)),
                );
                shapes(text, inside);
                text.push_str("</g>\n");
            }
        }
    }
}

fn places(points: &[[f64; 2]]) -> String {
    let places: Vec<String> =
        points.iter().map(|[x, y]| format!("{},{}", Place(*x), Place(*y))).collect();
    places.join(" ")
}

fn class(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" class=\"{name}\"") }
}

fn cover(what: &str, tint: Tint) -> String {
    if tint.cover >= 1.0 {
        String::new()
    } else {
        format!(" {what}-opacity=\"{}\"", Place(tint.cover))
    }
}

fn fill(tint: Tint) -> String {
    format!(" fill=\"{}\"{}", tint.hex(), cover("fill", tint))
}

fn stroke(of: &Stroke) -> String {
    let mut text = format!(" stroke=\"{}\"{}", of.tint.hex(), cover("stroke", of.tint));
    if of.width != 1.0 {
        add(&mut text, format_args!(" stroke-width=\"{}\"", Place(of.width)));
    }
    if !of.dashes.is_empty() {
        let dashes: Vec<String> = of.dashes.iter().map(ToString::to_string).collect();
        add(&mut text, format_args!(" stroke-dasharray=\"{}\"", dashes.join(" ")));
    }
    text
}

fn area(of: &Area) -> String {
    let fill = of.fill.map_or_else(|| " fill=\"none\"".to_owned(), fill);
    fill + &of.stroke.as_ref().map(stroke).unwrap_or_default()
}

fn words(text: &mut String, [x, y]: [f64; 2], words: &str, look: &TextLook) {
    let (x, y) = (Place(x), Place(y));
    let place = match look.turned {
        true => format!("transform=\"translate({x} {y}) rotate(-90)\""),
        false => format!("x=\"{x}\" y=\"{y}\""),
    };
    let class = class(look.class);
    let anchor = match look.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
    // The group says that text is in the colour of text.
    let tint = if look.tint == Tint::INK { String::new() } else { fill(look.tint) };
    add(
        text,
        format_args!(
            "<text {place}{class}{anchor} font-size=\"{}\"{bold}{tint}>{}</text>\n",
            Place(look.size),
            safe(words)
        ),
    );
}

#[cfg(feature = "render")]
fn image(
    text: &mut String,
    [left, top, width, height]: [f64; 4],
    picture: &crate::render::Picture,
) {
    let mut file = Vec::new();
    let written = picture.write_png(&mut file, None);
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
    // Fewer pixels than there are may be shown smoothly.
    let is_enlarged = width >= picture.width() as f64;
    let look = if is_enlarged { " style=\"image-rendering:pixelated\"" } else { "" };
    add(
        text,
        format_args!(
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{look} \
             href=\"{}\"/>\n",
            Place(left),
            Place(top),
            Place(width),
            Place(height),
            crate::report::html::data_url("image/png", &file)
        ),
    );
}
