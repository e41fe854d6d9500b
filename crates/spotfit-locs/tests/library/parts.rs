//! Pictures of parts of many localizations.

use std::borrow::Cow;

use fit_sim::Random;
use spotfit_locs::render::{
    Arranged, Blur, Canvas, ColourMap, Colours, Order, Point, Reach, RenderOptions, Survey, View,
};

use crate::nightly;

/// Up to so many are drawn one by one, as [`Canvas::add_part`] says.
const FEW: usize = 1 << 17;

/// Points on rings and between them, of which some are far away, wide, or not finite.
fn points(count: usize) -> Vec<Point> {
    let mut random = Random::new(7, 0);
    let mut points: Vec<Point> = (0..count)
        .map(|row| {
            let angle = random.uniform_in(0.0, std::f64::consts::TAU);
            let radius = if row % 3 == 0 {
                random.uniform_in(0.0, 500.0)
            } else {
                200.0 + 3.0 * random.normal()
            };
            let uncertainty = random.uniform_in(4.0, 12.0);
            let (x, y) = (500.0 + radius * angle.cos(), 500.0 + radius * angle.sin());
            Point { x, y, uncertainty, value: angle }
        })
        .collect();
    (points[3].uncertainty, points[5].x, points[8].x) = (300.0, -1e6, f64::NAN);
    points
}

fn view(left: f64, top: f64, pixel: f64, blur: Blur) -> View {
    let side = 256.0 * pixel;
    let options = RenderOptions::default()
        .with_pixel(Some(pixel))
        .with_blur(blur)
        .with_extent(Some([left, top, left + side, top + side]));
    let mut survey = Survey::default();
    survey.add(&[Point::default()]);
    let view = survey.view(&options).expect("a view");
    assert_eq!((view.width, view.height, view.least), (256, 256, pixel));
    view
}

/// What all points make of a view, and what those make of it that are looked for.
fn both(points: &[Point], view: View, colours: Colours, shown: &[bool]) -> [Canvas; 2] {
    let of = |of: fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>();
    let (x, y) = (of(|point| point.x), of(|point| point.y));
    let order = Order::new(&x, &y);
    let arranged = |values: Vec<f64>| Cow::Owned(order.arranged(&values));
    let uncertainty = arranged(of(|point| point.uncertainty));
    let reach = Reach::new(&uncertainty);
    let part = Arranged {
        order: &order,
        x: arranged(x.clone()),
        y: arranged(y.clone()),
        uncertainty,
        reach: &reach,
        value: arranged(of(|point| point.value)),
        shown: &order.rows().iter().map(|&row| shown[row as usize]).collect::<Vec<bool>>(),
    };
    let mut found = Canvas::new(view, colours).expect("a canvas");
    found.add_part(&part);
    let mut all = Canvas::new(view, colours).expect("a canvas");
    let kept = points.iter().zip(shown).filter(|(_, shown)| **shown).map(|(point, _)| *point);
    all.add(&kept.collect::<Vec<Point>>());
    [all, found]
}

/// Proves that a part of few localizations has the bits that it has in the picture of all, whatever is near it, and that hidden ones
/// are not in it.
#[test]
fn few_are_drawn_as_all_are() {
    let points = points(20_000);
    let shown: Vec<bool> = (0..points.len()).map(|row| row % 5 != 0 || row == 5).collect();
    let value = Colours::Value { map: ColourMap::Turbo, low: 0.0, high: 6.0 };
    for (left, pixel) in [(0.0, 4.0), (600.0, 0.5), (512.0, 0.125), (-4000.0, 32.0)] {
        for blur in [Blur::Uncertainty, Blur::Fixed(3.0), Blur::Histogram] {
            for colours in [Colours::default(), value] {
                let [all, found] = both(&points, view(left, 300.0, pixel, blur), colours, &shown);
                assert!(all.density() == found.density(), "{left} {pixel} {blur:?}");
                assert_eq!(all.white(&Default::default()), found.white(&Default::default()));
            }
        }
    }
}

/// Proves that cells leave the picture of many as it is, but for a hundredth of its brightness, and that no light is lost.
#[test]
fn many_are_drawn_nearly_as_all_are() {
    // All of them are in every view, and there must be more than a few. What cells do wrong at random falls with the root of their number:
    // by calculation a 10⁻⁴ of the brightness for six times as many as are few, and twice that here. What else they do wrong stays.
    let points = points(if nightly() { 6 * FEW } else { FEW + FEW / 4 });
    let shown = vec![true; points.len()];
    let value = Colours::Value { map: ColourMap::Turbo, low: 0.0, high: 6.0 };
    let mut is_same = true;
    for (left, pixel) in [(0.0, 4.0), (-100.0, 6.0), (-1500.0, 16.0), (-8000.0, 64.0)] {
        for blur in [Blur::Uncertainty, Blur::Fixed(10.0), Blur::Fixed(30.0), Blur::Histogram] {
            for colours in [Colours::default(), value] {
                let [all, found] = both(&points, view(left, left, pixel, blur), colours, &shown);
                let white = all.density().iter().copied().fold(0.0, f32::max);
                let pairs = all.density().iter().zip(found.density());
                let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) / white;
                assert!(all.density().iter().chain(found.density()).all(|light| light.is_finite()));
                assert!(worst < 0.01, "{left} {pixel} {blur:?}: {worst}");
                is_same &= worst == 0.0;
                let sum = |canvas: &Canvas| {
                    canvas.density().iter().map(|&light| f64::from(light)).sum::<f64>()
                };
                // Where all are in the picture, their number is their light; two have no place in it. Sums of many are rounded more when they
                // are added one by one.
                let light = if pixel == 64.0 { points.len() as f64 - 2.0 } else { sum(&all) };
                let found = sum(&found);
                assert!(
                    (light / found - 1.0).abs() < 1e-4,
                    "{left} {pixel} {blur:?}: {light} {found}"
                );
                if blur == Blur::Histogram && colours == Colours::default() {
                    assert_eq!(worst, 0.0);
                }
            }
        }
    }
    assert!(!is_same, "none was drawn as a part of a cell");
}
