use super::super::simulated::{CURVES, Huang};
use super::*;

const RANGE: [f64; 2] = [-600.0, 600.0];

/// Proves that polynomials of degree 6 represent defocus curves of Huang et al. to what the docs say, counted in z, and
/// that coefficients in nm and the evaluation agree.
#[test]
fn degree_six_is_enough() {
    for (reach, most) in [(600.0, 1.1), (700.0, 2.1), (800.0, 3.6)] {
        let mut worst = 0.0f64;
        for huang in CURVES {
            let curve = huang.polynomials([-reach, reach]);
            for i in -100..=100 {
                let z = 0.01 * f64::from(i) * reach;
                // z that relative errors of one size in both widths give.
                let (mut gradient, mut information) = (0.0, 0.0);
                for (truth, [width, slope, _]) in
                    huang.widths(z).into_iter().zip(curve.derivatives(z))
                {
                    gradient += (truth - width) * slope / (truth * truth);
                    information += (slope / truth).powi(2);
                }
                if z.abs() <= 600.0 {
                    worst = worst.max((gradient / information).abs());
                }
                for (axis, width) in curve.widths(z).into_iter().enumerate() {
                    let direct =
                        curve.coefficients()[axis].iter().rev().fold(0.0, |sum, c| sum * z + c);
                    assert!((direct - width).abs() < 1e-10, "{direct} {width}");
                }
            }
        }
        assert!(worst < most, "{reach}: {worst}");
    }
}

/// Proves the derivatives by differences, within the range and beyond, and that beyond it curves go on smoothly, stay
/// positive and do not overflow.
#[test]
fn curves_go_on_beyond_their_range() {
    // This short range ends before the focus of each axis: both a rising and a falling end.
    for range in [RANGE, [-150.0, 150.0]] {
        let curve = CURVES[1].polynomials(range);
        let h = 0.01;
        for i in -400..=400 {
            let z = 5.0 * f64::from(i) + 1.3;
            let (at, before, after) =
                (curve.derivatives(z), curve.derivatives(z - h), curve.derivatives(z + h));
            for axis in 0..2 {
                assert!(at[axis][0] > 0.0 && at[axis][0] == curve.widths(z)[axis]);
                let slope = (after[axis][0] - before[axis][0]) / (2.0 * h);
                let bend = (after[axis][1] - before[axis][1]) / (2.0 * h);
                assert!((slope - at[axis][1]).abs() < 1e-8, "{z}: {slope} {}", at[axis][1]);
                assert!((bend - at[axis][2]).abs() < 1e-9, "{z}: {bend} {}", at[axis][2]);
            }
        }
        for end in range {
            let (inside, outside) =
                (curve.derivatives(end * (1.0 - 1e-9)), curve.derivatives(end * (1.0 + 1e-9)));
            for axis in 0..2 {
                assert!((inside[axis][0] - outside[axis][0]).abs() < 1e-8);
                assert!((inside[axis][1] - outside[axis][1]).abs() < 1e-10);
            }
        }
        assert!(
            curve.widths(1e9).iter().chain(&curve.widths(-1e9)).all(|w| *w > 0.0 && w.is_finite())
        );
        assert!(curve.widths(f64::NAN).iter().all(|w| w.is_nan()));
    }
}

