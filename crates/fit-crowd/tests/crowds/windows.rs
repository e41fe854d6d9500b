//! Limits on the number of emitters in a window, and small frames.

use crate::support::Case;
use fit_core::Status;
use fit_crowd::{
    CrowdFinder, CrowdFrame, CrowdOptions, Emitter, EmitterImage, ReadVariance, WindowLimit,
};

fn options() -> CrowdOptions {
    CrowdOptions::default().with_shape(EmitterImage::Fixed(1.3))
}

fn limited(most: usize, side: f64) -> CrowdOptions {
    options().with_window(Some(WindowLimit { most, side }))
}

fn find(case: &Case, pixels: &[f32], options: &CrowdOptions) -> Vec<Emitter> {
    let variance = ReadVariance::Same((case.read_noise * case.read_noise) as f32);
    let frame = CrowdFrame::new(case.side, case.side, pixels, variance).unwrap();
    let mut finder = CrowdFinder::new(case.side, case.side, options).unwrap();
    finder.find(&frame).unwrap().to_vec()
}

/// How many share a window of this side with each emitter, itself among them.
fn shared(found: &[Emitter], side: f64) -> Vec<usize> {
    let near =
        |a: &Emitter, b: &Emitter| (a.x - b.x).abs() < 0.5 * side && (a.y - b.y).abs() < 0.5 * side;
    found.iter().map(|a| found.iter().filter(|b| near(a, b)).count()).collect()
}

/// Proves that no window holds more emitters than it may, in crowds, at the seams of a large frame and for any number and side; that the more are
/// allowed, the more are found; and that those of a window in which more are needed say so.
#[test]
fn no_window_holds_too_many() {
    for (case, number) in
        [(Case::new(1000.0, 20.0, 4.0), 0), (Case { side: 150, ..Case::new(2000.0, 20.0, 2.0) }, 1)]
    {
        let (pixels, _) = case.frame(3, number);
        let all = find(&case, &pixels, &options());
        let mut before = 0;
        for (most, side) in [(1, 7.0), (2, 7.0), (2, 5.0), (60, 7.0)] {
            let found = find(&case, &pixels, &limited(most, side));
            let counts = shared(&found, side);
            assert!(counts.iter().all(|&count| count <= most), "{most} in {side}: {counts:?}");
            assert!(found.len() > before && found.len() <= all.len(), "{most} in {side}");
            before = found.len();
            let lacks = |one: &&Emitter| one.status == Status::MaxIterations && one.crowd;
            let lacking = found.iter().filter(lacks).count();
            println!("{most} in {side}: {} of {}, {lacking}", found.len(), all.len());
            if most == 60 {
                assert_eq!(found, all);
            } else {
                assert!(lacking > 0, "{most} in {side}");
            }
        }
    }
}

/// Proves that where three equal spots lie in a window that may have two, two are found and say that it lacks one; that three may be three; that a
/// spot elsewhere is not told of it; and that mirrored frames give the same mirrored.
#[test]
fn three_in_the_place_of_two_are_told() {
    let case = Case { side: 40, ..Case::new(3000.0, 20.0, 0.0) };
    let spots =
        [(12.0, 12.0, 3000.0), (14.6, 12.4, 3000.0), (13.1, 14.7, 3000.0), (30.3, 28.2, 3000.0)];
    let (pixels, _) = case.with_spots(1, 0, &spots);
    let mirrored: Vec<f32> = pixels.chunks(40).flat_map(|row| row.iter().rev().copied()).collect();
    for pixels in [&pixels, &mirrored] {
        let two = find(&case, pixels, &limited(2, 7.0));
        assert_eq!(two.len(), 3, "{two:?}");
        let lacking = |one: &&Emitter| one.status == Status::MaxIterations && one.crowd;
        assert_eq!(two.iter().filter(lacking).count(), 2, "{two:?}");
        let alone = two.iter().find(|one| one.y > 20.0).unwrap();
        assert!(alone.status.is_converged() && !alone.crowd);
        let three = find(&case, pixels, &limited(3, 7.0));
        assert_eq!(three, find(&case, pixels, &options()));
        assert_eq!(three.len(), 4);
        assert!(three.iter().all(|one| one.status.is_converged()));
    }
}

/// Proves that limits which no light asks for change nothing, to the last bit.
#[test]
fn needless_limits_change_nothing() {
    for (density, most) in [(0.2, 12), (1.0, 30)] {
        let case = Case::new(1000.0, 20.0, density);
        let (pixels, _) = case.frame(5, 2);
        assert_eq!(find(&case, &pixels, &limited(most, 7.0)), find(&case, &pixels, &options()));
    }
}

/// Proves that a window of a few pixels with even light has one background, which is known better so, and that its two spots are found.
#[test]
fn small_frames_have_one_background() {
    let case = Case { side: 11, ..Case::new(2000.0, 20.0, 0.0) };
    let (pixels, _) = case.with_spots(7, 0, &[(3.8, 5.1, 2000.0), (6.9, 5.4, 2000.0)]);
    let even = find(&case, &pixels, &options().with_even(true));
    let uneven = find(&case, &pixels, &options());
    assert_eq!((even.len(), uneven.len()), (2, 2));
    assert_eq!(even[0].background, even[1].background);
    assert_ne!(uneven[0].background, uneven[1].background);
    for (one, other) in even.iter().zip(&uneven) {
        assert!(one.errors.background < other.errors.background);
        let off = (one.background - 20.0) / one.errors.background;
        assert!(off.abs() < 4.0, "{one:?}");
    }
}

/// Proves that the covariance of photons and width is that which errors of the amplitude need: over many frames, the amplitude scatters as they say.
#[test]
fn amplitudes_scatter_as_stated() {
    let case = Case { side: 11, ..Case::new(2000.0, 20.0, 0.0) };
    let free =
        CrowdOptions::default().with_shape(EmitterImage::Free { start: 1.3 }).with_even(true);
    let (mut squares, mut naive, mut count) = (0.0, 0.0, 0.0);
    for frame in 0..300 {
        let (pixels, _) = case.with_spots(9, frame, &[(5.2, 4.9, 2000.0)]);
        let found = find(&case, &pixels, &free);
        let [one] = found[..] else { continue };
        let area = core::f64::consts::TAU * one.sigma * one.sigma;
        let truth = 2000.0 / (core::f64::consts::TAU * 1.69);
        let (photons, sigma) =
            (one.errors.photons / one.photons, 2.0 * one.errors.sigma / one.sigma);
        let both = 4.0 * one.errors.of_photons_and_sigma / (one.photons * one.sigma);
        let off = (one.photons / area - truth) / (one.photons / area);
        squares += off * off / (photons * photons + sigma * sigma - both);
        naive += off * off / (photons * photons + sigma * sigma);
        count += 1.0;
    }
    let [rms, naive] = [squares, naive].map(|sum: f64| (sum / count).sqrt());
    println!("{rms} ({naive} without the covariance) of {count}");
    assert!(count > 290.0 && (0.88..1.12).contains(&rms) && naive < 0.88, "{rms}, {naive}");
}
