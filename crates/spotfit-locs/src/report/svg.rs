//! Charts as SVG: axes, and series of lines, points and bars. A chart is a whole file, or an element of a page.

use std::fmt::Write as _;

/// The size of a chart, and its margins: left, top, right, bottom.
const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 300.0;
const MARGINS: [f64; 4] = [64.0, 30.0, 14.0, 44.0];

/// Colours that people with any colour vision tell apart (Okabe & Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    from: Option<f64>,
    to: Option<f64>,
}

impl Axis {
    /// An axis with this label that shows all values.
    pub fn new(label: &str) -> Self {
        Self { label: label.to_owned(), from: None, to: None }
    }

    /// The same, beginning here.
    #[must_use]
    pub fn from(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }

    /// The same, ending here.
    #[must_use]
    pub fn to(self, to: f64) -> Self {
        Self { to: Some(to), ..self }
    }

    /// Its ends.
    fn range(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let finite = values.filter(|value| value.is_finite());
        let [low, high] = finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        });
        let [low, high] = if low <= high { [low, high] } else { [0.0, 1.0] };
        let room = if high > low { 0.04 * (high - low) } else { 0.5 * low.abs().max(1.0) };
        [self.from.unwrap_or(low - room), self.to.unwrap_or(high + room)]
    }
}

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Look {
    Line,
    Points,
    Bars,
    /// A line from the bottom to the top.
    Mark,
}

/// Values with a name.
#[derive(Clone, Debug)]
pub struct Series {
    name: String,
    look: Look,
    points: Vec<(f64, f64)>,
    /// x, and the ends at it of what is drawn faintly.
    band: Vec<(f64, f64, f64)>,
}

impl Series {
    fn new(name: &str, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), look, points, band: Vec::new() }
    }

    /// A line through points. A series without a name is not in the legend.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Line, points)
    }

    /// Points.
    pub fn points(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Points, points)
    }

    /// Bars from zero; each begins at its x and ends at the next one's.
    pub fn bars(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Bars, points)
    }

    /// A vertical line.
    pub fn mark(name: &str, x: f64) -> Self {
        Self::new(name, Look::Mark, vec![(x, f64::NAN)])
    }

    /// The same over a faint band, such as that of an error: x, and its lower and upper end there.
    #[must_use]
    pub fn with_band(self, band: Vec<(f64, f64, f64)>) -> Self {
        Self { band, ..self }
    }
}

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
}

impl Chart {
    /// A chart of series, the first of which is drawn first.
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: title.to_owned(), x, y, series }
    }

    /// The chart as SVG. What is not finite is left out.
    pub fn svg(&self) -> String {
        let of = |part: fn(&(f64, f64)) -> f64| {
            self.series.iter().flat_map(move |series| series.points.iter().map(part))
        };
        let bands = self.series.iter().flat_map(|series| &series.band);
        let ends = bands.flat_map(|&(_, low, high)| [low, high]);
        let x = self.x.range(of(|point| point.0));
        let y = self.y.range(of(|point| point.1).chain(ends));
        let [left, top, right, bottom] = MARGINS;
        let at_x = |value: f64| left + (value - x[0]) / (x[1] - x[0]) * (WIDTH - left - right);
        let at_y =
            |value: f64| HEIGHT - bottom - (value - y[0]) / (y[1] - y[0]) * (HEIGHT - top - bottom);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
        );
        let mut add = |line: std::fmt::Arguments<'_>| {
            let written = text.write_fmt(line);
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        };
        add(format_args!(
            "<text x=\"{left}\" y=\"18\" font-weight=\"bold\">{}</text>\n",
            safe(&self.title)
        ));
        for tick in ticks(x) {
            let at = at_x(tick);
            add(format_args!(
                "<path d=\"M{at:.1} {top}V{:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
                HEIGHT - bottom,
                HEIGHT - bottom + 15.0,
                five_digits(tick)
            ));
        }
        for tick in ticks(y) {
            let at = at_y(tick);
            add(format_args!(
                "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                WIDTH - right,
                left - 5.0,
                at + 4.0,
                five_digits(tick)
            ));
        }
        let middle = (left + WIDTH - right) / 2.0;
        add(format_args!(
            "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
            HEIGHT - 10.0,
            safe(&self.x.label)
        ));
        let middle = (top + HEIGHT - bottom) / 2.0;
        add(format_args!(
            "<text transform=\"translate(14 {middle}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            safe(&self.y.label)
        ));
        // An inner svg cuts off what is outside of it. A clip path would need an id, and a page has many charts.
        let (wide, high) = (WIDTH - left - right, HEIGHT - top - bottom);
        add(format_args!(
            "<svg x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" viewBox=\"{left} {top} {wide} {high}\">\n"
        ));
        for (number, series) in self.series.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            let whole =
                |end: &&(f64, f64, f64)| [end.0, end.1, end.2].into_iter().all(f64::is_finite);
            let band: Vec<_> = series.band.iter().filter(whole).collect();
            if !band.is_empty() {
                let there = band.iter().map(|end| (end.0, end.2));
                let back = band.iter().rev().map(|end| (end.0, end.1));
                let corners = there.chain(back);
                let corners: Vec<String> =
                    corners.map(|(x, y)| format!("{:.1},{:.1}", at_x(x), at_y(y))).collect();
                add(format_args!(
                    "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.2\"/>\n",
                    corners.join(" ")
                ));
            }
            let shown =
                || series.points.iter().filter(|point| point.0.is_finite() && point.1.is_finite());
            match series.look {
                Look::Line => {
                    let mut path = String::new();
                    for (k, point) in shown().enumerate() {
                        let letter = if k == 0 { 'M' } else { 'L' };
                        let written = write!(path, "{letter}{:.1} {:.1}", at_x(point.0), at_y(point.1));
                        debug_assert!(written.is_ok(), "writing to a string cannot fail");
                    }
                    add(format_args!(
                        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"
                    ));
                }
                Look::Points => shown().for_each(|point| {
                    add(format_args!(
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.8\" fill=\"{colour}\" fill-opacity=\"0.6\"/>\n",
                        at_x(point.0),
                        at_y(point.1)
                    ));
                }),
                Look::Bars => series.points.windows(2).for_each(|pair| {
                    let (from, to) = (at_x(pair[0].0), at_x(pair[1].0));
                    let (high, low) = (at_y(pair[0].1), at_y(0.0));
                    if [from, to, high].iter().all(|value| value.is_finite()) {
                        add(format_args!(
                            "<rect x=\"{from:.1}\" y=\"{high:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" fill-opacity=\"0.45\"/>\n",
                            (to - from).max(0.3),
                            (low - high).max(0.0)
                        ));
                    }
                }),
                Look::Mark => {
                    let at = at_x(series.points[0].0);
                    add(format_args!(
                        "<path d=\"M{at:.1} {top}V{}\" stroke=\"{colour}\" stroke-dasharray=\"4 3\"/>\n",
                        HEIGHT - bottom
                    ));
                }
            }
        }
        add(format_args!("</svg>\n"));
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        for (line, (number, series)) in named.enumerate() {
            let y = top + 12.0 + 14.0 * line as f64;
            add(format_args!(
                "<rect x=\"{}\" y=\"{:.1}\" width=\"10\" height=\"4\" fill=\"{}\"/><text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\n",
                WIDTH - right - 14.0,
                y - 6.0,
                COLOURS[number % COLOURS.len()],
                WIDTH - right - 18.0,
                safe(&series.name)
            ));
        }
        text.push_str("</svg>\n");
        text
    }
}

