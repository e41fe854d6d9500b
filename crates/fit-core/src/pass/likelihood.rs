//! Poisson maximum likelihood, with amplitude and background as parameters beside those of the shape.
//!
//! The deviance D = 2Σ[μ′ − d′ + d′ ln(d′/μ′)] is minimized, with d′ = max(d + v, 0) and μ′ = αf + β + v; d are the
//! photo-electrons of a pixel and v the variance of its read noise (0 without one), which makes the sum of both
//! nearly Poisson distributed (Huang et al., Nature Methods 10, 653 (2013)). With q = d′/μ′ and s = q/μ′
//!
//! ```text
//! ½∂ⱼD = Σ(1 − q)∂ⱼμ,    ½∂ⱼₖD = Σs∂ⱼμ∂ₖμ + Σ(1 − q)∂ⱼₖμ.
//! ```
//!
//! The search starts from three evaluations of the least-squares fit, which are cheap.
//!
//! With a plane in place of β two more parameters are its slopes. Its constant is its value in the corner of the window that
//! is the lowest at the start, so that "no light is negative" is for it what it is for β; a step whose slopes would lead below that
//! in another corner is shortened.

use super::each::Each;
use super::hidden::hide;
use super::least_squares::{idle, prepare, step};
use super::level::Weighing;
use super::method::{CANCELS, Finish, Method, RawFit};
use super::shape::on_plane;
use super::tile::{Store, Tile, keep};
use super::weigh::{Noise, Weighted};
use super::{Group, LeastSquaresSeed, Summable};
use crate::arithmetic::{Mask, Real};
use crate::error::ArgumentError;
use crate::options::Options;
use crate::search::solve::Symmetric;
use crate::search::{
    Coordinates, Evaluation, LAMBDA_START, LaneState, Newton, Normal, Search, Settings, lane_state,
};
use crate::setup::Setup;
use crate::size::{Outline, Size};
use crate::spot::conditioning::Conditioning;
use crate::spot::limits::Background;
use crate::spot::plane::{Tilt, plane_at};
use crate::spot::sums::Sums;

/// A pixel whose read noise has a variance above this, in e², tells nothing.
pub const HIDDEN: f64 = 1e20;

/// Visits to the pixels by the least-squares fit that the search starts from.
pub const START_EVALUATIONS: u32 = 3;

/// In one step amplitude and background shrink to this share at most, where they must stay positive.
const LEAST_SHARE: f64 = 0.1;
/// The least amplitude as a share of the range of the pixels, and the least background as one of their mean.
const FLOOR: f64 = 1e-3;
/// The search begins with a background of this share of the mean pixel at least: from next to nothing it only doubles in a
/// step.
const START_SHARE: f64 = 0.05;
/// The least background is no more than this many photo-electrons: there is as little beside the brightest spots.
const DARK: f64 = 0.01;
/// The deviance from the search is known to this many rounding units of the photons that cancel in it.
const RESOLVED: f64 = 4.0;
/// A gradient of fewer rounding units than this is that of a minimum.
const STALLED: f64 = 8.0;
/// λ at the start of a spot on a plane. Its constant in a corner and its slopes are much alike, so that what damps them a little
/// holds back a step as a whole: with the usual λ every fifth fit takes one step more.
const LAMBDA_ON_PLANE: f64 = 1e-3;
/// A count of 0 has no logarithm; this one times 0 is 0.
const TINY: f64 = 1e-30;

/// A shape with amplitude and background as its last two parameters; or, of Q = P + 4 parameters, with amplitude, the plane's
/// value in a corner of the window, and its slopes by x and y ([`WithAmplitudeConstants`]).
#[derive(Clone, Copy, Debug)]
pub struct WithAmplitude<S, const P: usize>(pub S);

/// The constants of a [`WithAmplitude`] shape.
#[derive(Clone, Copy, Debug)]
pub struct WithAmplitudeConstants<R, C> {
    /// Those of the shape.
    pub shape: C,
    /// The least amplitude and background.
    pub least: [R; 2],
    /// The corner in which a plane has its constant, and the way from there to the opposite corner, by x and y.
    pub corner: [R; 2],
    /// That way.
    pub reach: [R; 2],
}

lane_state!([R: Real, C: LaneState<R>] WithAmplitudeConstants<R, C>: shape, least, corner, reach);

