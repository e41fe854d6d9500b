//! What the errors of a fit are: the covariance of its parameters, and how well the model fits.
//!
//! With J = ∂μ/∂θ of all parameters θ (those of the shape, α and β) and Var(d) = εμ + v of a pixel (v the variance of
//! the read noise, ε = 1, or 2 with EM gain), an estimator that weighs a pixel by w has
//!
//! ```text
//! C = A⁻¹BA⁻¹,    A = ΣwJJᵀ,    B = Σw²(εμ + v)JJᵀ,
//! ```
//!
//! with w = 1/(μ + v) for maximum likelihood, where C is the Cramér–Rao bound A⁻¹ if ε = 1; w = 1 for least squares,
//! or the weight given. Parameters at a limit count as free.

use super::group::Group;
use super::likelihood::HIDDEN;
use super::tile::Tile;
use super::weigh::{Noise, Weighted, weigh_with_axes};
use crate::arithmetic::{Mask, Real};
use crate::camera::Camera;
use crate::error::ArgumentError;
use crate::options::{Estimator, Options};
use crate::search::solve::{Symmetric, between, inverse};
use crate::size::{Outline, Size};
use crate::spot::axis::{AxisSums, CENTRE_UNIT, GaussianAxis, PixelProfile, WIDTH_UNIT};
use crate::spot::shape::{Elliptical, Separable, ShapeName};
use crate::spot::sums::DataSums;

/// No variance is below this share of a photo-electron squared, so that each has a reciprocal.
const LEAST_VARIANCE: f64 = 1e-6;

/// Parameters of a spot along the axes: x̄, ȳ, σx, σy, α, β.
const STRAIGHT: usize = 6;

/// How the errors of fits are found, for one window size and options.
#[derive(Clone, Copy, Debug)]
pub struct Judge<R> {
    size: Size,
    profile: PixelProfile,
    shape: ShapeName,
    estimator: Estimator,
    /// Whether the pixels have weights, or variances of their own.
    noted: bool,
    /// ε.
    excess: R,
    /// Photo-electrons per ADU, and what a dark pixel reads.
    photons: R,
    baseline: R,
    /// The variance of the read noise in every pixel.
    variance: R,
}

/// The covariance of the parameters of one fit, or of one in each lane of a pack, and its goodness.
#[derive(Clone, Copy, Debug)]
pub struct Judged<R> {
    /// By x̄, ȳ, σx, σy, angle, α and β, in pixels, radians and photo-electrons; infinite where the parameters cannot
    /// be told from each other.
    pub covariance: Symmetric<R, 7>,
    /// Pearson's X² = Σ(d − μ)²/(εμ + v) over the pixels that are seen.
    pub pearson: R,
    /// The variance of X² for the true μ: Σ(2 + κ₄/(εμ + v)²), with the fourth cumulant κ₄ of a pixel.
    pub spread: R,
    /// How many pixels are seen.
    pub seen: R,
}

impl<R: Copy> Judged<R> {
    /// How many numbers there are.
    pub const NUMBERS: usize = 31;

    /// All numbers: the upper half of the covariance, row after row, and the others in the order of the fields.
    #[inline(always)]
    pub fn numbers(&self) -> [R; 31] {
        let Self { covariance, pearson, spread, seen } = self;
        let mut numbers = [*seen; 31];
        let mut place = 0;
        for j in 0..7 {
            for k in j..7 {
                numbers[place] = covariance.0[j][k];
                place += 1;
            }
        }
        (numbers[28], numbers[29]) = (*pearson, *spread);
        numbers
    }

    /// What was judged, from all of its numbers.
    #[inline(always)]
    pub fn from_numbers(numbers: &[R; 31]) -> Self {
        let [.., pearson, spread, seen] = *numbers;
        let mut covariance = Symmetric([[seen; 7]; 7]);
        let mut place = 0;
        for j in 0..7 {
            for k in j..7 {
                covariance.0[j][k] = numbers[place];
                place += 1;
            }
        }
        Self { covariance, pearson, spread, seen }
    }
}

impl<R: Real> Judge<R> {
    /// Checks the window and the options. `mapped` says whether there is a camera map, by which the pixels have been
    /// converted to photo-electrons; `weighted` whether the pixels have weights.
    ///
    /// # Errors
    /// See [`Size::validate`] and [`Options::validate`].
    #[inline(always)]
    pub fn new(
        size: Size,
        options: &Options,
        mapped: bool,
        weighted: bool,
    ) -> Result<Self, ArgumentError> {
        size.validate()?;
        options.validate()?;
        let camera = options.camera.unwrap_or_default();
        let plain = Camera::default();
        let of = if mapped { &plain } else { &camera };
        Ok(Self {
            size,
            profile: options.profile,
            shape: options.shape.name(),
            estimator: options.estimator,
            noted: mapped || weighted,
            excess: R::splat(if camera.em_gain.is_some() { 2.0 } else { 1.0 }),
            photons: R::splat(of.photons_per_adu()),
            baseline: R::splat(of.baseline),
            variance: R::splat(of.read_variance()),
        })
    }

