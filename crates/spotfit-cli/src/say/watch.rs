//! Drift on the terminal while it is followed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use spotfit::steps::track::{About, DriftSink, Row};
use spotfit::steps::{Listener, StepError};
use spotfit::table::Unit;

/// How often it is drawn.
const PACE: Duration = Duration::from_millis(100);
/// How many points a line has.
const POINTS: usize = 60;
/// The heights of points.
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the last drifts, their errors and the beads on standard error.
pub(crate) struct Watch {
    screen: MultiProgress,
    lines: Vec<ProgressBar>,
    about: About,
    recent: VecDeque<Row>,
    drawn: Option<Instant>,
    /// Frames since then.
    frames: u64,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self {
            screen: MultiProgress::with_draw_target(ProgressDrawTarget::stderr()),
            lines: Vec::new(),
            about: About::default(),
            recent: VecDeque::with_capacity(POINTS),
            drawn: None,
            frames: 0,
        }
    }

    /// Whether there is no terminal to draw on.
    pub(crate) fn is_hidden(&self) -> bool {
        self.screen.is_hidden()
    }

    fn draw(&mut self, row: &Row, rate: f64) {
        if self.recent.len() == POINTS {
            self.recent.pop_front();
        }
        self.recent.push_back(*row);
        for (line, text) in self.lines.iter().zip(told(&self.about, &self.recent, rate)) {
            line.set_message(text);
        }
    }
}

/// What is drawn, line by line, of the last rows and the frames a second.
fn told(about: &About, rows: &VecDeque<Row>, rate: f64) -> Vec<String> {
    let Some(last) = rows.back() else { return Vec::new() };
    let (unit, digits) = if about.unit == Unit::Nanometre { ("nm", 1) } else { ("px", 3) };
    let axis = |name: &str,
                unit: &str,
                digits: usize,
                value: f64,
                error: f64,
                of: fn(&Row) -> f64| {
        let (line, span) = spark(rows.iter().map(of));
        format!(
            "{name} {value:+10.digits$} ±{error:.digits$} {unit}  {line}  span {span:.digits$} {unit}"
        )
    };
    let mut lines = vec![format!(
        "frame {}  {rate:.0} frames/s  {} beads, {} lost ({})  {:.0} µs",
        last.frame.saturating_add(1),
        last.beads,
        last.lost,
        last.status.name(),
        last.latency
    )];
    lines.push(axis("x", unit, digits, last.x, last.x_error, |row| row.x));
    lines.push(axis("y", unit, digits, last.y, last.y_error, |row| row.y));
    if let (Some(z), Some(error)) = (last.z, last.z_error) {
        lines.push(axis("z", "nm", 1, z, error, |row| row.z.unwrap_or_default()));
    }
    let (line, _) = spark(rows.iter().map(|row| row.beads as f64));
    lines.push(format!("beads {line}"));
    lines
}

/// Values as a line of bars between the least and the greatest, and how far these are apart.
fn spark(values: impl Iterator<Item = f64> + Clone) -> (String, f64) {
    let (least, greatest) =
        values.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    let span = greatest - least;
    let level = |value: f64| {
        let share = if span > 0.0 { (value - least) / span } else { 0.0 };
        LEVELS[((share * LEVELS.len() as f64) as usize).min(LEVELS.len() - 1)]
    };
    (values.map(level).collect(), if span.is_finite() { span } else { 0.0 })
}

impl DriftSink for Watch {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        self.about = about.clone();
        let style = ProgressStyle::with_template("{msg}").unwrap_or(ProgressStyle::default_bar());
        let line = |_| self.screen.add(ProgressBar::no_length().with_style(style.clone()));
        self.lines = (0..4 + usize::from(about.has_z)).map(line).collect();
        Ok(())
    }

    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        self.frames += 1;
        let now = Instant::now();
        let passed = self.drawn.map(|drawn| now.duration_since(drawn));
        if passed.is_none_or(|passed| passed >= PACE) {
            let rate = passed.map_or(0.0, |passed| self.frames as f64 / passed.as_secs_f64());
            (self.drawn, self.frames) = (Some(now), 0);
            self.draw(row, rate);
        }
        Ok(())
    }

    fn end(&mut self, _: &dyn Listener) -> Result<(), StepError> {
        // The last picture stays above the report.
        self.lines.iter().for_each(ProgressBar::abandon);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that lines of bars go from the least to the greatest, and that one value, or none, is no fault.
    #[test]
    fn lines_of_bars_are_drawn() {
        assert_eq!(spark([0.0, 7.0, 3.5].into_iter()), ("▁█▅".to_owned(), 7.0));
        assert_eq!(spark([2.0, 2.0].into_iter()), ("▁▁".to_owned(), 0.0));
        assert_eq!(spark(std::iter::empty()), (String::new(), 0.0));
        assert_eq!(told(&About::default(), &VecDeque::new(), 1.0), Vec::<String>::new());
    }
}
