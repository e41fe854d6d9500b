//! What the errors of a fit are: the covariance of its parameters, and how well the model fits.
//!
//! With J = ∂μ/∂θ of all parameters θ (those of the shape, α and β) and Var(d) = εμ + v of a pixel (v the variance of
//! the read noise, ε = 1, or 2 with EM gain), an estimator that weighs a pixel by w has
//!
//! ```text
//! C = A⁻¹BA⁻¹,    A = ΣwJJᵀ,    B = Σw²(εμ + v)JJᵀ,
//! ```
//!
//! with w = 1/(μ + v) for maximum likelihood, where C is the Cramér–Rao bound A⁻¹ if ε = 1; w = 1 for least squares,
//! or the weight given. Parameters at a limit count as free.
//!
//! All of it is taken at the estimate for maximum likelihood. For least squares it is taken after one step of Fisher's
//! scoring from the estimate, δ = (ΣJJᵀ/(μ + v))⁻¹Σ(d − μ)J/(μ + v): the outcome stays as it is, but its errors no longer
//! follow its own scatter.

use super::group::Group;
use super::likelihood::HIDDEN;
use super::shape::{Summable, on_plane};
use super::tile::{Tile, keep};
use super::weigh::{Noise, Weighted, WeightedTilt};
use crate::arithmetic::{Mask, Real, Task};
use crate::camera::Camera;
use crate::error::ArgumentError;
use crate::options::{Estimator, Options};
use crate::search::Count;
use crate::search::solve::{Symmetric, between, inverse};
use crate::search::stepped;
use crate::size::{Outline, Size};
use crate::spot::axis::PixelProfile;
use crate::spot::plane::{Tilt, TiltedSums, plane_at};
use crate::spot::sums::Sums;

/// No variance is below this many photo-electrons squared, so that each has a reciprocal.
const LEAST_VARIANCE: f64 = 1e-6;
/// Fisher's scoring changes the centre and the widths by this share of the width at most, and the amplitude by this
/// share of it: a longer step is shortened.
const MOST_SCORED: f64 = 0.5;
/// The variance of an angle that may be anything in its range of π/2.
const ANY_ANGLE: f64 = core::f64::consts::PI * core::f64::consts::PI / 48.0;

/// How the errors of fits are found, for one window size, one shape of spots and options. Q is P + 2,
/// or P + 4 of spots on a plane ([`on_plane`]).
#[derive(Clone, Copy, Debug)]
pub struct CovarianceEstimator<R, S, const P: usize, const Q: usize> {
    size: Size,
    profile: PixelProfile,
    shape: S,
    estimator: Estimator,
    /// Whether the pixels have weights, or variances of their own.
    noted: bool,
    noise: CameraNoise<R>,
}

/// What is known of every pixel.
#[derive(Clone, Copy, Debug)]
struct CameraNoise<R> {
    /// ε.
    excess: R,
    /// Photo-electrons per ADU, and what a dark pixel reads.
    photons: R,
    baseline: R,
    /// The variance of the read noise.
    variance: R,
}

/// The covariance of the parameters of one fit, or of one in each lane of a pack, and its goodness.
#[derive(Clone, Copy, Debug)]
pub struct ErrorEstimate<R> {
    /// By x̄, ȳ, σx, σy, angle, α and β, in pixels, radians and photo-electrons; infinite where the parameters cannot
    /// be told from each other. The slopes of a plane are among the parameters, and β is the background at the centre.
    pub covariance: Symmetric<R, 7>,
    /// Pearson's X² = Σ(d − μ)²/(εμ + v) over the pixels that are seen.
    pub pearson: R,
    /// The variance of X² for the true μ: Σ(2 + κ₄/(εμ + v)²), with the fourth cumulant κ₄ of a pixel.
    pub spread: R,
    /// How many pixels are seen.
    pub seen: R,
}

impl<R: Copy> ErrorEstimate<R> {
    /// How many numbers there are.
    pub const NUMBERS: usize = 31;

