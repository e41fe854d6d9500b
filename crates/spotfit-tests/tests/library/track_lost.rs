//! A tracker whose stage moves while nothing is seen: it finds the pattern of its beads again, or says that it is lost.

use fit_sim::{BeadFate, Random, SeenBead, Stage, StageBead, StageMotion, StageSimulation};
use spotfit::track::{FrameDrift, FrameStatus, FrameView, Smooth, TrackOptions, Tracker};
use spotfit::{Camera, Estimator, FitterOptions, Options};

use crate::common::{nightly, thorough};

const WIDTH: usize = 224;
const HEIGHT: usize = 192;
/// What may be wrong, in stated errors.
const SIX: f64 = 6.0;

fn options() -> TrackOptions {
    let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    TrackOptions::default()
        .with_camera(camera)
        .with_fitter(FitterOptions::from(fit))
        .with_clock(false)
}

fn view(stage: &Stage) -> FrameView<'_> {
    FrameView::u16(stage.simulation().width, stage.simulation().height, stage.pixels())
}

/// A stage of these beads after a first frame.
fn stage_of(beads: Vec<StageBead>, seed: u64, walk: f64) -> Stage {
    let motion = StageMotion::default().with_walk([walk, walk, 0.0]);
    let simulation = StageSimulation::new(WIDTH, HEIGHT, beads).with_seed(seed);
    let mut stage = simulation.with_motion(motion).stage().unwrap();
    stage.advance();
    stage
}

/// Beads anywhere, at least 16 pixels from each other, in the middle of the frame.
fn scattered(random: &mut Random, count: usize, photons: f64) -> Vec<StageBead> {
    let mut beads: Vec<StageBead> = Vec::new();
    while beads.len() < count {
        let x = 30.0 + (WIDTH as f64 - 60.0) * random.uniform();
        let y = 30.0 + (HEIGHT as f64 - 60.0) * random.uniform();
        if beads.iter().all(|bead| (bead.x - x).hypot(bead.y - y) > 16.0) {
            beads.push(StageBead::new(x, y, photons * (0.7 + 0.6 * random.uniform())));
        }
    }
    beads
}

/// Where a place is after a turn about the middle of the frame, and a shift.
fn moved([x, y]: [f64; 2], angle: f64, shift: [f64; 2]) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    let [cx, cy] = [WIDTH as f64 / 2.0, HEIGHT as f64 / 2.0];
    let (x, y) = (x - cx, y - cy);
    [cx + cos * x - sin * y + shift[0], cy + sin * x + cos * y + shift[1]]
}

/// How far a drift is from the truth, in stated errors, along the axis where this is most. That of the reference frame counts.
fn off(drift: &FrameDrift, truth: [f64; 2]) -> f64 {
    let x = (drift.x - truth[0]) / drift.x_error.hypot(drift.zero_x_error);
    let y = (drift.y - truth[1]) / drift.y_error.hypot(drift.zero_y_error);
    x.abs().max(y.abs())
}

fn middle(tracker: &Tracker) -> [f64; 2] {
    let beads = tracker.beads();
    [0, 1].map(|k| beads.iter().map(|bead| bead.reference[k]).sum::<f64>() / beads.len() as f64)
}

fn is_visible(bead: &SeenBead) -> bool {
    let [x, y] = bead.place;
    bead.signal > 0.0
        && (4.0..WIDTH as f64 - 5.0).contains(&x)
        && (4.0..HEIGHT as f64 - 5.0).contains(&y)
}

/// What became of an interruption.
#[derive(Debug, Default)]
struct Outcome {
    /// Whether at least four beads were visible in as many frames as it may take.
    counts: bool,
    found: bool,
    /// The farthest from the truth of all frames that count as measured, in stated errors.
    worst: f64,
}

