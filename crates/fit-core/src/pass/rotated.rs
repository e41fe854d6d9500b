//! The passes over a rotated spot, whose profile is no product of axes: see [`crate::spot::moments`].

use super::each::Each;
use super::group::Group;
use super::shape::Summable;
use super::sheared::{Integrals, Sheared};
use super::tile::{Line, Tile, keep};
use super::weigh::{Noise, Weighted};
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::spot::axis::PixelProfile;
use crate::spot::moments::{Moments, RowMoments, SecondMoments, powers, turned, turned_matrix};
use crate::spot::shape::Rotated;
use crate::spot::sums::Sums;

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
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let across = spot.across(tile.number(lane, line));
        let height = noise.height() * across.factor;
        let (mut single, mut square) = (RowMoments::zero(), RowMoments::zero());
        let mut residual = RowMoments::zero();
        let mut index = zero;
        for place in 0..length {
            let u = spot.along(index, across);
            index = index + R::splat(1.0);
            let value = u.exp2_of_minus_square();
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            let weight = if N::WEIGHTS { tile.weight(lane, line, place) } else { zero };
            let profile = [height, value];
            let weights = noise.pixel::<T>(in_window, profile, pixels.pixel(place), note, weight);
            let [s, r] = [
                keep::<R, T>(in_window, weights[0], zero),
                keep::<R, T>(in_window, weights[1], zero),
            ];
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
    let height = noise.height();
    let mut all = Gathered::zero();
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let mut integrals = Integrals::new(spot, tile.number(lane, line));
        let mut index = zero;
        for end in 0..=length {
            let moments = integrals.next::<RESIDUAL>(index);
            index = index + R::splat(1.0);
            if end == 0 {
                continue;
            }
            let (place, f) = (end - 1, moments.value());
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            let weight = if N::WEIGHTS { tile.weight(lane, line, place) } else { zero };
            let profile = [height, f];
            let weights = noise.pixel::<T>(in_window, profile, pixels.pixel(place), note, weight);
            let [s, r] = [
                keep::<R, T>(in_window, weights[0], zero),
                keep::<R, T>(in_window, weights[1], zero),
            ];
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
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: [R; 2], pixel: R, _: R, _: R) -> [R; 2] {
        [R::splat(1.0), pixel]
    }
}

impl Summable<5> for Rotated {
    // Second derivatives take two more moments of five: not worth the time that it takes to compile both.
    const ROUGH: bool = false;

    type Spot<R: Real> = Sheared<R>;
    type Second<R: Real> = SecondMoments<R>;

    #[inline(always)]
    fn spot<R: Real>(&self, profile: PixelProfile, _: &[R; 0], p: &[R; 5]) -> Sheared<R> {
        Sheared::new(profile, p)
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
            PixelProfile::Sampled => show_sampled::<_, _, _, NOTES>(tile, &spot, height, each),
            PixelProfile::Integrated => {
                show_integrated::<_, _, _, NOTES>(tile, &spot, height, each);
            }
        }
    }
}

#[inline(always)]
fn show_sampled<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
    tile: &T,
    spot: &Sheared<R>,
    height: R,
    each: &mut E,
) {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let across = spot.across(tile.number(lane, line));
        let mut index = zero;
        for place in 0..length {
            let f = spot.along(index, across).exp2_of_minus_square() * across.factor;
            index = index + R::splat(1.0);
            let note = if NOTES { tile.note(lane, line, place) } else { zero };
            each.pixel::<T>(in_window, [height, f], pixels.pixel(place), note);
        }
    }
}

#[inline(always)]
fn show_integrated<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
    tile: &T,
    spot: &Sheared<R>,
    height: R,
    each: &mut E,
) {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let mut integrals = Integrals::new(spot, tile.number(lane, line));
        let mut index = zero;
        for end in 0..=length {
            let f = integrals.next::<0>(index).value();
            index = index + R::splat(1.0);
            if end == 0 {
                continue;
            }
            let note = if NOTES { tile.note(lane, line, end - 1) } else { zero };
            each.pixel::<T>(in_window, [height, f], pixels.pixel(end - 1), note);
        }
    }
}
