//! The shapes that a spot may have, one file each.
//!
//! A shape defines its parameters and their limits, the profile along each axis, and how the sums over the axes make
//! the sums of eq. 5 and 7. Everything else, from the search to the kernels of a GPU, works for any shape and any
//! number of parameters.

mod circular;
mod fixed_sigma;

use core::fmt;

use super::axis::{AxisSums, GaussianAxis};
use super::sums::{DataSums, Sums};
use crate::arithmetic::Real;
use crate::error::ArgumentError;
use crate::options::Limits;
use crate::search::Coordinates;
use crate::size::{Circle, Size};

/// A shape with P parameters whose profile is a product of a function of the column and one of the row.
pub trait Separable<const P: usize>: Coordinates<P> {
    /// Checks the constants of the shape, such as a fixed σ.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    fn validate(&self) -> Result<(), ArgumentError> {
        Ok(())
    }
    /// The constants of the shape, as they are sent to a device.
    fn numbers(&self) -> [f32; NUMBERS];
    /// The shape with these [constants](Separable::numbers).
    fn from_numbers(numbers: [f32; NUMBERS]) -> Self;
    /// The lowest and the highest value of each parameter in a window of that size.
    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); P];
    /// The parameters of a circular spot, or those nearest to it.
    fn parameters<R: Real>(&self, circle: Circle<R>) -> [R; P];
    /// The circular spot nearest to a spot with these parameters.
    fn circle<R: Real>(&self, p: &[R; P]) -> Circle<R>;
    /// The factors of the profile along x and y.
    fn axes<R: Real>(&self, p: &[R; P]) -> (GaussianAxis<R>, GaussianAxis<R>);
    /// Assembles the sums of eq. 5 and 7: products of a column and a row sum.
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, P>;
}

/// How many constants a shape may have.
pub const NUMBERS: usize = 2;

/// Work to do for a shape whose type is known at run time.
pub trait Visitor {
    /// What the work returns.
    type Output;
    /// Does the work for a shape with P parameters.
    fn visit<S: Separable<P>, const P: usize>(self, shape: S) -> Self::Output;
}

macro_rules! shapes {
    ($($shape:ident, $parameters:literal, $word:literal;)*) => {
        /// The shape of the spots in a batch.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[non_exhaustive]
        pub enum Shape {
            $(#[doc = concat!("See [`struct@", stringify!($shape), "`].")] $shape($shape),)*
        }

        /// The shapes by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ShapeName {
            $(#[doc = concat!("See [`struct@", stringify!($shape), "`].")] $shape,)*
        }

        impl Shape {
            /// Its name.
            pub const fn name(&self) -> ShapeName {
                match self {
                    $(Self::$shape(_) => ShapeName::$shape,)*
                }
            }

            /// Calls the visitor with this shape.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Self::$shape(shape) => visitor.visit::<$shape, $parameters>(shape),)*
                }
            }
        }

        impl ShapeName {
            /// How many parameters the shape has.
            pub const fn parameters(self) -> usize {
                match self {
                    $(Self::$shape => $parameters,)*
                }
            }

            /// Its name in lower case, for messages.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$shape => $word,)*
                }
            }
        }
    };
}

pub use circular::Circular;
pub use fixed_sigma::FixedSigma;

// All shapes, each with the number of its parameters and the word for it.
shapes! {
    Circular, 3, "circular";
    FixedSigma, 2, "fixed-sigma";
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

impl Shape {
    /// Checks the constants of the shape, such as a fixed σ.
    ///
    /// # Errors
    /// [`ArgumentError::Option`].
    pub fn validate(self) -> Result<(), ArgumentError> {
        struct Validate;
        impl Visitor for Validate {
            type Output = Result<(), ArgumentError>;
            fn visit<S: Separable<P>, const P: usize>(self, shape: S) -> Self::Output {
                shape.validate()
            }
        }
        self.visit(Validate)
    }
}
