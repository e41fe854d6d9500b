//! The distributions by which fits are judged: χ², F, Student's t and the normal one.

use crate::Estimator;
use crate::model::CurveOptions;

/// Degrees of freedom from which Student's distribution is the normal one, and F is χ².
const MANY: f64 = 1e7;

/// How likely χ² of so many degrees of freedom is to be this large or larger; NaN without degrees of freedom.
///
/// ```
/// use spotfit::model::answers::chi2_survival;
///
/// assert!((chi2_survival(3.841458820694124, 1.0) - 0.05).abs() < 1e-12);
/// ```
pub fn chi2_survival(chi2: f64, degrees: f64) -> f64 {
    let known = degrees > 0.0 && chi2 >= 0.0;
    if !known {
        return f64::NAN;
    }
    let (a, x) = (0.5 * degrees, 0.5 * chi2);
    if x == f64::INFINITY {
        return 0.0;
    }
    if a > MANY {
        // Wilson and Hilferty 1931: the cube root is nearly normal.
        let v = 2.0 / (9.0 * degrees);
        let z = ((chi2 / degrees).cbrt() - (1.0 - v)) / v.sqrt();
        return 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
    }
    gamma_survival(a, x)
}

/// The regularized incomplete gamma function Q(a, x): DLMF 8.7.1 and 8.9.2.
fn gamma_survival(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let head = (a * x.ln() - x - libm::lgamma(a)).exp();
    // Terms shrink after about √a of them.
    let most = 200 + 40 * a.sqrt() as u32;
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..most {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < 1e-17 * sum {
                break;
            }
        }
        return (1.0 - head * sum).clamp(0.0, 1.0);
    }
    // Lentz's way to evaluate the continued fraction.
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (f64::INFINITY, 1.0 / b);
    let mut fraction = d;
    for i in 1..=most {
        let i = f64::from(i);
        let by = -i * (i - a);
        b += 2.0;
        d = 1.0 / (by * d + b);
        c = b + by / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (head * fraction).clamp(0.0, 1.0)
}

/// How likely F of so many degrees of freedom, above and below, is to be this large or larger; NaN without degrees of freedom.
///
/// ```
/// use spotfit::model::answers::f_survival;
///
/// assert!((f_survival(4.964602743730713, [1.0, 10.0]) - 0.05).abs() < 1e-10);
/// ```
pub fn f_survival(f: f64, [above, below]: [f64; 2]) -> f64 {
    let known = above > 0.0 && below > 0.0 && f >= 0.0;
    match known {
        false => f64::NAN,
        true if f == f64::INFINITY => 0.0,
        true if below > MANY => chi2_survival(f * above, above),
        true => beta_share(below / (below + above * f), 0.5 * below, 0.5 * above),
    }
}

/// The regularized incomplete beta function Iₓ(a, b): DLMF 8.17.22.
fn beta_share(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_share(1.0 - x, b, a);
    }
    let gammas = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b);
    let head = (gammas + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    let most = 200 + 10 * a.max(b).sqrt() as u32;
    for m in 1..=most {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for by in [even, odd] {
            d = 1.0 / (1.0 + by * d);
            c = 1.0 + by / c;
            factor = c * d;
            fraction *= factor;
        }
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (head * fraction).clamp(0.0, 1.0)
}

/// How many standard deviations on both sides of the mean hold this share of a normal distribution.
///
/// ```
/// use spotfit::model::answers::normal_quantile;
///
/// assert!((normal_quantile(0.95) - 1.959963984540054).abs() < 1e-12);
/// ```
pub fn normal_quantile(level: f64) -> f64 {
    let outside = |z: f64| libm::erfc(z / std::f64::consts::SQRT_2);
    quantile(level, outside)
}

/// The same of Student's t with so many degrees of freedom; infinite without any.
///
/// ```
/// use spotfit::model::answers::student_quantile;
///
/// assert!((student_quantile(0.95, 10.0) - 2.228138851964939).abs() < 1e-9);
/// ```
pub fn student_quantile(level: f64, degrees: f64) -> f64 {
    match degrees {
        _ if degrees > MANY => normal_quantile(level),
        _ if degrees > 0.0 => quantile(level, |t| f_survival(t * t, [1.0, degrees])),
        _ => f64::INFINITY,
    }
}

/// The quantile of errors of fits with these options and so many degrees of freedom: of Student's t where residuals scale the errors.
pub(super) fn quantile_of(options: &CurveOptions, level: f64, degrees: f64) -> f64 {
    if knows_errors(options) { normal_quantile(level) } else { student_quantile(level, degrees) }
}

/// Whether errors do not follow from residuals: weights are absolute, or data counts.
pub(super) fn knows_errors(options: &CurveOptions) -> bool {
    options.absolute || options.estimator == Estimator::MaximumLikelihood
}

/// Where the share outside is what a level leaves.
fn quantile(level: f64, outside: impl Fn(f64) -> f64) -> f64 {
    let left = 1.0 - level;
    let (mut low, mut high) = (0.0, 1.0);
    while outside(high) > left {
        (low, high) = (high, 2.0 * high);
        if high > 1e300 {
            return f64::INFINITY;
        }
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        *(if outside(middle) > left { &mut low } else { &mut high }) = middle;
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the distributions are those of SciPy 1.17 (`scipy.stats`, 2026-11-27), in both branches of each and far out.
    #[test]
    fn distributions_are_those_of_scipy() {
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        };
        near(chi2_survival(0.5, 3.0), 0.9188914116546758);
        near(chi2_survival(30.0, 10.0), 0.000856641210775301);
        near(chi2_survival(1030.0, 1000.0), 0.2485378502140807);
        near(chi2_survival(200.0, 4.0), 3.75727673578106e-42);
        near(f_survival(2.5, [3.0, 7.0]), 0.14350945627893932);
        near(f_survival(0.1, [5.0, 2.0]), 0.9821114561800017);
        near(f_survival(50.0, [2.0, 100.0]), 8.881784197001252e-16);
        near(student_quantile(0.68, 2.0), 1.311578474677781);
        near(student_quantile(0.95, 5.0), 2.5705818356363146);
        near(normal_quantile(0.68), 0.9944578832097531);
        near(student_quantile(0.9, 1e9), normal_quantile(0.9));
    }

    /// Proves that without degrees of freedom nothing is said.
    #[test]
    fn nothing_is_said_without_degrees_of_freedom() {
        assert!(chi2_survival(1.0, 0.0).is_nan() && chi2_survival(f64::NAN, 2.0).is_nan());
        assert!(f_survival(1.0, [0.0, 2.0]).is_nan() && f_survival(-1.0, [1.0, 2.0]).is_nan());
        assert_eq!(
            (chi2_survival(f64::INFINITY, 2.0), student_quantile(0.9, 0.0)),
            (0.0, f64::INFINITY)
        );
    }
}
