//! Drawings as SVG.

use std::fmt::Display;

use super::drawing::{Anchor, Drawing, Shape, ShapeLook, Stroke, TextLook};
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

/// The names of the sides of a rectangle.
const SIDES: [&str; 4] = ["x", "y", "width", "height"];

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
        self.shapes.iter().for_each(|shape| text.push_str(&element(shape)));
        text + "</g></svg>\n"
    }
}

/// A shape, with all that is in it.
fn element(shape: &Shape) -> String {
    let inside = |of: &[Shape]| of.iter().map(element).collect::<String>();
    match shape {
        Shape::Rect(at, look) => format!("<rect{}{}/>\n", numbers(SIDES, *at), area(look)),
        Shape::Polyline(points, look) => {
            let (class, places, stroke) = (class(look.class), places(points), stroke(look));
            format!("<polyline{class} points=\"{places}\" fill=\"none\"{stroke}/>\n")
        }
        Shape::Polygon(corners, look) => {
            format!("<polygon points=\"{}\"{}/>\n", places(corners), area(look))
        }
        Shape::Circle([x, y], radius, look) => {
            let at = numbers(["cx", "cy", "r"], [*x, *y, *radius]);
            format!("<circle{at}{}/>\n", area(look))
        }
        Shape::Text(at, text, look) => words(*at, text, look),
        #[cfg(feature = "render")]
        Shape::Image(at, picture) => image(*at, picture),
        // A clip path would need an id, and a page has many drawings.
        Shape::Clip(at, of) => {
            let [left, top, width, height] = at.map(Place);
            let (at, of) = (numbers(SIDES, *at), inside(of));
            format!("<svg{at} viewBox=\"{left} {top} {width} {height}\">\n{of}</svg>\n")
        }
        Shape::Moved([x, y], of) => {
            let (x, y) = (Place(*x), Place(*y));
            format!("<g transform=\"translate({x} {y})\">\n{}</g>\n", inside(of))
        }
    }
}

/// Attributes that are numbers.
fn numbers<const N: usize>(names: [&str; N], values: [f64; N]) -> String {
    let all = names.into_iter().zip(values);
    all.map(|(name, value)| format!(" {name}=\"{}\"", Place(value))).collect()
}

fn places(points: &[[f64; 2]]) -> String {
    let places: Vec<String> =
        points.iter().map(|[x, y]| format!("{},{}", Place(*x), Place(*y))).collect();
    places.join(" ")
}

fn class(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" class=\"{name}\"") }
}

/// The colour of what fills or is drawn.
fn coloured(what: &str, tint: Tint) -> String {
    let colour = format!(" {what}=\"{}\"", tint.hex());
    match tint.cover >= 1.0 {
        true => colour,
        false => format!("{colour} {what}-opacity=\"{}\"", Place(tint.cover)),
    }
}

fn stroke(of: &Stroke) -> String {
    let mut text = coloured("stroke", of.tint);
    if of.width != 1.0 {
        text += &numbers(["stroke-width"], [of.width]);
    }
    if !of.dashes.is_empty() {
        let dashes: Vec<String> = of.dashes.iter().map(ToString::to_string).collect();
        text += &format!(" stroke-dasharray=\"{}\"", dashes.join(" "));
    }
    text
}

fn area(look: &ShapeLook) -> String {
    match look {
        ShapeLook::Filled(tint) => coloured("fill", *tint),
        ShapeLook::Outlined(of) => format!(" fill=\"none\"{}", stroke(of)),
    }
}

fn words([x, y]: [f64; 2], text: &str, look: &TextLook) -> String {
    let place = match look.turned {
        true => format!(" transform=\"translate({} {}) rotate(-90)\"", Place(x), Place(y)),
        false => numbers(["x", "y"], [x, y]),
    };
    let class = class(look.class);
    let anchor = match look.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let size = numbers(["font-size"], [look.size]);
    let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
    // The group says that text is in the colour of text.
    let tint = if look.tint == Tint::INK { String::new() } else { coloured("fill", look.tint) };
    format!("<text{place}{class}{anchor}{size}{bold}{tint}>{}</text>\n", safe(text))
}

#[cfg(feature = "render")]
fn image(at: [f64; 4], picture: &crate::render::Picture) -> String {
    let mut file = Vec::new();
    let written = picture.write_png(&mut file, None);
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
    // Fewer pixels than there are may be shown smoothly.
    let is_enlarged = at[2] >= picture.width() as f64;
    let look = if is_enlarged { " style=\"image-rendering:pixelated\"" } else { "" };
    let url = crate::report::html::data_url("image/png", &file);
    let at = numbers(SIDES, at);
    format!("<image{at} preserveAspectRatio=\"none\"{look} href=\"{url}\"/>\n")
}
