//! The paper's own way: one thread a pixel, whole warps a fit, sums by shuffles within a warp and through
//! shared memory between warps. What the other kernels gain is measured with it.
//!
//! Pixels are taken as they are, the sums are those of eq. 10 and 11 pixel by pixel
//! ([`fit_core::spot::sums::Sums::add`]), and the iteration is [`fit_engine::published`].

use fit_core::pass::Group;
use fit_core::search::Normal;
use fit_core::search::solve::Symmetric;
use fit_core::spot::assembly::assemble;
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::sums::{Profile, Sums};
use fit_core::{Circle, Real, Record, Setup};
use fit_engine::published::{self, Gaussian2D};

/// The threads of a fit of so many pixels: whole warps.
pub const fn threads(pixels: usize) -> usize {
    pixels.next_multiple_of(32)
}

/// The threads of a fit, one a pixel. As a [`Group`] they are a warp: sums and the least are those of each
/// warp by itself.
pub trait Pixels<R: Real>: Group<R> {
    /// The thread's grey value; anything where there is no pixel.
    fn pixel(&self) -> R;
    /// The thread's column and row, and whether there is a pixel.
    fn place(&self) -> (R, R, R::Mask);
    /// How many warps there are, at most 32.
    fn warps(&self) -> usize;
    /// In lane w of every warp what the lanes of warp w have; anything where there is no such warp.
    fn gather<const K: usize>(&mut self, values: [R; K]) -> [R; K];
}

/// Fits a window of at most 1024 pixels: as many as a block has threads.
#[inline(always)]
pub fn fit<R: Real, T: Pixels<R>>(
    setup: &Setup<R>,
    threads: &mut T,
    start: [R; 3],
) -> Record<R, 3, 2> {
    let zero = R::splat(0.0);
    let (pixel, (x, y, there)) = (threads.pixel(), threads.place());
    let here = R::select(there, pixel, zero);
    let [sum, squares] = total(threads, [here, here * here]);
    let most = R::splat(f64::MAX);
    let extent = [R::select(there, pixel, most), R::select(there, -pixel, most)];
    let [low, minus_high] = least(threads, extent);
    let usable = sum.is_finite() & low.lt(-minus_high);
    let data = Conditioning::raw(setup.size().pixels(), sum, squares, usable);
    let mut spot = Spot { setup, data: &data, threads, x, y, there, pixel: here };
    published::search(setup, &data, start, &mut spot)
}

/// The sums over all threads, in every one of them the same bits.
#[inline(always)]
fn total<R: Real, T: Pixels<R>, const K: usize>(threads: &mut T, mut values: [R; K]) -> [R; K] {
    for k in 0..K {
        values[k] = threads.sum(values[k]);
    }
    if threads.warps() > 1 {
        values = threads.gather(values);
        let there = threads.lane().lt(R::splat(threads.warps() as f64));
        for k in 0..K {
            values[k] = threads.sum(R::select(there, values[k], R::splat(0.0)));
        }
    }
    values
}

/// The least of all threads, in every one of them.
#[inline(always)]
fn least<R: Real, T: Pixels<R>, const K: usize>(threads: &mut T, mut values: [R; K]) -> [R; K] {
    for k in 0..K {
        values[k] = threads.least(values[k]);
    }
    if threads.warps() > 1 {
        values = threads.gather(values);
        let there = threads.lane().lt(R::splat(threads.warps() as f64));
        for k in 0..K {
            values[k] = threads.least(R::select(there, values[k], R::splat(f64::MAX)));
        }
    }
    values
}

/// A window in the hands of its threads.
struct Spot<'a, R: Real, T> {
    setup: &'a Setup<R>,
    data: &'a Conditioning<R>,
    threads: &'a mut T,
    x: R,
    y: R,
    there: R::Mask,
    pixel: R,
}

impl<R: Real, T: Pixels<R>> Gaussian2D<R> for Spot<'_, R, T> {
    #[inline(always)]
    fn evaluate(&mut self, p: &[R; 3], derivatives: bool) -> Normal<R, 3, 2> {
        let zero = R::splat(0.0);
        let mut profile = Profile::at(self.x, self.y, Circle::new(p[0], p[1], p[2]));
        profile.value = R::select(self.there, profile.value, zero);
        for j in 0..3 {
            profile.derivatives[j] = R::select(self.there, profile.derivatives[j], zero);
        }
        let mut sums = Sums::zero();
        sums.add(self.pixel, profile);
        [sums.f, sums.ff, sums.fg] = total(self.threads, [sums.f, sums.ff, sums.fg]);
        if derivatives {
            sums.df = total(self.threads, sums.df);
            sums.f_df = total(self.threads, sums.f_df);
            sums.g_df = total(self.threads, sums.g_df);
            let [[xx, xy, xs], [_, yy, ys], [_, _, ss]] = sums.df_df.0;
            let [xx, xy, xs, yy, ys, ss] = total(self.threads, [xx, xy, xs, yy, ys, ss]);
            let zero = R::splat(0.0);
            sums.df_df = Symmetric([[xx, xy, xs], [zero, yy, ys], [zero, zero, ss]]);
        }
        let mut found = assemble(&sums, self.data, self.setup.background()).normal;
        let [alpha, beta] = found.linear;
        let residual = R::select(self.there, alpha.mul_add(profile.value, beta) - self.pixel, zero);
        [found.cost] = total(self.threads, [residual * residual]);
        found
    }
}
