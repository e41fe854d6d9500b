//! Previews beside what localizing makes of the same frame.

use std::collections::BTreeMap;
use std::sync::Arc;

use fit_sim::recipes::{FrameRecipe, MovieRecipe};
use fit_sim::{Random, SimulatedCamera};
use ndarray::{Array2, Array3, s};
use spotfit::localize::{Emitters, Flags, LocalizeOptions as Engine, Positions, Sigma};
use spotfit::movie::Pixels;
use spotfit::psf::Misfit;
use spotfit::record::Origin;
use spotfit::steps::localize::{
    self, CameraOptions, DefectsOption, Given, LocalizeOptions, LocalizeReport,
};
use spotfit::steps::preview::{Preview, PreviewOptions, Previewer};
use spotfit::steps::{PixelScale, Silent, Stack};
use spotfit::table::{Table, TableFormat};
use spotfit::{
    Background, CameraMap, Elliptical, Estimator, FitterOptions, Length, Options, PixelProfile,
    Rotated, Shape,
};

use crate::common::nightly;

const WIDTH: usize = 90;
const HEIGHT: usize = 70;
const FRAMES: usize = 40;

/// A movie with spots of many heights, some near to others, in haze; one pixel is hot.
fn movie() -> Array3<u16> {
    let camera = SimulatedCamera::default().with_baseline(100.0).with_read_noise(1.5);
    let frame = FrameRecipe::default()
        .with_width(WIDTH)
        .with_height(HEIGHT)
        .with_background(8.0)
        .with_camera(camera)
        .with_seed(5);
    let recipe = MovieRecipe::default()
        .with_frame(frame)
        .with_frames(FRAMES)
        .with_density(Some(0.5))
        .with_uniform(true)
        .with_photons(600.0)
        .with_haze(20.0);
    let mut plan = recipe.simulation().expect("a sound recipe").plan().expect("a sound simulation");
    let mut frames: Array3<u16> = plan.piece(0..FRAMES).frames();
    frames.slice_mut(s![.., 20, 30]).fill(5000);
    frames
}

fn stack(frames: &Array3<u16>) -> Stack {
    Stack::of("frames", Pixels::U16(frames.clone()))
}

/// What localizing makes of some frames.
fn localized(
    frames: &Array3<u16>,
    options: &LocalizeOptions,
    format: TableFormat,
) -> (Table, LocalizeReport) {
    let mut table = Table::default();
    let report = localize::run(options, stack(frames), format, &mut table, &Silent);
    (table, report.expect("localizations"))
}

/// Numbers that are none are the same as others that are none.
fn bits(table: &Table) -> Vec<(String, Vec<u64>)> {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect();
    let columns = table.columns().iter();
    columns
        .map(|column| (format!("{} {:?}", column.name, column.unit), bits(&column.values)))
        .collect()
}

/// Compares a preview with what localizing says.
fn compare(preview: &Preview, table: &Table, report: &LocalizeReport, what: &str) {
    assert_eq!(bits(&preview.kept), bits(table), "{what}");
    let other = &preview.report;
    assert_eq!(
        (other.frames, other.candidates, other.fits, other.converged, other.at_end),
        (report.frames, report.candidates, report.fits, report.converged, report.at_end),
        "{what}"
    );
    assert_eq!(other.statuses, report.statuses, "{what}");
    assert_eq!(
        (other.dropped, other.localizations),
        (report.dropped, report.localizations),
        "{what}"
    );
    assert_eq!((other.fulfilled, &other.backend), (report.fulfilled, &report.backend), "{what}");
    // What is counted is what is shown.
    let shown = preview.detector.responses.len();
    assert_eq!(preview.kept.rows() + preview.dropped.rows(), shown, "{what}");
    assert_eq!(preview.counts.candidates, shown, "{what}");
    assert_eq!(preview.counts.dropped.values().sum::<usize>(), preview.dropped.rows(), "{what}");
    let places = &preview.places;
    assert_eq!(
        [places.kept.len(), places.dropped.len()],
        [preview.kept.rows(), preview.dropped.rows()]
    );
}

