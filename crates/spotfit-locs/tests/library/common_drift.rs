//! What beads have in common in a frame.

use fit_sim::Random;
use spotfit_locs::drift::{CommonDrift, SeenPlace};

fn parts(count: usize, random: &mut Random) -> Vec<SeenPlace> {
    let part = |bead| {
        let reference = [200.0 * random.uniform(), 150.0 * random.uniform(), 0.0];
        let noise = 0.02 * (0.5 + random.uniform());
        SeenPlace {
            bead,
            place: reference,
            noise: [noise * noise, 2.0 * noise * noise, f64::INFINITY],
            reference,
            unsure: [0.0, 0.0, f64::INFINITY],
            anchor: [0.0; 3],
            agrees: [false; 2],
            rest: [0.0; 3],
            weight: [0.0; 3],
        }
    };
    (0..count).map(part).collect()
}

/// Proves that shift, turn and growth of twenty beads are found with the errors that are stated, to 10 %, while a quarter of the beads
/// is anywhere.
#[test]
fn a_similarity_is_found_among_outliers() {
    let mut random = Random::new(4, 1);
    let beads = parts(20, &mut random);
    for free in [[false, false], [true, false], [false, true], [true, true]] {
        let mut common = CommonDrift::new([100.0, 75.0], free, 5.0, 20);
        let (mut squares, frames) = ([0.0; 4], 40_000);
        for frame in 0..frames {
            // It turns and grows until it is there.
            let share = f64::min(f64::from(frame) / 150.0, 1.0);
            let angle = if free[0] { 0.01 * share } else { 0.0 };
            let growth = if free[1] { 1.0 + 0.002 * share } else { 1.0 };
            let (cos, sin) = (growth * f64::cos(angle), growth * f64::sin(angle));
            let mut seen = beads.clone();
            for part in &mut seen {
                let [x, y] = [part.reference[0] - 100.0, part.reference[1] - 75.0];
                let (x, y) = (cos * x - sin * y, cos * y + sin * x);
                part.place[0] = 100.0 + 0.7 + x + part.noise[0].sqrt() * random.normal();
                part.place[1] = 75.0 - 0.4 + y + part.noise[1].sqrt() * random.normal();
                if part.bead % 4 == 0 {
                    let off = 0.5 + random.uniform();
                    part.place[0] += if random.uniform() < 0.5 { off } else { -off };
                }
            }
            let shift = common.find(&mut seen, [0.0; 3]).unwrap();
            common.learn_scatter(&seen);
            assert!(shift.beads >= 14, "{}", shift.beads);
            if frame > 200 {
                squares[0] += (shift.by[0] - 0.7).powi(2) / shift.variance[0];
                squares[1] += (shift.by[1] + 0.4).powi(2) / shift.variance[1];
                let ([by, error], [size, unsure]) = (common.rotation(), common.growth());
                squares[2] += (by - angle).powi(2) / error.max(1e-30);
                squares[3] += (size - growth).powi(2) / unsure.max(1e-30);
            }
        }
        let ratios = squares.map(|square| (square / f64::from(frames - 201)).sqrt());
        let checked = [true, true, free[0], free[1]];
        for (ratio, _) in ratios.iter().zip(checked).filter(|(_, checked)| *checked) {
            assert!((0.9..1.1).contains(ratio), "{free:?}: {ratios:?}");
        }
    }
}

/// Proves that beads whose errors are said too small by half make the drift state twice the error, and that one bead alone is
/// taken as it is.
#[test]
fn errors_follow_the_scatter() {
    let mut random = Random::new(4, 2);
    let beads = parts(10, &mut random);
    let mut common = CommonDrift::new([100.0, 75.0], [false; 2], 5.0, 10);
    let mut squares = 0.0;
    for frame in 0..2000 {
        let mut seen = beads.clone();
        for part in &mut seen {
            for axis in 0..2 {
                part.place[axis] += 2.0 * part.noise[axis].sqrt() * random.normal();
            }
        }
        let shift = common.find(&mut seen, [0.0; 3]).unwrap();
        common.learn_scatter(&seen);
        if frame >= 1000 {
            squares += shift.by[0].powi(2) / shift.variance[0];
        }
    }
    let ratio = (squares / 1000.0f64).sqrt();
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    let mut one = beads[..1].to_vec();
    one[0].place[0] += 2.0;
    assert!((common.find(&mut one, [0.0; 3]).unwrap().by[0] - 2.0).abs() < 1e-12);
    assert!(common.find(&mut [], [0.0; 3]).is_none());
}
