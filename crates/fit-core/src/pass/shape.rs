//! What the passes need of a shape: its sums over a window.

use core::marker::PhantomData;

use super::each::Each;
use super::evaluate::Evaluate;
use super::group::Group;
use super::tile::{Along, Line, Tile};
use super::weigh::{Noise, Weigh, Weighted};
use crate::arithmetic::{Real, Task};
use crate::search::solve::Symmetric;
use crate::spot::assembly::Remainder;
use crate::spot::axis::{AxisSample, AxisSums, GaussianAxis, PixelProfile};
use crate::spot::limits::Background;
use crate::spot::plane::{Tilt, TiltedSums};
use crate::spot::shape::{Circular, Elliptical, Outlined, Rotated, Separable, Shape};
use crate::spot::sums::{Second, Sums, finished, second_of_axes};

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
    /// The sums of eq. 5 and 7, and where the background is a plane (L > 2) those times the place, counted from the middle of `tilt`
    /// and then orthogonal; those over second derivatives are anything unless `SECOND`.
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool, const L: usize>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        tilt: &Tilt<R>,
    ) -> (Sums<R, P>, Self::Second<R>, TiltedSums<R, P>);
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
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool, const L: usize>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        tilt: &Tilt<R>,
    ) -> (Sums<R, P>, Self::Second<R>, TiltedSums<R, P>) {
        let visit = Evaluate::<_, T, SECOND> { tile, axes: spot };
        let (x, y, data) = if T::APART { R::compiled(visit) } else { visit.run() };
        let mut tilted = TiltedSums::zero();
        if const { L > 2 } {
            tilted = self::tilted::<_, _, S, P, SECOND>(tile, &x, &y, tilt);
        }
        let second = Gathered { second: Second::new(&x, &y, &data), shape: PhantomData };
        (self.sums(&x, &y, &data), second, tilted)
    }
    #[inline(always)]
    fn weigh<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Self::Spot<R>,
        noise: &mut N,
    ) -> Weighted<R, P> {
        let visit = Weigh::<_, T, _, SECOND, NOTES> { tile, axes: spot, noise };
        let all = if T::APART { R::compiled(visit) } else { visit.run() };
        all.gathered::<S, P, SECOND>()
    }
    #[inline(always)]
    fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
        &self,
        tile: &mut T,
        axes: Self::Spot<R>,
        height: R,
        each: &mut E,
    ) {
        R::compiled(Show::<_, T, _, NOTES> { tile, axes, height, each });
    }
}

/// Shows a profile that is a product of axes.
struct Show<'a, R, T, E, const NOTES: bool> {
    tile: &'a mut T,
    axes: (GaussianAxis<R>, GaussianAxis<R>),
    height: R,
    each: &'a mut E,
}

impl<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool> Task<R> for Show<'_, R, T, E, NOTES> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { tile, axes: (along, across), height, each } = self;
        let _ = tile.take_along::<false>(along);
        let mut sums = AxisSums::zero();
        tile.take_across::<false>(across, &mut sums);
        let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
        let along = tile.along(length);
        for line in 0..tile.lines() {
            let height = height * tile.across::<false>(lane, line, &mut sums).value;
            let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
            let number = tile.number(lane, line);
            let mut index = zero;
            for place in 0..length {
                each.at([index, number]);
                let value = along.at::<false>(place, index).value;
                index = index + R::splat(1.0);
                let note = if NOTES { tile.note(lane, line, place) } else { zero };
                each.pixel::<T>(in_window, [height, value], pixels.pixel(place), note);
            }
        }
    }
}

