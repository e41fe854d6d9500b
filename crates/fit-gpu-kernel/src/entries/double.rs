//! Data sets whose search ends in double precision: one of each thread, in shared memory, or one of a warp, where it lies.

use core::arch::asm;

use fit_core::curve::At;

use super::curve::{Marks, all_marks, marks};
use super::parts::Part;
use crate::curve::{Curve, CurveJob};
use crate::double::{DoubleJob, DoubleOutcome, Minimized, Resumed, finish};
use crate::{DeviceF64, device};

/// The data set of a thread, or of a warp.
pub(super) struct DoubleData {
    lane: usize,
    lanes: usize,
    points: usize,
    data: *const u8,
    /// 1 if they are of double precision.
    wide: u32,
    weights: *const f64,
    /// The address of the first variable.
    variables: u64,
}

impl DoubleData {
    /// This thread's data set, and its number; `None` if there is no such data set.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks; all threads of the block come here.
    #[inline(always)]
    unsafe fn new(job: &DoubleJob) -> Option<(Self, usize)> {
        let (thread, block, threads) = device::place();
        let (points, lanes) = (job.single.points as usize, job.single.lanes.max(1) as usize);
        let wide = job.wide();
        let from = if wide == 0 { job.single.data } else { job.data.cast() };
        let number = (block as usize * threads as usize + thread as usize) / lanes;
        let data = if lanes == 1 {
            let rows = job.rows();
            let part = Part::new(&rows, from, rows.points as usize, 0, rows.halves != 0);
            // SAFETY: the caller's promise.
            unsafe { part.copy() }
            device::wait_for(1, threads);
            device::shared_memory().wrapping_add(thread as usize * rows.stride()).cast_const()
        } else {
            from.wrapping_add((number * points) << wide)
        };
        // All threads of a fit leave together.
        if number >= job.single.count as usize {
            return None;
        }
        let data = Self {
            lane: thread as usize % lanes,
            lanes,
            points,
            data: data.cast(),
            wide,
            weights: job.weights.wrapping_add(number * job.weight_step as usize),
            variables: job.variables.wrapping_add(number * job.variable_step as usize) as u64,
        };
        Some((data, number))
    }
}

impl<const P: usize> Curve<DeviceF64, P> for DoubleData
where
    DoubleData: Marks<f64, P>,
{
    #[inline(always)]
    fn mine(&self) -> [usize; 2] {
        [self.lane, self.lanes]
    }
    #[inline(always)]
    fn points(&self) -> usize {
        self.points
    }
    #[inline(always)]
    fn datum(&self, point: usize) -> DeviceF64 {
        let place = self.data.wrapping_add(point << (2 + self.wide));
        let value: f64;
        // SAFETY: the point is one of the data set's. In one piece of assembly, so that the compiler makes no loop for each of both.
        unsafe {
            asm!("{{", ".reg .pred wide;", ".reg .b32 low, high;", "setp.ne.u32 wide, {wide}, 0;",
                "ld.b32 low, [{place}];", "@wide ld.b32 high, [{place}+4];",
                "@wide mov.b64 {value}, {{low, high}};", "@!wide cvt.f64.f32 {value}, low;", "}}",
                wide = in(reg32) self.wide, place = in(reg64) place, value = out(reg64) value,
                options(readonly, nostack, preserves_flags));
        }
        DeviceF64(value)
    }
    #[inline(always)]
    fn weight(&self, point: usize) -> DeviceF64 {
        // SAFETY: there is a weight for each point if there are any.
        let weight = unsafe { self.weights.add(point).read() };
        // One that is no number belongs to a point that is left out.
        DeviceF64(if weight > 0.0 { weight } else { 0.0 })
    }
    #[inline(always)]
    fn prepare(&mut self, parameters: &[DeviceF64; P]) {
        let step = 8 * self.points as u32;
        <Self as Marks<f64, P>>::prepare(parameters.map(|parameter| parameter.0), step);
    }
    #[inline(always)]
    fn at(&self, point: usize) -> At<DeviceF64, P> {
        let place = self.variables + 8 * point as u64;
        let by = <Self as Marks<f64, P>>::point(place).map(DeviceF64);
        At { value: DeviceF64(<Self as Marks<f64, P>>::value()), by }
    }
    #[inline(always)]
    fn scales(&self) -> [DeviceF64; P] {
        <Self as Marks<f64, P>>::scales().map(DeviceF64)
    }
    #[inline(always)]
    fn sum(&self, value: DeviceF64) -> DeviceF64 {
        let mut sum = value.0;
        if self.lanes > 1 {
            for step in [16, 8, 4, 2, 1] {
                let of = |word: u64| f32::from_bits(word as u32);
                let [low, high] = [of(sum.to_bits()), of(sum.to_bits() >> 32)]
                    .map(|half| u64::from(device::shuffle_xor(half, step, u32::MAX).to_bits()));
                sum += f64::from_bits(high << 32 | low);
            }
        }
        DeviceF64(sum)
    }
}
all_marks!(DoubleData, f64 reg64);
marks!(DoubleData, f64 reg64, 11, a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7, i 8, j 9, k 10);
marks!(DoubleData, f64 reg64, 12, a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7, i 8, j 9, k 10, l 11);

