//! Models written in Rust, as one would by hand for speed, beside formulas of the same name.

use fit_cpu::{BatchError, CurveReference, CurveSimd};
use fit_curves::{At, CompiledModel, CurveFits, CurveNumber, CurveOptions, CurveStart, Curves};

/// One of these models. It takes half a minute to compile one for all instruction sets, so it is done here, not in each test
/// and bench that fits it.
pub trait Compiled {
    /// See [`CurveSimd::fit_compiled`].
    ///
    /// # Errors
    /// As there.
    fn fit(
        &self,
        fitter: &CurveSimd,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError>;

    /// See [`CurveReference::fit_compiled`].
    ///
    /// # Errors
    /// As there.
    fn fit_in_double(
        &self,
        fitter: &CurveReference,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError>;
}

macro_rules! compiled {
    ($($model:ty)*) => {
        $(impl Compiled for $model {
            fn fit(
                &self,
                fitter: &CurveSimd,
                curves: &Curves<'_>,
                start: CurveStart<'_>,
                options: &CurveOptions,
            ) -> Result<CurveFits, BatchError> {
                fitter.fit_compiled(self, curves, start, options)
            }
            fn fit_in_double(
                &self,
                fitter: &CurveReference,
                curves: &Curves<'_>,
                start: CurveStart<'_>,
                options: &CurveOptions,
            ) -> Result<CurveFits, BatchError> {
                fitter.fit_compiled(self, curves, start, options)
            }
        })*
    };
}
compiled!(Exponential Exponentials Gauss Spot);

/// a·exp(−x/t) + c.
pub struct Exponential;

impl CompiledModel<3, 1> for Exponential {
    #[inline(always)]
    fn at<R: CurveNumber>(&self, [a, t, c]: [R; 3], [x]: [R; 1]) -> At<R, 3> {
        let rate = t.reciprocal();
        let decay = (-x * rate).exp();
        let scale = a * rate * rate;
        At { value: a.mul_add(decay, c), by: [decay, scale * (x * decay), R::splat(1.0)] }
    }
}

/// a1·exp(−x/t1) + a2·exp(−x/t2) + c.
pub struct Exponentials;

impl CompiledModel<5, 1> for Exponentials {
    #[inline(always)]
    fn at<R: CurveNumber>(&self, [a, s, b, t, c]: [R; 5], [x]: [R; 1]) -> At<R, 5> {
        let zero = R::splat(0.0);
        let first = Exponential.at([a, s, zero], [x]);
        let second = Exponential.at([b, t, c], [x]);
        let by = [first.by[0], first.by[1], second.by[0], second.by[1], R::splat(1.0)];
        At { value: first.value + second.value, by }
    }
}

/// a·exp(−(x − x0)²/(2s²)) + b.
pub struct Gauss;

impl CompiledModel<4, 1> for Gauss {
    #[inline(always)]
    fn at<R: CurveNumber>(&self, [a, x0, s, b]: [R; 4], [x]: [R; 1]) -> At<R, 4> {
        let inverse = s.reciprocal();
        let u = (x - x0) * inverse;
        let gauss = (u * u * R::splat(-0.5)).exp();
        let slope = a * inverse * (u * gauss);
        At { value: a.mul_add(gauss, b), by: [gauss, slope, slope * u, R::splat(1.0)] }
    }
}

/// a·exp(−((x − x0)² + (y − y0)²)/(2s²)) + b, with an exponential for each pixel.
pub struct Spot;

impl CompiledModel<5, 2> for Spot {
    #[inline(always)]
    fn at<R: CurveNumber>(&self, [a, x0, y0, s, b]: [R; 5], [x, y]: [R; 2]) -> At<R, 5> {
        let inverse = s.reciprocal();
        let (u, v) = ((x - x0) * inverse, (y - y0) * inverse);
        let square = u.mul_add(u, v * v);
        let gauss = (square * R::splat(-0.5)).exp();
        let slope = a * inverse * gauss;
        let by = [gauss, slope * u, slope * v, slope * square, R::splat(1.0)];
        At { value: a.mul_add(gauss, b), by }
    }
}