fn fit(fit: Options) -> Engine {
    Engine::default().with_fitter(FitterOptions::from(fit).with_threads(2))
}

fn camera() -> CameraOptions {
    CameraOptions::default()
        .with_baseline(Some(100.0))
        .with_sensitivity(Some(0.7))
        .with_read_noise(Some(1.5))
}

fn map() -> Arc<CameraMap> {
    let mut random = Random::new(3, 0);
    let mut of = |from: f64, to: f64| {
        Array2::from_shape_fn((HEIGHT, WIDTH), |_| (from + (to - from) * random.uniform()) as f32)
    };
    let (offset, gain, variance) = (of(95.0, 105.0), of(1.0, 1.5), of(1.0, 5.0));
    CameraMap::new(offset.view(), gain.view(), variance.view()).expect("a sound map").into()
}

/// Options of all kinds, by what they are.
fn all_options() -> BTreeMap<&'static str, LocalizeOptions> {
    let plain = || LocalizeOptions::default().with_camera(camera());
    let with = |engine: Engine| plain().with_localizer(engine);
    let likely = Options::default().with_estimator(Estimator::MaximumLikelihood);
    let mle = |options: LocalizeOptions| options.with_estimator(Some(Estimator::MaximumLikelihood));
    // Misfit is that of the first frames: see below.
    let none = Some(Misfit::default());
    let together = Engine::default().with_emitters(Emitters::Auto).with_misfit(none.clone());
    let mut positions = Positions::default();
    for (frame, x, y) in [(6, 20.2, 30.4), (6, 1.0, 3.0), (6, 40.0, 33.0), (9, 40.0, 33.0)] {
        positions.push(frame, x, y);
    }
    BTreeMap::from([
        ("nothing", LocalizeOptions::default()),
        ("a camera", plain()),
        ("a low threshold", with(Engine::default().with_threshold(3.0))),
        ("a high threshold", with(Engine::default().with_threshold(12.0))),
        ("many false ones", with(Engine::default().with_false_rate(500.0))),
        ("elliptical", with(fit(Options::default().with_shape(Shape::Elliptical(Elliptical))))),
        ("rotated", with(fit(Options::default().with_shape(Shape::Rotated(Rotated))))),
        ("integrated", mle(with(fit(likely.with_profile(PixelProfile::Integrated))))),
        ("likely", mle(plain())),
        ("a known width", plain().with_fixed_sigma(Some("1.3".to_owned()))),
        ("a plane", plain().with_background(Some(Background::Plane))),
        ("a wide box", plain().with_box_size(Some("11".parse().expect("a length")))),
        ("limits", plain().with_sigma_max(Some(Length::pixels(1.35)))),
        ("together", with(together.clone())),
        ("together with one width", with(together.clone().with_sigma(Sigma::Shared))),
        (
            "at most three",
            with(Engine::default().with_emitters(Emitters::UpTo(3)).with_misfit(none)),
        ),
        ("flags", with(Engine::default().with_checks(true).with_errors(true))),
        (
            "flags dropped",
            with(
                Engine::default()
                    .with_checks(true)
                    .with_drop(Flags::ALL)
                    .with_saturation(Some(140.0)),
            ),
        ),
        (
            "neighbours dropped",
            with(Engine::default().with_drop(Flags::default().with_neighbour(true))),
        ),
        ("all", with(Engine::default().with_keep_all(true).with_threshold(3.0))),
        (
            "all but flags",
            with(Engine::default().with_keep_all(true).with_drop(Flags::ALL).with_threshold(3.0)),
        ),
        ("a condition", plain().with_filter(Some("photons > 400 & sigma < 1.5".to_owned()))),
        ("a region", plain().with_roi(Some("10,5,40,50".to_owned()))),
        ("together in a region", with(together).with_roi(Some("10,5,40,50".to_owned()))),
        (
            "a map",
            LocalizeOptions::default()
                .with_camera(CameraOptions::default().with_maps(Some(Given::Content(map())))),
        ),
        ("defects", plain().with_defects(Some(DefectsOption::Auto))),
        ("nanometres", plain().with_pixel_size(PixelScale::Nanometres(107.0))),
        ("corners", plain().with_origin(Origin::Corner)),
        ("positions", plain().with_positions(Some(Given::Content(Arc::new(positions))))),
        ("EM gain", plain().with_camera(camera().with_em_gain(Some(30.0)))),
    ])
}

