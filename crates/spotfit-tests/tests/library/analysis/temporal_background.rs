//! The background over time, in hazy movies whose truth is known.

use std::sync::Arc;

use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_sim::{MovieTruth, SimulatedCamera};
use ndarray::{Array2, Array3};
use spotfit::localize::{Emitters, Localization, LocalizeOptions, Localizer, Positions};
use spotfit::movie::{Block, Pixels};
use spotfit::{Background, Camera, CameraMap, Estimator, FitterOptions, Options};

use crate::common::nightly;

const SIDE: usize = 96;
/// The frames of a movie, but for those where all spots are fitted together, which take long.
const FRAMES: usize = 150;
/// A spot is found if a localization is so near, in pixels.
const NEAR: f64 = 2.5;

struct Movie {
    frames: Array3<u16>,
    truth: Vec<Vec<MovieTruth>>,
    camera: Camera,
}

/// A movie in haze, with spots that each frame has for itself.
fn hazy(frames: usize, photons: f64, em_gain: Option<f64>, seed: u64) -> Movie {
    let camera = SimulatedCamera::default()
        .with_baseline(100.0)
        .with_read_noise(1.5)
        .with_em_gain(em_gain)
        .with_gain(if em_gain.is_some() { 0.1 } else { 1.0 });
    let frame = FrameRecipe::default()
        .with_width(SIDE)
        .with_height(SIDE)
        .with_background(10.0)
        .with_unevenness(0.0)
        .with_camera(camera)
        .with_seed(seed);
    let recipe = MovieRecipe::default()
        .with_frame(frame)
        .with_frames(frames)
        .with_density(Some(0.08))
        .with_uniform(true)
        .with_photons(photons)
        .with_haze(150.0);
    let mut plan = recipe.simulation().expect("a sound recipe").plan().expect("a sound simulation");
    let piece = plan.piece(0..frames);
    let truth = (0..frames).map(|frame| piece.truth(frame).collect()).collect();
    let sensitivity = if em_gain.is_some() { 10.0 } else { 1.0 };
    let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
    let camera = camera.with_sensitivity(sensitivity).with_em_gain(em_gain);
    Movie { frames: piece.frames(), truth, camera }
}

fn options(movie: &Movie, window: Option<usize>) -> LocalizeOptions {
    let fit = Options::default()
        .with_estimator(Estimator::MaximumLikelihood)
        .with_background(Background::Free);
    LocalizeOptions::default()
        .with_camera(movie.camera)
        .with_fitter(FitterOptions::from(fit))
        .with_errors(true)
        .with_temporal_background(window)
}

fn localized(movie: &Movie, options: LocalizeOptions) -> Vec<Localization> {
    let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound options");
    let block = Block { first: 0, pixels: Pixels::U16(movie.frames.clone()) };
    localizer.look_ahead(spotfit::AsWindows::windows(&block.pixels), None).expect("a width");
    let mut all = localizer.process(&block).expect("localizations");
    all.extend(localizer.finish().expect("localizations"));
    all
}

/// How good localizations are.
#[derive(Debug)]
struct Score {
    /// Spots that were found, of all that were found or are there, in percent.
    jaccard: f64,
    /// Of spots that are far from others and from the edge, in pixels.
    rmse: f64,
    /// Their errors over those stated: the root mean square, of x and y, and of photons.
    ratio: f64,
    photon_ratio: f64,
    /// The mean error of x and y in pixels, and of photons as a share.
    bias: f64,
    photon_bias: f64,
    /// The mean error of the background as a share.
    background_bias: f64,
}

fn score(movie: &Movie, found: &[Localization]) -> Score {
    let margin = 6.0..=SIDE as f64 - 7.0;
    let inside = |x: f64, y: f64| margin.contains(&x) && margin.contains(&y);
    let mut frames: Vec<Vec<&Localization>> = vec![Vec::new(); movie.truth.len()];
    found.iter().for_each(|spot| frames[spot.frame].push(spot));
    let (mut hits, mut there, mut false_ones) = (0.0, 0.0, 0.0);
    let (mut count, mut squares, mut normal, mut photon_normal) = (0.0, 0.0, 0.0, 0.0);
    let (mut offs, mut photons, mut background) = (0.0, 0.0, 0.0);
    for (spots, truth) in frames.iter().zip(&movie.truth) {
        let distance =
            |spot: &Localization, of: &MovieTruth| (spot.x - of.shape.x).hypot(spot.y - of.shape.y);
        for spot in spots.iter().filter(|spot| inside(spot.x, spot.y)) {
            let near = truth.iter().any(|of| distance(spot, of) < NEAR);
            false_ones += if near { 0.0 } else { 1.0 };
        }
        for of in truth.iter().filter(|of| inside(of.shape.x, of.shape.y)) {
            there += 1.0;
            let nearest = spots
                .iter()
                .filter(|spot| distance(spot, of) < NEAR)
                .min_by(|a, b| distance(a, of).total_cmp(&distance(b, of)));
            let Some(spot) = nearest else { continue };
            hits += 1.0;
            let lonely = |other: &&MovieTruth| {
                (other.shape.x - of.shape.x).hypot(other.shape.y - of.shape.y) < 10.0
            };
            if truth.iter().filter(lonely).count() > 1 {
                continue;
            }
            let [x, y] = [spot.x - of.shape.x, spot.y - of.shape.y];
            let errors = spot.errors.as_ref().expect("errors");
            count += 1.0;
            squares += x * x + y * y;
            normal += (x / spot.uncertainty_x).powi(2) + (y / spot.uncertainty_y).powi(2);
            photon_normal += ((spot.intensity - of.signal) / errors.photons).powi(2);
            offs += x + y;
            photons += spot.intensity / of.signal - 1.0;
            background += spot.offset / of.background - 1.0;
        }
    }
    assert!(count > 200.0, "{count} spots");
    Score {
        jaccard: 100.0 * hits / (there + false_ones),
        rmse: (squares / (2.0 * count)).sqrt(),
        ratio: (normal / (2.0 * count)).sqrt(),
        photon_ratio: f64::sqrt(photon_normal / count),
        bias: offs / (2.0 * count),
        photon_bias: photons / count,
        background_bias: background / count,
    }
}

