use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use fit_core::{ArgumentError, Errors, Estimator, Fit, Options, Start};
use fit_gpu_kernel::{Job, PixelKind};
use fit_windows::{AnyWindows, NoteKind};

use crate::GpuError;
use crate::bytes::{Bytes, window_count};
use crate::card::{Card, Choice};
use crate::driver::{self, ContextGuard, DeviceMemory, Event, Stream};
use crate::inputs::Inputs;
use crate::lent::{Lent, Spare};
use crate::pixels::kind_of;
use crate::pool::lock;
use crate::side_data::SideInputs;

/// The number of the device in whose memory an address lies; `None` for the host's, pinned or not, and for what is no memory.
///
/// # Errors
/// [`GpuError`] if there is no driver.
pub fn device_of(address: *const c_void) -> Result<Option<usize>, GpuError> {
    driver::start()?;
    Ok(driver::device_of(address))
}

/// Windows in memory of a device that belongs to someone else: a tensor of PyTorch, for instance.
#[derive(Clone, Copy, Debug)]
pub struct DeviceWindows<'a> {
    /// Shapes, the type of the pixels and all that is known beside them. The pixels of these views are never looked at: one of
    /// strides 0 over a single pixel will do ([`AnyWindows::F32`], `U16` or `U8`).
    pub shapes: AnyWindows<'a>,
    /// The device's address of the windows, or of the frames that they are cut from, in C order.
    pub pixels: *const c_void,
    /// The device's address of weights (n, height, width) in C order, or null. Nobody looks at them before: pixels whose weight is
    /// not above 0 are masked, and all must be finite. Then the shapes have none.
    pub weights: *const f32,
    /// Where fits start.
    pub start: DeviceStart<'a>,
}

/// Where fits start whose windows are on a device.
#[derive(Clone, Copy, Debug)]
pub enum DeviceStart<'a> {
    /// The values are in the host's memory, or there are none.
    Host(Start<'a>),
    /// The device's address of x, y, σ for each window.
    Circles(*const [f32; 3]),
    /// The device's address of x, y, σx, σy and the angle for each window.
    Outlines(*const [f32; 5]),
}

/// Fits windows where they lie in the memory of a device; outcomes stay there too.
pub struct InPlace {
    card: Arc<Card>,
    desk: Mutex<Desk>,
    /// The driver's handle of the desk's stream, for those who do not want to wait for a fit.
    stream: usize,
    spare: Arc<Spare>,
}

shown!(InPlace, own => "InPlace {{ {} }}", own.card.info.name);

/// What one fit after the other uses.
struct Desk {
    // First, for fields go in this order: it waits for what is in it before the memory goes.
    stream: Stream,
    before: Event,
    inputs: Inputs,
    planes: DeviceMemory,
}

