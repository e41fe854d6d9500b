//! The passes over a rotated spot, whose profile is no product of axes: see [`crate::spot::moments`].

use super::group::Group;
use super::residual::Each;
use super::shape::Summable;
use super::tile::{Line, Tile, keep};
use super::weigh::{Noise, Weighted};
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::spot::axis::{CENTRE_UNIT, PixelProfile, WIDTH_UNIT};
use crate::spot::moments::{
    Moments, RowMoments, SecondMoments, powers, rest, turned, turned_matrix,
};
use crate::spot::shape::Rotated;
use crate::spot::sums::Sums;

/// A rotated spot as its lines see it: a Gaussian along each line, whose centre moves from line to line.
#[derive(Clone, Copy, Debug)]
pub struct Sheared<R> {
    /// Along and across the lines, in pixels.
    centre: [R; 2],
    /// k/s along and across the lines.
    scale: [R; 2],
    r: R,
    /// √(1 − r²).
    root: R,
    profile: PixelProfile,
}

/// A place across the lines: how far it shifts u, y there, and the factor 2^(−(1 − r²)y²).
#[derive(Clone, Copy)]
struct Across<R> {
    shift: R,
    y: R,
    factor: R,
}

impl<R: Real> Sheared<R> {
    /// The same spot with lines that are columns, if they are.
    #[inline(always)]
    fn along_lines<T: Tile<R>>(self) -> Self {
        let Self { centre: [x, y], scale: [of_x, of_y], .. } = self;
        if T::COLUMNS { Self { centre: [y, x], scale: [of_y, of_x], ..self } } else { self }
    }

    #[inline(always)]
    fn across(&self, place: R) -> Across<R> {
        let y = (place - self.centre[1]) * self.scale[1];
        Across { shift: self.r * y, y, factor: (self.root * y).exp2_of_minus_square() }
    }

    /// u at a place on a line.
    #[inline(always)]
    fn along(&self, place: R, across: Across<R>) -> R {
        (place - self.centre[0]).mul_add(self.scale[0], across.shift)
    }
}

/// How many places across a pixel its integral is taken at: Gauss and Legendre's.
const PLACES: usize = 5;

/// These places, in pixels from the centre, and their weights. With s of 0.7, 0.5 and 0.35 pixels what they make of
/// the profile is off by 10⁻⁸, 4·10⁻⁷ and 10⁻⁵ of its peak.
const QUADRATURE: [[f64; 2]; PLACES] = [
    [-0.453_089_922_969_331_99, 0.118_463_442_528_094_54],
    [-0.269_234_655_052_841_55, 0.239_314_335_249_683_23],
    [0.0, 0.284_444_444_444_444_44],
    [0.269_234_655_052_841_55, 0.239_314_335_249_683_23],
    [0.453_089_922_969_331_99, 0.118_463_442_528_094_54],
];

/// The end of a pixel on its line: 2^(−u²)·{1, u, u², u³}, and the integral of the first.
#[derive(Clone, Copy)]
struct End<R> {
    moments: [R; 4],
    integral: R,
}

impl<R: Real> End<R> {
    #[inline(always)]
    fn new(u: R) -> Self {
        let (value, integral) = u.exp2_integral();
        let [zero, one, two, three, _] = powers(value, u);
        Self { moments: [zero, one, two, three], integral }
    }

    /// ∫uⁱ2^(−u²)du from here to there.
    #[inline(always)]
    fn to(&self, end: &Self) -> RowMoments<R> {
        let k2 = R::splat(WIDTH_UNIT);
        let mut step = [R::splat(0.0); 4];
        for i in 0..4 {
            step[i] = end.moments[i] - self.moments[i];
        }
        // By parts: ∫uⁱ⁺¹2^(−u²)du = k²(i∫uⁱ⁻¹2^(−u²)du − uⁱ2^(−u²)).
        let value = end.integral - self.integral;
        let first = -(k2 * step[0]);
        let second = k2 * (value - step[1]);
        let third = k2 * (first + first - step[2]);
        let fourth = k2 * R::splat(3.0).mul_add(second, -step[3]);
        RowMoments([value, first, second, third, fourth])
    }
}

