//! z from the widths of simulated spots, beside the Cramér–Rao bound.

use fit_sim::{Defocus, SpotShape, SpotSimulation, Spots};
use spotfit::astigmatism::calibrate::{CalibrationOptions, Slice, calibrate};
use spotfit::astigmatism::curve::Astigmatism;
use spotfit::astigmatism::find::{Depth, DepthStatus, FindOptions, Finder, Widths};
use spotfit::{
    Camera, Elliptical, Errors, Estimator, Fit, Fitter, FitterOptions, Options, Parameter, Shape,
    Size, Start, Status, Windows,
};

const SIZE: Size = Size::new(15, 15);
const SIGMA: f64 = 1.3;

/// The curve of the simulation, from slices without noise.
fn curve(defocus: &Defocus) -> Astigmatism {
    let slice = |bead: u32, step: i32| {
        let z = f64::from(step) * 10.0;
        let [sigma_x, sigma_y] = defocus.widths(SIGMA, z);
        Slice { bead, z, x: 0.0, y: 0.0, sigma_x, sigma_y, error_x: 0.01, error_y: 0.01 }
    };
    let slices: Vec<Slice> =
        (0..3).flat_map(|bead| (-62..=62).map(move |step| slice(bead, step))).collect();
    calibrate(&slices, &CalibrationOptions::new(100.0)).expect("a calibration").curve
}

fn fitter(estimator: Estimator) -> Fitter {
    let options = Options::default()
        .with_shape(Shape::Elliptical(Elliptical))
        .with_estimator(estimator)
        .with_camera(Some(Camera::default()));
    Fitter::new(&FitterOptions::from(options)).expect("sound options")
}

fn find(finder: &Finder, sigma: [f64; 2], errors: &Errors) -> Depth {
    use Parameter::{SigmaX, SigmaY};
    let spread = [SigmaX, SigmaY].map(|parameter| f64::from(errors.of(parameter)));
    let correlation = f64::from(errors.covariance(SigmaX, SigmaY)) / (spread[0] * spread[1]);
    finder.find(&Widths { sigma, errors: spread, correlation })
}

/// What the spots are.
fn truths(spots: &Spots, defocus: &Defocus) -> Vec<Fit<f64>> {
    let truth = |truth: &fit_sim::Truth| {
        let [sigma_x, sigma_y] = defocus.widths(SIGMA, truth.z);
        Fit {
            x: truth.shape.x,
            y: truth.shape.y,
            sigma: (sigma_x * sigma_y).sqrt(),
            sigma_x,
            sigma_y,
            amplitude: truth.signal / (std::f64::consts::TAU * sigma_x * sigma_y),
            background: truth.background / SIZE.pixels() as f64,
            status: Status::MinStep,
            ..Fit::invalid()
        }
    };
    spots.truth.iter().map(truth).collect()
}

/// Errors of z over the bound, in the root mean square, within ±500 nm; the share whose z was found; and the
/// errors over those stated.
fn ratios(photons: f64, estimator: Estimator) -> (f64, f64, f64) {
    let defocus = Defocus::default().with_z_range(500.0);
    let simulation = SpotSimulation::new(SIZE)
        .with_signal(photons)
        .with_background(10.0 * SIZE.pixels() as f64)
        .with_sigma(SIGMA..SIGMA)
        .with_shape(SpotShape::Defocused(defocus))
        .with_reach(Some(0.5))
        .with_seed(3);
    let spots = simulation.generate(0..20_000).expect("a sound simulation");
    let (fitter, finder) =
        (fitter(estimator), Finder::new(&curve(&defocus), FindOptions::default()).expect("sound"));
    let fits: Vec<Fit<f64>> = fitter.fit(spots.pixels.view(), Start::Estimate).expect("fits");
    let windows = || Windows::stack(spots.pixels.view()).into();
    let errors = fitter.errors(windows(), &fits).expect("errors");
    let truths = truths(&spots, &defocus);
    let bounds = fitter.errors(windows(), &truths).expect("bounds");
    let (mut squares, mut stated, mut bound, mut found, mut all) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (index, fit) in fits.iter().enumerate() {
        let z = spots.truth[index].z;
        all += 1.0;
        let depth = find(&finder, [fit.sigma_x, fit.sigma_y], &errors[index]);
        if fit.status.is_converged() && depth.status == DepthStatus::Found {
            let truth = &truths[index];
            let ideal = find(&finder, [truth.sigma_x, truth.sigma_y], &bounds[index]);
            squares += ((depth.z - z) / ideal.error).powi(2);
            stated += ((depth.z - z) / depth.error).powi(2);
            bound += ideal.error;
            found += 1.0;
        }
    }
    println!(
        "{photons} photons, {estimator:?}: error over bound {:.3}, over stated {:.3}, bound {:.1} nm, found {:.2} %",
        (squares / found).sqrt(),
        (stated / found).sqrt(),
        bound / found,
        100.0 * found / all
    );
    ((squares / found).sqrt(), found / all, (stated / found).sqrt())
}

/// Proves that z by maximum likelihood is as good as the light allows.
#[test]
fn heights_are_as_good_as_the_light_allows() {
    for (photons, most) in [(500.0, 1.05), (1000.0, 1.025), (2000.0, 1.015), (5000.0, 1.015)] {
        let (bound, found, stated) = ratios(photons, Estimator::MaximumLikelihood);
        assert!(
            bound < most && found > 0.99 && stated < most,
            "{photons}: {bound} {found} {stated}"
        );
    }
    // The errors of least squares are those of its own fit.
    let (bound, found, stated) = ratios(1000.0, Estimator::LeastSquares);
    assert!(bound < 1.5 && found > 0.99 && stated < 1.05, "{bound} {found} {stated}");
}