    /// The size of the windows.
    #[inline(always)]
    pub fn size(&self) -> Size {
        self.size
    }

    /// How many parameters a fit has, with amplitude and background.
    #[inline(always)]
    pub fn parameters(&self) -> usize {
        self.shape.parameters() + 2
    }

    /// Judges a fit with this outcome. The pixels of the tile are those of the camera, or photo-electrons if there is a
    /// camera map; its notes are the variances of the read noise, and its weights those of the pixels.
    #[inline(always)]
    pub fn judge<T: Tile<R>>(
        &self,
        tile: &mut T,
        outline: &Outline<R>,
        linear: [R; 2],
    ) -> Judged<R> {
        let Outline { x, y, sigma_x, sigma_y, .. } = *outline;
        let axes = (
            GaussianAxis::with_profile(self.profile, x, sigma_x.reciprocal()),
            GaussianAxis::with_profile(self.profile, y, sigma_y.reciprocal()),
        );
        let zero = R::splat(0.0);
        let likelihood = self.estimator == Estimator::MaximumLikelihood;
        // Then A and B are the same.
        let bound = likelihood && self.excess.le(R::splat(1.0)).any();
        // Then the sums of A are products of sums over the axes.
        let even = !likelihood && !self.noted;
        let mut sums = [Weighted::zero(); 2];
        let mut pixels = Pixels::new(self, linear);
        let mut across = None;
        for (squared, sums) in sums.iter_mut().enumerate() {
            if (squared == 0 && !even) || (squared == 1 && !bound) {
                pixels = Pixels { squared: squared == 1, ..Pixels::new(self, linear) };
                let (weighted, x, y) =
                    weigh_with_axes::<_, _, _, false, true>(tile, axes, &mut pixels);
                *sums = weighted;
                across = Some((x, y));
            }
        }
        if let (true, Some((x, y))) = (even, across) {
            sums[0] = products(&x, &y, self.size);
        }
        let group = tile.group();
        let (pearson, spread, seen) =
            (group.sum(pixels.pearson), group.sum(pixels.spread), group.sum(pixels.seen));
        let (inverse, definite) = inverse(&self.tied(information(&sums[0]), R::splat(1.0)));
        let covariance = if bound {
            inverse
        } else {
            between(&inverse, &self.tied(information(&sums[1]), zero))
        };
        let alpha = linear[0];
        let (centre, width) = (R::splat(CENTRE_UNIT) / alpha, R::splat(WIDTH_UNIT) / alpha);
        let one = R::splat(1.0);
        let units =
            [centre * sigma_x, centre * sigma_y, width * sigma_x, width * sigma_y, one, one];
        let covariance = self.spread_out(&covariance, &units);
        let mut all = Symmetric::zero();
        // The angle of a spot along the axes is known.
        let place = [0, 1, 2, 3, 5, 6];
        let endless = R::splat(f64::INFINITY);
        for j in 0..STRAIGHT {
            for k in 0..STRAIGHT {
                if k >= j {
                    let known = covariance.0[j][k];
                    let held = (2..4).contains(&j) || (2..4).contains(&k);
                    let known = if held && self.shape == ShapeName::Fixed {
                        zero
                    } else {
                        R::select(definite, known, endless)
                    };
                    all.0[place[j]][place[k]] = known;
                }
            }
        }
        Judged { covariance: all, pearson, spread, seen }
    }

    /// The information of the parameters that the shape has: widths that are one parameter are added up in σx, and
    /// those that are held are left with `diagonal` alone.
    #[inline(always)]
    fn tied(&self, mut of: Symmetric<R, STRAIGHT>, diagonal: R) -> Symmetric<R, STRAIGHT> {
        let m = &mut of.0;
        if self.shape == ShapeName::Circular {
            for j in 0..2 {
                m[j][2] = m[j][2] + m[j][3];
            }
            m[2][2] = m[2][2] + m[3][3] + (m[2][3] + m[2][3]);
            for k in 4..STRAIGHT {
                m[2][k] = m[2][k] + m[3][k];
            }
        }
        for held in 2..4 {
            let all = self.shape == ShapeName::Fixed;
            if all || (held == 3 && self.shape == ShapeName::Circular) {
                for j in 0..STRAIGHT {
                    if j < held {
                        m[j][held] = R::splat(0.0);
                    }
                    if j > held {
                        m[held][j] = R::splat(0.0);
                    }
                }
                m[held][held] = diagonal;
            }
        }
        of
    }