/// The first of some numbers.
#[inline(always)]
fn first<R: Real, const P: usize, const Q: usize>(all: &[R; Q]) -> [R; P] {
    let mut first = [R::splat(0.0); P];
    first.copy_from_slice(&all[..P]);
    first
}

/// The plane's constant and its lowest value in the window; without a plane both are the background.
#[inline(always)]
fn lowest_of<R: Real, const P: usize, const Q: usize>(p: &[R; Q], reach: &[R; 2]) -> [R; 2] {
    let (zero, constant) = (R::splat(0.0), p[P + 1]);
    if const { !on_plane(P, Q) } {
        return [constant; 2];
    }
    let fall = (p[P + 2] * reach[0]).min(zero) + (p[P + 3] * reach[1]).min(zero);
    [constant, constant + fall]
}

impl<S: Coordinates<P>, const P: usize, const Q: usize> Coordinates<Q> for WithAmplitude<S, P> {
    type TypicalSizes<R: Real> = S::TypicalSizes<R>;
    type Constants<R: Real> = WithAmplitudeConstants<R, S::Constants<R>>;

    const UNITS: [f64; Q] = {
        let mut units = [1.0; Q];
        let mut j = 0;
        while j < P {
            units[j] = S::UNITS[j];
            j += 1;
        }
        units
    };
    const LAMBDA_START: f64 = if on_plane(P, Q) { LAMBDA_ON_PLANE } else { LAMBDA_START };

    #[inline(always)]
    fn typical_sizes<R: Real>(
        &self,
        constants: &Self::Constants<R>,
        p: &[R; Q],
    ) -> S::TypicalSizes<R> {
        self.0.typical_sizes(&constants.shape, &first(p))
    }
    #[inline(always)]
    fn length<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; Q], j: usize) -> R {
        if j < P { self.0.length(&constants.shape, &first(p), j) } else { R::splat(1.0) }
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &S::TypicalSizes<R>, j: usize) -> R {
        if j < P { S::inverse_length(typical_sizes, j) } else { R::splat(1.0) }
    }
    #[inline(always)]
    fn typical_size<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; Q], j: usize) -> R {
        if j < P {
            self.0.typical_size(&constants.shape, &first(p), j)
        } else {
            // A background near zero is as precise as the amplitude, and slopes are as what they make across the window.
            if j < P + 2 {
                p[j].abs().max(p[P].abs())
            } else {
                let light = p[P].abs().max(p[P + 1].abs());
                light * constants.reach[j - P - 2].abs().reciprocal()
            }
        }
    }
    #[inline(always)]
    fn place<R: Real>(&self, p: &[R; Q], j: usize) -> R {
        if j < P { self.0.place(&first(p), j) } else { p[j].abs() }
    }
    #[inline(always)]
    fn confine<R: Real>(
        &self,
        constants: &Self::Constants<R>,
        from: &[R; Q],
        mut to: [R; Q],
    ) -> [R; Q] {
        let shape = self.0.confine(&constants.shape, &first(from), first(&to));
        to[..P].copy_from_slice(&shape);
        for l in 0..2 {
            // Where there is a least value.
            let bound = R::select(
                constants.least[l].is_finite(),
                from[P + l] * R::splat(LEAST_SHARE),
                constants.least[l],
            );
            to[P + l] = to[P + l].max(bound);
        }
        if const { on_plane(P, Q) } {
            let [_, before] = lowest_of::<R, P, Q>(from, &constants.reach);
            let [constant, after] = lowest_of::<R, P, Q>(&to, &constants.reach);
            let floor = (before * R::splat(LEAST_SHARE)).max(constants.least[1]);
            let below = after.lt(floor);
            let share = (constant - floor).max(R::splat(0.0)) * (constant - after).reciprocal();
            for l in 0..2 {
                let down = (to[P + 2 + l] * constants.reach[l]).lt(R::splat(0.0));
                to[P + 2 + l] = R::select(below & down, to[P + 2 + l] * share, to[P + 2 + l]);
            }
        }
        to
    }
    #[inline(always)]
    fn distance<R: Real>(typical_sizes: &S::TypicalSizes<R>, moved: &[R; Q]) -> R {
        S::distance(typical_sizes, &first(moved))
    }
    #[inline(always)]
    fn lowest<R: Real>(
        &self,
        constants: &Self::Constants<R>,
        settings: &Settings<R, Q>,
        j: usize,
    ) -> R {
        if j < P {
            settings.lower[j]
        } else if j < P + 2 {
            constants.least[j - P]
        } else {
            R::splat(f64::NEG_INFINITY)
        }
    }
    #[inline(always)]
    fn yields(j: usize) -> bool {
        // A step that leads below no background would shift and widen the spot as well. One that leads below no amplitude
        // says that the spot is somewhere else.
        j > P
    }
    #[inline(always)]
    fn may_end_at<R: Real>(&self, constants: &Self::Constants<R>, p: &[R; Q]) -> R::Mask {
        // The profile is between 0 and 1, so the model is positive everywhere. Elsewhere an evaluation tells.
        let zero = R::splat(0.0);
        let [_, lowest] = lowest_of::<R, P, Q>(p, &constants.reach);
        zero.lt(p[P].min(zero) + lowest)
    }
    #[inline(always)]
    fn reports(j: usize) -> bool {
        // A background of nothing is as good as any, as it is for least squares.
        j != P + 1
    }
}

