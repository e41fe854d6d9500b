//! Localizations in the order of their places.

use std::ops::Range;

use fit_sim::Random;
use spotfit_locs::render::Order;

/// Proves that what is within a rectangle is found, and little else, also where places are far from all others or are none.
#[test]
fn rectangles_are_found() {
    let mut random = Random::new(5, 0);
    let mut draw = |low, high| random.uniform_in(low, high);
    let mut x: Vec<f64> = (0..20_000).map(|_| draw(-50.0, 300.0)).collect();
    let mut y: Vec<f64> = (0..20_000).map(|_| draw(1000.0, 1200.0)).collect();
    (x[7], y[9], x[11], y[13], x[15]) = (1e300, -1e300, f64::NAN, f64::INFINITY, -4000.0);
    let order = Order::new(&x, &y);
    assert_eq!(order.rows().len(), x.len() - 2);
    let (ax, ay) = (order.arranged(&x), order.arranged(&y));
    for [left, top, right, bottom] in [
        [0.0, 1050.0, 10.0, 1060.0],
        [-1e9, -1e9, 1e9, 1e9],
        [100.0, 1100.0, 100.5, 1100.5],
        [f64::NEG_INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY],
        [-5000.0, 1000.0, -3000.0, 1200.0],
        [400.0, 0.0, 500.0, 1.0],
    ] {
        let is_in = |place: usize| {
            (left..=right).contains(&ax[place]) && (top..=bottom).contains(&ay[place])
        };
        let found = order.within([left, top, right, bottom]);
        let visited: usize = found.iter().map(Range::len).sum();
        let inside = found.into_iter().flatten().filter(|&place| is_in(place)).count();
        assert_eq!(inside, (0..ax.len()).filter(|&place| is_in(place)).count());
        assert!(visited <= inside + 2000, "{visited} for {inside}");
    }
    assert!(Order::new(&[], &[]).within([0.0, 0.0, 1.0, 1.0]).is_empty());
    let same = Order::new(&[3.0; 5], &[3.0; 5]).within([0.0, 0.0, 4.0, 4.0]);
    assert!(matches!(&same[..], [all] if *all == (0..5)), "{same:?}");
}
