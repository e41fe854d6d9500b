//! The passes over a rotated spot, whose profile is no product of axes: see [`crate::spot::moments`].

use super::each::Each;
use super::group::Group;
use super::shape::Summable;
use super::sheared::{Integrals, Sheared};
use super::tile::{Line, Tile, keep};
use super::weigh::{Noise, Weighted, WeightedTilt};
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::spot::axis::PixelProfile;
use crate::spot::moments::{Moments, RowMoments, SecondMoments, powers};
use crate::spot::plane::{Tilt, TiltedSums};
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
    /// Where the noise asks for sums times the place along and across the lines: with the weights s.
    tilted: Tilted<R>,
}

/// Sums times the place along and across the lines.
#[derive(Clone, Copy)]
struct Tilted<R> {
    single: [Moments<R>; 2],
    /// The others, of [`WeightedTilt`].
    rest: WeightedTilt<R, 0>,
}

impl<R: Real> Gathered<R> {
    #[inline(always)]
    fn zero() -> Self {
        let (zero, none) = (R::splat(0.0), Moments::zero());
        let df_df = Symmetric::zero();
        let tilted = Tilted { single: [none; 2], rest: WeightedTilt::zero() };
        Self { n: zero, level: zero, single: none, square: none, residual: none, df_df, tilted }
    }

