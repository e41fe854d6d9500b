//! Models of many parameters: a warp fits a data set, which it reads where it lies; each of its threads has a parameter.
//!
//! The marks of their kernels take parameters from memory and leave derivatives there.

use core::arch::asm;

use fit_engine::cooperative::{
    COOPERATIVE_THREADS, Cooperative, ParameterStart, SearchOptions, ThreadOutcome, fit as search,
};

use crate::{CurveJob, DeviceF32, device};

/// All threads of a warp.
const ALL: u32 = u32::MAX;

/// Four numbers that are read at once.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Quad([f32; 4]);

/// A thread of such a warp.
struct Thread<const N: usize> {
    lane: u32,
    points: usize,
    data: *const f32,
    /// Null if there are none.
    weights: *const f32,
    own_weights: bool,
    /// The address of the first variable, and the bytes to the next.
    variables: u64,
    step: u32,
    /// Shared memory ([`CurveJob::cooperative_numbers`]): parameters, factors, what is shown to each half of the warp or to all of it, and
    /// for each thread the derivatives at its point, a residual and a weight.
    shared: *mut f32,
}

impl<const N: usize> Thread<N> {
    /// From one row to the next.
    const ROW: usize = N + 4;

    /// The number of this thread's parameter.
    #[inline(always)]
    fn own(&self) -> usize {
        self.lane as usize % N
    }
    #[inline(always)]
    fn scales(&self) -> *mut f32 {
        self.shared.wrapping_add(N)
    }
    /// What is shown to this thread.
    #[inline(always)]
    fn board(&self) -> *mut f32 {
        self.shared.wrapping_add(2 * N + self.half())
    }
    /// The first thread that has the same half of the points.
    #[inline(always)]
    fn half(&self) -> usize {
        self.lane as usize / N * N
    }
    /// The row of a thread.
    #[inline(always)]
    fn row(&self, thread: usize) -> *mut f32 {
        self.shared.wrapping_add(2 * N + COOPERATIVE_THREADS + thread * Self::ROW)
    }
    #[inline(always)]
    fn point(&self, round: usize) -> usize {
        round * COOPERATIVE_THREADS + self.lane as usize
    }
    /// The number of this thread's point in a round, or of the last.
    #[inline(always)]
    fn point_or_last(&self, round: usize) -> usize {
        let (point, last) = (self.point(round), self.points - 1);
        if point < last { point } else { last }
    }
}

/// The sum, or whatever, over the threads of a warp that differ in bits below `below`.
macro_rules! over {
    ($value:expr, $below:expr, |$one:ident, $other:ident| $both:expr) => {{
        let mut all: f32 = $value;
        for step in [16, 8, 4, 2, 1] {
            if step < $below {
                let ($one, $other) = (all, device::shuffle_xor(all, step as u32, ALL));
                all = $both;
            }
        }
        DeviceF32(all)
    }};
}

