//! What is drawn, in order.

use super::measure::shortened;
use super::tint::Tint;
#[cfg(feature = "render")]
use crate::render::Picture;

/// Places are not farther away than this, in pixels: beyond, single precision loses them.
const FARTHEST: f64 = 1e7;
/// The height of a title above others.
const HEAD: f64 = 30.0;
/// How much wider bold letters are than others.
const BOLD: f64 = 1.06;

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    pub(crate) tint: Tint,
    pub(crate) width: f64,
    /// Lengths of dashes and of gaps, in turn.
    pub(crate) dashes: &'static [f32],
    pub(super) class: &'static str,
}

impl Stroke {
    /// A line of this colour and width.
    pub const fn new(tint: Tint, width: f64) -> Self {
        Self { tint, width, dashes: &[], class: "" }
    }

    /// The same in dashes: the lengths of dashes and of the gaps between them, in turn, an even number of them.
    #[must_use]
    pub const fn dashed(self, dashes: &'static [f32]) -> Self {
        Self { dashes, ..self }
    }

    /// The same with a class, by which programs find a line in SVG.
    pub(crate) const fn classed(self, class: &'static str) -> Self {
        Self { class, ..self }
    }
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How text looks: it begins at its place, in the colour of text, unless something else is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextLook {
    pub(super) size: f64,
    pub(super) bold: bool,
    pub(super) anchor: Anchor,
    pub(super) turned: bool,
    pub(super) tint: Tint,
    pub(super) class: &'static str,
}

impl TextLook {
    /// Letters of this size in pixels.
    pub const fn new(size: f64) -> Self {
        let (anchor, tint) = (Anchor::Start, Tint::INK);
        Self { size, bold: false, anchor, turned: false, tint, class: "" }
    }

    /// The same in bold letters.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same with its middle at its place.
    #[must_use]
    pub const fn middle(self) -> Self {
        Self { anchor: Anchor::Middle, ..self }
    }

    /// The same with its end at its place.
    #[must_use]
    pub const fn end(self) -> Self {
        Self { anchor: Anchor::End, ..self }
    }

    /// The same from below to above.
    #[must_use]
    pub const fn turned(self) -> Self {
        Self { turned: true, ..self }
    }

    /// The same in another colour.
    #[must_use]
    pub const fn tinted(self, tint: Tint) -> Self {
        Self { tint, ..self }
    }

    /// The same with a class, by which programs find it in SVG.
    pub(crate) const fn classed(self, class: &'static str) -> Self {
        Self { class, ..self }
    }
}

/// How a closed shape looks: a [`Tint`] fills it, a [`Stroke`] goes around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapeLook {
    /// Filled with this colour.
    Filled(Tint),
    /// Its outline alone.
    Outlined(Stroke),
}

impl From<Tint> for ShapeLook {
    fn from(tint: Tint) -> Self {
        Self::Filled(tint)
    }
}

impl From<Stroke> for ShapeLook {
    fn from(stroke: Stroke) -> Self {
        Self::Outlined(stroke)
    }
}

/// What is drawn.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Left, top, width and height.
    Rect([f64; 4], ShapeLook),
    Polyline(Vec<[f64; 2]>, Stroke),
    Polygon(Vec<[f64; 2]>, ShapeLook),
    Circle([f64; 2], f64, ShapeLook),
    Text([f64; 2], String, TextLook),
    #[cfg(feature = "render")]
    Image([f64; 4], Picture),
    /// What is outside of this is cut off: left, top, width, height.
    Clip([f64; 4], Vec<Shape>),
    Moved([f64; 2], Vec<Shape>),
}

/// A drawing: a list of what is drawn, from the back to the front.
#[derive(Clone, Debug)]
pub struct Drawing {
    pub(super) title: String,
    width: f64,
    height: f64,
    pub(super) shapes: Vec<Shape>,
}

/// Places that are numbers.
fn usable<const N: usize>(places: [f64; N]) -> Option<[f64; N]> {
    let all = places.iter().all(|place| place.is_finite());
    all.then(|| places.map(|place| place.clamp(-FARTHEST, FARTHEST)))
}

/// A rectangle, left, top, width and height, none of which is negative.
fn usable_rect(at: [f64; 4]) -> Option<[f64; 4]> {
    usable(at).filter(|[.., width, height]| *width >= 0.0 && *height >= 0.0)
}

fn all_usable(points: impl IntoIterator<Item = [f64; 2]>) -> Vec<[f64; 2]> {
    points.into_iter().filter_map(usable).collect()
}

