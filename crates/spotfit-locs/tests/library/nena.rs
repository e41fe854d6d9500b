//! The precision from neighbours in successive frames.

use fit_sim::Random;
use spotfit_locs::statistics::{NenaError, nena};

use crate::nightly;
use crate::simulated::{Blinking, Table, anywhere, blinking};

/// The root mean square of the uncertainties of pairs of localizations of a run in successive frames.
fn truth(table: &Table) -> f64 {
    let mut rows: Vec<usize> = (0..table.x.len()).collect();
    rows.sort_by_key(|&row| (table.runs[row], table.frames[row]));
    let (mut sum, mut count) = (0.0f64, 0.0f64);
    for pair in rows.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        if table.runs[a] == table.runs[b] && table.frames[a] + 1 == table.frames[b] {
            sum += (table.sigma[a].powi(2) + table.sigma[b].powi(2)) / 2.0;
            count += 1.0;
        }
    }
    (sum / count).sqrt()
}

fn table(density: f64, on_time: f64, sigma: (f64, f64), same_sigma: bool) -> Table {
    let (side, missed) = (10_000.0, 0.03);
    let plan = Blinking { side, frames: 600, density, on_time, missed, sigma, same_sigma };
    blinking(&mut Random::new(1, 1), plan, anywhere(side))
}

/// Proves that the precision is right within 5 % and roughly within its standard error, at several densities and
/// on-times, also where it differs between localizations or between molecules.
#[test]
fn the_precision_is_found() {
    // One of each kind; the others have most of the localizations.
    let some = [
        (0.1, 3.0, (5.0, 5.0), false),
        (0.25, 2.0, (5.0, 25.0), false),
        (1.0, 3.0, (8.0, 16.0), true),
    ];
    let others = [
        (0.25, 2.0, (25.0, 25.0), false),
        (0.25, 5.0, (15.0, 15.0), false),
        (1.0, 3.0, (5.0, 25.0), true),
        (2.0, 2.0, (25.0, 25.0), false),
    ];
    let others = if nightly() { &others[..] } else { &[] };
    for &(density, on_time, sigma, same) in some.iter().chain(others) {
        let table = table(density, on_time, sigma, same).shuffled(&mut Random::new(2, 0));
        let (found, truth) = (nena(&table.frames, &table.x, &table.y).unwrap(), truth(&table));
        let (ratio, error) = (found.sigma / truth, found.standard_error / truth);
        println!("{density} {on_time} {sigma:?} {same}: {truth:.2}, {ratio:.3} ± {error:.3}");
        assert!((ratio - 1.0).abs() < 0.05, "{density} {on_time} {sigma:?}: {ratio}");
        assert!((0.001..0.03).contains(&error), "{density} {on_time} {sigma:?}: {error}");
        assert!(sigma.0 < sigma.1 || (ratio - 1.0).abs() < 4.0 * error + 0.01, "{ratio} {error}");
        // The curve describes the histogram: half of chi-square's terms are near 1.
        let expected = |bin: usize| {
            let (low, high) = (found.edges[bin], found.edges[bin + 1]);
            let middle = found.curve.density((low + high) / 2.0);
            (found.curve.density(low) + 4.0 * middle + found.curve.density(high)) / 6.0
                * (high - low)
        };
        let chi = |bin: usize| (found.counts[bin] as f64 - expected(bin)).powi(2) / expected(bin);
        let chi = (0..found.counts.len()).map(chi).sum::<f64>() / found.counts.len() as f64;
        assert!(chi < 3.0, "{density} {on_time} {sigma:?}: {chi}");
    }
}

/// Proves that another unit of length, another order of the rows and rows that are not finite change nothing.
#[test]
fn units_and_order_do_not_matter() {
    let mut nanometres = table(0.25, 3.0, (12.0, 12.0), false);
    let expected = nena(&nanometres.frames, &nanometres.x, &nanometres.y).unwrap().sigma;
    nanometres.frames.extend([4, 5]);
    nanometres.x.extend([f64::NAN, 3.0]);
    nanometres.y.extend([2.0, f64::INFINITY]);
    let metres =
        |values: &[f64]| values.iter().map(|value| 1e-9 * value + 1e-3).collect::<Vec<_>>();
    let (x, y) = (metres(&nanometres.x), metres(&nanometres.y));
    let found = nena(&nanometres.frames, &x, &y).unwrap().sigma;
    assert!((found / expected / 1e-9 - 1.0).abs() < 1e-3, "{found} {expected}");
}

/// Proves that molecules on lines, which are nearer to each other than at random, do not spoil the precision.
#[test]
fn structures_do_not_matter() {
    let plan = Blinking {
        side: 10_000.0,
        frames: 1500,
        density: 0.5,
        on_time: 3.0,
        missed: 0.03,
        sigma: (10.0, 10.0),
        same_sigma: true,
    };
    let table = blinking(&mut Random::new(3, 0), plan, |random| {
        let line = (30.0 * random.uniform()).floor() / 30.0;
        (plan.side * line, plan.side * random.uniform())
    });
    let found = nena(&table.frames, &table.x, &table.y).unwrap();
    println!("{} ± {}, {:?}", found.sigma, found.standard_error, found.curve);
    assert!((found.sigma / 10.0 - 1.0).abs() < 0.05, "{}", found.sigma);
}

/// Proves that tables that say nothing of the precision give an error.
#[test]
fn what_cannot_be_found_is_an_error() {
    assert_eq!(nena(&[], &[], &[]), Err(NenaError::FewFrames { pairs: 0 }));
    assert!(matches!(nena(&[1], &[1.0], &[]), Err(NenaError::Columns(_))));
    let mut random = Random::new(8, 0);
    let frames: Vec<u32> = (0..20_000).map(|row| row / 20).collect();
    let mut column = || (0..20_000).map(|_| 9000.0 * random.uniform()).collect::<Vec<_>>();
    let (x, y) = (column(), column());
    assert!(matches!(nena(&frames, &x, &y), Err(NenaError::NoMaximum(_))));
    assert!(matches!(
        nena(&frames[..600], &x[..600], &[f64::NAN; 600]),
        Err(NenaError::FewNeighbours { .. })
    ));
    let same = nena(&frames, &[3.0; 20_000], &[3.0; 20_000]).expect_err("one place");
    assert!(matches!(same, NenaError::FewNeighbours { .. }), "{same}");
    let few = nena(&frames[..300], &x[..300], &y[..300]).expect_err("few frames");
    assert!(matches!(few, NenaError::FewFrames { .. } | NenaError::FewNeighbours { .. }), "{few}");
}