/// Options for Poisson maximum likelihood, checked and prepared for one window size, one shape of spots and one
/// arithmetic. Q is P + 2, or P + 4 for a plane
/// ([`on_plane`]). `NOTES` says whether the tile has notes: the variance of the read noise of each pixel, beside
/// that of all pixels.
#[derive(Clone, Copy, Debug)]
pub struct Likelihood<R, S, const P: usize, const Q: usize, const NOTES: bool> {
    start: Setup<R, S, P>,
    settings: Settings<R, Q>,
    shape: WithAmplitude<S, P>,
    free: bool,
    /// Photo-electrons per ADU, and what a dark pixel reads.
    photons: R,
    baseline: R,
    /// The variance of the read noise in every pixel.
    variance: R,
    /// Whether the tile has that of each pixel.
    mapped: bool,
}

impl<R: Real, S: Summable<P>, const P: usize, const Q: usize, const NOTES: bool>
    Likelihood<R, S, P, Q, NOTES>
{
    /// Checks the window and the options for spots of the given shape; [`Options::shape`] is ignored. `mapped` says
    /// whether there is a camera map, by which the pixels have been converted to photo-electrons.
    ///
    /// # Errors
    /// As [`Setup::for_shape`].
    #[inline(always)]
    pub fn for_spots(
        shape: S,
        size: Size,
        options: &Options,
        mapped: bool,
    ) -> Result<Self, ArgumentError> {
        let start = Setup::<R, S, P, 2, true>::for_spots(shape, size, options, false)?.by();
        let camera = options.camera.unwrap_or_default();
        let (photons, baseline) =
            if mapped { (1.0, 0.0) } else { (camera.photons_per_adu(), camera.baseline) };
        let variance = if mapped { 0.0 } else { camera.read_variance() };
        let camera = [photons, baseline, variance].map(R::splat);
        Ok(Self::from_parts(start, R::splat(options.criteria.tolerance), camera, mapped))
    }

    /// From the setup of a least-squares fit to start from, τ, and what is known of every pixel: photo-electrons per
    /// ADU, the ADU of a dark pixel and the variance of its read noise. `mapped` says whether the tile has the variance
    /// of each pixel, and photo-electrons.
    #[inline(always)]
    pub fn from_parts(
        start: Setup<R, S, P>,
        tolerance: R,
        [photons, baseline, variance]: [R; 3],
        mapped: bool,
    ) -> Self {
        // Of photons, whatever the pixels are.
        let start = start.of_photons();
        let (mut lower, mut upper) =
            ([R::splat(f64::NEG_INFINITY); Q], [R::splat(f64::INFINITY); Q]);
        for j in 0..P {
            (lower[j], upper[j]) = (start.settings().lower[j], start.settings().upper[j]);
        }
        let of = start.settings();
        let settings = Settings {
            max_iterations: of.max_iterations,
            max_evaluations: of.max_evaluations,
            max_error: of.max_error,
            min_delta: of.min_delta,
            min_step: of.min_step,
            step_by_place: of.step_by_place,
            lower,
            upper,
            newton: Newton::Always,
            finish: R::splat(0.0),
            tolerance: tolerance * tolerance,
        };
        let shape = WithAmplitude(*start.shape());
        let free = !on_plane(P, Q) && start.background() == Background::Free;
        Self { start, settings, shape, free, photons, baseline, variance, mapped }
    }

    /// The setup of the least-squares fit that the search starts from, of photo-electrons.
    #[inline(always)]
    pub fn start(&self) -> &Setup<R, S, P> {
        &self.start
    }

    /// Photo-electrons per ADU, the ADU of a dark pixel and the variance of its read noise.
    #[inline(always)]
    pub fn camera(&self) -> [R; 3] {
        [self.photons, self.baseline, self.variance]
    }

    /// Replaces conditioned pixels by d′; returns the lowest, the highest and the mean number of photo-electrons, and Σd′.
    #[inline(always)]
    fn count_photons<T: Store<R>>(
        &self,
        tile: &mut T,
        data: &Conditioning<R>,
        tilt: &Tilt<R>,
    ) -> [R; 4] {
        let taken = tilt.plane(R::splat(0.0), tilt.slopes);
        let (zero, far) = (R::splat(0.0), R::splat(f64::MAX));
        let (lane, length) = (tile.group().lane(), tile.length());
        let unit = data.scale.reciprocal();
        let (mut low, mut high, mut sum, mut total) = (far, -far, zero, zero);
        for line in 0..tile.lines() {
            let (in_window, number) = (tile.in_window(lane, line), tile.number(lane, line));
            let mut index = zero;
            for place in 0..length {
                let mut pixel = tile.pixel(line, place);
                if const { on_plane(P, Q) } {
                    pixel = pixel + plane_at(taken, [index, number]);
                    index = index + R::splat(1.0);
                }
                let counts = (pixel - data.dark) * unit;
                let note = if NOTES { tile.note(lane, line, place) } else { zero };
                let variance = self.variance + of_seen(note, note);
                let photons = counts * self.photons;
                let pixel = keep::<R, T>(in_window, (photons + variance).max(zero), zero);
                tile.set(line, place, in_window, pixel);
                total = total + pixel;
                // A pixel with much read noise has as much more in d′, and says nothing of the spot.
                let photons = keep::<R, T>(in_window, photons.max(-variance), zero);
                low = keep::<R, T>(in_window, photons.min(low), low);
                high = keep::<R, T>(in_window, photons.max(high), high);
                sum = sum + photons;
            }
        }
        tile.publish();
        let group = tile.group();
        [group.least(low), -group.least(-high), group.sum(sum) * data.inverse_n, group.sum(total)]
    }

    /// The spot, the amplitude and the background of some parameters.
    #[inline(always)]
    fn spot(
        &self,
        constants: &WithAmplitudeConstants<R, S::Constants<R>>,
        p: &[R; Q],
    ) -> (S::Spot<R>, R, R) {
        let spot = self.shape.0.spot(self.start.profile(), &constants.shape, &first(p));
        (spot, p[P], p[P + 1])
    }

    /// What the least-squares fit begins with that the search starts from, and where that has led: the parameters of the shape, and
    /// the amplitude, the background in the middle of the window and its slopes, of conditioned pixels with the slopes that have been
    /// taken from them. L is 4 for a plane, else 2.
    #[inline(always)]
    fn begun<T: Store<R>, const L: usize>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Begun<R, S::Constants<R>, P>, R::Mask) {
        let (shape, setup, hidden) = (&self.shape.0, &self.start, R::splat(HIDDEN));
        let weighing = if L > 2 && self.mapped { Weighing::Below(hidden) } else { Weighing::Even };
        let (seed, usable) = prepare::<_, _, _, P, L, false, NOTES, true>(
            shape,
            tile,
            start,
            self.baseline,
            weighing,
            hidden,
        );
        let LeastSquaresSeed { parameters, constants, data, tilt, .. } = seed;
        let max_cost = setup.max_cost(&data);
        // That of all pixels, with those that are hidden: they have next to no slopes any more.
        let even = Tilt::of_window(self.size());
        let mut search: Search<R, S, P, L> =
            Search::start(setup.settings(), shape, usable, max_cost, parameters, constants);
        for _ in 0..tile.times(START_EVALUATIONS) {
            step(setup, tile, &data, &even, &mut search);
        }
        let (linear, zero) = (search.at_best().linear, R::splat(0.0));
        let mut background = [linear[1], zero, zero];
        if const { L > 2 } {
            let [taken, x, y] = tilt.plane(zero, tilt.slopes);
            let [left, more_x, more_y] = even.plane(linear[1], [linear[2], linear[3]]);
            let (by_x, by_y) = (x + more_x, y + more_y);
            let middle = by_x.mul_add(even.middle[0], by_y.mul_add(even.middle[1], taken + left));
            background = [middle, by_x, by_y];
        }
        let (parameters, alpha) = (*search.best(), linear[0]);
        (Begun { data, tilt, constants, parameters, alpha, background }, usable)
    }

    /// Makes the background of the start, that of the window's middle, a plane with these slopes.
    #[inline(always)]
    fn lay(
        &self,
        by: [R; 2],
        p: &mut [R; Q],
        constants: &mut WithAmplitudeConstants<R, S::Constants<R>>,
    ) {
        let (zero, half) = (R::splat(0.0), R::splat(0.5));
        let Size { width, height } = self.size();
        let spans = [R::splat((width - 1) as f64), R::splat((height - 1) as f64)];
        let mut fall = zero;
        for i in 0..2 {
            let up = zero.le(by[i]);
            constants.corner[i] = R::select(up, zero, spans[i]);
            constants.reach[i] = R::select(up, spans[i], -spans[i]);
            fall = (by[i].abs() * half).mul_add(spans[i], fall);
        }
        // The light in the corner is part of it.
        let most = p[P + 1] * R::splat(1.0 - START_SHARE);
        let share = most * fall.max(most).reciprocal();
        p[P + 1] = share.neg_mul_add(fall, p[P + 1]);
        (p[P + 2], p[P + 3]) = (share * by[0], share * by[1]);
    }

    /// The sums over the pixels, α, and what each lane has of half the deviance and as the least μ′; `PLANE` is whether there is one.
    #[inline(always)]
    fn weighed<T: Tile<R>, const PLANE: bool>(
        &self,
        tile: &mut T,
        search: &Search<R, WithAmplitude<S, P>, Q, 0>,
    ) -> (Weighted<R, P>, R, R, R) {
        let (spot, alpha, beta) = self.spot(search.constants(), search.trial());
        let corner = search.constants().corner;
        let beta = beta + self.variance;
        let mut noise = Poisson::<R, PLANE> {
            alpha,
            beta,
            plane: plane::<R, P, Q>(beta, &corner, search.trial()),
            corner,
            deviance: R::splat(0.0),
            least: R::splat(f64::MAX),
        };
        let sums = self.shape.0.weigh::<_, _, _, true, NOTES>(tile, spot, &mut noise);
        (sums, alpha, noise.deviance, noise.least)
    }

    /// Cost and derivatives from the sums over the pixels.
    #[inline(always)]
    fn assemble(
        &self,
        sums: &Weighted<R, P>,
        alpha: R,
        deviance: R,
        total: R,
        least: R,
    ) -> Evaluation<R, Q, 0> {
        let zero = R::splat(0.0);
        let Weighted { sums: of, r_second: second, .. } = sums;
        let Sums { df, f_df, df_df, g_df: r_df, .. } = of;
        let (mut gradient, mut hessian) = ([zero; Q], Symmetric::<R, Q>::zero());
        let mut newton = Symmetric::<R, Q>::zero();
        for j in 0..P {
            gradient[j] = alpha * r_df[j];
            for k in 0..P {
                if k >= j {
                    let rough = alpha * alpha * df_df.0[j][k];
                    hessian.0[j][k] = rough;
                    newton.0[j][k] = alpha.mul_add(second.0[j][k], rough);
                }
            }
            let by_alpha = alpha * f_df[j];
            hessian.0[j][P] = by_alpha;
            newton.0[j][P] = by_alpha + r_df[j];
            hessian.0[j][P + 1] = alpha * df[j];
            newton.0[j][P + 1] = hessian.0[j][P + 1];
        }
        gradient[P] = of.fg;
        gradient[P + 1] = sums.r;
        hessian.0[P][P] = of.ff;
        hessian.0[P][P + 1] = of.f;
        hessian.0[P + 1][P + 1] = sums.n;
        for l in P..Q {
            newton.0[l][P] = hessian.0[l][P];
            newton.0[l][P + 1] = hessian.0[l][P + 1];
        }
        if const { on_plane(P, Q) } {
            let tilt = &sums.tilted;
            for i in 0..2 {
                let l = P + 2 + i;
                gradient[l] = tilt.r[i];
                for j in 0..P {
                    hessian.0[j][l] = alpha * tilt.df[i][j];
                }
                hessian.0[P][l] = tilt.f[i];
                hessian.0[P + 1][l] = tilt.n[i];
            }
            hessian.0[P + 2][P + 2] = tilt.square[0];
            hessian.0[P + 2][P + 3] = tilt.square[1];
            hessian.0[P + 3][P + 3] = tilt.square[2];
            for j in 0..Q {
                newton.0[j][P + 2] = hessian.0[j][P + 2];
                newton.0[j][P + 3] = hessian.0[j][P + 3];
            }
        }
        let unit = R::splat((STALLED * R::EPSILON) * (STALLED * R::EPSILON)) * total;
        let mut flat = [R::Mask::splat(false); Q];
        for j in 0..Q {
            flat[j] = (gradient[j] * gradient[j]).le(unit * hessian.0[j][j]);
        }
        let positive = zero.lt(least);
        Evaluation {
            normal: Normal {
                cost: R::select(positive, deviance, R::splat(f64::INFINITY)),
                gradient,
                hessian,
                linear: [],
            },
            resolution: R::splat(RESOLVED * R::EPSILON) * total,
            newton,
            linear_by: [],
            flat,
            resolved: positive,
        }
    }

    /// The deviance to report, each pixel's to full precision.
    #[inline(always)]
    fn deviance<T: Tile<R>>(
        &self,
        tile: &mut T,
        constants: &WithAmplitudeConstants<R, S::Constants<R>>,
        p: &[R; Q],
    ) -> R {
        let (spot, alpha, beta) = self.spot(constants, p);
        let plane = plane::<R, P, Q>(beta, &constants.corner, p);
        let deviance = R::splat(0.0);
        let variance = self.variance;
        let deviance = if const { on_plane(P, Q) } {
            let mut sum = Deviance::<R, true> { plane, beta, variance, deviance };
            self.shape.0.show::<_, _, _, NOTES>(tile, spot, alpha, &mut sum);
            sum.deviance
        } else {
            let mut sum = Deviance::<R, false> { plane, beta, variance, deviance };
            self.shape.0.show::<_, _, _, NOTES>(tile, spot, alpha, &mut sum);
            sum.deviance
        };
        let deviance = tile.group().sum(deviance);
        // Rounding may take pixels next to nothing below 0.
        (deviance + deviance).max(R::splat(0.0))
    }
}