    /// The sums over all lanes; moments of the weights s and sf up to `ORDER`.
    #[inline(always)]
    fn summed<G: Group<R>, const ORDER: usize, const TILTED: bool>(mut self, group: &G) -> Self {
        if G::LANES == 1 {
            return self;
        }
        self.n = group.sum(self.n);
        self.level = group.sum(self.level);
        if TILTED {
            self.tilted.rest = self.tilted.rest.summed(group);
        }
        for i in 0..5 {
            for j in 0..5 {
                if i + j <= ORDER {
                    if TILTED {
                        for of in 0..2 {
                            let moments = &mut self.tilted.single[of].0;
                            moments[i][j] = group.sum(moments[i][j]);
                        }
                    }
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
    let all = match spot.profile {
        PixelProfile::Sampled => sampled::<_, _, _, ORDER, RESIDUAL, NOTES>(tile, spot, noise),
        PixelProfile::Integrated => {
            integrated::<_, _, _, ORDER, RESIDUAL, NOTES>(tile, spot, noise)
        }
    };
    match N::TILTED {
        true => all.summed::<_, ORDER, true>(tile.group()),
        false => all.summed::<_, ORDER, false>(tile.group()),
    }
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
    let [first, first_line] = noise.origin();
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let across = spot.across(tile.number(lane, line));
        let height = noise.height() * across.factor;
        let (mut single, mut square) = (RowMoments::zero(), RowMoments::zero());
        let mut residual = RowMoments::zero();
        let (mut row, mut placed) = (RowTilt::zero(), RowMoments::zero());
        let number = tile.number(lane, line);
        let mut index = zero;
        for place in 0..length {
            let u = spot.along(index, across);
            if N::TILTED {
                noise.at([index, number]);
            }
            let a = index - first;
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
            if N::TILTED {
                row.add([s, r], a);
                placed.add::<ORDER>(once * a, &powers);
            }
        }
        let factors = powers(across.factor, across.y);
        if N::TILTED {
            let b = number - first_line;
            all.tilted.single[0].add_row::<ORDER>(&placed, &factors);
            all.tilted.single[1].add_row::<ORDER>(&single, &powers(across.factor * b, across.y));
            all.tilted.rest.add_row(row.0, b);
        }
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
    let [first, first_line] = noise.origin();
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let number = tile.number(lane, line);
        let mut integrals = Integrals::new(spot, number);
        let (mut row, mut index) = (RowTilt::zero(), zero);
        for end in 0..=length {
            let moments = integrals.next::<RESIDUAL>(index);
            let before = index - R::splat(1.0);
            index = index + R::splat(1.0);
            if end == 0 {
                continue;
            }
            if N::TILTED {
                noise.at([before, number]);
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
            if N::TILTED {
                let a = before - first;
                row.add([s, r], a);
                all.tilted.single[0].add::<ORDER>(s * a, &moments);
                all.tilted.single[1].add::<ORDER>(s * (number - first_line), &moments);
            }
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
        if N::TILTED {
            all.tilted.rest.add_row(row.0, number - first_line);
        }
    }
    all
}

/// Of a row, with the place a along it: Σs, Σsa, Σsa², Σr and Σra.
struct RowTilt<R>([R; 5]);

impl<R: Real> RowTilt<R> {
    #[inline(always)]
    fn zero() -> Self {
        Self([R::splat(0.0); 5])
    }

    #[inline(always)]
    fn add(&mut self, [s, r]: [R; 2], a: R) {
        let by = s * a;
        self.0[0] = self.0[0] + s;
        self.0[1] = self.0[1] + by;
        self.0[2] = by.mul_add(a, self.0[2]);
        self.0[3] = self.0[3] + r;
        self.0[4] = r.mul_add(a, self.0[4]);
    }
}

/// A pixel's weight is 1, and its value; where the background is a plane (L > 2) with sums times the place, counted from a point.
struct Even<R, const L: usize>([R; 2]);

impl<R: Real, const L: usize> Noise<R> for Even<R, L> {
    const TILTED: bool = L > 2;
    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        self.0
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: [R; 2], pixel: R, _: R, _: R) -> [R; 2] {
        [R::splat(1.0), pixel]
    }
}

/// The sums by the parameters.
#[inline(always)]
fn weighted<R: Real, const SECOND: bool>(all: &Gathered<R>, r: R) -> Weighted<R, 5> {
    let Gathered { single, square, residual, tilted, .. } = all;
    let Tilted { single: [along, across], rest } = tilted;
    Weighted {
        n: all.n,
        sums: Sums {
            f: single.value(),
            ff: square.value(),
            fg: residual.value(),
            df: single.gradient(r),
            f_df: square.gradient(r),
            g_df: residual.gradient(r),
            df_df: all.df_df,
        },
        r: all.level,
        r_second: if SECOND { residual.second(r) } else { Symmetric::zero() },
        tilted: WeightedTilt {
            n: rest.n,
            square: rest.square,
            f: [along.value(), across.value()],
            df: [along.gradient(r), across.gradient(r)],
            r: rest.r,
        },
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
    fn evaluate<R: Real, T: Tile<R>, const SECOND: bool, const L: usize>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
        tilt: &Tilt<R>,
    ) -> (Sums<R, 5>, SecondMoments<R>, TiltedSums<R, 5>) {
        let mut even = Even::<R, L>(tilt.middle);
        let all = if SECOND {
            gather::<_, _, _, 4, 4, false>(tile, &spot, &mut even)
        } else {
            gather::<_, _, _, 2, 2, false>(tile, &spot, &mut even)
        };
        let Weighted { sums, tilted: WeightedTilt { f, df, .. }, .. } =
            weighted::<R, false>(&all, spot.r);
        let Gathered { single: level, square, residual: data, .. } = all;
        let second = SecondMoments { r: spot.r, level, square, data };
        let mut tilted = TiltedSums::zero();
        if const { L > 2 } {
            (tilted.f, tilted.df) = (f, df);
            if SECOND {
                let [along, across] = all.tilted.single;
                tilted.second = [along.second(spot.r), across.second(spot.r)];
            }
            tilted = tilted.orthogonal(tilt);
        }
        (sums, second, tilted)
    }
    #[inline(always)]
    fn weigh<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
        noise: &mut N,
    ) -> Weighted<R, 5> {
        let all = if SECOND {
            gather::<_, _, _, 2, 4, NOTES>(tile, &spot, noise)
        } else {
            gather::<_, _, _, 2, 2, NOTES>(tile, &spot, noise)
        };
        weighted::<R, SECOND>(&all, spot.r)
    }
    #[inline(always)]
    fn show<R: Real, T: Tile<R>, E: Each<R>, const NOTES: bool>(
        &self,
        tile: &mut T,
        spot: Sheared<R>,
        height: R,
        each: &mut E,
    ) {
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
        let number = tile.number(lane, line);
        let across = spot.across(number);
        let mut index = zero;
        for place in 0..length {
            each.at([index, number]);
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
        let number = tile.number(lane, line);
        let mut integrals = Integrals::new(spot, number);
        let mut index = zero;
        for end in 0..=length {
            let before = index - R::splat(1.0);
            let f = integrals.next::<0>(index).value();
            index = index + R::splat(1.0);
            if end == 0 {
                continue;
            }
            each.at([before, number]);
            let note = if NOTES { tile.note(lane, line, end - 1) } else { zero };
            each.pixel::<T>(in_window, [height, f], pixels.pixel(end - 1), note);
        }
    }
}
