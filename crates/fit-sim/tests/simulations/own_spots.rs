//! Proves that frames have spots of their own at the density asked for, anywhere or on structures.

use fit_sim::recipes::{FrameRecipe, LookRecipe, MovieRecipe, RecipeError, ShapeWord};
use fit_sim::{Heights, MovieSimulation, MovieTruth};

const FRAMES: usize = 400;

/// 400 frames of 6.4 × 4.8 µm.
fn movie() -> MovieRecipe {
    let frame = FrameRecipe::default().with_width(64).with_height(48);
    MovieRecipe::default().with_frame(frame).with_frames(FRAMES).with_density(Some(1.5))
}

/// The truth of each frame.
fn truth(recipe: &MovieRecipe) -> Vec<Vec<MovieTruth>> {
    let mut plan = recipe.simulation().and_then(|movie| Ok(movie.plan()?)).expect("a sound recipe");
    let piece = plan.piece(0..recipe.frames);
    (0..recipe.frames).map(|frame| piece.truth(frame).collect()).collect()
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    numbers.clone().sum::<f64>() / numbers.count() as f64
}

/// Proves that the number of spots in a frame is Poisson with the density's mean, that they lie evenly over the frame, its edges and
/// those of its pixels included, that frames have nothing to do with each other, and that a spot has all its photons.
#[test]
fn spots_are_uniform_and_independent() {
    let frames = truth(&movie().with_uniform(true).with_photons(700.0));
    let counts: Vec<f64> = frames.iter().map(|spots| spots.len() as f64).collect();
    let expected = 1.5 * 6.4 * 4.8;
    let average = mean(counts.iter().copied());
    // Four standard errors.
    let error = (expected / FRAMES as f64).sqrt();
    assert!((average - expected).abs() < 4.0 * error, "{average} of {expected}");
    let variance = mean(counts.iter().map(|count| (count - average).powi(2)));
    let ratio = variance / expected;
    assert!((ratio - 1.0).abs() < 4.0 * (2.0 / FRAMES as f64).sqrt(), "{ratio}");
    let next = counts.windows(2).map(|pair| (pair[0] - average) * (pair[1] - average));
    let correlation = mean(next) / variance;
    assert!(correlation.abs() < 4.0 / (FRAMES as f64).sqrt(), "{correlation}");

    let mut cells = [[0.0; 8]; 6];
    for spot in frames.iter().flatten() {
        let (x, y) = ((spot.shape.x + 0.5) / 8.0, (spot.shape.y + 0.5) / 8.0);
        assert!((0.0..8.0).contains(&x) && (0.0..6.0).contains(&y), "{x}, {y}");
        cells[y as usize][x as usize] += 1.0;
        assert_eq!((spot.signal, spot.sigma_x), (700.0, 1.3));
    }
    let each = counts.iter().sum::<f64>() / 48.0;
    let chi2: f64 = cells.iter().flatten().map(|count| (count - each).powi(2) / each).sum();
    // χ² of 47 degrees of freedom, within four standard deviations.
    assert!((chi2 - 47.0).abs() < 4.0 * 94f64.sqrt(), "{chi2}");

    let numbers: Vec<usize> = frames.iter().flatten().map(|spot| spot.molecule).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len()), "each spot is a molecule of its own");
}

/// Proves that without `uniform` such spots lie on the lines and rings on which molecules blink, in the same number, that with it molecules
/// that blink lie anywhere, and that neither needs the other.
#[test]
fn places_and_blinking_are_separate() {
    let own = truth(&movie());
    let blinking = truth(&movie().with_density(None).with_frames(1).with_spots(3000.0));
    let near = |spot: &MovieTruth| {
        let (x, y) = (spot.shape.x, spot.shape.y);
        let distance = |other: &MovieTruth| (other.shape.x - x).hypot(other.shape.y - y);
        blinking[0].iter().map(distance).fold(f64::MAX, f64::min)
    };
    assert!(own.iter().flatten().all(|spot| near(spot) < 1.0), "all are on structures");
    let uniform = truth(&movie().with_uniform(true));
    let counts = |frames: &[Vec<MovieTruth>]| frames.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(counts(&own), counts(&uniform));
    let anywhere = movie().with_density(None).with_uniform(true).with_spots(30.0);
    let spots = truth(&anywhere);
    let far = spots.iter().flatten().filter(|spot| near(spot) > 3.0).count();
    assert!(far > 1000, "{far}");
    let glows = |spot: &MovieTruth| (spot.frame, spot.molecule);
    assert!(spots.windows(2).any(|pair| pair[0].iter().any(|spot| {
        pair[1].iter().any(|next| glows(next) == (spot.frame + 1, spot.molecule))
    })));
}

/// Proves that a frame and its truth do not depend on the piece in which they are made, nor on frames that were made before, and that
/// beads are numbered before all spots.
#[test]
fn frames_do_not_depend_on_pieces() {
    let recipe = movie().with_frames(50).with_uniform(true).with_beads(2);
    let whole = truth(&recipe);
    let mut plan = recipe.simulation().unwrap().plan().unwrap();
    let pixels = plan.piece(0..50).frames();
    let spots: usize = whole.iter().map(|frame| frame.len() - 2).sum();
    assert_eq!(plan.molecules(), spots);
    for frames in [20..33, 7..8, 40..50, 3..20, 50..60] {
        let piece = plan.piece(frames.clone());
        for frame in frames.clone() {
            let found: Vec<MovieTruth> = piece.truth(frame).collect();
            let beads: Vec<usize> = found.iter().rev().take(2).map(|bead| bead.molecule).collect();
            assert_eq!(beads, [1, 0]);
            match whole.get(frame) {
                Some(expected) => assert_eq!(&found, expected),
                None => assert_eq!(found.len(), 2, "the movie has ended"),
            }
        }
        if frames.end <= 50 {
            assert_eq!(piece.frames(), pixels.slice(ndarray::s![frames, .., ..]));
        }
    }
}

/// Proves that pieces hold fewer frames where these are crowded, and that the density counts there.
#[test]
fn pieces_of_crowds_are_short() {
    let length = |density| {
        let movie = movie().with_density(Some(density)).with_uniform(true).simulation().unwrap();
        movie.plan().unwrap().piece_length()
    };
    assert_eq!(length(1.0), 64);
    assert!((1..64).contains(&length(5e3)), "{}", length(5e3));
}

/// Proves that what makes no sense is refused by its name.
#[test]
fn senseless_densities_are_refused() {
    let option = |recipe: MovieRecipe| match recipe.simulation() {
        Err(RecipeError::Option { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    for density in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
        assert_eq!(option(movie().with_density(Some(density))), "density");
    }
    assert_eq!(option(movie().with_frames(1_000_000_000)), "density");
    assert_eq!(option(movie().with_pixel_size(0.0)), "pixel_size");
    let look = LookRecipe::default().with_shape(ShapeWord::Defocused);
    let flat = movie().with_look(look).with_heights(Some(Heights::Structure)).with_uniform(true);
    assert!(matches!(flat.simulation(), Err(RecipeError::Conflict(..))));
    let simulation = MovieSimulation::new(64, 48, 9).with_own_spots(Some(-1.0));
    assert!(simulation.validate().is_err());
}
