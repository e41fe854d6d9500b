//! Proves that spots that overlap are found together, whatever the camera, the blocks and the threads.

use std::sync::Arc;

use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_sim::{Maps, MovieSimulation, MovieTruth};
use spotfit::AsWindows;
use spotfit::localize::{
    Emitters, Flags, Localization, LocalizeError, LocalizeOptions, Localizer, Roi, Sigma,
    frames_for_sigma,
};
use spotfit::movie::{Block, Pixels};
use spotfit::ndarray::{Array3, s};
use spotfit::{
    Backend, Background, Camera, CameraMap, Elliptical, Estimator, FitterOptions, FixedSigma,
    Options, Shape,
};

const SIDE: usize = 48;

/// A movie of spots anywhere, so many per µm².
fn movie(density: f64, frames: usize, frame: FrameRecipe) -> MovieSimulation {
    let frame = frame.with_width(SIDE).with_height(SIDE).with_unevenness(0.3);
    let recipe = MovieRecipe::default().with_frame(frame).with_frames(frames);
    recipe.with_density(Some(density)).with_uniform(true).simulation().expect("a sound recipe")
}

fn made(simulation: MovieSimulation) -> (Array3<u16>, Vec<MovieTruth>) {
    let frames = simulation.frames;
    let mut plan = simulation.plan().expect("a sound simulation");
    let piece = plan.piece(0..frames);
    let truth = (0..frames).flat_map(|frame| piece.truth(frame)).collect();
    (piece.frames(), truth)
}

fn camera() -> Camera {
    Camera::default().with_baseline(100.0).with_read_noise(1.5)
}

fn fitted(shape: Shape) -> FitterOptions {
    let fit = Options::default().with_shape(shape).with_estimator(Estimator::MaximumLikelihood);
    FitterOptions::default().with_fit(fit)
}

/// Spots of 1.3 pixels that may overlap.
fn auto() -> LocalizeOptions {
    LocalizeOptions::default()
        .with_emitters(Emitters::Auto)
        .with_camera(camera())
        .with_fitter(fitted(Shape::fixed_sigma(1.3)))
        .with_checks(true)
        .with_errors(true)
}

/// Localizes a movie in blocks of so many frames.
fn localized(frames: &Array3<u16>, options: LocalizeOptions, block: usize) -> Vec<Localization> {
    let (count, height, width) = frames.dim();
    let mut localizer = Localizer::new((width, height), options).expect("sound options");
    let mut all = Vec::new();
    for first in (0..count).step_by(block) {
        let pixels = frames.slice(s![first..count.min(first + block), .., ..]).to_owned();
        let found = localizer.process(&Block { first, pixels: Pixels::U16(pixels) });
        all.extend(found.expect("frames of this size"));
    }
    assert_eq!(localizer.counts().kept, all.len());
    all
}

/// The spots and the localizations nearest to them, within 2 pixels and not within 4 pixels of the edge.
fn pairs<'a>(
    truth: &[MovieTruth],
    found: &'a [Localization],
) -> Vec<(MovieTruth, &'a Localization)> {
    let inside = |at: f64| (3.5..SIDE as f64 - 4.5).contains(&at);
    let counted = truth.iter().filter(|spot| inside(spot.shape.x) && inside(spot.shape.y));
    let nearest = |spot: &MovieTruth| {
        let distance = |own: &Localization| (own.x - spot.shape.x).hypot(own.y - spot.shape.y);
        let near = found.iter().filter(|own| own.frame == spot.frame && distance(own) < 2.0);
        near.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    };
    counted.filter_map(|spot| Some((*spot, nearest(spot)?))).collect()
}

