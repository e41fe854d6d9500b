//! Movies and beads behind an objective, and molecules of different brightness.

use fit_sim::recipes::{BeadRecipe, FrameRecipe, LookRecipe, MovieRecipe, RecipeError, ShapeWord};
use fit_sim::{
    Heights, MovieSimulation, MovieTruth, Objective, SimulationError, SpotProfile, Zernike,
};

const FRAMES: usize = 40;

fn movie() -> MovieRecipe {
    let frame = FrameRecipe::default().with_width(48).with_height(40);
    let look = LookRecipe::default().with_z_range(Some(200.0));
    MovieRecipe::default()
        .with_frame(frame)
        .with_frames(FRAMES)
        .with_density(Some(2.0))
        .with_uniform(true)
        .with_look(look)
        .with_objective(Some(Objective::default()))
}

fn truth(simulation: MovieSimulation) -> Vec<MovieTruth> {
    let frames = simulation.frames;
    let mut plan = simulation.plan().expect("sound");
    let mut all = Vec::new();
    for first in (0..frames).step_by(plan.piece_length()) {
        let end = frames.min(first + plan.piece_length());
        let piece = plan.piece(first..end);
        all.extend((first..end).flat_map(|frame| piece.truth(frame)));
    }
    all
}

/// Proves that spots behind an objective lie within the range of heights, or in focus where none is said, and have its width; and that drift
/// along the axis moves them.
#[test]
fn heights_are_those_that_were_asked_for() {
    let spots = truth(movie().simulation().expect("sound"));
    assert!(spots.len() > 1000, "{}", spots.len());
    assert!(spots.iter().all(|spot| spot.z.abs() <= 200.0 && (spot.sigma_x - 1.02).abs() < 1e-9));
    let far = spots.iter().filter(|spot| spot.z.abs() > 100.0).count() as f64;
    assert!((far / spots.len() as f64 - 0.5).abs() < 0.06, "{far} of {}", spots.len());
    let flat = movie().with_look(LookRecipe::default());
    assert!(truth(flat.simulation().expect("sound")).iter().all(|spot| spot.z == 0.0));
    let moved = movie().with_look(LookRecipe::default()).with_drift_z(Some(3.0));
    let moved = truth(moved.simulation().expect("sound"));
    assert!(moved.iter().all(|spot| (spot.z - 3.0 * spot.frame as f64).abs() < 1e-9));
}

/// Proves that photons are log-normal with the mean and the spread that were asked for, and all the same without.
#[test]
fn molecules_differ_in_brightness() {
    let same = truth(movie().simulation().expect("sound"));
    assert!(same.iter().all(|spot| spot.signal == 1000.0));
    let spots = truth(movie().with_photons_spread(0.4).simulation().expect("sound"));
    let count = spots.len() as f64;
    let logs = || spots.iter().map(|spot| (spot.signal / 1000.0).ln());
    let mean = logs().sum::<f64>() / count;
    let spread = (logs().map(|log| (log - mean).powi(2)).sum::<f64>() / count).sqrt();
    let photons = spots.iter().map(|spot| spot.signal).sum::<f64>() / count;
    // Four standard errors.
    assert!((photons / 1000.0 - 1.0).abs() < 4.0 * 0.42 / count.sqrt(), "{photons}");
    assert!((spread - 0.4).abs() < 4.0 * 0.4 / (2.0 * count).sqrt(), "{spread}");
}

/// Proves that a stack of beads goes through the focus of an objective, from above to below.
#[test]
fn beads_go_through_the_focus() {
    let frame = FrameRecipe::default().with_width(64).with_height(64);
    let beads = BeadRecipe::default().with_frame(frame).with_beads(3).with_step(100.0);
    let beads = beads.with_range(400.0).with_objective(Some(Objective::default()));
    let spots = truth(beads.simulation().expect("sound"));
    assert_eq!(spots.len(), 27);
    for spot in &spots {
        let stage = 400.0 - 100.0 * spot.frame as f64;
        assert!((spot.z - stage).abs() <= 50.0, "{} in {}", spot.z, spot.frame);
    }
}

/// Proves that what makes no sense is refused by its name.
#[test]
fn senseless_objectives_are_refused() {
    let refused = |recipe: MovieRecipe| match recipe.simulation() {
        Err(
            RecipeError::Option { name, .. }
            | RecipeError::Simulation(SimulationError::Parameter { name, .. })
            | RecipeError::Conflict(_, name),
        ) => name,
        other => panic!("{other:?}"),
    };
    let objective = |objective: Objective| refused(movie().with_objective(Some(objective)));
    assert_eq!(objective(Objective::default().with_na(1.6)), "psf_na");
    assert_eq!(objective(Objective::default().with_wavelength(f64::NAN)), "wavelength");
    // Too much memory, and samples too far from each other.
    assert_eq!(objective(Objective::default().with_wavelength(1e5)), "pixel_size");
    assert_eq!(refused(movie().with_pixel_size(1000.0)), "pixel_size");
    let zernike = vec![Zernike::new(3, 2, 0.1)];
    assert_eq!(objective(Objective::default().with_zernike(zernike)), "zernike");
    assert_eq!(refused(movie().with_pixel_size(0.0)), "pixel_size");
    let look = |look: LookRecipe| refused(movie().with_look(look));
    assert_eq!(look(LookRecipe::default().with_shape(ShapeWord::Elliptical)), "`shape`");
    assert_eq!(look(LookRecipe::default().with_z_range(Some(1e5))), "z_range");
    assert_eq!(refused(movie().with_sigma_spread(Some(0.1))), "`sigma_spread`");
    assert_eq!(look(LookRecipe::default().with_profile(SpotProfile::Integrated)), "`profile`");
    assert_eq!(refused(movie().with_drift_z(Some(1e3))), "drift");
    let flat = movie().with_look(LookRecipe::default()).with_uniform(false);
    assert_eq!(refused(flat.with_heights(Some(Heights::Structure))), "z_range");
    assert_eq!(refused(movie().with_photons_spread(3.0)), "photons_spread");
}
