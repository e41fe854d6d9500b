//! Profiles across lines.

use fit_sim::Random;
use spotfit::Length;
use spotfit::steps::profile::{ProfileOptions, run};
use spotfit::steps::{Silent, Source};
use spotfit::table::{Column, Kind, Table, Unit};

/// The full width at half maximum of a Gaussian, in its standard deviations.
const WIDTH: f64 = 2.354_820_045_030_949;

/// Proves that the width of a filament is found within what is stated of it, however the line crosses it, and that no Gaussian is
/// made of nothing.
#[test]
fn widths_are_found() {
    let mut random = Random::new(3, 0);
    let turned = std::f64::consts::FRAC_PI_6;
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..4000 {
        let (along, across) = (random.uniform_in(-500.0, 500.0), 20.0 * random.normal());
        x.push(1000.0 + along * turned.sin() + across * turned.cos());
        y.push(1000.0 - along * turned.cos() + across * turned.sin());
    }
    for _ in 0..1000 {
        x.push(random.uniform_in(500.0, 1500.0));
        y.push(random.uniform_in(500.0, 1500.0));
    }
    let uncertainty = vec![10.0; x.len()];
    let mut table = Table::default();
    for (name, values) in [("x", x), ("y", y), ("uncertainty", uncertainty)] {
        table.set(Column::new(name, Unit::Nanometre, Kind::Double, values));
    }
    let source = Source::of(table);
    let line = |half: f64| {
        let [dx, dy] = [half * turned.cos(), half * turned.sin()];
        let ends = [1000.0 - dx, 1000.0 - dy, 1000.0 + dx, 1000.0 + dy];
        ProfileOptions::default()
            .with_line(Some(ends.map(Length::nanometres)))
            .with_width(Some(Length::nanometres(400.0)))
    };
    let report = run(&line(150.0), &source, &Silent).unwrap();
    let fit = report.fit.expect("a Gaussian");
    assert!((fit.sigma - 20.0).abs() < 4.0 * fit.sigma_error, "{fit:?}");
    assert!((fit.centre - 150.0).abs() < 4.0 * fit.centre_error, "{fit:?}");
    assert!(fit.sigma_error < 1.0 && (fit.fwhm / fit.sigma - WIDTH).abs() < 1e-12);
    assert_eq!(report.counts.iter().sum::<u64>(), report.localizations);
    assert_eq!((report.step, report.curve.len()), (5.0, report.counts.len()));
    let chart = report.chart().svg();
    assert!(chart.contains("Gaussian"));
    let coarse = run(&line(150.0).with_step(Some(Length::nanometres(20.0))), &source, &Silent);
    let coarse = coarse.unwrap().fit.expect("a Gaussian");
    assert!((coarse.sigma - fit.sigma).abs() < 3.0 * fit.sigma_error, "{coarse:?}");
    let filter = line(150.0).with_filter(Some("x < 0".to_owned()));
    let nothing = run(&filter, &source, &Silent).unwrap();
    assert!(nothing.fit.is_none() && nothing.reason.is_some() && nothing.localizations == 0);
    let dot = line(0.0);
    assert!(
        run(&dot, &source, &Silent).is_err() && run(&Default::default(), &source, &Silent).is_err()
    );
}
