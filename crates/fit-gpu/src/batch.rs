use std::panic::resume_unwind;
use std::sync::Mutex;

use fit_core::{Errors, Fits, Options, Outcomes, Start};
use fit_gpu_kernel::Family;
use fit_windows::AnyWindows;
use rayon::prelude::*;

use crate::GpuError;
use crate::devices::{DeviceInfo, on_each};
use crate::frames::SentFrames;
use crate::pinned::{Pinnable, PinnedBuffer};
use crate::pipeline::{Part, Pipeline, Work};
use crate::pool::lock;
use crate::side_data::SideInputs;

/// A batch is spread over several devices if each of them gets as many windows as this.
const SPLIT: usize = 10_000;

/// Fits batches of windows from host memory, on one device or several.
///
/// A batch is cut into chunks; three are in flight at any time, so that copies in, fits and copies out
/// overlap. The device reads and writes pinned memory ([`crate::PinnedBuffer`]) directly; other memory, and
/// pixels that are not f32, u16 or u8, go through pinned memory of this object. A batch allocates nothing if
/// an earlier one was as large.
pub struct Gpu {
    pipelines: Vec<Mutex<Pipeline>>,
    family: Option<Family>,
}

shown!(Gpu, gpu => "Gpu {{ {} devices }}", gpu.pipelines.len());

impl Gpu {
    /// A fitter on the devices with these numbers, counted from 0. Give each number only once.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver or no such device.
    pub fn new(devices: &[usize]) -> Result<Self, GpuError> {
        Self::with(devices, None)
    }

    /// [`Gpu::new`] with the kernels of one family instead of the fastest, to compare kernels. Fitting then fails for
    /// windows that the family does not take, and without start values if the family does not estimate them.
    ///
    /// # Errors
    /// [`GpuError`] if there is no driver or no such device.
    pub fn with_family(devices: &[usize], family: Family) -> Result<Self, GpuError> {
        Self::with(devices, Some(family))
    }

    fn with(devices: &[usize], family: Option<Family>) -> Result<Self, GpuError> {
        let pipelines = on_each(devices, |number| Pipeline::new(number).map(Mutex::new))?;
        Ok(Self { pipelines, family })
    }

    /// Whether nothing is on its way.
    ///
    /// # Errors
    /// [`GpuError`] if a device failed.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn is_done(&self) -> Result<bool, GpuError> {
        self.pipelines.iter().try_fold(true, |done, of| Ok(done & lock(of).is_done()?))
    }

    /// The devices in use.
    pub fn devices(&self) -> Vec<DeviceInfo> {
        let info = |pipeline: &Mutex<Pipeline>| lock(pipeline).card.info.clone();
        self.pipelines.iter().map(info).collect()
    }

    /// A value so many times, in memory to which all threads have written: pages that are new take long.
    pub fn filled<T: Copy + Send + Sync>(&self, value: T, count: usize) -> Vec<T> {
        rayon::iter::repeat_n(value, count).collect()
    }

    /// A [`PinnedBuffer`] made by the first of the devices. All of them read it directly.
    ///
    /// # Errors
    /// As [`PinnedBuffer::new`].
    pub fn pinned<T: Pinnable>(&self, length: usize) -> Result<PinnedBuffer<T>, GpuError> {
        PinnedBuffer::on(&lock(&self.pipelines[0]).card, length)
    }

    fit_windows::__batches!(GpuError, fit_checked, errors_checked);

    fn fit_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
    ) -> Result<(), GpuError> {
        self.run(options, windows, Work::Fit(start, fits), None)
    }

    fn errors_checked(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), GpuError> {
        self.run(options, windows, Work::Errors(fits, errors), None)
    }

    /// Fits windows of frames that are on a device already, by that device. These must be the frames that were sent: they are not sent
    /// again.
    ///
    /// # Errors
    /// As [`Gpu::fit_windows`].
    pub fn fit_sent(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
        sent: &SentFrames,
    ) -> Result<(), GpuError> {
        windows.validate(options, start, fits.len())?;
        self.run(options, windows, Work::Fit(start, fits), Some(sent))
    }

    /// Runs a batch that has been validated.
    fn run(
        &self,
        options: &Options,
        windows: AnyWindows<'_>,
        mut work: Work<'_>,
        sent: Option<&SentFrames>,
    ) -> Result<(), GpuError> {
        let (count, family) = (windows.count(), self.family);
        let side = SideInputs::new(&windows, options);
        let side = side.as_ref();
        if let Some(sent) = sent {
            let mut pipelines = self.pipelines.iter().map(lock);
            if let Some(mut there) = pipelines.find(|there| there.card.info.number == sent.device())
            {
                let (range, sent) = (0..count, Some(sent));
                let part = Part { options, family, windows, range, side, sent };
                return there.run(&part, &mut work);
            }
        }
        let part = |range| Part { options, family, windows, range, side, sent: None };
        let [first, others @ ..] = &self.pipelines[..] else { return Ok(()) };
        if others.is_empty() || count < 2 * SPLIT {
            return lock(first).run(&part(0..count), &mut work);
        }
        let each = count.div_ceil(self.pipelines.len());
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            let mut done = 0;
            for pipeline in &self.pipelines {
                let next = each.min(count - done);
                let (mut these, rest) = work.split_at(next);
                work = rest;
                let part = part(done..done + next);
                done += next;
                threads.push(scope.spawn(move || lock(pipeline).run(&part, &mut these)));
            }
            // The scope waits for all of them.
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        })
    }
}
