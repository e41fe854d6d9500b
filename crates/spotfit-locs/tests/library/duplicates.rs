//! Localizations that are found twice.

use fit_sim::Random;
use spotfit_locs::statistics::duplicates;

/// Proves that in a chain the best stays and takes its neighbours, that frames are apart, and what happens to
/// equals, NaN and places that are not finite.
#[test]
fn the_best_stays() {
    let keep = |frames: &[u32], x: &[f64], rank: &[f64]| {
        let found = duplicates(frames, x, &vec![0.0; x.len()], rank, 1.0).unwrap();
        assert_eq!(found.count, found.keep.iter().filter(|keep| !**keep).count());
        found.keep
    };
    let chain = [0.0, 0.9, 1.8];
    assert_eq!(keep(&[0; 3], &chain, &[2.0, 1.0, 3.0]), [true, false, true]);
    assert_eq!(keep(&[0; 3], &chain, &[1.0, 3.0, 2.0]), [false, true, false]);
    assert_eq!(keep(&[0; 3], &chain, &[3.0, 2.0, 1.0]), [true, false, true]);
    assert_eq!(keep(&[5, 4, 5], &chain, &[1.0; 3]), [true; 3]);
    assert_eq!(keep(&[0; 3], &[0.0; 3], &[0.0, -0.0, 0.0]), [true, false, false]);
    let nan = f64::NAN;
    assert_eq!(keep(&[0; 3], &[0.0; 3], &[nan, f64::NEG_INFINITY, nan]), [false, true, false]);
    assert_eq!(keep(&[0; 3], &[nan, 0.0, nan], &[1.0; 3]), [true; 3]);
    assert!(keep(&[], &[], &[]).is_empty());
}

/// Proves the outcome against the definition, taken at its word.
#[test]
fn many_are_found_as_defined() {
    let mut random = Random::new(3, 0);
    let mut column = |most: f64| (0..3000).map(|_| most * random.uniform()).collect::<Vec<_>>();
    let (x, y, rank) = (column(50.0), column(50.0), column(1.0));
    let frames: Vec<u32> = column(4.0).into_iter().map(|frame| frame as u32).collect();
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| rank[b].total_cmp(&rank[a]));
    let mut kept: Vec<usize> = Vec::new();
    for row in order {
        let clashes = |&other: &usize| {
            frames[other] == frames[row] && (x[other] - x[row]).hypot(y[other] - y[row]) <= 1.5
        };
        if !kept.iter().any(clashes) {
            kept.push(row);
        }
    }
    let found = duplicates(&frames, &x, &y, &rank, 1.5).unwrap();
    assert_eq!(found.count, x.len() - kept.len());
    assert!(kept.into_iter().all(|row| found.keep[row]));
}