impl Drawing {
    /// Empty paper of this size in pixels, of one pixel at least; the title is told to those who cannot see the drawing.
    pub fn new(title: &str, width: f64, height: f64) -> Self {
        let [width, height] =
            [width, height].map(|side| if side >= 1.0 { side.min(1e6) } else { 1.0 });
        Self { title: title.to_owned(), width, height, shapes: Vec::new() }
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Pixels across at scale 1.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Pixels from the top to the bottom at scale 1.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// A rectangle: left, top, width and height.
    pub fn rect(&mut self, at: [f64; 4], look: impl Into<ShapeLook>) {
        self.shapes.extend(usable_rect(at).map(|at| Shape::Rect(at, look.into())));
    }

    /// A line.
    pub fn line(&mut self, from: [f64; 2], to: [f64; 2], stroke: Stroke) {
        self.polyline([from, to], stroke);
    }

    /// A line through places, of which there must be two at least.
    pub fn polyline(&mut self, points: impl IntoIterator<Item = [f64; 2]>, stroke: Stroke) {
        let points = all_usable(points);
        if points.len() > 1 {
            self.shapes.push(Shape::Polyline(points, stroke));
        }
    }

    /// A shape with these corners, of which there must be three at least.
    pub fn polygon(
        &mut self,
        corners: impl IntoIterator<Item = [f64; 2]>,
        look: impl Into<ShapeLook>,
    ) {
        let corners = all_usable(corners);
        if corners.len() > 2 {
            self.shapes.push(Shape::Polygon(corners, look.into()));
        }
    }

    /// A circle.
    pub fn circle(&mut self, [x, y]: [f64; 2], radius: f64, look: impl Into<ShapeLook>) {
        let round = usable([x, y, radius]).filter(|[.., radius]| *radius > 0.0);
        self.shapes.extend(round.map(|[x, y, radius]| Shape::Circle([x, y], radius, look.into())));
    }

    /// Text, with its base line at this place.
    pub fn text(&mut self, at: [f64; 2], text: &str, look: TextLook) {
        if let (Some(at), false) = (usable(at), text.is_empty()) {
            self.shapes.push(Shape::Text(at, text.to_owned(), look));
        }
    }

    /// Text that is not wider than this: with `…` for its end if it is.
    pub fn short_text(&mut self, at: [f64; 2], text: &str, look: TextLook, width: f64) {
        let size = if look.bold { BOLD * look.size } else { look.size };
        self.text(at, &shortened(text, size, width), look);
    }

    /// A picture that fills a rectangle: left, top, width and height. Its pixels stay sharp where they are enlarged.
    #[cfg(feature = "render")]
    pub fn image(&mut self, at: [f64; 4], picture: &Picture) {
        let has_pixels = !picture.pixels().is_empty();
        let at = usable_rect(at)
            .filter(|[.., width, height]| has_pixels && *width > 0.0 && *height > 0.0);
        self.shapes.extend(at.map(|at| Shape::Image(at, picture.clone())));
    }

    /// What is drawn here is cut off outside of a rectangle: left, top, width and height.
    pub fn clipped(&mut self, to: [f64; 4], draw: impl FnOnce(&mut Self)) {
        let outside = std::mem::take(&mut self.shapes);
        draw(self);
        let inside = std::mem::replace(&mut self.shapes, outside);
        self.shapes.extend(usable_rect(to).map(|to| Shape::Clip(to, inside)));
    }

    /// Puts another drawing onto this one, with its upper left corner here; it has no paper of its own.
    pub fn place(&mut self, other: Self, at: [f64; 2]) {
        self.shapes.extend(usable(at).map(|at| Shape::Moved(at, other.shapes)));
    }

    /// The same with another title.
    #[must_use]
    pub fn titled(self, title: &str) -> Self {
        Self { title: title.to_owned(), ..self }
    }

    /// Drawings beside each other, so many in a row, below a title.
    pub fn tiled(title: &str, drawings: Vec<Self>, across: usize) -> Self {
        let across = across.max(1);
        let head = if title.is_empty() { 0.0 } else { HEAD };
        let wide = drawings.iter().map(Self::width).fold(1.0, f64::max);
        let highest = |row: &[Self]| row.iter().map(Self::height).fold(1.0, f64::max);
        let heights: Vec<f64> = drawings.chunks(across).map(highest).collect();
        let width = wide * across.min(drawings.len().max(1)) as f64;
        let mut all = Self::new(title, width, head + heights.iter().sum::<f64>());
        let look = TextLook::new(0.5 * HEAD).bold();
        all.short_text([0.3 * HEAD, 0.72 * HEAD], title, look, width - HEAD);
        for (number, drawing) in drawings.into_iter().enumerate() {
            let top: f64 = heights[..number / across].iter().sum();
            all.place(drawing, [wide * (number % across) as f64, head + top]);
        }
        all
    }
}
