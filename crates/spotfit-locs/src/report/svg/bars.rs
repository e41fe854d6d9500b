//! Horizontal bars that are made of parts.

use crate::report::figure::{Drawing, TextLook, Tint};
use crate::report::number::label;

/// Horizontal bars that are made of parts.
#[derive(Clone, Debug)]
pub struct PartBars {
    title: String,
    unit: String,
    bars: Vec<(String, Vec<(String, f64)>)>,
    summed: bool,
}

const WIDTH: f64 = 520.0;
/// Height of a bar with the gap below it.
const ROW: f64 = 26.0;
/// Where bars begin.
const LEFT: f64 = 150.0;
/// Width that the number behind a bar takes.
const NUMBER: f64 = 110.0;

impl PartBars {
    /// Bars, each with the names and the numbers of its parts, which have this unit.
    pub fn new(title: &str, unit: &str, bars: Vec<(String, Vec<(String, f64)>)>) -> Self {
        Self { title: title.to_owned(), unit: unit.to_owned(), bars, summed: false }
    }

    /// The same for parts that make a whole: their sum stands beside the name of the bar.
    #[must_use]
    pub fn summed(self) -> Self {
        Self { summed: true, ..self }
    }

    /// The bars as SVG.
    pub fn svg(&self) -> String {
        self.drawing().svg()
    }

    /// The bars as a drawing.
    pub fn drawing(&self) -> Drawing {
        let rows: usize = self.bars.iter().map(|(_, parts)| parts.len() + 1).sum();
        let mut drawing = Drawing::new(&self.title, WIDTH, 60.0 + ROW * rows as f64);
        let text =
            |drawing: &mut Drawing, x: f64, y: f64, text: &str, look: TextLook, size: f64| {
                drawing.text([x, y + 0.35 * size], text, look);
            };
        let [title, head, part] =
            [TextLook::new(16.0).bold(), TextLook::new(15.0), TextLook::new(14.0)];
        text(&mut drawing, 12.0, 16.0, &self.title, title, 16.0);
        let all = || self.bars.iter().flat_map(|(_, parts)| parts);
        let longest = all().map(|(_, value)| *value).fold(0.0, f64::max).max(1e-300);
        let mut at = 46.0;
        for (name, parts) in &self.bars {
            let sum: f64 = parts.iter().map(|(_, value)| value).sum();
            let all = format!(": {} {} in all", label(sum), self.unit);
            let name = if self.summed { format!("{name}{all}") } else { name.clone() };
            text(&mut drawing, 12.0, at, &name, head, 15.0);
            at += ROW;
            for (number, (name, value)) in parts.iter().enumerate() {
                let length = ((value / longest) * (WIDTH - LEFT - NUMBER)).max(1.0);
                drawing.rect([LEFT, at - 8.0, length, 16.0], Tint::series(number));
                text(&mut drawing, 28.0, at, name, part, 14.0);
                let value = format!("{} {}", label(*value), self.unit);
                text(&mut drawing, LEFT + length + 8.0, at, &value, part, 14.0);
                at += ROW;
            }
        }
        drawing
    }
}
