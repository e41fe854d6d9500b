//! The shapes that a spot may have, one file each.
//!
//! A shape defines its parameters and their limits, the profile along each axis, and how the sums over the axes make
//! the sums of eq. 5 and 7. Everything else, from the search to the kernels of a GPU, works for any shape and any
//! number of parameters.

mod circular;
mod elliptical;
mod fixed_sigma;
mod rotated;

use core::fmt;

use super::axis::{AxisSums, GaussianAxis, PixelProfile};
use super::sums::{DataSums, Sums};
use crate::arithmetic::Real;
use crate::error::ArgumentError;
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::{Outline, Size};
use crate::spot::limits::Limits;

pub use circular::Circular;
pub use elliptical::Elliptical;
pub use fixed_sigma::{Fixed, FixedSigma, FixedSigmas, GivenSigma};
pub use rotated::Rotated;

/// A shape with P parameters, from which its outline follows.
pub trait Outlined<const P: usize>: Coordinates<P> + Default {
    /// Which parameter x̄, ȳ, σx, σy and the angle are, of those that are one.
    const PLACES: [Option<usize>; 5];
    /// Which of x̄, ȳ, σx, σy, the angle, α and β are known beforehand.
    const KNOWN: [bool; 7] = {
        let mut known = [false; 7];
        let mut i = 0;
        while i < 5 {
            known[i] = Self::PLACES[i].is_none();
            i += 1;
        }
        known
    };

    /// Checks the constants of the shape, such as a fixed σ.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    fn validate(&self) -> Result<(), ArgumentError> {
        Ok(())
    }
    /// Checks the constants of the shape for windows of this size.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    fn validate_in(&self, _: Size, _: &Limits) -> Result<(), ArgumentError> {
        self.validate()
    }
    /// The constants of the shape, as they are sent to a device.
    fn numbers(&self) -> [f32; NUMBERS] {
        [0.0; NUMBERS]
    }
    /// The shape with these [constants](Outlined::numbers).
    #[inline(always)]
    fn from_numbers(_: [f32; NUMBERS]) -> Self {
        Self::default()
    }
    /// The lowest and the highest value of each parameter in a window of that size.
    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); P] {
        let centre =
            |side: usize| (-limits.centre_margin, (side - 1) as f64 + limits.centre_margin);
        core::array::from_fn(|j| match j {
            0 => centre(size.width),
            1 => centre(size.height),
            _ => (limits.sigma_min, limits.sigma_max_in(size)),
        })
    }
    /// The parameters of a spot with this outline, or of the nearest, and what is known of it.
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; P], Self::Constants<R>);
    /// The outline of a spot with these parameters.
    fn outline<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; P]) -> Outline<R>;
    /// The derivatives of x̄, ȳ, σx, σy and the angle by the parameters.
    #[inline(always)]
    fn outline_by<R: Real>(&self, _: &Self::Constants<R>, _: &[R; P]) -> [[R; P]; 5] {
        let mut by = [[R::splat(0.0); P]; 5];
        for i in 0..5 {
            for j in 0..P {
                if Self::PLACES[i] == Some(j) {
                    by[i][j] = R::splat(1.0);
                }
            }
        }
        by
    }
}

/// A shape whose profile is a product of a function of the column and one of the row.
pub trait Separable<const P: usize>: Outlined<P> {
    /// The factors of the profile along x and y.
    #[inline(always)]
    fn axes<R: Real>(
        &self,
        profile: PixelProfile,
        constants: &Self::Constants<R>,
        p: &[R; P],
    ) -> (GaussianAxis<R>, GaussianAxis<R>) {
        let Outline { x, y, sigma_x, sigma_y, .. } = self.outline(constants, p);
        (
            GaussianAxis::with_profile(profile, x, sigma_x.reciprocal()),
            GaussianAxis::with_profile(profile, y, sigma_y.reciprocal()),
        )
    }
    /// Assembles the sums of eq. 5 and 7: products of a column and a row sum.
    #[inline(always)]
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, P> {
        let ([x0, x1, x2], [y0, y1, y2]) = (x.single, y.single);
        let [x00, x01, x02, x11, x12, x22] = x.product;
        let [y00, y01, y02, y11, y12, y22] = y.product;
        let mut df_df = Symmetric::zero();
        df_df.0[0] = [x11 * y00, x01 * y01, x12 * y00, x01 * y02];
        df_df.0[1][1] = x00 * y11;
        df_df.0[1][2] = x02 * y01;
        df_df.0[1][3] = x00 * y12;
        df_df.0[2][2] = x22 * y00;
        df_df.0[2][3] = x02 * y02;
        df_df.0[3][3] = x00 * y22;
        gathered::<R, Self, P>(&Sums {
            f: x0 * y0,
            ff: x00 * y00,
            fg: data.value,
            df: [x1 * y0, x0 * y1, x2 * y0, x0 * y2],
            f_df: [x01 * y00, x00 * y01, x02 * y00, x00 * y02],
            g_df: data.by,
            df_df,
        })
    }
    /// First derivatives by the parameters from those by x̄, ȳ, σx and σy.
    fn gather<R: Real>(of: [R; 4]) -> [R; P];
    /// Second derivatives, or products of first ones, from those by x̄, ȳ, σx and σy.
    fn gather_matrix<R: Real>(of: &Symmetric<R, 4>) -> Symmetric<R, P>;
}