/// The value of a plane at (0, 0), and its slopes, from its constant in a corner.
#[inline(always)]
fn plane<R: Real, const P: usize, const Q: usize>(
    constant: R,
    corner: &[R; 2],
    p: &[R; Q],
) -> [R; 3] {
    if const { !on_plane(P, Q) } {
        return [constant, R::splat(0.0), R::splat(0.0)];
    }
    let [by_x, by_y] = [p[P + 2], p[P + 3]];
    [by_x.neg_mul_add(corner[0], by_y.neg_mul_add(corner[1], constant)), by_x, by_y]
}

/// The sum of the deviance over the pixels, with or without a plane.
struct Deviance<R, const PLANE: bool> {
    plane: [R; 3],
    beta: R,
    variance: R,
    deviance: R,
}

impl<R: Real, const PLANE: bool> Each<R> for Deviance<R, PLANE> {
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        if PLANE {
            self.beta = plane_at(self.plane, place);
        }
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(
        &mut self,
        in_window: R::Mask,
        [height, value]: [R; 2],
        counts: R,
        note: R,
    ) {
        let variance = self.variance + of_seen(note, note);
        let expected = height.mul_add(value, self.beta + variance);
        let term = of_seen(note, deviance_of(expected, counts));
        self.deviance = self.deviance + keep::<R, T>(in_window, term, R::splat(0.0));
    }
}