/// A stage of 8 to 16 beads, which nobody sees for 1 to 100 frames: they are dark, no numbers, saturated or noise. Meanwhile it jumps by
/// up to 40 pixels and turns by up to 2°, and in every second case half of its beads go out.
fn interrupt(case: u64) -> Outcome {
    let mut random = Random::new(77, case);
    let count = 8 + (case % 9) as usize;
    let beads = scattered(&mut random, count, [3000.0, 1000.0, 400.0][(case / 2 % 3) as usize]);
    let smooth = match case % 5 {
        0 => Smooth::Kalman { wander: None },
        1 => Smooth::Exponential { frames: 5.0 },
        _ => Smooth::None,
    };
    let options = options().with_smooth(smooth).with_rotation(case.is_multiple_of(3));
    let mut stage = stage_of(beads.clone(), 2 * case + 1, 0.002);
    let mut tracker = Tracker::new(view(&stage), &options).unwrap();
    let centre = middle(&tracker);
    let mut outcome = Outcome::default();
    let mut time = 0.0;
    let mut update = |tracker: &mut Tracker, frame: FrameView<'_>| {
        time += 0.01;
        *tracker.update(frame, time)
    };
    for _ in 0..12 {
        let [x, y, _] = stage.advance().displacement;
        let drift = update(&mut tracker, view(&stage));
        assert_eq!(drift.status, FrameStatus::Measured, "case {case}");
        outcome.worst = outcome.worst.max(off(&drift, [x, y]));
    }
    let jump = 40.0 * random.uniform();
    let way = std::f64::consts::TAU * random.uniform();
    let shift = [jump * way.cos(), jump * way.sin()];
    let angle = (4.0 * random.uniform() - 2.0).to_radians();
    let dark = 1 + (random.uniform() * 100.0) as usize;
    let (empty, full) = (vec![100u16; WIDTH * HEIGHT], vec![u16::MAX; WIDTH * HEIGHT]);
    let nothing = vec![f32::NAN; WIDTH * HEIGHT];
    for _ in 0..dark {
        let noise: Vec<u16>;
        let frame = match case % 4 {
            0 => FrameView::u16(WIDTH, HEIGHT, &empty),
            1 => FrameView::f32(WIDTH, HEIGHT, &nothing),
            2 => FrameView::u16(WIDTH, HEIGHT, &full),
            _ => {
                // Drawing each pixel's own would be the most of the test.
                let from = (random.uniform() * 1000.0) as usize;
                noise = (0..WIDTH * HEIGHT).map(|at| 100 + hash(at + 7919 * from) % 60).collect();
                FrameView::u16(WIDTH, HEIGHT, &noise)
            }
        };
        let drift = update(&mut tracker, frame);
        assert_ne!(drift.status, FrameStatus::Measured, "case {case}: {drift:?}");
    }
    let after = beads.iter().map(|bead| {
        let [x, y] = moved([bead.x, bead.y], angle, shift);
        let is_gone = case % 2 == 1 && random.uniform() < 0.5;
        StageBead::new(x, y, if is_gone { 0.0 } else { bead.signal })
    });
    let mut stage = stage_of(after.collect(), 2 * case + 2, 0.002);
    let at = moved(centre, angle, shift);
    let mut seen = 0;
    for _ in 0..26 {
        let [x, y, _] = stage.advance().displacement;
        let drift = update(&mut tracker, view(&stage));
        if drift.status == FrameStatus::Measured {
            let wrong = off(&drift, [at[0] - centre[0] + x, at[1] - centre[1] + y]);
            if wrong > SIX {
                println!("case {case}: jump {shift:.1?}, {angle:.3}, {dark} dark: {drift:?}");
            }
            outcome.worst = outcome.worst.max(wrong);
            outcome.found |= seen < 20;
        }
        seen += usize::from(stage.seen().iter().filter(|bead| is_visible(bead)).count() >= 4);
    }
    outcome.counts = seen >= 20;
    outcome
}