/// Proves that a preview has the rows and counts of localizing this frame alone, to the last bit, whatever is asked for and in which
/// order, with one previewer for all.
#[test]
fn a_preview_is_what_localizing_makes_of_the_frame() {
    let frames = movie();
    let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
    let (mut kept, mut reasons) = (0, BTreeMap::new());
    for (what, options) in all_options() {
        for (frame, format) in
            [(7, TableFormat::Csv), (1, TableFormat::Csv), (7, TableFormat::Picasso)]
        {
            let what = format!("{what}, frame {frame}, {format:?}");
            let alone = options.clone().with_frames(Some(format!("{frame}:{frame}")));
            let (table, report) = localized(&frames, &alone, format);
            let asked =
                PreviewOptions::default().with_localize(options.clone()).with_format(format);
            let preview = previewer.preview(&asked, frame).expect("a preview");
            compare(&preview, &table, &report, &what);
            kept += preview.kept.rows();
            for (reason, count) in &preview.counts.dropped {
                *reasons.entry(*reason).or_insert(0) += count;
            }
            // What is remembered says the same as what is found out anew.
            let again = previewer.preview(&asked, frame).expect("a preview");
            assert_eq!(bits(&again.kept), bits(&table), "{what}");
        }
    }
    assert!(kept > 500, "{kept}");
    for reason in
        ["at_edge", "wandered", "saturated", "neighbour", "residual", "filter", "at_limit"]
    {
        assert!(reasons.contains_key(reason), "{reason}: {reasons:?}");
    }
}

/// Proves that how spots differ from Gaussians, and their light within an aperture, is that of the movie: with a width that is known, the
/// rows are those that localizing all of it has of the frame.
#[test]
fn misfit_and_aperture_are_those_of_the_movie() {
    let frames = movie();
    let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
    let known = LocalizeOptions::default()
        .with_camera(camera())
        .with_fixed_sigma(Some("1.1".to_owned()))
        .with_localizer(Engine::default().with_emitters(Emitters::Auto));
    // Without the pixel that is hot.
    let wide = |options: LocalizeOptions| {
        let roi = format!("0,30,{WIDTH},{}", HEIGHT - 30);
        options.with_aperture(Some(Length::pixels(5.0))).with_roi(Some(roi))
    };
    let windows = known.clone().with_localizer(Engine::default());
    for options in [known.clone(), wide(known.clone()), wide(windows)] {
        are_those_of_the_movie(&frames, &mut previewer, &options);
    }
    let other = known.clone().with_localizer(
        Engine::default().with_emitters(Emitters::Auto).with_misfit(Some(Misfit::default())),
    );
    for other in [other, wide(known.clone())] {
        let [one, other] =
            [&known, &other].map(|options| localized(&frames, options, TableFormat::Csv));
        assert_ne!(bits(&one.0), bits(&other.0));
    }
}

/// Proves that a fit is shown with the light of its Gaussian, whatever its photons are corrected by, and that it does not matter which frames
/// were looked at before.
#[test]
fn an_aperture_changes_no_fit() {
    let frames = movie();
    let engine = Engine::default().with_emitters(Emitters::Auto).with_sigma(Sigma::Shared);
    let roi = format!("0,30,{WIDTH},{}", HEIGHT - 30);
    let plain = LocalizeOptions::default().with_camera(camera()).with_localizer(engine);
    let plain = plain.with_roi(Some(roi));
    let asked = |aperture: Option<f64>| {
        let options = plain.clone().with_aperture(aperture.map(Length::pixels));
        PreviewOptions::default().with_localize(options)
    };
    let looked = |asked: &PreviewOptions, before: &[usize]| {
        let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
        before.iter().for_each(|&frame| drop(previewer.preview(asked, frame).expect("a preview")));
        let preview = previewer.preview(asked, 7).expect("a preview");
        let [x, y] = ["x", "y"].map(|name| preview.kept.values(name).expect("a place")[3]);
        (bits(&preview.kept), previewer.window(asked, 7, x, y).expect("a window"))
    };
    let (plain, (rows, wide)) = (looked(&asked(None), &[]).1, looked(&asked(Some(3.0)), &[]));
    let near = |one: &Option<Vec<Vec<f64>>>, other: &Option<Vec<Vec<f64>>>| {
        let all = |of: &Option<Vec<Vec<f64>>>| of.clone().expect("a fit").concat();
        all(one).iter().zip(all(other)).all(|(one, other)| (one - other).abs() < 1e-6)
    };
    assert!(near(&plain.fit, &wide.fit) && near(&plain.residuals, &wide.residuals));
    let (again, after) = looked(&asked(Some(3.0)), &[40, 2]);
    assert!(again == rows && after.fit == wide.fit);
}

