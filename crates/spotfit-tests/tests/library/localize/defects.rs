//! Defective pixels: found, masked and told, and what is none.

use std::sync::Arc;

use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_sim::{HotPixel, MovieSimulation, Random, SimulatedBead, SpotProfile};
use ndarray::{Array2, Array3};
use spotfit::localize::{DefectKind, Defects, Localization, LocalizeOptions, Localizer};
use spotfit::movie::{Block, Pixels};
use spotfit::{Camera, CameraMap, Estimator, FitterOptions, Options, Windows};

use crate::common::nightly;

fn camera() -> Camera {
    Camera::default().with_baseline(100.0).with_read_noise(1.5)
}

fn find(frames: &Array3<u16>) -> Defects {
    Defects::find(Windows::stack(frames.view()).into())
}

fn frames_of(simulation: MovieSimulation) -> Array3<u16> {
    let frames = simulation.frames;
    simulation.plan().expect("a sound simulation").piece(0..frames).frames()
}

fn localized(frames: &Array3<u16>, options: &LocalizeOptions) -> Vec<Localization> {
    let (_, height, width) = frames.dim();
    let mut localizer = Localizer::new((width, height), options.clone()).expect("sound options");
    let block = Block { first: 0, pixels: Pixels::U16(frames.clone()) };
    localizer.process(&block).expect("localizations")
}

/// Proves that 20 hot pixels, which make more rows than the molecules by either estimator, make less than 0.5 % of them once they are
/// masked; that all of them are found, as hot, and no other; and that no spot is lost beside them, down to 3 pixels.
#[test]
fn hot_pixels_make_no_localizations() {
    let recipe = MovieRecipe::default()
        .with_frame(FrameRecipe::default().with_width(128).with_height(128))
        .with_frames(100)
        .with_spots(12.0);
    let plain = recipe.simulation().expect("a sound recipe");
    let hot = recipe.with_hot_pixels(20).simulation().expect("a sound recipe");
    let places: Vec<(f64, f64)> =
        hot.hot_pixels.iter().map(|pixel| (pixel.x as f64, pixel.y as f64)).collect();
    let mut plan = plain.clone().plan().expect("a sound simulation");
    let piece = plan.piece(0..100);
    let (clean, frames) = (piece.frames(), frames_of(hot));
    let defects = find(&frames);
    assert_eq!(defects.pixels().len(), 20, "{defects}");
    assert!(defects.pixels().iter().all(|pixel| pixel.kind == DefectKind::Hot), "{defects}");
    let at_one = |spot: &Localization, reach: f64| {
        places.iter().any(|(x, y)| (spot.x - x).hypot(spot.y - y) < reach)
    };
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let fitter = FitterOptions::from(Options::default().with_estimator(estimator));
        let options = LocalizeOptions::default().with_camera(camera()).with_fitter(fitter);
        let masked = options.clone().with_defects(Some(Arc::new(defects.clone())));
        let count = |spots: &[Localization]| spots.iter().filter(|spot| at_one(spot, 0.7)).count();
        let (before, after) = (localized(&frames, &options), localized(&frames, &masked));
        let reference = localized(&clean, &options);
        println!(
            "{estimator:?}: {} of {} rows before, {} of {} after, {} of {} without hot pixels",
            count(&before),
            before.len(),
            count(&after),
            after.len(),
            count(&reference),
            reference.len()
        );
        assert!(8 * count(&before) > before.len(), "{estimator:?}");
        let rows = count(&after).saturating_sub(count(&reference));
        assert!(1000 * rows <= 5 * after.len(), "{estimator:?}: {rows} of {}", after.len());
        // What is found of the molecules without hot pixels is found with masked ones.
        let (mut beside, mut lost) = (0, 0);
        for truth in (0..100).flat_map(|frame| piece.truth(frame)) {
            let near = |spots: &[Localization], reach: f64| {
                spots.iter().any(|spot| {
                    let far = (spot.x - truth.shape.x).hypot(spot.y - truth.shape.y);
                    spot.frame == truth.frame && far < reach
                })
            };
            let far = |(x, y): &(f64, f64)| (truth.shape.x - x).hypot(truth.shape.y - y);
            let nearest = places.iter().map(far).fold(f64::INFINITY, f64::min);
            let seen = truth.signal > 300.0 && near(&reference, 1.0);
            if seen && (2.5..6.0).contains(&nearest) {
                beside += 1;
                lost += usize::from(!near(&after, 1.5));
            }
        }
        println!("{lost} of {beside} spots beside them were lost");
        assert!(beside > 20 && lost == 0, "{estimator:?}: {lost} of {beside}");
    }
}

