//! Charts of series.

use std::fmt::Write as _;

use super::axis::{Axis, Scale};
use super::series::{DASHES, Look, Series, mark};
use super::{colours, safe};

/// How large a chart and its text are.
#[derive(Clone, Copy, Debug)]
struct Sheet {
    width: f64,
    height: f64,
    /// Left, top, right, bottom.
    margins: [f64; 4],
    /// The places of the title and of the label of y, and the distances of ticks from their axes and of the label of x from the end.
    title: f64,
    label_y: f64,
    tick: [f64; 3],
    label_x: f64,
    grid: &'static str,
    /// What is said of titles, labels and numbers at ticks besides.
    looks: [&'static str; 4],
}

/// Charts beside each other in a page.
const SMALL: Sheet = Sheet {
    width: 480.0,
    height: 300.0,
    margins: [64.0, 30.0, 14.0, 44.0],
    title: 18.0,
    label_y: 14.0,
    tick: [15.0, 5.0, 4.0],
    label_x: 10.0,
    grid: "#ddd",
    looks: [" font-weight=\"bold\"", "", "", ""],
};
/// A chart whose text stays readable where it is shown on a telephone.
const LARGE: Sheet = Sheet {
    width: 520.0,
    height: 360.0,
    margins: [78.0, 34.0, 15.0, 52.0],
    title: 22.0,
    label_y: 20.0,
    tick: [18.0, 7.0, 5.0],
    label_x: 12.0,
    grid: colours::GRID,
    looks: [
        " font-size=\"16\"",
        " font-size=\"14.5\"",
        " class=\"x\" font-size=\"13\"",
        " class=\"y\" font-size=\"13\"",
    ],
};
/// Height of a line of the legend below a large chart.
const LINE: f64 = 23.0;
/// Names of lines that are longer than this have a line of the legend to themselves.
const HALF: usize = 26;
/// So many marks a curve has, about.
const MARKS: usize = 40;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    x: Axis,
    y: Axis,
    series: Vec<Series>,
    large: bool,
}

