//! Charts and bars as SVG.

use proptest::prelude::*;
#[cfg(feature = "render")]
use spotfit_locs::report::figure::Tones;
use spotfit_locs::report::figure::{Tint, text_width};
#[cfg(feature = "render")]
use spotfit_locs::report::svg::PixelChart;
use spotfit_locs::report::svg::{Axis, Chart, PartBars, Series};

/// Numbers as they come, and as they should not.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -1e3..1e3,
        2 => (-300.0..300.0).prop_map(|power| 10f64.powf(power)),
        1 => 1e5..1e5 + 1e-3,
        1 => prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(-1e300), Just(1e300), Just(5e-324), Just(0.0)],
    ]
}

fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    proptest::collection::vec((number(), number()), 0..20)
}

fn axis(log: bool, ends: Option<(f64, f64)>) -> Axis {
    let axis = if log { Axis::log("a quantity (unit)") } else { Axis::new("a quantity (unit)") };
    ends.map_or(axis.clone(), |(from, to)| axis.from(from).to(to))
}

/// A text of an SVG.
struct Text {
    words: String,
    /// Left, top, right and bottom.
    at: [f64; 4],
    /// Whether it is a number at an axis.
    is_number: bool,
}

/// The texts of a chart, in letters as wide as those of PNG.
fn texts(svg: &str) -> Vec<Text> {
    let of_line = |line: &str| {
        let (tag, rest) = line.strip_prefix("<text ")?.split_once('>').expect("a tag");
        let tag = format!(" {tag}");
        let attribute = |name: &str| {
            let (_, value) = tag.split_once(&format!(" {name}=\""))?;
            value.split_once('"').map(|(value, _)| value)
        };
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let (words, _) = rest.split_once("</text>").expect("its end");
        let words = words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let size = number(attribute("font-size").expect("a size"));
        let width = text_width(&words, size);
        let back = match attribute("text-anchor") {
            Some("middle") => width / 2.0,
            Some("end") => width,
            _ => 0.0,
        };
        let (up, down) = (0.75 * size, 0.22 * size);
        let at = match attribute("transform") {
            Some(turned) => {
                let place = turned
                    .strip_prefix("translate(")
                    .and_then(|rest| rest.strip_suffix(") rotate(-90)"));
                let (x, y) = place.and_then(|place| place.split_once(' ')).expect("a place");
                let (x, y) = (number(x), number(y));
                [x - up, y + back - width, x + down, y + back]
            }
            None => {
                let [x, y] = ["x", "y"].map(|name| number(attribute(name).expect("a place")));
                [x - back, y - up, x - back + width, y + down]
            }
        };
        let is_number = matches!(attribute("class"), Some("x" | "y"));
        Some(Text { words, at, is_number })
    };
    svg.lines().filter_map(of_line).collect()
}

/// Proves of a chart that all text is on the paper, that none lies upon another, and that it is an SVG without what is no number.
fn check(chart: &Chart) -> Result<(), TestCaseError> {
    // Places in SVG are rounded to a hundredth.
    const ROUNDED: f64 = 0.02;
    let (drawing, svg) = (chart.drawing(), chart.svg());
    let texts = texts(&svg);
    prop_assert_eq!(texts.len(), svg.matches("<text").count());
    for (number, Text { words, at: [left, top, right, bottom], is_number }) in
        texts.iter().enumerate()
    {
        let inside = *left >= -0.5
            && *top >= -0.5
            && *right <= drawing.width() + 0.5
            && *bottom <= drawing.height() + 0.5;
        prop_assert!(inside, "{words} at {left} {top} {right} {bottom}");
        for Text { words: other, at: [l, t, r, b], .. } in &texts[..number] {
            let apart = left + ROUNDED >= *r
                || right - ROUNDED <= *l
                || top + ROUNDED >= *b
                || bottom - ROUNDED <= *t;
            prop_assert!(
                apart,
                "{words} at {left} {top} {right} {bottom} upon {other} at {l} {t} {r} {b}"
            );
        }
        prop_assert!(!is_number || is_sound(words), "{words}");
    }
    // What is no tag is a text, and may be a name such as "inferno".
    let mut tags = svg.split('<').filter_map(|part| part.split_once('>')).map(|(tag, _)| tag);
    prop_assert!(tags.all(is_sound) && svg.ends_with("</svg>\n"), "{}", svg);
    Ok(())
}