/// The sums by the parameters of a shape from those by x̄, ȳ, σx and σy.
#[inline(always)]
pub(crate) fn gathered<R: Real, S: Separable<P>, const P: usize>(of: &Sums<R, 4>) -> Sums<R, P> {
    Sums {
        f: of.f,
        ff: of.ff,
        fg: of.fg,
        df: S::gather(of.df),
        f_df: S::gather(of.f_df),
        g_df: S::gather(of.g_df),
        df_df: S::gather_matrix(&of.df_df),
    }
}

/// How many constants a shape may have.
pub const NUMBERS: usize = 2;

/// The shape of the spots in a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Shape {
    /// See [`struct@Circular`].
    Circular(Circular),
    /// See [`struct@Elliptical`].
    Elliptical(Elliptical),
    /// See [`struct@Rotated`].
    Rotated(Rotated),
    /// See [`struct@FixedSigma`].
    FixedSigma(FixedSigma),
    /// See [`struct@FixedSigmas`].
    FixedSigmas(FixedSigmas),
    /// See [`struct@GivenSigma`].
    GivenSigma(GivenSigma),
}

/// The kinds of shapes by name: a kernel, or a table of outcomes, is for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShapeName {
    /// See [`struct@Circular`].
    Circular,
    /// See [`struct@Elliptical`].
    Elliptical,
    /// See [`struct@Rotated`].
    Rotated,
    /// See [`struct@Fixed`].
    Fixed,
}

impl Shape {
    /// Circular spots: x̄, ȳ and σ.
    pub const CIRCULAR: Self = Self::Circular(Circular);
    /// Elliptical spots along the axes: x̄, ȳ, σx and σy.
    pub const ELLIPTICAL: Self = Self::Elliptical(Elliptical);
    /// Elliptical spots of any direction: x̄, ȳ, σx, σy and the angle.
    pub const ROTATED: Self = Self::Rotated(Rotated);

    /// Circular spots whose σ is known.
    pub const fn fixed_sigma(sigma: f64) -> Self {
        Self::FixedSigma(FixedSigma { sigma })
    }

    /// Those whose widths are fitted, by their names.
    pub const NAMED: [(&'static str, Self); 3] = [
        (ShapeName::Circular.word(), Self::Circular(Circular)),
        (ShapeName::Elliptical.word(), Self::Elliptical(Elliptical)),
        (ShapeName::Rotated.word(), Self::Rotated(Rotated)),
    ];

    /// Its name.
    pub const fn name(&self) -> ShapeName {
        match self {
            Self::Circular(_) => ShapeName::Circular,
            Self::Elliptical(_) => ShapeName::Elliptical,
            Self::Rotated(_) => ShapeName::Rotated,
            Self::FixedSigma(_) | Self::FixedSigmas(_) | Self::GivenSigma(_) => ShapeName::Fixed,
        }
    }

    /// The shape of fixed widths that this is, if it is one.
    pub(crate) fn fixed(self) -> Option<Fixed> {
        let sigmas = match self {
            Self::FixedSigma(FixedSigma { sigma }) => Some([sigma; 2]),
            Self::FixedSigmas(FixedSigmas { sigma_x, sigma_y }) => Some([sigma_x, sigma_y]),
            Self::GivenSigma(GivenSigma) => None,
            _ => return None,
        };
        Some(Fixed { sigmas })
    }

    /// Checks the constants of the shape, such as a fixed σ.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    pub fn validate(self) -> Result<(), ArgumentError> {
        self.fixed().map_or(Ok(()), |fixed| fixed.validate())
    }

    /// Checks them for windows of this size.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    pub fn validate_in(self, size: Size, limits: &Limits) -> Result<(), ArgumentError> {
        self.fixed().map_or(Ok(()), |fixed| fixed.validate_in(size, limits))
    }
}

impl ShapeName {
    /// How many parameters the shape has.
    pub const fn parameters(self) -> usize {
        match self {
            Self::Circular => 3,
            Self::Elliptical => 4,
            Self::Rotated => 5,
            Self::Fixed => 2,
        }
    }

    /// Its name in lower case, for messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Circular => "circular",
            Self::Elliptical => "elliptical",
            Self::Rotated => "rotated",
            Self::Fixed => "fixed-sigma",
        }
    }
}

impl fmt::Display for ShapeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Default for Shape {
    fn default() -> Self {
        Self::Circular(Circular)
    }
}
