//! Drift: found as well as the localizations allow, from structures and from beads, and refused where there is nothing to go by.

use fit_sim::{MovieSimulation, Random};
use spotfit::drift::{Drift, DriftError, DriftInput, DriftOptions, beads_at, track_beads};

use crate::common::nightly;

/// Localizations of a movie of the demo's structures, five spots a frame of up to 1000 photons, in nanometres.
struct Simulated {
    frames: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
}

/// Positions in the plane of which nothing else is known.
fn positions<'a>(frames: &'a [u32], x: &'a [f64], y: &'a [f64]) -> DriftInput<'a> {
    DriftInput { frames, x, y, z: None, uncertainty: None, uncertainty_z: None }
}

const FRAMES: u32 = 5000;
/// Uncertainty of a localization of 1000 photons.
const PRECISION: f64 = 9.0;

/// A drift that goes 200 nm and swings on its way.
fn truth(frame: u32) -> [f64; 3] {
    let t = f64::from(frame) / f64::from(FRAMES);
    let wave = |turns: f64, phase: f64| (std::f64::consts::TAU * turns * t + phase).sin();
    [
        200.0 * t + 20.0 * wave(2.0, 0.3) + 8.0 * wave(7.0, 1.0),
        -120.0 * t + 25.0 * wave(1.5, 2.0) + 6.0 * wave(9.0, 0.1),
        150.0 * t + 30.0 * wave(2.5, 1.5),
    ]
}

impl Simulated {
    fn new(seed: u64) -> Self {
        let mut simulation = MovieSimulation::new(96, 96, FRAMES as usize);
        simulation.molecules = simulation.molecules_for(5.0);
        simulation.seed = seed;
        let mut random = Random::new(seed, 7);
        let mut new = Self { frames: vec![], x: vec![], y: vec![], z: vec![] };
        let mut plan = simulation.plan().expect("a sound simulation");
        let piece = plan.piece(0..FRAMES as usize);
        for frame in 0..FRAMES {
            let moved = truth(frame);
            for spot in piece.truth(frame as usize).filter(|spot| spot.signal > 300.0) {
                let error = PRECISION * (1000.0 / spot.signal).sqrt();
                let height = 200.0 * (spot.shape.x / 16.0).sin();
                new.frames.push(frame);
                new.x.push(100.0 * spot.shape.x + moved[0] + error * random.normal());
                new.y.push(100.0 * spot.shape.y + moved[1] + error * random.normal());
                new.z.push(height + moved[2] + 3.0 * error * random.normal());
            }
        }
        new
    }

    fn positions(&self, depth: bool) -> DriftInput<'_> {
        DriftInput { z: depth.then_some(&self.z[..]), ..positions(&self.frames, &self.x, &self.y) }
    }
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64).sqrt()
}

/// Root mean square of what is left of the drift, its mean aside.
fn left(found: &[f64], axis: usize) -> f64 {
    let off: Vec<f64> = (0..).zip(found).map(|(frame, found)| found - truth(frame)[axis]).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    (off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() / off.len() as f64).sqrt()
}

/// Proves that 5000 frames of five spots of 1000 photons tell 200 nm of drift to 5 nm rms and better, in whatever order the
/// table is.
#[test]
fn drift_of_a_structure_is_found() {
    let mut locs = Simulated::new(1);
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    let drift = Drift::estimate(&locs.positions(false), FRAMES, &options).expect("enough of them");
    let off = [left(&drift.x, 0), left(&drift.y, 1)];
    println!(
        "left of the drift: {:.2} and {:.2} nm rms, {} localizations",
        off[0],
        off[1],
        locs.x.len()
    );
    assert!(off[0] < 1.5 && off[1] < 1.5, "{off:?}");
    assert_eq!((drift.frames(), drift.x[0], drift.z.len()), (FRAMES as usize, 0.0, 0));
    for (off, errors) in off.into_iter().zip([&drift.x_error, &drift.y_error]) {
        let stated = rms(errors);
        println!("stated: {stated:.2} nm");
        assert!((0.5..2.0).contains(&(off / stated)), "{off} and {stated}");
    }
    for column in [&mut locs.x, &mut locs.y] {
        column.reverse();
    }
    locs.frames.reverse();
    // Neither the order of rows matters nor the number of threads.
    for threads in if nightly() { vec![1, 2, 3] } else { vec![3] } {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let again = pool.install(|| Drift::estimate(&locs.positions(false), FRAMES, &options));
        assert_eq!(again.expect("enough of them"), drift, "{threads} threads");
    }
}