    /// All numbers: the upper half of the covariance, row after row, and the others in the order of the fields.
    #[inline(always)]
    pub fn numbers(&self) -> [R; 31] {
        let Self { covariance, pearson, spread, seen } = self;
        let mut numbers = [*seen; 31];
        let mut place = 0;
        for j in 0..7 {
            for k in j..7 {
                numbers[place] = covariance.0[j][k];
                place += 1;
            }
        }
        (numbers[28], numbers[29]) = (*pearson, *spread);
        numbers
    }

    /// From all numbers, in the same order.
    #[inline(always)]
    pub fn from_numbers(numbers: &[R; 31]) -> Self {
        let [.., pearson, spread, seen] = *numbers;
        let mut covariance = Symmetric([[seen; 7]; 7]);
        let mut place = 0;
        for j in 0..7 {
            for k in j..7 {
                covariance.0[j][k] = numbers[place];
                place += 1;
            }
        }
        Self { covariance, pearson, spread, seen }
    }
}

/// A spot in the parameters of its shape, with α and β.
#[derive(Clone, Copy)]
struct Model<R, C, const P: usize> {
    p: [R; P],
    constants: C,
    linear: [R; 2],
    /// Of a plane that is β at the origin.
    slopes: [R; 2],
    origin: [R; 2],
    /// The least variance of a pixel.
    least: R,
}

impl<R: Real, S: Summable<P>, const P: usize, const Q: usize> CovarianceEstimator<R, S, P, Q> {
    /// Checks the window and the options for spots of the given shape; [`Options::shape`] is ignored. `mapped` says
    /// whether there is a camera map, by which the pixels have been converted to photo-electrons; `weighted` whether the
    /// pixels have weights.
    ///
    /// # Errors
    /// See [`Size::validate`] and [`Options::validate`].
    #[inline(always)]
    pub fn for_shape(
        shape: S,
        size: Size,
        options: &Options,
        mapped: bool,
        weighted: bool,
    ) -> Result<Self, ArgumentError> {
        size.validate()?;
        options.validate()?;
        shape.validate()?;
        let camera = options.camera.unwrap_or_default();
        let plain = Camera::default();
        let of = if mapped { &plain } else { &camera };
        let noise = CameraNoise {
            excess: R::splat(if camera.em_gain.is_some() { 2.0 } else { 1.0 }),
            photons: R::splat(of.photons_per_adu()),
            baseline: R::splat(of.baseline),
            variance: R::splat(of.read_variance()),
        };
        let Options { profile, estimator, .. } = *options;
        Ok(Self { size, profile, shape, estimator, noted: mapped || weighted, noise })
    }

    /// From what another has checked: whether the pixels have weights or variances, and [`CovarianceEstimator::noise`].
    #[inline(always)]
    pub fn from_parts(
        shape: S,
        size: Size,
        profile: PixelProfile,
        estimator: Estimator,
        noted: bool,
        [excess, photons, baseline, variance]: [R; 4],
    ) -> Self {
        let noise = CameraNoise { excess, photons, baseline, variance };
        Self { size, profile, shape, estimator, noted, noise }
    }

    /// The size of the windows.
    #[inline(always)]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The variance of photo-electrons per photo-electron, photo-electrons per ADU, what a dark pixel reads, and the
    /// variance of the read noise.
    pub fn noise(&self) -> [R; 4] {
        let CameraNoise { excess, photons, baseline, variance } = self.noise;
        [excess, photons, baseline, variance]
    }

    /// The errors of a fit with this outcome. The pixels of the tile are those of the camera, or photo-electrons if there is a
    /// camera map; its notes are the variances of the read noise, and its weights those of the pixels.
    #[inline(always)]
    pub fn errors<T: Tile<R>>(
        &self,
        tile: &mut T,
        outline: Outline<R>,
        linear: [R; 2],
        slopes: [R; 2],
    ) -> ErrorEstimate<R> {
        if const { on_plane(P, Q) } {
            self.find::<_, true>(tile, outline, linear, slopes)
        } else {
            self.find::<_, false>(tile, outline, linear, slopes)
        }
    }

