//! Pictures, and what is drawn on them.

use super::Colours;
use super::colours::STEPS;
use super::glyphs::{ROWS, glyph, width};

/// What a pixel may be.
pub trait Ink: Copy + Send + Sync {
    /// The brightest.
    const WHITE: Self;
    /// The darkest.
    const BLACK: Self;
}

impl Ink for [u8; 3] {
    const WHITE: Self = [255; 3];
    const BLACK: Self = [0; 3];
}

impl Ink for u16 {
    const WHITE: Self = Self::MAX;
    const BLACK: Self = 0;
}

/// A picture in red, green and blue, or another [`Ink`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture<P = [u8; 3]> {
    width: usize,
    pixels: Vec<P>,
    /// The side of a dot of labels, if it was chosen.
    dot: Option<usize>,
}

impl<P: Ink> Picture<P> {
    /// A picture of one colour.
    pub fn filled(width: usize, height: usize, colour: P) -> Self {
        Self::from_pixels(width, vec![colour; width * height])
    }

    /// A picture of these pixels, row after row.
    ///
    /// # Panics
    /// If they are not whole rows.
    pub fn from_pixels(width: usize, pixels: Vec<P>) -> Self {
        assert!(pixels.len().is_multiple_of(width), "whole rows");
        Self { width, pixels, dot: None }
    }

    /// Chooses the size of labels: the side of the dots of which letters are made, in pixels, at least 1. A letter is five
    /// dots high. If nobody chooses, it is a two-hundredth of the shorter side of the picture.
    #[must_use]
    pub fn with_dot(mut self, dot: usize) -> Self {
        self.dot = Some(dot.max(1));
        self
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width.max(1)
    }

    /// The pixels, row after row.
    pub fn pixels(&self) -> &[P] {
        &self.pixels
    }

    /// Draws another picture at the given place; what is outside is cut off.
    pub fn draw(&mut self, other: &Self, x: usize, y: usize) {
        let columns = other.width.min(self.width.saturating_sub(x));
        let rows = other.height().min(self.height().saturating_sub(y));
        for row in 0..rows {
            let from = &other.pixels[row * other.width..][..columns];
            self.pixels[(y + row) * self.width + x..][..columns].copy_from_slice(from);
        }
    }

    fn fill(&mut self, x: usize, y: usize, width: usize, height: usize, colour: P) {
        self.draw(&Self::filled(width, height, colour), x, y);
    }

    /// Writes a text with dots of this side.
    fn text(&mut self, mut x: usize, y: usize, dot: usize, text: &str) {
        for symbol in text.chars() {
            let (wide, rows) = glyph(symbol);
            for (row, bits) in rows.into_iter().enumerate() {
                for column in (0..wide).filter(|column| (bits >> (wide - 1 - column)) & 1 == 1) {
                    self.fill(x + column * dot, y + row * dot, dot, dot, P::WHITE);
                }
            }
            x += (wide + 1) * dot;
        }
    }

    /// The side of a dot of labels.
    fn dot(&self) -> usize {
        self.dot.unwrap_or_else(|| (self.width.min(self.height()) / 200).max(1))
    }

    /// Writes what the picture shows into the lower left corner, if there is room for it. Letters, digits and `.-+_/` are
    /// drawn, all else is blank.
    pub fn caption(&mut self, text: &str) {
        let dot = self.dot();
        let margin = 6 * dot;
        if width(text) * dot + 2 * margin > self.width || ROWS * dot + 2 * margin > self.height() {
            return;
        }
        self.text(margin, self.height() - margin - ROWS * dot, dot, text);
    }

    /// Draws a scale bar of `length` pixels with its label into the lower right corner, if there is room
    /// for it.
    pub fn scale_bar(&mut self, length: usize, label: &str) {
        let dot = self.dot();
        let margin = 6 * dot;
        let text = width(label) * dot;
        if length.max(text) + 2 * margin > self.width || 14 * dot + margin > self.height() {
            return;
        }
        let (x, y) = (self.width - margin - length, self.height() - margin - 2 * dot);
        self.fill(x, y, length, 2 * dot, P::WHITE);
        self.text(self.width - margin - text, y - (ROWS + 2) * dot, dot, label);
    }
}

impl Picture {
    /// Draws a bar with the colours of values and a label at either end into the upper left corner, if there is room for
    /// it.
    pub fn legend(&mut self, colours: &Colours, [low, high]: [&str; 2]) {
        let dot = self.dot();
        let margin = 6 * dot;
        let (low_width, high_width) = (width(low) * dot, width(high) * dot);
        let length = (self.width / 4).max(low_width + high_width + 12 * dot);
        if length + 2 * margin > self.width || 14 * dot + margin > self.height() {
            return;
        }
        self.text(margin, margin, dot, low);
        self.text(margin + length - high_width, margin, dot, high);
        let (table, top) = (colours.table(), margin + (ROWS + 2) * dot);
        for column in 0..length {
            let colour = table[column * (STEPS - 1) / (length - 1).max(1)];
            self.fill(margin + column, top, 1, 3 * dot, colour);
        }
    }

    /// Adds the light of another picture of the same size, up to the brightest.
    ///
    /// # Panics
    /// If its size is another.
    pub fn add(&mut self, other: &Self) {
        assert_eq!((self.width, self.pixels.len()), (other.width, other.pixels.len()), "one size");
        for (pixel, other) in self.pixels.iter_mut().zip(&other.pixels) {
            pixel
                .iter_mut()
                .zip(other)
                .for_each(|(value, more)| *value = value.saturating_add(*more));
        }
    }
}

/// A good length for a scale bar, about a fifth of the given length: 1, 2 or 5 times a power of ten.
pub fn round_length(whole: f64) -> f64 {
    let target = whole / 5.0;
    if !(target > 0.0 && target.is_finite()) {
        return 1.0;
    }
    let decade = 10f64.powf(target.log10().floor());
    [5.0, 2.0, 1.0].into_iter().map(|step| step * decade).find(|&l| l <= target).unwrap_or(decade)
}