    /// The covariance in units, with σy as σx where both are one parameter.
    #[inline(always)]
    fn spread_out(
        &self,
        of: &Symmetric<R, STRAIGHT>,
        units: &[R; STRAIGHT],
    ) -> Symmetric<R, STRAIGHT> {
        let mut all = *of;
        if self.shape == ShapeName::Circular {
            for j in 0..STRAIGHT {
                if j < 3 {
                    all.0[j][3] = of.0[j][2];
                }
                if j > 3 {
                    all.0[3][j] = of.0[2][j];
                }
            }
            all.0[3][3] = of.0[2][2];
        }
        for j in 0..STRAIGHT {
            for k in 0..STRAIGHT {
                if k >= j {
                    all.0[j][k] = all.0[j][k] * (units[j] * units[k]);
                }
            }
        }
        all
    }
}

/// The pixels of a window beside the model.
#[derive(Clone, Copy)]
struct Pixels<'a, R> {
    judge: &'a Judge<R>,
    linear: [R; 2],
    /// Whether the pixels are weighed as in B, and not as in A.
    squared: bool,
    pearson: R,
    spread: R,
    seen: R,
}

impl<'a, R: Real> Pixels<'a, R> {
    #[inline(always)]
    fn new(judge: &'a Judge<R>, linear: [R; 2]) -> Self {
        let zero = R::splat(0.0);
        Self { judge, linear, squared: false, pearson: zero, spread: zero, seen: zero }
    }
}

impl<R: Real> Noise<R> for Pixels<'_, R> {
    const SINGLE: bool = false;
    const WEIGHTS: bool = true;

    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, there: R::Mask, f: R, pixel: R, note: R, weight: R) -> [R; 2] {
        let Judge { excess, photons, baseline, estimator, .. } = *self.judge;
        let [alpha, beta] = self.linear;
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let there = there & note.lt(R::splat(HIDDEN)) & zero.lt(weight);
        // What is hidden has a variance that may overflow.
        let read = self.judge.variance + R::select(there, note, zero);
        let seen = R::select(there, one, zero);
        let mu = alpha.mul_add(f, beta);
        let bright = mu.max(zero);
        let least = R::splat(LEAST_VARIANCE);
        let variance = excess.mul_add(bright, read).max(least);
        let inverse = variance.reciprocal();
        let weight = match estimator {
            Estimator::MaximumLikelihood => (bright + read).max(least).reciprocal(),
            Estimator::LeastSquares => weight,
        };
        let residual = (pixel - baseline).mul_add(photons, -mu);
        let residual = R::select(there, residual, zero);
        // κ₄ of photo-electrons is μ, and 24μ after the multiplication of electrons.
        let fourth = bright * excess.mul_add(R::splat(23.0), R::splat(-22.0));
        let spread = (fourth * inverse).mul_add(inverse, R::splat(2.0));
        self.pearson = (residual * residual).mul_add(inverse, self.pearson);
        self.spread = seen.mul_add(spread, self.spread);
        self.seen = self.seen + seen;
        let weight = seen * weight;
        [if self.squared { weight * weight * variance } else { weight }, zero]
    }
}

/// Σ∂ⱼf∂ₖf and so on with every weight 1: products of sums over the axes.
#[inline(always)]
fn products<R: Real>(x: &AxisSums<R>, y: &AxisSums<R>, size: Size) -> Weighted<R> {
    let sums = Elliptical.sums(x, y, &DataSums::zero());
    Weighted {
        n: R::splat(size.pixels() as f64),
        f: sums.f,
        ff: sums.ff,
        df: sums.df,
        f_df: sums.f_df,
        df_df: sums.df_df,
        ..Weighted::zero()
    }
}

/// ΣwJJᵀ/α² in relative units.
#[inline(always)]
fn information<R: Real>(of: &Weighted<R>) -> Symmetric<R, STRAIGHT> {
    let mut all = Symmetric::zero();
    for j in 0..4 {
        for k in 0..4 {
            if k >= j {
                all.0[j][k] = of.df_df.0[j][k];
            }
        }
        all.0[j][4] = of.f_df[j];
        all.0[j][5] = of.df[j];
    }
    all.0[4][4] = of.ff;
    all.0[4][5] = of.f;
    all.0[5][5] = of.n;
    all
}
