use std::ops::Range;

use fit_core::{Corner, Fit, Outcomes, Scalar, Start};
use fit_gpu_kernel::Job;
use fit_windows::AnyWindows;
use rayon::prelude::*;

use crate::GpuError;
use crate::beside::Beside;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Launch};
use crate::driver::{DeviceMemory, Event, HostMemory, Stream, seen_by_device};
use crate::pipeline::Part;
use crate::pixels::{gather, gather_outlines, gather_starts, kind_of, slice};

/// Up to this many start values are read, and outcomes written, directly across the bus: that saves starting a
/// copy.
const DIRECT: usize = 4096;

/// A chunk on its way, one after the other: a stream, and memory on both sides.
pub(crate) struct Slot {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    pixels: DeviceMemory,
    starts: DeviceMemory,
    corners: DeviceMemory,
    weights: DeviceMemory,
    fits: DeviceMemory,
    host_pixels: HostMemory,
    host_starts: HostMemory,
    host_fits: HostMemory,
    /// The windows of the chunk whose outcomes lie in `host_fits`.
    waiting: Option<Range<usize>>,
}

/// Which parts of the caller's memory the device can access directly.
pub(crate) struct Reach {
    pixels: bool,
    /// Where the device sees the start values.
    starts: Option<*const [f32; 3]>,
    /// Where the device sees the room for outcomes.
    fits: Option<*mut Fit<f32>>,
}

impl Reach {
    pub(crate) fn new(card: &Card, part: &Part<'_, '_>, fits: &Outcomes<'_>) -> Self {
        let context = &card.context;
        let pixels = slice(&part.windows, part.range.clone());
        Self {
            pixels: pixels.is_some_and(|slice| seen_by_device(context, slice.as_ptr()).is_some()),
            starts: match part.start {
                Start::F32(starts) => seen_by_device(context, starts.as_ptr()),
                _ => None,
            },
            fits: match fits {
                // Kernels write outcomes of this type.
                Outcomes::F32(fits) => {
                    seen_by_device(context, fits.as_ptr()).map(<*const Fit<f32>>::cast_mut)
                }
                Outcomes::F64(_) => None,
            },
        }
    }
}

