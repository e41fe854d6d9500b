//! z from the widths of simulated spots, beside the Cramér–Rao bound.

use fit_sim::{Defocus, Random, SimulatedSpots, SpotProfile, SpotShape, SpotSimulation};
use spotfit::astigmatism::calibrate::{Slice, WidthCalibrationOptions, calibrate_widths};
use spotfit::astigmatism::curve::Astigmatism;
use spotfit::astigmatism::find::{Depth, DepthStatus, FindOptions, Finder, SpotWidths};
use spotfit::astigmatism::table::TableFinder;
use spotfit::table::{Column, Info, Kind, Table, Unit};
use spotfit::{
    Camera, Elliptical, Errors, Estimator, Fit, Fitter, FitterOptions, Options, Parameter,
    PixelProfile, Shape, Size, Start, Status, Windows,
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
    calibrate_widths(&slices, &WidthCalibrationOptions::new(100.0)).expect("a calibration").curve
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
    finder.find(&SpotWidths { sigma, errors: spread, correlation })
}

/// What the spots are.
fn truths(spots: &SimulatedSpots, defocus: &Defocus) -> Vec<Fit<f64>> {
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

/// A table of fits as `localize` without errors of the widths has it.
fn table(fits: &[Fit<f64>], errors: &[Errors], with_errors: bool) -> Table {
    let mut table = Table::new(Info::default());
    let mut add = |name: &str, unit: Unit, of: &dyn Fn(usize) -> f64| {
        let values = (0..fits.len()).map(of).collect();
        table.set(Column::new(name, unit, Kind::Double, values));
    };
    let error = |row: usize, parameter| f64::from(errors[row].of(parameter));
    add("x", Unit::Pixel, &|row| fits[row].x);
    add("y", Unit::Pixel, &|row| fits[row].y);
    add("sigma_x", Unit::Pixel, &|row| fits[row].sigma_x);
    add("sigma_y", Unit::Pixel, &|row| fits[row].sigma_y);
    add("photons", Unit::Photon, &|row| fits[row].signal());
    add("background", Unit::Photon, &|row| fits[row].background);
    add("uncertainty_x", Unit::Pixel, &|row| error(row, Parameter::X));
    add("uncertainty_y", Unit::Pixel, &|row| error(row, Parameter::Y));
    if with_errors {
        add("sigma_x_error", Unit::Pixel, &|row| error(row, Parameter::SigmaX));
        add("sigma_y_error", Unit::Pixel, &|row| error(row, Parameter::SigmaY));
    }
    table
}

/// Proves that z of a table is off by as much as stated, with the errors of the widths and without them: by either
/// estimator, of sampled and integrated spots, by cameras with and without EM gain and read noise.
#[test]
fn heights_of_tables_are_off_by_as_much_as_stated() {
    use Estimator::{LeastSquares, MaximumLikelihood};
    let plain = Camera::default();
    let em = plain.with_em_gain(Some(1.0));
    let noisy = plain.with_read_noise(2.0);
    for (photons, background, profile, camera) in [
        (1000.0, 10.0, PixelProfile::Sampled, plain),
        (3000.0, 10.0, PixelProfile::Sampled, plain),
        (3000.0, 1.0, PixelProfile::Sampled, plain),
        (1000.0, 10.0, PixelProfile::Integrated, plain),
        (3000.0, 40.0, PixelProfile::Integrated, plain),
        (3000.0, 10.0, PixelProfile::Sampled, em),
        (1000.0, 2.0, PixelProfile::Sampled, noisy),
    ] {
        let defocus = Defocus::default().with_z_range(500.0);
        let sum = background * SIZE.pixels() as f64;
        let simulation = SpotSimulation::new(SIZE)
            .with_signal(photons)
            .with_background(sum)
            .with_sigma(SIGMA..SIGMA)
            .with_shape(SpotShape::Defocused(defocus))
            .with_profile(match profile {
                PixelProfile::Integrated => SpotProfile::Integrated,
                _ => SpotProfile::Sampled,
            })
            .with_reach(Some(0.5))
            .with_seed(5);
        let mut spots = simulation.generate(0..5000).expect("a sound simulation");
        let mut random = Random::new(5, 0);
        for pixel in &mut spots.pixels {
            if camera.em_gain.is_some() {
                *pixel = random.gamma(f64::from(*pixel)) as f32;
            }
            *pixel += (camera.read_noise * random.normal()) as f32;
        }
        let finder = Finder::new(&curve(&defocus), FindOptions::default()).expect("sound");
        let finder = TableFinder::new(finder, Some(15)).expect("a sound size");
        for estimator in [LeastSquares, MaximumLikelihood] {
            let options = Options::default()
                .with_shape(Shape::Elliptical(Elliptical))
                .with_profile(profile)
                .with_estimator(estimator)
                .with_camera(Some(camera));
            let fitter = Fitter::new(&FitterOptions::from(options)).expect("sound options");
            let fits: Vec<Fit<f64>> =
                fitter.fit(spots.pixels.view(), Start::Estimate).expect("fits");
            let windows = Windows::stack(spots.pixels.view()).into();
            let errors = fitter.errors(windows, &fits).expect("errors");
            for with_errors in [true, false] {
                let table = table(&fits, &errors, with_errors);
                let (depths, estimated) = finder.find(&table).expect("a table");
                assert_eq!(estimated, !with_errors);
                let found: Vec<f64> = fits
                    .iter()
                    .zip(&depths)
                    .zip(&spots.truth)
                    .filter(|((fit, depth), _)| {
                        fit.status.is_converged() && depth.status == DepthStatus::Found
                    })
                    .map(|((_, depth), truth)| (depth.z - truth.z) / depth.error)
                    .collect();
                let ratio = (found.iter().map(|r| r * r).sum::<f64>() / found.len() as f64).sqrt();
                println!(
                    "{photons}:{background} {profile:?} {camera:?} {estimator:?} errors {with_errors}: {ratio:.3} of {}",
                    found.len()
                );
                assert!((0.95..1.15).contains(&ratio), "{photons} {estimator:?}: {ratio}");
                assert!(found.len() > 4900, "{}", found.len());
            }
        }
    }
}

/// Proves that what a table lacks is named, that rows that make no sense are invalid and no others, and that a side of windows out of
/// its range is refused.
#[test]
fn tables_that_do_not_tell_z_are_refused() {
    let defocus = Defocus::default();
    let finder = || Finder::new(&curve(&defocus), FindOptions::default()).expect("sound");
    let spot = Fit {
        x: 7.2,
        y: 7.0,
        sigma_x: 1.4,
        sigma_y: 1.6,
        amplitude: 70.0,
        background: 5.0,
        sigma: 1.5,
        status: Status::MinStep,
        ..Fit::invalid()
    };
    let mut fits = vec![spot; 4];
    fits[1].amplitude = -70.0;
    fits[2].sigma_x = f64::NAN;
    let errors = vec![Errors::unknown(); 4];
    let mut table = table(&fits, &errors, false);
    let of = |table: &Table| TableFinder::new(finder(), None).expect("sound").find(table);
    // Uncertainties that are infinite say nothing, and least squares is assumed.
    let (depths, estimated) = of(&table).expect("a table");
    let statuses: Vec<DepthStatus> = depths.iter().map(|depth| depth.status).collect();
    let (found, invalid) = (DepthStatus::Found, DepthStatus::Invalid);
    assert!(estimated);
    assert_eq!(statuses, [found, invalid, invalid, found]);
    table.remove("background");
    let said = of(&table).expect_err("no background").to_string();
    assert!(said.contains("background"), "{said}");
    table.remove("sigma_x");
    let said = of(&table).expect_err("no width").to_string();
    assert!(said.contains("sigma_x"), "{said}");
    for side in [4, 8, 65] {
        let said = TableFinder::new(finder(), Some(side)).expect_err("a side").to_string();
        assert!(said.contains("box_size"), "{said}");
    }
    let side = |carried, given, table: &Table| {
        let finder = TableFinder::new(finder().with_box_size(carried), given).expect("sound");
        finder.box_size(table)
    };
    assert_eq!(side(None, None, &table), 13);
    assert_eq!(side(Some(9), None, &table), 9);
    let mut told = table;
    let mut set = |name: &str, values: [f64; 4]| {
        told.set(Column::new(name, Unit::None, Kind::Double, values.to_vec()));
    };
    set("chi2", [76.0 * 4.0, 76.0, 76.0 * 9.0, f64::NAN]);
    set("background_std", [2.0, 1.0, 3.0, 1.0]);
    assert_eq!(side(Some(13), None, &told), 9);
    assert_eq!(side(Some(13), Some(7), &told), 7);
    told.set(Column::new("chi2", Unit::None, Kind::Double, vec![50.0, 400.0, 8000.0, 1.0]));
    assert_eq!(side(Some(11), None, &told), 11);
    // As many parameters as a fit may have, and those of versions that took 5 for all of them.
    for side_of_fit in [5, 7, 9, 21] {
        for parameters in [4, 5, 6, 7, 8, 9] {
            let freedom = (side_of_fit * side_of_fit - parameters) as f64;
            let squares = vec![4.0 * freedom, freedom, 9.0 * freedom, f64::NAN];
            told.set(Column::new("chi2", Unit::None, Kind::Double, squares));
            assert_eq!(side(Some(13), None, &told), side_of_fit, "{parameters} parameters");
        }
    }
    // Windows that lack more pixels than that tell nothing.
    told.set(Column::new("chi2", Unit::None, Kind::Double, vec![240.0, 60.0, 540.0, 60.0]));
    assert_eq!(side(Some(11), None, &told), 11);
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
