use fit_sim::Random;

use super::super::simulated::CURVES;
use super::*;

const RANGE: [f64; 2] = [-600.0, 600.0];

fn finder(curve: usize, options: FindOptions) -> Finder {
    Finder::new(&CURVES[curve].polynomials(RANGE), options).unwrap()
}

/// Widths at `z` with errors of these shares of them, and noise to match.
fn noisy(
    finder: &Finder,
    z: f64,
    shares: [f64; 2],
    correlation: f64,
    random: &mut Random,
) -> SpotWidths {
    let truth = finder.curve.widths(z);
    let errors = [shares[0] * truth[0], shares[1] * truth[1]];
    let first = random.normal();
    let second = correlation * first + (1.0 - correlation * correlation).sqrt() * random.normal();
    let sigma = [truth[0] + errors[0] * first, truth[1] + errors[1] * second];
    SpotWidths { sigma, errors, correlation }
}

/// Proves that z is found for every spot, with an rms error of at most 1.03 times the Cramér–Rao bound, and that the
/// error given is that bound, for widths known to 2 to 5 % and correlated errors.
#[test]
fn z_is_as_good_as_the_bound() {
    for curve in 0..CURVES.len() {
        let finder = finder(curve, FindOptions::default());
        for (stream, (share, correlation)) in
            [(0.02, 0.0), (0.035, -0.3), (0.05, 0.0), (0.05, 0.4)].into_iter().enumerate()
        {
            let mut random = Random::new(11, stream as u64);
            let (mut squares, mut pulls, mut lost) = (0.0, 0.0, 0);
            let count = 20_000;
            for _ in 0..count {
                let z = random.uniform_in(-500.0, 500.0);
                let spot = noisy(&finder, z, [share, 1.1 * share], correlation, &mut random);
                let [[_, x, _], [_, y, _]] = finder.curve.derivatives(z);
                let [[xx, xy], [_, yy]] = {
                    let [a, b] = spot.errors;
                    let d = 1.0 - correlation * correlation;
                    let off = -correlation / (a * b * d);
                    [[1.0 / (a * a * d), off], [off, 1.0 / (b * b * d)]]
                };
                let bound = (xx * x * x + 2.0 * xy * x * y + yy * y * y).sqrt().recip();
                let depth = finder.find(&spot);
                assert!(depth.z.abs() <= 600.0 && depth.status != DepthStatus::Invalid);
                lost += u32::from(depth.status != DepthStatus::Found);
                squares += ((depth.z - z) / bound).powi(2);
                pulls += ((depth.z - z) / depth.error).powi(2);
            }
            let of = |sum: f64| (sum / f64::from(count)).sqrt();
            assert!((0.97..1.03).contains(&of(squares)), "{curve} {share}: {}", of(squares));
            assert!((0.97..1.04).contains(&of(pulls)), "{curve} {share}: {}", of(pulls));
            assert!(lost <= count / 100, "{curve} {share}: {lost}");
        }
    }
}

/// Proves that the z found is the best of the whole range, for spots anywhere in the plane of widths and both measures,
/// and that the ends are told.
#[test]
fn the_minimum_is_the_global_one() {
    for measure in [Measure::Mahalanobis, Measure::SquareRoots] {
        let finder = finder(1, FindOptions { measure, ..FindOptions::default() });
        let mut random = Random::new(2, 0);
        for _ in 0..2000 {
            let sigma = [random.uniform_in(0.8, 4.0), random.uniform_in(0.8, 4.0)];
            let errors = [random.uniform_in(0.001, 0.3), random.uniform_in(0.001, 0.3)];
            let correlation = random.uniform_in(-0.95, 0.95);
            let spot = SpotWidths { sigma, errors, correlation };
            let depth = finder.find(&spot);
            let square = |z: f64| {
                let widths = finder.curve.widths(z);
                if measure == Measure::SquareRoots {
                    return finder.curve.d_zcalib(z, sigma).powi(2);
                }
                let [dx, dy] = [0, 1].map(|axis| (sigma[axis] - widths[axis]) / errors[axis]);
                (dx * dx - 2.0 * correlation * dx * dy + dy * dy)
                    / (1.0 - correlation * correlation)
            };
            let found = square(depth.z);
            assert!((found - depth.distance.powi(2)).abs() <= 1e-9 * (1.0 + found));
            for i in 0..=1200 {
                let z = f64::from(i) - 600.0;
                assert!(found <= square(z) + 1e-7 * (1.0 + found), "{spot:?} {depth:?}, not {z}");
            }
            let end = matches!(depth.status, DepthStatus::Below | DepthStatus::Above);
            assert_eq!(end, depth.z.abs() == 600.0, "{spot:?} {depth:?}");
        }
    }
}

