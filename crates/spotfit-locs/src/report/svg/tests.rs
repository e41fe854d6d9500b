use proptest::prelude::*;

use super::*;

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

/// Proves of a chart that all text is on the paper, that none lies upon another, and that it is an SVG without what is no number.
fn check(chart: &Chart) -> Result<(), TestCaseError> {
    let drawing = chart.drawing();
    let texts = drawing.texts();
    for (number, ([left, top, right, bottom], text)) in texts.iter().enumerate() {
        let inside = *left >= -0.5
            && *top >= -0.5
            && *right <= drawing.width() + 0.5
            && *bottom <= drawing.height() + 0.5;
        prop_assert!(inside, "{text} at {left} {top} {right} {bottom}");
        for ([l, t, r, b], other) in &texts[..number] {
            let apart = left >= r || right <= l || top >= b || bottom <= t;
            prop_assert!(
                apart,
                "{text} at {left} {top} {right} {bottom} upon {other} at {l} {t} {r} {b}"
            );
        }
    }
    let svg = drawing.svg();
    prop_assert!(
        !svg.contains("NaN") && !svg.contains("inf") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

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
    }
}