/// What is minimized, as the host puts it here.
#[inline(always)]
fn minimized() -> Minimized {
    let (poisson, weighted): (u32, u32);
    // SAFETY: what the host puts here writes these registers.
    unsafe {
        asm!("//@poisson {poisson}", poisson = lateout(reg32) poisson,
            options(nostack, preserves_flags));
        asm!("//@weighted {weighted}", weighted = lateout(reg32) weighted,
            options(nostack, preserves_flags));
    }
    Minimized { poisson, weighted }
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn fit<const P: usize>(job: &DoubleJob)
where
    DoubleData: Marks<f64, P>,
{
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((mut data, number)) = DoubleData::new(job) else { return };
        let resumed = resumed(job, number);
        let found = finish(&mut data, job, minimized(), &resumed);
        if data.lane == 0 {
            write(job, number, &found);
        }
    }
}

/// Where the search goes on.
///
/// # Safety
/// There are limits, and what single precision found of a data set of that number.
#[inline(always)]
unsafe fn resumed<const P: usize>(job: &DoubleJob, number: usize) -> Resumed<DeviceF64, P> {
    let count = job.single.count as usize;
    let CurveJob { found, .. } = job.single;
    // SAFETY: the caller's promise.
    unsafe {
        let single = |at: usize| DeviceF64(found.add(at).read().into());
        let limit = |of: *const f64, j: usize| {
            DeviceF64(of.add(number * job.limit_step as usize + j).read())
        };
        let [mut initial, mut lower, mut upper] = [[DeviceF64(0.0); P]; 3];
        for j in 0..P {
            (lower[j], upper[j]) = (limit(job.lower, j), limit(job.upper, j));
            initial[j] = single(number * P + j);
        }
        let before = [1, 2, 3].map(|other| single((2 * P + other) * count + number));
        Resumed { initial, before, lower, upper }
    }
}

/// # Safety
/// There is room for what was found of `count` data sets, and `number` is below that.
#[inline(always)]
unsafe fn write<const P: usize>(
    job: &DoubleJob,
    number: usize,
    found: &DoubleOutcome<DeviceF64, P>,
) {
    let mut to = job.found.wrapping_add(number);
    let mut put = |value: DeviceF64| {
        // SAFETY: the caller's promise, and one thread writes each number.
        unsafe { to.write(value.0) }
        to = to.wrapping_add(job.single.count as usize);
    };
    for j in 0..P {
        put(found.parameters[j]);
    }
    for j in 0..P {
        put(found.errors[j]);
    }
    for i in 0..DoubleJob::OTHERS {
        put(found.others[i]);
    }
    if job.covariance != 0 {
        for j in 0..P {
            for k in 0..P {
                if k >= j {
                    put(found.covariance.0[j][k]);
                }
            }
        }
    }
}