/// Proves that what is found does not depend on blocks, threads or on who else was looked at before, and that spots have their numbers in the
/// order of frames and rows.
#[test]
fn results_do_not_depend_on_blocks_and_threads() {
    let (frames, _) = made(movie(3.0, 10, FrameRecipe::default()));
    let of = |threads: usize, block: usize| {
        let fitter = auto().fitter.with_threads(threads);
        localized(&frames, auto().with_fitter(fitter), block)
    };
    let expected = of(1, 10);
    assert!(expected.len() > 300, "{}", expected.len());
    for (threads, block) in [(1, 1), (3, 10), (4, 3)] {
        assert!(of(threads, block) == expected, "{threads} threads, blocks of {block}");
    }
    let ids: Vec<u64> = expected.iter().map(|spot| spot.id).collect();
    assert!(ids.iter().copied().eq(1..=ids.len() as u64));
    assert!(expected.is_sorted_by(|a, b| (a.frame, a.y) <= (b.frame, b.y)));
}

/// Proves that photons, background and the errors that are stated are those of the light, for a camera of one gain, an EMCCD and a camera
/// whose pixels differ, of which some are masked.
#[test]
fn cameras_give_photons() {
    let plain = FrameRecipe::default();
    let emccd = plain.camera.with_em_gain(Some(300.0)).with_sensitivity(10.0).with_read_noise(40.0);
    let emccd = plain.with_camera(emccd);
    let of_emccd = camera().with_em_gain(Some(300.0)).with_sensitivity(10.0).with_read_noise(40.0);
    let size = fit_core::Size::new(SIDE, SIDE);
    let maps = Maps::simulated(size, 3).expect("a sound size");
    let mut gain = maps.gain().to_owned();
    gain.slice_mut(s![20..22, ..;7]).fill(0.0);
    let map = CameraMap::new(maps.offset(), gain.view(), maps.variance()).expect("sound maps");
    let cases = [
        ("one gain", movie(0.3, 60, plain), auto()),
        ("em gain", movie(0.3, 60, emccd), auto().with_camera(of_emccd)),
        (
            "maps",
            movie(0.3, 60, plain).with_maps(Some(maps)),
            auto().with_camera(Camera::default()).with_map(Some(Arc::new(map))),
        ),
    ];
    for (name, simulation, options) in cases {
        let (frames, truth) = made(simulation);
        let found = localized(&frames, options, 60);
        let pairs = pairs(&truth, &found);
        let alone = |spot: &MovieTruth| {
            let far = |other: &MovieTruth| {
                let (x, y) = (other.shape.x - spot.shape.x, other.shape.y - spot.shape.y);
                other.frame != spot.frame || other.molecule == spot.molecule || x.hypot(y) > 7.0
            };
            truth.iter().all(far)
        };
        let far: Vec<_> = pairs.iter().filter(|(spot, _)| alone(spot)).collect();
        assert!(far.len() > 80, "{name}: {}", far.len());
        let mean = |of: &dyn Fn(&MovieTruth, &Localization) -> f64| {
            far.iter().map(|(spot, own)| of(spot, own)).sum::<f64>() / far.len() as f64
        };
        let photons = mean(&|spot, own| own.intensity / spot.signal);
        let background = mean(&|spot, own| own.offset / spot.background);
        let x = mean(&|spot, own| ((own.x - spot.shape.x) / own.uncertainty_x).powi(2)).sqrt();
        let y = mean(&|spot, own| ((own.y - spot.shape.y) / own.uncertainty_y).powi(2)).sqrt();
        let light = mean(&|spot, own| {
            let error = own.errors.expect("asked for").photons;
            ((own.intensity - spot.signal) / error).powi(2)
        });
        println!("{name}: {photons:.3} {background:.3}, x {x:.2} y {y:.2} {:.2}", light.sqrt());
        assert!((photons - 1.0).abs() < 0.03 && (background - 1.0).abs() < 0.03, "{name}");
        for ratio in [x, y, light.sqrt()] {
            assert!((0.8..1.25).contains(&ratio), "{name}: {ratio}");
        }
        let goodness = mean(&|_, own| own.checks.expect("asked for").goodness);
        assert!((0.6..1.3).contains(&goodness), "{name}: {goodness}");
        // Of 49 pixels, whose noise is that of 20 photons and of some of the spot's.
        let deviation = mean(&|_, own| own.background_std);
        let enough = if name == "em gain" { 6.0..20.0 } else { 4.0..14.0 };
        assert!(enough.contains(&deviation), "{name}: {deviation}");
    }
}

