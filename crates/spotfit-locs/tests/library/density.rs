//! Neighbours of localizations.

use fit_sim::Random;
use spotfit_locs::statistics::{ColumnsError, density};

/// Proves that the counts are those of a look at all pairs, whatever the radius.
#[test]
fn all_within_the_radius_are_counted() {
    let mut random = Random::new(2, 0);
    let mut column = || (0..500).map(|_| (80.0 * random.uniform()).floor()).collect::<Vec<_>>();
    let (mut x, mut y) = (column(), column());
    x[17] = f64::NAN;
    // Crowds, and some beside them.
    for row in 0..300 {
        let crowd = f64::from(row % 3);
        x.push(30.0 + 3.0 * crowd + 0.01 * (f64::from(row) * 0.7).sin());
        y.push(40.0 + 2.0 * crowd * f64::from(row % 2));
    }
    for radius in [1e-9, 1.0, 5.0, 300.0] {
        let counts = density(&x, &y, radius, u32::MAX).unwrap();
        let few = [0, 1, 7, 40].map(|most| density(&x, &y, radius, most).unwrap());
        for row in 0..x.len() {
            let is_near = |&other: &usize| {
                let square = (x[other] - x[row]).powi(2) + (y[other] - y[row]).powi(2);
                other != row && square <= radius * radius
            };
            let expected = (0..x.len()).filter(is_near).count();
            assert_eq!(counts[row] as usize, expected, "{radius} {row}");
            for (most, few) in [0, 1, 7, 40].into_iter().zip(&few) {
                assert_eq!(few[row] as usize, expected.min(most), "{radius} {row} {most}");
            }
        }
    }
}

/// Proves that what cannot be counted is refused.
#[test]
fn bad_input_is_an_error() {
    let rows = ColumnsError::Rows { column: "y", rows: 1, expected: 2 };
    assert_eq!(density(&[1.0, 2.0], &[1.0], 1.0, u32::MAX), Err(rows));
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(density(&[], &[], radius, u32::MAX), Err(ColumnsError::Radius { .. })));
    }
    // On a line of the length of two radii few pairs are told by their cells.
    let line: Vec<f64> = (0..3_000_000).map(|row| f64::from(row) / 1.5e6).collect();
    let zeros = vec![0.0; line.len()];
    let refused = density(&line, &zeros, 1.0, u32::MAX);
    assert!(matches!(refused, Err(ColumnsError::ManyPairs { .. })), "{:?}", refused.is_ok());
    let some = density(&line, &zeros, 1.0, 1000).unwrap();
    assert!(some.iter().all(|&count| count == 1000));
}

/// Proves that a million localizations at one place, and at two that are farther apart than the radius, are counted without a look
/// at all pairs, which would take an hour.
#[test]
fn crowds_are_counted_at_once() {
    let x: Vec<f64> = (0..1_000_000).map(|row| f64::from(row % 2) * 1.1).collect();
    let y = vec![0.0; x.len()];
    assert!(density(&x, &y, 1.0, u32::MAX).unwrap().iter().all(|&count| count == 499_999));
    assert!(density(&x, &y, 2.0, u32::MAX).unwrap().iter().all(|&count| count == 999_999));
    assert!(density(&x, &y, 1.0, 3).unwrap().iter().all(|&count| count == 3));
}
