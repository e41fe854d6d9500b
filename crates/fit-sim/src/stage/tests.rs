use super::*;

fn grid(count: usize) -> StageSimulation {
    StageSimulation::on_grid(160, 128, count, 1000.0, 3)
}

/// Proves that frames have the light of the beads at their displaced places, the background elsewhere, and nothing of earlier places.
#[test]
fn frames_show_the_beads_where_they_are() {
    let motion = StageMotion::default().with_step([9.0, -4.0, 0.0]).with_step_every(2);
    let mut stage = grid(6).with_motion(motion).stage().unwrap();
    let mut light = [0.0; 3];
    for frame in 0..40u64 {
        let truth = stage.advance();
        let there = if frame / 2 % 2 == 1 { [9.0, -4.0, 0.0] } else { [0.0; 3] };
        assert_eq!((truth.frame, truth.drift), (frame, there));
        let sum = |x: f64, y: f64| -> f64 {
            let (x, y) = (x.round() as usize, y.round() as usize);
            let rows = y - 6..=y + 6;
            let pixels =
                rows.flat_map(|row| &stage.pixels()[row * 160 + x - 6..=row * 160 + x + 6]);
            pixels.map(|&pixel| f64::from(pixel) - 105.0).sum()
        };
        let bead = stage.simulation().beads[2];
        let away = 9.0 - 2.0 * there[0];
        light[0] += sum(stage.seen()[2].place[0], stage.seen()[2].place[1]) / 40.0;
        // 18 pixels from where it is now.
        light[1] += sum(bead.x + 2.0 * away, bead.y + 4.0) / 40.0;
        light[2] += sum(20.0, 120.0) / 40.0;
    }
    // 169 pixels of 7.25 electrons² each, and 1000 photons.
    assert!((light[0] - 1000.0).abs() < 40.0, "{light:?}");
    assert!(light[1].abs() < 60.0, "{light:?}");
}

/// Proves that a walk, a velocity and an oscillation are what they say.
#[test]
fn the_stage_moves_as_told() {
    let motion = StageMotion::default()
        .with_walk([0.1, 0.0, 5.0])
        .with_velocity([0.0, 0.01, 0.0])
        .with_oscillation([0.0, 2.0, 0.0])
        .with_period(40.0);
    let defocus = Some(Defocus::default());
    let mut stage = grid(0).with_motion(motion).with_defocus(defocus).stage().unwrap();
    let (mut squares, mut last) = ([0.0; 3], [0.0; 3]);
    for frame in 0..4000u32 {
        let at = stage.advance().displacement;
        if frame == 0 {
            assert_eq!(at, [0.0; 3]);
        }
        let y =
            0.01 * f64::from(frame) + 2.0 * (std::f64::consts::TAU * f64::from(frame) / 40.0).sin();
        assert!((at[1] - y).abs() < 1e-9);
        for axis in 0..3 {
            squares[axis] += (at[axis] - last[axis]).powi(2) / 4000.0;
        }
        last = at;
    }
    assert!((squares[0].sqrt() - 0.1).abs() < 0.005 && (squares[2].sqrt() - 5.0).abs() < 0.25);
}

/// Proves that a command has its effect after the delay, within the range and in whole steps, and that numbers which are none change
/// nothing.
#[test]
fn commands_come_late_and_within_the_range() {
    let actuator = Actuator::default().with_range([1.0, 10.0, 1.0]).with_step([0.3, 0.0, 0.0]);
    for delay in 1..6 {
        let mut stage = grid(1).with_actuator(actuator).with_delay(delay).stage().unwrap();
        stage.advance();
        stage.command([5.0, -2.5, f64::NAN]);
        for later in 1..=delay {
            let at = stage.advance().actuator;
            let expected = if later == delay { [0.9, -2.5, 0.0] } else { [0.0; 3] };
            assert!(
                (0..3).all(|axis| (at[axis] - expected[axis]).abs() < 1e-12),
                "{delay}: {at:?}"
            );
        }
    }
}

/// Proves that beads blink, bleach, merge and float away as told, and that the truth says so.
#[test]
fn beads_have_their_fates() {
    let mut simulation = grid(4);
    simulation.beads[0].fate = BeadFate::Blinks { on: 30.0, off: 10.0 };
    simulation.beads[1].fate = BeadFate::Bleaches { from: 100, frames: 50.0 };
    simulation.beads[2].fate = BeadFate::Merges { from: 50, frames: 20.0 };
    simulation.beads[3].fate = BeadFate::Floats { from: 10, speed: 0.1 };
    let places: Vec<[f64; 2]> = simulation.beads.iter().map(|bead| [bead.x, bead.y]).collect();
    let mut stage = simulation.stage().unwrap();
    let mut on = 0;
    for frame in 0..2000 {
        stage.advance();
        let seen = stage.seen();
        on += usize::from(seen[0].signal > 0.0);
        assert_eq!(seen[0].sound, seen[0].signal > 0.0);
        assert_eq!(seen[2].sound, frame < 50);
        assert_eq!(seen[3].sound, frame < 10);
        if frame == 150 {
            assert!((seen[1].signal / 1000.0 - (-1.0f64).exp()).abs() < 1e-9 && !seen[1].sound);
            assert!(seen[3].place[0] - places[3][0] > 8.0);
        }
    }
    assert!((1300..1700).contains(&on), "{on}");
}

/// Proves that parameters out of their ranges are refused by name.
#[test]
fn senseless_stages_are_refused() {
    let mut dark = grid(2);
    dark.beads[1].signal = f64::NAN;
    let mut high = grid(2);
    high.beads[0].z = 5.0;
    let mut far = grid(2).with_defocus(Some(Defocus::default()));
    far.beads[0].z = 1e6;
    let motion = StageMotion::default();
    for (simulation, name) in [
        (grid(2).with_delay(0), "delay"),
        (grid(2).with_width(3), "width"),
        (grid(2).with_sigma(0.0), "sigma"),
        (grid(2).with_motion(motion.with_walk([-1.0, 0.0, 0.0])), "motion.walk"),
        (grid(2).with_actuator(Actuator::default().with_range([0.0, -1.0, 0.0])), "actuator.range"),
        (dark, "beads.signal"),
        (high, "beads.z"),
        (far, "beads.z"),
    ] {
        let error = simulation.stage().expect_err("refused").to_string();
        assert!(error.starts_with(name), "{error}");
    }
}