/// Proves that what is found, and its errors, do not depend on how much was subtracted from a frame.
#[test]
fn an_offset_that_is_too_high_changes_the_background_alone() {
    let (frames, truth) = made(movie(0.3, 40, FrameRecipe::default()));
    let known = localized(&frames, auto(), 40);
    for amount in [20.0, 40.0, 90.0] {
        let mistaken = camera().with_baseline(100.0 + amount);
        let found = localized(&frames, auto().with_camera(mistaken), 40);
        let pairs = pairs(&truth, &found);
        let mut ratios: Vec<f64> = pairs
            .iter()
            .map(|(spot, own)| ((own.x - spot.shape.x) / own.uncertainty_x).abs())
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2] / 0.6745;
        let background = pairs.iter().map(|(spot, own)| own.offset - spot.background);
        let background = background.sum::<f64>() / pairs.len() as f64;
        let (many, all) = (found.len() as f64, known.len() as f64);
        println!("{amount}: {many} of {all}, {ratio:.3}, background {background:.2}");
        assert!((many / all - 1.0).abs() < 0.1, "{amount}: {many} of {all}");
        assert!((0.8..1.25).contains(&ratio), "{amount}: {ratio}");
        assert!((background + amount).abs() < 1.0, "{amount}: {background}");
    }
}

/// Proves that a region gives the spots that the whole frame has there, and no others.
#[test]
fn a_region_gives_its_spots() {
    let (frames, _) = made(movie(1.0, 10, FrameRecipe::default()));
    let roi = Roi { x: 10, y: 14, width: 20, height: 25 };
    let whole = localized(&frames, auto(), 10);
    let part = localized(&frames, auto().with_roi(Some(roi)), 10);
    let inside =
        |spot: &Localization| (9.5..29.5).contains(&spot.x) && (13.5..38.5).contains(&spot.y);
    assert!(part.iter().all(inside) && part.len() > 30, "{}", part.len());
    let same = part.iter().filter(|spot| {
        let near = |other: &&Localization| {
            other.frame == spot.frame && (other.x - spot.x).hypot(other.y - spot.y) < 0.2
        };
        whole.iter().any(|other| near(&other))
    });
    let (same, expected) = (same.count(), whole.iter().filter(|spot| inside(spot)).count());
    assert!(same * 100 >= 95 * expected, "{same} of {expected}");
}

/// Proves that the width that spots share is found within 1 %, in crowds too, and that widths that are free scatter around it.
#[test]
fn a_shared_width_is_found() {
    for (sigma, density) in [(1.0, 0.3), (1.3, 2.0), (1.7, 1.0)] {
        let frames = frames_for_sigma((SIDE, SIDE));
        let (frames, _) = made(
            movie(density, frames, FrameRecipe::default()).with_sigma(sigma).with_signal(2000.0),
        );
        let options = auto().with_fitter(fitted(Shape::CIRCULAR));
        let pixels = Pixels::U16(frames.clone());
        let shared = options.clone().with_sigma(Sigma::Shared);
        let shared = shared.with_usual_sigma_of(pixels.windows()).expect("sound options");
        let found = shared.usual_sigma.expect("a width");
        println!("{found:.4} for {sigma} at {density}");
        assert!((found / sigma - 1.0).abs() < 0.01, "{found}, not {sigma}");
        let spots = localized(&frames, shared, 32);
        assert!(spots.iter().all(|spot| (spot.sigma - found).abs() < 1e-6));
        let free = options.with_usual_sigma(Some(found));
        let mut widths: Vec<f64> =
            localized(&frames, free, 32).iter().map(|spot| spot.sigma).collect();
        widths.sort_by(f64::total_cmp);
        let (low, middle) = (widths[widths.len() / 10], widths[widths.len() / 2]);
        assert!(low < middle && (middle / sigma - 1.0).abs() < 0.05, "{low}, {middle}");
    }
}