    /// `PLANE` is whether there is one.
    #[inline(always)]
    fn find<T: Tile<R>, const PLANE: bool>(
        &self,
        tile: &mut T,
        outline: Outline<R>,
        linear: [R; 2],
        slopes: [R; 2],
    ) -> ErrorEstimate<R> {
        let (p, constants) = self.shape.parameters(outline);
        let (origin, least) = ([outline.x, outline.y], R::splat(LEAST_VARIANCE));
        let mut model = Model { p, constants, linear, slopes, origin, least };
        let likelihood = self.estimator == Estimator::MaximumLikelihood;
        if !likelihood {
            // Least squares knows the background of a bright spot no better than this, and may find it below 0.
            let [alpha, beta] = linear;
            let n = self.size.pixels() as f64;
            let area = R::splat(core::f64::consts::TAU) * outline.sigma_x * outline.sigma_y;
            let total = beta.mul_add(R::splat(n), alpha * area);
            model.least = (total * R::splat(1.0 / (n * n))).max(model.least);
            model = self.scored::<_, PLANE>(tile, &model);
        }
        // Then A and B are the same.
        let bound = likelihood && self.noise.excess.le(R::splat(1.0)).any();
        // Then the sums of A are products of sums over the axes.
        let even = !likelihood && !self.noted;
        let spot = self.shape.spot(self.profile, &model.constants, &model.p);
        let mut sums = [Symmetric::zero(); 2];
        // C does not depend on the unit of the weights, but their squares may leave the range of numbers.
        let one = R::splat(1.0);
        let scale = if likelihood || even { one } else { heaviest(tile).normalizer() };
        let mut pixels = Pixels::<R, PLANE, false>::new(self, &model, false);
        for (squared, sums) in sums.iter_mut().enumerate() {
            if (squared == 0 && !even) || (squared == 1 && !bound) {
                pixels = Pixels { scale, ..Pixels::new(self, &model, squared == 1) };
                let all = self.shape.weigh::<_, _, _, false, true>(tile, spot, &mut pixels);
                *sums = information(&all);
            }
        }
        let n = R::splat(self.size.pixels() as f64);
        if even && PLANE {
            let tilt = Tilt { middle: model.origin, ..Tilt::none() };
            let (all, _, tilted) = self.shape.evaluate::<_, _, false, 4>(tile, spot, &tilt);
            sums[0] = matrix(&all, n);
            add_plane::<R, P, Q>(&mut sums[0], &all_places(self.size, model.origin, &tilted));
        } else if even {
            let (all, ..) = self.shape.evaluate::<_, _, false, 2>(tile, spot, &Tilt::none());
            sums[0] = matrix(&all, n);
        }
        let group = tile.group();
        let (pearson, spread, seen) =
            (group.sum(pixels.pearson), group.sum(pixels.spread), group.sum(pixels.seen));
        let (inverse, definite) = R::compiled(Inverse(&sums[0]));
        let covariance = if bound { inverse } else { between(&inverse, &sums[1]) };
        ErrorEstimate {
            covariance: self.spread_out(&covariance, definite, &model),
            pearson,
            spread,
            seen,
        }
    }