/// The integral over each pixel of a line, place after place.
struct Integrals<'a, R> {
    spot: &'a Sheared<R>,
    across: [Across<R>; PLACES],
    /// Of y, times the factors and the weights.
    powers: [[R; 5]; PLACES],
    /// The ends of the pixels before.
    ends: [End<R>; PLACES],
}

impl<'a, R: Real> Integrals<'a, R> {
    #[inline(always)]
    fn new(spot: &'a Sheared<R>, number: R) -> Self {
        let length = spot.scale[0].reciprocal();
        let mut across = [spot.across(number); PLACES];
        let mut of_y = [[length; 5]; PLACES];
        let mut ends = [End { moments: [length; 4], integral: length }; PLACES];
        for place in 0..PLACES {
            let [offset, weight] = QUADRATURE[place];
            across[place] = spot.across(number + R::splat(offset));
            let Across { y, factor, .. } = across[place];
            of_y[place] = powers(factor * length * R::splat(weight), y);
            ends[place] = End::new(spot.along(R::splat(-0.5), across[place]));
        }
        Self { spot, across, powers: of_y, ends }
    }

    /// The moments of the next pixel, whose index is given.
    #[inline(always)]
    fn next<const ORDER: usize>(&mut self, index: R) -> Moments<R> {
        let mut moments = Moments::zero();
        for place in 0..PLACES {
            let end = End::new(self.spot.along(index + R::splat(0.5), self.across[place]));
            moments.add_row::<ORDER>(&self.ends[place].to(&end), &self.powers[place]);
            self.ends[place] = end;
        }
        moments
    }
}

/// The sums over a window with weights s and r for each pixel, as [`Weighted`] has them.
struct Gathered<R> {
    /// Σs and Σr.
    n: R,
    level: R,
    /// With the weights s, sf and r.
    single: Moments<R>,
    square: Moments<R>,
    residual: Moments<R>,
    /// Σs∂ⱼf∂ₖf.
    df_df: Symmetric<R, 5>,
}

impl<R: Real> Gathered<R> {
    #[inline(always)]
    fn zero() -> Self {
        let (zero, none) = (R::splat(0.0), Moments::zero());
        let df_df = Symmetric::zero();
        Self { n: zero, level: zero, single: none, square: none, residual: none, df_df }
    }

    /// The sums over all lanes; moments of the weights s and sf up to `ORDER`.
    #[inline(always)]
    fn summed<G: Group<R>, const ORDER: usize>(mut self, group: &G) -> Self {
        if G::LANES == 1 {
            return self;
        }
        self.n = group.sum(self.n);
        self.level = group.sum(self.level);
        for i in 0..5 {
            for j in 0..5 {
                if i + j <= ORDER {
                    self.single.0[i][j] = group.sum(self.single.0[i][j]);
                    self.square.0[i][j] = group.sum(self.square.0[i][j]);
                }
                if i + j <= 4 {
                    self.residual.0[i][j] = group.sum(self.residual.0[i][j]);
                }
                if i <= j {
                    self.df_df.0[i][j] = group.sum(self.df_df.0[i][j]);
                }
            }
        }
        self
    }
}

/// Sums over the pixels of a spot along the lines. The moments of the weights s and sf are wanted up to `ORDER`, those
/// of r up to `RESIDUAL`, which is no less.
#[inline(always)]
fn gather<
    R: Real,
    T: Tile<R>,
    N: Noise<R>,
    const ORDER: usize,
    const RESIDUAL: usize,
    const NOTES: bool,