/// Proves that nothing that a lens makes is taken for a defect: beads that are bright in every frame, anywhere on their pixel and of
/// any brightness, and blinking molecules, from σ = 0.4 pixels on, sampled and integrated; and that the hot pixels among them are found. By
/// day each width has two of three lights, the narrowest, which are most like defects, all; by night each has all.
#[test]
fn spots_and_beads_are_no_defects() {
    for (seed, (sigma, profile)) in [0.4, 0.5, 0.7, 1.3]
        .into_iter()
        .flat_map(|sigma| [(sigma, SpotProfile::Sampled), (sigma, SpotProfile::Integrated)])
        .enumerate()
    {
        for (light, (background, signal)) in
            [(0.2, 150.0), (20.0, 1000.0), (300.0, 10_000.0)].into_iter().enumerate()
        {
            if sigma > 0.4 && light != seed % 3 && !nightly() {
                continue;
            }
            let seed = seed as u64;
            let mut random = Random::new(seed, 7);
            let beads = (0..100)
                .map(|i| {
                    let at =
                        |i: usize, random: &mut Random| 10.0 + 10.0 * i as f64 + random.uniform();
                    // In the middle of its pixel a bead is narrowest.
                    let middle = |at: f64| if i % 3 == 0 { at.floor() } else { at };
                    let (x, y) = (at(i % 10, &mut random), at(i / 10, &mut random));
                    let signal = signal * (3.0 * random.uniform() - 1.5).exp();
                    SimulatedBead { x: middle(x), y: middle(y), signal }
                })
                .collect();
            let hot =
                (0..9).map(|i| HotPixel { x: 15 + 10 * i, y: 15 + 10 * i, electrons: signal });
            let mut movie = MovieSimulation::new(120, 120, 64)
                .with_background(background)
                .with_signal(signal)
                .with_sigma(sigma)
                .with_profile(profile)
                .with_beads(beads)
                .with_seed(seed);
            movie.molecules = movie.molecules_for(5.0);
            let found = find(&frames_of(movie.clone()));
            assert!(found.is_empty(), "σ {sigma}, {profile:?}, {background}: {found}");
            let found = find(&frames_of(movie.with_hot_pixels(hot.collect())));
            let right = found.pixels().iter().all(|p| p.x == p.y && p.x % 10 == 5);
            // A molecule may lie on one.
            assert!(
                right && found.pixels().len() >= 8,
                "σ {sigma}, {profile:?}, {background}: {found}"
            );
        }
    }
}

/// Proves that nothing is found in noise alone: dim and bright, with EM gain, in few frames and in many, in a movie of zeros, and
/// that a cosmic ray is no defect.
#[test]
fn noise_has_no_defects() {
    let em = fit_sim::SimulatedCamera::default().with_baseline(100.0).with_read_noise(30.0);
    let plain = em.with_read_noise(1.5);
    let dark = fit_sim::SimulatedCamera::default();
    for (background, camera) in [
        (20.0, plain),
        (1e4, plain),
        (0.0, plain),
        (0.02, dark),
        (0.001, dark),
        (0.0, dark),
        (1.0, em.with_em_gain(Some(100.0))),
        (0.02, em.with_em_gain(Some(300.0))),
    ] {
        // Of a movie the first 64 are looked at.
        for &frames in if nightly() { &[1, 3, 4, 7, 16, 64, 90][..] } else { &[1, 3, 4, 7, 16, 64] }
        {
            let mut movie = MovieSimulation::new(200, 150, frames)
                .with_background(background)
                .with_camera(camera)
                .with_seed(frames as u64);
            movie.molecules = 0;
            let mut frames = frames_of(movie);
            frames[(0, 70, 80)] = 60_000;
            let found = find(&frames);
            assert!(found.is_empty(), "{background}, {camera:?}, {:?}: {found}", frames.dim());
        }
    }
}

