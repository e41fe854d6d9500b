//! Numbers on a grid, as colours.

use super::axis::{Axis, Scale};
use super::field::{Field, some};
use super::sheet::SMALL;
use crate::report::figure::{Drawing, Stroke, TextLook, Tint, Tones};

/// The width of the bar of colours, and what is around it.
const BAR: f64 = 10.0;
const GAP: f64 = 8.0;

/// Numbers on a grid of pixels as colours, beside a bar that tells what they mean. Rows go downwards, as in an image.
#[derive(Clone, Debug)]
pub struct PixelChart {
    title: String,
    names: [String; 2],
    width: usize,
    numbers: Vec<f64>,
    tones: Tones,
}

impl PixelChart {
    /// Of numbers row after row, in rows of this width; the names are those of column and row.
    pub fn new(
        title: &str,
        names: [&str; 2],
        width: usize,
        numbers: Vec<f64>,
        tones: Tones,
    ) -> Self {
        Self { title: title.to_owned(), names: names.map(str::to_owned), width, numbers, tones }
    }

    /// The chart as a drawing of this width. Pixels are square.
    pub fn drawing(&self, width: f64) -> Drawing {
        let sheet = &SMALL;
        let columns = self.width.max(1);
        let rows = (self.numbers.len() / columns).max(1);
        let bar = Scale::new(&ends(self.tones.range()), std::iter::empty(), false);
        // As wide for usual numbers, so that charts beside each other are alike.
        let right = (GAP + BAR + 5.0 + bar.widest(sheet.tick) + 4.0).max(60.0);
        let [wide, high] = [columns, rows].map(|count| count as f64);
        let room = (width - sheet.left - right).max(1.0);
        let side = (room / wide).min(1.2 * room / high);
        let size = [side * wide, side * high];
        let left = sheet.left + 0.5 * (room - size[0]);
        let at = [left, sheet.top, size[0], size[1]];
        let mut drawing = Drawing::new(&self.title, width, sheet.top + size[1] + sheet.bottom);
        drawing.short_text([left, 22.0], &self.title, TextLook::new(sheet.name), width - left);
        let picture = self.tones.picture(columns, &self.numbers);
        drawing.image(at, &picture);
        drawing.rect(at, Stroke::new(Tint::INK, 1.0));
        let axis = |count: f64| Scale::new(&ends([-0.5, count - 0.5]), std::iter::empty(), false);
        let (x, y) = (axis(wide).of_pixels(), axis(high).of_pixels().reversed());
        let field = Field { x: &x, y: &y, at, sheet };
        field.numbers(&mut drawing, true);
        field.names(&mut drawing, [&self.names[0], &self.names[1]], true);
        let beside = [left + size[0] + GAP, sheet.top, BAR, size[1]];
        self.tones.bar(&mut drawing, beside);
        drawing.rect(beside, Stroke::new(Tint::INK, 1.0));
        let place = |tick: f64| sheet.top + size[1] * (1.0 - bar.share_of_place(tick));
        let apart =
            |a: usize, b: usize| place(bar.ticks[a]) - place(bar.ticks[b]) >= 1.25 * sheet.tick;
        for number in some(&bar.ticks, apart) {
            let (tick, x) = (bar.ticks[number], beside[0] + BAR);
            let y = place(tick);
            drawing.line([x, y], [x + 3.0, y], Stroke::new(Tint::INK, 1.0));
            let look = TextLook::new(sheet.tick).classed("bar");
            drawing.text([x + 5.0, y + 0.36 * sheet.tick], &bar.text(tick), look);
        }
        drawing
    }
}

/// An axis from here to there.
fn ends([low, high]: [f64; 2]) -> Axis {
    Axis::new("").from(low).to(high)
}