/// μ − d + d ln(d/μ), without cancellation where d is near μ.
#[inline(always)]
pub(crate) fn deviance_of<R: Real>(expected: R, counts: R) -> R {
    let one = R::splat(1.0);
    // With d = μ(1 + x) and z = x/(2 + x): ln(1 + x) = 2(z + z³/3 + …), which leaves
    // 2z²/(1 − z)·[1 + (1 + z)·z·(1/3 + z²/5 + …)].
    let x = (counts - expected) * expected.reciprocal();
    let z = x * (x + R::splat(2.0)).reciprocal();
    let z2 = z * z;
    let mut series = R::splat(1.0 / 11.0);
    for term in [1.0 / 9.0, 1.0 / 7.0, 1.0 / 5.0, 1.0 / 3.0] {
        series = series.mul_add(z2, R::splat(term));
    }
    let bracket = ((one + z) * z).mul_add(series, one);
    let near = (z2 + z2) * (one - z).reciprocal() * bracket;
    let ratio = (one + x).max(R::splat(TINY));
    let far = (one + x).mul_add(ratio.ln(), -x);
    expected * R::select(x.abs().lt(R::splat(0.25)), near, far)
}

/// `value`, or 0 for a pixel of which the note says that it tells nothing.
#[inline(always)]
fn of_seen<R: Real>(note: R, value: R) -> R {
    R::select(note.le(R::splat(HIDDEN)), value, R::splat(0.0))
}