/// Proves that the unit of lengths does not matter, and neither does where the field lies.
#[test]
fn units_and_places_do_not_matter() {
    let locs = Simulated::new(5);
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    let drift = Drift::estimate(&locs.positions(false), FRAMES, &options).expect("enough of them");
    let one_by_one = [(1.0 / 1024.0, 0.0), (1024.0, 0.0), (1.0, -65536.0)];
    let at_once = [(1.0 / 1024.0, -64.0)];
    for &(unit, place) in if nightly() { &one_by_one[..] } else { &at_once } {
        let of = |from: &[f64]| from.iter().map(|value| unit * value + place).collect::<Vec<f64>>();
        let (x, y) = (of(&locs.x), of(&locs.y));
        let options = DriftOptions::new(unit * PRECISION, 3.0 * unit * PRECISION);
        let other = Drift::estimate(&positions(&locs.frames, &x, &y), FRAMES, &options);
        let other = other.expect("enough of them");
        let errors = drift.x_error.iter().zip(&other.x_error);
        for ((one, other), error) in drift.x.iter().zip(&other.x).zip(errors) {
            let (off, scale) = (other / unit - one, error.0);
            assert!(off.abs() < 0.3 * scale, "{unit}: {off} of {scale}");
            assert!((error.1 / unit / error.0 - 1.0).abs() < 0.2, "{unit}: {error:?}");
        }
    }
}

/// Rows of molecules that are seen for three frames and never again, anywhere in a square with this side.
fn seen_once(seed: u64, molecules: usize, side: f64) -> (Vec<u32>, Vec<f64>, Vec<f64>) {
    let mut random = Random::new(seed, 9);
    let mut rows = (vec![], vec![], vec![]);
    for _ in 0..molecules {
        let first = (random.uniform() * f64::from(FRAMES - 3)) as u32;
        let place = [(); 2].map(|()| side * random.uniform());
        for frame in first..first + 3 {
            rows.0.push(frame);
            rows.1.push(place[0] + PRECISION * random.normal());
            rows.2.push(place[1] + PRECISION * random.normal());
        }
    }
    rows
}

/// Proves that no drift is invented: random points, and molecules that never come back, are refused, unless drift is wanted anyway. By
/// day there is a quarter of the field: whether a table is refused is said in standard deviations of what chance makes of its own pairs.
#[test]
fn drift_of_chance_is_refused() {
    let mut random = Random::new(6, 9);
    let (parts, side) = if nightly() { (4, 1e4) } else { (1, 5e3) };
    let frames: Vec<u32> = (0..5000 * parts).map(|row| row / parts).collect();
    let mut column = || (0..5000 * parts).map(|_| side * random.uniform()).collect::<Vec<f64>>();
    let (x, y) = (column(), column());
    let tables = [(frames, x, y), seen_once(7, 1750 * parts as usize, side)];
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    for (frames, x, y) in &tables {
        let positions = positions(frames, x, y);
        let error = Drift::estimate(&positions, FRAMES, &options).expect_err("chance");
        assert!(matches!(error, DriftError::Chance { .. }), "{error}");
        println!("{error}");
        let options = options.with_anyway(true);
        let drift = Drift::estimate(&positions, FRAMES, &options).expect("wanted anyway");
        assert_eq!(drift.x_error.len(), FRAMES as usize);
        assert!(drift.x_error.iter().chain(&drift.y_error).all(|error| error.is_finite()));
    }
}