>(
    tile: &T,
    spot: &Sheared<R>,
    noise: &mut N,
) -> Gathered<R> {
    match spot.profile {
        PixelProfile::Sampled => sampled::<_, _, _, ORDER, RESIDUAL, NOTES>(tile, spot, noise),
        PixelProfile::Integrated => {
            integrated::<_, _, _, ORDER, RESIDUAL, NOTES>(tile, spot, noise)
        }
    }
    .summed::<_, ORDER>(tile.group())
}

#[inline(always)]
fn sampled<
    R: Real,
    T: Tile<R>,
    N: Noise<R>,
    const ORDER: usize,
    const RESIDUAL: usize,
    const NOTES: bool,
>(
    tile: &T,
    spot: &Sheared<R>,
    noise: &mut N,
) -> Gathered<R> {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut all = Gathered::zero();
    for line in 0..tile.lines() {
        let (pixels, there) = (tile.line(lane, line, length), tile.there(lane, line));
        let across = spot.across(tile.number(lane, line));
        let (mut single, mut square) = (RowMoments::zero(), RowMoments::zero());
        let mut residual = RowMoments::zero();
        let mut index = zero;
        for place in 0..length {
            let u = spot.along(index, across);
            index = index + R::splat(1.0);
            let value = u.exp2_of_minus_square();
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            let weight = if N::WEIGHTS { tile.weight(lane, line, place) } else { zero };
            let f = value * across.factor;
            let weights = noise.pixel::<T>(there, f, pixels.pixel(place), note, weight);
            let [s, r] =
                [keep::<R, T>(there, weights[0], zero), keep::<R, T>(there, weights[1], zero)];
            all.n = all.n + s;
            all.level = all.level + r;
            let powers = powers(R::splat(1.0), u);
            let once = s * value;
            single.add::<ORDER>(once, &powers);
            square.add::<4>(once * value, &powers);
            residual.add::<RESIDUAL>(r * value, &powers);
        }
        let factors = powers(across.factor, across.y);
        all.single.add_row::<ORDER>(&single, &factors);
        all.residual.add_row::<RESIDUAL>(&residual, &factors);
        all.square.add_row::<4>(&square, &powers(across.factor * across.factor, across.y));
    }
    all.df_df = all.square.products(spot.r);
    all
}

#[inline(always)]
fn integrated<
    R: Real,
    T: Tile<R>,
    N: Noise<R>,
    const ORDER: usize,
    const RESIDUAL: usize,
    const NOTES: bool,
>(
    tile: &T,
    spot: &Sheared<R>,
    noise: &mut N,
) -> Gathered<R> {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut all = Gathered::zero();
    for line in 0..tile.lines() {
        let (pixels, there) = (tile.line(lane, line, length), tile.there(lane, line));
        let mut integrals = Integrals::new(spot, tile.number(lane, line));
        let mut index = zero;
        for place in 0..length {
            let moments = integrals.next::<RESIDUAL>(index);
            index = index + R::splat(1.0);
            let f = moments.value();
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            let weight = if N::WEIGHTS { tile.weight(lane, line, place) } else { zero };
            let weights = noise.pixel::<T>(there, f, pixels.pixel(place), note, weight);
            let [s, r] =
                [keep::<R, T>(there, weights[0], zero), keep::<R, T>(there, weights[1], zero)];
            all.n = all.n + s;
            all.level = all.level + r;
            all.single.add::<ORDER>(s, &moments);
            all.square.add::<ORDER>(s * f, &moments);
            all.residual.add::<RESIDUAL>(r, &moments);
            let gradient = moments.gradient(spot.r);
            for j in 0..5 {
                let weighted = s * gradient[j];
                for k in 0..5 {
                    if k >= j {
                        all.df_df.0[j][k] = weighted.mul_add(gradient[k], all.df_df.0[j][k]);
                    }
                }
            }
        }
    }
    all
}

/// A pixel's weight is 1, and its value.
struct Plain;

impl<R: Real> Noise<R> for Plain {
    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: R, pixel: R, _: R, _: R) -> [R; 2] {
        [R::splat(1.0), pixel]
    }
}