    /// The model after one step of Fisher's scoring, where that makes sense.
    #[inline(always)]
    fn scored<T: Tile<R>, const PLANE: bool>(
        &self,
        tile: &mut T,
        model: &Model<R, S::Constants<R>, P>,
    ) -> Model<R, S::Constants<R>, P> {
        let Model { p, constants, linear: [alpha, beta], .. } = *model;
        let spot = self.shape.spot(self.profile, &constants, &p);
        let mut scores = Pixels::<R, PLANE, true>::new(self, model, false);
        let all = self.shape.weigh::<_, _, _, false, true>(tile, spot, &mut scores);
        let (inverse, definite) = R::compiled(Inverse::<R, Q>(&information(&all)));
        let mut score = [R::splat(0.0); Q];
        score[..P].copy_from_slice(&all.sums.g_df);
        (score[P], score[P + 1]) = (all.sums.fg, all.r);
        if PLANE {
            (score[P + 2], score[P + 3]) = (all.tilted.r[0], all.tilted.r[1]);
        }
        let zero = R::splat(0.0);
        let of_alpha = alpha.reciprocal();
        let mut step = [zero; Q];
        for j in 0..Q {
            for k in 0..Q {
                step[j] = inverse.at(j, k).mul_add(score[k], step[j]);
            }
            step[j] = step[j] * of_alpha;
        }
        let most = R::splat(MOST_SCORED);
        let mut longest = step[P].abs();
        for j in 0..P {
            longest = longest.max(step[j].abs() * R::splat(S::UNITS[j]));
        }
        let share = most * longest.max(most).reciprocal();
        for j in 0..Q {
            step[j] = step[j] * share;
        }
        let mut of_shape = [zero; P];
        of_shape.copy_from_slice(&step[..P]);
        let to = stepped(&self.shape, &constants, &p, &of_shape);
        let linear = [alpha.mul_add(step[P], alpha), alpha.mul_add(step[P + 1], beta)];
        let mut sound = definite & zero.lt(alpha) & linear[0].is_finite() & linear[1].is_finite();
        for j in 0..P {
            sound = sound & to[j].is_finite();
        }
        let mut scored = *model;
        for j in 0..P {
            scored.p[j] = R::select(sound, to[j], p[j]);
        }
        scored.linear = [R::select(sound, linear[0], alpha), R::select(sound, linear[1], beta)];
        if PLANE {
            for i in 0..2 {
                let slope = alpha.mul_add(step[P + 2 + i], model.slopes[i]);
                scored.slopes[i] = R::select(sound, slope, model.slopes[i]);
            }
        }
        scored
    }

    /// The covariance by x̄, ȳ, σx, σy, angle, α and β.
    #[inline(always)]
    fn spread_out(
        &self,
        of: &Symmetric<R, Q>,
        definite: R::Mask,
        model: &Model<R, S::Constants<R>, P>,
    ) -> Symmetric<R, 7> {
        let (zero, endless) = (R::splat(0.0), R::splat(f64::INFINITY));
        let by = self.shape.outline_by(&model.constants, &model.p);
        let of_alpha = model.linear[0].reciprocal();
        // By the parameters in relative units of the shape, and by α and β in units of α.
        let mut rows = [[zero; Q]; 7];
        for j in 0..P {
            let length = self.shape.length(&model.constants, &model.p, j);
            let unit = R::splat(S::UNITS[j]) * length * of_alpha;
            for i in 0..5 {
                rows[i][j] = by[i][j] * unit;
            }
        }
        let one = R::splat(1.0);
        (rows[5][P], rows[6][P + 1]) = (one, one);
        if const { on_plane(P, Q) } {
            // The background at the centre, which is where the centre is.
            let Outline { x, y, .. } = self.shape.outline(&model.constants, &model.p);
            let centre = [x, y];
            for i in 0..2 {
                for j in 0..P {
                    rows[6][j] = model.slopes[i].mul_add(rows[i][j], rows[6][j]);
                }
                rows[6][P + 2 + i] = centre[i] - model.origin[i];
            }
        }
        let mut all = Symmetric::zero();
        for i in 0..7 {
            let mut row = [zero; Q];
            for j in 0..Q {
                for k in 0..Q {
                    row[j] = rows[i][k].mul_add(of.at(k, j), row[j]);
                }
            }
            for m in 0..7 {
                if m >= i {
                    let mut sum = zero;
                    for j in 0..Q {
                        sum = row[j].mul_add(rows[m][j], sum);
                    }
                    let known = S::KNOWN[i] || S::KNOWN[m];
                    all.0[i][m] = if known { zero } else { R::select(definite, sum, endless) };
                }
            }
        }
        // Of a circle the angle says nothing.
        if !S::KNOWN[4] {
            let any = R::splat(ANY_ANGLE);
            let told = all.0[4][4].lt(any) | !definite;
            for j in 0..7 {
                let (i, m) = if j < 4 { (j, 4) } else { (4, j) };
                let lost = if j == 4 { any } else { zero };
                all.0[i][m] = R::select(told, all.0[i][m], lost);
            }
        }
        all
    }
}

