//! The shapes that a spot may have, one file each.
//!
//! A shape says what its parameters are, between which limits they lie, what the profile along either axis is, and
//! how the sums over the axes make the sums of eq. 5 and 7. Everything else, from the search to the kernels of a GPU,
//! is written for any shape and any number of parameters.

mod circular;

pub use circular::Circular;

use super::axis::{AxisSums, GaussianAxis};
use super::sums::{DataSums, Sums};
use crate::arithmetic::Real;
use crate::options::Limits;
use crate::search::Coordinates;
use crate::size::{Circle, Size};

/// A shape with P parameters whose profile is a product of a function of the column and one of the row.
pub trait Separable<const P: usize>: Coordinates<P> {
    /// The lowest and the highest value of each parameter in a window of that size.
    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); P];
    /// The parameters of a circular spot, or those nearest to it.
    fn parameters<R: Real>(&self, circle: Circle<R>) -> [R; P];
    /// The circular spot that is nearest to a spot with these parameters.
    fn circle<R: Real>(&self, p: &[R; P]) -> Circle<R>;
    /// The factors of the profile along x and y.
    fn axes<R: Real>(&self, p: &[R; P]) -> (GaussianAxis<R>, GaussianAxis<R>);
    /// Puts the sums of eq. 5 and 7 together: products of a column and a row sum.
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, P>;
}