impl InPlace {
    /// A fitter on the device with this number.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn new(device: usize) -> Result<Self, GpuError> {
        let card = Card::get(device)?;
        let _context = card.context.enter()?;
        let desk = Desk {
            stream: Stream::new(&card.context)?,
            before: Event::new(&card.context)?,
            inputs: Inputs::new(&card.context)?,
            planes: DeviceMemory::new(&card.context, Bytes::NONE)?,
        };
        let stream = desk.stream.raw() as usize;
        let spare = Arc::new(Spare::new(&card.context)?);
        Ok(Self { desk: Mutex::new(desk), stream, spare, card: Arc::clone(&card) })
    }

    /// The stream in which fits are done, a `CUstream` of the device's primary context. What someone else puts into it now comes
    /// before the next fit.
    pub fn stream(&self) -> *mut c_void {
        self.stream as *mut c_void
    }

    /// Makes the device that of the calling thread for CUDA's libraries, for as long as the answer is kept.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn enter(&self) -> Result<ContextGuard, GpuError> {
        self.card.context.enter()
    }

    /// Lets fits from now on wait for all that is in this stream, a `CUstream` of the device's primary context; null is the default
    /// stream.
    ///
    /// # Errors
    /// [`GpuError`].
    ///
    /// # Safety
    /// The stream exists.
    pub unsafe fn wait_for(&self, stream: *mut c_void) -> Result<(), GpuError> {
        let _context = self.card.context.enter()?;
        let desk = lock(&self.desk);
        // SAFETY: the caller's promise.
        unsafe { desk.before.record_in(stream)? };
        desk.stream.wait_for(&desk.before)
    }

    /// Fits all windows, finds the errors of the fits if they are wanted, and waits for both, but for no other stream's work.
    ///
    /// # Errors
    /// [`GpuError`], also for types of pixels that kernels do not read: [`GpuError::PixelType`]; and for weights at both places:
    /// [`GpuError::WeightsTwice`].
    ///
    /// # Safety
    /// The addresses are those of this device, with as many numbers as the shapes say, aligned to their types; nobody writes there meanwhile
    /// but what is in the stream already.
    pub unsafe fn fit(
        &self,
        options: &Options,
        windows: &DeviceWindows<'_>,
        with_errors: bool,
    ) -> Result<DeviceFits, GpuError> {
        let context = &self.card.context;
        let _context = context.enter()?;
        let kind = windows.check(options)?;
        let DeviceWindows { shapes: windows, pixels, weights, start } = *windows;
        let (size, count) = (windows.size(), windows.count());
        // Those of the host are uploaded with what is known.
        let side = SideInputs::new(&windows, options);
        let weighs = !weights.is_null();
        let data = windows.side_data();
        let notes = if weighs { NoteKind::Weights } else { windows.note_kind(options) };
        let choice = Choice {
            started: !matches!(start, DeviceStart::Host(Start::Estimate)),
            given: [data.is_mapped(), weighs || data.is_weighted()],
            ..Choice::new(options, size, count, notes)
        };
        let launch = self.card.launch(&choice)?;
        let errors = || -> Result<_, GpuError> {
            let launch = self.card.launch(&choice.of_errors())?;
            Ok((launch, self.spare.take(Bytes::of::<Errors>(count)?)?))
        };
        let errors = with_errors.then(errors).transpose()?;
        let mut job = launch.job(kind);
        job.pixels = pixels;
        job.count = window_count(count)?;
        if windows.corners().is_some() {
            let (_, height, width) = windows.frames();
            let side = |side| u32::try_from(side).map_err(|_| GpuError::TooManyWindows(count));
            (job.frame_width, job.frame_height) = (side(width)?, side(height)?);
        }

        let fits = self.spare.take(Bytes::of::<Fit<f32>>(count)?)?;
        job.fits = fits.address().cast_mut().cast();
        let mut desk = lock(&self.desk);
        let Desk { stream, inputs, planes, .. } = &mut *desk;
        let _landing = stream.landing();
        // SAFETY: docs/gpu-safety.md: there is memory for `count` windows and all that is found, shapes were checked, and the landing
        // waits before any of it goes.
        unsafe {
            if let Some(side) = &side {
                side.upload(stream, planes, &mut job)?;
            }
            inputs.send_known(stream, &windows, side.as_ref(), 0..count, &mut job)?;
            start.send(stream, inputs, count, launch.outlines, &mut job)?;
            if weighs {
                job.weights = weights;
            }
            launch.run(stream, &job)?;
            if let Some((launch, errors)) = &errors {
                let job =
                    Job { task: launch.task, errors: errors.address().cast_mut().cast(), ..job };
                launch.run(stream, &job)?;
            }
        }
        stream.wait()?;
        Ok(DeviceFits { count, fits, errors: errors.map(|(_, errors)| errors) })
    }
}

impl DeviceWindows<'_> {
    /// Checks all that can be told without a device. Returns how kernels read the pixels.
    fn check(&self, options: &Options) -> Result<PixelKind, GpuError> {
        let Self { shapes, weights, start, .. } = self;
        let (AnyWindows::F32(_) | AnyWindows::U16(_) | AnyWindows::U8(_)) = shapes else {
            return Err(GpuError::PixelType);
        };
        if !weights.is_null() {
            if shapes.side_data().is_weighted() {
                return Err(GpuError::WeightsTwice);
            }
            if options.estimator == Estimator::MaximumLikelihood {
                return Err(ArgumentError::WeightedLikelihood.into());
            }
        }
        let count = shapes.count();
        match start {
            DeviceStart::Host(start) => shapes.validate(options, *start, count)?,
            _ => shapes.validate_errors(options, count, count)?,
        }
        Ok(kind_of(shapes))
    }
}

