use std::sync::Arc;

use fit_core::{ArgumentError, Errors, Fit, Options, Pixel, Shape, Size, Start};
use fit_gpu_kernel::{Family, Job, PixelKind};
use fit_windows::{AnyWindows, NoteKind, Windows};
use ndarray::ArrayView3;

use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Choice, Launch};
use crate::driver::{DeviceMemory, HostMemory, Mirror, Stream};
use crate::pixels::{gather, gather_starts, kind_of};

/// Windows in the memory of a device, to fit again and again, for instance with other options. The outcomes
/// stay there too; [`Resident::fetch`] copies them to the host.
pub struct Resident {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    card: Arc<Card>,
    size: Size,
    count: usize,
    kind: PixelKind,
    pixels: DeviceMemory,
    /// Start values, and the same with two widths, if there are any.
    starts: Option<(Mirror, Mirror)>,
    fits: DeviceMemory,
    /// Those of the last fits, once they were asked for.
    errors: DeviceMemory,
    fitted: bool,
}

shown!(Resident, own => "Resident {{ {} windows of {}×{} }}", own.count, own.size.width, own.size.height);

impl Resident {
    /// Copies a stack (n, height, width), and start values if given, to the device with this number.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new<P: Pixel>(
        device: usize,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
    ) -> Result<Self, GpuError> {
        let windows = &AnyWindows::from(Windows::stack(spots));
        let (count, size, kind) = (windows.count(), windows.size(), kind_of(windows));
        size.validate()?;
        start.validate(count)?;
        window_count(count)?;
        let bytes = Bytes::of_windows(count, size, kind)?;
        let card = Card::get(device)?;
        let context = &card.context;
        let _context = context.enter()?;
        let stream = Stream::new(context)?;
        let pixels = DeviceMemory::new(context, bytes)?;
        // In parts, so that little host memory is pinned.
        let window = Bytes::of_windows(1, size, kind)?.get();
        let part = ((64 << 20) / window).max(1);
        let mut host = HostMemory::new(context, Bytes::of_windows(part.min(count), size, kind)?)?;
        let mut starts = match start {
            Start::Estimate => None,
            _ => Some((Mirror::new(context)?, Mirror::new(context)?)),
        };
        // Goes before the host's memory does.
        let landing = stream.landing();
        for first in (0..count).step_by(part) {
            let these = part.min(count - first);
            // SAFETY: the stream has been waited for; any bytes are bytes.
            let to = unsafe { host.values::<u8>(these * window) };
            gather(windows, first, to);
            // SAFETY: the host's memory stays as it is until the stream has been waited for.
            unsafe { stream.copy_in(&pixels, first * window, to)? };
            stream.wait()?;
        }
        if let Some((circles, outlines)) = &mut starts {
            // SAFETY: nothing is at work with them, and they stay as they are.
            unsafe {
                circles
                    .send_filled(&stream, count, |to| gather_starts::<3>(start, 0..count, to))?;
                outlines
                    .send_filled(&stream, count, |to| gather_starts::<5>(start, 0..count, to))?;
            }
            stream.wait()?;
        }
        landing.done();
        Ok(Self {
            fits: DeviceMemory::new(context, Bytes::of::<Fit<f32>>(count)?)?,
            errors: DeviceMemory::new(context, Bytes::NONE)?,
            fitted: false,
            card,
            size,
            count,
            kind,
            pixels,
            starts,
            stream,
        })
    }

    /// Whether nothing is on its way.
    ///
    /// # Errors
    /// [`GpuError`] if the device failed.
    #[cfg(feature = "internals")]
    #[doc(hidden)]
    pub fn is_done(&self) -> Result<bool, GpuError> {
        self.stream.is_done()
    }

    /// Fits all windows. Returns the seconds that the kernel took, by the device's own clock.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fit(&mut self, options: &Options) -> Result<f64, GpuError> {
        self.run(options, None)
    }

    /// [`Resident::fit`] with the kernels of one family instead of the fastest, to compare kernels.
    ///
    /// # Errors
    /// [`GpuError`], also if the family does not take such windows, or needs start values and the device has none.
    pub fn fit_with_family(&mut self, options: &Options, family: Family) -> Result<f64, GpuError> {
        self.run(options, Some(family))
    }

    fn run(&mut self, options: &Options, family: Option<Family>) -> Result<f64, GpuError> {
        let _context = self.card.context.enter()?;
        let (size, count) = (self.size, self.count);
        let started = self.starts.is_some();
        if matches!(options.shape, Shape::GivenSigma(_)) && !started {
            return Err(ArgumentError::StartCount { spots: count, given: 0 }.into());
        }
        let choice = Choice::new(options, size, count, NoteKind::None);
        let launch = self.card.launch(&Choice { family, started, ..choice })?;
        let mut job = Job { fits: self.fits.address(), ..self.job(&launch)? };
        if let Some((circles, outlines)) = &self.starts {
            job.starts = circles.there.address();
            job.outlines = outlines.there.address();
        }
        let seconds = self.launch(&launch, &job)?;
        self.fitted = true;
        Ok(seconds)
    }

    /// A job for all windows.
    fn job(&self, launch: &Launch) -> Result<Job, GpuError> {
        let pixels = self.pixels.address::<u8>().cast_const().cast();
        Ok(Job { pixels, count: window_count(self.count)?, ..launch.job(self.kind) })
    }

    /// Launches a kernel, and returns the seconds that it took.
    fn launch(&self, launch: &Launch, job: &Job) -> Result<f64, GpuError> {
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and all that is found, which lives as long as
        // `self`, and the stream is waited for.
        self.stream.time(|| unsafe { launch.run(&self.stream, job) })
    }

    /// Finds the errors of the last fits, which were made with these options, and copies them to the host. Returns the
    /// seconds that the kernel took, by the device's own clock.
    ///
    /// # Errors
    /// [`GpuError`], also if `errors` does not have one element for each window. Before the first fit all errors are
    /// unknown.
    pub fn errors_into(
        &mut self,
        options: &Options,
        errors: &mut [Errors],
    ) -> Result<f64, GpuError> {
        let (size, count) = (self.size, self.count);
        if errors.len() != count {
            return Err(ArgumentError::OutputCount { spots: count, given: errors.len() }.into());
        }
        let choice = Choice::new(options, size, count, NoteKind::None).of_errors();
        let launch = self.card.launch(&choice)?;
        if !self.fitted {
            errors.fill(Errors::unknown());
            return Ok(0.0);
        }
        let _context = self.card.context.enter()?;
        self.errors.reserve(Bytes::of::<Errors>(count)?)?;
        let (fits, errors_there) = (self.fits.address(), self.errors.address::<Errors>());
        let job = Job { fits, errors: errors_there, ..self.job(&launch)? };
        let seconds = self.launch(&launch, &job)?;
        // SAFETY: the kernel has written the errors of every fit.
        unsafe { self.stream.fetch(errors, errors_there)? };
        Ok(seconds)
    }

    /// Fetches the outcomes of the last fit, one for each window.
    ///
    /// # Errors
    /// [`GpuError`]. Before the first fit all outcomes are invalid.
    pub fn fetch(&self, fits: &mut [Fit<f32>]) -> Result<(), GpuError> {
        if fits.len() != self.count {
            let error = ArgumentError::OutputCount { spots: self.count, given: fits.len() };
            return Err(error.into());
        }
        if !self.fitted {
            fits.fill(Fit::invalid());
            return Ok(());
        }
        let _context = self.card.context.enter()?;
        // SAFETY: the kernel has written every outcome.
        unsafe { self.stream.fetch(fits, self.fits.address()) }
    }
}