impl<const N: usize> Cooperative<DeviceF32, N> for Thread<N> {
    #[inline(always)]
    fn times(&self, number: usize) -> usize {
        device::anew(number as u32) as usize
    }
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.points.div_ceil(COOPERATIVE_THREADS)
    }
    #[inline(always)]
    fn has(&self, round: usize) -> bool {
        self.point(round) < self.points
    }
    #[inline(always)]
    fn datum(&self, round: usize) -> DeviceF32 {
        // SAFETY: there are data of all points.
        DeviceF32(unsafe { self.data.add(self.point_or_last(round)).read() })
    }
    #[inline(always)]
    fn weighted(&self) -> [bool; 2] {
        [!self.weights.is_null(), self.own_weights]
    }
    #[inline(always)]
    fn weight(&self, round: usize) -> DeviceF32 {
        // SAFETY: there are weights of all points if there are any.
        DeviceF32(unsafe { self.weights.add(self.point_or_last(round)).read() })
    }
    #[inline(always)]
    fn prepare(&mut self, parameter: DeviceF32) {
        device::synchronize(ALL);
        if (self.lane as usize) < N {
            // SAFETY: this place is the thread's own.
            unsafe { self.shared.add(self.own()).write(parameter.0) }
        }
        device::synchronize(ALL);
        // SAFETY: what the host puts here reads parameters, and writes registers of its own.
        unsafe {
            asm!("//@all_prepare {step} {place}", step = in(reg32) self.step,
                place = in(reg64) self.shared as u64, options(nostack, preserves_flags));
        }
    }
    #[inline(always)]
    fn model(&mut self, round: usize) -> DeviceF32 {
        let place = self.variables + 4 * self.point_or_last(round) as u64;
        let value: f32;
        // SAFETY: what the host puts here reads the variables of the point, and writes derivatives to the thread's own row.
        unsafe {
            asm!("//@all_point {place} {to}", place = in(reg64) place,
                to = in(reg64) self.row(self.lane as usize) as u64,
                options(nostack, preserves_flags));
            asm!("//@value {value}", value = lateout(reg32) value,
                options(nostack, preserves_flags));
        }
        DeviceF32(value)
    }
    #[inline(always)]
    fn note(&mut self, counts: bool, residual: DeviceF32, weight: DeviceF32) {
        let row = self.row(self.lane as usize);
        // SAFETY: the row is the thread's own.
        unsafe {
            if !counts {
                let mut j = 0;
                while j < self.times(N) {
                    row.add(j).write(0.0);
                    j += 1;
                }
            }
            row.add(N).write(residual.0);
            row.add(N + 1).write(weight.0);
        }
        device::synchronize(ALL);
    }
    #[inline(always)]
    fn noted(&self, point: usize) -> [DeviceF32; 3] {
        let row = self.row(point + self.half());
        // SAFETY: rows have N derivatives and two numbers.
        let numbers =
            unsafe { [row.add(self.own()).read(), row.add(N).read(), row.add(N + 1).read()] };
        numbers.map(DeviceF32)
    }
    #[inline(always)]
    fn derivatives(&self, point: usize, four: usize) -> [DeviceF32; 4] {
        let row = self.row(point + self.half()).cast::<Quad>();
        // SAFETY: rows begin at multiples of four numbers, and have N.
        unsafe { row.add(four).read() }.0.map(DeviceF32)
    }
    #[inline(always)]
    fn forget(&mut self) {
        device::synchronize(ALL);
    }
    #[inline(always)]
    fn scale(&self) -> DeviceF32 {
        device::synchronize(ALL);
        if self.lane == 0 {
            // SAFETY: what the host puts here writes factors, of which there are no more than N.
            unsafe {
                asm!("//@all_scales {place}", place = in(reg64) self.scales() as u64,
                    options(nostack, preserves_flags));
            }
        }
        device::synchronize(ALL);
        // SAFETY: there is a place for each parameter; what the model has not is 0.
        DeviceF32(unsafe { self.scales().add(self.own()).read() })
    }
    #[inline(always)]
    fn show(&mut self, value: DeviceF32, by: usize) {
        device::synchronize(ALL);
        // SAFETY: each of N threads has a place.
        unsafe { self.board().add((self.own() + N - by) % N).write(value.0) }
        device::synchronize(ALL);
    }
    #[inline(always)]
    fn shown(&self, four: usize) -> [DeviceF32; 4] {
        // SAFETY: the board begins at a multiple of four numbers, and has N.
        unsafe { self.board().cast::<Quad>().add(four).read() }.0.map(DeviceF32)
    }
    #[inline(always)]
    fn of(&self, parameter: usize, value: DeviceF32) -> DeviceF32 {
        DeviceF32(device::shuffle(value.0, parameter as u32, ALL))
    }
    #[inline(always)]
    fn is(&self, parameter: usize) -> bool {
        self.own() == parameter
    }
    #[inline(always)]
    fn is_among(&self, parameters: u32) -> bool {
        parameters >> self.own() & 1 == 1
    }
    #[inline(always)]
    fn sum(&self, value: DeviceF32) -> DeviceF32 {
        over!(value.0, COOPERATIVE_THREADS, |one, other| one + other)
    }
    #[inline(always)]
    fn most(&self, value: DeviceF32) -> DeviceF32 {
        over!(value.0, COOPERATIVE_THREADS, |one, other| one.max(other))
    }
    #[inline(always)]
    fn of_same(&self, value: DeviceF32) -> DeviceF32 {
        if N < COOPERATIVE_THREADS {
            DeviceF32(value.0 + device::shuffle_xor(value.0, N as u32, ALL))
        } else {
            value
        }
    }
    #[inline(always)]
    fn over(&self, value: DeviceF32) -> DeviceF32 {
        over!(value.0, N, |one, other| one + other)
    }
}