/// Checks rows of previews against those of localizing a movie.
fn are_those_of_the_movie(
    frames: &Array3<u16>,
    previewer: &mut Previewer,
    options: &LocalizeOptions,
) {
    let (table, _) = localized(frames, options, TableFormat::Csv);
    let numbers = table.values("frame").expect("frames").to_vec();
    for frame in [7, 40] {
        let asked = PreviewOptions::default().with_localize(options.clone());
        let mut mine = previewer.preview(&asked, frame).expect("a preview").kept;
        let mut theirs = table.clone();
        let here: Vec<bool> = numbers.iter().map(|&one| one == frame as f64 - 1.0).collect();
        theirs.retain(&here);
        // Localizations are numbered in the movie.
        mine.remove("id");
        theirs.remove("id");
        assert_eq!(bits(&mine), bits(&theirs), "{frame}");
    }
}

/// Proves that a background over time is that of the movie: the rows are those that localizing all of it has of the frame. By day spots
/// that are fitted together are so in a part of the movie alone, and in two frames of it: at its end, and in the midst.
#[test]
fn a_background_over_time_is_that_of_the_movie() {
    let frames = movie();
    let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
    for (window, range) in
        [(9, None), (16, None), (3, None), (39, None), (100, None), (9, Some("6:31"))]
    {
        for emitters in [Emitters::One, Emitters::Auto] {
            let together = emitters == Emitters::Auto;
            if together && (window != 9 || range.is_none() && !nightly()) {
                continue;
            }
            let engine = Engine::default().with_temporal_background(Some(window));
            let options = LocalizeOptions::default()
                .with_camera(camera())
                .with_localizer(engine.with_emitters(emitters))
                .with_frames(range.map(str::to_owned));
            let (table, _) = localized(&frames, &options, TableFormat::Csv);
            let numbers = table.values("frame").expect("frames").to_vec();
            for frame in [6, 7, 15, 20, 26, 30, 31, 1, 40] {
                if range.is_some() && !(6..=31).contains(&frame)
                    || together && !nightly() && ![15, 31].contains(&frame)
                {
                    continue;
                }
                let asked = PreviewOptions::default().with_localize(options.clone());
                let preview = previewer.preview(&asked, frame).expect("a preview");
                let mut of_frame = table.clone();
                let here: Vec<bool> =
                    numbers.iter().map(|&one| one == frame as f64 - 1.0).collect();
                of_frame.retain(&here);
                let [mut mine, mut theirs] = [preview.kept, of_frame];
                // Localizations are numbered in the movie.
                mine.remove("id");
                theirs.remove("id");
                assert_eq!(bits(&mine), bits(&theirs), "{window} {range:?} {emitters} {frame}");
                assert!(mine.rows() > 0);
            }
        }
    }
}

