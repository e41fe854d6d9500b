//! Sums in which each pixel has weights of its own, by way of the two axes.
//!
//! A weight w(x, y) leaves no product of axes in Σwφₐ(x)φ_b(y), but the sums over a row, Σwφₐ, still serve all
//! derivatives: 16 multiply-adds a pixel.

use super::evaluate::sum_second;
use super::group::Group;
use super::tile::{Along, Line, Tile, keep};
use crate::arithmetic::{Real, Task};
use crate::search::solve::Symmetric;
use crate::spot::axis::{AxisSample, AxisSums, GaussianAxis};
use crate::spot::plane::TiltedSums;
use crate::spot::shape::{Separable, gathered};
use crate::spot::sums::{RowSums, Sums, add_second, finished};

/// What a pixel contributes: the weight of products of derivatives, and that of single ones.
pub trait Noise<R: Real> {
    /// Whether the weight of single derivatives is of interest.
    const SINGLE: bool = true;
    /// Whether the tile's weights are of interest.
    const WEIGHTS: bool = false;
    /// Whether the sums times the place of a pixel are of interest, and [`Noise::at`] is told of each place.
    const TILTED: bool = false;

    /// Where the places of these sums are counted from: x and y.
    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        [R::splat(0.0); 2]
    }

    /// Takes the place of the pixel that comes next, x and y.
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        let _ = place;
    }

    /// By how much the profile is multiplied before [`Noise::pixel`] sees it.
    #[inline(always)]
    fn height(&self) -> R {
        R::splat(1.0)
    }

    /// Both weights of a pixel at which the profile, multiplied, is the product of both numbers of `profile`. `note` is
    /// what [`Tile::note`] says of it, and `weight` what [`Tile::weight`] says. In lanes that are not `in_window` the result
    /// does not matter, but the sums that the noise keeps for itself must stay.
    fn pixel<T: Tile<R>>(
        &mut self,
        in_window: R::Mask,
        profile: [R; 2],
        pixel: R,
        note: R,
        weight: R,
    ) -> [R; 2];
}

/// Sums over a window with a weight s for products of derivatives and a weight r for single ones, by the parameters of
/// a shape.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<R, const P: usize> {
    /// Σs.
    pub n: R,
    /// With the weights s, and r in place of g.
    pub sums: Sums<R, P>,
    /// Σr.
    pub r: R,
    /// Σr∂ⱼₖf; zeros where the second derivatives were not asked for.
    pub r_second: Symmetric<R, P>,
    /// Sums times the place; zeros unless [`Noise::TILTED`].
    pub tilted: WeightedTilt<R, P>,
}

impl<R: Real, const P: usize> Weighted<R, P> {
    /// The sums of eq. 5 and 7 from those with weights and weighted values, multiplied by `scale`, and those times the place.
    #[inline(always)]
    pub(super) fn scaled(&self, scale: R) -> (Sums<R, P>, TiltedSums<R, P>) {
        let (mut sums, mut tilted) = (self.sums, TiltedSums::zero());
        (sums.f, sums.ff, sums.fg) = (sums.f * scale, sums.ff * scale, sums.fg * scale);
        for j in 0..P {
            sums.df[j] = sums.df[j] * scale;
            sums.f_df[j] = sums.f_df[j] * scale;
            sums.g_df[j] = sums.g_df[j] * scale;
            for k in 0..P {
                if k >= j {
                    sums.df_df.0[j][k] = sums.df_df.0[j][k] * scale;
                }
            }
        }
        for i in 0..2 {
            tilted.f[i] = self.tilted.f[i] * scale;
            for j in 0..P {
                tilted.df[i][j] = self.tilted.df[i][j] * scale;
            }
        }
        (sums, tilted)
    }
}

/// Sums times x and y, counted from [`Noise::origin`].
#[derive(Clone, Copy, Debug)]
pub struct WeightedTilt<R, const P: usize> {
    /// Σsx and Σsy.
    pub n: [R; 2],
    /// Σsx², Σsxy and Σsy².
    pub square: [R; 3],
    /// Σsxf and Σsyf.
    pub f: [R; 2],
    /// Σsx∂ⱼf and Σsy∂ⱼf.
    pub df: [[R; P]; 2],
    /// Σrx and Σry.
    pub r: [R; 2],
}