/// What a pixel contributes to the derivatives of the deviance, and the sums that the search wants besides.
struct Poisson<R, const PLANE: bool> {
    alpha: R,
    /// With the variance of all pixels; on a plane, that of the next pixel.
    beta: R,
    plane: [R; 3],
    /// Where places are counted from.
    corner: [R; 2],
    /// Σ[μ′ − d′ + d′ ln(d′/μ′)].
    deviance: R,
    /// The least μ′.
    least: R,
}

impl<R: Real, const PLANE: bool> Noise<R> for Poisson<R, PLANE> {
    const TILTED: bool = PLANE;
    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        self.corner
    }
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        self.beta = plane_at(self.plane, place);
    }
    #[inline(always)]
    fn height(&self) -> R {
        self.alpha
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(
        &mut self,
        in_window: R::Mask,
        [height, value]: [R; 2],
        counts: R,
        note: R,
        _: R,
    ) -> [R; 2] {
        let zero = R::splat(0.0);
        let expected = height.mul_add(value, self.beta + of_seen(note, note));
        let inverse = expected.reciprocal();
        let excess = expected - counts;
        let ratio = counts * inverse;
        let term = counts.mul_add(ratio.max(R::splat(TINY)).ln(), excess);
        let (term, inverse) = (of_seen(note, term), of_seen(note, inverse));
        self.deviance = self.deviance + keep::<R, T>(in_window, term, zero);
        self.least = keep::<R, T>(in_window, expected.min(self.least), self.least);
        [ratio * inverse, excess * inverse]
    }
}

