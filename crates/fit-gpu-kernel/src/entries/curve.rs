//! Data sets in shared memory, and the marks where a formula's instructions go.
//!
//! A mark is a comment in assembly that the compiler takes for instructions, so it names the registers of what goes in and
//! comes out. The host replaces each line that begins with `//@` (crate fit-gpu, `curve`).

use core::arch::asm;

use fit_core::curve::At;

use super::parts::Part;
use crate::curve::{Begin, Curve, CurveJob, CurveOutcome, OwnCurve, TOGETHER, fit as search};
use crate::{DeviceF32, device};

/// The data set of a thread, or of a warp.
pub(super) struct Data {
    lane: usize,
    lanes: usize,
    points: usize,
    data: *mut f32,
    /// Null if there are none.
    weights: *mut f32,
    own_weights: bool,
    /// The address of the first variable, and the bytes to the next.
    variables: u64,
    step: u32,
}

/// The marks of a model of so many parameters, whose numbers are of the type `N`.
pub(super) trait Marks<N, const P: usize> {
    /// The parameters that are eliminated, a bit for each.
    fn eliminated() -> u32;
    /// Takes parameters, and the bytes from one variable to the next.
    fn prepare(parameters: [N; P], step: u32);
    /// The derivatives at the point whose first variable lies at an address.
    fn point(place: u64) -> [N; P];
    /// The value at the same point.
    fn value() -> N;
    /// The factors that derivatives come without.
    fn scales() -> [N; P];
}

/// Threads of a warp.
const WARP: u32 = 32;

impl Data {
    /// Whether this thread writes what is found.
    #[inline(always)]
    pub(super) fn is_first(&self) -> bool {
        self.lane == 0
    }

    /// Writes a row of numbers of this thread's data set, whose rows lie one after the other. Where each thread of the warp has
    /// a data set, and has no more to do with it, they exchange rows, so that threads beside each other write numbers beside each other.
    ///
    /// # Safety
    /// There is room for rows of `count` data sets, of which `number` is this one; all threads of the warp that have a data set come here.
    #[inline(always)]
    pub(super) unsafe fn write_row<const P: usize>(
        &self,
        job: &CurveJob,
        number: usize,
        to: *mut f32,
        row: &[DeviceF32; P],
    ) {
        let (thread, _, _) = device::place();
        let lane = (thread % WARP) as usize;
        let first = number.wrapping_sub(lane);
        let whole = first.wrapping_add(WARP as usize) <= job.count as usize;
        let own = to.wrapping_add(number * P);
        // SAFETY: the caller's promise. Of shared memory a warp uses that of its own data sets, where there are at least P
        // numbers of each, after all of its threads have come here.
        unsafe {
            if self.lanes > 1 {
                if self.is_first() {
                    for j in 0..P {
                        own.add(j).write(row[j].0);
                    }
                }
            } else if whole && P <= job.stride() {
                let room = self.data.wrapping_sub(lane * job.stride());
                device::synchronize(u32::MAX);
                for j in 0..P {
                    room.add(lane * P + j).write(row[j].0);
                }
                device::synchronize(u32::MAX);
                let to = to.wrapping_add(first * P);
                for j in 0..P {
                    let at = j * WARP as usize + lane;
                    to.add(at).write(room.add(at).read());
                }
            } else {
                for j in 0..P {
                    own.add(j).write(row[j].0);
                }
            }
        }
    }

    /// The value of a variable at a point.
    ///
    /// # Safety
    /// There are such a variable and such a point.
    #[inline(always)]
    pub(super) unsafe fn variable(&self, number: u64, point: usize) -> f32 {
        let place = self.variables + number * u64::from(self.step) + 4 * point as u64;
        // SAFETY: the caller's promise.
        unsafe { (place as *const f32).read() }
    }

