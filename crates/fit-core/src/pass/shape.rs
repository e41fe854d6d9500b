//! What the passes need of a shape: its sums over a window.

use core::marker::PhantomData;

use super::group::Group;
use super::tile::{Along, Line, Tile};
use super::weigh::{Noise, Weighted, weigh};
use super::{each::Each, evaluate};
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::spot::assembly::Remainder;
use crate::spot::axis::{AxisSums, GaussianAxis, PixelProfile};
use crate::spot::shape::{Circular, Elliptical, Outlined, Rotated, Separable, Shape};
use crate::spot::sums::{Second, Sums};

/// A shape with P parameters whose sums over a window every method can take.
pub trait Summable<const P: usize>: Outlined<P> {
    /// Whether it pays to leave out second derivatives where they are not needed.
    const ROUGH: bool = true;

    /// A spot of this shape, prepared for a visit to the pixels.
    type Spot<R: Real>: Copy;
    /// The sums over second derivatives.
    type Second<R: Real>: Remainder<R, P>;

    /// The spot with these parameters.
    fn spot<R: Real>(
        &self,
        profile: PixelProfile,
        constants: &Self::Constants<R>,
        p: &[R; P],
    ) -> Self::Spot<R>;
    /// The sums of eq. 5 and 7; those over second derivatives are anything unless `SECOND`.
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
    ) -> (Sums<R, P>, Self::Second<R>);
    /// The sums in which each pixel has weights of its own; those over second derivatives are zeros unless `SECOND`.
    /// `NOTES` says whether the tile has notes.
    fn weigh<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        noise: &mut N,
    ) -> Weighted<R, P>;
    /// Shows the profile, `height` times as high, pixel by pixel.
    fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        height: R,
        each: &mut E,
    );
}

/// The second derivatives of a separable shape.
#[derive(Clone, Copy, Debug)]
pub struct Gathered<R, S> {
    second: Second<R>,
    shape: PhantomData<S>,
}

impl<R: Real, S: Separable<P>, const P: usize> Remainder<R, P> for Gathered<R, S> {
    const SOME: bool = true;
    #[inline(always)]
    fn of_residual(&self, alpha: R, beta: R) -> Symmetric<R, P> {
        S::gather_matrix(&self.second.of_residual(alpha, beta))
    }
}

impl<S: Separable<P>, const P: usize> Summable<P> for S {
    type Spot<R: Real> = (GaussianAxis<R>, GaussianAxis<R>);
    type Second<R: Real> = Gathered<R, S>;

    #[inline(always)]
    fn spot<R: Real>(
        &self,
        profile: PixelProfile,
        constants: &Self::Constants<R>,
        p: &[R; P],
    ) -> Self::Spot<R> {
        self.axes(profile, constants, p)
    }
    #[inline(always)]
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
    ) -> (Sums<R, P>, Self::Second<R>) {
        let (x, y, data) = evaluate::<_, _, SECOND>(tile, spot);
        let second = Second::new(&x, &y, &data);
        (self.sums(&x, &y, &data), Gathered { second, shape: PhantomData })
    }
    #[inline(always)]
    fn weigh<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        noise: &mut N,
    ) -> Weighted<R, P> {
        weigh::<_, _, _, SECOND, NOTES>(tile, spot, noise).gathered::<S, P, SECOND>()
    }
    #[inline(always)]
    fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
        &self,
        tile: &mut T,
        (x, y): Self::Spot<R>,
        height: R,
        each: &mut E,
    ) {
        let (along, across) = if T::COLUMNS { (y, x) } else { (x, y) };
        let _ = tile.take_along::<false>(along);
        let mut sums = AxisSums::zero();
        tile.take_across::<false>(across, &mut sums);
        let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
        let along = tile.along(length);
        for line in 0..tile.lines() {
            let height = height * tile.across::<false>(lane, line, &mut sums).value;
            let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
            let mut index = zero;
            for place in 0..length {
                let value = along.at::<false>(place, index).value;
                index = index + R::splat(1.0);
                let note = if NOTES { tile.note(lane, line, place) } else { zero };
                each.pixel::<T>(in_window, [height, value], pixels.pixel(place), note);
            }
        }
    }
}

/// Work to do for a shape whose type is known at run time.
pub trait Visitor {
    /// What the work returns.
    type Output;
    /// Does the work for a shape with P parameters, Q with amplitude and background.
    fn visit<S: Summable<P>, const P: usize, const Q: usize>(self, shape: S) -> Self::Output;
}

impl Shape {
    /// Calls the visitor with this shape.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match (self, self.fixed()) {
            (_, Some(fixed)) => visitor.visit::<_, 2, 4>(fixed),
            (Self::Elliptical(Elliptical), _) => visitor.visit::<_, 4, 6>(Elliptical),
            (Self::Rotated(Rotated), _) => visitor.visit::<_, 5, 7>(Rotated),
            _ => visitor.visit::<_, 3, 5>(Circular),
        }
    }
}