/// Proves that spots beyond the range are below or above it, that spots between two arms of the curve are ambiguous,
/// and that spots off the curve are far.
#[test]
fn what_is_wrong_with_a_spot_is_told() {
    let options = FindOptions { farthest: f64::INFINITY, ..FindOptions::default() };
    let find = |options: FindOptions, sigma: [f64; 2], error: f64| {
        finder(1, options).find(&SpotWidths { sigma, errors: [error; 2], correlation: 0.0 })
    };
    for (z, status) in [(-700.0, DepthStatus::Below), (700.0, DepthStatus::Above)] {
        let depth = find(options, CURVES[1].widths(z), 0.02);
        assert_eq!((depth.status, depth.z), (status, 600.0 * f64::signum(z)));
        assert!(depth.error > 1.0 && depth.distance > 5.0);
    }
    for sigma in [[2.2, 2.2], [2.2, 2.205]] {
        assert_eq!(find(options, sigma, 0.1).status, DepthStatus::Ambiguous, "{sigma:?}");
    }
    assert_eq!(find(options, [2.1, 2.25], 0.02).status, DepthStatus::Found);
    assert_eq!(find(FindOptions::default(), [2.1, 2.25], 0.02).status, DepthStatus::Far);
    assert_eq!(find(FindOptions::default(), [1.0, 1.0], 0.02).status, DepthStatus::Far);
    let by_roots = FindOptions { measure: Measure::SquareRoots, ..FindOptions::default() };
    assert_eq!(find(by_roots, [1.0, 1.0], 0.02).status, DepthStatus::Far);
    let tolerant = FindOptions { scatter: 0.2, ..FindOptions::default() };
    assert_eq!(find(tolerant, [1.1, 1.1], 0.02).status, DepthStatus::Found);
    assert_eq!(find(options, CURVES[1].widths(123.0), 0.02).status, DepthStatus::Found);
}

/// Proves that no numbers whatever give a z that is not finite without saying so.
#[test]
fn odd_numbers_are_invalid() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 5e-324, 1e300, f64::MAX, 1.5];
    for measure in [Measure::Mahalanobis, Measure::SquareRoots] {
        let finder = finder(0, FindOptions { measure, ..FindOptions::default() });
        let mut valid = 0;
        for a in odd {
            for b in odd {
                for c in odd {
                    for correlation in [0.0, 1.0, -0.999_999, f64::NAN] {
                        let spot = SpotWidths { sigma: [a, b], errors: [c, 0.1], correlation };
                        let depth = finder.find(&spot);
                        let numbers = [depth.z, depth.error, depth.distance];
                        let invalid = depth.status == DepthStatus::Invalid;
                        assert!(
                            numbers.iter().all(|n| n.is_nan() == invalid),
                            "{spot:?} {depth:?}"
                        );
                        assert!(numbers.iter().all(|n| n.is_finite() != invalid));
                        assert!(invalid || (a > 0.0 && b > 0.0 && c > 0.0 && correlation < 1.0));
                        valid += u32::from(!invalid);
                    }
                }
            }
        }
        assert!(valid > 10, "{valid}");
    }
}

/// Proves that the measure of square roots, whose z does not look at the errors, has the error that it says, and that
/// this is above the bound.
#[test]
fn square_roots_have_the_error_they_say() {
    let roots = finder(1, FindOptions { measure: Measure::SquareRoots, ..FindOptions::default() });
    let mahalanobis = finder(1, FindOptions::default());
    let mut random = Random::new(8, 0);
    let (mut pulls, mut squares, mut least) = (0.0, 0.0, 0.0);
    let count = 20_000;
    for _ in 0..count {
        let z = random.uniform_in(-450.0, 450.0);
        let spot = noisy(&roots, z, [0.01, 0.03], 0.2, &mut random);
        let depth = roots.find(&spot);
        pulls += ((depth.z - z) / depth.error).powi(2);
        squares += (depth.z - z).powi(2);
        least += (mahalanobis.find(&spot).z - z).powi(2);
        assert!((depth.distance - roots.curve.d_zcalib(depth.z, spot.sigma)).abs() < 1e-12);
    }
    let pull = (pulls / f64::from(count)).sqrt();
    assert!((0.95..1.05).contains(&pull), "{pull}");
    assert!(squares > 1.1 * least, "{squares} {least}");
}

/// Proves that the magnification multiplies z and its error, and that wrong options are named.
#[test]
fn magnification_and_options() {
    let curve = CURVES[1].polynomials(RANGE);
    let [x, y] = *curve.coefficients();
    let flat = Astigmatism::from_coefficients(x, y, RANGE, 0.79).unwrap();
    let spot = SpotWidths { sigma: curve.widths(321.0), errors: [0.03, 0.04], correlation: 0.1 };
    let [one, other] = [&curve, &flat]
        .map(|curve| Finder::new(curve, FindOptions::default()).unwrap().find(&spot));
    assert!((one.z - 321.0).abs() < 1e-6 && one.distance < 1e-6);
    assert!((other.z - 0.79 * one.z).abs() < 1e-9 && (other.error - 0.79 * one.error).abs() < 1e-9);
    for (options, words) in [
        (FindOptions { scatter: 1.5, ..FindOptions::default() }, "scatter is 1.5"),
        (FindOptions { farthest: 0.0, ..FindOptions::default() }, "farthest is 0"),
        (FindOptions { ambiguous: f64::NAN, ..FindOptions::default() }, "ambiguous is NaN"),
    ] {
        let error = Finder::new(&curve, options).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
}