    /// This thread's data set, and its number; `None` if there is no such data set.
    ///
    /// # Safety
    /// The job is as docs/gpu-safety.md asks; all threads of the block come here.
    #[inline(always)]
    pub(super) unsafe fn new(job: &CurveJob) -> Option<(Self, usize)> {
        let (thread, block, threads) = device::place();
        let (points, lanes) = (job.points as usize, job.lanes.max(1) as usize);
        let own_weights = job.own_weights != 0;
        let before_variables = if own_weights { 2 * points } else { points };
        let variables = job.own_variables as usize;
        let [starts, lower, upper] = own_begin(job);
        let own = job.start_step > 0;
        let first = own.then(|| Part::new(job, job.starts, job.start_step as usize, starts, false));
        // Across the bus a word takes a microsecond, so that those of start values are asked for before those of data have come.
        // SAFETY: the caller's promise.
        let first = first.map(|first| (unsafe { first.read() }, first));
        let mut part = 0;
        // A loop that is not unrolled keeps the text short.
        while part < device::anew(5) {
            let (from, length, to) = match part {
                0 => (job.data, points, 0),
                1 => (job.weights, if own_weights { points } else { 0 }, points),
                2 => (job.variables, variables * points, before_variables),
                3 => (job.lower, job.limit_step as usize, lower),
                _ => (job.upper, job.limit_step as usize, upper),
            };
            let halves = part == 0 && job.halves != 0;
            if length > 0 {
                // SAFETY: the caller's promise.
                unsafe { Part::new(job, from, length, to, halves).copy() }
            }
            part += 1;
        }
        if let Some((early, mut first)) = first {
            // SAFETY: the caller's promise.
            unsafe {
                first.put(&early);
                first.copy();
            }
        }
        device::wait_for(1, threads);
        let number = (block as usize * threads as usize + thread as usize) / lanes;
        // All threads of a fit leave together.
        if number >= job.count as usize {
            return None;
        }
        let lane = thread as usize % lanes;
        // SAFETY: the launch gives the block shared memory for all of its fits (docs/gpu-safety.md).
        let data = unsafe { device::shared_memory().add(thread as usize / lanes * job.stride()) };
        let weights = if own_weights { data.wrapping_add(points) } else { job.weights.cast_mut() };
        let shared = data.wrapping_add(before_variables) as u64;
        let variables = if variables > 0 { shared } else { job.variables as u64 };
        let step = 4 * job.points;
        Some((Self { lane, lanes, points, data, weights, own_weights, variables, step }, number))
    }
}

impl<const P: usize> Curve<DeviceF32, P> for Data
where
    Data: Marks<f32, P>,
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
    fn datum(&self, point: usize) -> DeviceF32 {
        // SAFETY: the point is one of the data set's, and this thread's own.
        DeviceF32(unsafe { self.data.add(point).read() })
    }
    #[inline(always)]
    fn weight(&self, point: usize) -> DeviceF32 {
        // SAFETY: there is a weight for each point if there are any.
        DeviceF32(unsafe { self.weights.add(point).read() })
    }
    #[inline(always)]
    fn prepare(&mut self, parameters: &[DeviceF32; P]) {
        <Self as Marks<f32, P>>::prepare(parameters.map(|parameter| parameter.0), self.step);
    }
    #[inline(always)]
    fn at(&self, point: usize) -> At<DeviceF32, P> {
        let by = <Self as Marks<f32, P>>::point(self.variables + 4 * point as u64).map(DeviceF32);
        At { value: DeviceF32(<Self as Marks<f32, P>>::value()), by }
    }
    #[inline(always)]
    fn scales(&self) -> [DeviceF32; P] {
        <Self as Marks<f32, P>>::scales().map(DeviceF32)
    }
    #[inline(always)]
    fn sum(&self, mut value: DeviceF32) -> DeviceF32 {
        if self.lanes > 1 {
            for step in [16, 8, 4, 2, 1] {
                value.0 += device::shuffle_xor(value.0, step, u32::MAX);
            }
        }
        value
    }
    #[inline(always)]
    fn sum_each(&self, mut values: [DeviceF32; TOGETHER]) -> [DeviceF32; TOGETHER] {
        if self.lanes == 1 {
            return values;
        }
        // Each thread adds half of them, a quarter and one, in the order of `sum`; then it has the sum of one of them over a part of
        // the warp, and gets the others in the same way back.
        let has = |step: usize| self.lane & step != 0;
        for (step, half) in [(16, 4), (8, 2), (4, 1)] {
            for i in 0..half {
                let (low, high) = (values[i], values[i + half]);
                let (kept, given) = if has(step) { (high, low) } else { (low, high) };
                values[i].0 = kept.0 + device::shuffle_xor(given.0, step as u32, u32::MAX);
            }
        }
        for step in [2, 1] {
            values[0].0 += device::shuffle_xor(values[0].0, step, u32::MAX);
        }
        for (step, half) in [(4, 1), (8, 2), (16, 4)] {
            for i in 0..half {
                let own = values[i];
                let other = DeviceF32(device::shuffle_xor(own.0, step as u32, u32::MAX));
                (values[i], values[i + half]) = if has(step) { (other, own) } else { (own, other) };
            }
        }
        values
    }
}

