//! One axis of a spot: a function of the pixel index and its derivatives.
//!
//! The profile of eq. 10 is a product of a function of the column and one of the row,
//! `f(column, row) = φ(column)·φ(row)`. The two-dimensional assembly in [`super::sums`] needs only the
//! few numbers of an [`AxisSample`] at each index of an axis.
//!
//! Derivatives are *relative* ([`CENTRE_UNIT`], [`WIDTH_UNIT`]): `φ₁ = (kσ)·∂φ/∂centre` and
//! `φ₂ = (k²σ)·∂φ/∂σ`, with k = √(½·log₂e), which makes e^(−u²/2) = 2^(−(ku)²). They are numbers around
//! one whatever the width, which keeps the normal equations balanced in single precision, and take the
//! fewest operations. The damping of eq. 12 does not depend on the units of the parameters. A step in
//! these units times `CENTRE_UNIT`·σ or `WIDTH_UNIT`·σ is the step in pixels.
//!
//! With w = k·(index − centre)/σ and e = 2^(−w²) the sampled profile has φ₀ = e, φ₁ = we, φ₂ = w²e. The integrated
//! one is the integral over the pixel, from w₋ to w₊ half a pixel before and after: with Δ for the difference of the
//! two ends, φ₀ = (σ/k)·Δ∫2^(−t²)dt, φ₁ = −kσ·Δe, φ₂ = k²φ₀ − kσ·Δ(we). For both the second derivative by the
//! centre is φ₁₁ = φ₂ − k²φ₀ (the equation of heat); the others are φ₁₂ = w³e − 2k²we and φ₂₂ = w⁴e − 3k²w²e, or
//! φ₁₂ = −kσ·Δ(w²e) and φ₂₂ = −kσ·Δ(w³e).

use crate::arithmetic::Real;

/// k = √(½·log₂e): the derivatives by the centre are `CENTRE_UNIT`·σ·∂/∂centre.
pub const CENTRE_UNIT: f64 = 0.849_321_800_288_019_1;
/// k² = ½·log₂e: the derivatives by the width are `WIDTH_UNIT`·σ·∂/∂σ.
pub const WIDTH_UNIT: f64 = 0.721_347_520_444_481_7;

/// What a pixel measures of the Gaussian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PixelProfile {
    /// Its value at the pixel's centre (eq. 10).
    #[default]
    Sampled,
    /// Its integral over the pixel: what a camera sees. It matters where σ is below about 1 pixel; a sampled fit
    /// then finds a σ² that is greater by 1/12 pixel².
    Integrated,
}

/// The factor of the profile along one axis at one index, with its relative derivatives.
#[derive(Clone, Copy, Debug)]
pub struct AxisSample<R> {
    /// φ₀, the value of the factor.
    pub value: R,
    /// φ₁ = kσ·∂φ/∂centre.
    pub by_centre: R,
    /// φ₂ = k²σ·∂φ/∂σ.
    pub by_width: R,
    /// φ₁₂ = k³σ²·∂²φ/∂centre∂σ and φ₂₂ = k⁴σ²·∂²φ/∂σ², or zeros where they were not asked for.
    pub second: [R; 2],
}

impl<R: Real> AxisSample<R> {
    /// All zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { value: zero, by_centre: zero, by_width: zero, second: [zero; 2] }
    }

    /// The same in the lanes where `mask` is true, zero in the others.
    #[inline(always)]
    #[must_use]
    pub fn masked(self, mask: R::Mask) -> Self {
        let zero = R::splat(0.0);
        Self {
            value: R::select(mask, self.value, zero),
            by_centre: R::select(mask, self.by_centre, zero),
            by_width: R::select(mask, self.by_width, zero),
            second: [R::select(mask, self.second[0], zero), R::select(mask, self.second[1], zero)],
        }
    }
}

/// A Gaussian along one axis.
#[derive(Clone, Copy, Debug)]
pub struct GaussianAxis<R> {
    centre: R,
    /// k/σ.
    scale: R,
    profile: PixelProfile,
}