/// Proves that a jump is found to the frame or two, also two that are near each other, and that nothing around it suffers.
#[test]
fn jumps_are_found() {
    let mut locs = Simulated::new(8);
    let jumps = [(1500, 60.0), (3700, -90.0), (3760, 50.0)];
    let own = |frame: u32| -> f64 {
        jumps.iter().filter(|jump| frame >= jump.0).map(|jump| jump.1).sum()
    };
    for (&frame, (x, y)) in locs.frames.iter().zip(locs.x.iter_mut().zip(&mut locs.y)) {
        // The smooth drift is taken away.
        *x += own(frame) - truth(frame)[0];
        *y += -0.5 * own(frame) - truth(frame)[1];
    }
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    let drift = Drift::estimate(&locs.positions(false), FRAMES, &options).expect("enough of them");
    let off: Vec<f64> = (0..).zip(&drift.x).map(|(frame, x)| x - own(frame)).collect();
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    let left = rms(&off.iter().map(|off| off - mean).collect::<Vec<_>>());
    println!("left of jumps: {left:.2} nm, stated {:.2} nm", rms(&drift.x_error));
    assert!(left < 3.0, "{left}");
    let wrong = off.iter().filter(|off| (*off - mean).abs() > 20.0).count();
    assert!(wrong <= 12, "{wrong} frames are on the wrong side of a jump");
}

/// Proves that segments and knots can be chosen, and that counts that make no sense are refused.
#[test]
fn segments_and_knots_are_heeded() {
    let locs = Simulated::new(9);
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    let chosen = options.with_segment(Some(250)).with_knots(Some(100));
    let drift = Drift::estimate(&locs.positions(false), FRAMES, &chosen).expect("enough of them");
    let off = [left(&drift.x, 0), left(&drift.y, 1)];
    assert!(off[0] < 2.5 && off[1] < 2.5, "{off:?}");
    for (name, options) in [
        ("segment", options.with_segment(Some(10))),
        ("segment", options.with_segment(Some(FRAMES))),
        ("knots", options.with_knots(Some(1))),
        ("knots", options.with_knots(Some(5 * FRAMES))),
    ] {
        let error =
            Drift::estimate(&locs.positions(false), FRAMES, &options).expect_err("senseless");
        assert!(matches!(error, DriftError::Count { name: own, .. } if own == name), "{error}");
    }
}

/// Proves the same with z, whose errors are three times as large.
#[test]
fn drift_along_z_is_found() {
    let locs = Simulated::new(2);
    let options = DriftOptions::new(PRECISION, 3.0 * PRECISION);
    let drift = Drift::estimate(&locs.positions(true), FRAMES, &options).expect("enough of them");
    let off = [left(&drift.x, 0), left(&drift.y, 1), left(&drift.z, 2)];
    println!("left of the drift: {off:.2?} nm rms");
    assert!(off[0] < 3.0 && off[1] < 3.0 && off[2] < 6.0, "{off:?}");
    let mut z = locs.z.clone();
    Drift::correct(&drift.z, &locs.frames, &mut z);
    assert!((z[z.len() - 1] - locs.z[z.len() - 1]).abs() > 50.0);
}

/// Beads over molecules: each is seen in most frames, but for one that is bleached and one that wanders by itself.
fn beads(seed: u64, count: usize) -> (Simulated, Vec<f64>) {
    let mut locs = Simulated::new(seed);
    let mut random = Random::new(seed, 8);
    let mut errors = vec![PRECISION; locs.x.len()];
    for bead in 0..count + 2 {
        let (x, y) = (1000.0 + 900.0 * bead as f64, 700.0 + 8000.0 * random.uniform());
        let error = 2.0 + 2.0 * random.uniform();
        for frame in 0..FRAMES {
            let bleached = bead == count && frame > FRAMES / 2;
            if bleached || random.uniform() < 0.05 {
                continue;
            }
            let own = if bead == count + 1 { 0.04 * f64::from(frame) } else { 0.0 };
            let moved = truth(frame);
            locs.frames.push(frame);
            locs.x.push(x + moved[0] + own + error * random.normal());
            locs.y.push(y + moved[1] + error * random.normal());
            locs.z.push(0.0);
            errors.push(error);
        }
    }
    (locs, errors)
}

