//! Photons of Gaussians that are corrected by the light in an aperture.

use std::sync::Arc;
use std::time::Duration;

use fit_core::{Camera, Estimator, Options};
use fit_sim::{MovieSimulation, Objective, PupilPsf, SimulatedPsf, Zernike};
use spotfit::localize::{
    ApertureCorrection, Emitters, LocalizeError, LocalizeOptions, Localizer, Sigma,
};
use spotfit::movie::{Block, Pixels};
use spotfit::steps::localize::LocalizeReport;
use spotfit::{AsWindows, FitterOptions};

const SIDE: usize = 128;
const RADIUS: f64 = 8.0;

fn movie(spots: f64) -> MovieSimulation {
    MovieSimulation::new(SIDE, SIDE, 32)
        .with_uniform(true)
        .with_own_spots(Some(spots))
        .with_signal(1500.0)
        .with_signal_spread(0.6)
        .with_background(30.0)
        .with_seed(8)
}

fn block(movie: &MovieSimulation) -> Block {
    let frames = movie.clone().plan().expect("sound").piece(0..32).frames();
    Block { first: 0, pixels: Pixels::U16(frames) }
}

fn options() -> LocalizeOptions {
    let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
    LocalizeOptions::default()
        .with_fitter(FitterOptions::default().with_fit(fit))
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5))
}

/// Windows, and spots that are fitted together.
fn both() -> [LocalizeOptions; 2] {
    let together = options().with_emitters(Emitters::Auto).with_sigma(Sigma::Shared);
    let fit = together.fitter.fit.with_background(fit_core::Background::Free);
    let fitter = together.fitter.clone().with_fit(fit);
    [options(), together.with_fitter(fitter)]
}

/// Proves that Gaussians have the light that they have, and that behind an objective spots get the light that is within the aperture; that
/// nothing else of a localization moves, and that errors of photons do.
#[test]
fn photons_are_those_within_the_aperture() {
    let zernike = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    let objective = Objective::default().with_zernike(zernike);
    let psf = Arc::new(PupilPsf::new(&objective, 100.0, 0.0).expect("sound"));
    let reach = RADIUS as i32 + 1;
    let pixels = (-reach..=reach).flat_map(|y| (-reach..=reach).map(move |x| [x, y]));
    let within = pixels.map(|place| place.map(f64::from)).filter(|[x, y]| x.hypot(*y) <= RADIUS);
    let light: f64 = within.map(|[x, y]| psf.share(x, y, 0.0)).sum();
    let real = movie(30.0).with_psf(Some(SimulatedPsf::new(psf, 0.0)));
    for (movie, light) in [(movie(30.0), 1.0), (real, light)] {
        let block = block(&movie);
        for options in both() {
            let rows = |options: LocalizeOptions| {
                let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound");
                localizer.look_ahead(block.pixels.windows(), None).expect("spots that tell");
                let rows = localizer.process(&block).expect("fits");
                (rows, localizer.aperture_correction())
            };
            let options = options.with_errors(true);
            let (plain, none) = rows(options.clone());
            let (rows, correction) = rows(options.with_aperture(Some(RADIUS)));
            let correction = correction.expect("asked for");
            assert!(
                none.is_none() && correction.spots > 200 && correction.error < 0.03,
                "{correction}"
            );
            assert_eq!(plain.len(), rows.len());
            let mut plan = movie.clone().plan().expect("sound");
            let piece = plan.piece(0..32);
            let mut ratios = Vec::new();
            for (plain, row) in plain.iter().zip(&rows) {
                let (mut other, mut expected) = (*row, *plain);
                (other.intensity, expected.intensity) = (0.0, 0.0);
                (other.errors, expected.errors) = (None, None);
                assert_eq!(other, expected);
                assert_eq!(row.intensity, plain.intensity * correction.factor);
                let [own, before] = [row, plain].map(|row| row.errors.expect("asked for"));
                assert_eq!(own.photons, before.photons * correction.factor);
                assert_eq!(own.background, before.background);
                let apart = |x: f64, y: f64| (x - row.x).hypot(y - row.y);
                let truth = piece.truth(row.frame);
                let near = truth.filter(|spot| apart(spot.shape.x, spot.shape.y) < 1.0);
                let near: Vec<f64> = near.map(|spot| spot.signal).collect();
                ratios.extend((near.len() == 1).then(|| row.intensity / near[0] / light));
            }
            ratios.sort_by(f64::total_cmp);
            let median = ratios[ratios.len() / 2];
            assert!((median - 1.0).abs() < 0.03, "{median} of {light}, {correction}");
        }
    }
}