/// Bits that look like chance.
fn hash(at: usize) -> u16 {
    let mixed = (at as u64 ^ (at as u64 >> 7)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as u16
}

/// Proves that after an interruption no frame counts as measured whose drift is more than 6 stated errors off, and that the beads are
/// found again within 20 frames in which at least four of them are visible, in 98 % of all cases. Some cases tell whether half of the
/// old beads are asked for, or whether any are: then most of them are wrong.
#[test]
fn beads_are_found_again_or_nothing_is_measured() {
    let cases = if nightly() || thorough() { 200 } else { 24 };
    let outcomes: Vec<Outcome> = (0..cases).map(interrupt).collect();
    let wrong: Vec<(usize, f64)> = outcomes
        .iter()
        .map(|outcome| outcome.worst)
        .enumerate()
        .filter(|(_, off)| *off > SIX)
        .collect();
    let counted: Vec<_> =
        outcomes.iter().enumerate().filter(|(_, outcome)| outcome.counts).collect();
    let missed: Vec<usize> =
        counted.iter().filter(|(_, outcome)| !outcome.found).map(|(case, _)| *case).collect();
    println!(
        "{cases} interruptions: {} wrong {wrong:.1?}, {} of {} not found {missed:?}",
        wrong.len(),
        missed.len(),
        counted.len()
    );
    assert!(wrong.is_empty(), "{wrong:.1?}");
    assert!(counted.len() * 10 > cases as usize * 8, "{}", counted.len());
    assert!(missed.len() * 50 <= counted.len(), "{missed:?}");
}

/// A stage of a regular grid of beads that goes on beyond the frame, or not.
fn grid(shift: [f64; 2], goes_on: bool) -> Stage {
    let cells = if goes_on { -4..14 } else { 2..6 };
    let place = |column: i32, row: i32| {
        let [x, y] = [column, row].map(|cell| 24.0 * f64::from(cell) + 20.3);
        StageBead::new(x + shift[0], y + shift[1], 2000.0)
    };
    let beads = cells.clone().flat_map(|row| cells.clone().map(move |column| (column, row)));
    stage_of(beads.map(|(column, row)| place(column, row)).collect(), 5, 0.0)
}

/// Proves that a grid which moved by a whole spacing is not taken for one that stands still, nor the reverse: where the grid goes on, it
/// is lost after a dark frame, and one whose beads are all seen again is found. Also without a dark frame, if beads went out of the grid.
#[test]
fn a_regular_grid_is_not_mistaken() {
    let dark = vec![100u16; WIDTH * HEIGHT];
    for goes_on in [false, true] {
        for shift in [[0.0, 0.0], [24.0, 0.0], [0.0, -24.0], [24.0, 24.0], [13.0, 5.0]] {
            // After the last number of frames all beads are lost, and looked for in every fourth frame.
            for frames in [0, 1, 24] {
                if frames == 0 && goes_on && shift[0] != 13.0 {
                    // The next frame is the last one: nobody can know.
                    continue;
                }
                let before = grid([0.0; 2], goes_on);
                let mut tracker = Tracker::new(view(&before), &options()).unwrap();
                assert_eq!(tracker.update(view(&before), 0.0).status, FrameStatus::Measured);
                for _ in 0..frames {
                    tracker.update(FrameView::u16(WIDTH, HEIGHT, &dark), 0.0);
                }
                let mut after = grid(shift, goes_on);
                let mut last = String::new();
                for _ in 0..5 {
                    after.advance();
                    let drift = *tracker.update(view(&after), 0.0);
                    let wrong = drift.status == FrameStatus::Measured && off(&drift, shift) > SIX;
                    assert!(!wrong, "{goes_on} {shift:?} {frames}: {drift:?}");
                    last = drift.status.name().to_owned();
                }
                let expected = if goes_on { "lost" } else { "measured" };
                assert_eq!(last, expected, "{goes_on} {shift:?} after {frames} dark frames");
            }
        }
    }
}

/// Proves that beads which bleach one after the other leave a drift that is measured as long as one is there, and right; that one which
/// went out while nothing was seen is no hindrance; and that three or fewer beads are followed after dark frames if all are where they
/// were, and lost if they are not there.
#[test]
fn few_beads_are_enough_where_nothing_jumps() {
    let mut random = Random::new(78, 1);
    let mut beads = scattered(&mut random, 10, 2000.0);
    for (number, bead) in beads.iter_mut().enumerate().skip(1) {
        bead.fate = BeadFate::Bleaches { from: 20 * number as u64, frames: 20.0 };
    }
    let mut stage = stage_of(beads, 3, 0.01);
    let mut tracker = Tracker::new(view(&stage), &options()).unwrap();
    for frame in 0..400 {
        let [x, y, _] = stage.advance().displacement;
        let drift = *tracker.update(view(&stage), 0.0);
        assert_eq!(drift.status, FrameStatus::Measured, "frame {frame}: {drift:?}");
        assert!(off(&drift, [x, y]) < SIX, "frame {frame}: {drift:?}");
    }
    assert!(tracker.drift().beads <= 2, "{:?}", tracker.drift());
    let dark = vec![100u16; WIDTH * HEIGHT];
    for count in 1..=3 {
        let beads = scattered(&mut random, count, 2000.0);
        // Others of the same light, which are no beads of the reference, are there later.
        let mut others = scattered(&mut random, 12, 2000.0);
        others.retain(|other| {
            beads.iter().all(|bead| (bead.x - other.x).hypot(bead.y - other.y) > 16.0)
        });
        let mut stage = stage_of(beads.clone(), 4, 0.0);
        let mut tracker = Tracker::new(view(&stage), &options()).unwrap();
        for _ in 0..3 {
            stage.advance();
            assert_eq!(tracker.update(view(&stage), 0.0).status, FrameStatus::Measured);
        }
        let mut stages =
            [stage_of(others.clone(), 6, 0.0), stage_of([beads, others].concat(), 5, 0.0)];
        for (after, expected) in [(1, "measured"), (0, "lost"), (1, "measured")] {
            let after = &mut stages[after];
            let held = tracker.update(FrameView::u16(WIDTH, HEIGHT, &dark), 0.0).status;
            assert_ne!(held, FrameStatus::Measured, "{count} beads");
            for _ in 0..8 {
                after.advance();
                tracker.update(view(after), 0.0);
            }
            let drift = tracker.drift();
            assert_eq!(drift.status.name(), expected, "{count} beads: {drift:?}");
            if expected == "measured" {
                assert!(off(drift, [0.0; 2]) < SIX, "{count} beads: {drift:?}");
            }
        }
    }
}
