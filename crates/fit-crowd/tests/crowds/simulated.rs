//! Simulated crowds: what is found beside the truth.

use crate::support::{Case, Places, Score};
use fit_crowd::{CrowdFinder, CrowdFrame, CrowdOptions, Emitter, EmitterImage, ReadVariance};

fn variance(case: &Case) -> ReadVariance<'static> {
    ReadVariance::Same((case.read_noise * case.read_noise) as f32)
}

fn found(case: &Case, options: &CrowdOptions, frames: u64) -> Score {
    let mut finder = CrowdFinder::new(case.side, case.side, options).unwrap();
    let mut score = Score::default();
    for number in 0..frames {
        let (pixels, truth) = case.frame(11, number);
        let frame = CrowdFrame::new(case.side, case.side, &pixels, variance(case)).unwrap();
        score.add(case, &truth, finder.find(&frame).unwrap());
    }
    score
}

/// Proves that crowds are found as well as the algorithm was known to find them, within what so few frames can tell, and that hardly
/// anything is found that is not there.
#[test]
fn crowds_are_found() {
    let options = CrowdOptions::default();
    let structures = Case { places: Places::Structures, ..Case::new(5000.0, 50.0, 1.0) };
    for (case, frames, jaccard, rmse) in [
        (Case::new(1000.0, 20.0, 0.2), 40, 98.0, 0.115),
        (Case::new(1000.0, 20.0, 1.0), 20, 96.0, 0.18),
        (Case::new(1000.0, 20.0, 2.0), 12, 92.5, 0.23),
        (Case::new(1000.0, 20.0, 4.0), 8, 85.0, 0.33),
        (Case::new(5000.0, 50.0, 4.0), 8, 91.5, 0.215),
        (structures, 40, 85.0, 0.21),
        (Case { unevenness: 0.5, ..Case::new(1000.0, 20.0, 1.0) }, 20, 95.0, 0.19),
    ] {
        let score = found(&case, &options, frames);
        assert!(score.jaccard() > jaccard, "{case:?}: {}", score.jaccard());
        assert!(score.rmse() < rmse, "{case:?}: {}", score.rmse());
        assert!(score.precision() > 99.0, "{case:?}: {}", score.precision());
    }
}

/// Proves that errors are those stated where the flag does not say otherwise, and that it does so seldom.
#[test]
fn errors_are_those_stated() {
    let options = CrowdOptions::default();
    for (density, frames, most, flagged) in
        [(0.2, 60, 1.2, 16.0), (1.0, 30, 1.25, 18.0), (4.0, 10, 1.55, 38.0)]
    {
        let score = found(&Case::new(1000.0, 20.0, density), &options, frames);
        let [_, unflagged] = score.over_stated();
        assert!((0.85..most).contains(&unflagged), "{density}: {unflagged}");
        assert!(score.flagged() < flagged, "{density}: {} %", score.flagged());
    }
}

/// Proves that noise alone has as many spots as the rate says, and isolated spots are taken for two as seldom as stated.
#[test]
fn false_rates_are_those_stated() {
    let case = Case::new(1000.0, 20.0, 0.0);
    let (frames, rate) = (150, 144.0);
    let options = CrowdOptions::default().with_false_rate(rate);
    let births = found(&case, &options, frames).false_ones;
    // The border of 4 pixels is not counted.
    let expected = rate * 1e-6 * 56.0 * 56.0 * frames as f64;
    assert!(births < 2.0 * expected + 5.0 && births > 0.2 * expected, "{births}, not {expected}");

    let alone = Case { side: 24, ..Case::new(1000.0, 20.0, 0.0) };
    let (mut finder, mut two) =
        (CrowdFinder::new(24, 24, &CrowdOptions::default().with_false_splits(0.011)).unwrap(), 0);
    let spots = 1000;
    for number in 0..spots {
        let place = 11.0 + 0.001 * number as f64;
        let (pixels, _) = alone.with_spots(3, number, &[(place, 11.7, 1000.0)]);
        let frame = CrowdFrame::new(24, 24, &pixels, variance(&alone)).unwrap();
        let emitters = finder.find(&frame).unwrap();
        let near = emitters.iter().filter(|e| (e.x - place).hypot(e.y - 11.7) < 3.0).count();
        assert!(near >= 1, "spot {number} is not found");
        two += usize::from(near > 1);
    }
    assert!(two <= 30, "{two} of {spots} are two");
}