/// Proves that spots in a crowd are flagged as 16, that they are dropped and counted where that is asked for, and that all others stay as
/// they are.
#[test]
fn crowds_are_flagged_and_dropped() {
    let (frames, _) = made(movie(4.0, 10, FrameRecipe::default()));
    let all = localized(&frames, auto(), 10);
    let crowded = |spot: &&Localization| spot.checks.is_some_and(|checks| checks.flags.crowd);
    let count = all.iter().filter(crowded).count();
    assert!(count > 10 && count < all.len(), "{count} of {}", all.len());
    let bits = all.iter().find(crowded).and_then(|spot| spot.checks).expect("one").flags.bits();
    assert!(bits & 16 != 0 && Flags::from_bits(bits).bits() == bits);
    let options = auto().with_drop(Flags::default().with_crowd(true));
    let mut localizer = Localizer::new((SIDE, SIDE), options).unwrap();
    let block = Block { first: 0, pixels: Pixels::U16(frames) };
    let kept = localizer.process(&block).unwrap();
    assert_eq!((localizer.counts().dropped.crowd, kept.len()), (count, all.len() - count));
    let places = |spots: &[Localization]| -> Vec<(usize, f64, f64)> {
        spots.iter().map(|spot| (spot.frame, spot.x, spot.y)).collect()
    };
    let expected: Vec<Localization> = all.iter().filter(|spot| !crowded(spot)).copied().collect();
    assert_eq!(places(&kept), places(&expected));
}

/// Proves that what does not go together is refused, with both options by their names.
#[test]
fn what_does_not_go_together_is_refused() {
    let refused =
        |options: LocalizeOptions, names: [&str; 2]| match Localizer::new((48, 48), options) {
            Err(LocalizeError::Option(error)) => {
                let said = error.to_string();
                assert!(names.iter().all(|name| said.contains(name)), "{said}");
            }
            other => panic!("{names:?}: {other:?}"),
        };
    let shaped = |shape| auto().with_fitter(fitted(shape));
    let with = |fit: Options| auto().with_fitter(FitterOptions::default().with_fit(fit));
    let fit = auto().fitter.fit;
    let auto_names = |name| [name, "`emitters` auto"];
    refused(shaped(Shape::Elliptical(Elliptical)), auto_names("shape"));
    refused(with(fit.with_estimator(Estimator::LeastSquares)), auto_names("estimator"));
    refused(with(fit.with_background(Background::NonNegative)), auto_names("background"));
    refused(auto().with_threshold(3.0), auto_names("threshold"));
    let gpu = auto().fitter.with_backend(Backend::Gpu);
    refused(auto().with_fitter(gpu), auto_names("backend"));
    let positions = spotfit::localize::Positions::default();
    refused(auto().with_positions(Some(positions)), auto_names("positions"));
    refused(auto().with_sigma(Sigma::Shared), auto_names("sigma"));
    let mut lacks = Localizer::new((48, 48), shaped(Shape::CIRCULAR)).expect("sound options");
    assert_eq!(lacks.frames_ahead(), 32);
    let dark = Pixels::U16(Array3::from_elem((1, 48, 48), 100));
    let said = lacks.process(&Block { first: 0, pixels: dark.clone() }).unwrap_err().to_string();
    assert!(said.starts_with("usual_sigma = none"), "{said}");
    lacks.look_ahead(dark.windows(), None).expect("frames of this size");
    assert!(lacks.process(&Block { first: 0, pixels: dark }).unwrap().is_empty());
    refused(auto().with_usual_sigma(Some(0.0)), auto_names("usual_sigma"));
    let one = LocalizeOptions::default();
    refused(one.clone().with_sigma(Sigma::Shared), auto_names("sigma"));
    refused(one.with_usual_sigma(Some(1.3)), auto_names("usual_sigma"));
    refused(shaped(Shape::FixedSigma(FixedSigma { sigma: 0.3 })), auto_names("fixed_sigma"));
}