/// Proves that what cannot be a calibration is refused, with the place.
#[test]
fn unusable_curves_are_refused() {
    let curve = CURVES[1].polynomials(RANGE);
    let [x, y] = *curve.coefficients();
    let make =
        |x, y, range, magnification| Astigmatism::from_coefficients(x, y, range, magnification);
    assert_eq!(make(x, y, RANGE, 1.0).unwrap(), curve);
    let mut nan = y;
    nan[3] = f64::NAN;
    assert!(matches!(
        make(x, nan, RANGE, 1.0),
        Err(AstigmatismError::Coefficient { axis: 'y', power: 3, .. })
    ));
    for range in [[600.0, -600.0], [0.0, 5.0], [f64::NAN, 600.0], [0.0, 1e7]] {
        assert!(matches!(make(x, y, range, 1.0), Err(AstigmatismError::Range { .. })), "{range:?}");
    }
    for magnification in [0.0, -1.0, f64::NAN, 1e3] {
        assert!(matches!(
            make(x, y, RANGE, magnification),
            Err(AstigmatismError::Magnification(_))
        ));
    }
    let mut lower = x;
    lower[0] -= 1.4;
    let Err(AstigmatismError::Width { axis: 'x', z, width }) = make(lower, y, RANGE, 1.0) else {
        panic!()
    };
    assert!(width < 0.01 && z < 300.0, "{z} {width}");
    // Coefficients that overflow within the range.
    assert!(matches!(
        make([1e300; TERMS], y, RANGE, 1.0),
        Err(AstigmatismError::Width { axis: 'x', .. })
    ));
    // No lens: both axes focus at the same z, and z and −z are alike.
    let same = Huang { focus: 0.0, cubic: 0.0, quartic: 0.0 };
    let mut sums = super::super::polynomial::Normal::default();
    (0..=100).for_each(|i| {
        sums.add(-1.0 + 0.02 * f64::from(i), same.widths(-600.0 + 12.0 * f64::from(i))[0], 1.0);
    });
    let alike = super::super::polynomial::unscaled(&sums.solve().unwrap(), 0.0, 600.0);
    assert!(
        matches!(make(alike, alike, RANGE, 1.0), Err(AstigmatismError::Flat { z }) if z.abs() < 20.0)
    );
    let constant = [1.3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert!(matches!(make(constant, constant, RANGE, 1.0), Err(AstigmatismError::Flat { .. })));
    // x turns about z = 100 and y is a little more than constant there: the widths at 100 ± d are nearly the same.
    let loops = [2.0 + 1e-5 * 1e4, -2e-3, 1e-5, 0.0, 0.0, 0.0, 0.0];
    let slow = [1.5, 2e-5, 0.0, 0.0, 0.0, 0.0, 0.0];
    match make(loops, slow, [-300.0, 500.0], 1.0) {
        Err(AstigmatismError::Folded { z, other }) => {
            assert!((z + other - 200.0).abs() < 30.0, "{z} {other}");
        }
        Err(AstigmatismError::Flat { z }) => assert!((z - 100.0).abs() < 20.0, "{z}"),
        other => panic!("{other:?}"),
    }
    // A loop: σx = 2 + v·(u³ − u) and σy = 2 + v·(u² − 1) with u = z/300 meet at u = ±1.
    let (u, v) = (1.0 / 300.0f64, 0.3);
    let crossing_x = [2.0, -v * u, 0.0, v * u.powi(3), 0.0, 0.0, 0.0];
    let crossing_y = [2.0 - v, 0.0, v * u * u, 0.0, 0.0, 0.0, 0.0];
    let Err(AstigmatismError::Folded { z, other }) =
        make(crossing_x, crossing_y, [-400.0, 400.0], 1.0)
    else {
        panic!()
    };
    assert!((z + 300.0).abs() < 40.0 && (other - 300.0).abs() < 40.0, "{z} {other}");
    assert!(make(crossing_x, crossing_y, [-250.0, 250.0], 1.0).is_ok());
}

/// Proves Picasso's distance for widths on the curve and off it.
#[test]
fn distances_of_roots() {
    let curve = CURVES[0].polynomials(RANGE);
    let [x, y] = curve.widths(77.0);
    assert!(curve.d_zcalib(77.0, [x, y]) < 1e-15);
    let off = [(x.sqrt() + 0.3).powi(2), (y.sqrt() - 0.4).powi(2)];
    assert!((curve.d_zcalib(77.0, off) - 0.5).abs() < 1e-12);
}