impl<const P: usize> OwnCurve<DeviceF32, P> for Data
where
    Data: Marks<f32, P>,
{
    #[inline(always)]
    fn set_datum(&mut self, point: usize, value: DeviceF32) {
        // SAFETY: as above.
        unsafe { self.data.add(point).write(value.0) }
    }
    #[inline(always)]
    fn weighted(&self) -> [bool; 2] {
        [!self.weights.is_null(), self.own_weights]
    }
    #[inline(always)]
    fn set_weight(&mut self, point: usize, value: DeviceF32) {
        // SAFETY: only own weights are replaced, which lie in shared memory.
        unsafe { self.weights.add(point).write(value.0) }
    }
    #[inline(always)]
    fn eliminated(&self) -> u32 {
        <Self as Marks<f32, P>>::eliminated()
    }
    #[inline(always)]
    fn most(&self, mut value: DeviceF32) -> DeviceF32 {
        if self.lanes > 1 {
            for step in [16, 8, 4, 2, 1] {
                value.0 = value.0.max(device::shuffle_xor(value.0, step, u32::MAX));
            }
        }
        value
    }
}

macro_rules! marks {
    ($data:ty, $type:ident $class:ident, $parameters:literal, $($name:ident $number:literal),+) => {
        impl Marks<$type, $parameters> for $data {
            #[inline(always)]
            fn eliminated() -> u32 {
                let eliminated: u32;
                // SAFETY: what the host puts here writes this register.
                unsafe {
                    asm!("//@eliminated {eliminated}", eliminated = lateout(reg32) eliminated,
                        options(nostack, preserves_flags));
                }
                eliminated
            }
            #[inline(always)]
            fn prepare(parameters: [$type; $parameters], step: u32) {
                // SAFETY: what the host puts here reads these registers, and writes its own.
                unsafe {
                    asm!(concat!("//@prepare {step}", $(" {", stringify!($name), "}"),+),
                        step = in(reg32) step, $($name = in($class) parameters[$number],)+
                        options(nostack, preserves_flags));
                }
            }
            #[inline(always)]
            fn point(place: u64) -> [$type; $parameters] {
                $(let $name: $type;)+
                // SAFETY: what the host puts here reads the variables of the point, and writes these registers.
                unsafe {
                    asm!(concat!("//@point {place}", $(" {", stringify!($name), "}"),+),
                        place = in(reg64) place, $($name = lateout($class) $name,)+
                        options(nostack, preserves_flags));
                }
                [$($name),+]
            }
            #[inline(always)]
            fn value() -> $type {
                let value: $type;
                // SAFETY: what the host puts here writes this register.
                unsafe {
                    asm!("//@value {value}", value = lateout($class) value,
                        options(nostack, preserves_flags));
                }
                value
            }
            #[inline(always)]
            fn scales() -> [$type; $parameters] {
                $(let $name: $type;)+
                // SAFETY: what the host puts here writes these registers.
                unsafe {
                    asm!(concat!("//@scales", $(" {", stringify!($name), "}"),+),
                        $($name = lateout($class) $name,)+
                        options(nostack, preserves_flags));
                }
                [$($name),+]
            }
        }
    };
}
/// The marks of models of up to ten parameters.
macro_rules! all_marks {
    ($data:ty, $type:ident $class:ident) => {
        marks!($data, $type $class, 1, a 0);
        marks!($data, $type $class, 2, a 0, b 1);
        marks!($data, $type $class, 3, a 0, b 1, c 2);
        marks!($data, $type $class, 4, a 0, b 1, c 2, d 3);
        marks!($data, $type $class, 5, a 0, b 1, c 2, d 3, e 4);
        marks!($data, $type $class, 6, a 0, b 1, c 2, d 3, e 4, f 5);
        marks!($data, $type $class, 7, a 0, b 1, c 2, d 3, e 4, f 5, g 6);
        marks!($data, $type $class, 8, a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7);
        marks!($data, $type $class, 9, a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7, i 8);
        marks!($data, $type $class, 10, a 0, b 1, c 2, d 3, e 4, f 5, g 6, h 7, i 8, j 9);
    };
}
pub(super) use {all_marks, marks};
all_marks!(Data, f32 reg32);

