//! Eight numbers of single precision side by side, in plain Rust that compilers turn into vector registers.
//!
//! Sums end in memory and are added up in a function of their own ([`totals`]): compilers that see the last additions
//! beside a loop rearrange the loop for them.

/// How many numbers there are in [`Lanes`].
pub(crate) const LANES: usize = 8;

/// Numbers side by side.
pub(crate) type Lanes = [f32; LANES];

/// The numbers that begin at an index.
#[inline(always)]
pub(crate) fn load(from: &[f32], at: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    lanes.copy_from_slice(&from[at..at + LANES]);
    lanes
}

/// `sum + a·b`, rounded once where the processor does that in one instruction.
#[inline(always)]
pub(crate) fn fused<const FUSED: bool>(a: f32, b: f32, sum: f32) -> f32 {
    if FUSED { a.mul_add(b, sum) } else { a * b + sum }
}

/// [`fused`] in double precision.
#[inline(always)]
pub(crate) fn fused_f64<const FUSED: bool>(a: f64, b: f64, sum: f64) -> f64 {
    if FUSED { a.mul_add(b, sum) } else { a * b + sum }
}

/// Adds a·b to a sum.
#[inline(always)]
pub(crate) fn add_product<const FUSED: bool>(sum: &mut Lanes, a: &Lanes, b: &Lanes) {
    for i in 0..LANES {
        sum[i] = fused::<FUSED>(a[i], b[i], sum[i]);
    }
}

/// The sums over the lanes.
#[inline(never)]
pub(crate) fn totals(sums: &[Lanes], into: &mut [f32]) {
    for (total, lanes) in into.iter_mut().zip(sums) {
        let [a, b, c, d, e, f, g, h] = *lanes;
        *total = ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
}

/// The sum of numbers, of which there are a multiple of [`LANES`].
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(crate) fn total(numbers: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for numbers in numbers.chunks_exact(LANES) {
        for i in 0..LANES {
            sums[i] += numbers[i];
        }
    }
    let mut all = [0.0];
    totals(&[sums], &mut all);
    all[0]
}

/// eˣ for x ≤ 0, with a relative error of some 10⁻⁷; below −87 it is e⁻⁸⁷, a number that no pixel shows.
#[inline(always)]
pub(crate) fn exp_of_negative(x: f32) -> f32 {
    /// Added to a number it rounds it to a whole one, and leaves that in the last bits.
    const ROUNDER: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * core::f32::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    // (eʳ − 1 − r)/r² for |r| ≤ ½ ln 2, by weighted least squares.
    let rest =
        (((0.001_395_172 * r + 0.008_369_598) * r + 0.041_666_187) * r + 0.166_665_13) * r + 0.5;
    let value = rest * (r * r) + r + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    value * power
}

/// erf x with an absolute error of some 10⁻⁷ (Abramowitz & Stegun 7.1.26).
#[inline(always)]
pub(crate) fn erf(x: f32) -> f32 {
    let size = x.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let rest = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_8) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    let value = 1.0 - rest * exp_of_negative(-size * size);
    if x < 0.0 { -value } else { value }
}

/// q·ln q − (q − 1) for q ≥ 0, exact near 1 too, where it is ½(q − 1)².
#[inline(always)]
pub(crate) fn excess(q: f32) -> f32 {
    // q = m·2ᵏ with √½ ≤ m < √2, and ln m = 2 artanh s with s = (m − 1)/(m + 1).
    let bits = q.to_bits() as i32;
    let k = (bits - 0x3f35_04f3) >> 23;
    let m = f32::from_bits((bits - (k << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    // artanh s = s + s³·rest.
    let rest = ((0.111_111_11 * square + 0.142_857_15) * square + 0.2) * square + 0.333_333_34;
    let tail = 2.0 * square * s * rest;
    // 1/(1 − s) = (m + 1)/2.
    let near = (2.0 * square + (1.0 + s) * tail) * (0.5 * (m + 1.0));
    let logarithm = k as f32 * core::f32::consts::LN_2 + (2.0 * s + tail);
    let far = q * logarithm - (q - 1.0);
    if k == 0 { near } else { far }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the functions in single precision are those of libm up to rounding.
    #[test]
    fn functions_agree_with_libm() {
        for i in 0..20_000 {
            let x = i as f32 * 0.003;
            let exact = libm::exp(-f64::from(x));
            assert!((f64::from(exp_of_negative(-x)) - exact).abs() < 3e-7 * exact, "e^-{x}");
            let x = (i as f32 - 10_000.0) * 5e-4;
            assert!((f64::from(erf(x)) - libm::erf(x.into())).abs() < 6e-7, "erf {x}");
            let q = f64::from(i as f32 * 3e-4);
            let exact = if q > 0.0 { q * libm::log(q) - (q - 1.0) } else { 1.0 };
            let found = f64::from(excess(q as f32));
            // Rounding of q itself moves the value by its derivative ln q.
            let slack = 3e-7 * exact + 1.2e-7 * q * (1.0 + q.max(1e-9).ln().abs());
            let slack = if (0.71..1.41).contains(&q) { 1e-6 * exact + 1e-14 } else { slack };
            let q = f64::from(q as f32);
            let exact = if q > 0.0 { q * libm::log(q) - (q - 1.0) } else { 1.0 };
            assert!((found - exact).abs() <= slack, "{q}: {found}, not {exact}");
        }
    }

    /// Proves that [`totals`] adds all lanes, each once.
    #[test]
    fn totals_add_every_lane() {
        let mut found = [0.0; 2];
        totals(&[[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], [1.0; 8]], &mut found);
        assert_eq!(found, [255.0, 8.0]);
    }
}