/// Proves that dark, flickering and saturated pixels are found, those at the edges and in the corners of the frame too, and pixels of
/// floating-point movies that are not finite; and that a flickering pixel needs three bright frames.
#[test]
fn every_kind_of_defect_is_found() {
    let mut movie = MovieSimulation::new(80, 60, 64).with_seed(3);
    movie.molecules = 0;
    let mut frames = frames_of(movie);
    let mut random = Random::new(4, 0);
    for mut frame in frames.outer_iter_mut() {
        (frame[(10, 10)], frame[(0, 0)], frame[(59, 40)]) = (65_535, 65_535, 400);
        (frame[(20, 20)], frame[(30, 79)]) = (0, 100);
        if random.uniform() < 0.15 {
            frame[(40, 40)] += 300;
        }
    }
    (frames[(3, 50, 50)], frames[(9, 50, 50)]) = (900, 900);
    let found = |frames: &Defects| -> Vec<(usize, usize, DefectKind)> {
        frames.pixels().iter().map(|pixel| (pixel.y, pixel.x, pixel.kind)).collect()
    };
    use DefectKind::{Dark, Flickering, Hot, NotFinite};
    let all = [
        (0, 0, Hot),
        (10, 10, Hot),
        (20, 20, Dark),
        (30, 79, Dark),
        (40, 40, Flickering),
        (59, 40, Hot),
    ];
    let defects = find(&frames);
    assert_eq!(found(&defects), all, "{defects}");
    let told = defects.to_string();
    assert!(
        told.starts_with(
            "6 defective pixels (3 hot, 1 flickering, 2 dark) at (x, y) = (0, 0), (10, 10)"
        ),
        "{told}"
    );
    let mut floats = frames.mapv(f32::from);
    (floats[(5, 25, 30)], floats[(63, 25, 33)]) = (f32::NAN, f32::INFINITY);
    let defects = Defects::find(Windows::stack(floats.view()).into());
    let expected: Vec<_> =
        [&all[..3], &[(25, 30, NotFinite), (25, 33, NotFinite)], &all[3..]].concat();
    assert_eq!(found(&defects), expected, "{defects}");
    // It does not matter how the frames lie in memory.
    let turned = floats.view().permuted_axes([0, 2, 1]);
    let mut other: Vec<_> = found(&Defects::find(Windows::stack(turned).into()));
    other.iter_mut().for_each(|(y, x, _)| std::mem::swap(x, y));
    other.sort_unstable();
    assert_eq!(other, expected);
}

/// Proves that a masked pixel that is saturated does not make a spot saturated, by Gaussians; and that results do not depend on how
/// many frames come at a time.
#[test]
fn masked_pixels_are_not_saturated() {
    let mut movie = MovieSimulation::new(60, 60, 30).with_beads(vec![
        SimulatedBead { x: 30.3, y: 20.2, signal: 3000.0 },
        SimulatedBead { x: 30.3, y: 40.2, signal: 3000.0 },
    ]);
    movie.molecules = 0;
    let mut frames = frames_of(movie);
    frames.outer_iter_mut().for_each(|mut frame| frame[(20, 33)] = 65_535);
    let defects = find(&frames);
    assert_eq!(defects.pixels().len(), 1, "{defects}");
    let options = LocalizeOptions::default()
        .with_camera(camera())
        .with_checks(true)
        .with_defects(Some(Arc::new(defects)));
    let spots = localized(&frames, &options);
    assert_eq!(spots.len(), 60);
    assert!(spots.iter().all(|spot| !spot.checks.expect("checks").flags.saturated));
    let mut localizer = Localizer::new((60, 60), options).expect("sound options");
    let one_by_one: Vec<Localization> =
        frames.outer_iter().flat_map(|frame| localizer.frame(frame).expect("spots")).collect();
    let same = |(a, b): (&Localization, &Localization)| (a.x, a.y, a.frame) == (b.x, b.y, b.frame);
    assert!(spots.iter().zip(&one_by_one).all(same) && spots.len() == one_by_one.len());
}