/// Text that is no markup: `&`, `<` and `>` are escaped, control characters left out.
pub fn safe(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.chars().filter(|symbol| !symbol.is_control()).collect()
}

/// About five round numbers in a range.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return Vec::new();
    }
    let decade = 10f64.powf((span / 5.0).log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * decade).find(|step| span / step <= 6.0);
    let step = step.unwrap_or(10.0 * decade);
    let first = (low / step).ceil();
    (0..12).map(|k| (first + f64::from(k)) * step).take_while(|tick| *tick <= high).collect()
}

/// A number of at most five digits.
pub fn five_digits(number: f64) -> String {
    if number.abs() < 1e-12 {
        "0".to_owned()
    } else if (1e-3..1e6).contains(&number.abs()) {
        let digits = (3 - number.abs().log10().floor() as i32).clamp(0, 6) as usize;
        let text = format!("{number:.digits$}");
        if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{number:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that axes have a few round numbers, and that odd data give a chart all the same.
    #[test]
    fn charts_are_drawn() {
        assert_eq!(ticks([0.0, 10.0]), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks([-0.13, 0.12]), [-0.1, -0.05, 0.0, 0.05, 0.1]);
        assert_eq!([0.0, 1500.0, 0.25, 1e7].map(five_digits), ["0", "1500", "0.25", "1.0e7"]);
        for points in [vec![], vec![(1.0, 2.0)], vec![(f64::NAN, 1.0), (0.0, f64::INFINITY)]] {
            let band = points.iter().map(|&(x, y)| (x, y - 0.5, y + 0.5)).collect();
            let series = vec![
                Series::line("a<b", points.clone()).with_band(band),
                Series::points("", points.clone()),
                Series::bars("c", points),
                Series::mark("d", 0.5),
            ];
            let svg =
                Chart::new("t & u", Axis::new("x").from(0.0), Axis::new("y").to(3.0), series).svg();
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
            assert!(
                svg.contains("a&lt;b") && svg.contains("t &amp; u") && !svg.contains("NaN"),
                "{svg}"
            );
        }
    }

    /// Proves that a band goes there along its upper end and back along its lower one, in the colour of its line, and that the
    /// axis leaves room for it.
    #[test]
    fn bands_are_drawn() {
        let line = Series::line("a", vec![(0.0, 1.0), (1.0, 1.0)]);
        let chart = |line: Series| {
            let y = Axis::new("y").from(0.0).to(2.0);
            Chart::new("t", Axis::new("x").from(0.0).to(1.0), y, vec![line]).svg()
        };
        assert!(!chart(line.clone()).contains("<polygon"));
        let band = vec![(0.0, 0.5, 1.5), (f64::NAN, 0.0, 1.0), (1.0, 0.0, 2.0)];
        let svg = chart(line.clone().with_band(band));
        let expected = format!(
            "<polygon points=\"64.0,86.5 466.0,30.0 466.0,256.0 64.0,199.5\" fill=\"{}\" fill-opacity=\"0.2\"/>",
            COLOURS[0]
        );
        assert!(svg.contains(&expected), "{svg}");
        let open = |line: Series| Chart::new("t", Axis::new("x"), Axis::new("y"), vec![line]).svg();
        let (alone, wide) = (open(line.clone()), open(line.with_band(vec![(0.0, -90.0, 90.0)])));
        assert!(wide.contains(">-50</text>") && !alone.contains(">-50</text>"), "{wide}");
    }
}
