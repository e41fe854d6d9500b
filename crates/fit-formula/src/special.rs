//! Functions that no library of ours has, in f64.

use core::f64::consts::{FRAC_2_SQRT_PI, PI};

/// exp(x²)·erfc x.
pub(crate) fn erfcx(x: f64) -> f64 {
    /// From here on the asymptotic series is exact.
    const FAR: f64 = 10.0;
    if x < FAR {
        return libm::exp(x * x) * libm::erfc(x);
    }
    let inverse = 0.5 / (x * x);
    let mut sum = 1.0;
    for k in (1..=12).rev() {
        sum = 1.0 - f64::from(2 * k - 1) * inverse * sum;
    }
    0.5 * FRAC_2_SQRT_PI / x * sum
}

/// The derivative of ln Γ.
pub(crate) fn digamma(x: f64) -> f64 {
    /// From here on the asymptotic series is exact.
    const FAR: f64 = 12.0;
    /// B₂ₖ/2k.
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
    ];
    if x.is_nan() || x == f64::NEG_INFINITY || (x <= 0.0 && x == libm::floor(x)) {
        return f64::NAN;
    }
    if x < 0.0 {
        // Of the cotangent only the part beside a whole number matters.
        return digamma(1.0 - x) - PI / libm::tan(PI * (x - libm::floor(x)));
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < FAR {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let rest = SERIES.iter().rev().fold(0.0, |rest, term| (rest + term) * square);
    sum + libm::log(x) - 0.5 / x - rest
}

/// Real and imaginary part of w(z) = exp(−z²)·erfc(−iz), z = x + iy.
///
/// After G. P. M. Poppe and C. M. J. Wijers, *More efficient computation of the complex error function*, ACM Trans. Math.
/// Softw. 16, 38 (1990): a power series near 0, Laplace's continued fraction far away, and between them a Taylor series
/// about a point further up, whose derivatives the same continued fraction gives.
pub(crate) fn faddeeva(x: f64, y: f64) -> [f64; 2] {
    if x.is_nan() || y.is_nan() {
        return [f64::NAN; 2];
    }
    let [re, im] = upper_right(x.abs(), y.abs());
    // w(−z̄) is the conjugate of w(z).
    if y >= 0.0 {
        return [re, if x < 0.0 { -im } else { im }];
    }
    // Below the axis: w(z) = 2exp(−z²) − w(−z).
    let size = 2.0 * libm::exp((y - x) * (y + x));
    let angle = 2.0 * x * y;
    let below = [size * libm::cos(angle), -size * libm::sin(angle)];
    [below[0] - re, below[1] - if x < 0.0 { im } else { -im }]
}

/// For x, y ≥ 0.
fn upper_right(x: f64, y: f64) -> [f64; 2] {
    let far = [x / 6.3, y / 4.4];
    let rho = far[0] * far[0] + far[1] * far[1];
    let [re, im] = if rho < 0.085_264 { near(x, y, rho) } else { fraction(x, y, rho) };
    [if y == 0.0 { libm::exp(-x * x) } else { re }, im]
}

/// erf as a power series.
fn near(x: f64, y: f64, rho: f64) -> [f64; 2] {
    let square = [(x - y) * (x + y), 2.0 * x * y];
    let terms = libm::round(6.0 + 72.0 * (1.0 - 0.85 * y / 4.4) * libm::sqrt(rho)) as i32;
    let mut odd = f64::from(2 * terms + 1);
    let mut sum = [1.0 / odd, 0.0];
    for i in (1..=terms).rev() {
        odd -= 2.0;
        let inverse = 1.0 / f64::from(i);
        sum = times(sum, square).map(|part| part * inverse);
        sum[0] += 1.0 / odd;
    }
    let erfc = [
        1.0 - FRAC_2_SQRT_PI * (sum[0] * y + sum[1] * x),
        FRAC_2_SQRT_PI * (sum[0] * x - sum[1] * y),
    ];
    let size = libm::exp(-square[0]);
    let exponential = [size * libm::cos(square[1]), -size * libm::sin(square[1])];
    times(erfc, exponential)
}

fn times(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The continued fraction, with a Taylor series where it converges slowly.
fn fraction(x: f64, y: f64, rho: f64) -> [f64; 2] {
    let (up, order, terms) = if rho > 1.0 {
        (0.0, -1, (3.0 + 1442.0 / (26.0 * libm::sqrt(rho) + 77.0)) as i32)
    } else {
        let share = (1.0 - y / 4.4) * libm::sqrt(1.0 - rho);
        let order = libm::round(7.0 + 34.0 * share) as i32;
        (1.88 * share, order, libm::round(16.0 + 26.0 * share) as i32)
    };
    let mut power = libm::pow(2.0 * up, f64::from(order.max(0)));
    let (mut rest, mut sum) = ([0.0, 0.0], [0.0, 0.0]);
    for n in (0..=terms).rev() {
        let next = f64::from(n + 1);
        let below = [y + up + next * rest[0], x - next * rest[1]];
        let inverse = 0.5 / (below[0] * below[0] + below[1] * below[1]);
        rest = [inverse * below[0], inverse * below[1]];
        if up > 0.0 && n <= order {
            let more = power + sum[0];
            sum = [rest[0] * more - rest[1] * sum[1], rest[1] * more + rest[0] * sum[1]];
            power /= 2.0 * up;
        }
    }
    (if up > 0.0 { sum } else { rest }).map(|part| FRAC_2_SQRT_PI * part)
}