/// Proves that beads tell the drift of every frame within 1.1 times what their uncertainties allow, that a bleached one and one
/// that moves by itself do no harm, and that beads can be named.
#[test]
fn beads_tell_the_drift() {
    let (locs, errors) = beads(3, 4);
    let positions = DriftInput { uncertainty: Some(&errors), ..locs.positions(false) };
    let found = track_beads(&positions, FRAMES, 100.0).expect("beads");
    assert_eq!(found.len(), 5, "those that are on all the time");
    let drift = Drift::from_beads(&positions, &found, FRAMES).expect("beads");
    // What the four that can be trusted allow, on average over the frames.
    let (mut bound, mut seen) = (0.0, 0.0);
    for frame in 0..FRAMES {
        let here = found.iter().flat_map(|bead| &bead.rows).map(|&row| row as usize);
        let weights = here.filter(|&row| locs.frames[row] == frame).map(|row| errors[row].powi(-2));
        let weight: f64 = weights.sum();
        if weight > 0.0 {
            bound += 1.0 / weight;
            seen += 1.0;
        }
    }
    let bound = (bound / seen).sqrt();
    let off = [left(&drift.x, 0), left(&drift.y, 1)];
    println!("left of the drift: {:.2} and {:.2} nm rms, bound {bound:.2}", off[0], off[1]);
    // The bound counts the bead that wanders: along x it is of no use.
    assert!(off[0] < 1.1 * bound * (5.0f64 / 4.0).sqrt() && off[1] < 1.1 * bound, "{off:?}");

    // Errors are those of the scatter of all beads, of which one wanders.
    for (off, errors) in off.into_iter().zip([&drift.x_error, &drift.y_error]) {
        let stated = rms(errors);
        assert!((0.7..1.3).contains(&(off / stated)), "{off} and {stated}");
    }

    let first = |bead: &spotfit::drift::BeadTrack| {
        let row = bead.rows[0] as usize;
        [locs.x[row], locs.y[row]]
    };
    let places: Vec<[f64; 2]> = found.iter().take(2).map(first).collect();
    let named = beads_at(&positions, FRAMES, &places, 100.0).expect("they are there");
    assert_eq!(named, found[..2]);
    let error = beads_at(&positions, FRAMES, &[[1e6, 0.0]], 100.0).expect_err("nothing there");
    assert!(matches!(error, DriftError::NoBead { number: 1, seen: 0, .. }), "{error}");
}

/// Proves that spots beside beads, which are taken for them in a tenth of the frames, do no harm: the drift is within 1.1 times what the
/// uncertainties of the others allow, and its errors are stated to 15 %, with uncertainties and without.
#[test]
fn spots_beside_beads_do_no_harm() {
    (0..6).for_each(check_spots_beside_beads);
}