/// Proves that the model of a window is what was fitted: its residuals have the sum of squares that the row says, for every shape,
/// profile, background and camera; and that every number of the row is there, x and y with their errors.
#[test]
fn a_window_shows_what_was_fitted() {
    let frames = movie();
    let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
    let all = all_options();
    let temporal = Engine::default().with_temporal_background(Some(9));
    let shapes = ["a camera", "elliptical", "rotated", "integrated", "likely", "a plane", "a map"];
    let options = shapes.map(|name| (name, all[name].clone()));
    let known = LocalizeOptions::default().with_camera(camera()).with_localizer(temporal);
    for (what, options) in options.into_iter().chain([("a background over time", known)]) {
        let asked = PreviewOptions::default().with_localize(options);
        let preview = previewer.preview(&asked, 7).expect("a preview");
        let chi2 = preview.kept.values("chi2").expect("squares");
        assert!(chi2.len() > 5, "{what}");
        for (&[x, y], chi2) in preview.places.kept.iter().zip(chi2) {
            let window = previewer.window(&asked, 7, x, y).expect("a window");
            let residuals = window.residuals.as_ref().expect("a fit");
            let squares: f64 = residuals.iter().flatten().map(|residual| residual * residual).sum();
            assert!((squares / chi2 - 1.0).abs() < 1e-3, "{what}: {squares} {chi2}");
            assert_eq!((window.kept, window.reason, window.side), (Some(true), None, 7), "{what}");
            let fit = window.fit.as_ref().expect("a fit");
            let sum = |rows: &[Vec<f64>]| rows.iter().flatten().sum::<f64>();
            let off = sum(&window.pixels) - sum(fit) - sum(residuals);
            assert!(off.abs() < 1e-6 * sum(&window.pixels).abs(), "{what}");
            let number =
                |name: &str| window.numbers.iter().find(|one| one.name == name).expect(name);
            assert_eq!(number("x").value, x, "{what}");
            for name in ["x", "y", "photons", "background"] {
                assert!(number(name).error.is_some_and(|error| error > 0.0), "{what}: {name}");
            }
            assert_eq!((number("photons").unit, number("x").unit), ("photon", "px"), "{what}");
            assert!(window.response.is_some_and(|[response, needed]| response > needed), "{what}");
        }
    }
}

/// Proves that a window tells why a spot was dropped, that there is one where nothing was found, and that places outside of the frame
/// are refused.
#[test]
fn every_place_has_a_window() {
    let frames = movie();
    let mut previewer = Previewer::new(stack(&frames)).expect("a movie");
    let options = PreviewOptions::default().with_localize(all_options()["flags dropped"].clone());
    let preview = previewer.preview(&options, 7).expect("a preview");
    let mut seen = Vec::new();
    let column = preview.dropped.called("reason").expect("reasons").clone();
    let spotfit::table::Kind::Words(words) = &column.kind else { panic!("they are words") };
    for (&[x, y], reason) in preview.places.dropped.iter().zip(&column.values) {
        let window = previewer.window(&options, 7, x, y).expect("a window");
        let (reason, told) = (words[*reason as usize].as_str(), window.reason.expect("a reason"));
        // Two may be at one place.
        if told.0 == reason {
            assert_eq!(window.kept, Some(false));
            assert_eq!(window.status.is_none(), reason == "at_edge");
            assert_eq!(window.fit.is_none() && window.numbers.is_empty(), reason == "at_edge");
            seen.push(reason.to_owned());
        }
        assert!(window.pixels.iter().all(|row| row.len() == window.side));
    }
    assert!(seen.iter().any(|reason| reason == "at_edge") && seen.len() > 5, "{seen:?}");
    let free = |x: f64, y: f64| {
        let mut all = preview.places.kept.iter().chain(&preview.places.dropped);
        all.all(|[own_x, own_y]| (own_x - x).hypot(own_y - y) > 6.0)
    };
    let places = (4..66).flat_map(|y| (4..86).map(move |x| (f64::from(x), f64::from(y))));
    let (x, y) = places.into_iter().find(|&(x, y)| free(x, y)).expect("room");
    let window = previewer.window(&options, 7, x, y).expect("a window");
    assert_eq!((window.kept, window.status, window.side), (None, None, 7));
    for [x, y] in [[-3.0, 5.0], [5.0, 70.0], [f64::NAN, 5.0], [f64::INFINITY, 5.0]] {
        assert!(previewer.window(&options, 7, x, y).is_err());
    }
    for frame in [0, FRAMES + 1, usize::MAX] {
        assert!(previewer.preview(&options, frame).is_err() && previewer.pixels(frame).is_err());
    }
}