/// Proves that a spot is one whatever its brightness: neither its tails nor its peak make others.
#[test]
fn bright_spots_are_one() {
    let case = Case { side: 40, ..Case::new(1000.0, 20.0, 0.0) };
    for photons in [300.0, 1e3, 1e4, 1e5, 1e6] {
        for width in [EmitterImage::Fixed(1.3), EmitterImage::Free { start: 1.3 }] {
            let options = CrowdOptions::default().with_shape(width.clone());
            let mut finder = CrowdFinder::new(40, 40, &options).unwrap();
            let mut more = 0;
            for number in 0..100 {
                let (x, y) = (20.0 + 0.01 * number as f64, 19.6);
                let (pixels, _) = case.with_spots(8, number, &[(x, y, photons)]);
                let frame = CrowdFrame::new(40, 40, &pixels, variance(&case)).unwrap();
                let emitters = finder.find(&frame).unwrap();
                assert!(
                    emitters.iter().any(|e| (e.x - x).hypot(e.y - y) < 6.0 * e.errors.x),
                    "{photons}: {emitters:?}"
                );
                more += usize::from(emitters.len() > 1);
            }
            assert!(more <= 3, "{photons}, {width:?}: {more} of 100 are more than one");
        }
    }
}

/// Proves that widths come out right from starts that are off, and their errors with them.
#[test]
fn free_widths_are_found() {
    let case = Case { side: 24, ..Case::new(1000.0, 20.0, 0.0) };
    for start in [1.1, 1.5] {
        let options = CrowdOptions::default().with_shape(EmitterImage::Free { start });
        let mut finder = CrowdFinder::new(24, 24, &options).unwrap();
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for number in 0..200 {
            let (pixels, _) = case.with_spots(5, number, &[(11.3, 12.2, 2000.0)]);
            let frame = CrowdFrame::new(24, 24, &pixels, variance(&case)).unwrap();
            for emitter in finder.find(&frame).unwrap().iter().filter(|e| e.photons > 1500.0) {
                sum += emitter.sigma - 1.3;
                squares += ((emitter.sigma - 1.3) / emitter.errors.sigma).powi(2);
                count += 1.0;
            }
        }
        let mean: f64 = sum / count;
        let ratio: f64 = (squares / count).sqrt();
        assert!(count > 180.0 && mean.abs() < 0.01, "{start}: {mean} in {count}");
        assert!((0.85..1.2).contains(&ratio), "{start}: {ratio}");
    }
}

/// Proves that a large frame, which is searched in tiles, has the emitters that its parts have, each once.
#[test]
fn tiles_find_what_whole_frames_do() {
    let case = Case { side: 150, ..Case::new(2000.0, 20.0, 0.5) };
    let options = CrowdOptions::default();
    let (pixels, truth) = case.frame(2, 1);
    let frame = CrowdFrame::new(150, 150, &pixels, variance(&case)).unwrap();
    let mut finder = CrowdFinder::new(150, 150, &options).unwrap();
    let all: Vec<Emitter> = finder.find(&frame).unwrap().to_vec();
    let mut score = Score::default();
    score.add(&case, &truth, &all);
    assert!(score.jaccard() > 97.5, "{}", score.jaccard());
    for (number, one) in all.iter().enumerate() {
        for other in &all[number + 1..] {
            assert!((one.x - other.x).hypot(one.y - other.y) > 0.3, "{one:?} twice");
        }
    }
    // The middle, where four tiles meet, as a frame of its own.
    let middle: Vec<f32> =
        (0..80 * 80).map(|i| pixels[(35 + i / 80) * 150 + 35 + i % 80]).collect();
    let frame = CrowdFrame::new(80, 80, &middle, variance(&case)).unwrap();
    let mut finder = CrowdFinder::new(80, 80, &options).unwrap();
    let (mut same, mut count) = (0, 0);
    for emitter in finder.find(&frame).unwrap() {
        if [emitter.x, emitter.y].iter().all(|&at| (12.0..68.0).contains(&at)) {
            count += 1;
            let near = |other: &&Emitter| {
                (other.x - 35.0 - emitter.x).hypot(other.y - 35.0 - emitter.y) < 0.1
            };
            same += usize::from(all.iter().any(|other| near(&other)));
        }
    }
    assert!(count > 10 && same * 100 >= count * 93, "{same} of {count}");
}

/// Proves that the neighbour is the nearest of all.
#[test]
fn neighbours_are_the_nearest() {
    let pixels: Vec<f32> = (0..900).map(|i| if i % 97 == 40 { 900.0 } else { 20.0 }).collect();
    let frame = CrowdFrame::new(30, 30, &pixels, ReadVariance::Same(1.0)).unwrap();
    let mut finder = CrowdFinder::new(30, 30, &CrowdOptions::default()).unwrap();
    let emitters = finder.find(&frame).unwrap();
    assert!(emitters.len() > 5, "{}", emitters.len());
    for (at, one) in emitters.iter().enumerate() {
        let others = emitters.iter().enumerate().filter(|&(other, _)| other != at);
        let distances = others.map(|(_, other)| (one.x - other.x).hypot(one.y - other.y));
        let nearest = distances.fold(f64::INFINITY, f64::min);
        assert!((one.neighbour - nearest).abs() < 1e-9, "{} {nearest}", one.neighbour);
    }
}