/// Whether all numbers are some.
fn is_sound(text: &str) -> bool {
    !text.contains("NaN") && !text.contains("inf")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Proves that charts of any numbers can be read, small and large, with residuals and without.
    #[test]
    fn charts_can_be_read(
        points in points(),
        logs in any::<[bool; 2]>(),
        ends in proptest::option::of((number(), number())),
        large in any::<bool>(),
        names in proptest::collection::vec("[a-z <&σ]{0,40}", 0..6),
        below in any::<bool>(),
        width in 300.0..700.0,
    ) {
        let errors = points.iter().map(|&(x, y)| (x, y - 1.0, 2.0 * y)).collect();
        let mut series = vec![Series::points("data", points.clone()).with_errors(errors), Series::bars("", points.clone())];
        series.extend(names.iter().map(|name| Series::line(name, points.clone())));
        series.push(Series::level("level", points.first().map_or(1.0, |point| point.1)));
        let mut chart = Chart::new("A title", axis(logs[0], None), axis(logs[1], ends), series);
        if below {
            chart = chart.above(Axis::new("residual"), vec![Series::points("", points)]);
        }
        if large {
            chart = chart.large();
        } else {
            chart = chart.sized([width, 310.0]).saying(vec!["a = 3".to_owned(), "b = 4 <&>".to_owned()]);
        }
        check(&chart)?;
    }
}

/// Proves that the text of a chart that is shortened for want of room is as long as its room at most, and that there is always a curve.
#[test]
fn long_names_are_shortened() {
    let long = "a name that is longer than a chart is wide ".repeat(4);
    let line = vec![(0.0, 1.0), (1.0, 2.0)];
    for large in [false, true] {
        let series = vec![Series::line(&long, line.clone()), Series::line("b", line.clone())];
        let chart = Chart::new(&long, Axis::new(&long), Axis::new(&long), series);
        let chart = if large { chart.large() } else { chart };
        check(&chart).expect("a chart that can be read");
        assert!(chart.svg().contains('…'));
        // What is told from names.
        assert!(texts(&chart.svg()).iter().any(|text| text.is_number));
    }
}

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
    let corners = svg.split_once("<polygon points=\"").and_then(|(_, rest)| rest.split_once('"'));
    let corners: Vec<Vec<f64>> = corners
        .expect("a band")
        .0
        .split(' ')
        .map(|corner| corner.split(',').map(|at| at.parse().expect("a number")).collect())
        .collect();
    let [left, right] = [&corners[0], &corners[1]];
    assert_eq!(corners.len(), 4);
    assert_eq!([&corners[2][0], &corners[3][0]], [&right[0], &left[0]], "{svg}");
    // Upper ends 1.5 and 2, lower ends 0 and 0.5.
    let [high, low] = [corners[1][1], corners[2][1]];
    let height = |corner: &[f64]| (low - corner[1]) / (low - high) * 2.0;
    let heights: Vec<f64> = corners.iter().map(|corner| height(corner)).collect();
    for (height, expected) in heights.into_iter().zip([1.5, 2.0, 0.0, 0.5]) {
        assert!((height - expected).abs() < 0.01, "{svg}");
    }
    assert!(svg.contains(&format!("fill=\"{}\" fill-opacity=\"0.2\"", Tint::series(0).hex())));
    let open = |line: Series| Chart::new("t", Axis::new("x"), Axis::new("y"), vec![line]).svg();
    let (alone, wide) = (open(line.clone()), open(line.with_band(vec![(0.0, -90.0, 90.0)])));
    assert!(wide.contains(">−50</text>") && !alone.contains(">−50</text>"), "{wide}");
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

/// Proves that bars are as long as their numbers say, and that names are no markup.
#[test]
fn bars_have_their_lengths() {
    let parts = vec![("to <it>".to_owned(), 2.0), ("back".to_owned(), 1.0)];
    let bars = PartBars::new("a & b", "ms", vec![("gpu".to_owned(), parts)]);
    let svg = bars.clone().svg();
    for part in ["width=\"260\"", "width=\"130\"", "to &lt;it&gt;", "a &amp; b", ">2 ms<"] {
        assert!(svg.contains(part), "{part} is missing in {svg}");
    }
    assert!(!svg.contains("in all") && bars.summed().svg().contains("gpu: 3 ms in all"));
}

/// Proves that any numbers make a chart with numbers at both axes and at the bar, in which all is on the paper.
#[cfg(feature = "render")]
#[test]
fn all_numbers_are_drawn() {
    let many = |count: usize| (0..count).map(|number| (number as f64 * 0.7).sin()).collect();
    for (width, numbers) in [
        (7, many(49)),
        (31, many(31 * 9)),
        (1, many(5)),
        (3, vec![f64::NAN; 9]),
        (2, vec![1e300; 4]),
    ] {
        let tones = Tones::of(numbers.iter().copied());
        let chart = PixelChart::new("data", ["x", "y"], width, numbers, tones);
        let drawing = chart.drawing(240.0);
        let svg = drawing.svg();
        assert!(svg.contains("class=\"bar\"") && svg.contains("<image"), "{svg}");
        // The letters of a picture may be any.
        let behind = |part: &str| part.split_once('"').is_some_and(|two| two.1.contains("NaN"));
        assert!(!svg.split("base64,").any(behind), "{svg}");
        assert!(drawing.height() < 500.0, "{svg}");
    }
}
