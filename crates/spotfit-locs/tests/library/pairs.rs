//! Localizations and the spots that they show.

use fit_sim::Random;
use spotfit_locs::pairs::{Spots, pairs};

/// Proves that frames are apart, that limits belong to the radii, and what happens to what is not finite.
#[test]
fn pairs_are_near_and_of_one_frame() {
    let pairs = |found: Spots<'_>, truth: Spots<'_>| {
        let found = pairs(&found, &truth, 1.0, 2.0).unwrap();
        found.into_iter().map(|pair| (pair.found, pair.truth)).collect::<Vec<_>>()
    };
    fn at<'a>(frames: &'a [u32], x: &'a [f64], z: Option<&'a [f64]>) -> Spots<'a> {
        Spots { frames, x, y: &[5.0; 8][..x.len()], z }
    }
    assert_eq!(
        pairs(at(&[3, 1], &[0.0, 9.0], None), at(&[1, 3], &[9.5, 1.0], None)),
        [(0, 1), (1, 0)]
    );
    assert_eq!(pairs(at(&[3], &[0.0], None), at(&[3], &[1.001], None)), []);
    assert_eq!(pairs(at(&[3], &[0.0], None), at(&[4], &[0.0], None)), []);
    let nan = f64::NAN;
    assert_eq!(pairs(at(&[0; 2], &[nan, 0.0], None), at(&[0; 2], &[0.0, nan], None)), [(1, 0)]);
    let (deep, high) = (Some(&[0.0, nan][..]), Some(&[2.0, 0.0][..]));
    assert_eq!(pairs(at(&[0; 2], &[0.0; 2], deep), at(&[0; 2], &[0.0; 2], high)), [(0, 1)]);
    assert_eq!(pairs(at(&[0], &[0.0], Some(&[0.0])), at(&[0], &[0.0], Some(&[2.001]))), []);
    assert_eq!(pairs(at(&[0], &[0.0], Some(&[0.0])), at(&[0], &[0.0], None)), [(0, 0)]);
    assert_eq!(pairs(at(&[], &[], None), at(&[0], &[0.0], None)), []);
}

/// Proves that nearly all of many spots of a frame that hang together have a partner, also where many of the others have none. A
/// search that looks at all of them for each would take minutes.
#[test]
fn dense_frames_are_paired() {
    let mut random = Random::new(5, 0);
    let mut column =
        |count: usize| (0..count).map(|_| 100.0 * random.uniform()).collect::<Vec<_>>();
    for (found, truth) in [(10_000, 10_000), (10_000, 6000), (6000, 10_000)] {
        let (x, y, others_x, others_y) =
            (column(found), column(found), column(truth), column(truth));
        let mine = Spots { frames: &vec![0; found], x: &x, y: &y, z: None };
        let theirs = Spots { frames: &vec![0; truth], x: &others_x, y: &others_y, z: None };
        let pairs = pairs(&mine, &theirs, 2.0, 1.0).unwrap();
        assert!(pairs.len() > 5900, "{}", pairs.len());
    }
}