impl Summable<5> for Rotated {
    type Spot<R: Real> = Sheared<R>;
    type Second<R: Real> = SecondMoments<R>;

    #[inline(always)]
    fn spot<R: Real>(
        &self,
        profile: PixelProfile,
        _: &[R; 0],
        &[x, y, s_x, s_y, r]: &[R; 5],
    ) -> Sheared<R> {
        let k = R::splat(CENTRE_UNIT);
        let scale = [s_x.reciprocal() * k, s_y.reciprocal() * k];
        Sheared { centre: [x, y], scale, r, root: rest(r).sqrt(), profile }
    }
    #[inline(always)]
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
    ) -> (Sums<R, 5>, SecondMoments<R>) {
        let spot = spot.along_lines::<T>();
        let all = if SECOND {
            gather::<_, _, _, 4, 4, false>(tile, &spot, &mut Plain)
        } else {
            gather::<_, _, _, 2, 2, false>(tile, &spot, &mut Plain)
        };
        let Gathered { single: level, square, residual: data, .. } = all;
        let r = spot.r;
        let mut sums = Sums {
            f: level.value(),
            ff: square.value(),
            fg: data.value(),
            df: level.gradient(r),
            f_df: square.gradient(r),
            g_df: data.gradient(r),
            df_df: all.df_df,
        };
        if T::COLUMNS {
            sums.df = turned(sums.df);
            sums.f_df = turned(sums.f_df);
            sums.g_df = turned(sums.g_df);
            sums.df_df = turned_matrix(&sums.df_df);
        }
        (sums, SecondMoments { r, level, square, data, turned: T::COLUMNS })
    }
    #[inline(always)]
    fn weigh<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
        noise: &mut N,
    ) -> Weighted<R, 5> {
        let spot = spot.along_lines::<T>();
        let all = if SECOND {
            gather::<_, _, _, 2, 4, NOTES>(tile, &spot, noise)
        } else {
            gather::<_, _, _, 2, 2, NOTES>(tile, &spot, noise)
        };
        let Gathered { single, square, residual, .. } = all;
        let r = spot.r;
        let r_second = if SECOND { residual.second(r) } else { Symmetric::zero() };
        let mut sums = Weighted {
            n: all.n,
            f: single.value(),
            ff: square.value(),
            df: single.gradient(r),
            f_df: square.gradient(r),
            df_df: all.df_df,
            r: all.level,
            r_f: residual.value(),
            r_df: residual.gradient(r),
            r_second,
        };
        if T::COLUMNS {
            sums.df = turned(sums.df);
            sums.f_df = turned(sums.f_df);
            sums.df_df = turned_matrix(&sums.df_df);
            sums.r_df = turned(sums.r_df);
            sums.r_second = turned_matrix(&sums.r_second);
        }
        sums
    }
    #[inline(always)]
    fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
        height: R,
        each: &mut E,
    ) {
        let spot = spot.along_lines::<T>();
        match spot.profile {
            PixelProfile::Sampled => show::<_, _, _, NOTES, false>(tile, &spot, height, each),
            PixelProfile::Integrated => show::<_, _, _, NOTES, true>(tile, &spot, height, each),
        }
    }
}

#[inline(always)]
fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool, const INTEGRATED: bool>(
    tile: &T,
    spot: &Sheared<R>,
    height: R,
    each: &mut E,
) {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    for line in 0..tile.lines() {
        let (pixels, there) = (tile.line(lane, line, length), tile.there(lane, line));
        let number = tile.number(lane, line);
        let across = spot.across(number);
        let mut integrals = Integrals::new(spot, number);
        let mut index = zero;
        for place in 0..length {
            let f = if INTEGRATED {
                integrals.next::<0>(index).value()
            } else {
                spot.along(index, across).exp2_of_minus_square() * across.factor
            };
            index = index + R::splat(1.0);
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            each.pixel::<T>(there, [height, f], pixels.pixel(place), note);
        }
    }
}