impl Chart {
    /// A chart of series, the first of which is drawn first. It is small, with its legend inside, for pages of many.
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self { title: title.to_owned(), x, y, series, large: false }
    }

    /// The same for itself: with larger text, the legend below, round ends of the axes, and the colours of the reader's choice of
    /// light or dark.
    #[must_use]
    pub fn large(self) -> Self {
        Self { large: true, ..self }
    }

    /// The same without series that have no values.
    #[must_use]
    pub fn without_empty(mut self) -> Self {
        self.series.retain(|series| !series.points.is_empty());
        self
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether there is something to see that is not only for comparison.
    pub fn has_curve(&self) -> bool {
        let seen = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        self.series.iter().any(|series| !series.is_dashed() && series.points.iter().any(seen))
    }

    /// The chart as SVG. What is not finite is left out, as is what a logarithmic axis does not have.
    pub fn svg(&self) -> String {
        let sheet = if self.large { LARGE } else { SMALL };
        let height = sheet.height + if self.large { self.legend_height() } else { 0.0 };
        let mut text = if self.large {
            colours::begin(&self.title, [sheet.width, height])
        } else {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" \
                 font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
                sheet.width, sheet.height
            )
        };
        let drawing = self.drawing(sheet);
        drawing.frame(&mut text, self);
        for (number, series) in self.series.iter().enumerate() {
            drawing.series(&mut text, series, self.ink(number));
        }
        text.push_str("</svg>\n");
        if self.large {
            drawing.marks(&mut text, self);
            self.legend_below(&mut text, sheet);
            text.push_str("</g>");
        } else {
            self.legend_inside(&mut text, sheet);
        }
        text.push_str("</svg>\n");
        text
    }

    fn drawing(&self, sheet: Sheet) -> Drawing {
        // What has no place in x counts for no height.
        let shown =
            |point: &(f64, f64)| point.1.is_finite() && (point.0.is_finite() || !self.large);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let levels = self.series.iter().filter(|series| series.look == Look::Level);
        let heights = points().filter(|point| shown(point)).map(|point| point.1);
        let bands = self.series.iter().flat_map(|series| &series.band);
        let heights = heights
            .chain(bands.flat_map(|&(_, low, high)| [low, high]))
            .chain(levels.map(|level| level.points[0].1));
        Drawing {
            x: Scale::new(&self.x, points().map(|point| point.0), self.large),
            y: Scale::new(&self.y, heights, self.large),
            sheet,
        }
    }

    /// The colour of a series, and its dashes.
    fn ink(&self, number: usize) -> (&'static str, &'static str) {
        let series = &self.series[number];
        let dashed = self.series[..number].iter().filter(|series| series.is_dashed()).count();
        let dashes = DASHES[dashed % DASHES.len()];
        match (self.large, series.is_dashed()) {
            (true, true) => (colours::INK, dashes),
            (true, false) => (colours::line(series.style.unwrap_or(number)), dashes),
            (false, _) => {
                (colours::SMALL[series.style.unwrap_or(number) % colours::SMALL.len()], dashes)
            }
        }
    }

    fn legend_inside(&self, text: &mut String, Sheet { width, margins, .. }: Sheet) {
        let [_, top, right, _] = margins;
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        for (line, (number, series)) in named.enumerate() {
            let y = top + 12.0 + 14.0 * line as f64;
            add(
                text,
                format_args!(
                    "<rect x=\"{}\" y=\"{:.1}\" width=\"10\" height=\"4\" fill=\"{}\"/><text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>\n",
                    width - right - 14.0,
                    y - 6.0,
                    self.ink(number).0,
                    width - right - 18.0,
                    safe(&series.name)
                ),
            );
        }
    }

    /// Columns of the legend below.
    fn columns(&self) -> usize {
        let long = |series: &Series| series.name.chars().count() > HALF;
        if self.series.iter().any(long) { 1 } else { 2 }
    }

    fn legend_height(&self) -> f64 {
        LINE * self.series.len().div_ceil(self.columns()) as f64 + 14.0
    }

    /// The names below the chart, so that they hide nothing.
    fn legend_below(&self, text: &mut String, Sheet { width, height, .. }: Sheet) {
        let columns = self.columns();
        for (number, series) in self.series.iter().enumerate() {
            let left = 16.0 + (number % columns) as f64 * width / columns as f64;
            let at = height + 14.0 + LINE * (number / columns) as f64;
            let (colour, dashes) = self.ink(number);
            let look = if series.is_dashed() {
                format!("stroke-dasharray=\"{dashes}\"")
            } else {
                "stroke-width=\"2\"".to_owned()
            };
            add(
                text,
                format_args!(
                    "<path class=\"key\" d=\"M{left} {at}h28\" stroke=\"{colour}\" {look}/><text x=\"{}\" y=\"{}\" font-size=\"13.7\">{}</text>\n",
                    left + 36.0,
                    at + 5.0,
                    safe(&series.name)
                ),
            );
            if series.look == Look::Curve {
                text.push_str(&mark(series.style.unwrap_or(number), [left + 14.0, at]));
            }
        }
    }
}

/// Appends to a picture.
fn add(text: &mut String, part: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(part);
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}

/// Where things are on a sheet.
struct Drawing {
    x: Scale,
    y: Scale,
    sheet: Sheet,
}

impl Drawing {
    fn at_x(&self, value: f64) -> f64 {
        self.x_of_share(self.x.share(value))
    }

    fn at_y(&self, value: f64) -> f64 {
        self.y_of_share(self.y.share(value))
    }

    fn x_of_share(&self, share: f64) -> f64 {
        let Sheet { width, margins: [left, _, right, _], .. } = self.sheet;
        left + share * (width - left - right)
    }

    fn y_of_share(&self, share: f64) -> f64 {
        let Sheet { height, margins: [_, top, _, bottom], .. } = self.sheet;
        height - bottom - share * (height - top - bottom)
    }