/// One end of a pixel: e, its integral, and we, w²e, w³e.
#[derive(Clone, Copy)]
struct End<R> {
    value: R,
    integral: R,
    moments: [R; 3],
}

impl<R: Real> GaussianAxis<R> {
    /// The factor with the given centre (pixels) and 1/σ (1/pixels), sampled at the pixels' centres.
    #[inline(always)]
    pub fn new(centre: R, inverse_sigma: R) -> Self {
        Self::with_profile(PixelProfile::Sampled, centre, inverse_sigma)
    }

    /// The factor with the given centre (pixels) and 1/σ (1/pixels).
    #[inline(always)]
    pub fn with_profile(profile: PixelProfile, centre: R, inverse_sigma: R) -> Self {
        Self { centre, scale: inverse_sigma * R::splat(CENTRE_UNIT), profile }
    }

    /// What a pixel measures.
    #[inline(always)]
    pub fn profile(&self) -> PixelProfile {
        self.profile
    }

    /// The factor and its derivatives at an index, the second derivatives if `SECOND`: one axis of eq. 10 and 11.
    #[inline(always)]
    pub fn sample<const SECOND: bool>(&self, index: R) -> AxisSample<R> {
        match self.profile {
            PixelProfile::Sampled => self.at_centre::<SECOND>(index),
            PixelProfile::Integrated => {
                let half = R::splat(0.5);
                let (low, high) =
                    (self.end::<SECOND>(index - half), self.end::<SECOND>(index + half));
                self.between::<SECOND>(&low, &high)
            }
        }
    }

    /// Samples the indices 0, 1, … in turn, adds them to `sums` and hands them to `put`.
    #[inline(always)]
    pub fn fill<const SECOND: bool>(
        &self,
        length: usize,
        sums: &mut AxisSums<R>,
        to: &mut impl Put<R>,
    ) {
        let mut index = R::splat(0.0);
        match self.profile {
            PixelProfile::Sampled => {
                for place in 0..length {
                    let sample = self.at_centre::<SECOND>(index);
                    sums.add_gaussian::<SECOND>(sample);
                    to.put(place, sample);
                    index = index + R::splat(1.0);
                }
            }
            PixelProfile::Integrated => {
                // Neighbours share an end.
                let mut low = self.end::<SECOND>(R::splat(-0.5));
                for place in 0..length {
                    let high = self.end::<SECOND>(index + R::splat(0.5));
                    let sample = self.between::<SECOND>(&low, &high);
                    sums.add::<SECOND>(sample);
                    to.put(place, sample);
                    low = high;
                    index = index + R::splat(1.0);
                }
            }
        }
    }

    #[inline(always)]
    fn at_centre<const SECOND: bool>(&self, index: R) -> AxisSample<R> {
        let w = (index - self.centre) * self.scale;
        let value = w.exp2_of_minus_square();
        let by_centre = w * value;
        let by_width = w * by_centre;
        let mut second = [R::splat(0.0); 2];
        if SECOND {
            let low = R::splat(2.0 * WIDTH_UNIT).neg_mul_add(by_centre, w * by_width);
            second = [low, w.mul_add(low, by_width * R::splat(-WIDTH_UNIT))];
        }
        AxisSample { value, by_centre, by_width, second }
    }

    #[inline(always)]
    fn end<const SECOND: bool>(&self, place: R) -> End<R> {
        let w = (place - self.centre) * self.scale;
        let (value, integral) = w.exp2_integral();
        let first = w * value;
        let mut moments = [first, R::splat(0.0), R::splat(0.0)];
        if SECOND {
            moments[1] = w * first;
            moments[2] = w * moments[1];
        }
        End { value, integral, moments }
    }