impl<R: Real, const P: usize> WeightedTilt<R, P> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { n: [zero; 2], square: [zero; 3], f: [zero; 2], df: [[zero; P]; 2], r: [zero; 2] }
    }

    /// The sums over all lanes.
    #[inline(always)]
    pub(super) fn summed<G: Group<R>>(mut self, group: &G) -> Self {
        for sum in &mut self.square {
            *sum = group.sum(*sum);
        }
        for i in 0..2 {
            self.n[i] = group.sum(self.n[i]);
            self.f[i] = group.sum(self.f[i]);
            self.r[i] = group.sum(self.r[i]);
            for j in 0..P {
                self.df[i][j] = group.sum(self.df[i][j]);
            }
        }
        self
    }

    /// Adds those of a row at the place b across the rows that have no derivatives: with the place a on it, Σs, Σsa, Σsa², Σr and Σra.
    #[inline(always)]
    pub(super) fn add_row(&mut self, [s, by, square, r, r_by]: [R; 5], b: R) {
        self.n = [self.n[0] + by, b.mul_add(s, self.n[1])];
        let [xx, xy, yy] = self.square;
        self.square = [xx + square, b.mul_add(by, xy), (b * b).mul_add(s, yy)];
        self.r = [self.r[0] + r_by, b.mul_add(r, self.r[1])];
    }
}

/// The sums over one row.
#[derive(Clone, Copy)]
struct WeightedRowSums<R> {
    /// Σs{1, φ₀, φ₁, φ₂}.
    single: [R; 4],
    /// Σs{φ₀φ₀, φ₀φ₁, φ₀φ₂, φ₁φ₁, φ₁φ₂, φ₂φ₂}.
    product: [R; 6],
    /// Σr.
    level: R,
    /// Σr{φ₀, φ₁, φ₂, φ₁₂, φ₂₂}.
    residual: RowSums<R>,
    /// With the place a on the row: Σsa{1, φ₀, φ₁, φ₂}, Σsa² and Σra.
    placed: [R; 6],
}

impl<R: Real> WeightedRowSums<R> {
    #[inline(always)]
    fn zero() -> Self {
        let zero = R::splat(0.0);
        Self {
            single: [zero; 4],
            product: [zero; 6],
            level: zero,
            residual: RowSums::zero(),
            placed: [zero; 6],
        }
    }

    /// Adds what a pixel at a place on the row contributes to the sums times the place.
    #[inline(always)]
    fn add_placed(&mut self, [s, r]: [R; 2], place: R, column: AxisSample<R>) {
        let by = s * place;
        self.placed[0] = self.placed[0] + by;
        self.placed[1] = by.mul_add(column.value, self.placed[1]);
        self.placed[2] = by.mul_add(column.by_centre, self.placed[2]);
        self.placed[3] = by.mul_add(column.by_width, self.placed[3]);
        self.placed[4] = by.mul_add(place, self.placed[4]);
        self.placed[5] = r.mul_add(place, self.placed[5]);
    }

    #[inline(always)]
    fn add<const SECOND: bool, const SINGLE: bool>(
        &mut self,
        [s, r]: [R; 2],
        column: AxisSample<R>,
    ) {
        let AxisSample { value, by_centre, by_width, .. } = column;
        let (by_value, centre, width) = (s * value, s * by_centre, s * by_width);
        self.single[0] = self.single[0] + s;
        self.single[1] = self.single[1] + by_value;
        self.single[2] = self.single[2] + centre;
        self.single[3] = self.single[3] + width;
        self.product[0] = by_value.mul_add(value, self.product[0]);
        self.product[1] = by_value.mul_add(by_centre, self.product[1]);
        self.product[2] = by_value.mul_add(by_width, self.product[2]);
        self.product[3] = centre.mul_add(by_centre, self.product[3]);
        self.product[4] = centre.mul_add(by_width, self.product[4]);
        self.product[5] = width.mul_add(by_width, self.product[5]);
        if SINGLE {
            self.level = self.level + r;
            self.residual.add::<SECOND>(r, column);
        }
    }
}