fn check_spots_beside_beads(seed: u64) {
    let (frames, count) = (2000u32, 8);
    let mut random = Random::new(12, seed);
    let path = |frame: u32| 0.2 * f64::from(frame) + 40.0 * (0.01 * f64::from(frame)).sin();
    let (mut of, mut x, mut y, mut errors) = (vec![], vec![], vec![], vec![]);
    // Of weighted means, and of means in which all weigh the same.
    let (mut bounds, mut taken) = ([0.0; 2], 0.0);
    for frame in 0..frames {
        let (mut weights, mut squares, mut sound) = (0.0, 0.0, 0.0);
        for bead in 0..count {
            let error = 3.0 + f64::from(bead);
            let other = random.uniform() < 0.1;
            // Each has a spot of its own beside it.
            let beside = 60.0 + 10.0 * f64::from(bead);
            let beside = if bead % 2 == 0 { beside } else { -beside };
            let off = if other { beside } else { 0.0 };
            of.push(frame);
            x.push(2e3 * f64::from(bead) + path(frame) + error * random.normal() + off);
            y.push(1e3 * f64::from(bead) - path(frame) + error * random.normal());
            errors.push(error);
            taken += f64::from(u8::from(other));
            if !other {
                (weights, squares, sound) =
                    (weights + error.powi(-2), squares + error * error, sound + 1.0);
            }
        }
        bounds[0] += 1.0 / weights / f64::from(frames);
        bounds[1] += squares / (sound * sound) / f64::from(frames);
    }
    assert!(taken > 1000.0);
    let tracks: Vec<_> = (0..count as u32)
        .map(|bead| spotfit::drift::BeadTrack {
            rows: (0..frames).map(|frame| frame * count as u32 + bead).collect(),
        })
        .collect();
    for (given, bound) in [true, false].into_iter().zip(bounds.map(f64::sqrt)) {
        let uncertainty = given.then_some(&errors[..]);
        let positions = DriftInput { uncertainty, ..positions(&of, &x, &y) };
        let drift = Drift::from_beads(&positions, &tracks, frames).expect("beads");
        for (sign, found, errors) in
            [(1.0, &drift.x, &drift.x_error), (-1.0, &drift.y, &drift.y_error)]
        {
            let off: Vec<f64> =
                (0..frames).map(|frame| found[frame as usize] - sign * path(frame)).collect();
            let mean = off.iter().sum::<f64>() / f64::from(frames);
            let off = rms(&off.iter().map(|off| off - mean).collect::<Vec<_>>());
            let stated = rms(errors);
            println!("seed {seed}, {given}: {off:.3} nm rms, bound {bound:.3}, stated {stated:.3}");
            assert!(off < 1.1 * bound, "{off} {bound}");
            assert!((0.85..1.15).contains(&(off / stated)), "{off} {stated}");
        }
    }
}