/// Proves that haze that is known over time costs neither spots nor accuracy: more are found than without, they lie nearer to the truth,
/// their errors are those stated, and position, photons and background have no bias; with EM gain, too.
#[test]
fn haze_that_is_known_is_no_harm() {
    for (photons, em_gain) in [(1000.0, None), (2000.0, Some(100.0))] {
        let movie = hazy(FRAMES, photons, em_gain, 5);
        let without = score(&movie, &localized(&movie, options(&movie, None)));
        let with = score(&movie, &localized(&movie, options(&movie, Some(51))));
        println!("{photons} photons, gain {em_gain:?}\n without: {without:?}\n with:    {with:?}");
        assert!(with.jaccard > without.jaccard && with.jaccard > 95.0, "{with:?}");
        assert!(with.rmse < without.rmse, "{with:?}");
        assert!((0.95..1.1).contains(&with.ratio), "{with:?}");
        assert!((0.9..1.1).contains(&with.photon_ratio), "{with:?}");
        assert!(with.bias.abs() < 0.02 && with.photon_bias.abs() < 0.02, "{with:?}");
        assert!(with.background_bias.abs() < 0.02, "{with:?}");
    }
}

/// Proves that spots are found in known haze also where all of a frame are fitted together. By night also that without knowing it no more
/// of them are found.
#[test]
fn known_haze_goes_with_crowds() {
    let movie = hazy(if nightly() { FRAMES } else { 100 }, 1000.0, None, 7);
    let auto = |window| {
        let options = options(&movie, window).with_emitters(Emitters::Auto);
        score(&movie, &localized(&movie, options))
    };
    let with = auto(Some(51));
    println!(" with:    {with:?}");
    assert!(with.jaccard > 97.0, "{with:?}");
    if nightly() {
        let without = auto(None);
        println!(" without: {without:?}");
        assert!(with.jaccard >= without.jaccard, "{without:?}, {with:?}");
    }
    // Two errors of each of four spots in a frame: the ratio is known to 1/√1600 = 2.5 %, and to 2 % in a night.
    let least = if nightly() { 0.95 } else { 0.93 };
    assert!((least..1.1).contains(&with.ratio), "{with:?}");
    assert!((0.9..1.1).contains(&with.photon_ratio), "{with:?}");
    assert!(with.photon_bias.abs() < 0.02 && with.background_bias.abs() < 0.02, "{with:?}");
}

/// Proves that known haze goes with least squares, with given positions and with the maps of a camera: spots lie nearer to the truth than
/// without, by at least a quarter, and photons have no bias.
#[test]
fn known_haze_goes_with_every_way() {
    let movie = hazy(FRAMES, 1000.0, None, 9);
    let mut positions = Positions::default();
    for (frame, spots) in movie.truth.iter().enumerate() {
        spots.iter().for_each(|spot| positions.push(frame, spot.shape.x, spot.shape.y));
    }
    let of = |value: f32| Array2::from_elem((SIDE, SIDE), value);
    let map = CameraMap::new(of(100.0).view(), of(1.0).view(), of(2.25).view()).expect("maps");
    let map = Arc::new(map);
    let fit = Options::default().with_background(Background::Free);
    type Way<'a> = &'a dyn Fn(LocalizeOptions) -> LocalizeOptions;
    let ways: [(&str, Way<'_>); 3] = [
        ("least squares", &|options| options.with_fitter(FitterOptions::from(fit))),
        ("positions", &|options| options.with_positions(Some(positions.clone()))),
        ("maps", &|options| options.with_camera(Camera::default()).with_map(Some(map.clone()))),
    ];
    for (name, way) in ways {
        let of = |window| score(&movie, &localized(&movie, way(options(&movie, window))));
        let (without, with) = (of(None), of(Some(51)));
        println!("{name}\n without: {without:?}\n with:    {with:?}");
        assert!(with.rmse < 0.75 * without.rmse, "{name}: {without:?}, {with:?}");
        assert!((0.9..1.15).contains(&with.ratio), "{name}: {with:?}");
        assert!(with.photon_bias.abs() < 0.03, "{name}: {with:?}");
    }
}
