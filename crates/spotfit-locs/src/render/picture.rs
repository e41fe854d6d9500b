//! Pictures, and what is drawn on them.

use super::Colours;
use super::colours::STEPS;
use super::glyphs::{draw, width};

/// What a pixel may be.
pub trait Ink: Copy + Send + Sync {
    /// The brightest.
    const WHITE: Self;
    /// The darkest.
    const BLACK: Self;

    /// White over this, as far as it covers it, from 0 to 1.
    #[must_use]
    fn under_white(self, cover: f32) -> Self;
}

impl Ink for [u8; 3] {
    const WHITE: Self = [255; 3];
    const BLACK: Self = [0; 3];

    fn under_white(self, cover: f32) -> Self {
        self.map(|value| (f32::from(value) + f32::from(255 - value) * cover).round() as u8)
    }
}

impl Ink for u16 {
    const WHITE: Self = Self::MAX;
    const BLACK: Self = 0;

    fn under_white(self, cover: f32) -> Self {
        (f32::from(self) + f32::from(Self::MAX - self) * cover).round() as Self
    }
}

/// Smaller letters cannot be read.
const LEAST_LETTER: usize = 8;

/// A picture in red, green and blue, or another [`Ink`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture<P = [u8; 3]> {
    width: usize,
    pixels: Vec<P>,
    /// A fifth of the height of labels, if it was chosen.
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

    /// Chooses the size of labels: a fifth of the height of a capital letter, in pixels, at least 1. If nobody chooses, it is a
    /// two-hundredth of the shorter side of the picture. Letters are never less than eight pixels high.
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

    /// Draws another picture at the given position; parts outside are cut off.
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

    /// Writes a text whose capital letters have this height and their upper left corner here.
    fn text(&mut self, x: usize, y: usize, height: usize, text: &str) {
        let (columns, rows) = (self.width, self.height());
        let inside = |at: usize, by: i32, end: usize| {
            at.checked_add_signed(by as isize).filter(|at| *at < end)
        };
        draw(text, height, |right, down, cover| {
            if let (Some(x), Some(y)) = (inside(x, right, columns), inside(y, down, rows)) {
                let pixel = &mut self.pixels[y * columns + x];
                *pixel = pixel.under_white(cover);
            }
        });
    }

    /// The side of a dot, in which distances of labels are counted.
    fn dot(&self) -> usize {
        self.dot.unwrap_or_else(|| (self.width.min(self.height()) / 200).max(1))
    }

    /// The height of a capital letter.
    fn letter(&self) -> usize {
        (5 * self.dot()).max(LEAST_LETTER)
    }

    /// Writes what the picture shows into the lower left corner, if there is room for it. ASCII is drawn, and `°±²µ·×μσχ−`.
    pub fn caption(&mut self, text: &str) {
        let (margin, letter) = (6 * self.dot(), self.letter());
        if width(text, letter) + 2 * margin > self.width || letter + 2 * margin > self.height() {
            return;
        }
        self.text(margin, self.height() - margin - letter, letter, text);
    }

    /// Draws a scale bar of `length` pixels with its label into the lower right corner, if there is room
    /// for it.
    pub fn scale_bar(&mut self, length: usize, label: &str) {
        let (dot, letter) = (self.dot(), self.letter());
        let margin = 6 * dot;
        let text = width(label, letter);
        if length.max(text) + 2 * margin > self.width || letter + 9 * dot + margin > self.height() {
            return;
        }
        let (x, y) = (self.width - margin - length, self.height() - margin - 2 * dot);
        self.fill(x, y, length, 2 * dot, P::WHITE);
        self.text(self.width - margin - text, y - letter - 2 * dot, letter, label);
    }
}

impl Picture {
    /// Draws a bar with the colours of values and a label at either end into the upper left corner, if there is room for
    /// it.
    pub fn legend(&mut self, colours: &Colours, [low, high]: [&str; 2]) {
        let (dot, letter) = (self.dot(), self.letter());
        let margin = 6 * dot;
        let (low_width, high_width) = (width(low, letter), width(high, letter));
        let length = (self.width / 4).max(low_width + high_width + 12 * dot);
        if length + 2 * margin > self.width || letter + 9 * dot + margin > self.height() {
            return;
        }
        self.text(margin, margin, letter, low);
        self.text(margin + length - high_width, margin, letter, high);
        let (table, top) = (colours.table(), margin + letter + 2 * dot);
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