impl DeviceStart<'_> {
    /// Sends what the host has of them, and tells the job where they are.
    ///
    /// # Safety
    /// As for [`Inputs::send_starts`].
    unsafe fn send(
        self,
        stream: &Stream,
        inputs: &mut Inputs,
        count: usize,
        outlines: bool,
        job: &mut Job,
    ) -> Result<(), GpuError> {
        let (circles_there, outlines_there): (Vec<[f32; 3]>, Vec<[f64; 5]>);
        let start = match self {
            Self::Circles(there) if !outlines => {
                job.starts = there;
                return Ok(());
            }
            Self::Outlines(there) if outlines => {
                job.outlines = there;
                return Ok(());
            }
            Self::Host(start) => start,
            // In the other form they take the way over the host.
            Self::Circles(there) => {
                // SAFETY: there are as many.
                circles_there = unsafe { fetched(stream, there, count)? };
                Start::F32(&circles_there)
            }
            Self::Outlines(there) => {
                // SAFETY: as above.
                let found: Vec<[f32; 5]> = unsafe { fetched(stream, there, count)? };
                outlines_there = found.iter().map(|outline| outline.map(f64::from)).collect();
                Start::Outlines(&outlines_there)
            }
        };
        // SAFETY: the caller's promise.
        unsafe { inputs.send_starts(stream, start, 0..count, outlines, job) }
    }
}

/// Numbers of the device, after all that is in the stream.
///
/// # Safety
/// There are as many.
unsafe fn fetched<T: Copy + Default>(
    stream: &Stream,
    there: *const T,
    count: usize,
) -> Result<Vec<T>, GpuError> {
    let mut here = vec![T::default(); count];
    // SAFETY: the caller's promise.
    unsafe { stream.fetch(&raw mut here[..], there)? };
    Ok(here)
}

/// Outcomes in the memory of a device. Who has asked for their addresses may still have work with them in streams when he lets go of
/// them: the memory is used again when all is done that was in the device's streams then.
pub struct DeviceFits {
    count: usize,
    fits: Lent,
    errors: Option<Lent>,
}

shown!(DeviceFits, own => "DeviceFits {{ {} fits }}", own.count);

impl DeviceFits {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The device's address of the outcomes, one after the other. They stay there as long as `self`.
    pub fn fits(&self) -> *const Fit<f32> {
        self.fits.shown().cast()
    }

    /// Whether errors were wanted.
    pub fn has_errors(&self) -> bool {
        self.errors.is_some()
    }

    /// The device's address of the errors, if they were wanted.
    pub fn errors(&self) -> Option<*const Errors> {
        self.errors.as_ref().map(|errors| errors.shown().cast())
    }

    /// Copies the outcomes to the host.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch(&self, fits: &mut [Fit<f32>]) -> Result<(), GpuError> {
        self.fits.fetch(fits, self.count)
    }

    /// The same for someone who may have written there since, by the addresses: what comes is nothing but bytes.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch_bytes(&self, fits: &mut [MaybeUninit<Fit<f32>>]) -> Result<(), GpuError> {
        self.fits.fetch(fits, self.count)
    }

    /// The same of the errors.
    ///
    /// # Errors
    /// [`GpuError`], also if there are none.
    pub fn fetch_error_bytes(&self, to: &mut [MaybeUninit<Errors>]) -> Result<(), GpuError> {
        let none = ArgumentError::OutputCount { spots: 0, given: to.len() };
        self.errors.as_ref().ok_or(none)?.fetch(to, self.count)
    }

    /// Copies the errors to the host. Without any, all are unknown.
    ///
    /// # Errors
    /// [`GpuError`].
    pub fn fetch_errors(&self, errors: &mut [Errors]) -> Result<(), GpuError> {
        errors.fill(Errors::unknown());
        self.errors.as_ref().map_or(Ok(()), |found| found.fetch(errors, self.count))
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null;

    use fit_core::Corner;
    use fit_windows::{Weights, Windows};
    use ndarray::{Array2, Array3};

    use super::*;

    /// Proves that windows with weights at both places are refused before a device is asked, whichever they are on the host: a kernel
    /// would take those of the device for the image that the host has.
    #[test]
    fn weights_at_both_places_are_refused() {
        let (spots, image) = (Array3::<f32>::zeros((2, 9, 9)), Array2::<f32>::ones((40, 50)));
        let corners = [Corner { frame: 0, x: 3, y: 4 }; 2];
        let plain = Windows::stack(spots.view()).with_corners(&corners);
        let there = [1.0_f32; 162];
        let check = |shapes: Windows<'_, f32>, weights: *const f32| {
            let start = DeviceStart::Host(Start::Estimate);
            let windows = DeviceWindows { shapes: shapes.into(), pixels: null(), weights, start };
            windows.check(&Options::default())
        };
        for weights in [Weights::Frame(image.view()), Weights::Windows(spots.view())] {
            let both = plain.with_weights(weights);
            let refused = check(both, there.as_ptr());
            assert!(matches!(refused, Err(GpuError::WeightsTwice)), "{refused:?}");
            check(both, null()).expect("weights of the host");
        }
        check(plain, there.as_ptr()).expect("weights on the device");
    }
}