/// Proves that the share of spots that have another one within a box is told without flags as with them, and that crowded movies are told what
/// would help, but not where emitters are fitted together.
#[test]
fn crowded_movies_are_told_so() {
    let [windows, together] = both();
    for (spots, crowded) in [(4.0, false), (200.0, true)] {
        let block = block(&movie(spots));
        let report = |options: LocalizeOptions| {
            let mut localizer = Localizer::new((SIDE, SIDE), options).expect("sound");
            localizer.look_ahead(block.pixels.windows(), None).expect("frames");
            localizer.process(&block).expect("fits");
            LocalizeReport::of(&localizer, None, None, Duration::from_secs(1))
        };
        let share = |report: &LocalizeReport| report.neighbours.expect("spots");
        let (plain, flags) = (report(windows.clone()), report(windows.clone().with_checks(true)));
        assert!((share(&plain) - share(&flags)).abs() < 0.15, "{plain} {flags}");
        assert_eq!([share(&plain) > 0.25, share(&flags) > 0.25], [crowded; 2]);
        let said = |report: &LocalizeReport| report.to_string().contains("emitters auto would");
        assert_eq!([said(&plain), said(&flags)], [crowded; 2]);
        assert!(!said(&report(together.clone())));
    }
}

/// Proves that what does not tell the light is refused with what it lacks, and that radii out of their range, a measured PSF, and single
/// blocks without a look ahead are.
#[test]
fn what_tells_no_light_is_refused() {
    for options in both() {
        let of = |spots: f64, radius: f64| {
            let options = options.clone().with_aperture(Some(radius));
            let mut localizer = Localizer::new((SIDE, SIDE), options)?;
            let block = block(&movie(spots));
            localizer.look_ahead(block.pixels.windows(), None)?;
            localizer.process(&block)
        };
        let few = of(0.3, RADIUS).expect_err("few spots");
        assert!(matches!(few, LocalizeError::Aperture { spots: 1..20, frames: 32, error: None }));
        assert!(few.to_string().contains("and 20 are needed"), "{few}");
        let wide = of(3.0, 30.0).expect_err("a wide aperture");
        let LocalizeError::Aperture { error: Some(error), spots, .. } = wide else {
            panic!("{wide}")
        };
        assert!(error > 0.05 && spots >= 20 && wide.to_string().contains("5 % is needed"));
        for radius in [2.9, 33.0, f64::NAN] {
            let refused = of(30.0, radius).expect_err("a radius").to_string();
            assert!(refused.starts_with("aperture = "), "{refused}");
        }
    }
    // A factor is known with its aperture only.
    let known = ApertureCorrection::new(1.2, 0.01, 30);
    for (aperture, known) in [(None, known), (Some(8.0), ApertureCorrection::new(-1.0, 0.1, 30))] {
        let options = options().with_aperture(aperture).with_aperture_correction(Some(known));
        let refused = Localizer::new((SIDE, SIDE), options).expect_err("a factor").to_string();
        assert!(refused.starts_with("aperture_correction = "), "{refused}");
    }
    let mut blind = Localizer::new((SIDE, SIDE), options().with_aperture(Some(8.0))).expect("ok");
    let refused = blind.process(&block(&movie(30.0))).expect_err("nothing known").to_string();
    assert!(refused.starts_with("aperture_correction = none"), "{refused}");
}