/// Proves that what the maps of a camera say is no defect, such as offsets and pixels that they mask, and that a hot pixel beside them is.
#[test]
fn what_maps_say_is_no_defect() {
    let mut movie = MovieSimulation::new(80, 60, 64).with_seed(8);
    movie.molecules = 0;
    let mut frames = frames_of(movie);
    let mut offset = Array2::from_elem((60, 80), 100.0f32);
    let (mut gain, variance) =
        (Array2::from_elem((60, 80), 1.0f32), Array2::from_elem((60, 80), 2.25));
    (offset[(20, 20)], gain[(30, 30)]) = (400.0, 0.0);
    for mut frame in frames.outer_iter_mut() {
        frame[(20, 20)] += 300;
        frame[(30, 30)] = 0;
        frame[(40, 40)] += 300;
    }
    let map = CameraMap::new(offset.view(), gain.view(), variance.view()).expect("maps");
    let windows = || Windows::stack(frames.view()).into();
    assert_eq!(find(&frames).pixels().len(), 3);
    let found = Defects::find_mapped(windows(), &map);
    let [defect] = found.pixels() else { panic!("{found}") };
    assert_eq!((defect.x, defect.y, defect.kind), (40, 40, DefectKind::Hot));
}

/// Proves that masks of another size, and masks of all pixels, are refused by name, with a map and without.
#[test]
fn senseless_masks_are_refused() {
    let refused = |mask: Array2<bool>, map: bool| {
        let same = |value: f32| Array2::from_elem((40, 30), value);
        let map = map.then(|| {
            let (offset, gain, variance) = (same(100.0), same(2.0), same(4.0));
            Arc::new(CameraMap::new(offset.view(), gain.view(), variance.view()).expect("a map"))
        });
        let defects = Some(Arc::new(Defects::from_mask(mask.view())));
        let options = LocalizeOptions::default().with_defects(defects).with_map(map);
        Localizer::new((30, 40), options).err().map(|error| error.to_string())
    };
    for map in [false, true] {
        let error = refused(Array2::from_elem((30, 40), true), map).expect("refused");
        assert!(error.starts_with("defects = 40×30") && error.contains("30×40"), "{error}");
        let error = refused(Array2::from_elem((40, 30), true), map).expect("refused");
        assert!(error.starts_with("defects = 1200 of 1200 pixels"), "{error}");
        let mut one = Array2::from_elem((40, 30), false);
        one[(3, 4)] = true;
        assert_eq!(refused(one, map), None);
        assert_eq!(refused(Array2::from_elem((7, 3), false), map), None);
    }
}

/// Proves that a mask that was written is read again, that masks of numbers are read, and that what is no mask is refused with
/// the name of the file.
#[test]
fn masks_are_written_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mask.npy");
    let mask = Array2::from_shape_fn((5, 7), |(y, x)| (x * 3 + y) % 11 == 4);
    let defects = Defects::from_mask(mask.view());
    let mut file = Vec::new();
    defects.write(&mut file).expect("written");
    std::fs::write(&path, &file).expect("a file");
    let read = Defects::read(&path).expect("a mask");
    assert_eq!((&read, read.mask(), read.size()), (&defects, mask.clone(), (7, 5)));
    let numbers = |descr: &str, shape: &[usize], data: &[u8]| {
        let mut file = Vec::new();
        spotfit::npy::write_header(&mut file, descr, shape).expect("a header");
        file.extend(data);
        std::fs::write(&path, file).expect("a file");
        Defects::read(&path).map_err(|error| error.to_string())
    };
    let floats: Vec<u8> =
        [0.0f32, 2.0, f32::NAN, -0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let found = numbers("'<f4'", &[2, 2], &floats).expect("a mask");
    let places: Vec<_> = found.pixels().iter().map(|pixel| (pixel.x, pixel.y)).collect();
    assert_eq!(places, [(1, 0), (0, 1)]);
    for (error, told) in [
        (numbers("'|b1'", &[2, 3, 4], &[0; 24]), "[2, 3, 4]"),
        (numbers("'|b1'", &[6, 4], &[0; 23]), "24 bytes"),
        (numbers("'<c8'", &[1, 1], &[0; 8]), "<c8"),
        (numbers("'|b1'", &[1 << 20, 1 << 20], &[]), "bytes"),
        (Defects::read(folder.path()).map_err(|error| error.to_string()), "not a file"),
    ] {
        let error = error.expect_err("refused");
        assert!(
            error.contains(told) && error.contains(&folder.path().display().to_string()),
            "{error}"
        );
    }
}
