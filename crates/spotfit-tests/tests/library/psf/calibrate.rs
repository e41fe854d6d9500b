//! Calibrations of simulated beads.

use ndarray::Array3;
use spotfit::psf::{
    BeadStack, PlacedBead, PsfBead, PsfCalibration, PsfCalibrationOptions, Rejection, calibrate_psf,
};

use super::simulated::{ASTIGMATIC, COMATIC, Stacks};

fn used(outcome: &PsfBead) -> &PlacedBead {
    match outcome {
        PsfBead::Used(bead) => bead,
        PsfBead::Rejected(rejection) => panic!("rejected: {}", rejection.name()),
    }
}

/// The largest distance of the beads from where they are, in x, y (px) and z (nm), beyond the mean.
fn farthest(found: &PsfCalibration, places: &[[f64; 3]]) -> [f64; 3] {
    let mut all = Vec::new();
    for (outcome, place) in found.outcomes.iter().zip(places) {
        if let PsfBead::Used(bead) = outcome {
            let [x, y] = bead.place;
            all.push([x - place[0], y - place[1], bead.height - place[2]]);
        }
    }
    std::array::from_fn(|j| {
        let mean = all.iter().map(|off| off[j]).sum::<f64>() / all.len() as f64;
        all.iter().fold(0.0_f64, |most, off| most.max((off[j] - mean).abs()))
    })
}

/// Proves that beads with a PSF without any symmetry, which drift and whose heights differ by more than the depth of focus,
/// are found where they are, and that their residuals are noise.
#[test]
fn beads_are_where_they_are() {
    let stacks = Stacks { drift: 0.3, beads: 10, ..Stacks::new(COMATIC) };
    let (beads, places) = stacks.make();
    let found = calibrate_psf(&beads, &PsfCalibrationOptions::default()).expect("a PSF");
    assert!(found.converged, "{} rounds", found.rounds);
    assert_eq!(found.used(), 10);
    let [x, y, z] = farthest(&found, &places);
    assert!(x < 0.01 && y < 0.01 && z < 4.0, "{x} {y} {z}");
    // 5000 coefficients are fitted to 100,000 pixels: a little noise goes into them.
    assert!((0.93..1.0).contains(&found.misfit), "{}", found.misfit);
    let [low, high] = found.psf.range();
    assert!((1250.0..=1400.0).contains(&(high - low)), "{low} to {high}");
    for outcome in &found.outcomes {
        let background = &used(outcome).background;
        let mean = background.iter().sum::<f64>() / background.len() as f64;
        assert!((mean - 10.0).abs() < 3.0, "{mean}");
    }
}

/// Proves that clusters, neighbours, dark boxes, beads at the edge of their box, those that lie far from the others in z,
/// and pixels that are no numbers are left out, each for its reason, and that the others are found as well as without them.
#[test]
fn beads_that_are_none_are_rejected() {
    let (mut beads, places) = Stacks::new(ASTIGMATIC).make();
    let (others, _) = Stacks { seed: 5, beads: 3, ..Stacks::new(ASTIGMATIC) }.make();
    // Two beads beside each other.
    let mut shifted = others[0].stack.clone();
    for ((slice, row, column), value) in shifted.indexed_iter_mut() {
        *value += others[1].stack[[slice, (row + 14) % 17, (column + 4) % 17]] - 10.0;
    }
    beads[1].stack = shifted;
    beads[3].stack.mapv_inplace(|_| 10.0);
    beads[5].stack[[7, 3, 3]] = f32::NAN;
    let source = others[2].stack.clone();
    for ((slice, row, column), value) in beads[7].stack.indexed_iter_mut() {
        *value = source[[slice, row, (column + 5) % 17]];
    }
    let found = calibrate_psf(&beads, &PsfCalibrationOptions::default()).expect("a PSF");
    let rejected = |bead: usize| match &found.outcomes[bead] {
        PsfBead::Rejected(rejection) => *rejection,
        PsfBead::Used(bead) => panic!("used, with {} times the noise", bead.misfit),
    };
    assert!(matches!(rejected(1), Rejection::Misfit | Rejection::Profile | Rejection::OffCentre));
    assert_eq!(rejected(3), Rejection::Dim);
    assert_eq!(rejected(5), Rejection::NotFinite);
    assert_eq!(rejected(7), Rejection::OffCentre);
    assert_eq!(found.used(), 8);
    let [x, y, z] = farthest(&found, &places);
    assert!(x < 0.01 && y < 0.01 && z < 4.0, "{x} {y} {z}");
}

/// Proves that what is asked for without sense is refused with the reason.
#[test]
fn nonsense_is_refused() {
    let stacks = Stacks { beads: 4, side: 9, step: 100.0, ..Stacks::new(ASTIGMATIC) };
    let (good, _) = stacks.make();
    let refused = |change: &dyn Fn(&mut Vec<BeadStack>, &mut PsfCalibrationOptions)| {
        let (mut beads, mut options) = (good.clone(), PsfCalibrationOptions::default());
        change(&mut beads, &mut options);
        calibrate_psf(&beads, &options).expect_err("refused").to_string()
    };
    let says = |text: String, what: &str| assert!(text.contains(what), "{text}");
    says(refused(&|beads, _| beads.clear()), "0 of 0 beads");
    says(refused(&|beads, _| beads.truncate(2)), "2 of 2 beads");
    says(refused(&|_, options| options.step = 0.0), "the step in z is 0");
    says(refused(&|_, options| options.step = f64::NAN), "the step in z is NaN");
    says(refused(&|_, options| options.rounds = 0), "rounds");
    says(refused(&|_, options| options.worst = 1.0), "worst");
    says(refused(&|_, options| options.step = 900.0), "2700 nm are needed");
    says(refused(&|beads, _| beads[2].heights.truncate(5)), "bead 2: 5 heights");
    says(refused(&|beads, _| beads[1].heights[3] = f64::INFINITY), "bead 1: the height of slice 3");
    says(refused(&|beads, _| beads[1].stack = Array3::zeros((15, 9, 8))), "bead 1: its box of 8×9");
    says(
        refused(&|beads, _| {
            for bead in beads {
                bead.stack = Array3::zeros((15, 5, 5));
            }
        }),
        "bead 0: a box of 5×5",
    );
    says(
        refused(&|beads, _| {
            for bead in beads {
                bead.stack.fill(7.0);
            }
        }),
        "bead 3: too dim",
    );
    // All slices at one height say nothing of z.
    says(refused(&|beads, _| beads.iter_mut().for_each(|bead| bead.heights.fill(0.0))), "beads");
    // Numbers of any size do no harm.
    for factor in [1e-30_f32, 1e30] {
        let mut beads = good.clone();
        beads.iter_mut().for_each(|bead| bead.stack.mapv_inplace(|value| value * factor));
        let _ = calibrate_psf(&beads, &PsfCalibrationOptions::default());
    }
}
