//! Two models written in Rust, fitted as a formula is: what a formula costs is measured beside them.

use core::f32::consts::LOG2_E;

use fit_core::Real;
use fit_core::arithmetic::functions::Elementary as _;
use fit_core::curve::At;

use super::curve::{Data, Marks, begin, write};
use crate::curve::{Curve, CurveJob, CurveMethod, fit as search};
use crate::{Single, device};

/// A model with values for its parameters.
pub(super) trait Model<const P: usize>: Copy {
    /// At these parameters.
    fn new(parameters: [Single; P]) -> Self;
    /// The value where variables have these values, and the derivatives but for factors.
    fn at(&self, variable: impl Fn(u64) -> Single) -> At<Single, P>;
    /// These factors.
    fn scales(&self) -> [Single; P];
}

/// a·exp(−x/t) + c.
#[derive(Clone, Copy)]
pub(super) struct Exponential {
    a: Single,
    c: Single,
    rate: Single,
}

impl Model<3> for Exponential {
    #[inline(always)]
    fn new([a, t, c]: [Single; 3]) -> Self {
        Self { a, c, rate: t.reciprocal() }
    }
    #[inline(always)]
    fn at(&self, variable: impl Fn(u64) -> Single) -> At<Single, 3> {
        let x = variable(0);
        let decay = exp(-x * self.rate);
        At { value: self.a.mul_add(decay, self.c), by: [decay, x * decay, Single(1.0)] }
    }
    #[inline(always)]
    fn scales(&self) -> [Single; 3] {
        [Single(1.0), self.a * self.rate * self.rate, Single(1.0)]
    }
}

/// a·exp(−((x − x0)² + (y − y0)²)/(2s²)) + b, with an exponential for each pixel.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    a: Single,
    x0: Single,
    y0: Single,
    b: Single,
    inverse: Single,
}

impl Model<5> for Spot {
    #[inline(always)]
    fn new([a, x0, y0, s, b]: [Single; 5]) -> Self {
        Self { a, x0, y0, b, inverse: s.reciprocal() }
    }
    #[inline(always)]
    fn at(&self, variable: impl Fn(u64) -> Single) -> At<Single, 5> {
        let u = (variable(0) - self.x0) * self.inverse;
        let v = (variable(1) - self.y0) * self.inverse;
        let square = u.mul_add(u, v * v);
        let gauss = exp(square * Single(-0.5));
        let by = [gauss, u * gauss, v * gauss, square * gauss, Single(1.0)];
        At { value: self.a.mul_add(gauss, self.b), by }
    }
    #[inline(always)]
    fn scales(&self) -> [Single; 5] {
        let slope = self.a * self.inverse;
        [Single(1.0), slope, slope, slope, Single(1.0)]
    }
}

/// As formulas have it.
#[inline(always)]
fn exp(x: Single) -> Single {
    let x = x.max(Single(-104.0)).min(Single(89.0));
    let n = (x * Single(LOG2_E)).nearest().0;
    // ln 2 in two parts; the first has so few digits that its products with whole numbers are exact.
    let rest = device::fused(n, -0.693_359_4, x.0);
    let rest = device::fused(n, 2.121_944_4e-4, rest);
    Single(device::exp2(device::fused(rest, LOG2_E, 1.0)) * device::exp2(n - 1.0))
}

/// A data set, and the model.
struct Written<M> {
    data: Data,
    model: M,
}

impl<M: Model<P>, const P: usize> Curve<Single, P> for Written<M>
where
    Data: Marks<P>,
{
    #[inline(always)]
    fn mine(&self) -> [usize; 2] {
        Curve::<Single, P>::mine(&self.data)
    }
    #[inline(always)]
    fn points(&self) -> usize {
        Curve::<Single, P>::points(&self.data)
    }
    #[inline(always)]
    fn datum(&self, point: usize) -> Single {
        Curve::<Single, P>::datum(&self.data, point)
    }
    #[inline(always)]
    fn set_datum(&mut self, point: usize, value: Single) {
        Curve::<Single, P>::set_datum(&mut self.data, point, value);
    }
    #[inline(always)]
    fn weighted(&self) -> [bool; 2] {
        Curve::<Single, P>::weighted(&self.data)
    }
    #[inline(always)]
    fn weight(&self, point: usize) -> Single {
        Curve::<Single, P>::weight(&self.data, point)
    }
    #[inline(always)]
    fn set_weight(&mut self, point: usize, value: Single) {
        Curve::<Single, P>::set_weight(&mut self.data, point, value);
    }
    #[inline(always)]
    fn eliminated(&self) -> u32 {
        0
    }
    #[inline(always)]
    fn prepare(&mut self, parameters: &[Single; P]) {
        self.model = M::new(*parameters);
    }
    #[inline(always)]
    fn at(&self, point: usize) -> At<Single, P> {
        // SAFETY: the model has as many variables as the job, and the point is one of the data set's.
        self.model.at(|number| Single(unsafe { self.data.variable(number, point) }))
    }
    #[inline(always)]
    fn scales(&self) -> [Single; P] {
        self.model.scales()
    }
    #[inline(always)]
    fn sum(&self, value: Single) -> Single {
        Curve::<Single, P>::sum(&self.data, value)
    }
    #[inline(always)]
    fn most(&self, value: Single) -> Single {
        Curve::<Single, P>::most(&self.data, value)
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks, with as many variables as the model has.
#[inline(always)]
pub(super) unsafe fn fit<M: Model<P>, const P: usize>(job: &CurveJob)
where
    Data: Marks<P>,
{
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((data, number)) = Data::new(job) else { return };
        let begin = begin(job, number);
        let mut curve = Written { data, model: M::new(begin.initial) };
        let found = search::<_, _, P, { CurveMethod::PLAIN }>(&mut curve, job, &begin);
        if curve.data.is_first() {
            write(job, number, &found);
        }
    }
}