/// Where a fit's own start values and limits lie behind its rows in shared memory.
#[inline(always)]
fn own_begin(job: &CurveJob) -> [usize; 3] {
    let starts = job.rows() * job.points as usize;
    let lower = starts + job.start_step as usize;
    [starts, lower, lower + job.limit_step as usize]
}

/// Where the search of a data set begins.
///
/// # Safety
/// There are start values and limits, for each fit in shared memory if they have their own.
#[inline(always)]
pub(super) unsafe fn begin<const P: usize>(job: &CurveJob, data: &Data) -> Begin<DeviceF32, P> {
    let [starts, lower, upper] = own_begin(job);
    let of = |step: u32, all: *const f32, own: usize| {
        if step == 0 { all } else { data.data.cast_const().wrapping_add(own) }
    };
    // SAFETY: the caller's promise.
    unsafe {
        Begin {
            initial: read(of(job.start_step, job.starts, starts)),
            lower: read(of(job.limit_step, job.lower, lower)),
            upper: read(of(job.limit_step, job.upper, upper)),
        }
    }
}

/// Reads P numbers.
///
/// # Safety
/// They are there.
#[inline(always)]
unsafe fn read<const P: usize>(from: *const f32) -> [DeviceF32; P] {
    let mut all = [DeviceF32(0.0); P];
    for j in 0..P {
        // SAFETY: the caller's promise.
        all[j] = DeviceF32(unsafe { from.add(j).read() });
    }
    all
}

/// # Safety
/// The job is as docs/gpu-safety.md asks.
#[inline(always)]
pub(super) unsafe fn fit<const P: usize, const METHOD: u8>(job: &CurveJob)
where
    Data: Marks<f32, P>,
{
    // SAFETY: the caller's promise; the number is below the count.
    unsafe {
        let Some((mut data, number)) = Data::new(job) else { return };
        let begin = begin(job, &data);
        let found = search::<_, _, P, METHOD>(&mut data, job, &begin);
        write(job, &data, number, &found);
    }
}

/// # Safety
/// There is room for what was found of `count` data sets, and `number` is below that.
#[inline(always)]
pub(super) unsafe fn write<const P: usize>(
    job: &CurveJob,
    data: &Data,
    number: usize,
    found: &CurveOutcome<DeviceF32, P>,
) {
    let CurveOutcome { parameters, errors, others, covariance } = found;
    let count = job.count as usize;
    // SAFETY: the caller's promise, and one thread writes each number.
    unsafe {
        data.write_row(job, number, job.found, parameters);
        data.write_row(job, number, job.found.add(count * P), errors);
        if !data.is_first() {
            return;
        }
        let mut to = job.found.add(2 * count * P + number);
        for i in 0..CurveJob::OTHERS {
            to.write(others[i].0);
            to = to.add(count);
        }
        if job.covariance != 0 {
            to = job.found.add((2 * P + CurveJob::OTHERS) * count + number * (P * (P + 1) / 2));
            for j in 0..P {
                for k in 0..P {
                    if k >= j {
                        to.write(covariance.0[j][k].0);
                        to = to.add(1);
                    }
                }
            }
        }
    }
}