/// What the host knows of the model.
#[inline(always)]
fn model() -> [u32; 3] {
    let (parameters, poisson, eliminated): (u32, u32, u32);
    // SAFETY: what the host puts here writes these registers.
    unsafe {
        asm!("//@parameters {parameters}", parameters = lateout(reg32) parameters,
            options(nostack, preserves_flags));
        asm!("//@poisson {poisson}", poisson = lateout(reg32) poisson,
            options(nostack, preserves_flags));
        asm!("//@eliminated {eliminated}", eliminated = lateout(reg32) eliminated,
            options(nostack, preserves_flags));
    }
    [parameters, poisson, eliminated]
}

/// # Safety
/// The job is as docs/gpu-safety.md asks; a model has no more than N parameters.
#[inline(always)]
pub(super) unsafe fn fit<const N: usize>(job: &CurveJob) {
    let (thread, block, threads) = device::place();
    let lane = thread % COOPERATIVE_THREADS as u32;
    let number = (block as usize * threads as usize + thread as usize) / COOPERATIVE_THREADS;
    // All threads of a warp leave together.
    if number >= job.count as usize {
        return;
    }
    let [parameters, poisson, eliminated] = model();
    let points = job.points as usize;
    let own_weights = job.own_weights != 0;
    let rows = number * points;
    let weights = if own_weights { job.weights.wrapping_add(rows) } else { job.weights };
    let variables = job.variables.wrapping_add(rows * job.own_variables as usize) as u64;
    let warp = (thread as usize / COOPERATIVE_THREADS) * CurveJob::cooperative_numbers(N);
    let mut group = Thread::<N> {
        lane,
        points,
        data: job.data.wrapping_add(rows),
        weights,
        own_weights,
        variables,
        step: 4 * job.points,
        shared: device::shared_memory().wrapping_add(warp),
    };
    let mut next = lane as usize;
    while next < CurveJob::cooperative_numbers(N) {
        // SAFETY: the launch gives each warp that many numbers (docs/gpu-safety.md).
        unsafe { group.shared.add(next).write(0.0) }
        next += COOPERATIVE_THREADS;
    }
    device::synchronize(ALL);
    let own = group.own();
    let there = own < parameters as usize;
    let read = |from: *const f32, step: u32| {
        // SAFETY: the job has start values and limits of all parameters.
        DeviceF32(if there {
            unsafe { from.add(number * step as usize + own).read() }
        } else {
            0.0
        })
    };
    let begin = ParameterStart {
        initial: read(job.starts, job.start_step),
        lower: read(job.lower, job.limit_step),
        upper: read(job.upper, job.limit_step),
    };
    let options = SearchOptions {
        poisson: poisson != 0,
        eliminated,
        max_iterations: DeviceF32(job.max_iterations),
        share: DeviceF32(job.share),
        square: DeviceF32(job.square),
        weight_unit: DeviceF32(job.weight_unit),
    };
    let found = search(&mut group, &options, &begin);
    if there && (lane as usize) < N {
        // SAFETY: the caller's promise; each thread writes what is its parameter's.
        unsafe { write(job, number, parameters as usize, own, &found) }
    }
}

/// # Safety
/// There is room for what was found of `count` data sets, `number` is below that, and `own` is one of the parameters.
#[inline(always)]
unsafe fn write<const N: usize>(
    job: &CurveJob,
    number: usize,
    parameters: usize,
    own: usize,
    found: &ThreadOutcome<DeviceF32, N>,
) {
    let count = job.count as usize;
    // SAFETY: the caller's promise.
    unsafe {
        let to = job.found.add(number * parameters + own);
        to.write(found.parameter.0);
        to.add(count * parameters).write(found.error.0);
        if own == 0 {
            let to = job.found.add(2 * count * parameters + number);
            for i in 0..CurveJob::OTHERS {
                to.add(i * count).write(found.others[i].0);
            }
        }
        if job.covariance != 0 {
            // Row after row, each from the diagonal on.
            let pairs = parameters * (parameters + 1) / 2;
            let to = job.found.add((2 * parameters + CurveJob::OTHERS) * count + number * pairs);
            let row = to.add(own * parameters - own * (own + 1) / 2);
            for k in 0..N {
                if k >= own && k < parameters {
                    row.add(k).write(found.covariance[k].0);
                }
            }
        }
    }
}
