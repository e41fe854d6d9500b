//! Horizontal bars that are made of parts.

use std::error::Error;

use plotters::coord::Shift;
use plotters::element::{Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::number::label;
use super::style::{COLOURS, INK, WIDTH, finish, text};

/// Horizontal bars that are made of parts.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// The unit of the numbers.
    pub unit: String,
    /// Each bar and its parts.
    pub bars: Vec<(String, Vec<(String, f64)>)>,
    /// Whether the parts make a whole, which is said.
    pub summed: bool,
}

/// Height of a bar with the gap below it.
const ROW: i32 = 26;
/// Where bars begin.
const LEFT: i32 = 150;
/// Width that the number behind a bar takes.
const NUMBER: f64 = 110.0;

impl Bars {
    /// The bars as SVG.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        let rows: usize = self.bars.iter().map(|(_, parts)| parts.len() + 1).sum();
        let height = 60 + ROW as u32 * rows as u32;
        let drawn =
            self.draw(SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area());
        debug_assert!(drawn.is_ok(), "{drawn:?}");
        finish(svg, &self.title)
    }

    fn draw(&self, area: DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        let left = Pos::new(HPos::Left, VPos::Center);
        area.draw(&Text::new(self.title.clone(), (12, 16), text(20, INK).pos(left)))?;
        let all = || self.bars.iter().flat_map(|(_, parts)| parts);
        let longest = all().map(|(_, value)| *value).fold(0.0, f64::max).max(1e-300);
        let room = f64::from(WIDTH) - f64::from(LEFT) - NUMBER;
        let mut at = 46;
        for (name, parts) in &self.bars {
            let sum: f64 = parts.iter().map(|(_, value)| value).sum();
            let all = format!(": {} {} in all", label(sum), self.unit);
            let head = if self.summed { format!("{name}{all}") } else { name.clone() };
            area.draw(&Text::new(head, (12, at), text(18, INK).pos(left)))?;
            at += ROW;
            for (number, (part, value)) in parts.iter().enumerate() {
                let end = LEFT + ((value / longest) * room).round().max(1.0) as i32;
                let colour = COLOURS[number % COLOURS.len()].filled();
                area.draw(&Rectangle::new([(LEFT, at - 8), (end, at + 8)], colour))?;
                area.draw(&Text::new(part.clone(), (28, at), text(17, INK).pos(left)))?;
                let number = format!("{} {}", label(*value), self.unit);
                area.draw(&Text::new(number, (end + 8, at), text(17, INK).pos(left)))?;
                at += ROW;
            }
        }
        area.present()?;
        Ok(())
    }
}