/// By x̄, ȳ, σx and σy; those over second derivatives are [`finished`] at last.
impl<R: Real> Weighted<R, 4> {
    #[inline(always)]
    fn zero() -> Self {
        let (zero, tilted) = (R::splat(0.0), WeightedTilt::zero());
        Self { n: zero, sums: Sums::zero(), r: zero, r_second: Symmetric::zero(), tilted }
    }

    /// Adds the sums times the place of (a part of) a row at the place `b` across the rows.
    #[inline(always)]
    fn add_placed(&mut self, sums: &WeightedRowSums<R>, b: R, row: AxisSample<R>) {
        let AxisSample { value: y0, by_centre: y1, by_width: y2, .. } = row;
        let [s, s0, s1, s2] = sums.single;
        let [by, by0, by1, by2, square, level] = sums.placed;
        let to = &mut self.tilted;
        to.add_row([s, by, square, sums.level, level], b);
        let single = [[by0, by1, by2], [b * s0, b * s1, b * s2]];
        for i in 0..2 {
            let [s0, s1, s2] = single[i];
            to.f[i] = s0.mul_add(y0, to.f[i]);
            to.df[i][0] = s1.mul_add(y0, to.df[i][0]);
            to.df[i][1] = s0.mul_add(y1, to.df[i][1]);
            to.df[i][2] = s2.mul_add(y0, to.df[i][2]);
            to.df[i][3] = s0.mul_add(y2, to.df[i][3]);
        }
    }

    /// Adds (a part of) a row.
    #[inline(always)]
    fn add<const SECOND: bool>(&mut self, sums: &WeightedRowSums<R>, row: AxisSample<R>) {
        let [s, s0, s1, s2] = sums.single;
        let [s00, s01, s02, s11, s12, s22] = sums.product;
        let AxisSample { value: y0, by_centre: y1, by_width: y2, .. } = row;
        let (y00, y01, y02) = (y0 * y0, y0 * y1, y0 * y2);
        let (y11, y12, y22) = (y1 * y1, y1 * y2, y2 * y2);
        self.n = self.n + s;
        let to = &mut self.sums;
        to.f = s0.mul_add(y0, to.f);
        to.df[0] = s1.mul_add(y0, to.df[0]);
        to.df[1] = s0.mul_add(y1, to.df[1]);
        to.df[2] = s2.mul_add(y0, to.df[2]);
        to.df[3] = s0.mul_add(y2, to.df[3]);
        to.ff = s00.mul_add(y00, to.ff);
        to.f_df[0] = s01.mul_add(y00, to.f_df[0]);
        to.f_df[1] = s00.mul_add(y01, to.f_df[1]);
        to.f_df[2] = s02.mul_add(y00, to.f_df[2]);
        to.f_df[3] = s00.mul_add(y02, to.f_df[3]);
        let matrix = &mut to.df_df.0;
        matrix[0][0] = s11.mul_add(y00, matrix[0][0]);
        matrix[0][1] = s01.mul_add(y01, matrix[0][1]);
        matrix[0][2] = s12.mul_add(y00, matrix[0][2]);
        matrix[0][3] = s01.mul_add(y02, matrix[0][3]);
        matrix[1][1] = s00.mul_add(y11, matrix[1][1]);
        matrix[1][2] = s02.mul_add(y01, matrix[1][2]);
        matrix[1][3] = s00.mul_add(y12, matrix[1][3]);
        matrix[2][2] = s22.mul_add(y00, matrix[2][2]);
        matrix[2][3] = s02.mul_add(y02, matrix[2][3]);
        matrix[3][3] = s00.mul_add(y22, matrix[3][3]);
        let RowSums([r0, r1, r2, ..]) = sums.residual;
        self.r = self.r + sums.level;
        to.fg = r0.mul_add(y0, to.fg);
        to.g_df[0] = r1.mul_add(y0, to.g_df[0]);
        to.g_df[1] = r0.mul_add(y1, to.g_df[1]);
        to.g_df[2] = r2.mul_add(y0, to.g_df[2]);
        to.g_df[3] = r0.mul_add(y2, to.g_df[3]);
        if SECOND {
            add_second(&mut self.r_second, sums.residual, row);
        }
    }