/// [`inverse`].
struct Inverse<'a, R, const Q: usize>(&'a Symmetric<R, Q>);

impl<R: Real, const Q: usize> Task<R> for Inverse<'_, R, Q> {
    type Output = (Symmetric<R, Q>, R::Mask);
    #[inline(always)]
    fn run(self) -> Self::Output {
        inverse(Count::ALL, self.0)
    }
}

/// The largest weight of the window.
#[inline(always)]
fn heaviest<R: Real, T: Tile<R>>(tile: &T) -> R {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut heaviest = zero;
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            heaviest = keep::<R, T>(in_window, tile.weight(lane, line, place), zero).max(heaviest);
        }
    }
    -tile.group().least(-heaviest)
}

/// The pixels of a window beside a model, which may have a `PLANE`. With `SCORES` they give the information of each
/// pixel, and the derivative of its likelihood by μ.
#[derive(Clone, Copy)]
struct Pixels<R, const PLANE: bool, const SCORES: bool> {
    noise: CameraNoise<R>,
    estimator: Estimator,
    linear: [R; 2],
    /// The value of the plane at (0, 0), and its slopes.
    plane: [R; 3],
    origin: [R; 2],
    least: R,
    /// Whether the pixels are weighed as in B, and not as in A.
    squared: bool,
    /// What weights are multiplied by.
    scale: R,
    pearson: R,
    spread: R,
    seen: R,
}

/// A pixel beside the model.
struct PixelTerms<R> {
    /// 1 if it is seen, else 0.
    seen: R,
    residual: R,
    /// μ + v, μ and εμ + v.
    plain: R,
    bright: R,
    variance: R,
}

impl<R: Real, const PLANE: bool, const SCORES: bool> Pixels<R, PLANE, SCORES> {
    #[inline(always)]
    fn new<S, C, const P: usize, const Q: usize>(
        covariance: &CovarianceEstimator<R, S, P, Q>,
        model: &Model<R, C, P>,
        squared: bool,
    ) -> Self {
        let zero = R::splat(0.0);
        let ([x, y], [by_x, by_y]) = (model.origin, model.slopes);
        let level = by_x.neg_mul_add(x, by_y.neg_mul_add(y, model.linear[1]));
        Self {
            noise: covariance.noise,
            estimator: covariance.estimator,
            linear: model.linear,
            plane: [level, by_x, by_y],
            origin: model.origin,
            least: model.least,
            squared,
            scale: R::splat(1.0),
            pearson: zero,
            spread: zero,
            seen: zero,
        }
    }

    #[inline(always)]
    fn see(
        &self,
        in_window: R::Mask,
        [height, value]: [R; 2],
        pixel: R,
        note: R,
        weight: R,
    ) -> PixelTerms<R> {
        let CameraNoise { excess, photons, baseline, variance } = self.noise;
        let [_, beta] = self.linear;
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let seen = in_window & note.lt(R::splat(HIDDEN)) & zero.lt(weight);
        // What is hidden has a variance that may overflow.
        let read = variance + R::select(seen, note, zero);
        let mu = height.mul_add(value, beta);
        let bright = mu.max(zero);
        let residual = (pixel - baseline).mul_add(photons, -mu);
        PixelTerms {
            seen: R::select(seen, one, zero),
            residual: R::select(seen, residual, zero),
            plain: (bright + read).max(self.least),
            bright,
            variance: excess.mul_add(bright, read).max(self.least),
        }
    }
}

