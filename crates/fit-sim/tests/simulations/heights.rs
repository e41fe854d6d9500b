//! Proves that molecules have the heights of their structures, and that everything drifts along z.

use std::f64::consts::TAU;

use fit_sim::{
    Defocus, Heights, MovieSimulation, MovieTruth, SimulatedBead, SimulationError, SpotShape,
    Structure,
};

fn defocus() -> Defocus {
    Defocus::default()
}

fn movie() -> MovieSimulation {
    MovieSimulation::new(48, 40, 60)
        .with_molecules(400)
        .with_shape(SpotShape::Defocused(defocus()))
        .with_beads(vec![SimulatedBead { x: 9.0, y: 30.0, signal: 5000.0 }])
}

fn truth(simulation: &MovieSimulation) -> Vec<MovieTruth> {
    let frames = simulation.frames;
    let mut plan = simulation.clone().plan().expect("the simulation is sound");
    let piece = plan.piece(0..frames);
    (0..frames).flat_map(|frame| piece.truth(frame)).collect()
}

/// Proves that a line ascends over the whole range of z, that a ring is tilted along y, that beads stay where they are, and
/// that molecules are at the same places and glow in the same frames whatever their heights.
#[test]
fn structures_have_heights() {
    let (line, ring) = (([4.0, 36.0], [44.0, 16.0]), ([20.0, 12.0], 8.0));
    for structure in [Structure::Line(line.0, line.1), Structure::Ring(ring.0, ring.1)] {
        let random = movie().with_structures(vec![structure]);
        let random_truth = truth(&random);
        let followed = truth(&random.with_heights(Heights::Structure));
        assert_eq!(followed.len(), random_truth.len());
        let (mut lowest, mut highest) = (f64::MAX, f64::MIN);
        for (spot, other) in followed.iter().zip(&random_truth) {
            assert_eq!((spot.shape.x, spot.shape.y), (other.shape.x, other.shape.y));
            assert_eq!((spot.frame, spot.signal), (other.frame, other.signal));
            if spot.molecule == 400 {
                assert_eq!(spot, other, "beads are on no structure");
                continue;
            }
            let share = match structure {
                Structure::Line(from, to) => {
                    2.0 * (spot.shape.x - from[0]) / (to[0] - from[0]) - 1.0
                }
                _ => (spot.shape.y - ring.0[1]) / ring.1,
            };
            assert!((spot.z - 500.0 * share).abs() < 1e-9, "{} at {share}", spot.z);
            assert_eq!([spot.sigma_x, spot.sigma_y], defocus().widths(1.3, spot.z));
            (lowest, highest) = (lowest.min(spot.z), highest.max(spot.z));
        }
        assert!(lowest < -450.0 && highest > 450.0, "{lowest} to {highest}");
    }
}

/// Proves that the stage and the drift move every molecule and bead alike, also with the heights of structures, and that
/// the widths follow.
#[test]
fn everything_drifts_along_z() {
    for heights in [Heights::Random, Heights::Structure] {
        let still = movie().with_heights(heights);
        let moving = still.clone().with_stage(120.0).with_drift_z(-3.5).with_drift([0.1, 0.0]);
        let (still, moving) = (truth(&still), truth(&moving));
        assert!(still.len() == moving.len() && still.len() > 100);
        for (before, after) in still.iter().zip(&moving) {
            let frame = before.frame as f64;
            assert!((after.z - before.z - 120.0 + 3.5 * frame).abs() < 1e-9);
            assert!((after.shape.x - before.shape.x - 0.1 * frame).abs() < 1e-9);
            assert_eq!([after.sigma_x, after.sigma_y], defocus().widths(1.3, after.z));
        }
    }
}

/// Proves that pixels show the widths of the truth: a bead that goes through focus is brightest there.
#[test]
fn frames_show_the_drift() {
    let bead = vec![SimulatedBead { x: 24.0, y: 20.0, signal: 1e5 }];
    let shape = SpotShape::Defocused(defocus().with_z_range(0.0).with_focus(0.0));
    let stack = movie().with_frames(41).with_molecules(0).with_beads(bead).with_shape(shape);
    let mut plan = stack.with_stage(800.0).with_drift_z(-40.0).plan().expect("a sound stack");
    let frames = plan.piece(0..41).frames();
    let peak = |frame: usize| f64::from(frames[(frame, 20, 24)]);
    assert!(peak(20) > 4.0 * peak(0) && peak(20) > 4.0 * peak(40));
    let background = 120.0;
    for (frame, z) in [(0, 800.0f64), (10, 400.0), (20, 0.0), (35, -600.0)] {
        let expected = 1e5 / (TAU * 1.69 * (1.0 + (z / 400.0).powi(2))) + background;
        let off = (peak(frame) - expected) / expected.sqrt();
        assert!(off.abs() < 5.0, "{frame}: {} is not {expected}", peak(frame));
    }
}

/// Proves that a drift or a stage is refused by name where spots have no height, or where they would lose their shape.
#[test]
fn senseless_heights_are_refused() {
    let flat = || MovieSimulation::new(48, 40, 60);
    let cases = [
        (flat().with_drift_z(1.0), "drift_z"),
        (flat().with_stage(1.0), "stage"),
        (movie().with_drift_z(f64::NAN), "drift_z"),
        (movie().with_drift_z(2e4), "drift_z"),
        (movie().with_drift_z(1e3), "drift_z"),
        (movie().with_stage(-5e4), "stage"),
        (movie().with_stage(f64::INFINITY), "stage"),
    ];
    for (simulation, expected) in cases {
        match simulation.validate() {
            Err(SimulationError::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    movie().with_stage(-700.0).with_drift_z(20.0).validate().expect("a sound movie");
    flat().with_heights(Heights::Structure).validate().expect("heights that have no effect");
}