/// Where the least-squares fit has led that a search starts from, in conditioned pixels.
struct Begun<R: Real, C, const P: usize> {
    data: Conditioning<R>,
    tilt: Tilt<R>,
    constants: C,
    parameters: [R; P],
    alpha: R,
    /// In the middle of the window, and its slopes.
    background: [R; 3],
}

/// What a maximum-likelihood fit begins with.
#[derive(Clone, Copy, Debug)]
pub struct LikelihoodSeed<R, C, const Q: usize> {
    /// The start.
    pub parameters: [R; Q],
    /// What is known of the spot.
    pub constants: WithAmplitudeConstants<R, C>,
    /// Σd′.
    pub total: R,
}

lane_state!(
    [R: Real, C: LaneState<R>, const Q: usize] LikelihoodSeed<R, C, Q>: parameters, constants, total
);

impl<R: Real, S: Summable<P>, const P: usize, const Q: usize, const NOTES: bool> Method<R>
    for Likelihood<R, S, P, Q, NOTES>
{
    type Seed = LikelihoodSeed<R, S::Constants<R>, Q>;
    type Search = Search<R, WithAmplitude<S, P>, Q, 0>;
    type Evaluation = Evaluation<R, Q, 0>;

    #[inline(always)]
    fn size(&self) -> Size {
        Setup::size(&self.start)
    }
    #[inline(always)]
    fn takes_notes(&self) -> bool {
        NOTES
    }
    #[inline(always)]
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask) {
        if NOTES && self.mapped {
            hide::<R, T, true>(tile, R::splat(HIDDEN));
        }
        let (begun, usable) = if const { on_plane(P, Q) } {
            self.begun::<_, 4>(tile, start)
        } else {
            self.begun::<_, 2>(tile, start)
        };
        let Begun { data, tilt, constants: shape, parameters: best, .. } = begun;
        let [beta, by_x, by_y] = begun.background;
        let alpha = data.amplitude(begun.alpha) * self.photons;
        let beta = data.background(beta) * self.photons;
        let [low, high, mean, total] = self.count_photons(tile, &data, &tilt);
        let floor = R::splat(FLOOR);
        let least_alpha = (high - low) * floor;
        let least_beta = (mean.max(least_alpha) * floor).min(R::splat(DARK));
        let mut parameters = [R::splat(0.0); Q];
        parameters[..P].copy_from_slice(&best);
        parameters[P] = alpha.max(least_alpha);
        parameters[P + 1] = beta.max(least_beta).max(mean * R::splat(START_SHARE));
        let none = R::splat(f64::NEG_INFINITY);
        let least = if self.free { [none; 2] } else { [least_alpha, least_beta] };
        let (corner, reach) = ([R::splat(0.0); 2], [R::splat(0.0); 2]);
        let mut constants = WithAmplitudeConstants { shape, least, corner, reach };
        if const { on_plane(P, Q) } {
            let unit = data.amplitude(self.photons);
            let by = [by_x * unit, by_y * unit];
            self.lay(by, &mut parameters, &mut constants);
        }
        let usable = usable & low.lt(high) & high.is_finite();
        (LikelihoodSeed { parameters, constants, total }, usable)
    }
    #[inline(always)]
    fn idle(&self) -> Self::Seed {
        let seed: LeastSquaresSeed<R, _, P> = idle(&self.shape.0, self.start.size());
        let mut parameters = [R::splat(1.0); Q];
        parameters[..P].copy_from_slice(&seed.parameters);
        let least = [R::splat(f64::NEG_INFINITY); 2];
        let (corner, reach) = ([R::splat(0.0); 2], [R::splat(1.0); 2]);
        let constants = WithAmplitudeConstants { shape: seed.constants, least, corner, reach };
        LikelihoodSeed { parameters, constants, total: R::splat(0.0) }
    }
    #[inline(always)]
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search {
        let LikelihoodSeed { parameters, constants, .. } = *seed;
        let max_cost = self.settings.max_error;
        Search::start(&self.settings, &self.shape, usable, max_cost, parameters, constants)
    }
    #[inline(always)]
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation {
        let (sums, alpha, deviance, least) = if const { on_plane(P, Q) } {
            self.weighed::<_, true>(tile, search)
        } else {
            self.weighed::<_, false>(tile, search)
        };
        let group = tile.group();
        let (deviance, least) = (group.sum(deviance), group.least(least));
        self.assemble(&sums, alpha, deviance + deviance, seed.total, least)
    }
    #[inline(always)]
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation) {
        search.update::<true>(&self.settings, &self.shape, evaluation);
    }
    #[inline(always)]
    fn end<T: Tile<R>>(
        &self,
        tile: &mut T,
        _: &Self::Seed,
        search: &Self::Search,
        ended: R::Mask,
        finish: Finish,
    ) -> RawFit<R> {
        let record = search.record(&self.settings, &self.shape);
        let p = *search.best();
        let mut cost = search.at_best().cost;
        let cancels = match finish {
            Finish::Residuals => R::Mask::splat(true),
            Finish::WhereSumsCancel => {
                let photons =
                    (p[P + 1].abs() + self.variance) * R::splat(self.size().pixels() as f64);
                cost.lt(R::splat(CANCELS * R::EPSILON) * (photons + p[P].abs()))
            }
        };
        if (cancels & ended).any() {
            let exact = self.deviance(tile, search.constants(), &p);
            cost = R::select(cancels, exact, cost);
        }
        let outline = self.shape.0.outline(&search.constants().shape, &first(&p));
        let [mut background, by_x, by_y] =
            plane::<R, P, Q>(p[P + 1], &search.constants().corner, &p);
        if const { on_plane(P, Q) } {
            background = plane_at([background, by_x, by_y], [outline.x, outline.y]);
        }
        RawFit {
            outline,
            linear: [p[P], background],
            slopes: [by_x, by_y],
            cost,
            iterations: record.iterations,
            evaluations: record.evaluations + R::splat(f64::from(START_EVALUATIONS)),
            status: record.status,
        }
    }
}
