//! A circular Gaussian whose σ is known: x̄ and ȳ.

use super::{NUMBERS, Separable};
use crate::arithmetic::Real;
use crate::error::ArgumentError;
use crate::options::Limits;
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::{Circle, Size};
use crate::spot::axis::{AxisSums, CENTRE_UNIT, GaussianAxis};
use crate::spot::sums::{DataSums, Sums};

/// A circular Gaussian of known width, sampled at the pixels' centres. Only its centre (x̄, ȳ) is fitted, in pixels.
///
/// ```
/// use fit_core::spot::shape::FixedSigma;
/// use fit_core::{Options, Shape};
///
/// let options = Options::default().with_shape(Shape::FixedSigma(FixedSigma { sigma: 1.3 }));
/// assert!(options.validate().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FixedSigma {
    /// Standard deviation σ in pixels. Range: 0.1 to 1000.
    pub sigma: f64,
}

impl Coordinates<2> for FixedSigma {
    /// 1/σ.
    type Memo<R: Real> = R;

    const UNITS: [f64; 2] = [CENTRE_UNIT; 2];

    #[inline(always)]
    fn memo<R: Real>(&self, _: &[R; 2]) -> R {
        R::splat(self.sigma).reciprocal()
    }
    #[inline(always)]
    fn select<R: Real>(_: R::Mask, yes: R, _: R) -> R {
        yes
    }
    #[inline(always)]
    fn length<R: Real>(&self, _: &[R; 2], _: usize) -> R {
        R::splat(self.sigma)
    }
    #[inline(always)]
    fn inverse_length<R: Real>(memo: &R, _: usize) -> R {
        *memo
    }
    #[inline(always)]
    fn yardstick<R: Real>(&self, p: &[R; 2], j: usize) -> R {
        p[j].abs().max(R::splat(self.sigma))
    }
    #[inline(always)]
    fn confine<R: Real>(&self, _: &[R; 2], to: [R; 2]) -> [R; 2] {
        to
    }
}

impl Separable<2> for FixedSigma {
    fn validate(&self) -> Result<(), ArgumentError> {
        let (name, value, range) = ("fixed sigma", self.sigma, "0.1 to 1000");
        let good = (0.1..=1e3).contains(&value);
        if good { Ok(()) } else { Err(ArgumentError::Option { name, value, range }) }
    }
    fn numbers(&self) -> [f32; NUMBERS] {
        [self.sigma as f32, 0.0]
    }
    #[inline(always)]
    fn from_numbers([sigma, _]: [f32; NUMBERS]) -> Self {
        Self { sigma: f64::from(sigma) }
    }
    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); 2] {
        let centre = |side: usize| {
            let margin = limits.centre_margin;
            (-margin, (side - 1) as f64 + margin)
        };
        [centre(size.width), centre(size.height)]
    }
    #[inline(always)]
    fn parameters<R: Real>(&self, Circle { x, y, .. }: Circle<R>) -> [R; 2] {
        [x, y]
    }
    #[inline(always)]
    fn circle<R: Real>(&self, &[x, y]: &[R; 2]) -> Circle<R> {
        Circle { x, y, sigma: R::splat(self.sigma) }
    }
    #[inline(always)]
    fn axes<R: Real>(&self, &[x, y]: &[R; 2]) -> (GaussianAxis<R>, GaussianAxis<R>) {
        let inverse_sigma = R::splat(self.sigma).reciprocal();
        (GaussianAxis::new(x, inverse_sigma), GaussianAxis::new(y, inverse_sigma))
    }
    #[inline(always)]
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, 2> {
        let ([x0, x1, _], [y0, y1, _]) = (x.single, y.single);
        let ([x00, x01, _, x11, ..], [y00, y01, _, y11, ..]) = (x.product, y.product);
        let mut df_df = Symmetric::zero();
        df_df.0[0][0] = x11 * y00;
        df_df.0[0][1] = x01 * y01;
        df_df.0[1][1] = x00 * y11;
        Sums {
            f: x0 * y0,
            ff: x00 * y00,
            fg: data.value,
            df: [x1 * y0, x0 * y1],
            f_df: [x01 * y00, x00 * y01],
            g_df: [data.by_x, data.by_y],
            df_df,
        }
    }
}