    /// The sums over all lanes.
    #[inline(always)]
    fn summed<G: Group<R>, const SECOND: bool, const TILTED: bool>(mut self, group: &G) -> Self {
        if G::LANES == 1 {
            return self;
        }
        let sums = &mut self.sums;
        self.n = group.sum(self.n);
        sums.f = group.sum(sums.f);
        sums.ff = group.sum(sums.ff);
        self.r = group.sum(self.r);
        sums.fg = group.sum(sums.fg);
        for j in 0..4 {
            sums.df[j] = group.sum(sums.df[j]);
            sums.f_df[j] = group.sum(sums.f_df[j]);
            sums.g_df[j] = group.sum(sums.g_df[j]);
            for k in 0..4 {
                if k >= j {
                    sums.df_df.0[j][k] = group.sum(sums.df_df.0[j][k]);
                }
            }
        }
        if SECOND {
            self.r_second = sum_second(group, self.r_second);
        }
        if TILTED {
            self.tilted = self.tilted.summed(group);
        }
        self
    }

    /// The sums by the parameters of a separable shape.
    #[inline(always)]
    pub(super) fn gathered<S: Separable<P>, const P: usize, const SECOND: bool>(
        &self,
    ) -> Weighted<R, P> {
        let Self { n, sums, r, tilted, .. } = *self;
        let mut r_second = Symmetric::zero();
        if SECOND {
            let [_, _, wx, wy] = sums.g_df;
            r_second = S::gather_matrix(&finished(&self.r_second, sums.fg, [wx, wy]));
        }
        let WeightedTilt { n: placed, square, f, df: [by_x, by_y], r: of_r } = tilted;
        let df = [S::gather(by_x), S::gather(by_y)];
        let tilted = WeightedTilt { n: placed, square, f, df, r: of_r };
        Weighted { n, sums: gathered::<R, S, P>(&sums), r, r_second, tilted }
    }
}

/// The weighted sums over a window; those over second derivatives if `SECOND`. `NOTES` says whether the tile has
/// notes.
pub(super) struct Weigh<'a, R, T, N, const SECOND: bool, const NOTES: bool> {
    pub(super) tile: &'a mut T,
    pub(super) axes: (GaussianAxis<R>, GaussianAxis<R>),
    pub(super) noise: &'a mut N,
}

impl<R: Real, T: Tile<R>, N: Noise<R>, const SECOND: bool, const NOTES: bool> Task<R>
    for Weigh<'_, R, T, N, SECOND, NOTES>
{
    type Output = Weighted<R, 4>;
    #[inline(always)]
    fn run(self) -> Weighted<R, 4> {
        let Self { tile, axes: (along, across), noise } = self;
        let _ = tile.take_along::<SECOND>(along);
        let mut unused = AxisSums::zero();
        tile.take_across::<SECOND>(across, &mut unused);
        let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
        let along = tile.along(length);
        let [first, first_line] = noise.origin();
        let mut all = Weighted::zero();
        for line in 0..tile.lines() {
            let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
            let row = tile.across::<SECOND>(lane, line, &mut unused);
            let height = noise.height() * row.value;
            let number = tile.number(lane, line);
            let mut sums = WeightedRowSums::zero();
            let mut index = zero;
            for place in 0..length {
                let column = along.at::<SECOND>(place, index);
                if N::TILTED {
                    noise.at([index, number]);
                }
                let placed = index - first;
                index = index + R::splat(1.0);
                let note = if NOTES { tile.note(lane, line, place) } else { zero };
                let weight = if N::WEIGHTS { tile.weight(lane, line, place) } else { zero };
                let [s, r] = noise.pixel::<T>(
                    in_window,
                    [height, column.value],
                    pixels.pixel(place),
                    note,
                    weight,
                );
                let weights = [keep::<R, T>(in_window, s, zero), keep::<R, T>(in_window, r, zero)];
                match N::SINGLE {
                    true => sums.add::<SECOND, true>(weights, column),
                    false => sums.add::<SECOND, false>(weights, column),
                }
                if N::TILTED {
                    sums.add_placed(weights, placed, column);
                }
            }
            all.add::<SECOND>(&sums, row);
            if N::TILTED {
                all.add_placed(&sums, number - first_line, row);
            }
        }
        match N::TILTED {
            true => all.summed::<_, SECOND, true>(tile.group()),
            false => all.summed::<_, SECOND, false>(tile.group()),
        }
    }
}
