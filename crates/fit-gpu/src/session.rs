use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use fit_core::{ArgumentError, Fit, Options, Outcomes, Pixel, Shape, Size, Start};
use fit_gpu_kernel::{Job, PixelKind, Task};
use fit_windows::{AnyWindows, NoteKind, Windows};
use ndarray::ArrayView3;

use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Choice, Launch};
use crate::driver::{HostMemory, Stream};
use crate::pipeline::{Part, Pipeline, Work};
use crate::pixels::{gather, gather_starts, kind_of};

/// Up to this many bytes of pixels the kernel reads directly across the bus; more go the way of batches.
const MAPPED: usize = 48 << 10;

/// What stands where the device has not written yet: no number of an outcome has these bits.
const NOTHING: u32 = u32::MAX;

/// Fits a limited number of windows of one size again and again, with the shortest delay. Up to 48 KiB of pixels the device reads, and
/// their outcomes it writes, directly across the bus, several threads share each fit, and memory is there from the beginning; more are
/// fitted as [`Gpu::fit_into`](crate::Gpu::fit_into) does, in memory that stays from the first of them on.
pub struct GpuSession {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    size: Size,
    most: usize,
    launch: Launch,
    pixels: HostMemory,
    starts: HostMemory,
    fits: HostMemory,
    options: Options,
    /// What fits more than a few.
    pipeline: Pipeline,
    card: Arc<Card>,
}

shown!(GpuSession, own => "GpuSession {{ up to {} windows of {}×{} }}", own.most, own.size.width, own.size.height);

impl GpuSession {
    /// A session on the device with this number, for up to `most` windows of `size` at a time.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(
        device: usize,
        size: Size,
        most: usize,
        options: &Options,
    ) -> Result<Self, GpuError> {
        // What makes no sense is an error where there is no GPU, too.
        Task::of(size, options, false)?;
        window_count(most)?;
        // With pixels of one byte there are the most windows.
        let few = most.min(MAPPED / size.pixels().max(1));
        let pixels = Bytes::of_windows(few, size, PixelKind::F32)?;
        let starts = Bytes::of::<[f32; 5]>(few)?;
        let fits = Bytes::of::<Fit<f32>>(few)?;
        let card = Card::get(device)?;
        let _context = card.context.enter()?;
        let host = |bytes| HostMemory::new(&card.context, bytes);
        let choice = Choice::new(options, size, few, NoteKind::None);
        Ok(Self {
            size,
            most,
            launch: card.launch(&choice)?,
            pixels: host(pixels)?,
            starts: host(starts)?,
            fits: host(fits)?,
            stream: Stream::new(&card.context)?,
            options: *options,
            pipeline: Pipeline::new(device)?,
            card,
        })
    }

    /// Whether nothing is on its way.
    ///
    /// # Errors
    /// [`GpuError`] if the device failed.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn is_done(&self) -> Result<bool, GpuError> {
        Ok(self.stream.is_done()? && self.pipeline.is_done()?)
    }

    /// Fits every window of a stack (n, height, width), where n is at most the number the session was made for.
    ///
    /// # Errors
    /// [`GpuError::Argument`] if the windows are of another size or too many, or the number of start values
    /// or of outcomes is wrong; then `fits` is unchanged.
    pub fn fit_into<P: Pixel>(
        &mut self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<f32>],
    ) -> Result<(), GpuError> {
        self.fit_windows(&Windows::stack(spots).into(), start, fits)
    }

    fn fit_windows(
        &mut self,
        windows: &AnyWindows<'_>,
        start: Start<'_>,
        fits: &mut [Fit<f32>],
    ) -> Result<(), GpuError> {
        let (count, size, kind) = (windows.count(), windows.size(), kind_of(windows));
        if size != self.size {
            let pixels = size.pixels();
            return Err(ArgumentError::PixelCount { size: self.size, pixels }.into());
        }
        start.validate_batch(count, fits.len())?;
        if matches!(self.options.shape, Shape::GivenSigma(_)) && start == Start::Estimate {
            return Err(ArgumentError::StartCount { spots: count, given: 0 }.into());
        }
        if count > self.most {
            let error = ArgumentError::OutputCount { spots: count, given: self.most };
            return Err(error.into());
        }
        let bytes = Bytes::of_windows(count, size, kind)?.get();
        if bytes > MAPPED {
            let (options, windows, range) = (&self.options, *windows, 0..count);
            let part = Part { options, family: None, windows, range, side: None, sent: None };
            return self.pipeline.run(&part, &mut Work::Fit(start, Outcomes::F32(fits)));
        }
        let _context = self.card.context.enter()?;
        let landing = self.stream.landing();
        // SAFETY: the device is not at work; any bytes are bytes.
        let to = unsafe { self.pixels.values::<u8>(bytes) };
        gather(windows, 0, to);
        let mut job = Job {
            pixels: self.pixels.device_address::<u8>().cast_const().cast(),
            fits: self.fits.device_address(),
            count: window_count(count)?,
            ..self.launch.job(kind)
        };
        if start != Start::Estimate {
            // SAFETY: the device is not at work.
            unsafe {
                if self.launch.outlines {
                    job.outlines = self.starts.fill(count, |to| gather_starts(start, 0..count, to));
                } else {
                    job.starts = self.starts.fill(count, |to| gather_starts(start, 0..count, to));
                }
            }
        }
        let words = count * size_of::<Fit<f32>>() / size_of::<u32>();
        // SAFETY: there is room for so many, the device is not at work, and atomic words are words.
        let words = unsafe { std::slice::from_raw_parts(self.fits.pointer::<AtomicU32>(), words) };
        words.iter().for_each(|word| word.store(NOTHING, Ordering::Relaxed));
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows, which stays as it is until the
        // kernel has written all outcomes.
        unsafe { self.launch.run(&self.stream, &job)? };
        self.watch(words)?;
        landing.done();
        // SAFETY: the kernel has written that many outcomes as the same type, and writes no more.
        let from = unsafe { std::slice::from_raw_parts(self.fits.pointer::<Fit<f32>>(), count) };
        fits.copy_from_slice(from);
        Ok(())
    }

    /// Waits until a kernel has written all words, which is sooner than that the driver knows of its end.
    fn watch(&self, words: &[AtomicU32]) -> Result<(), GpuError> {
        let mut spins = 0u32;
        for word in words {
            while word.load(Ordering::Relaxed) == NOTHING {
                spins = spins.wrapping_add(1);
                // A fault must end the wait, and a word might come out as the one for nothing.
                if spins.is_multiple_of(1 << 12) && self.stream.is_done()? {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
        }
        fence(Ordering::Acquire);
        Ok(())
    }
}
