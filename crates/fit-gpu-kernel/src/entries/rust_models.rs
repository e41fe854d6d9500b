//! Two models written in Rust, fitted as a formula is: what a formula costs is measured beside them.

use core::f32::consts::LOG2_E;

use fit_core::Real;
use fit_core::arithmetic::functions::Elementary as _;
use fit_core::curve::At;

use super::curve::{Data, Marks, begin, write};
use crate::curve::{Curve, CurveJob, CurveMethod, OwnCurve, fit as search};
use crate::{DeviceF32, device};

/// A model with values for its parameters.
pub(super) trait Model<const P: usize>: Copy {
    /// At these parameters.
    fn new(parameters: [DeviceF32; P]) -> Self;
    /// The value where variables have these values, and the derivatives but for factors.
    fn at(&self, variable: impl Fn(u64) -> DeviceF32) -> At<DeviceF32, P>;
    /// These factors.
    fn scales(&self) -> [DeviceF32; P];
}

/// a·exp(−x/t) + c.
#[derive(Clone, Copy)]
pub(super) struct Exponential {
    a: DeviceF32,
    c: DeviceF32,
    rate: DeviceF32,
}

impl Model<3> for Exponential {
    #[inline(always)]
    fn new([a, t, c]: [DeviceF32; 3]) -> Self {
        Self { a, c, rate: t.reciprocal() }
    }
    #[inline(always)]
    fn at(&self, variable: impl Fn(u64) -> DeviceF32) -> At<DeviceF32, 3> {
        let x = variable(0);
        let decay = exp(-x * self.rate);
        At { value: self.a.mul_add(decay, self.c), by: [decay, x * decay, DeviceF32(1.0)] }
    }
    #[inline(always)]
    fn scales(&self) -> [DeviceF32; 3] {
        [DeviceF32(1.0), self.a * self.rate * self.rate, DeviceF32(1.0)]
    }
}

/// a·exp(−((x − x0)² + (y − y0)²)/(2s²)) + b, with an exponential for each pixel.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    a: DeviceF32,
    x0: DeviceF32,
    y0: DeviceF32,
    b: DeviceF32,
    inverse: DeviceF32,
}

impl Model<5> for Spot {
    #[inline(always)]
    fn new([a, x0, y0, s, b]: [DeviceF32; 5]) -> Self {
        Self { a, x0, y0, b, inverse: s.reciprocal() }
    }
    #[inline(always)]
    fn at(&self, variable: impl Fn(u64) -> DeviceF32) -> At<DeviceF32, 5> {
        let u = (variable(0) - self.x0) * self.inverse;
        let v = (variable(1) - self.y0) * self.inverse;
        let square = u.mul_add(u, v * v);
        let gauss = exp(square * DeviceF32(-0.5));
        let by = [gauss, u * gauss, v * gauss, square * gauss, DeviceF32(1.0)];
        At { value: self.a.mul_add(gauss, self.b), by }
    }
    #[inline(always)]
    fn scales(&self) -> [DeviceF32; 5] {
        let slope = self.a * self.inverse;
        [DeviceF32(1.0), slope, slope, slope, DeviceF32(1.0)]
    }
}

/// As formulas have it.
#[inline(always)]
fn exp(x: DeviceF32) -> DeviceF32 {
    let x = x.max(DeviceF32(-104.0)).min(DeviceF32(89.0));
    let n = (x * DeviceF32(LOG2_E)).nearest().0;
    // ln 2 in two parts; the first has so few digits that its products with whole numbers are exact.
    let rest = device::fused(n, -0.693_359_4, x.0);
    let rest = device::fused(n, 2.121_944_4e-4, rest);
    DeviceF32(device::exp2(device::fused(rest, LOG2_E, 1.0)) * device::exp2(n - 1.0))
}

/// A data set, and the model.
struct Written<M> {
    data: Data,
    model: M,
}

impl<M: Model<P>, const P: usize> Curve<DeviceF32, P> for Written<M>
where
    Data: Marks<f32, P>,
{
    #[inline(always)]
    fn mine(&self) -> [usize; 2] {
        Curve::<DeviceF32, P>::mine(&self.data)
    }
    #[inline(always)]
    fn points(&self) -> usize {
        Curve::<DeviceF32, P>::points(&self.data)
    }
    #[inline(always)]
    fn datum(&self, point: usize) -> DeviceF32 {
        Curve::<DeviceF32, P>::datum(&self.data, point)
    }
    #[inline(always)]
    fn weight(&self, point: usize) -> DeviceF32 {
        Curve::<DeviceF32, P>::weight(&self.data, point)
    }
    #[inline(always)]
    fn prepare(&mut self, parameters: &[DeviceF32; P]) {
        self.model = M::new(*parameters);
    }
    #[inline(always)]
    fn at(&self, point: usize) -> At<DeviceF32, P> {
        // SAFETY: the model has as many variables as the job, and the point is one of the data set's.
        self.model.at(|number| DeviceF32(unsafe { self.data.variable(number, point) }))
    }
    #[inline(always)]
    fn scales(&self) -> [DeviceF32; P] {
        self.model.scales()
    }
    #[inline(always)]
    fn sum(&self, value: DeviceF32) -> DeviceF32 {
        Curve::<DeviceF32, P>::sum(&self.data, value)
    }
}

impl<M: Model<P>, const P: usize> OwnCurve<DeviceF32, P> for Written<M>
where
    Data: Marks<f32, P>,
{
    #[inline(always)]
    fn set_datum(&mut self, point: usize, value: DeviceF32) {
        OwnCurve::<DeviceF32, P>::set_datum(&mut self.data, point, value);
    }
    #[inline(always)]
    fn weighted(&self) -> [bool; 2] {
        OwnCurve::<DeviceF32, P>::weighted(&self.data)
    }
    #[inline(always)]
    fn set_weight(&mut self, point: usize, value: DeviceF32) {
        OwnCurve::<DeviceF32, P>::set_weight(&mut self.data, point, value);
    }
    #[inline(always)]
    fn eliminated(&self) -> u32 {
        0
    }
    #[inline(always)]
    fn most(&self, value: DeviceF32) -> DeviceF32 {
        OwnCurve::<DeviceF32, P>::most(&self.data, value)
    }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks, with as many variables as the model has.
#[inline(always)]
pub(super) unsafe fn fit<M: Model<P>, const P: usize>(job: &CurveJob)
where
    Data: Marks<f32, P>,
{
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((data, number)) = Data::new(job) else { return };
        let begin = begin(job, &data);
        let mut curve = Written { data, model: M::new(begin.initial) };
        let found = search::<_, _, P, { CurveMethod::PLAIN }>(&mut curve, job, &begin);
        write(job, &curve.data, number, &found);
    }
}
