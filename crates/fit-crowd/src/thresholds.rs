//! By how much the deviance must fall for emitters to be believed.

use core::f64::consts::{PI, TAU};

/// By how much the deviance must fall for a spot to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    /// For a spot where there was none: T.
    pub(crate) birth: f64,
    /// For two where there was one: T₂.
    pub(crate) split: f64,
}

impl Thresholds {
    /// For spots without height of this width (√(σxσy)).
    pub(crate) fn of_plane(rate: f64, splits: f64, sigma: f64) -> Self {
        Self {
            birth: birth(rate, 1.0 / (2.0 * sigma * sigma), 0.0),
            split: -2.0 * libm::log(splits),
        }
    }

    /// The same for spots that have a width each. The two of a split may differ in it, which gives the fall of the deviance one degree of
    /// freedom more.
    pub(crate) fn of_widths(rate: f64, splits: f64, sigma: f64) -> Self {
        Self { split: split_of_three(splits), ..Self::of_plane(rate, splits, sigma) }
    }

    /// For spots with a height, in which the two of a split may differ, and whose scores have this roughness.
    pub(crate) fn of_depth(rate: f64, splits: f64, roughness: &Roughness) -> Self {
        let birth = birth(rate, roughness.in_plane, roughness.in_depth);
        Self { birth, split: split_of_three(splits) }
    }
}

/// T₂ where a split has three degrees of freedom: noise alone brings it with the probability erfc √(T₂/2) + √(2T₂/π)·e^(−T₂/2), that
/// of χ² of three degrees.
fn split_of_three(splits: f64) -> f64 {
    let tail =
        |t: f64| libm::erfc(libm::sqrt(0.5 * t)) + libm::sqrt(2.0 * t / PI) * libm::exp(-0.5 * t);
    solve(splits, [0.0, 200.0], tail)
}

/// How fast the image of a spot, scaled to Σg² = 1, changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Roughness {
    /// √det Λ per pixel, Λ being the products of its changes along x and y: 1/(2σxσy) for a Gaussian.
    pub(crate) in_plane: f64,
    /// Its way over the whole range of heights.
    pub(crate) in_depth: f64,
}

/// The threshold T at which noise has `rate` maxima in 10⁶ pixels.
///
/// The score of a spot of unknown place is a smooth Gaussian field whose correlation has the curvature Λ, 1/(2σ²) along each axis; the
/// number of its maxima above √T is that of its Euler characteristic (Adler & Taylor 2007, theorem 12.4.1):
/// α = A·√det Λ·(2π)^(−3/2)·√T·e^(−T/2) on an area A, and on an area and a way L in depth
/// A·√det Λ·((2π)^(−3/2)·√T + L·(2π)^(−2)·(T − 1))·e^(−T/2).
fn birth(rate: f64, in_plane: f64, in_depth: f64) -> f64 {
    let scale = 1e6 * in_plane * libm::pow(TAU, -1.5);
    let deep = in_depth / libm::sqrt(TAU);
    // The rate falls with T from 1 on, or 3 where there is depth.
    let low = if in_depth > 0.0 { 3.0 } else { 1.0 };
    solve(rate, [low, 200.0], |t| scale * (libm::sqrt(t) + deep * (t - 1.0)) * libm::exp(-0.5 * t))
}

/// Where a falling function has a value.
fn solve(value: f64, [mut low, mut high]: [f64; 2], of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if of(middle) > value { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the thresholds are those at which the formulas give the rates: on 64 × 64 pixels with σ = 1.3, T = 12.25, 16
    /// and 20.25 for 0.589, 0.103 and 0.0139 births.
    #[test]
    fn thresholds_invert_the_rates() {
        let of = |rate| Thresholds::of_plane(rate, libm::exp(-6.0), 1.3);
        for (births, threshold) in [(0.589, 12.25), (0.103, 16.0), (0.0139, 20.25)] {
            let found = of(births * 1e6 / 4096.0).birth;
            assert!((found - threshold).abs() < 0.01, "{found}, not {threshold}");
        }
        assert!((of(25.0).split - 12.0).abs() < 1e-9);
        assert!((of(25.0).birth - 16.0).abs() < 0.1);
    }

    /// Proves that what may have any height or width needs more: χ² of three degrees is above 14.32 with a probability of 0.0025.
    #[test]
    fn depth_and_width_need_more() {
        let roughness = Roughness { in_plane: 1.0 / (2.0 * 1.69), in_depth: 1.0 };
        let deep = Thresholds::of_depth(1.0, 0.0025, &roughness);
        let flat = Thresholds::of_plane(1.0, 0.0025, 1.3);
        let free = Thresholds::of_widths(1.0, 0.0025, 1.3);
        assert_eq!((free.birth, free.split), (flat.birth, deep.split));
        assert!((deep.split - 14.32).abs() < 0.01, "{}", deep.split);
        assert!(deep.birth > flat.birth + 1.0 && deep.birth < flat.birth + 4.0, "{deep:?}");
        let shallow = Roughness { in_depth: 0.0, ..roughness };
        assert!((Thresholds::of_depth(1.0, 0.0025, &shallow).birth - flat.birth).abs() < 1e-9);
    }
}