    #[inline(always)]
    fn between<const SECOND: bool>(&self, low: &End<R>, high: &End<R>) -> AxisSample<R> {
        // kσ = k²/(k/σ)
        let length = R::splat(WIDTH_UNIT) * self.scale.reciprocal();
        let value = length * R::splat(1.0 / WIDTH_UNIT) * (high.integral - low.integral);
        let by_width = length * (low.moments[0] - high.moments[0]);
        let mut second = [R::splat(0.0); 2];
        if SECOND {
            second = [
                length * (low.moments[1] - high.moments[1]),
                length * (low.moments[2] - high.moments[2]),
            ];
        }
        AxisSample {
            value,
            by_centre: length * (low.value - high.value),
            by_width: R::splat(WIDTH_UNIT).mul_add(value, by_width),
            second,
        }
    }
}

/// Where [`GaussianAxis::fill`] puts its samples.
pub trait Put<R> {
    /// Takes the sample at a place.
    fn put(&mut self, place: usize, sample: AxisSample<R>);
}

impl<R, const N: usize> Put<R> for [AxisSample<R>; N] {
    #[inline(always)]
    fn put(&mut self, place: usize, sample: AxisSample<R>) {
        self[place] = sample;
    }
}

/// The sums over one axis that the assembly needs: Σφₐ and Σφₐφ_b.
///
/// For the sampled Gaussian these are the moments A_k = Σwᵏe and B_k = Σwᵏe² up to k = 4. They are linear
/// in the samples: an axis may be summed in parts and the parts added.
#[derive(Clone, Copy, Debug)]
pub struct AxisSums<R> {
    /// Σφ₀, Σφ₁, Σφ₂.
    pub single: [R; 3],
    /// Σφ₀φ₀, Σφ₀φ₁, Σφ₀φ₂, Σφ₁φ₁, Σφ₁φ₂, Σφ₂φ₂.
    pub product: [R; 6],
    /// Σφ₁₂, Σφ₂₂.
    pub second: [R; 2],
    /// Σφ₀φ₁₂, Σφ₀φ₂₂.
    pub second_product: [R; 2],
}

impl<R: Real> AxisSums<R> {
    /// Sums over no sample.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { single: [zero; 3], product: [zero; 6], second: [zero; 2], second_product: [zero; 2] }
    }

    /// Adds the contribution of one index.
    #[inline(always)]
    pub fn add<const SECOND: bool>(&mut self, sample: AxisSample<R>) {
        self.add_all_but_one::<SECOND>(sample);
        self.product[3] = sample.by_centre.mul_add(sample.by_centre, self.product[3]);
    }

    /// [`AxisSums::add`] for samples of a sampled [`GaussianAxis`], whose φ₁φ₁ = φ₀φ₂ need not be summed twice.
    #[inline(always)]
    pub fn add_gaussian<const SECOND: bool>(&mut self, sample: AxisSample<R>) {
        self.add_all_but_one::<SECOND>(sample);
        self.product[3] = self.product[2];
    }

    /// The one of these that suits a profile.
    #[inline(always)]
    pub fn add_of<const SECOND: bool>(&mut self, profile: PixelProfile, sample: AxisSample<R>) {
        match profile {
            PixelProfile::Sampled => self.add_gaussian::<SECOND>(sample),
            PixelProfile::Integrated => self.add::<SECOND>(sample),
        }
    }

    /// All sums but Σφ₁φ₁.
    #[inline(always)]
    fn add_all_but_one<const SECOND: bool>(&mut self, sample: AxisSample<R>) {
        let AxisSample { value, by_centre, by_width, second } = sample;
        self.single[0] = self.single[0] + value;
        self.single[1] = self.single[1] + by_centre;
        self.single[2] = self.single[2] + by_width;
        self.product[0] = value.mul_add(value, self.product[0]);
        self.product[1] = value.mul_add(by_centre, self.product[1]);
        self.product[2] = value.mul_add(by_width, self.product[2]);
        self.product[4] = by_centre.mul_add(by_width, self.product[4]);
        self.product[5] = by_width.mul_add(by_width, self.product[5]);
        if SECOND {
            for i in 0..2 {
                self.second[i] = self.second[i] + second[i];
                self.second_product[i] = value.mul_add(second[i], self.second_product[i]);
            }
        }
    }
}
