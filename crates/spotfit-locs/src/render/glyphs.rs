//! The letters of labels, of DejaVu Sans.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, GlyphId, OutlineCurve, PxScaleFont, ScaleFont};

type Scaled = PxScaleFont<&'static FontRef<'static>>;

/// The font of labels, a file of TrueType: DejaVu Sans, as far as labels need it: ASCII, Latin-1, small Greek letters, raised and lowered
/// digits, and the signs of units.
pub static LABEL_FONT: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");

static FONT: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    let font = FontRef::try_from_slice(LABEL_FONT);
    font.expect("the font is part of the program")
});
/// The height of a capital letter over the size of the font.
const CAPITAL: f32 = 1493.0 / 2048.0;
/// The size of the font over the distance from its deepest to its highest line.
const SIZE: f32 = 2048.0 / (1901.0 + 483.0);

/// The font, with capital letters of this height in pixels.
fn font(height: usize) -> Scaled {
    LazyLock::force(&FONT).as_scaled(height as f32 / CAPITAL / SIZE)
}

/// The letters of a text with their places along a line, and where the next one would be.
fn line(text: &str, font: Scaled) -> (Vec<(GlyphId, f32)>, f32) {
    let mut at = 0.0;
    let mut last = None;
    let letters = text.chars().map(|letter| {
        let id = font.glyph_id(letter);
        at += last.map_or(0.0, |last| font.kern(last, id));
        let place = at;
        at += font.h_advance(id);
        last = Some(id);
        (id, place)
    });
    let letters = letters.collect();
    (letters, at)
}

/// The width of a text in pixels, with capital letters of this height.
pub(super) fn width(text: &str, height: usize) -> usize {
    line(text, font(height)).1.ceil() as usize
}

/// Calls with each pixel that a text covers and by how much, from 0 to 1. Capital letters have this height; their upper left
/// corner is (0, 0).
pub(super) fn draw(text: &str, height: usize, mut cover: impl FnMut(i32, i32, f32)) {
    let font = font(height);
    for (id, place) in line(text, font).0 {
        let at = ab_glyph::point(place, height as f32);
        let glyph = id.with_scale_and_position(font.scale(), at);
        // A blank has no outline.
        let Some(outline) = font.outline_glyph(glyph) else { continue };
        let corner = outline.px_bounds().min;
        outline.draw(|x, y, by| {
            cover(corner.x as i32 + x as i32, corner.y as i32 + y as i32, by.clamp(0.0, 1.0));
        });
    }
}

/// A cubic curve: from here, drawn towards these two, to there.
pub(crate) type LetterCurve = [[f32; 2]; 4];

/// The outlines of a text that begins at (0, 0), with y downwards, in letters of this size; and its width. A contour ends where the
/// next curve does not begin at the end of the last.
pub(crate) fn letter_outlines(text: &str, size: f32) -> (Vec<LetterCurve>, f32) {
    let font = LazyLock::force(&FONT).as_scaled(size / SIZE);
    let scale = font.scale_factor();
    let mut curves = Vec::new();
    let (letters, width) = line(text, font);
    for (id, place) in letters {
        let Some(outline) = font.font.outline(id) else { continue };
        let at = |point: ab_glyph::Point| {
            [place + point.x * scale.horizontal, -point.y * scale.vertical]
        };
        curves.extend(outline.curves.into_iter().map(|curve| match curve {
            OutlineCurve::Line(from, to) => [at(from), at(from), at(to), at(to)],
            OutlineCurve::Quad(from, by, to) => {
                let [from, by, to] = [from, by, to].map(at);
                let towards = |end: [f32; 2]| [0, 1].map(|axis| (end[axis] + 2.0 * by[axis]) / 3.0);
                [from, towards(from), towards(to), to]
            }
            OutlineCurve::Cubic(from, by, over, to) => [from, by, over, to].map(at),
        }));
    }
    (curves, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that capital letters have the height that is asked for, that a text is as wide as said, and that all signs of
    /// units are in the font.
    #[test]
    fn letters_have_their_size() {
        for height in [8, 10, 25, 100] {
            let mut ends = [i32::MAX, i32::MIN, i32::MIN];
            draw("HE", height, |x, y, by| {
                if by > 0.5 {
                    ends = [ends[0].min(y), ends[1].max(y), ends[2].max(x)];
                }
            });
            let high = ends[1] - ends[0] + 1;
            assert!((high - height as i32).abs() <= 1, "{height}: {high}");
            let wide = width("HE", height) as i32;
            assert!(ends[2] < wide && ends[2] > wide * 4 / 5, "{height}: {} {wide}", ends[2]);
        }
        for letter in ('!'..='~').chain("°±²³µ·×ÅÄöμσχβΔ–…⁰¹⁻₁→−√≈≤≥".chars())
        {
            assert_ne!(FONT.glyph_id(letter).0, 0, "{letter}");
            let mut covered = 0.0;
            draw(&letter.to_string(), 20, |_, _, by| covered += by);
            assert!(covered > 1.0, "{letter}");
        }
        assert_eq!(width("", 20), 0);
    }
}