/// The sums times the place, for the axes that the tile has taken.
#[inline(always)]
fn tilted<R: Real, T: Tile<R>, S: Separable<P>, const P: usize, const SECOND: bool>(
    tile: &T,
    x: &AxisSums<R>,
    y: &AxisSums<R>,
    tilt: &Tilt<R>,
) -> TiltedSums<R, P> {
    let [of_x, of_y] = placed::<_, _, SECOND>(tile, tilt.middle);
    let ([x0, x1, x2, x12, x22], [y0, y1, y2, y12, y22]) = (of_x, of_y);
    let ([f0, f1, f2], [g0, g1, g2]) = (x.single, y.single);
    let mut tilted = TiltedSums {
        f: [x0 * g0, f0 * y0],
        df: [
            S::gather([x1 * g0, x0 * g1, x2 * g0, x0 * g2]),
            S::gather([f1 * y0, f0 * y1, f2 * y0, f0 * y2]),
        ],
        second: [Symmetric::zero(); 2],
    };
    if SECOND {
        let by_x = second_of_axes([x0, x1, x2], [x12, x22], y.single, y.second);
        let by_x = finished(&by_x, x0 * g0, [x2 * g0, x0 * g2]);
        let by_y = second_of_axes(x.single, x.second, [y0, y1, y2], [y12, y22]);
        let by_y = finished(&by_y, f0 * y0, [f2 * y0, f0 * y2]);
        tilted.second = [S::gather_matrix(&by_x), S::gather_matrix(&by_y)];
    }
    tilted.orthogonal(tilt)
}

/// Σ(x − x̄_w)φₐ of φ₀, φ₁, φ₂, φ₁₂ and φ₂₂, the last two if `SECOND`, and the same of y, for the axes that the tile has taken.
#[inline(always)]
fn placed<R: Real, T: Tile<R>, const SECOND: bool>(
    tile: &T,
    [first, number]: [R; 2],
) -> [[R; 5]; 2] {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut along = [zero; 5];
    let axis = tile.along(length);
    let mut index = zero;
    for place in 0..length {
        let a = index - first;
        add_placed::<_, SECOND>(&mut along, a, axis.at::<SECOND>(place, index));
        index = index + R::splat(1.0);
    }
    let (mut across, mut unused) = ([zero; 5], AxisSums::zero());
    for line in 0..tile.lines() {
        let b = tile.number(lane, line) - number;
        let sample = tile.across::<SECOND>(lane, line, &mut unused);
        add_placed::<_, SECOND>(&mut across, b, sample);
    }
    for sum in &mut across {
        *sum = tile.group().sum(*sum);
    }
    [along, across]
}

#[inline(always)]
fn add_placed<R: Real, const SECOND: bool>(sums: &mut [R; 5], place: R, sample: AxisSample<R>) {
    let AxisSample { value, by_centre, by_width, second } = sample;
    sums[0] = place.mul_add(value, sums[0]);
    sums[1] = place.mul_add(by_centre, sums[1]);
    sums[2] = place.mul_add(by_width, sums[2]);
    if SECOND {
        sums[3] = place.mul_add(second[0], sums[3]);
        sums[4] = place.mul_add(second[1], sums[4]);
    }
}

/// Whether of Q parameters of a spot, P are those of its shape and four an amplitude and a plane; otherwise two are amplitude
/// and background.
#[must_use]
pub const fn on_plane(p: usize, q: usize) -> bool {
    q == p + 4
}

/// Work to do for a shape whose type is known at run time.
pub trait Visitor {
    /// What the work returns.
    type Output;
    /// Does the work for a shape with P parameters and L linear ones, amplitude and background, or amplitude and plane; Q are P + L.
    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output;
}

impl Shape {
    /// Calls the visitor with this shape, for spots on such a background.
    pub fn visit<V: Visitor>(self, background: Background, visitor: V) -> V::Output {
        if background == Background::Plane {
            return match (self, self.fixed()) {
                (_, Some(fixed)) => visitor.visit::<_, 2, 4, 6>(fixed),
                (Self::Elliptical(Elliptical), _) => visitor.visit::<_, 4, 4, 8>(Elliptical),
                (Self::Rotated(Rotated), _) => visitor.visit::<_, 5, 4, 9>(Rotated),
                _ => visitor.visit::<_, 3, 4, 7>(Circular),
            };
        }
        match (self, self.fixed()) {
            (_, Some(fixed)) => visitor.visit::<_, 2, 2, 4>(fixed),
            (Self::Elliptical(Elliptical), _) => visitor.visit::<_, 4, 2, 6>(Elliptical),
            (Self::Rotated(Rotated), _) => visitor.visit::<_, 5, 2, 7>(Rotated),
            _ => visitor.visit::<_, 3, 2, 5>(Circular),
        }
    }
}