impl Slot {
    pub(crate) fn new(card: &Card) -> Result<Self, GpuError> {
        let memory = || DeviceMemory::new(&card.context, Bytes::NONE);
        let host = || HostMemory::new(&card.context, Bytes::NONE);
        Ok(Self {
            stream: Stream::new(&card.context)?,
            pixels: memory()?,
            starts: memory()?,
            corners: memory()?,
            weights: memory()?,
            fits: memory()?,
            host_pixels: host()?,
            host_starts: host()?,
            host_fits: host()?,
            waiting: None,
        })
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Lets what is sent from now on wait for an event.
    pub(crate) fn wait_for(&self, event: &Event) -> Result<(), GpuError> {
        self.stream.wait_for(event)
    }

    /// Waits for the chunk on its way, and hands its outcomes on.
    pub(crate) fn finish(&mut self, first: usize, fits: &mut Outcomes<'_>) -> Result<(), GpuError> {
        self.stream.wait()?;
        if let Some(range) = self.waiting.take() {
            // SAFETY: the stream has got past the copy of that many outcomes, written by the kernel as the
            // same type.
            let from: &[Fit<f32>] = unsafe { self.host_fits.values(range.len()) };
            let to = range.start - first..range.end - first;
            match fits {
                Outcomes::F32(fits) => hand_on(from, &mut fits[to]),
                Outcomes::F64(fits) => hand_on(from, &mut fits[to]),
            }
        }
        Ok(())
    }

    /// Waits for the chunk on its way, and forgets its outcomes.
    pub(crate) fn abandon(&mut self) {
        // An error has been reported by the call that met it, or will be by the next.
        let _ = self.stream.wait();
        self.waiting = None;
    }

    // SAFETY, for all copies of `send`: what they read and write is memory of the slot, which nobody uses before
    // `finish` has waited, or of the caller, which stays as it is until the batch ends, and `Flight` waits
    // before that.

    /// Sends a chunk on its way: in, through the kernel, and out. The job says where the frames are, if they are on
    /// the device.
    pub(crate) fn send(
        &mut self,
        part: &Part<'_, '_>,
        these: Range<usize>,
        mut job: Job,
        launch: &Launch,
        reach: &Reach,
        fits: &mut Outcomes<'_>,
    ) -> Result<(), GpuError> {
        job.count = window_count(these.len())?;
        let on_device = job.frame_width > 0;
        if let Some(corners) = part.windows.places().filter(|_| on_device || part.beside.is_some())
        {
            self.corners.reserve(Bytes::of::<Corner>(these.len())?)?;
            // SAFETY: see above.
            unsafe { self.stream.copy_in(&self.corners, &corners[these.clone()])? };
            job.places = self.corners.address();
        }
        if on_device {
            job.corners = job.places;
        } else {
            self.send_pixels(&part.windows, these.clone(), &mut job, reach)?;
        }
        if let Some(weights) = part.beside.and_then(Beside::of_windows) {
            let pixels = part.windows.size().pixels();
            let weights = &weights[these.start * pixels..these.end * pixels];
            self.weights.reserve(Bytes::of::<f32>(weights.len())?)?;
            // SAFETY: see above.
            unsafe { self.stream.copy_in(&self.weights, weights)? };
            job.weights = self.weights.address();
        }
        if launch.takes_outlines() {
            self.send_outlines(part.start, these.clone(), &mut job)?;
        } else {
            self.send_starts(part.start, these.clone(), &mut job, reach)?;
        }

        let out = these.start - part.range.start..these.end - part.range.start;
        if let Some(there) = reach.fits.filter(|_| out.len() <= DIRECT) {
            // SAFETY: `fits` has room for all of the part.
            job.fits = unsafe { there.add(out.start) };
            // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and outcomes, and corners were
            // validated; nobody looks at the outcomes before `Flight` has waited.
            return unsafe { launch.run(&self.stream, &job) };
        }
        let bytes = Bytes::of::<Fit<f32>>(out.len())?;
        self.fits.reserve(bytes)?;
        job.fits = self.fits.address();
        // SAFETY: docs/gpu-safety.md: all memory has been reserved for `count` windows, and corners were
        // validated.
        unsafe { launch.run(&self.stream, &job)? };
        if let (Some(_), Outcomes::F32(fits)) = (reach.fits, fits) {
            let to = std::ptr::from_mut(&mut fits[out]);
            // SAFETY: see above; the kernel writes every outcome.
            unsafe { self.stream.copy_out(to, &self.fits)? };
        } else {
            self.host_fits.reserve(bytes)?;
            let to = self.host_fits.pointer::<Fit<f32>>();
            let to = std::ptr::slice_from_raw_parts_mut(to, these.len());
            // SAFETY: see above; the kernel writes every outcome.
            unsafe { self.stream.copy_out(to, &self.fits)? };
            self.waiting = Some(these);
        }
        Ok(())
    }

    /// Sends the pixels of a chunk, window after window.
    fn send_pixels(
        &mut self,
        windows: &AnyWindows<'_>,
        these: Range<usize>,
        job: &mut Job,
        reach: &Reach,
    ) -> Result<(), GpuError> {
        let bytes = Bytes::of_windows(these.len(), windows.size(), kind_of(windows))?;
        self.pixels.reserve(bytes)?;
        job.pixels = self.pixels.address::<u8>().cast_const().cast();
        match slice(windows, these.clone()).filter(|_| reach.pixels) {
            // SAFETY: see `send`.
            Some(slice) => unsafe { self.stream.copy_in(&self.pixels, slice) },
            None => {
                self.host_pixels.reserve(bytes)?;
                // SAFETY: `finish` has waited for the device; any bytes are bytes.
                let to = unsafe { self.host_pixels.values::<u8>(bytes.get()) };
                gather(windows, these.start, to);
                // SAFETY: see `send`.
                unsafe { self.stream.copy_in(&self.pixels, to) }
            }
        }
    }

    /// Sends the start values of a chunk with two widths, if there are any.
    fn send_outlines(
        &mut self,
        start: Start<'_>,
        these: Range<usize>,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        if start == Start::Estimate {
            return Ok(());
        }
        let bytes = Bytes::of::<[f32; 5]>(these.len())?;
        self.starts.reserve(bytes)?;
        self.host_starts.reserve(bytes)?;
        // SAFETY: `finish` has waited for the device; zeros and earlier ones are start values.
        let to = unsafe { self.host_starts.values::<[f32; 5]>(these.len()) };
        gather_outlines(start, these, to);
        // SAFETY: see `send`.
        unsafe { self.stream.copy_in(&self.starts, to)? };
        job.outlines = self.starts.address();
        Ok(())
    }

    /// Sends the start values of a chunk, if there are any.
    fn send_starts(
        &mut self,
        start: Start<'_>,
        these: Range<usize>,
        job: &mut Job,
        reach: &Reach,
    ) -> Result<(), GpuError> {
        let count = these.len();
        match (start, reach.starts) {
            (Start::Estimate, _) => {}
            // A few the kernel reads across the bus by itself.
            (Start::F32(_), Some(there)) if count <= DIRECT => {
                // SAFETY: there is a start for each window of the batch.
                job.starts = unsafe { there.add(these.start) };
            }
            (Start::F32(starts), Some(_)) => {
                self.starts.reserve(Bytes::of::<[f32; 3]>(count)?)?;
                // SAFETY: see `send`.
                unsafe { self.stream.copy_in(&self.starts, &starts[these])? };
                job.starts = self.starts.address();
            }
            (start, _) => {
                let bytes = Bytes::of::<[f32; 3]>(count)?;
                self.starts.reserve(bytes)?;
                self.host_starts.reserve(bytes)?;
                // SAFETY: `finish` has waited for the device; zeros and earlier ones are start values.
                let to = unsafe { self.host_starts.values::<[f32; 3]>(count) };
                gather_starts(start, these, to);
                // SAFETY: see `send`.
                unsafe { self.stream.copy_in(&self.starts, to)? };
                job.starts = self.starts.address();
            }
        }
        Ok(())
    }
}

/// Outcomes handed on by a task.
const HANDED: usize = 4096;

/// Writes outcomes in the precision that the caller wants.
fn hand_on<T: Scalar>(from: &[Fit<f32>], to: &mut [Fit<T>]) {
    let cast = |(to, from): (&mut [Fit<T>], &[Fit<f32>])| {
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from.cast());
    };
    // Handing so few to other threads would take longer.
    if to.len() <= HANDED {
        return cast((to, from));
    }
    to.par_chunks_mut(HANDED).zip(from.par_chunks(HANDED)).for_each(cast);
}
