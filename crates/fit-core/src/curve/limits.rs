//! Parameters that a search has left on a limit.

use crate::arithmetic::Real;

/// Whether data push a parameter: its `gradient`, over the root of its element in the Hessian, is beyond what rounding makes of it, a few
/// units of ‖d‖; `size` is ‖d‖² (Σwd², or Σd for maximum likelihood), `own` the element.
///
/// A parameter that ended on a limit counts as held there, with an error of 0, only if the data push it against that. One that only
/// happens to be there is as free as all others.
#[inline(always)]
pub fn is_pushed<R: Real>(gradient: R, own: R, size: R) -> R::Mask {
    let share = R::splat((8.0 * R::EPSILON) * (8.0 * R::EPSILON));
    (share * size * own).lt(gradient * gradient)
}

/// The same of a gradient that comes from before a last step which gained up to `little`: true where nothing that the step may have changed
/// matters. By Cauchy and Schwarz it has changed the gradient by no more than the root of `little` times the element.
#[inline(always)]
pub fn is_surely_pushed<R: Real>(gradient: R, own: R, size: R, little: R) -> R::Mask {
    is_pushed(gradient, own, size) & (little * own).lt(gradient * gradient)
}