    /// All that is behind the series; it ends within the part that cuts off what is outside of it.
    fn frame(&self, text: &mut String, chart: &Chart) {
        let Sheet { width, height, margins, grid, looks, tick: [below, beside, down], .. } =
            self.sheet;
        let [left, top, right, bottom] = margins;
        let [of_title, of_label, of_x, of_y] = looks;
        let title = safe(&chart.title);
        let middle = (left + width - right) / 2.0;
        if chart.large {
            let at = self.sheet.title;
            add(
                text,
                format_args!(
                    "<text x=\"{middle}\" y=\"{at}\" text-anchor=\"middle\"{of_title}>{title}</text>\n"
                ),
            );
        } else {
            let at = self.sheet.title;
            add(text, format_args!("<text x=\"{left}\" y=\"{at}\"{of_title}>{title}</text>\n"));
        }
        let faint =
            |place: String| format!("<path d=\"{place}\" stroke=\"{grid}\" opacity=\"0.3\"/>\n");
        for place in &self.x.small {
            let at = self.x_of_share(self.x.share_of_place(*place));
            text.push_str(&faint(format!("M{at:.1} {top}V{:.1}", height - bottom)));
        }
        for place in &self.y.small {
            let at = self.y_of_share(self.y.share_of_place(*place));
            text.push_str(&faint(format!("M{left} {at:.1}H{:.1}", width - right)));
        }
        for tick in &self.x.ticks {
            let at = self.x_of_share(self.x.share_of_place(*tick));
            add(
                text,
                format_args!(
                    "<path d=\"M{at:.1} {top}V{:.1}\" stroke=\"{grid}\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\"{of_x}>{}</text>\n",
                    height - bottom,
                    height - bottom + below,
                    self.x.text(*tick)
                ),
            );
        }
        for tick in &self.y.ticks {
            let at = self.y_of_share(self.y.share_of_place(*tick));
            add(
                text,
                format_args!(
                    "<path d=\"M{left} {at:.1}H{:.1}\" stroke=\"{grid}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\"{of_y}>{}</text>\n",
                    width - right,
                    left - beside,
                    at + down,
                    self.y.text(*tick)
                ),
            );
        }
        if chart.large {
            let ends = format!("M{left} {top}V{}H{}", height - bottom, width - right);
            add(
                text,
                format_args!("<path d=\"{ends}\" fill=\"none\" stroke=\"{}\"/>\n", colours::INK),
            );
        }
        add(
            text,
            format_args!(
                "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\"{of_label}>{}</text>\n",
                height - self.sheet.label_x,
                safe(&chart.x.label)
            ),
        );
        let middle = (top + height - bottom) / 2.0;
        add(
            text,
            format_args!(
                "<text transform=\"translate({} {middle}) rotate(-90)\" text-anchor=\"middle\"{of_label}>{}</text>\n",
                self.sheet.label_y,
                safe(&chart.y.label)
            ),
        );
        // An inner svg cuts off what is outside of it. A clip path would need an id, and a page has many charts.
        let (wide, high) = (width - left - right, height - top - bottom);
        add(
            text,
            format_args!(
                "<svg x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" viewBox=\"{left} {top} {wide} {high}\">\n"
            ),
        );
    }

    fn series(&self, text: &mut String, series: &Series, (colour, dashes): (&str, &str)) {
        let Sheet { width, height, margins: [left, top, right, bottom], .. } = self.sheet;
        let place = |point: &(f64, f64)| (self.at_x(point.0), self.at_y(point.1));
        let shown =
            || series.points.iter().map(place).filter(|(x, y)| x.is_finite() && y.is_finite());
        self.band(text, series, colour);
        match series.look {
            Look::Line => {
                let path = path(shown());
                add(
                    text,
                    format_args!(
                        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>\n"
                    ),
                );
            }
            Look::Curve => {
                let path = path(shown());
                add(
                    text,
                    format_args!(
                        "<path class=\"curve\" d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n"
                    ),
                );
            }
            Look::Reference | Look::Level => {
                let at = self.at_y(series.points.first().map_or(f64::NAN, |point| point.1));
                let path = match series.look {
                    Look::Level if at.is_finite() => format!("M{left} {at:.1}H{}", width - right),
                    Look::Level => String::new(),
                    _ => path(shown()),
                };
                add(
                    text,
                    format_args!(
                        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-dasharray=\"{dashes}\"/>\n"
                    ),
                );
            }
            Look::Points => shown().for_each(|(x, y)| {
                add(
                    text,
                    format_args!(
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\" fill=\"{colour}\" fill-opacity=\"0.6\"/>\n"
                    ),
                );
            }),
            Look::Bars => series.points.windows(2).for_each(|pair| {
                let (from, to) = (self.at_x(pair[0].0), self.at_x(pair[1].0));
                // A logarithmic axis has no zero.
                let low = Some(self.at_y(0.0)).filter(|low| low.is_finite());
                let (high, low) = (self.at_y(pair[0].1), low.unwrap_or(height - bottom));
                if [from, to, high].iter().all(|value| value.is_finite()) {
                    add(
                        text,
                        format_args!(
                            "<rect x=\"{from:.1}\" y=\"{high:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\" fill-opacity=\"0.45\"/>\n",
                            (to - from).max(0.3),
                            (low - high).max(0.0)
                        ),
                    );
                }
            }),
            Look::Mark => {
                let at = self.at_x(series.points[0].0);
                if at.is_finite() {
                    add(
                        text,
                        format_args!(
                            "<path d=\"M{at:.1} {top}V{}\" stroke=\"{colour}\" stroke-dasharray=\"4 3\"/>\n",
                            height - bottom
                        ),
                    );
                }
            }
        }
    }

