//! One axis of a spot: a function of the pixel index and its derivatives.
//!
//! The profile of eq. 10 is a product of a function of the column and one of the row,
//! `f(column, row) = φ(column)·φ(row)`. The two-dimensional assembly in [`super::sums`] needs only the
//! three numbers of an [`AxisSample`] at each index of an axis.
//!
//! Derivatives are *relative* ([`CENTRE_UNIT`], [`WIDTH_UNIT`]): `φ₁ = (kσ)·∂φ/∂centre` and
//! `φ₂ = (k²σ)·∂φ/∂σ`, with k = √(½·log₂e), which makes e^(−u²/2) = 2^(−(ku)²). They are numbers around
//! one whatever the width, which keeps the normal equations balanced in single precision, and take the
//! fewest operations. The damping of eq. 12 does not depend on the units of the parameters. A step in
//! these units times `CENTRE_UNIT`·σ or `WIDTH_UNIT`·σ is the step in pixels.

use crate::arithmetic::Real;

/// k = √(½·log₂e): the derivatives by the centre are `CENTRE_UNIT`·σ·∂/∂centre.
pub const CENTRE_UNIT: f64 = 0.849_321_800_288_019_1;
/// k² = ½·log₂e: the derivatives by the width are `WIDTH_UNIT`·σ·∂/∂σ.
pub const WIDTH_UNIT: f64 = 0.721_347_520_444_481_7;

/// The factor of the profile along one axis at one index, with its relative derivatives.
#[derive(Clone, Copy, Debug)]
pub struct AxisSample<R> {
    /// φ₀, the value of the factor.
    pub value: R,
    /// φ₁ = kσ·∂φ/∂centre.
    pub by_centre: R,
    /// φ₂ = k²σ·∂φ/∂σ.
    pub by_width: R,
}

/// A Gaussian sampled at the pixels' centres (eq. 10), along one axis.
#[derive(Clone, Copy, Debug)]
pub struct GaussianAxis<R> {
    centre: R,
    /// k/σ.
    scale: R,
}

impl<R: Real> GaussianAxis<R> {
    /// The factor with the given centre (pixels) and 1/σ (1/pixels).
    #[inline(always)]
    pub fn new(centre: R, inverse_sigma: R) -> Self {
        Self { centre, scale: inverse_sigma * R::splat(CENTRE_UNIT) }
    }

    /// The factor e^(−u²/2) = 2^(−w²) with w = k·(index − centre)/σ, and its derivatives w·e and w²·e:
    /// one axis of eq. 10 and 11.
    #[inline(always)]
    pub fn sample(&self, index: R) -> AxisSample<R> {
        let w = (index - self.centre) * self.scale;
        let value = w.exp2_of_minus_square();
        let by_centre = w * value;
        AxisSample { value, by_centre, by_width: w * by_centre }
    }
}

/// The sums over one axis that the assembly needs: Σφₐ and Σφₐφ_b.
///
/// For the Gaussian these are the moments A_k = Σwᵏe and B_k = Σwᵏe² up to k = 4. They are linear
/// in the samples: an axis may be summed in parts and the parts added.
#[derive(Clone, Copy, Debug)]
pub struct AxisSums<R> {
    /// Σφ₀, Σφ₁, Σφ₂.
    pub single: [R; 3],
    /// Σφ₀φ₀, Σφ₀φ₁, Σφ₀φ₂, Σφ₁φ₁, Σφ₁φ₂, Σφ₂φ₂.
    pub product: [R; 6],
}

impl<R: Real> AxisSums<R> {
    /// Sums over no sample.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { single: [zero; 3], product: [zero; 6] }
    }

    /// Adds the contribution of one index.
    #[inline(always)]
    pub fn add(&mut self, sample: AxisSample<R>) {
        self.add_all_but_one(sample);
        self.product[3] = sample.by_centre.mul_add(sample.by_centre, self.product[3]);
    }

    /// [`AxisSums::add`] for samples of a [`GaussianAxis`], whose φ₁φ₁ = φ₀φ₂ need not be summed twice.
    #[inline(always)]
    pub fn add_gaussian(&mut self, sample: AxisSample<R>) {
        self.add_all_but_one(sample);
        self.product[3] = self.product[2];
    }

    /// All sums but Σφ₁φ₁.
    #[inline(always)]
    fn add_all_but_one(&mut self, sample: AxisSample<R>) {
        let AxisSample { value, by_centre, by_width } = sample;
        self.single[0] = self.single[0] + value;
        self.single[1] = self.single[1] + by_centre;
        self.single[2] = self.single[2] + by_width;
        self.product[0] = value.mul_add(value, self.product[0]);
        self.product[1] = value.mul_add(by_centre, self.product[1]);
        self.product[2] = value.mul_add(by_width, self.product[2]);
        self.product[4] = by_centre.mul_add(by_width, self.product[4]);
        self.product[5] = by_width.mul_add(by_width, self.product[5]);
    }
}