impl<R: Real, const PLANE: bool, const SCORES: bool> Noise<R> for Pixels<R, PLANE, SCORES> {
    const SINGLE: bool = SCORES;
    const WEIGHTS: bool = true;
    const TILTED: bool = PLANE;

    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        self.origin
    }
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        self.linear[1] = plane_at(self.plane, place);
    }

    #[inline(always)]
    fn height(&self) -> R {
        self.linear[0]
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(
        &mut self,
        in_window: R::Mask,
        profile: [R; 2],
        pixel: R,
        note: R,
        weight: R,
    ) -> [R; 2] {
        let PixelTerms { seen, residual, plain, bright, variance } =
            self.see(in_window, profile, pixel, note, weight);
        if SCORES {
            let inverse = plain.reciprocal();
            return [seen * inverse, residual * inverse];
        }
        let inverse = variance.reciprocal();
        let weight = match self.estimator {
            Estimator::MaximumLikelihood => plain.reciprocal(),
            Estimator::LeastSquares => weight * self.scale,
        };
        // κ₄ of photo-electrons is μ, and 24μ after the multiplication of electrons.
        let fourth = bright * self.noise.excess.mul_add(R::splat(23.0), R::splat(-22.0));
        let spread = (fourth * inverse).mul_add(inverse, R::splat(2.0));
        self.pearson = (residual * residual).mul_add(inverse, self.pearson);
        self.spread = seen.mul_add(spread, self.spread);
        self.seen = self.seen + seen;
        let weight = seen * weight;
        [if self.squared { weight * weight * variance } else { weight }, R::splat(0.0)]
    }
}

/// ΣwJJᵀ/α² in relative units of the shape, with α and β in units of α.
#[inline(always)]
fn information<R: Real, const P: usize, const Q: usize>(of: &Weighted<R, P>) -> Symmetric<R, Q> {
    let mut all = matrix(&of.sums, of.n);
    if const { on_plane(P, Q) } {
        add_plane(&mut all, &of.tilted);
    }
    all
}

/// Adds what a plane adds to the matrix: its slopes come last.
#[inline(always)]
fn add_plane<R: Real, const P: usize, const Q: usize>(
    all: &mut Symmetric<R, Q>,
    of: &WeightedTilt<R, P>,
) {
    for i in 0..2 {
        let l = P + 2 + i;
        for j in 0..P {
            all.0[j][l] = of.df[i][j];
        }
        all.0[P][l] = of.f[i];
        all.0[P + 1][l] = of.n[i];
    }
    all.0[P + 2][P + 2] = of.square[0];
    all.0[P + 2][P + 3] = of.square[1];
    all.0[P + 3][P + 3] = of.square[2];
}

/// The sums times the place over all pixels of a window, counted from `origin`.
#[inline(always)]
fn all_places<R: Real, const P: usize>(
    size: Size,
    [x, y]: [R; 2],
    of: &TiltedSums<R, P>,
) -> WeightedTilt<R, P> {
    let n = size.pixels() as f64;
    let side = [size.width as f64, size.height as f64];
    let [x, y] = [R::splat(0.5 * (side[0] - 1.0)) - x, R::splat(0.5 * (side[1] - 1.0)) - y];
    let all = R::splat(n);
    let own = side.map(|side| n * (side * side - 1.0) / 12.0);
    WeightedTilt {
        n: [all * x, all * y],
        square: [
            (all * x).mul_add(x, R::splat(own[0])),
            all * x * y,
            (all * y).mul_add(y, R::splat(own[1])),
        ],
        f: of.f,
        df: of.df,
        r: [R::splat(0.0); 2],
    }
}

/// The same without a plane, from the sums with the weights and Σw.
#[inline(always)]
fn matrix<R: Real, const P: usize, const Q: usize>(of: &Sums<R, P>, n: R) -> Symmetric<R, Q> {
    let mut all = Symmetric::zero();
    for j in 0..P {
        for k in 0..P {
            if k >= j {
                all.0[j][k] = of.df_df.0[j][k];
            }
        }
        all.0[j][P] = of.f_df[j];
        all.0[j][P + 1] = of.df[j];
    }
    all.0[P][P] = of.ff;
    all.0[P][P + 1] = of.f;
    all.0[P + 1][P + 1] = n;
    all
}