    /// What is drawn faintly: there along its upper end, and back along its lower one.
    fn band(&self, text: &mut String, series: &Series, colour: &str) {
        let corner = |(x, y): (f64, f64)| (self.at_x(x), self.at_y(y));
        let whole = |end: &&(f64, f64, f64)| {
            [(end.0, end.1), (end.0, end.2)]
                .map(corner)
                .iter()
                .all(|(x, y)| x.is_finite() && y.is_finite())
        };
        let band: Vec<_> = series.band.iter().filter(whole).collect();
        if band.is_empty() {
            return;
        }
        let there = band.iter().map(|end| (end.0, end.2));
        let back = band.iter().rev().map(|end| (end.0, end.1));
        let corners = there.chain(back).map(corner);
        let corners: Vec<String> = corners.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        add(
            text,
            format_args!(
                "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.2\"/>\n",
                corners.join(" ")
            ),
        );
    }

    /// The marks of curves, which may reach over the ends of the axes.
    fn marks(&self, text: &mut String, chart: &Chart) {
        let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
        for (number, series) in chart.series.iter().enumerate() {
            if series.look != Look::Curve {
                continue;
            }
            let shares = series.points.iter().map(|&(x, y)| [self.x.share(x), self.y.share(y)]);
            let shown: Vec<[f64; 2]> = shares.filter(|shares| shares.iter().all(inside)).collect();
            // Where lines lie upon each other, each has its marks elsewhere.
            let each = shown.len().div_ceil(MARKS);
            let each = if each > 1 { 4 * each } else { each };
            let first = if each > 1 { (number * each) / chart.series.len() } else { 0 };
            for [x, y] in shown.iter().skip(first).step_by(each.max(1)) {
                let place = [self.x_of_share(*x), self.y_of_share(*y)];
                text.push_str(&mark(series.style.unwrap_or(number), place));
            }
        }
    }
}

/// A line through places.
fn path(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (k, (x, y)) in places.enumerate() {
        let letter = if k == 0 { 'M' } else { 'L' };
        let written = write!(path, "{letter}{x:.1} {y:.1}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that odd data give a chart all the same.
    #[test]
    fn charts_are_drawn() {
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
            colours::SMALL[0]
        );
        assert!(svg.contains(&expected), "{svg}");
        let open = |line: Series| Chart::new("t", Axis::new("x"), Axis::new("y"), vec![line]).svg();
        let (alone, wide) = (open(line.clone()), open(line.with_band(vec![(0.0, -90.0, 90.0)])));
        assert!(wide.contains(">-50</text>") && !alone.contains(">-50</text>"), "{wide}");
    }

    /// Proves that a large chart has its title, its axes' labels and ticks, the names of its lines and their points, colours for the
    /// dark, and leaves out what is not a number or has no logarithm.
    #[test]
    fn a_large_chart_has_all_of_its_parts() {
        let measured = vec![(4.0, 1e4), (9.0, 1e6), (16.0, f64::NAN), (25.0, 0.0)];
        let series = vec![Series::curve("cpu", measured), Series::level("the paper", 4e5)];
        let (x, y) = (Axis::new("side (pixels)"), Axis::log("fits per second"));
        let svg = Chart::new("Speed & size", x, y, series).large().svg();
        for part in [
            "<title>Speed &amp; size</title>",
            "side (pixels)",
            "fits per second",
            ">cpu<",
            ">the paper<",
            ">10⁵<",
            ">25<",
            "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"",
            "prefers-color-scheme:dark",
        ] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 3, "two points and the legend: {svg}");
        assert_eq!(svg.matches("<svg").count(), svg.matches("</svg>").count());
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    }

    /// Proves that a chart with nothing measured is known to be empty, whatever it is compared with.
    #[test]
    fn a_chart_without_numbers_has_no_curve() {
        let chart = |points| {
            let series = vec![Series::curve("cpu", points), Series::level("the paper", 1.0)];
            Chart::new("", Axis::new(""), Axis::new(""), series)
        };
        assert!(!chart(Vec::new()).without_empty().has_curve());
        assert!(!chart(vec![(f64::NAN, 1.0), (1.0, f64::NAN)]).has_curve());
        assert!(chart(vec![(1.0, 1.0)]).has_curve());
    }
}
