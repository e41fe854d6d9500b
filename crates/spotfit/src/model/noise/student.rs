//! Student's t.

use fit_formula::Function;

/// Steps of the continued fraction.
const STEPS: u32 = 500;

/// The probability of |t| or more, with these degrees of freedom.
pub(super) fn two_sided(t: f64, degrees: f64) -> f64 {
    let square = t * t;
    if square == f64::INFINITY {
        return 0.0;
    }
    beta(0.5 * degrees, 0.5, degrees / (degrees + square), square / (degrees + square))
}

/// The regularized incomplete beta function Iₓ(a, b), with y = 1 − x, which may be known better.
pub(crate) fn beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    let gamma = |z| Function::LnGamma.value(z);
    let front = (gamma(a + b) - gamma(a) - gamma(b) + a * x.ln() + b * y.ln()).exp();
    // The fraction converges fast on this side of its middle.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, y) / b
    }
}

/// Its continued fraction (Abramowitz and Stegun 26.5.8), by Lentz' method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |number: f64| if number.abs() < 1e-300 { 1e-300 } else { number };
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut result) = (1.0, d);
    for step in 1..=STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut last = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            last = c * d;
            result *= last;
        }
        if (last - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves values that SciPy has: `2*scipy.stats.t.sf(t, n)`.
    #[test]
    fn known() {
        for (t, degrees, wanted) in [
            (0.0, 5.0, 1.0),
            (1.0, 1.0, 0.5),
            (2.0, 10.0, 0.073_388_034_770_740_45),
            (-3.0, 27.0, 0.005_745_712_642_685_758),
            (12.0, 4.0, 0.000_276_428_548_502_973),
            (6.0, 200.0, 9.115_120_348_810_346e-9),
        ] {
            let found = two_sided(t, degrees);
            assert!((found / wanted - 1.0).abs() < 1e-9, "{t} {degrees}: {found:e}");
        }
        assert_eq!(two_sided(1e300, 3.0), 0.0);
    }
}