/// Proves that a bead among many spots that come and go is followed from one spot to the nearest of the next frame, as
/// a look at all of them finds it, in whatever order the rows are.
#[test]
fn beads_are_followed_among_other_spots() {
    let (frames, radius) = (300u32, 40.0);
    let mut random = Random::new(11, 0);
    let mut rows: Vec<(u32, f64, f64)> = Vec::new();
    for frame in 0..frames {
        let drift = 0.5 * f64::from(frame);
        for bead in 0..3 {
            let place = 2000.0 * f64::from(bead) + drift;
            rows.push((frame, place + 3.0 * random.normal(), place + 3.0 * random.normal()));
        }
        rows.extend((0..200).map(|_| (frame, 6e3 * random.uniform(), 6e3 * random.uniform())));
    }
    // Some order in which neither frames nor places are sorted.
    rows.sort_by_key(|row| (row.1 * 7919.0) as i64 % 1009);
    let column = |of: fn(&(u32, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let (x, y) = (column(|row| row.1), column(|row| row.2));
    let of: Vec<u32> = rows.iter().map(|row| row.0).collect();
    let positions = positions(&of, &x, &y);
    let beads = track_beads(&positions, frames, radius).expect("beads");
    assert_eq!(beads.len(), 3);
    // The same beads in the same order, whatever the order of rows is.
    let reversed = |of: &[f64]| of.iter().rev().copied().collect::<Vec<f64>>();
    let (back_x, back_y) = (reversed(&x), reversed(&y));
    let back: Vec<u32> = of.iter().rev().copied().collect();
    let other = DriftInput { frames: &back, x: &back_x, y: &back_y, ..positions };
    let again = track_beads(&other, frames, radius).expect("beads");
    for (bead, again) in beads.iter().zip(&again) {
        let turned: Vec<u32> = again.rows.iter().map(|row| x.len() as u32 - 1 - row).collect();
        assert_eq!(turned, bead.rows);
    }
    // A named one is the spot nearest to its place, not the first row beside it.
    let place = [2010.0, 2010.0];
    let named = beads_at(&positions, frames, &[place], radius).expect("a bead");
    let off = |row: usize| (x[row] - place[0]).hypot(y[row] - place[1]);
    let nearest =
        (0..x.len()).filter(|&row| of[row] == 0).min_by(|&a, &b| off(a).total_cmp(&off(b)));
    assert_eq!(Some(named[0].rows[0] as usize), nearest);
    for bead in &beads {
        assert_eq!(bead.rows.len(), frames as usize);
        // A bead is looked for at the mean of its last eight places; the one that it began with counts alone.
        for (frame, &next) in (1..frames).zip(&bead.rows[1..]) {
            let first = if frame == 1 { 0 } else { (frame as usize).saturating_sub(8).max(1) };
            let recent = &bead.rows[first..frame as usize];
            let mean = |of: &[f64]| {
                recent.iter().map(|&row| of[row as usize]).sum::<f64>() / recent.len() as f64
            };
            let (mean_x, mean_y) = (mean(&x), mean(&y));
            let off = |row: usize| (x[row] - mean_x).hypot(y[row] - mean_y);
            let here = (0..rows.len()).filter(|&row| of[row] == frame);
            let nearest = here.min_by(|&a, &b| off(a).total_cmp(&off(b))).expect("spots");
            assert_eq!(next as usize, nearest, "frame {frame}");
        }
    }
}

/// Proves that what cannot be is refused with its reason, and that odd numbers are left out.
#[test]
fn what_tells_nothing_is_refused() {
    let options = DriftOptions::new(10.0, 30.0);
    let estimate = |frames: &[u32], x: &[f64], y: &[f64]| {
        Drift::estimate(&positions(frames, x, y), 100, &options)
    };
    assert!(matches!(estimate(&[], &[], &[]), Err(DriftError::Few { found: 0, .. })));
    assert!(matches!(estimate(&[1], &[1.0], &[]), Err(DriftError::Columns(_))));
    let many = 1000;
    let (frames, nan) = (vec![3; many], vec![f64::NAN; many]);
    assert!(matches!(estimate(&frames, &nan, &nan), Err(DriftError::Few { found: 0, .. })));
    let x: Vec<f64> = (0..many).map(|row| row as f64).collect();
    assert!(matches!(estimate(&frames, &x, &x), Err(DriftError::Few { frames: 1, .. })));
    // Nothing is near anything else.
    let frames: Vec<u32> = (0..many as u32).map(|row| row % 100).collect();
    let far: Vec<f64> = (0..many).map(|row| 1e5 * row as f64).collect();
    assert!(matches!(estimate(&frames, &far, &far), Err(DriftError::NoOverlap { .. })));
    for huge in [1e300, -1e300] {
        let x = vec![huge; many];
        // It ends, whatever it finds.
        let _ = estimate(&frames, &x, &x);
    }
    let positions = positions(&frames, &far, &far);
    for (precision, range) in [(0.0, 1.0), (f64::NAN, 1.0), (10.0, 1.0), (10.0, 1e9)] {
        let options = DriftOptions::new(precision, 1.0).with_range(range);
        let error = Drift::estimate(&positions, 100, &options).expect_err("senseless");
        assert!(matches!(error, DriftError::Option { .. }), "{error}");
    }
    assert!(matches!(track_beads(&positions, 100, 1.0), Err(DriftError::NoBeads { .. })));
    let mut values = [1.0, 2.0];
    Drift::correct(&[], &[0, 1], &mut values);
    Drift::correct(&[0.5, 1.0], &[0, 9], &mut values);
    assert_eq!(values, [0.5, 1.0]);
    let mut errors = [3.0, 12.0];
    Drift::add_error(&[], &[0, 1], &mut errors);
    Drift::add_error(&[4.0, 5.0], &[0, 9], &mut errors);
    assert_eq!(errors, [5.0, 13.0]);
}
